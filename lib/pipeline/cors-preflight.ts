/**
 * Answers CORS preflights: OPTIONS requests that browsers send before cross-origin requests (Fetch standard,
 * "CORS-preflight request"). For `answer.ts` and `health/`; `cors/` has the option.
 */
import { allowHeader, isMethod, METHOD_OVERRIDE } from '../base/http.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { headers, NOSNIFF, type Reply } from '../reply/headers.ts'
import { type Mounted, methodsOf } from '../routing/routing.ts'

const METHOD = 'access-control-request-method'
const HEADERS = 'access-control-request-headers'
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/

/**
 * Whether an OPTIONS request is a preflight from an allowed origin. Any other OPTIONS request is answered with the
 * path's methods in `Allow`.
 */
export function isPreflight({ headers, app: { cors } }: Exchange): boolean {
	if (cors === undefined) return false
	if (headers.origin === undefined || headers[METHOD] === undefined) return false
	return cors.forOrigin(headers.origin).isAllowed
}

/**
 * Answers which methods and headers a path accepts. No credentials are required, because browsers send none with a
 * preflight, and preflights don't count against rate limits.
 */
export function answerPreflight(
	exchange: Exchange,
	mounted: Mounted | undefined,
	segments: readonly string[],
): Reply {
	exchange.mount = mounted?.mount
	const methods = mounted === undefined ? [] : methodsOf(mounted.mount, segments, mounted.depth)
	// For an unknown path the method is allowed, so that the script gets a 404 that it can read instead of a failed
	// preflight.
	const requested = exchange.headers[METHOD] ?? ''
	const fallback = isMethod(requested) ? requested : ''
	const allowed = methods.length > 0 ? allowHeader(methods) : fallback
	const canOverride = methods.some((method) => method === 'PUT' || method === 'PATCH' || method === 'DELETE')
	const names = allowedHeaders(exchange.headers[HEADERS], canOverride)
	const lines = ['Access-Control-Max-Age', exchange.app.cors?.maxAge ?? '0', NOSNIFF, 'nosniff']
	if (allowed !== '') lines.push('Access-Control-Allow-Methods', allowed)
	if (names !== '') lines.push('Access-Control-Allow-Headers', names)
	// Responses to OPTIONS are not cacheable (RFC 9110 §9.3.7), but some caches store them anyway.
	lines.push('Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers')
	return { status: 204, headers: headers(exchange, lines), body: null }
}

/**
 * The headers to allow: all that were requested, because an allowed origin may send any header. X-HTTP-Method-Override
 * is left out where it can't lead to a method. Empty if a name is invalid.
 */
function allowedHeaders(list: string | string[] | undefined, canOverride: boolean): string {
	const names = String(list ?? '')
		.split(',')
		.map((name) => name.trim())
	if (!names.every((name) => TOKEN.test(name))) return ''
	return names.filter((name) => canOverride || name.toLowerCase() !== METHOD_OVERRIDE).join(', ')
}
