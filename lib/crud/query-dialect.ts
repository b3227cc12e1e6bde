/**
 * Dialects serve data providers that were made for other servers: queries are rewritten as this library's, and answers take
 * the form that they expect. `simple-rest` is for ra-data-simple-rest, `json-server` for ra-data-json-server and refine's
 * simple-rest. `asked.ts` calls `translated`; `answers.ts` and error replies call the rest.
 */

import { attempt } from '../base/attempt.ts'
import type { RestError } from '../base/error.ts'
import { isPlain } from '../base/options.ts'
import { Fields } from '../request/body/form.ts'
import { checkParsed } from '../request/body/json.ts'
import { GROUPS, PARAMETERS, type PageMeta } from '../wire/list.ts'
import { itemTexts, memberTexts, withMembers } from './json-text.ts'
import type { CrudDialect } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { badQuery, wholeNumber } from './query-values.ts'
import type { Include } from './relations/parse-include.ts'

/** Operators at the end of a name, as in `views_gte`. */
const SUFFIXED = /^(.+)_(gte|lte|gt|lt|ne|like)$/s

/**
 * Rewrites a query. Parameters that aren't the dialect's stay as they are.
 *
 *     simple-rest   sort=["title","ASC"]&range=[0,24]&filter={"q":"tea","views_gte":5}&embed="author"
 *     json-server   _sort=title&_order=ASC&_start=0&_end=25&q=tea&views_gte=5&_embed=author
 *     both give     sort=title&offset=0&limit=25&count=exact&search=tea&views[gte]=5&include=author
 *
 * @throws RestError `bad_request` for an invalid value of one of its parameters
 */
export function translated(plan: CrudPlan, given: Fields): Fields {
	const rewriting = new Rewriting(plan)
	if (plan.dialect === 'simple-rest') addSimpleRest(rewriting, given)
	else addJsonServer(rewriting, given)
	return rewriting.finished()
}

/** The rewritten query, while it is built. */
class Rewriting {
	readonly #plan: CrudPlan
	readonly #query = new Fields()
	/** Conditions that can't be parameters, and further ones of the same names. */
	readonly #filter: Record<string, unknown> = Object.create(null)
	readonly #further: object[] = []

	constructor(plan: CrudPlan) {
		this.#plan = plan
	}

	add(name: string, ...values: readonly string[]): void {
		for (const value of values) this.#query.add(name, value)
	}

	/** Adds a page, and asks for the total. */
	addPage(offset: number, limit: number): void {
		this.add('offset', String(offset))
		this.add('limit', String(limit))
		this.add('count', 'exact')
	}

	/** Adds a condition, `views` or `views_gte`; `q` is a search. An empty `q` or `_like` adds none. */
	addCondition(name: string, values: readonly string[]): void {
		const { filterable, searchable } = this.#plan
		const [, field = '', suffix = ''] = filterable.has(name) ? [] : (SUFFIXED.exec(name) ?? [])
		if (name === 'q' && !filterable.has(name)) {
			if (searchable.size === 0) throw badQuery('q', 'unknown', 'is not a parameter: no field is searched')
			this.add('search', values.join(' '))
		} else if (suffix === '') this.add(name, ...values)
		else
			this.add(
				`${field}[${suffix === 'like' ? 'icontains' : suffix}]`,
				...values.filter((text) => suffix !== 'like' || text !== ''),
			)
	}

