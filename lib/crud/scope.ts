/** Scopes: the condition that `scope()` adds to every query, and the values that it sets on new records. */
import { RestError } from '../base/error.ts'
import { isPlain, nearest } from '../base/options.ts'
import type { Condition, Value } from '../models/model.ts'
import { allOf } from './comparison.ts'
import type { CrudField } from './fields.ts'
import type { CrudPlan } from './plan.ts'
import { givenValue } from './value-from-json.ts'

/** The records that an operation may access. */
export interface Scope {
	/** Fields with their allowed values: a single value is set on new records. */
	readonly terms: readonly { readonly field: CrudField; readonly values: readonly Value[] }[]
	/** The condition that its records match; `undefined` for all records. */
	readonly where: Condition | undefined
	/** The fields with a single value, by the model's names: clients can't write them. */
	readonly fixed: ReadonlySet<string>
}

export const EVERYTHING: Scope = { terms: [], where: undefined, fixed: new Set() }

/**
 * Reads what `scope()` returned.
 *
 * @throws TypeError unless it is an object of values: an `undefined` must not give access to more records
 */
export function readScope({ owner, fields }: CrudPlan, given: unknown): Scope {
	if (!isPlain(given))
		throw new TypeError(
			`${owner}.scope() must return an object, such as { owner: this.user.id }, or {} for no limits`,
		)
	const terms = Object.entries(given).map(([name, value]: [string, unknown]) => {
		const field = fields.get(name)
		const place = `${owner}.scope().${name}`
		if (field === undefined) throw new TypeError(`${place} is not a field${nearest(name, fields.keys())}`)
		const values = Array.isArray(value) ? value : [value]
		return { field, values: values.map((one) => givenValue(place, field.field, one)) }
	})
	return {
		terms,
		where: allOf(...terms.map(({ field, values }) => termCondition(field.field.name, values))),
		fixed: new Set(terms.filter(({ values }) => values.length === 1).map(({ field }) => field.field.name)),
	}
}

/**
 * Compares exactly, not by the database's collation: users whose names differ only in case must not see each other's
 * records.
 */
function termCondition(field: string, values: readonly Value[]): Condition {
	const given = values.filter((value) => value !== null)
	const [first] = given
	const among: Condition =
		given.length === 1 && first !== undefined
			? { op: 'eq', field, value: first, exact: true }
			: { op: 'in', field, values: given, exact: true }
	if (given.length === values.length) return among
	const isNull: Condition = { op: 'null', field, value: true }
	return given.length === 0 ? isNull : { op: 'or', terms: [among, isNull] }
}

/**
 * The values of a new record, with those that the scope sets.
 *
 * @throws RestError `forbidden` when the record would be outside of the scope
 */
export function withScope(
	values: Readonly<Record<string, Value>>,
	{ terms, fixed }: Scope,
): Readonly<Record<string, Value>> {
	const all = { ...values }
	for (const { field, values: allowed } of terms) {
		const { name } = field.field
		if (fixed.has(name)) all[name] = allowed[0] ?? null
	}
	// All terms, also of the same field: a scope, and the record that new ones are created below.
	for (const { field, values: allowed } of terms)
		if (!isAmong(all[field.field.name] ?? null, allowed)) throw outside(field)
	return all
}

/**
 * Refuses a change that would move a record out of its scope.
 *
 * @throws RestError `forbidden`
 */
export function refuseLeaving(changes: Readonly<Record<string, unknown>>, { terms }: Scope): void {
	for (const { field, values } of terms) {
		const { name } = field.field
		if (Object.hasOwn(changes, name) && !isAmong(changes[name], values)) throw outside(field)
	}
}

function isAmong(value: unknown, allowed: readonly Value[]): boolean {
	return allowed.some((one) => one === value)
}

function outside({ name }: CrudField): RestError {
	return new RestError('forbidden', `${name} is outside of what you may change`)
}
