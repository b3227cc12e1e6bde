/**
 * Redirects (RFC 9110 §15.4). None is followed to another origin: keys, signatures and bodies are for the endpoint's
 * alone, and `fetch` takes only `Authorization` off what it sends on. A page's `fetch` shows nobody where one leads to,
 * so that none is followed there.
 */
import { type Call, unexpected } from './answer.ts'

/**
 * Where an answer sends the same request on to, within its origin; `undefined` where it is no redirect.
 *
 * @param method the one on the wire
 * @throws ApiError where it leads to another origin or may make a GET of a change, and where that can't be seen
 */
export function nextOf(call: Call, response: Response, method: string): string | undefined {
	const { status, headers, type, redirected } = response
	const location = headers.get('Location')
	// Some fetch may have followed by itself.
	const isHidden = type === 'opaqueredirect' || (redirected && method !== 'GET')
	if (!isHidden && (location === null || !/^30[12378]$/.test(`${status}`))) return undefined
	// A path alone is some fetch's own, whose origin doesn't matter.
	const here = new URL(call.url, NOWHERE)
	const there = new URL(location ?? '', here)
	if (isHidden || there.origin !== here.origin || (status < 304 && method !== 'GET'))
		throw unexpected(call, response, 'leads elsewhere: give the client the endpoint there')
	return there.href.replace(NOWHERE, '')
}

/** Of a port that no other begins with. */
const NOWHERE = 'http://a:0'