	/**
	 * Adds a condition whose value is JSON. A scalar becomes a text, which is then parsed by its field's type. If there is a
	 * parameter of this name already, the condition goes into `filter`, so that both must hold: the values of a repeated parameter
	 * are alternatives.
	 */
	addJson(name: string, value: unknown): void {
		if (isPlain(value) && hasSuffix(this.#plan, name, value)) {
			for (const [path, one] of flat(this.#plan, name, value)) this.addJson(path, one)
			return
		}
		// Repeated operators, as in `views[gte]`, must all hold.
		const isRepeated = !name.endsWith(']') && Object.hasOwn(this.#query.last, name)
		const isOnlyInFilter = isReserved(name) || isRepeated
		const texts = isOnlyInFilter ? undefined : textsOf(value)
		if (value === null && !isOnlyInFilter) this.add(`${name}[null]`, 'true')
		else if (texts !== undefined) this.addCondition(name, texts)
		else if (Object.hasOwn(this.#filter, name)) this.#further.push({ [name]: value })
		else this.#filter[name] = value
	}

	finished(): Fields {
		const { and = [] } = this.#filter
		if (this.#further.length > 0) Object.assign(this.#filter, { and: [and, this.#further].flat() })
		if (Object.keys(this.#filter).length > 0) this.add('filter', JSON.stringify(this.#filter))
		return this.#query
	}
}

/** The handler that a relation leads to, unless the condition on it is written in our own words. */
function leadsTo({ relations }: CrudPlan, name: string, value: object): CrudPlan | undefined {
	const isOwn = Object.keys(value).some((member) => GROUPS.some((group) => group === member))
	return isOwn ? undefined : relations.get(name)?.to
}

/** Whether it is `author: { name_like: 'a' }`: react-admin sends the filter `author.name_like` so. */
function hasSuffix(plan: CrudPlan, name: string, value: object): boolean {
	const to = leadsTo(plan, name, value)
	return (
		to !== undefined &&
		Object.entries(value).some(([member, one]) =>
			isPlain(one) ? hasSuffix(to, member, one) : SUFFIXED.test(member) && !to.filterable.has(member),
		)
	)
}

/** The conditions on related records by their dotted names. */
function flat(plan: CrudPlan, name: string, value: object): [path: string, value: unknown][] {
	const to = leadsTo(plan, name, value)
	if (to === undefined) return [[name, value]]
	return Object.entries(value).flatMap(([member, one]: [string, unknown]) => {
		const below = isPlain(one) ? flat(to, member, one) : [[member, one] as const]
		return below.map(([path, each]): [string, unknown] => [`${name}.${path}`, each])
	})
}

/** Whether a condition on a field of this name can only be in `filter`. */
function isReserved(name: string): boolean {
	return (PARAMETERS as readonly string[]).includes(name)
}

/** A value, or a list of at least one, as texts; `undefined` for any other, and for integers that `JSON.parse` has rounded. */
function textsOf(value: unknown): string[] | undefined {
	const values: readonly unknown[] = Array.isArray(value) ? value : [value]
	const isText = (one: unknown) =>
		typeof one === 'string' ||
		typeof one === 'boolean' ||
		(typeof one === 'number' && !(Number.isInteger(one) && !Number.isSafeInteger(one)))
	return values.length > 0 && values.every(isText) ? values.map(String) : undefined
}

function addSimpleRest(rewriting: Rewriting, given: Fields): void {
	let filter: object = {}
	for (const name of Object.keys(given.last)) {
		const values = given.all(name)
		const [text = ''] = values
		const value = SIMPLE_REST.includes(name) && values.length === 1 ? jsonOf(text) : undefined
		if (name === 'sort' && Array.isArray(value)) rewriting.add('sort', sortOf(value))
		else if (name === 'range') rewriting.addPage(...rangeOf(value))
		else if (name === 'embed') rewriting.add('include', textsOf(value)?.join() ?? values.join())
		else if (name === 'filter' && isPlain(value)) filter = value
		else rewriting.add(name, ...values)
	}
	// Last, when all parameters are known.
	for (const [field, one] of Object.entries(filter)) rewriting.addJson(field, one)
}

/** Parameters whose value is JSON. */
const SIMPLE_REST: readonly string[] = ['sort', 'range', 'filter', 'embed']

/** The value of JSON text; `undefined` for any other text. */
function jsonOf(text: string): unknown {
	const value = attempt<unknown>(() => JSON.parse(text))
	checkParsed(value)
	return value
}

function sortOf([field, order = 'ASC', ...more]: readonly unknown[]): string {
	if (typeof field === 'string' && typeof order === 'string' && more.length === 0)
		return ordered('sort', field, order)
	throw badQuery('sort', 'array', 'must be ["field","ASC"] or ["field","DESC"]')
}

/** @returns the field as this library sorts by it: `-title` for descending */
function ordered(place: string, field: string, order: string): string {
	if (!/^(?:asc|desc)$/i.test(order)) throw badQuery(place, 'in', 'must be ASC or DESC')
	return order.toLowerCase() === 'asc' ? field : `-${field}`
}

/** Offset and limit of a range, whose end is the last record's place. */
function rangeOf(value: unknown): [offset: number, limit: number] {
	const [start, end, ...more]: unknown[] = Array.isArray(value) ? value : []
	if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && more.length === 0) {
		const [from, to] = [Number(start), Number(end)]
		if (from >= 0 && to >= from - 1) return [from, to - from + 1]
	}
	throw badQuery('range', 'array', 'must be the places of the first and the last record: [0,24]')
}

const PAGE = ['_start', '_end', '_limit', '_page'] as const

function addJsonServer(rewriting: Rewriting, given: Fields): void {
	for (const name of Object.keys(given.last)) {
		const values = given.all(name)
		if (name === '_sort') rewriting.add('sort', sortsOf(values, given.all('_order')))
		else if (name === '_embed' || name === '_expand') rewriting.add('include', ...values)
		else if (isReserved(name)) rewriting.add(name, ...values)
		else if (name !== '_order' && !(PAGE as readonly string[]).includes(name))
			rewriting.addCondition(name, values)
	}
	const page = Object.fromEntries(PAGE.map((name) => [name, numberOf(given, name)]))
	const { _start, _end, _limit, _page } = page
	if (PAGE.every((name) => page[name] === undefined)) return
	const size = _limit ?? (_page === undefined ? undefined : 10)
	const offset = _start ?? (Math.max(1, _page ?? 1) - 1) * (size ?? 0)
	const limit = _end === undefined ? size : _end - offset
	if (limit !== undefined && limit < 0) throw badQuery('_end', 'min', 'must be at least _start')
	rewriting.addPage(offset, limit ?? Number.MAX_SAFE_INTEGER)
}

function numberOf(given: Fields, name: string): number | undefined {
	const text = given.last[name]
	return text === undefined ? undefined : wholeNumber(name, text)
}

/** Fields and their orders, both separated by commas; without an order a field is ascending. */
function sortsOf(fields: readonly string[], orders: readonly string[]): string {
	const given = orders.join().split(',')
	const names = fields.join().split(',')
	return names.map((name, at) => (given[at] ? ordered('_order', name, given[at]) : name)).join()
}

/** Whether a query has page parameters of the dialect. */
export function hasPage(dialect: CrudDialect, { last }: Fields): boolean {
	return (dialect === 'simple-rest' ? ['range'] : PAGE).some((name) => last[name] !== undefined)
}

/** `Content-Range` of a page whose total is known: `items 0-24/319` (RFC 9110 §14.4, with a range unit of its own). */
export function contentRange({ offset, limit }: PageMeta, total: number): string {
	const end = Math.min(offset + limit, total)
	return `items ${end > offset ? `${offset}-${end - 1}` : '*'}/${total}`
}

/**
 * The body of an error with `message`, which the providers show, and `errors`, which react-admin shows at its inputs:
 *
 *     {"error":"Invalid values","message":"Invalid values","errors":{"title":"is required"},"code":"invalid",…}
 */
export function dialectError(body: object, { message, details }: RestError): object {
	const named = details.flatMap(({ field, message: text }) => (field === undefined ? [] : [[field, text]]))
	return { ...body, message, ...(named.length === 0 ? {} : { errors: Object.fromEntries(named) }) }
}

/** Whether answers have related lists, which `unwrapped` replaces by arrays. */
export function hasLists(include: readonly Include[]): boolean {
	return include.some(({ relation, include: inner }) => relation.link.isMany || hasLists(inner))
}

/**
 * Replaces the related lists in a record, or in each record of a list: `{"data":[…],"meta":…}` becomes `[…]`. Works on the
 * text, because parsing would round 64-bit integers.
 */
export function unwrapped(include: readonly Include[], json: string): string {
	if (!hasLists(include)) return json
	const text = json.trimStart()
	if (text.startsWith('['))
		return `[${itemTexts(text)
			.map((one) => unwrapped(include, one))
			.join()}]`
	if (!text.startsWith('{')) return json
	const members = new Map(memberTexts(text))
	for (const { relation, include: inner } of include) {
		const related = members.get(relation.name)
		if (related === undefined) continue
		const list = relation.link.isMany ? memberTexts(related).get('data') : undefined
		members.set(relation.name, unwrapped(inner, list ?? related))
	}
	return withMembers('{}', [...members])
}
