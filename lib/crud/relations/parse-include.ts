/**
 * Parses what a request includes: `include=author,comments.author`, `include={"comments":{"limit":3}}`, and the dotted
 * names of `fields`. Access and scope are left to `access.ts`. Called by `list-query.ts` and `operations.ts`.
 */
import { attempt } from '../../base/attempt.ts'
import type { Condition, Order, Selection } from '../../models/model.ts'
import { stampOf } from '../cursor.ts'
import { filterCondition, outermost } from '../filter.ts'
import type { TermCounter } from '../filter-comparison.ts'
import { orderOf } from '../order.ts'
import type { CrudPlan, Relation } from '../plan.ts'
import { badQuery, countOf, names, unknownName, wholeNumber } from '../query-values.ts'

/** Related records that a request includes in each of its records. */
export interface Include {
	/** The place for messages: `include.comments.author`. */
	readonly place: string
	readonly relation: Relation
	readonly selection: Selection
	/** The client's own condition, without the scope. */
	readonly where: Condition | undefined
	readonly order: readonly Order[]
	/** 1 for a relation to one record. */
	readonly limit: number
	/** The number up to which related records are counted; `undefined` if they aren't counted. */
	readonly count: number | undefined
	/** See `stampOf`. */
	readonly stamp: string
	readonly include: readonly Include[]
	/** The same text for the same query; `undefined` with a condition. */
	readonly key: string | undefined
}

/** The fields and related records that a request asks for. */
export interface Requested {
	readonly selection: Selection
	readonly include: readonly Include[]
	/** Whether deleted records are asked for. @default false */
	readonly isDeleted?: boolean
}

/** The same, with the number of relations that its parameters name. */
interface ParsedRequest extends Requested {
	readonly relations: number
}

export const NO_INCLUDE: readonly Include[] = Object.freeze([])

/** Maximum number of related records in a response, if each record has as many as its limit allows. */
const MAX_RECORDS = 10_000

/** The settings of an include in JSON: `{"comments":{"limit":3}}`. */
const SETTINGS = ['limit', 'sort', 'fields', 'filter', 'count', 'include'] as const
/** Those of a relation to one record. */
const SETTINGS_TO_ONE = ['fields', 'include'] as const

type Settings = { readonly [K in (typeof SETTINGS)[number]]?: unknown }

/**
 * The fields and related records that a request asks for.
 *
 * @param fields the parameter; `undefined` for all visible fields
 * @param include the parameter, as text or, in the body of a QUERY, as JSON
 * @throws RestError `bad_request`, with the same message for a hidden field and an unknown one
 */
export function requestedOf(
	plan: CrudPlan,
	fields: unknown,
	include: unknown,
	count: TermCounter,
): Requested {
	if (fields === undefined && include === undefined)
		return { selection: plan.selections.all, include: NO_INCLUDE }
	const key = keyOfTexts(fields, include)
	const { requests } = plan.selections
	// Nothing else is kept there.
	const known = key === undefined ? undefined : (requests.find(key) as ParsedRequest | undefined)
	// With too many relations it is parsed again, to name the one that is too many.
	if (known !== undefined && count.takesRelations(known.relations)) return known
	const before = count.relations
	const draft = new Draft(plan, 'fields', 0)
	draft.isWhole = fields === undefined
	if (fields !== undefined) draft.addFields(fields, 'fields', count)
	if (include !== undefined) draft.addInclude(parsed(include), 'include', count)
	const requested = { ...draft.finished(count), relations: count.relations - before }
	// Not cached with a condition: it has values of this request, and its comparisons must be counted.
	if (key !== undefined && known === undefined && requested.include.every((one) => one.key !== undefined))
		requests.keep(key, requested)
	return requested
}

/** Longer texts aren't cached, because clients choose them. */
const MAX_KEY_LENGTH = 500

function keyOfTexts(fields: unknown, include: unknown): string | undefined {
	const texts = [fields, include].filter((one) => one !== undefined)
	if (!texts.every((one) => typeof one === 'string')) return undefined
	const key = JSON.stringify([fields ?? null, include ?? null])
	return key.length <= MAX_KEY_LENGTH ? key : undefined
}

/**
 * Refuses a request for too many records.
 *
 * @param limit number of records in the page
 * @throws RestError `bad_request`
 */
export function refuseTooMany(include: readonly Include[], limit: number): void {
	for (const one of include) {
		const records = limit * Math.max(1, one.limit)
		if (records > MAX_RECORDS)
			throw badQuery(
				'include',
				'max',
				`would be up to ${records} records of ${one.relation.name}: at most ${MAX_RECORDS} are allowed, so ask for fewer records or a smaller limit of the relation`,
			)
		refuseTooMany(one.include, records)
	}
}

/** How many records a page may have with these related ones. */
export function mostRecords(include: readonly Include[]): number {
	const most = include.map((one) => {
		const each = Math.max(1, one.limit)
		return Math.floor(Math.min(MAX_RECORDS, mostRecords(one.include)) / each)
	})
	return Math.min(Number.POSITIVE_INFINITY, ...most)
}

/** @param path the relations on the way */
function onlyNames(path: readonly string[]): string {
	return path.length > 0 ? `may only name, below ${path.join('.')},` : 'may only name'
}

/** An include is JSON if it starts with a brace, which no name does. */
function parsed(include: unknown): unknown {
	if (typeof include !== 'string' || !include.trimStart().startsWith('{')) return include
	const value = attempt<unknown>(() => JSON.parse(include))
	if (value === undefined) throw badQuery('include', 'json', 'is malformed JSON')
	return value
}

