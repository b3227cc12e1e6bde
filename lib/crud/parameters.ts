/** The values of a list's parameters: names, whole numbers, the order. Used by `list-query.ts` and `relations/parse-include.ts`. */

import type { Order } from '../models/model.ts'
import { badQuery, unknownName } from './bad-query.ts'
import type { CrudField, FieldMap } from './fields.ts'
import type { TermCounter } from './filter-comparison.ts'
import type { CrudPlan } from './plan.ts'

const WHOLE = /^(?:0|[1-9]\d*)$/

/** Names from comma-separated text, or from an array in JSON. */
export function names(place: string, given: unknown): readonly string[] {
	if (typeof given === 'string') return given.split(',')
	if (Array.isArray(given) && given.every((name) => typeof name === 'string')) return given
	throw badQuery(place, 'string', 'must be a comma-separated list of names')
}

export function wholeNumber(place: string, given: unknown): number {
	if (typeof given === 'string' && WHOLE.test(given)) return Number(given)
	if (Number.isInteger(given) && Number(given) >= 0) return Number(given)
	throw badQuery(place, 'integer', 'must be a whole number from 0 up')
}

/** Up to which number records are counted: `Infinity` for `exact`; `undefined` if they aren't. */
export function countOf(place: string, given: unknown): number | undefined {
	if (given === undefined) return undefined
	if (given === 'exact') return Number.POSITIVE_INFINITY
	const isDigits = typeof given === 'string' && WHOLE.test(given)
	const bound = isDigits ? Number(given) : given
	if (Number.isSafeInteger(bound) && Number(bound) > 0 && bound !== Number.MAX_SAFE_INTEGER)
		return Number(bound)
	throw badQuery(place, 'in', 'must be exact, or the number up to which is counted')
}

export function fieldNamed(place: string, name: string, fields: FieldMap): CrudField {
	const field = fields.get(name)
	if (field !== undefined) return field
	throw unknownName(place, 'may only name', fields.keys())
}

/** The sort order. The key is added as its last term, in the direction of the term before it, so that the order is total. */
export function orderOf(
	plan: CrudPlan,
	terms: readonly string[],
	count: TermCounter,
	place = 'sort',
): readonly Order[] {
	const { keys, sortable } = plan
	const order: Order[] = []
	for (const term of terms) {
		const descending = term.startsWith('-') && !sortable.has(term)
		const name = descending ? term.slice(1) : term
		const own = sortable.get(name)
		const found: Order =
			own === undefined
				? { ...sortedBy(plan, name, count, place), descending }
				: { field: own.field.name, descending }
		if (order.some((other) => isSame(other, found)))
			throw badQuery(place, 'repeated', 'names a field more than once')
		order.push(found)
	}
	const places = keys.map(({ field }) =>
		order.findIndex((term) => term.field === field.name && term.via === undefined),
	)
	// Behind the whole key, a term changes nothing.
	if (keys.length > 0 && !places.includes(-1)) return order.slice(0, Math.max(...places) + 1)
	const descending = order.at(-1)?.descending ?? false
	for (const [at, { field }] of keys.entries())
		if (places[at] === -1) order.push({ field: field.name, descending })
	return order
}

type SortedBy = Pick<Order, 'field' | 'via'>

/** What `title` or `author.name` sorts by. */
function sortedBy(plan: CrudPlan, name: string, count: TermCounter, place: string): SortedBy {
	const via: NonNullable<Order['via']>[number][] = []
	let { sortable, relations } = plan
	let rest = name
	while (!sortable.has(rest)) {
		const end = rest.indexOf('.')
		const relation = end === -1 ? undefined : relations.get(rest.slice(0, end))
		if (relation === undefined || !relation.isJoined || relation.link.isMany)
			throw unknownName(place, 'may only name', sortNames(plan))
		via.push({ link: relation.link, where: undefined })
		count.addRelation(place, via.length)
		rest = rest.slice(end + 1)
		sortable = relation.to.sortable
		relations = relation.to.relations
	}
	const { field } = fieldNamed(place, rest, sortable)
	return via.length === 0 ? { field: field.name } : { field: field.name, via }
}

/** What a list can be sorted by; of related records, the relation with a point. */
function sortNames({ sortable, relations }: CrudPlan): string[] {
	const toOne = [...relations.values()].filter(({ isJoined, link }) => isJoined && !link.isMany)
	return [...sortable.keys(), ...toOne.map(({ name }) => `${name}.…`)]
}

function isSame(a: SortedBy, b: SortedBy): boolean {
	if (a.field !== b.field || a.via?.length !== b.via?.length) return false
	return a.via === undefined || a.via.every(({ link }, at) => link === b.via?.[at]?.link)
}
