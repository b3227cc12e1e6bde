/** Parses the parameter `sort`, of a list or of included records. Used by `list-query.ts` and `relations/parse-include.ts`. */
import type { Order } from '../models/model.ts'
import { sortTerm } from './check-fields.ts'
import type { TermCounter } from './filter-comparison.ts'
import type { CrudPlan } from './plan.ts'
import { badQuery, fieldNamed, names, unknownName } from './query-values.ts'

/**
 * The sort order. The key is added as its last term, in the direction of the term before it, so that the order is total.
 *
 * @param asked what the client has sent; `undefined` for nothing
 * @param links number of relations that lead to the sorted records
 */
export function orderOf(
	plan: CrudPlan,
	asked: unknown,
	count: TermCounter,
	place = 'sort',
	links = 0,
): readonly Order[] {
	const { keys, sortable } = plan
	const order: Order[] = []
	for (const term of asked === undefined ? plan.sort : names(place, asked)) {
		const { name, descending } = sortTerm(term, sortable)
		const own = sortable.get(name)
		const found: Order =
			own === undefined
				? { ...sortedBy(plan, name, count, place, links), descending }
				: { field: own.field.name, descending }
		if (order.some((other) => isSame(other, found)))
			throw badQuery(place, 'repeated', 'names a field more than once')
		order.push(found)
	}
	const places = keys.map(({ field }) =>
		order.findIndex((term) => term.field === field.name && term.via === undefined),
	)
	// Terms after the whole key change nothing.
	if (keys.length > 0 && !places.includes(-1)) return order.slice(0, Math.max(...places) + 1)
	const descending = order.at(-1)?.descending ?? false
	for (const [at, { field }] of keys.entries())
		if (places[at] === -1) order.push({ field: field.name, descending })
	return order
}

type SortedBy = Pick<Order, 'field' | 'via'>

/** What `title` or `author.name` sorts by. */
function sortedBy(plan: CrudPlan, name: string, count: TermCounter, place: string, links: number): SortedBy {
	const via: NonNullable<Order['via']>[number][] = []
	let { sortable, relations } = plan
	let rest = name
	while (!sortable.has(rest)) {
		const end = rest.indexOf('.')
		const relation = end === -1 ? undefined : relations.get(rest.slice(0, end))
		if (relation === undefined || !relation.isJoined || relation.link.isMany) {
			const below = rest === name ? '' : `, below ${name.slice(0, -rest.length - 1)},`
			throw unknownName(place, `may only name${below}`, sortNames({ sortable, relations }))
		}
		via.push({ link: relation.link, where: undefined })
		count.addRelation(place, links + via.length)
		rest = rest.slice(end + 1)
		sortable = relation.to.sortable
		relations = relation.to.relations
	}
	const { field } = fieldNamed(place, rest, sortable)
	return via.length === 0 ? { field: field.name } : { field: field.name, via }
}

/** The names that a list can be sorted by; `author.…` for the fields of a related record. */
function sortNames({ sortable, relations }: Pick<CrudPlan, 'sortable' | 'relations'>): string[] {
	const toOne = [...relations.values()].filter(({ isJoined, link }) => isJoined && !link.isMany)
	return [...sortable.keys(), ...toOne.map(({ name }) => `${name}.…`)]
}

function isSame(a: SortedBy, b: SortedBy): boolean {
	if (a.field !== b.field || a.via?.length !== b.via?.length) return false
	return a.via === undefined || a.via.every(({ link }, at) => link === b.via?.[at]?.link)
}
