/**
 * The encoding of a `CrudClient`'s queries, as URL parameters if possible, else as JSON; and the page that is returned.
 */
import { GROUPS, OPERATORS, PARAMETERS, type PageMeta } from '../wire/list.ts'
import { type Answer, type ApiMeta, type Call, isRecord, metaOf, unexpected } from './answer.ts'
import type { IncludeMany, Operators, Page } from './query-types.ts'
import { jsonScalar } from './send.ts'
import { checkNames } from './settings.ts'

/** Browsers, proxies and servers all accept URLs of this length. */
const MAX_URL_LENGTH = 2_000

/** A `ListQuery` for records of any type. */
export interface AnyQuery {
	readonly where?: object | undefined
	readonly filter?: unknown
	readonly search?: string | undefined
	readonly limit?: number | undefined
	readonly offset?: number | undefined
	readonly cursor?: string | null | undefined
	readonly sort?: string | readonly string[] | undefined
	readonly fields?: readonly string[] | undefined
	readonly count?: boolean | number | undefined
	readonly include?: object | undefined
	readonly deleted?: 'only' | undefined
}

const NAMES: readonly (keyof AnyQuery)[] = ['where', ...PARAMETERS]

/**
 * The request for a list.
 *
 *     GET /blog/article?limit=10&sort=-created&title=x
 *     QUERY /blog/article  {"limit":10,"sort":"-created","filter":{"title":{"eq":"x"}}}
 *
 * A condition on a field that has the same name as a filter group (`or`) is sent next to `filter` in the body.
 *
 * @throws TypeError for conditions that can't be sent, and for unknown names in the query
 */
export function encodeQuery(collection: string, query: AnyQuery): Call {
	checkNames('a list', query, NAMES)
	return encodeParameters(collection, otherParameters(query), query, PARAMETERS)
}

/** The request that deletes the matching records. @throws TypeError if the conditions don't fit into the URL */
export function encodeDeletion(collection: string, query: AnyQuery): Call {
	checkNames('a deletion', query, ['where', 'filter', 'search'] satisfies (keyof AnyQuery)[])
	const { method, url } = encodeQuery(collection, query)
	if (method === 'GET') return { method: 'DELETE', url }
	throw new TypeError(`DELETE ${collection}: the conditions are too long for a URL: delete in several calls`)
}

/**
 * The request for parameters and conditions.
 *
 * @param names reserved parameters: conditions on fields with these names go into `filter`
 * @throws TypeError for conditions that can't be sent
 */
export function encodeParameters(
	collection: string,
	others: readonly [string, unknown][],
	{ where = {}, filter }: Pick<AnyQuery, 'where' | 'filter'>,
	names: readonly string[],
): Call {
	const ownFilter = filter === undefined ? [] : [filterJson(filter)]
	/** Adds `filter`, with the conditions that can't be parameters. */
	const entries = ({ filters }: Terms): [string, unknown][] => {
		const all = allOf([...ownFilter, ...filters])
		return all === undefined ? [...others] : [...others, ['filter', all]]
	}
	const terms = termsOf(where, names)
	const parameters = new URLSearchParams()
	for (const [name, value] of [...entries(terms), ...terms.pairs]) parameters.append(name, textOf(value))
	const url = parameters.size === 0 ? collection : `${collection}?${parameters}`
	if (url.length <= MAX_URL_LENGTH && Object.keys(terms.members).length === 0) return { method: 'GET', url }
	const inBody = termsOf(where, undefined)
	return {
		method: 'QUERY',
		url: collection,
		body: { ...Object.fromEntries(entries(inBody)), ...inBody.members },
	}
}

/** The parameters that aren't conditions. */
function otherParameters(query: AnyQuery): [string, unknown][] {
	return PARAMETERS.flatMap((name): [string, unknown][] => {
		if (name === 'filter') return []
		const value = name === 'count' ? countText(query.count) : (query[name] ?? null)
		const sent = Array.isArray(value) ? value.join() : name === 'include' ? includeJson(value) : value
		return sent === null || (sent === '' && LISTS.includes(name)) ? [] : [[name, sent]]
	})
}

/** Left out if empty. */
const LISTS = ['sort', 'include']

