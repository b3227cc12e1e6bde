/** A list's query as a request: parameters of a URL, or, where that would be too long, the body of a QUERY. */

import { PARAMETERS } from '../wire/list.ts'
import { allOf, filterJson, type Terms, termsOf } from './conditions.ts'
import type { ListQuery } from './list-query.ts'
import { checkNames } from './settings.ts'

/** Characters of a URL that every browser, proxy and server passes on. */
const LONGEST_URL = 2_000

const NAMES: readonly (keyof ListQuery<object>)[] = ['where', ...PARAMETERS]

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
	/** With the conditions that no parameter of their own can say. */
	const entries = ({ filters }: Terms): [string, unknown][] => {
		const all = allOf([...given, ...filters])
		return all === undefined ? settings : [...settings, ['filter', all]]
	}
	const terms = termsOf(where, true)
	const parameters = new URLSearchParams()
	for (const [name, value] of [...entries(terms), ...terms.pairs])
		parameters.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
	const url = parameters.size === 0 ? collection : `${collection}?${parameters}`
	if (url.length <= LONGEST_URL && Object.keys(terms.members).length === 0) return { method: 'GET', url }
	const whole = termsOf(where, false)
	return {
		method: 'QUERY',
		url: collection,
		body: { ...Object.fromEntries(entries(whole)), ...whole.members },
	}
}

/** What isn't a condition, by the names of the wire. */
function settingsOf<T>(query: ListQuery<T>): [string, unknown][] {
	return PARAMETERS.flatMap((name): [string, unknown][] => {
		if (name === 'filter') return []
		const value = name === 'count' ? (query.count === true ? 'exact' : null) : (query[name] ?? null)
		const sent = Array.isArray(value) ? value.join() : value
		return sent === null || (name === 'sort' && sent === '') ? [] : [[name, sent]]
	})
}
