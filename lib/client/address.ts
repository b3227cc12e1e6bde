/** URLs of a collection and of its records, from what programmers and their users give. */

/** What tells a record apart. */
export type Id = string | number | bigint

const SEGMENT = /^(?!\.{0,2}$)[^\s/?#\\]+$/
/** An origin, or none, and a path. One that begins with two slashes would name another host. */
const ENDPOINT = /^(?:https?:\/\/[^\s/?#@\\]+)?(?:\/(?!\.{1,2}(?:\/|$))[^\s/?#\\]+)*\/?$/i

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
	if (typeof endpoint !== 'string' || !ENDPOINT.test(endpoint))
		throw new TypeError(
			`a CrudClient's endpoint is a path, like '/blog', or 'https://example.org/blog', got ${shown(endpoint)}`,
		)
	return `${endpoint.replace(/\/$/, '')}/${name}`
}

/**
 * An id as one segment: nothing in it leads to another path.
 *
 * @throws TypeError for what can't be one, inexact numbers too
 */
export function idSegment(id: Id | undefined): string {
	const exact = typeof id === 'number' ? Number.isSafeInteger(id) : /^(?:string|bigint)$/.test(typeof id)
	const text = String(id)
	// Clients resolve dot segments before they ask, percent-encoded ones too: DELETE /article/.. is DELETE /.
	if (!exact || /^\.{0,2}$|\p{Surrogate}/u.test(text))
		throw new TypeError(`an id is a text, a bigint or a whole number within ±2^53, got ${shown(id)}`)
	return encodeURIComponent(text)
}

function shown(value: unknown): string {
	return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
