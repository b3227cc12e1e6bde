/** The request of one attempt: its headers made anew, signed as it is sent. */
import { unlessAborted } from './abort.ts'
import type { Call } from './answer.ts'
import { type Fetch, type FetchInit, HEADERS, isHeaders, type Settings } from './settings.ts'

/** @throws what the settings' `headers` and `sign` throw; the signal's reason; TypeError for a path outside of a page */
export async function requestOf(
	call: Call,
	body: string | undefined,
	settings: Settings,
): Promise<{ readonly fetch: Fetch; readonly init: FetchInit }> {
	const { method, url, signal } = call
	const { sign } = settings
	const isOverridden = settings.methodOverride && /^(?:PUT|PATCH|DELETE)$/.test(method)
	const headers = await headersOf(call, settings, body !== undefined)
	if (isOverridden) headers.set('X-HTTP-Method-Override', method)
	const init = {
		method: isOverridden ? 'POST' : method,
		headers,
		redirect: 'manual' as const,
		...(body === undefined ? {} : { body }),
		...(signal === undefined ? {} : { signal }),
	}
	const fetch = fetchFor(url, settings)
	if (sign === undefined) return { fetch, init }
	const signed = await unlessAborted(sign(new Request(url, init)), signal)
	if (signed?.headers === undefined) throw new TypeError('sign must answer the signed Request')
	return { fetch, init: { ...init, headers: signed.headers } }
}

async function headersOf(call: Call, { headers: source }: Settings, hasBody: boolean): Promise<Headers> {
	const { headers, conditions, idempotencyKey, signal } = call
	const all = new Headers({ Accept: 'application/json' })
	if (hasBody) all.set('Content-Type', 'application/json')
	setAll(all, typeof source === 'function' ? await unlessAborted(source(), signal) : source)
	setAll(all, conditions)
	// An sf-string (RFC 9651 §3.3.3), as a token alone couldn't hold every key.
	if (idempotencyKey !== undefined)
		all.set('Idempotency-Key', `"${idempotencyKey.replaceAll(/["\\]/g, '\\$&')}"`)
	setAll(all, headers)
	return all
}

function setAll(all: Headers, more: unknown = {}): void {
	// Anything else would be sent as `undefined`, or not at all.
	if (!isHeaders(more)) throw new TypeError(`headers must be ${HEADERS}`)
	for (const [name, value] of Object.entries(more)) all.set(name, value)
}

/** The platform's is looked up at each attempt; it is called unbound, as browsers refuse it as somebody's method. */
function fetchFor(url: string, { fetch, sign }: Settings): Fetch {
	// What is signed is a Request, which has a whole URL.
	const needsOrigin = fetch === undefined || sign !== undefined
	if (needsOrigin && url.startsWith('/') && !('location' in globalThis))
		throw new TypeError(`outside of a page, ${url} needs an origin: write https://example.org${url}`)
	return fetch ?? globalThis.fetch
}
