/**
 * URLs in replies: absolute paths made from the request's target. The Host header isn't used, because any client can
 * set it.
 */
import type { Incoming } from '../request/incoming.ts'

/** Characters that would end a `<…>` or a quoted string in a header. */
const DELIMITERS = /[<>"\\^`{|} ]/g
/** `DELIMITERS` without the flag g, because `test` would start where the last match ended. */
const HAS_DELIMITER = /[<>"\\^`{|} ]/
/** A path that needs no change: without empty segments, trailing slash and delimiters. */
const PLAIN_PATH = /^(?:\/[^/?<>"\\^`{|} ]+)+$/

/** The path of a target, without a trailing slash. */
export function pathOf(target: string): string {
	if (PLAIN_PATH.test(target)) return target
	const absolute = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/i.exec(target)?.[0].length ?? 0
	const query = target.indexOf('?', absolute)
	const path = target.slice(absolute, query === -1 ? undefined : query)
	// Two slashes at the beginning would name another host.
	return escaped(path.replace(/^\/+/, '/').replace(/\/+$/, ''))
}

/**
 * `Location` of a record: below its handler's path, even if the request came by a custom route, with the prefix that a
 * router in front has removed (Express, Connect).
 *
 * @param path the segments of the handler's path
 * @param segment the record's own segment, percent-encoded
 */
export function recordUrl(
	incoming: Pick<Incoming, 'originalUrl' | 'url'>,
	path: readonly string[],
	segment: string,
): string {
	return `${routerPrefix(incoming)}/${[...path.map(encodeURIComponent), segment].join('/')}`
}

/** The part of the path that a router in front has removed (Express, Connect): `/api`; usually empty. */
export function routerPrefix({ originalUrl, url = '' }: Pick<Incoming, 'originalUrl' | 'url'>): string {
	const whole = typeof originalUrl === 'string' ? pathOf(originalUrl) : ''
	const own = pathOf(url)
	return whole.endsWith(own) ? whole.slice(0, whole.length - own.length) : ''
}

/**
 * `Link` to the next page (RFC 8288): the same query with another cursor.
 *
 *     </blog/article?limit=2&cursor=WyJ…>; rel="next"
 */
export function nextLink(target: string, query: string, cursor: string): string {
	const path = pathOf(target) || '/'
	if (query === '') return `<${path}?cursor=${cursor}>; rel="next"`
	const kept = query.split('&').filter((pair) => pair !== '' && !isPosition(pair))
	return `<${path}?${escaped([...kept, `cursor=${cursor}`].join('&'))}>; rel="next"`
}

/** Whether a pair of the query is the cursor or offset of the current page; its name may be percent-encoded. */
function isPosition(pair: string): boolean {
	const end = pair.indexOf('=')
	const name = end === -1 ? pair : pair.slice(0, end)
	const decoded = name.includes('%') ? decodeURIComponent(name) : name
	return decoded === 'cursor' || decoded === 'offset'
}

function escaped(text: string): string {
	if (!HAS_DELIMITER.test(text)) return text
	return text.replace(DELIMITERS, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
