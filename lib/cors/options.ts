/** Pages of which other origins may use the API: the option `cors` of `createServer`. */
import type { Logger } from '../base/logger.ts'
import { entriesOf, nearest } from '../base/options.ts'
import type { Seconds } from '../base/time.ts'
import { type Cors, type CorsRules, corsOf, isOrigin } from './policy.ts'

/** The option `cors`: which pages of other origins may read answers, and what of them. */
export interface CorsOptions {
	/**
	 * The origins whose pages may read answers: a list, each as browsers send it, `'https://app.example.com'`; `'*'`
	 * for all, without `credentials`; or a function that is told one and answers at once whether it may. It must
	 * answer alike for the same origin, and is called more than once a request.
	 */
	readonly origins: '*' | readonly string[] | ((origin: string) => boolean)
	/** Whether browsers may send what they keep for the API: cookies, client certificates. @default false */
	readonly credentials?: boolean
	/** For how long browsers may keep what a preflight was answered, 0 to 86_400; most keep it for 2 h at most. @default 600 */
	readonly maxAge?: Seconds
	/** Names of headers that scripts may read, beside those that answers of the library have. @default none */
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

/** What answers have by themselves, beyond what every script may read (Fetch standard, "CORS-safelisted response-header name"). */
const EXPOSED: readonly string[] = [
	...['Accept-Signature', 'Allow', 'Deprecation', 'ETag', 'Idempotent-Replayed', 'Link', 'Location'],
	...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Sunset', 'WWW-Authenticate', 'X-Total-Count'],
]

/**
 * The policy; `undefined` where there is none.
 *
 * @param requestId the header in which ids go out
 * @throws TypeError for what isn't known or means nothing, RangeError for a time out of bounds
 */
export function corsPolicy(
	options: unknown,
	requestId: string | undefined,
	logger: Logger,
): Cors | undefined {
	if (options === undefined) return undefined
	const rules = rulesOf(options, requestId)
	return corsOf(rules, (err) => {
		// Answers are made of what it says: a logger that fails may not leave a request without one.
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
	// What it answers is looked at when it is called.
	if (typeof origins === 'function') return origins as (origin: string) => boolean
	if (!Array.isArray(origins) || origins.length === 0) {
		throw new TypeError(
			`cors.origins must be a list of origins, ['https://app.example.com'], '*', or a function (origin) => boolean, got ${shown(origins)}`,
		)
	}
	return origins.map((origin: unknown, at) => originAt(`cors.origins[${at}]`, origin))
}

/** It is compared as text: what no browser would send so would let nobody in. */
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
	// Of schemes that aren't the web's (capacitor://localhost), URL knows no origin.
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

/** The library's own, then the user's; each once. */
function exposedOf(headers: unknown, requestId: string | undefined): string[] {
	if (!Array.isArray(headers))
		throw new TypeError(
			`cors.exposedHeaders must be a list of headers' names: ['X-Version'], got ${shown(headers)}`,
		)
	const names = new Map<string, string>()
	for (const name of [...EXPOSED, ...(requestId === undefined ? [] : [requestId])])
		names.set(name.toLowerCase(), name)
	headers.forEach((name: unknown, at) => {
		// `*` would be taken for a header of that name wherever credentials are sent.
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
