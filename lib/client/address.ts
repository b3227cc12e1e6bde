/** URLs of a collection and of its records, from what programmers and their users give. */

/** What tells a record apart. */
export type Id = string | number | bigint

/** Not empty, and no dot segment, also percent-encoded: URLs resolve those before they are asked for. */
const SEGMENT = /^(?!(?:\.|%2e){0,2}$)[^\s/?#\\]+$/i
/** An origin, or none, and a path. One that begins with two slashes would name another host. */
const ENDPOINT = /^(?:https?:\/\/[^\s/?#@\\]+)?(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[^\s/?#\\]+)*\/?$/i

/**
 * The URL of a collection, without a slash at its end.
 *
 *     collectionUrl('article', '/blog')                       // '/blog/article'
 *     collectionUrl('article', 'https://example.org/blog/')   // 'https://example.org/blog/article'
 *
 * @throws TypeError where the name is no URL segment or the endpoint no URL path
 */
export function collectionUrl(name: string, endpoint: string): string {
	if (typeof name !== 'string' || !SEGMENT.test(name))
		throw new TypeError(`a CrudClient's name is one segment of a URL, like 'article', got ${shown(name)}`)
	return `${endpointUrl("a CrudClient's", endpoint)}/${name}`
}

/**
 * The URL below which an API is, without a slash at its end.
 *
 * @throws TypeError where it is no URL path; `whose` endpoint it says
 */
export function endpointUrl(whose: string, endpoint: string): string {
	if (typeof endpoint !== 'string' || !ENDPOINT.test(endpoint) || !isUrl(endpoint))
		throw new TypeError(
			`${whose} endpoint is a path, like '/blog', or 'https://example.org/blog', got ${shown(endpoint)}`,
		)
	return endpoint.replace(/\/$/, '')
}

/** Of an origin, no pattern says it all: `http://a:99999`. */
function isUrl(endpoint: string): boolean {
	try {
		return new URL(endpoint, 'http://a').host !== ''
	} catch {
		return false
	}
}

/**
 * An id as one segment: nothing in it leads to another path.
 *
 * @throws TypeError for what can't be one, inexact numbers too
 */
export function idSegment(id: unknown): string {
	const exact = typeof id === 'number' ? Number.isSafeInteger(id) : /^(?:string|bigint)$/.test(typeof id)
	const text = String(id)
	// Clients resolve dot segments before they ask, percent-encoded ones too: DELETE /article/.. is DELETE /.
	if (!exact || /^\.{0,2}$|\p{Surrogate}/u.test(text))
		throw new TypeError(`an id is a text, a bigint or a whole number within ±2^53, got ${shown(id)}`)
	return encodeURIComponent(text)
}

/** The id in a `Location`: its last segment. `undefined` where there is none. */
export function idIn(location: string | null): string | undefined {
	const [path = ''] = (location ?? '').split(/[?#]/, 1)
	const segment = path.slice(path.lastIndexOf('/') + 1)
	try {
		return segment === '' ? undefined : decodeURIComponent(segment)
	} catch {
		return undefined
	}
}

function shown(value: unknown): string {
	return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
