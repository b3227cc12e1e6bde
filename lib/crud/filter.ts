/**
 * The conditions of a list, besides comparisons (`filter-comparison.ts`): filters, conditions on related records, and `search`.
 * Called by `list-query.ts`.
 */

import { isPlain } from '../base/options.ts'
import type { Comparison, Condition } from '../models/model.ts'
import type { CrudField, FieldMap } from './fields.ts'
import { allOf, boundedSubstring, fieldCondition, type TermCounter } from './filter-comparison.ts'
import type { CrudPlan, Relation } from './plan.ts'
import { badQuery, unknownName } from './query-values.ts'

/** How deep `and`, `or` and `not` may nest; a filter without them has depth 1. */
export const MAX_DEPTH = 5
const MAX_WORDS = 20
/** Maximum number that a count of related records is compared with: a database counts that far for each record. */
const MAX_COUNTED = 1_000

/** What a filter may name. */
type Filterable = Pick<CrudPlan, 'fields' | 'filterable' | 'relations'>

/** Who has written a filter: a client, or a program in a scope (`scope.ts`). */
export interface FilterReader {
	/** The fields that it may name. */
	fieldsOf(plan: Filterable): FieldMap
	readonly condition: typeof fieldCondition
}

const CLIENT: FilterReader = { fieldsOf: ({ filterable }) => filterable, condition: fieldCondition }

/** Where a part of a filter is: its place for messages, how deep it is, and behind how many relations. */
interface Within {
	readonly place: string
	readonly depth: number
	readonly links: number
	readonly reader: FilterReader
}

/** The outermost level of a filter. @param place for messages */
export function outermost(place = 'filter', reader = CLIENT): Within {
	return { place, depth: 1, links: 0, reader }
}

const OUTERMOST = outermost()

/**
 * The condition of a filter:
 *
 *     {"title":"x","age":{"gte":3},"or":[{"tag":["a","b"]},{"not":{"tag":null}}],"author.name":"Ada"}
 *
 * @throws RestError `bad_request` naming the place, `filter.or.1.age`, and what is allowed there; with the same message for
 *   a field that is unknown, hidden or not filterable
 */
export function filterCondition(
	filter: unknown,
	plan: Filterable,
	count: TermCounter,
	within: Within = OUTERMOST,
): Condition {
	const { place, depth, links, reader } = within
	// In a scope, a promise or a Map would have no entries, and so match all records.
	if (!isPlain(filter))
		throw badQuery(place, 'object', 'must be an object, such as {"field":value} or {"or":[…]}')
	if (depth > MAX_DEPTH)
		throw badQuery(place, 'max', `is nested too deeply: at most ${MAX_DEPTH} levels are allowed`)
	const terms = new RelatedTerms(links, reader)
	for (const [name, given] of Object.entries(filter) as [string, unknown][]) {
		const at = `${place}.${name}`
		const inner = { place: at, depth: depth + 1, links, reader }
		const relation = reader.fieldsOf(plan).has(name) ? undefined : joined(plan, name)
		if (name === 'not') terms.add({ op: 'not', term: filterCondition(given, plan, count, inner) })
		else if (name === 'and' || name === 'or') {
			if (!Array.isArray(given)) throw badQuery(at, 'array', 'must be an array of filters')
			// Empty lists count too: otherwise a filter could have any number of them.
			if (given.length === 0) count.add(at)
			const each = given.map((one, index) =>
				filterCondition(one, plan, count, { ...inner, place: `${at}.${index}` }),
			)
			terms.add({ op: name, terms: each })
		} else if (relation !== undefined)
			terms.add(relationCondition(relation, given, count, { ...inner, links: links + 1 }))
		else {
			const found = terms.find(plan, name, count, at)
			if (found === undefined) {
				const { below, names } = namesFor(plan, name, '', reader)
				throw unknownName(at, `is not a field to filter by: ${below}use one of`, names)
			}
			found.terms.add(reader.condition(found.field, given, count, at))
		}
	}
	const condition = terms.condition()
	if (condition === undefined) count.add(place)
	return condition ?? { op: 'and', terms: [] }
}

/**
 * For messages about an unknown name: the names that are allowed in its place, behind the relations that it begins with; and
 * whether one of these can't be joined, because of its database, its session or an override.
 *
 * @param suffix appended to names of relations, where these aren't conditions by themselves
 */
export function namesFor(
	plan: Filterable,
	name: string,
	suffix: string,
	reader = CLIENT,
): { readonly below: string; readonly names: readonly string[] } {
	const path: string[] = []
	let at = plan
	const parts = name.split('.')
	for (const part of parts.slice(0, -1)) {
		const relation = joined(at, part)
		if (relation === undefined) break
		path.push(part)
		at = relation.to
	}
	const relations = [...at.relations.keys()].filter((one) => joined(at, one) !== undefined)
	const next = parts[path.length] ?? ''
	const isApart = at.relations.has(next) && joined(at, next) === undefined
	const apart = isApart ? `${next} can only be included: ` : ''
	return {
		below: path.length === 0 ? apart : `${apart}below ${path.join('.')}, `,
		names: [...reader.fieldsOf(at).keys(), ...relations.map((one) => one + suffix)],
	}
}

function joined({ relations }: Filterable, name: string): Relation | undefined {
	const relation = relations.get(name)
	return relation?.isJoined === true ? relation : undefined
}

