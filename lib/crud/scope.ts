/** Scopes: the conditions that `scope()` adds to every query, and the values that it sets on new records. */
import { RestError } from '../base/error.ts'
import { nearest } from '../base/options.ts'
import type { Condition, Value } from '../models/model.ts'
import type { CrudField } from './fields.ts'
import { allOf } from './operator.ts'
import type { CrudPlan } from './plan.ts'
import { givenValue } from './value-from-json.ts'

/** One field, and the values that it may have: the only one is set on new records. */
export interface ScopeTerm {
	readonly field: CrudField
	readonly values: readonly Value[]
}

/** What a request is confined to; no terms for everything. */
export type Scope = readonly ScopeTerm[]

export const EVERYTHING: Scope = []

/**
 * Reads what `scope()` has answered.
 *
 * @throws TypeError for anything but an object of values: an `undefined` must not widen what is shown
 */
export function scopeOf({ owner, fields }: CrudPlan, given: unknown): Scope {
	const prototype: unknown =
		typeof given === 'object' && given !== null ? Object.getPrototypeOf(given) : undefined
	if (prototype !== Object.prototype && prototype !== null)
		throw new TypeError(
			`${owner}.scope() must answer an object, such as { owner: this.user.id }, and {} for no bounds`,
		)
	return Object.entries(given as object).map(([name, value]: [string, unknown]) => {
		const field = fields.get(name)
		const place = `${owner}.scope().${name}`
		if (field === undefined) throw new TypeError(`${place} is no field${nearest(name, fields.keys())}`)
		const values = Array.isArray(value) ? value : [value]
		return { field, values: values.map((one) => givenValue(place, field.field, one)) }
	})
}

/** The condition that all records of a scope fit; `undefined` for everything. */
export function scopeCondition(scope: Scope): Condition | undefined {
	return allOf(...scope.map(({ field, values }) => termCondition(field.field.name, values)))
}

/** Compared exactly: two users whose names differ in case alone must not see each other's records. */
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

/** The names of fields that a client can't write: those with one value, which is set for it. */
export function fixedNames(scope: Scope): ReadonlySet<string> {
	return new Set(scope.filter(({ values }) => values.length === 1).map(({ field }) => field.name))
}

/**
 * The values of a new record with those of its scope.
 *
 * @throws RestError `forbidden` when it would be outside
 */
export function withScope(
	values: Readonly<Record<string, Value>>,
	scope: Scope,
): Readonly<Record<string, Value>> {
	if (scope.length === 0) return values
	const all = { ...values }
	for (const { field, values: choice } of scope) {
		const { name } = field.field
		const [only = null] = choice
		if (choice.length === 1) all[name] = only
		else if (!isAmong(all[name] ?? null, choice)) throw outside(field)
	}
	return all
}

/**
 * Refuses a change by which a record would leave its scope.
 *
 * @throws RestError `forbidden`
 */
export function refuseLeaving(changes: Readonly<Record<string, unknown>>, scope: Scope): void {
	for (const { field, values } of scope) {
		const { name } = field.field
		if (Object.hasOwn(changes, name) && !isAmong(changes[name], values)) throw outside(field)
	}
}

function isAmong(value: unknown, choice: readonly Value[]): boolean {
	return choice.some((one) => one === value)
}

function outside({ name }: CrudField): RestError {
	return new RestError('forbidden', `${name} is outside of what you may change`)
}
