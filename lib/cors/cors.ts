/**
 * CORS (Fetch standard): the option `cors` of `createServer`, compiled into the header lines for each origin.
 * `server/options.ts` compiles it; `reply/headers.ts` adds the lines to replies. Preflights are answered by
 * `pipeline/cors-preflight.ts`.
 */

import { type Logger, logSafely } from '../base/logger.ts'
import { flag, listOf, nested, or, type Readers, refusal, such, wholeNumber } from '../base/options.ts'
import type { Seconds } from '../base/time.ts'

/** The option `cors`: which origins' pages may read replies, and which headers they may read. */
export interface CorsOptions {
	/**
	 * The origins whose pages may read replies: a list of origins as browsers send them, `'https://app.example.com'`;
	 * `'*'` for all, which can't be combined with `credentials`; or a synchronous function that returns whether an origin
	 * is allowed. The function is called several times per request, and must always return the same for the same origin.
	 */
	readonly origins: '*' | readonly string[] | ((origin: string) => boolean)
	/** Whether browsers may send credentials: cookies, client certificates. @default false */
	readonly credentials?: boolean
	/** How long browsers may cache a preflight's reply, from 0 to 86,400; most limit it to 2 h. @default 600 */
	readonly maxAgeSeconds?: Seconds
	/** Headers that scripts may read, in addition to the library's own. @default none */
	readonly exposedHeaders?: readonly string[]
}

const DAY: Seconds = 86_400
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/
/** Not `*`, which browsers take literally if credentials are sent. */
const headerName = such<string>(
	"a header's name: 'X-Version'",
	(name) => typeof name === 'string' && TOKEN.test(name) && name !== '*',
)

const read = nested("{ origins: ['https://app.example.com'] }", {
	origins: originsIn,
	credentials: or(flag, false),
	maxAgeSeconds: or(wholeNumber({ from: 0, to: DAY, unit: 'seconds' }), 600),
	exposedHeaders: or(listOf("a list of headers' names: ['X-Version']", headerName, 0), []),
} satisfies Readers<CorsOptions>)

/** The library's own headers that aren't CORS-safelisted (Fetch standard, "CORS-safelisted response-header name"). */
const EXPOSED: readonly string[] = [
	...[
		'Accept-Signature',
		'Allow',
		'Content-Range',
		'Deprecation',
		'ETag',
		'Idempotent-Replayed',
		'Link',
		'Location',
	],
	...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Sunset', 'WWW-Authenticate', 'X-Total-Count'],
]

interface OriginLines {
	/** Whether the origin's scripts may read the replies. */
	readonly isAllowed: boolean
	/** Header names and values, alternating. */
	readonly lines: readonly string[]
}

export interface Cors {
	/** `Access-Control-Max-Age`, as text. */
	readonly maxAge: string
	/** @param origin the request's `Origin` */
	forOrigin(origin: string | undefined): OriginLines
	/** Whether an origin is allowed explicitly, not by `*`. */
	isNamed(origin: string | undefined): boolean
}

/** A serialized origin: no path, user name or list, and not `null`, which every sandboxed frame sends. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#@\\,\s\x00-\x1f\x7f-\uffff]+$/

function isOrigin(text: string): boolean {
	return ORIGIN.test(text) && URL.canParse(text)
}

/**
 * Reads the option `cors`.
 *
 * @param requestId the response header of request ids
 * @throws TypeError for an unknown option or a wrong value, RangeError for a time out of bounds
 */
export function corsOption(
	where: string,
	value: unknown,
	requestId: string | undefined,
	logger: Logger,
): Cors | undefined {
	if (value === undefined) return undefined
	const { origins, credentials, exposedHeaders, ...given } = read(where, value)
	if (origins === '*' && credentials)
		throw new TypeError(
			`${where}: origins '*' with credentials would let every site act as its visitors: list the origins, or leave out credentials`,
		)
	const shared = [
		...(credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
		...['Access-Control-Expose-Headers', exposedNames(exposedHeaders, requestId).join(', ')],
	]
	const linesOf = (origin: string): string[] => ['Access-Control-Allow-Origin', origin, ...shared]
	const maxAge = String(given.maxAgeSeconds)
	if (origins === '*') {
		// Sent even without an Origin, so that a cached reply is the same for all.
		const all = { isAllowed: true, lines: linesOf('*') }
		return { maxAge, forOrigin: () => all, isNamed: () => false }
	}
	// Every reply has `Vary`, even for a refused origin: otherwise a cache would serve one site's reply to another.
	const refused: OriginLines = { isAllowed: false, lines: ['Vary', 'Origin'] }
	const allowed = (origin: string): OriginLines => {
		return { isAllowed: true, lines: [...linesOf(origin), ...refused.lines] }
	}
	const byOrigin = new Map(typeof origins === 'function' ? [] : origins.map((one) => [one, allowed(one)]))
	const find = (origin = ''): OriginLines | undefined => {
		if (typeof origins !== 'function') return byOrigin.get(origin)
		return isOrigin(origin) && isTrue(origins, origin, logger) ? allowed(origin) : undefined
	}
	return {
		maxAge,
		forOrigin: (origin) => find(origin) ?? refused,
		isNamed: (origin) => find(origin) !== undefined,
	}
}

/** Whether a function allows an origin. A promise, which is always truthy, is refused. */
function isTrue(allows: (origin: string) => unknown, origin: string, logger: Logger): boolean {
	try {
		const answer = allows(origin)
		if (typeof answer === 'boolean') return answer
		if (answer instanceof Promise) answer.catch(() => {})
		throw new TypeError('cors.origins must return a boolean, not a promise')
	} catch (err) {
		logSafely(logger, 'error', { err }, 'cors.origins failed: the origin was refused')
		return false
	}
}

function originsIn(where: string, origins: unknown): CorsOptions['origins'] {
	// What a function returns is checked when it is called.
	if (origins === '*' || typeof origins === 'function') return origins as CorsOptions['origins']
	const what = "a list of origins, ['https://app.example.com'], '*', or a function (origin) => boolean"
	return listOf(what, originIn)(where, origins)
}

/** Origins are compared as text: one that isn't written as browsers send it would never match. */
function originIn(where: string, origin: unknown): string {
	if (origin === 'null') {
		throw new TypeError(
			`${where} must not be 'null', which sandboxed frames of every site send: only origins '*' allows it`,
		)
	}
	if (typeof origin !== 'string')
		throw refusal(
			where,
			"a string, 'https://app.example.com' (for a pattern write a function (origin) => boolean)",
			origin,
		)
	if (origin.includes('*')) {
		throw new TypeError(
			`${where} can't have wildcards, got ${JSON.stringify(origin)}: write origins: '*' for all, or a function (origin) => boolean`,
		)
	}
	const exact = URL.canParse(origin) ? new URL(origin).origin : 'null'
	// For other schemes (capacitor://localhost), `URL` has the origin 'null'.
	const isWeb = /^https?:/i.test(origin)
	if (isWeb ? exact === origin : isOrigin(origin)) return origin
	const meant = exact === 'null' ? '' : `: write ${JSON.stringify(exact)}`
	throw new TypeError(
		`${where} must be an origin as browsers send it, a scheme and a host in lower case, and a port unless it is the scheme's default, got ${JSON.stringify(origin)}${meant}`,
	)
}

/** The library's headers, then the program's, without duplicates. */
function exposedNames(headers: readonly string[], requestId: string | undefined): string[] {
	const names = new Map<string, string>()
	for (const name of [...EXPOSED, ...(requestId === undefined ? [] : [requestId]), ...headers])
		if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
	return [...names.values()]
}
