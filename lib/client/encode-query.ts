/** A list's query as a request: parameters of a URL, or, where that would be too long, the body of a QUERY. */
import { allOf, filterJson, type JsonFilter, type Terms, termsOf } from './conditions.ts'
import type { ListQuery } from './list-query.ts'
import { checkNames } from './settings.ts'

/** Characters of a URL that every browser, proxy and server passes on. */
const LONGEST_URL = 2_000

const NAMES: readonly (keyof ListQuery<object>)[] = [
	...(['where', 'filter', 'search', 'sort', 'fields', 'limit', 'offset', 'cursor', 'count'] as const),
]

/** Method, URL and body of a request. */
export interface Encoded {
	readonly method: 'GET' | 'QUERY'
	readonly url: string
	readonly body?: unknown
}

/**
 * The request for a list.
 *
 *     GET /blog/article?limit=10&sort=-created&title=x
 *     QUERY /blog/article  {"limit":10,"sort":"-created","filter":{"title":{"eq":"x"}}}
 *
 * A field that is called like a group of filters, `or`, stands beside `filter` in the body.
 *
 * @throws TypeError for conditions that can't be sent, and for what is no part of a query
 */
export function encodeQuery<T>(collection: string, query: ListQuery<T>): Encoded {
	checkNames('a list', query, NAMES)
	const { where = {}, filter } = query
	const given = filter === undefined ? [] : [filterJson(filter)]
	const settings = settingsOf(query)
	const { pairs, filters, members } = termsOf(where, true)
	const parameters = new URLSearchParams()
	for (const [name, value] of [...settings, ...filterPair(allOf([...given, ...filters])), ...pairs])
		parameters.append(name, String(value))
	const url = parameters.size === 0 ? collection : `${collection}?${parameters}`
	if (url.length <= LONGEST_URL && Object.keys(members).length === 0) return { method: 'GET', url }
	return { method: 'QUERY', url: collection, body: bodyOf(settings, given, termsOf(where, false)) }
}

function bodyOf(
	settings: readonly [string, string | number][],
	given: readonly JsonFilter[],
	{ filters, members }: Terms,
): Record<string, unknown> {
	const filter = allOf([...given, ...filters])
	return { ...Object.fromEntries(settings), ...(filter === undefined ? {} : { filter }), ...members }
}

function filterPair(filter: JsonFilter | undefined): [string, string][] {
	return filter === undefined ? [] : [['filter', JSON.stringify(filter)]]
}

/** What isn't a condition, by the names of the wire. */
function settingsOf<T>(query: ListQuery<T>): [string, string | number][] {
	const { limit, offset, cursor, sort, fields, search, count } = query
	const settings: [string, string | number | null | undefined][] = [
		['limit', limit],
		['offset', offset],
		['cursor', cursor],
		['sort', sort?.toString() || undefined],
		['fields', fields?.join()],
		['search', search],
		['count', count === true ? 'exact' : null],
	]
	return settings.filter((setting): setting is [string, string | number] => (setting[1] ?? null) !== null)
}
