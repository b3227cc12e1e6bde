/** Preflights: what a browser asks before a script of another origin may send a request (Fetch standard, "CORS-preflight request"). */

import { allowHeader, isMethod } from '../base/http.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { headers, NOSNIFF, type Reply } from '../reply/headers.ts'
import { methodsOf } from '../routing/find-action.ts'
import type { Mounted } from '../routing/mount.ts'

const METHOD = 'access-control-request-method'
const HEADERS = 'access-control-request-headers'
const OVERRIDE = 'x-http-method-override'
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/

/**
 * Whether an OPTIONS is one, of an origin that is allowed. Every other is answered as ever, without a word of who may
 * read it.
 */
export function isPreflight({ headers, app: { cors } }: Exchange): boolean {
	if (cors === undefined) return false
	if (headers.origin === undefined || headers[METHOD] === undefined) return false
	return cors.forOrigin(headers.origin).isAllowed
}

/**
 * Says what may be sent to a path. Nobody is asked for credentials, as browsers send none with it, and nothing is
 * counted.
 */
export function answerPreflight(
	exchange: Exchange,
	mounted: Mounted | undefined,
	segments: readonly string[],
): Reply {
	exchange.mount = mounted?.mount
	const methods = mounted === undefined ? [] : methodsOf(mounted.mount, segments, mounted.depth)
	// Where nothing is, the request itself is let through to its 404: a script can read that, and not a failed preflight.
	const asked = exchange.headers[METHOD] ?? ''
	const fallback = isMethod(asked) ? asked : ''
	const allowed = methods.length > 0 ? allowHeader(methods) : fallback
	const canOverride = methods.some((method) => method === 'PUT' || method === 'PATCH' || method === 'DELETE')
	const names = askedNames(exchange.headers[HEADERS], canOverride)
	const lines = ['Access-Control-Max-Age', exchange.app.cors?.maxAge ?? '0', NOSNIFF, 'nosniff']
	if (allowed !== '') lines.push('Access-Control-Allow-Methods', allowed)
	if (names !== '') lines.push('Access-Control-Allow-Headers', names)
	// OPTIONS isn't to be cached (RFC 9110 §9.3.7), and some networks do.
	lines.push('Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers')
	return { status: 204, headers: headers(exchange, lines), body: null }
}

/**
 * The headers that may be sent: all that are asked for, as an origin that may read what is answered may say how it
 * wants it. But no override where it means nothing. None where one of them isn't a name.
 */
function askedNames(list: string | string[] | undefined, canOverride: boolean): string {
	const names = String(list ?? '')
		.split(',')
		.map((name) => name.trim())
	if (!names.every((name) => TOKEN.test(name))) return ''
	return names.filter((name) => canOverride || name.toLowerCase() !== OVERRIDE).join(', ')
}
