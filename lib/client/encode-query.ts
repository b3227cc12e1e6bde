/** A list's query as a request: parameters of a URL, or, where that would be too long, the body of a QUERY. */
import { allOf, filterJson, type JsonFilter, splitWhere } from './conditions.ts'
import type { ListQuery } from './list-query.ts'

/** Characters of a URL that every browser, proxy and server passes on. */
const LONGEST_URL = 2_000

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
 * @throws TypeError for conditions that can't be sent
 */
export function encodeQuery<T>(collection: string, query: ListQuery<T>): Encoded {
	const { where = {}, filter } = query
	const given = filter === undefined ? [] : [filterJson(filter)]
	const { pairs, rest } = splitWhere(where)
	const settings = settingsOf(query)
	const parameters = new URLSearchParams()
	for (const [name, value] of [...settings, ...filterPair(allOf([...given, ...rest])), ...pairs])
		parameters.append(name, String(value))
	const url = parameters.size === 0 ? collection : `${collection}?${parameters}`
	if (url.length <= LONGEST_URL) return { method: 'GET', url }
	const whole = allOf([...given, filterJson(where)])
	const body = { ...Object.fromEntries(settings), ...(whole === undefined ? {} : { filter: whole }) }
	return { method: 'QUERY', url: collection, body }
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
		['sort', sort?.toString()],
		['fields', fields?.join()],
		['search', search],
		['count', count === true ? 'exact' : null],
	]
	return settings.filter((setting): setting is [string, string | number] => (setting[1] ?? null) !== null)
}
