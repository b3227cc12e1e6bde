/**
 * What a spec comes to once it has been read: made by `compile.ts`, followed by `check.ts`, and read by
 * whatever describes an API to others.
 */
import type { StandardSchemaV1 } from './standard-schema.ts'
import type { Check, Choice, FieldSpec, Format, Kind, Spec, Validator } from './validator.ts'

/** How one value is checked. All plans have all properties, so that V8 reads them at fixed places. */
export interface Plan {
	/** What it was made of. */
	readonly source: FieldSpec | Spec
	readonly required: boolean
	readonly nullable: boolean
	/** What the value must be; `undefined` for anything. */
	readonly kind: Kind | undefined
	readonly format: Format | undefined
	/** What text is coerced to: the kind, or else what all choices are. */
	readonly reads: Kind | undefined
	readonly min: number | undefined
	readonly max: number | undefined
	readonly pattern: RegExp | undefined
	readonly choices: readonly Choice[] | undefined
	/** Each item of an array. */
	readonly items: Plan | undefined
	/** The fields of an object. */
	readonly fields: readonly FieldPlan[] | undefined
	/** Whether it is of a whole spec. */
	readonly whole: boolean
	readonly checks: readonly Check[] | undefined
	/** The default, or the function that makes it; `undefined` for none. */
	readonly fallback: unknown
	/** Decides alone where it is there. */
	readonly schema: StandardSchemaV1 | undefined
	/** A validator other than ours: decides alone, by the rules in `source`. */
	readonly validator: Validator | undefined
	/**
	 * What a value has to be that `as-given.ts` can judge: rules alone, which call nobody and change nothing.
	 * `undefined` where there is more, here or in a field or an item.
	 */
	readonly plain: Kind | 'anything' | undefined
	/** A size in this range is surely allowed: of a number its value, of a list its items, of a text its UTF-16 units. */
	readonly least: number
	readonly most: number
}

/** A named value of an object. */
export interface FieldPlan {
	readonly name: string
	readonly plan: Plan
}

/** A plan that is being made. */
export type Draft = { -readonly [K in keyof Plan]: Plan[K] }

/** The plan that lets everything through. */
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
