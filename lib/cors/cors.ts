/**
 * CORS (Fetch standard): the option `cors` of `createServer`, checked, and made once into the header lines for each origin.
 * `server/options.ts` compiles it; `pipeline/preflight.ts` and `reply/headers.ts` ask it for lines. It calls nothing.
 */

import type { Logger } from '../base/logger.ts'
import { entriesOf, nearest } from '../base/options.ts'
import type { Seconds } from '../base/time.ts'

/** The option `cors`: which other origins' pages may read replies, and which headers. */
export interface CorsOptions {
	/**
	 * The origins whose pages may read replies: a list, each as browsers send it, `'https://app.example.com'`; `'*'`
	 * for all, without `credentials`; or a synchronous function that answers whether an origin may. It must give the
	 * same answer for the same origin, and is called more than once a request.
	 */
	readonly origins: '*' | readonly string[] | ((origin: string) => boolean)
	/** Whether browsers may send credentials: cookies, client certificates. @default false */
	readonly credentials?: boolean
	/** How long browsers may cache a preflight's reply, 0 to 86_400; most keep it for at most 2 h. @default 600 */
	readonly maxAge?: Seconds
	/** Headers that scripts may read, in addition to the library's own. @default none */
	readonly exposedHeaders?: readonly string[]
}

const NAMES: readonly string[] = [
	'origins',
	'credentials',
	'maxAge',
	'exposedHeaders',
] satisfies (keyof CorsOptions)[]
const EXAMPLE = "{ origins: ['https://app.example.com'] }"
const DAY: Seconds = 86_400
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/

/** The library's own headers that aren't CORS-safelisted (Fetch standard, "CORS-safelisted response-header name"). */
const EXPOSED: readonly string[] = [
	...['Accept-Signature', 'Allow', 'Deprecation', 'ETag', 'Idempotent-Replayed', 'Link', 'Location'],
	...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Sunset', 'WWW-Authenticate', 'X-Total-Count'],
]

/**
 * The policy; `undefined` where there is none.
 *
 * @param requestId the header in which ids go out
 * @throws TypeError for an unknown option or a wrong value, RangeError for a time out of bounds
 */
export function corsPolicy(
	options: unknown,
	requestId: string | undefined,
	logger: Logger,
): Cors | undefined {
	if (options === undefined) return undefined
	const rules = rulesOf(options, requestId)
	return corsOf(rules, (err) => {
		// Called while a reply is made: a failing logger must not leave the request without one.
		try {
			logger.error({ err }, 'cors.origins failed: the origin was refused')
		} catch {}
	})
}

function rulesOf(options: unknown, requestId: string | undefined): CorsRules {
	const given: Readonly<Record<string, unknown>> = Object.fromEntries(entriesOf('cors', options, EXAMPLE))
	for (const name of Object.keys(given)) {
		if (!NAMES.includes(name)) throw new TypeError(`cors.${name} is no option of cors${nearest(name, NAMES)}`)
	}
	const { credentials = false, maxAge = 600, exposedHeaders = [] } = given
	if (typeof credentials !== 'boolean')
		throw new TypeError(`cors.credentials must be true or false, got ${shown(credentials)}`)
	const origins = originsOf(given.origins)
	if (origins === '*' && credentials)
		throw new TypeError(
			"cors: origins '*' with credentials would let every site act as whoever visits it: name the origins, or take credentials out",
		)
	return {
		origins,
		credentials,
		maxAgeSeconds: secondsOf(maxAge),
		exposed: exposedOf(exposedHeaders, requestId),
	}
}

function originsOf(origins: unknown): CorsRules['origins'] {
	if (origins === '*') return origins
	// What it answers is checked when it is called.
	if (typeof origins === 'function') return origins as (origin: string) => boolean
	if (!Array.isArray(origins) || origins.length === 0) {
		throw new TypeError(
			`cors.origins must be a list of origins, ['https://app.example.com'], '*', or a function (origin) => boolean, got ${shown(origins)}`,
		)
	}
	return origins.map((origin: unknown, at) => originAt(`cors.origins[${at}]`, origin))
}

/** Origins are compared as text: one that no browser sends in this form would match nothing. */
function originAt(what: string, origin: unknown): string {
	if (origin === 'null') {
		throw new TypeError(
			`${what} must not be 'null', which every sandboxed frame sends, of whatever site: only origins '*' takes it in`,
		)
	}
	if (typeof origin !== 'string')
		throw new TypeError(
			`${what} must be a text, 'https://app.example.com', got ${shown(origin)}: for a pattern write a function (origin) => boolean`,
		)
	if (origin.includes('*')) {
		throw new TypeError(
			`${what} has no wildcards, got ${JSON.stringify(origin)}: write origins: '*' for all, or a function (origin) => boolean`,
		)
	}
	const exact = URL.canParse(origin) ? new URL(origin).origin : 'null'
	// URL gives no origin for other schemes (capacitor://localhost).
	const isWeb = /^https?:/i.test(origin)
	if (isWeb ? exact === origin : isOrigin(origin)) return origin
	const meant = exact === 'null' ? '' : `: write ${JSON.stringify(exact)}`
	throw new TypeError(
		`${what} must be an origin as browsers send it, a scheme and a host in lower case, and a port that isn't the scheme's own, got ${JSON.stringify(origin)}${meant}`,
	)
}