/** What is asked of the records of one handler, while the parameters are read. */
class Draft {
	readonly #plan: CrudPlan
	readonly #place: string
	readonly #depth: number
	readonly #fields = new Set<string>()
	readonly #related = new Map<Relation, Draft>()
	#settings: Settings | undefined
	/** Whether all visible fields are asked for, unless some are named. */
	isWhole = false

	constructor(plan: CrudPlan, place: string, depth: number) {
		this.#plan = plan
		this.#place = place
		this.#depth = depth
	}

	addFields(given: unknown, place: string, count: TermCounter): void {
		for (const name of names(place, given)) this.#addField(name, place, count)
	}

	#addField(name: string, place: string, count: TermCounter, path: readonly string[] = []): void {
		const { visible, relations } = this.#plan
		if (visible.has(name)) {
			this.#fields.add(name)
			return
		}
		const end = name.indexOf('.')
		const relation = relations.get(end === -1 ? name : name.slice(0, end))
		if (relation === undefined)
			throw unknownName(place, onlyNames(path), [...visible.keys(), ...relations.keys()])
		const related = this.#relatedBy(relation, place, count)
		if (end === -1) related.isWhole = true
		else related.#addField(name.slice(end + 1), place, count, [...path, relation.name])
	}

	/** Names, `author,comments.author`, or an object with settings for each relation, `{"comments":{"limit":3}}`. */
	addInclude(given: unknown, place: string, count: TermCounter): void {
		if (typeof given === 'string' || Array.isArray(given)) {
			for (const name of names(place, given)) this.#addPath(name.split('.'), place, count)
			return
		}
		if (typeof given !== 'object' || given === null)
			throw badQuery(
				place,
				'object',
				'must be names of relations, or an object such as {"comments":{"limit":3}}',
			)
		for (const [name, settings] of Object.entries(given)) {
			const related = this.#addPath(name.split('.'), `${place}.${name}`, count)
			if (settings !== true) related.#set(settings, `${place}.${name}`, count)
		}
	}

	#addPath(path: readonly string[], place: string, count: TermCounter): Draft {
		let draft: Draft = this
		for (const [at, name] of path.entries()) {
			const { relations, visible } = draft.#plan
			const relation = relations.get(name)
			if (relation === undefined && visible.has(name))
				throw badQuery(
					place,
					'unknown',
					'names a field, and may only name relations: fields are named in fields',
				)
			if (relation === undefined) throw unknownName(place, onlyNames(path.slice(0, at)), relations.keys())
			draft = draft.#relatedBy(relation, place, count)
			draft.isWhole = true
		}
		return draft
	}

	#relatedBy(relation: Relation, place: string, count: TermCounter): Draft {
		const known = this.#related.get(relation)
		if (known !== undefined) return known
		const depth = this.#depth + 1
		count.addRelation(place, depth)
		const related = new Draft(
			relation.to,
			`${this.#depth === 0 ? 'include' : this.#place}.${relation.name}`,
			depth,
		)
		this.#related.set(relation, related)
		return related
	}

	#set(settings: unknown, place: string, count: TermCounter): void {
		if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
			throw badQuery(place, 'object', 'must be true, or an object such as {"limit":3}')
		if (this.#settings !== undefined) throw badQuery(place, 'repeated', 'is given more than once')
		this.#settings = settings
		const { fields, include } = this.#settings
		if (fields !== undefined) this.addFields(fields, `${place}.fields`, count)
		if (include !== undefined) this.addInclude(include, `${place}.include`, count)
	}

	finished(count: TermCounter): Requested {
		const { selections } = this.#plan
		const all = this.isWhole && this.#fields.size === 0
		const include = Array.from(this.#related, ([relation, related]) => related.#included(relation, count))
		if (!all && this.#fields.size + include.length === 0)
			throw badQuery(this.#place, 'min', 'must name at least one field')
		return {
			selection: all ? selections.all : selections.of(this.#fields),
			include: include.length === 0 ? NO_INCLUDE : include,
		}
	}

	#included(relation: Relation, count: TermCounter): Include {
		const place = this.#place
		const settings = this.#settings ?? {}
		const known: readonly string[] = relation.link.isMany ? SETTINGS : SETTINGS_TO_ONE
		const unknown = Object.keys(settings).find((name) => !known.includes(name))
		if (unknown !== undefined) throw unknownName(`${place}.${unknown}`, 'is not a setting: there are', known)
		const { selection, include } = this.finished(count)
		const many = relation.link.isMany ? this.#listed(relation, settings, count) : undefined
		const where = many?.where
		const order = many?.order ?? []
		const limit = many?.limit ?? 1
		const isStatic = where === undefined && include.every(({ key }) => key !== undefined)
		const key = [
			relation.name,
			selection.names,
			order.map(keyOf),
			limit,
			String(many?.count),
			include.map((one) => one.key),
		]
		return {
			...{ place, relation, selection, where, order, limit, include },
			count: many?.count,
			stamp: stampOf(order, where),
			key: isStatic ? JSON.stringify(key) : undefined,
		}
	}

	#listed({ to, limit, maxLimit }: Relation, settings: Settings, count: TermCounter) {
		const place = this.#place
		const { limit: given, sort, filter, count: counted } = settings
		const within = { ...outermost(`${place}.filter`), links: this.#depth }
		return {
			where: filter === undefined ? undefined : filterCondition(filter, to, count, within),
			order: orderOf(to, sort, count, `${place}.sort`, this.#depth),
			limit: Math.min(given === undefined ? limit : wholeNumber(`${place}.limit`, given), maxLimit),
			count: countOf(`${place}.count`, counted),
		}
	}
}

function keyOf({ field, descending, via = [] }: Order): unknown[] {
	return [field, descending, via.map(({ link }) => 'relation' in link && (link.relation as Relation).name)]
}