/** `fields` and `include` as the query of a URL. @throws TypeError as `encodeQuery` */
export function selectionText({ fields, include }: AnyQuery): string {
	const texts = otherParameters({ fields, include }).map(([name, value]): [string, string] => [
		name,
		textOf(value),
	])
	return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`
}

function textOf(value: unknown): string {
	return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** An `include` as the server expects it. Settings that are undefined are left out. */
function includeJson(include: unknown): unknown {
	if (!isRecord(include) || Array.isArray(include)) return include
	const entries = Object.entries(include).map(([name, settings]) => {
		if (!isRecord(settings)) return [name, settings]
		const { filter, count, include: inner, ...more }: IncludeMany<object> = settings
		return [
			name,
			{
				...more,
				...(filter === undefined ? {} : { filter: filterJson(filter) }),
				...(count ? { count: countText(count) } : {}),
				...(inner === undefined ? {} : { include: includeJson(inner) }),
			},
		]
	})
	return Object.fromEntries(entries)
}

function countText(count: boolean | number | undefined): string | number | null {
	return count === true ? 'exact' : count === undefined || count === false ? null : count
}

type JsonScalar = string | number | boolean
/** Comparisons of one field, with values of JSON. */
type JsonOperators = Record<string, JsonScalar | JsonScalar[]>
/** A filter as the server expects it: `{"field":{"op":value}}`, with `and`, `or` and `not`. */
type JsonFilter = Record<string, unknown>

const GROUP_NAMES: readonly string[] = GROUPS
const NO_FILTER = 'must hold filters; write a condition on a field with this name in where'

/** The conditions of a query, grouped by how they are sent. All must hold. */
interface Terms {
	/** Parameters of a URL. */
	readonly pairs: [string, string][]
	readonly filters: JsonFilter[]
	/** Members of a QUERY's body, for fields with the same name as a filter group, which can't be in a filter. */
	readonly members: JsonFilter
}

/**
 * Splits conditions into those that can be URL parameters and the others, which become a filter.
 *
 *     { title: 'x', age: { gte: 3 }, tag: ['a', 'b'], city: { nin: ['Aalen, Ost'] } }
 *     title=x  age[gte]=3  tag=a  tag=b        {"city":{"nin":["Aalen, Ost"]}}
 *
 * @param names parameters that aren't conditions; `undefined` if no parameters may be used
 * @throws TypeError for a value that can't be sent
 */
function termsOf(where: object, names: readonly string[] | undefined): Terms {
	const pairs: [string, string][] = []
	const filters: JsonFilter[] = []
	const members: JsonFilter = {}
	for (const [field, match] of Object.entries(where)) {
		const isPlain = names !== undefined && !holdsNull(match)
		const plain = isPlain ? pairsOf(field, operatorsOf(field, match), names) : undefined
		if (plain !== undefined) pairs.push(...plain)
		else if (!GROUP_NAMES.includes(field)) filters.push(termOf(field, match))
		else if (!holdsNull(match)) members[field] = operatorsOf(field, match)
		else throw refusal(field, 'is named like a filter group: ask for null separately')
	}
	return { pairs, filters, members }
}

/** A whole filter as JSON. @throws TypeError like `termsOf`, and for a group that doesn't hold filters */
function filterJson(filter: unknown, group = 'filter'): JsonFilter {
	if (!isRecord(filter)) throw refusal(group, NO_FILTER)
	const terms = Object.entries(filter).map(([name, value]: [string, unknown]): JsonFilter => {
		if (name === 'not') return { not: filterJson(value, name) }
		if (!GROUP_NAMES.includes(name)) return termOf(name, value)
		if (!Array.isArray(value)) throw refusal(name, NO_FILTER)
		return { [name]: value.map((one) => filterJson(one, name)) }
	})
	return allOf(terms) ?? {}
}

/** Combines filters that must all hold: merged into one object, or in `and` if a name repeats. */
function allOf(terms: readonly JsonFilter[]): JsonFilter | undefined {
	const names = terms.flatMap((term) => Object.keys(term))
	if (new Set(names).size < names.length) return { and: terms }
	return names.length === 0 ? undefined : Object.fromEntries(terms.flatMap((term) => Object.entries(term)))
}

const OPERATOR_NAMES: readonly string[] = OPERATORS satisfies readonly (keyof Operators<unknown>)[]

/** Whether it is a condition on related records: `{ name: 'Ada' }`, `{ some: {} }`. */
function isFilter(field: string, match: unknown): match is object {
	if (!isRecord(match) || Array.isArray(match) || match instanceof Date) return false
	const names = Object.keys(match)
	return names.length === 0
		? /^(?:some|none|every)$/.test(field)
		: !names.every((name) => OPERATOR_NAMES.includes(name))
}

function termOf(field: string, match: unknown): JsonFilter {
	if (match === null) return { [field]: null } // a field that is null, or a relation to no record
	if (isFilter(field, match)) return { [field]: filterJson(match) }
	if (!holdsNull(match)) return { [field]: operatorsOf(field, match) }
	// `in` never matches null, so null becomes an alternative.
	const values = match.filter((value) => value !== null)
	return { or: [termOf(field, values), termOf(field, null)] }
}

function holdsNull(match: unknown): match is unknown[] {
	return Array.isArray(match) && match.includes(null)
}

function operatorsOf(field: string, match: unknown): JsonOperators {
	if (match === null) return { null: true }
	if (Array.isArray(match)) return { in: match.map((value) => scalar(field, value)) }
	if (typeof match !== 'object' || match instanceof Date) return { eq: scalar(field, match) }
	const operators = Object.entries(match).map(([op, value]): [string, JsonScalar | JsonScalar[]] => {
		if (value === null && (op === 'eq' || op === 'ne')) return ['null', op === 'eq']
		if (Array.isArray(value)) return [op, value.map((one) => scalar(`${field}.${op}`, one))]
		return [op, scalar(`${field}.${op}`, value)]
	})
	if (operators.length === 0) throw refusal(field, 'has no operator')
	return Object.fromEntries(operators)
}

function scalar(where: string, value: unknown): JsonScalar {
	const sent = jsonScalar(value)
	if (typeof sent === 'string' || typeof sent === 'number' || typeof sent === 'boolean') return sent
	// If an undefined condition were ignored, the list or count would be of all records.
	throw refusal(
		where,
		`must be compared with a text, number, boolean or date, not ${value}; leave it out instead`,
	)
}

/** The parameters of one field; `undefined` if they would be ambiguous. */
function pairsOf(
	field: string,
	operators: JsonOperators,
	names: readonly string[],
): [string, string][] | undefined {
	if (names.includes(field) || /[[\]]/.test(field)) return undefined
	const pairs: [string, string][] = []
	for (const [op, value] of Object.entries(operators)) {
		const values = [value].flat().map(String)
		// URLs are UTF-8, which can't encode lone surrogates; JSON escapes them.
		if (values.length === 0 || values.some((text) => /\p{Surrogate}/u.test(text))) return undefined
		if (op === 'in' && !('eq' in operators))
			pairs.push(...values.map((text): [string, string] => [field, text]))
		else if (Array.isArray(value) && values.some((text) => !/^[^\s,](?:[^,]*[^\s,])?$/.test(text)))
			return undefined
		else pairs.push([op === 'eq' ? field : `${field}[${op}]`, values.join(',')])
	}
	return pairs
}

function refusal(where: string, what: string): TypeError {
	return new TypeError(`${where} ${what}`)
}

/** The page in an answer. @throws ApiError if the answer is not a list */
export function pageOf<T>(call: Call, { data, meta, response }: Answer, query: AnyQuery): Page<T> {
	if (!Array.isArray(data)) throw unexpected(call, response, 'is not a list', data)
	const records = data as T[] // of the type that the program declared
	const page = { data: records, meta: pageMeta(metaOf(meta, response.headers), query, data.length) }
	// If a cache ignored the query, `pages` would loop forever.
	if (page.meta.next === null || page.meta.next !== query.cursor) return page
	throw unexpected(call, response, 'is its own next page', data)
}

/** Missing members are taken from the query. Without `next`, the page counts as the last one. */
function pageMeta(meta: ApiMeta, query: AnyQuery, length: number): PageMeta {
	const { limit = query.limit ?? length, offset = query.offset ?? 0, next = null, total, more } = meta
	return {
		...{ limit, offset, next },
		...(total === undefined ? {} : { total }),
		...(more === true ? { more } : {}),
	}
}
