/** Scopes: the condition that `scope()` adds to every query, and the values that it sets on new records. */
import { isRestError, RestError } from '../base/error.ts'
import { isPlain, nearest } from '../base/options.ts'
import type { Filter } from '../client/query-types.ts'
import type { NoRelations } from '../client/record-types.ts'
import type { Changes, Condition, Value, Values } from '../models/model.ts'
import { GROUPS } from '../wire/list.ts'
import type { CrudField } from './fields.ts'
import { type FilterReader, filterCondition, outermost } from './filter.ts'
import { allOf, comparison, TermCounter } from './filter-comparison.ts'
import type { CrudPlan, RelationLink } from './plan.ts'
import { givenValue } from './value-from-json.ts'

/**
 * Limits an operation to some records: for each field, the allowed value or a list of allowed values; or any condition written
 * as in `filter`, on all fields, visible or not: `{ or: [{ owner: 5 }, { public: true }] }`.
 *
 * @template T a record with all fields: the compiler then checks names and values. @default any names
 * @template R its relations, as those of a `CrudClient`. @default none
 */
export type CrudScope<T = Record<string, unknown>, R = NoRelations> = Filter<T, R>

/** The records that an operation may access. */
export interface Scope {
	/** Fields with their allowed values: a single value is set on new records. */
	readonly terms: readonly ScopeTerm[]
	/** The condition that its records match; `undefined` for all records. */
	readonly where: Condition | undefined
	/** The fields with a single value, by the model's names: clients can't write them. */
	readonly fixed: ReadonlySet<string>
	/**
	 * Whether the condition says more than the terms. Only the store can then tell whether a record that was written is
	 * within the scope.
	 */
	readonly isOpen: boolean
}

interface ScopeTerm {
	readonly field: CrudField
	readonly values: readonly Value[]
}

export const EVERYTHING: Scope = { terms: [], where: undefined, fixed: new Set(), isOpen: false }

/** The scope of the records that aren't deleted, or of those that are. */
export function scopeOfDeleted({ living }: Pick<CrudPlan, 'living'>, isDeleted: boolean): Scope {
	if (living === undefined) return EVERYTHING
	return { ...EVERYTHING, where: isDeleted ? { op: 'not', term: living } : living }
}

/** The scope of records that are within both. */
export function both(one: Scope, other: Scope): Scope {
	if (one === EVERYTHING) return other
	if (other === EVERYTHING) return one
	return {
		terms: [...one.terms, ...other.terms],
		where: allOf(one.where, other.where),
		fixed: new Set([...one.fixed, ...other.fixed]),
		isOpen: one.isOpen || other.isOpen,
	}
}

/**
 * Reads what `scope()` returned.
 *
 * @throws TypeError unless it is a condition: an `undefined` must not give access to more records
 */
export function readScope(plan: CrudPlan, given: unknown): Scope {
	const place = `${plan.owner}.scope()`
	if (!isPlain(given))
		throw new TypeError(
			`${place} must return an object, such as { owner: this.user.id }, or {} for no limits`,
		)
	const terms: ScopeTerm[] = []
	const isOpen = addTerms(terms, plan, given, place)
	return {
		...{ terms, isOpen },
		where: isOpen
			? openCondition(plan, given, place)
			: allOf(...terms.map(({ field, values }) => termCondition(field.field.name, values))),
		fixed: new Set(terms.filter(({ values }) => values.length === 1).map(({ field }) => field.field.name)),
	}
}

/** Adds the terms of a condition that compare by equality and hold for each record. Returns whether the condition has others. */
function addTerms(terms: ScopeTerm[], plan: CrudPlan, given: object, place: string): boolean {
	let isOpen = false
	for (const [name, value] of Object.entries(given) as [string, unknown][]) {
		const at = `${place}.${name}`
		const field = plan.fields.get(name)
		const equal = isPlain(value) && Object.keys(value).join() === 'eq' ? Reflect.get(value, 'eq') : value
		if (name === 'and' && Array.isArray(value)) {
			for (const [index, one] of value.entries())
				if (!isPlain(one) || addTerms(terms, plan, one, `${at}.${index}`)) isOpen = true
		} else if (field !== undefined && (!isPlain(equal) || field.field.type === 'json')) {
			terms.push({ field, values: valuesOf(field, equal, at) })
			// The store computes its value, which is only known after the write.
			if (field.field.generated) isOpen = true
		} else if (field === undefined && !leadsFurther(plan, name))
			throw new TypeError(`${at} is not a field${nearest(name, plan.fields.keys())}`)
		else isOpen = true
	}
	return isOpen
}

/** Whether a name that isn't a field's may be that of a group or of a relation. */
function leadsFurther({ relations }: CrudPlan, name: string): boolean {
	const [first = ''] = name.split('.', 1)
	return GROUPS.some((group) => group === name) || relations.has(first)
}