/** A condition on related records: for a relation to one, a filter or null; for one to many, `{"some":…,"count":…}`. */
function relationCondition(
	relation: Relation,
	given: unknown,
	count: TermCounter,
	within: Within,
): Condition {
	const { link, to } = relation
	const { place, depth } = within
	count.addRelation(place, within.links)
	count.add(place)
	const some = (more: { where?: Condition; fails?: Condition }): Condition => ({
		...{ op: 'some', link, where: undefined },
		...more,
	})
	if (!link.isMany) {
		if (given === null) return { op: 'not', term: some({}) }
		return some({ where: filterCondition(given, to, count, within) })
	}
	if (typeof given !== 'object' || given === null || Array.isArray(given))
		throw badQuery(
			place,
			'object',
			'must be an object, such as {"some":{"field":value}} or {"count":{"gte":3}}',
		)
	const entries = Object.entries(given)
	if (entries.length === 0) throw badQuery(place, 'required', 'needs some, none, every or count')
	const terms = entries.map(([name, value]): Condition => {
		const at = `${place}.${name}`
		if (name === 'count') return countCondition(relation, value, count, at)
		const inner = () => filterCondition(value, to, count, { ...within, place: at, depth: depth + 1 })
		if (name === 'some') return some({ where: inner() })
		if (name === 'none') return { op: 'not', term: some({ where: inner() }) }
		if (name === 'every') return { op: 'not', term: some({ fails: inner() }) }
		throw unknownName(at, 'is not a condition on related records: use one of', QUANTIFIERS)
	})
	return allOf(...terms) ?? { op: 'and', terms: [] }
}

const QUANTIFIERS = ['some', 'none', 'every', 'count']
export const COMPARISONS: readonly Comparison[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte']

/** `3` or `{"gte":3}`. */
function countCondition({ link }: Relation, given: unknown, count: TermCounter, place: string): Condition {
	const entries =
		typeof given === 'object' && given !== null ? Object.entries(given) : [['eq', given] as const]
	if (entries.length === 0 || Array.isArray(given))
		throw badQuery(place, 'required', 'needs a number or an operator, such as {"gte":3}')
	const terms = entries.map(([op, value]: readonly [string, unknown]): Condition => {
		const compare = COMPARISONS.find((one) => one === op)
		if (compare === undefined)
			throw unknownName(`${place}.${op}`, 'is not an operator of a count: use one of', COMPARISONS)
		if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > MAX_COUNTED)
			throw badQuery(place, 'integer', `must be compared with a whole number from 0 to ${MAX_COUNTED}`)
		count.add(place)
		return { op: 'count', link, where: undefined, compare, value: Number(value) }
	})
	return allOf(...terms) ?? { op: 'and', terms: [] }
}

/**
 * Conditions of one request or filter. Those behind the same relations are about the same related record:
 * `comments.spam=true&comments.text=x` matches records with a comment that is both.
 */
export class RelatedTerms {
	readonly #links: number
	readonly #reader: FilterReader
	readonly #terms: Condition[] = []
	/** Only if there are any: most lists have none. */
	#related: Map<Relation, RelatedTerms> | undefined

	/** @param links number of relations in front */
	constructor(links = 0, reader = CLIENT) {
		this.#links = links
		this.#reader = reader
	}

	add(term: Condition): void {
		this.#terms.push(term)
	}

	/** The field of a name such as `title` or `author.name`, and the terms that it belongs to. */
	find(
		plan: Filterable,
		name: string,
		count: TermCounter,
		place: string,
	): { readonly field: CrudField; readonly terms: RelatedTerms } | undefined {
		const field = this.#reader.fieldsOf(plan).get(name)
		count.behind = this.#links
		if (field !== undefined) return { field, terms: this }
		const end = name.indexOf('.')
		const relation = end === -1 ? undefined : joined(plan, name.slice(0, end))
		if (relation === undefined) return undefined
		this.#related ??= new Map()
		const known = this.#related.get(relation)
		if (known === undefined) count.addRelation(place, this.#links + 1)
		const related = known ?? new RelatedTerms(this.#links + 1, this.#reader)
		this.#related.set(relation, related)
		return related.find(relation.to, name.slice(end + 1), count, place)
	}

	condition(): Condition | undefined {
		if (this.#related === undefined) return allOf(...this.#terms)
		const related = Array.from(
			this.#related,
			([{ link }, terms]): Condition => ({ op: 'some', link, where: terms.condition() }),
		)
		return allOf(...this.#terms, ...related)
	}
}

/**
 * The condition of a search: each word is in at least one of the fields. `undefined` for a text without words.
 *
 * @throws RestError `bad_request` for too many words, and for characters that can't be stored
 */
export function searchCondition(text: string, fields: FieldMap, count: TermCounter): Condition | undefined {
	if (/[\0\p{Surrogate}]/u.test(text))
		throw badQuery('search', 'text', 'must be well-formed Unicode without U+0000')
	const words = [...new Set(text.split(/\s+/).filter((word) => word !== ''))]
	if (words.length > MAX_WORDS) throw badQuery('search', 'max', `may have at most ${MAX_WORDS} words`)
	count.behind = 0
	const terms = words.map((word): Condition => {
		const value = boundedSubstring(word, 'search')
		count.add('search')
		count.addText('search', fields.size)
		const contained = [...fields.values()].map(
			({ field }): Condition => ({ op: 'contains', field: field.name, value, ignoreCase: true }),
		)
		return { op: 'or', terms: contained }
	})
	return allOf(...terms)
}
