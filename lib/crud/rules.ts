/** Compiles the rules of a `CrudHandler`'s fields, and fits them to their columns. For `write.ts` and `api-description.ts`. */
import { entriesOf, nearest } from '../base/options.ts'
import type { Field } from '../models/model.ts'
import { planSpec } from '../validate/compile.ts'
import type { Plan } from '../validate/plan.ts'
import type { Kind, Spec, Validator } from '../validate/validator.ts'
import type { CrudRules } from './options.ts'
import type { CrudPlan } from './plan.ts'

/** The rules of a field, and the column with what it checks of them itself. */
export interface Ruled {
	readonly rules: Plan
	readonly field: Field
}

/**
 * Compiles the rules of each field.
 *
 * @param validator the server's, for lists of rules; `undefined` for the built-in one
 * @throws TypeError for rules of an unknown field, and for invalid rules
 */
export function compiledRules(
	{ owner, fields }: CrudPlan,
	rules: CrudRules,
	validator: Validator | undefined,
): ReadonlyMap<string, Ruled> {
	for (const [name] of entriesOf(`${owner}: rules`, rules, "{ title: ['required', 'string'] }")) {
		if (!fields.has(name))
			throw new TypeError(`${owner}: rules: there is no column ${name}${nearest(name, fields.keys())}`)
	}
	try {
		const { fields: plans = [] } = planSpec(rules as Spec, validator) // planSpec checks all of it
		return new Map(
			plans.flatMap(({ name, plan }) => {
				const column = fields.get(name)
				return column === undefined ? [] : [[name, fitted(plan, column.field)] as const]
			}),
		)
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause)
		throw new TypeError(`${owner}: rules: ${reason}`, { cause })
	}
}

/** The kinds of columns whose values are texts only in a form. */
const KINDS: Partial<Record<Field['type'], Kind>> = {
	boolean: 'boolean',
	integer: 'integer',
	float: 'number',
}

/**
 * Rules without a kind have that of their column: a number in a form is a text, whose characters `min` would count. Decimals
 * and bigints are texts in JSON, too: their column compares them with `min` and `max`, by all digits.
 */
function fitted(rules: Plan, field: Field): Ruled {
	const { kind, min, max, coerceTo, choices, checks, schema, validator } = rules
	if (schema !== undefined || validator !== undefined) return { rules, field }
	const isSized = min !== undefined || max !== undefined
	const own = KINDS[field.type]
	if (own !== undefined && coerceTo === undefined)
		return { rules: { ...rules, kind: isSized ? own : kind, coerceTo: own }, field }
	const isExact = field.type === 'decimal' || field.type === 'bigint'
	// A function beside 'number' is promised a number.
	const isNumber = kind === 'number' && checks === undefined
	if (!isExact || (kind !== undefined && !isNumber)) return { rules, field }
	return {
		rules: {
			...{ ...rules, kind: undefined, min: undefined, max: undefined },
			coerceTo: choices === undefined ? undefined : coerceTo,
		},
		field: { ...field, min: larger(field.min, min), max: smaller(field.max, max) },
	}
}

/** The larger of two bounds, or the one that there is. */
function larger(a: Field['min'], b: Field['min']): Field['min'] {
	return a === undefined || (b !== undefined && b > a) ? b : a
}

function smaller(a: Field['max'], b: Field['max']): Field['max'] {
	return a === undefined || (b !== undefined && b < a) ? b : a
}