function valuesOf({ field }: CrudField, given: unknown, place: string): readonly Value[] {
	const values: unknown[] = Array.isArray(given) ? given : [given]
	// Not `map`, which skips the holes of a sparse array.
	return Array.from(values, (one) => givenValue(place, field, one))
}

/** The condition of a scope that is written as a filter. @throws TypeError where a client's filter would be 400 */
function openCondition(plan: CrudPlan, given: object, place: string): Condition {
	try {
		return exact(filterCondition(given, plan, new Uncounted(), outermost(place, PROGRAM)))
	} catch (error) {
		throw isRestError(error) ? new TypeError(error.message, { cause: error }) : error
	}
}

const PROGRAM: FilterReader = {
	fieldsOf: ({ fields }) => fields,
	condition(field, given, count, place) {
		if (!isPlain(given) || field.field.type === 'json')
			return termCondition(field.field.name, valuesOf(field, given, place))
		const terms = Object.entries(given).map(([op, value]: [string, unknown]) =>
			comparison(field, op, value, count, `${place}.${op}`, (type, one, at) => {
				const operand = givenValue(at, type, one)
				if (operand === null) throw new TypeError(`${at} is null, which can only be equal or not`)
				return operand
			}),
		)
		if (terms.length === 0)
			throw new TypeError(`${place} is {}: give a value, or an operator as in { gte: 3 }`)
		return allOf(...terms) ?? { op: 'and', terms }
	},
}

/** Counts nothing: the limits of filters are only for clients. */
class Uncounted extends TermCounter {
	constructor() {
		const none = Number.POSITIVE_INFINITY
		super({ maxTextTerms: none, maxIn: none, includeDepth: none })
	}

	override add(): void {}
	override addText(): void {}
	override addRelation(): void {}
}

/** Texts are compared exactly, as in {@link termCondition}; deleted records of other handlers don't count. */
function exact(condition: Condition): Condition {
	switch (condition.op) {
		case 'eq':
			return condition.ignoreCase === true ? condition : { ...condition, exact: true }
		case 'ne':
			return { op: 'not', term: { ...condition, op: 'eq', exact: true } }
		case 'in':
			return { ...condition, exact: true }
		case 'and':
		case 'or':
			return { ...condition, terms: condition.terms.map(exact) }
		case 'not':
			return { ...condition, term: exact(condition.term) }
		case 'some':
			return {
				...condition,
				where: allOf(livingOf(condition.link), condition.where && exact(condition.where)),
				...(condition.fails === undefined ? {} : { fails: exact(condition.fails) }),
			}
		case 'count':
			return { ...condition, where: livingOf(condition.link) }
		default:
			return condition
	}
}

function livingOf(link: Partial<RelationLink>): Condition | undefined {
	return link.relation?.to.living
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
export function withScope(values: Values, { terms, fixed }: Scope, plan: CrudPlan): Values {
	const all = { ...values }
	const settable = terms.filter(({ field }) => !field.field.generated)
	for (const { field, values: allowed } of settable) {
		const { name } = field.field
		if (fixed.has(name)) all[name] = allowed[0] ?? null
	}
	// All terms, because two may have the same field: one of the scope, one of the record that this one is created below.
	for (const { field, values: allowed } of settable)
		if (!isAmong(all[field.field.name] ?? null, allowed)) throw outside(field, plan)
	return all
}

/** Refuses a change that would move a record out of its scope. @throws RestError `forbidden` */
export function refuseLeaving(changes: Changes, { terms }: Scope, plan: CrudPlan): void {
	for (const { field, values } of terms) {
		const { name } = field.field
		if (Object.hasOwn(changes, name) && !isAmong(changes[name], values)) throw outside(field, plan)
	}
}

function isAmong(value: unknown, allowed: readonly Value[]): boolean {
	return allowed.some((one) => one === value)
}

/** Names the field only if the client may know it. */
function outside({ name }: CrudField, { visible, creatable, updatable }: CrudPlan): RestError {
	if (![visible, creatable, updatable].some((fields) => fields.has(name))) return movedOutside()
	return new RestError('forbidden', `${name} is outside of what you may change`)
}

/** The error for a record that a write would move out of its scope, or has moved: it then rolls back the transaction. */
export function movedOutside(): RestError {
	return new RestError('forbidden', 'With these values, the record would be outside of what you may change')
}

/**
 * Whether a condition depends on one of these fields of the record.
 *
 * @param isRelated the answer for a condition on related records, of which the record itself may be one
 */
export function dependsOn(condition: Condition, fields: readonly string[], isRelated = true): boolean {
	switch (condition.op) {
		case 'and':
		case 'or':
			return condition.terms.some((term) => dependsOn(term, fields, isRelated))
		case 'not':
			return dependsOn(condition.term, fields, isRelated)
		case 'some':
		case 'count':
			return isRelated
		default:
			return fields.includes(condition.field)
	}
}
