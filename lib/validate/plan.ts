/**
 * `Plan`: a compiled spec. Made by `compile.ts`, followed by `check.ts`, and read by `schema/` to describe the API.
 */
import type { StandardSchemaV1 } from './standard-schema.ts'
import type { Check, Choice, FieldSpec, Format, Kind, Spec, Validator } from './validator.ts'

/** How one value is checked. All plans have all properties in the same order, so that V8 reads them fast. */
export interface Plan {
	/** What it was compiled from. */
	readonly source: FieldSpec | Spec
	readonly required: boolean
	readonly nullable: boolean
	/** The kind of the value; `undefined` for any. */
	readonly kind: Kind | undefined
	readonly format: Format | undefined
	/** What text is coerced to: the kind, or else the type of all choices. */
	readonly reads: Kind | undefined
	readonly min: number | undefined
	readonly max: number | undefined
	readonly pattern: RegExp | undefined
	readonly choices: readonly Choice[] | undefined
	/** Each item of an array. */
	readonly items: Plan | undefined
	/** The fields of an object. */
	readonly fields: readonly FieldPlan[] | undefined
	/** Whether it is the plan of a whole spec. */
	readonly whole: boolean
	readonly checks: readonly Check[] | undefined
	/** The default, or a function that makes it; `undefined` for none. */
	readonly fallback: unknown
	/** Replaces all rules. */
	readonly schema: StandardSchemaV1 | undefined
	/** A validator other than ours, called with the rules in `source`. */
	readonly validator: Validator | undefined
	/**
	 * The kind, for plans of rules that call no function and change no value: the fast path of `check.ts` can decide
	 * these. `undefined` for others, and where a field or an item is one of them.
	 */
	readonly plain: Kind | 'anything' | undefined
	/** For the fast path: a size in this range is allowed. A number's value, an array's items, a string's UTF-16 units. */
	readonly least: number
	readonly most: number
}

/** A field of an object. */
export interface FieldPlan {
	readonly name: string
	readonly plan: Plan
}

/** A plan being compiled. */
export type Draft = { -readonly [K in keyof Plan]: Plan[K] }

/** A plan that allows everything. */
export function blankPlan(source: FieldSpec | Spec): Draft {
	return {
		source,
		required: false,
		nullable: false,
		kind: undefined,
		format: undefined,
		reads: undefined,
		min: undefined,
		max: undefined,
		pattern: undefined,
		choices: undefined,
		items: undefined,
		fields: undefined,
		whole: false,
		checks: undefined,
		fallback: undefined,
		schema: undefined,
		validator: undefined,
		plain: undefined,
		least: Number.NEGATIVE_INFINITY,
		most: Number.POSITIVE_INFINITY,
	}
}