function secondsOf(maxAge: unknown): Seconds {
	if (typeof maxAge === 'number' && Number.isInteger(maxAge) && maxAge >= 0 && maxAge <= DAY) return maxAge
	const message = `cors.maxAge must be a whole number of seconds from 0 to ${DAY}, got ${shown(maxAge)}`
	throw typeof maxAge === 'number' ? new RangeError(message) : new TypeError(message)
}

/** The library's headers, then the user's; each once. */
function exposedOf(headers: unknown, requestId: string | undefined): string[] {
	if (!Array.isArray(headers))
		throw new TypeError(
			`cors.exposedHeaders must be a list of headers' names: ['X-Version'], got ${shown(headers)}`,
		)
	const names = new Map<string, string>()
	for (const name of [...EXPOSED, ...(requestId === undefined ? [] : [requestId])])
		names.set(name.toLowerCase(), name)
	headers.forEach((name: unknown, at) => {
		// With credentials, `*` means a header of that name.
		if (typeof name !== 'string' || !TOKEN.test(name) || name === '*')
			throw new TypeError(
				`cors.exposedHeaders[${at}] must be a header's name: 'X-Version', got ${shown(name)}`,
			)
		if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
	})
	return [...names.values()]
}

function shown(value: unknown): string {
	return typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : foundOf(value)
}

function foundOf(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean' || value === undefined) return String(value)
	if (value instanceof RegExp) return `the pattern ${value}`
	return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** The options, checked and complete. */
export interface CorsRules {
	readonly origins: '*' | readonly string[] | ((origin: string) => boolean)
	readonly credentials: boolean
	readonly maxAgeSeconds: Seconds
	/** Names of the headers that scripts may read. */
	readonly exposed: readonly string[]
}

/** What replies to one origin have. */
export interface OriginLines {
	/** Whether that origin's scripts may read them. */
	readonly isAllowed: boolean
	/** Names and values in turn. */
	readonly lines: readonly string[]
}

export interface Cors {
	/** `Access-Control-Max-Age`, as text. */
	readonly maxAge: string
	/** The lines for an `Origin` as it was sent. */
	forOrigin(origin: string | undefined): OriginLines
	/** Whether an origin is allowed by name, and not by `*`. */
	isNamed(origin: string | undefined): boolean
}

/** A serialized origin: no path, no user name, no list, and not `null`, which every sandboxed frame sends. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#@\\,\s\x00-\x1f\x7f-\uffff]+$/

/** Whether a text is a scheme with a host, as browsers send it; `new URL(text)` doesn't throw then. */
export function isOrigin(text: string): boolean {
	return ORIGIN.test(text) && URL.canParse(text)
}

/**
 * The policy for rules.
 *
 * @param failed called with what the user's function throws; the origin is refused
 */
export function corsOf(rules: CorsRules, failed: (error: unknown) => void): Cors {
	const { origins, credentials } = rules
	const shared = [
		...(credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
		...['Access-Control-Expose-Headers', rules.exposed.join(', ')],
	]
	const linesOf = (origin: string): string[] => ['Access-Control-Allow-Origin', origin, ...shared]
	const maxAge = String(rules.maxAgeSeconds)
	if (origins === '*') {
		// Also for requests without an Origin: the reply is the same for all, and caches keep it.
		const all = { isAllowed: true, lines: linesOf('*') }
		return { maxAge, forOrigin: () => all, isNamed: () => false }
	}
	// `Vary` is on every reply, refusals too, or a cache would give one site's to another.
	const refused: OriginLines = { isAllowed: false, lines: ['Vary', 'Origin'] }
	const allowed = (origin: string): OriginLines => {
		return { isAllowed: true, lines: [...linesOf(origin), ...refused.lines] }
	}
	if (typeof origins !== 'function') {
		const known = new Map(origins.map((origin) => [origin, allowed(origin)]))
		return {
			maxAge,
			forOrigin: (origin) => known.get(origin ?? '') ?? refused,
			isNamed: (origin) => known.has(origin ?? ''),
		}
	}
	const isNamed = (origin: string | undefined): boolean =>
		origin !== undefined && isOrigin(origin) && isTrue(origins, origin, failed)
	return {
		maxAge,
		forOrigin: (origin) => (origin !== undefined && isNamed(origin) ? allowed(origin) : refused),
		isNamed,
	}
}

/** Only `true` allows: a promise, as of an async function, would be truthy for every origin. */
function isTrue(
	allows: (origin: string) => unknown,
	origin: string,
	failed: (error: unknown) => void,
): boolean {
	try {
		const answer = allows(origin)
		if (typeof answer === 'boolean') return answer
		if (answer instanceof Promise) answer.catch(() => {})
		throw new TypeError('cors.origins must answer true or false, at once')
	} catch (error) {
		failed(error)
		return false
	}
}
