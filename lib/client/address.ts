/** URLs of endpoints, collections and records, checked. For `CrudClient` and `client()`. */

/** Identifies a record. */
export type Id = string | number | bigint

/** Not empty, and not a dot segment: clients resolve these before a request, even percent-encoded ones. */
const SEGMENT = /^(?!(?:\.|%2e){0,2}$)[^\s/?#\\]+$/i
/** A path with an optional origin. Two slashes at the beginning of the path would name another host. */
const ENDPOINT = /^(?:https?:\/\/[^\s/?#@\\]+)?(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[^\s/?#\\]+)*\/?$/i

/**
 * The URL of a collection, without a trailing slash.
 *
 *     collectionUrl('article', '/blog')                       // '/blog/article'
 *     collectionUrl('article', 'https://example.org/blog/')   // 'https://example.org/blog/article'
 *
 * @throws TypeError if the name is not a URL segment or the endpoint not a URL path
 */
export function collectionUrl(name: string, endpoint: string): string {
	if (typeof name !== 'string' || !SEGMENT.test(name))
		throw new TypeError(
			`a CrudClient's name must be one segment of a URL, like 'article', got ${shown(name)}`,
		)
	return `${endpointUrl("a CrudClient's", endpoint)}/${name}`
}

/**
 * The URL of an API, without a trailing slash.
 *
 * @param owner begins messages: `client()'s`
 * @throws TypeError if the endpoint is not a URL path
 */
export function endpointUrl(owner: string, endpoint: string): string {
	if (typeof endpoint !== 'string' || !ENDPOINT.test(endpoint) || !isUrl(endpoint))
		throw new TypeError(
			`${owner} endpoint must be a path, like '/blog', or 'https://example.org/blog', got ${shown(endpoint)}`,
		)
	return endpoint.replace(/\/$/, '')
}

/** Whether a text is a URL or a path: `http://a:99999` isn't. (Older browsers have no `URL.canParse`.) */
export function isUrl(text: string): boolean {
	try {
		new URL(text, 'http://a')
		return true
	} catch {
		return false
	}
}

/**
 * Encodes an id as one path segment, which can't lead to another path.
 *
 * @param isWhole false for a part of a segment, which may be empty or dots
 * @param what begins messages
 * @throws TypeError unless the id is a string, a bigint or an exact whole number, and possible as a segment
 */
export function idSegment(id: unknown, isWhole = true, what = 'an id'): string {
	const exact = /^(?:string|bigint)$/.test(typeof id) || Number.isSafeInteger(id)
	const text = String(id)
	// Clients resolve dot segments, even percent-encoded ones: DELETE /article/.. is DELETE /.
	if (!exact || /\p{Surrogate}/u.test(text) || (isWhole && /^\.{0,2}$/.test(text)))
		throw new TypeError(
			`${what} must be text other than '', '.' and '..', a bigint or a whole number within ±2^53, got ${shown(id)}`,
		)
	return encodeURIComponent(text)
}

/** The id in a URL such as `Location`: its last segment, or a list if that has several values; `undefined` if there is none. */
export function idIn(location: string | null): string | string[] | undefined {
	const [path = ''] = (location ?? '').split(/[?#]/, 1)
	const segment = path.slice(path.lastIndexOf('/') + 1)
	try {
		const values = segment.split(',').map(decodeURIComponent)
		return values.length > 1 ? values : values[0] || undefined
	} catch {
		return undefined
	}
}

function shown(value: unknown): string {
	return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
