/** `Plan`: a compiled spec. Created by `compile.ts`, used by `check.ts`, and read by `schema/` to describe the API. */
import type { StandardSchemaV1 } from './standard-schema.ts'
import type { Check, Choice, FieldSpec, Format, Kind, Spec, Validator } from './validator.ts'

/**
 * A plan while it is compiled: how one value is checked. A new one accepts any value. Every instance has all properties, in
 * the same order, so that V8 gives them one hidden class.
 */
export class Draft {
	/** The rules or the spec that it was compiled from. */
	readonly source: FieldSpec | Spec
	required = false
	nullable = false
	/** The kind of the value; `undefined` for any. */
	kind: Kind | undefined = undefined
	format: Format | undefined = undefined
	/** The kind that texts are converted to: `kind`, or else the type of all choices. */
	coerceTo: Kind | undefined = undefined
	min: number | undefined = undefined
	max: number | undefined = undefined
	pattern: RegExp | undefined = undefined
	choices: readonly Choice[] | undefined = undefined
	items: Plan | undefined = undefined
	fields: readonly FieldPlan[] | undefined = undefined
	/** Whether it is the plan of a whole spec. */
	isSpec = false
	checks: readonly Check[] | undefined = undefined
	/** The default, or a function that makes it; `undefined` for none. */
	fallback: unknown = undefined
	/** Replaces all rules. */
	schema: StandardSchemaV1 | undefined = undefined
	/** A server's own validator, called with the rules in `source`. */
	validator: Validator | undefined = undefined
	/**
	 * The kind, for the fast path of `check.ts`. `undefined` if the fast path, which calls no functions and changes no
	 * values, can't check the value, one of its fields or its items.
	 */
	fastKind: Kind | 'anything' | undefined = undefined
	/**
	 * For the fast path: sizes in this range are valid. A size is a number's value, an array's number of items, or a
	 * string's number of UTF-16 units.
	 */
	fastMin = Number.NEGATIVE_INFINITY
	fastMax = Number.POSITIVE_INFINITY

	constructor(source: FieldSpec | Spec) {
		this.source = source
	}
}

export type Plan = Readonly<Draft>

export interface FieldPlan {
	readonly name: string
	readonly plan: Plan
}
