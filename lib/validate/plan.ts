/**
 * `Plan`: a compiled spec. Created by `compile.ts`, used by `check.ts`, and read by `schema/` to describe the API.
 */
import type { StandardSchemaV1 } from './standard-schema.ts'
import type { Check, Choice, FieldSpec, Format, Kind, Spec, Validator } from './validator.ts'

/** How one value is checked. All plans have all properties in the same order, so that V8 gives them one hidden class. */
export interface Plan {
	/** The rules or the spec that it was compiled from. */
	readonly source: FieldSpec | Spec
	readonly required: boolean
	readonly nullable: boolean
	/** The kind of the value; `undefined` for any. */
	readonly kind: Kind | undefined
	readonly format: Format | undefined
	/** The kind that texts are converted to: `kind`, or else the type of all choices. */
	readonly coerceTo: Kind | undefined
	readonly min: number | undefined
	readonly max: number | undefined
	readonly pattern: RegExp | undefined
	readonly choices: readonly Choice[] | undefined
	readonly items: Plan | undefined
	readonly fields: readonly FieldPlan[] | undefined
	/** Whether it is the plan of a whole spec. */
	readonly isSpec: boolean
	readonly checks: readonly Check[] | undefined
	/** The default, or a function that makes it; `undefined` for none. */
	readonly fallback: unknown
	/** Replaces all rules. */
	readonly schema: StandardSchemaV1 | undefined
	/** A server's own validator, called with the rules in `source`. */
	readonly validator: Validator | undefined
	/**
	 * The kind, for the fast path of `check.ts`. `undefined` if the fast path, which calls no functions and changes no
	 * values, can't check the value, one of its fields or its items.
	 */
	readonly fastKind: Kind | 'anything' | undefined
	/**
	 * For the fast path: sizes in this range are valid. A size is a number's value, an array's number of items, or a
	 * string's number of UTF-16 units.
	 */
	readonly fastMin: number
	readonly fastMax: number
}

export interface FieldPlan {
	readonly name: string
	readonly plan: Plan
}

/** A plan being compiled. */
export type Draft = { -readonly [K in keyof Plan]: Plan[K] }

/** A plan that accepts any value. */
export function blankPlan(source: FieldSpec | Spec): Draft {
	return {
		source,
		required: false,
		nullable: false,
		kind: undefined,
		format: undefined,
		coerceTo: undefined,
		min: undefined,
		max: undefined,
		pattern: undefined,
		choices: undefined,
		items: undefined,
		fields: undefined,
		isSpec: false,
		checks: undefined,
		fallback: undefined,
		schema: undefined,
		validator: undefined,
		fastKind: undefined,
		fastMin: Number.NEGATIVE_INFINITY,
		fastMax: Number.POSITIVE_INFINITY,
	}
}
