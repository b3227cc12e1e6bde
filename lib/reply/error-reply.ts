/**
 * Replies to errors, thrown or recorded by `this.error()`, with problem details (RFC 9457) or the envelope; and logs
 * them.
 */
import { STATUS_CODES } from 'node:http'
import { attempt } from '../base/attempt.ts'
import { isRestError, RestError } from '../base/error.ts'
import { CacheFull, CacheUnavailable } from '../cache/cache.ts'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import { isFailure } from '../exchange/watched.ts'
import { prefersProblem } from '../request/accept.ts'
import { headerLine, JSON_TYPE, type Reply, textReply, vary } from './headers.ts'

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/**
 * The reply to an error. Only a `RestError` is sent to the client; anything else is logged, and sent as 500
 * `Internal Server Error`, or 503 `Service Unavailable` if the cache failed.
 *
 * @param lines headers set by `onError`; the error's own headers replace them
 */
export function sealError(
	exchange: Exchange,
	thrown: unknown,
	lines: Exchange['headerLines'] = undefined,
): Reply {
	try {
		return logAndSeal(exchange, thrown, lines)
	} catch (error) {
		// Every request gets a reply, even if an error's headers or details can't be sent, or the logger fails.
		exchange.headerLines = undefined
		attempt(() => exchange.log('error', 'an error could not be answered', error))
		const body = errorBody(exchange, new RestError('internal'), false)
		return textReply(exchange, 500, JSON_TYPE, JSON.stringify(body))
	}
}

function logAndSeal(exchange: Exchange, thrown: unknown, lines: Exchange['headerLines']): Reply {
	// Logged even if a recorded error is sent instead.
	logThrown(exchange, thrown)
	const visible = isRestError(thrown) ? thrown : maskedError(thrown)
	const error = exchange.failure ?? visible
	if (isFailure(error.status) || visible !== thrown) exchange.watch?.failed(thrown)
	exchange.isOutcomeUnknown = error.code === 'outcome_unknown'
	// Headers set by the method were for its success: a cookie or a Location must not be sent with an error.
	exchange.headerLines = errorLines(exchange, error, lines)
	const isProblem = prefersProblem(exchange.headers.accept)
	const body = JSON.stringify(errorBody(exchange, error, isProblem))
	return textReply(exchange, error.status, isProblem ? PROBLEM_TYPE : JSON_TYPE, body)
}

/** Logs the part of an error that the client doesn't see. */
export function logThrown(exchange: Exchange, thrown: unknown): void {
	if (!isRestError(thrown))
		exchange.log('error', `${exchange.action?.name ?? 'a request'} failed`, withAdvice(thrown))
	else if (thrown.cause === undefined) return
	else if (thrown.status >= 500) exchange.log('error', thrown.message, thrown)
	// The client gets the same message whatever the reason: the reason would help an attacker to guess.
	else if (thrown.status === 401) exchange.log('warn', 'credentials were refused', thrown.cause)
	else if (thrown.status === 429)
		exchange.log('warn', 'a caller has filled their share of the cache', thrown.cause)
}

/** What the client gets for an error that it must not see. */
function maskedError(thrown: unknown): RestError {
	// A cache that fails or is full may recover soon: 503. Letting the request pass could let a replayed request pass.
	const isCache = thrown instanceof CacheUnavailable || thrown instanceof CacheFull
	return new RestError(isCache ? 'unavailable' : 'internal')
}

/** The error's own headers, those set by `onError`, and the default ones, in this order of precedence. */
function errorLines(
	exchange: Exchange,
	error: RestError,
	given: Exchange['headerLines'],
): Exchange['headerLines'] {
	const lines = new Map(given)
	for (const [name, value] of Object.entries(error.headers))
		lines.set(name.toLowerCase(), headerLine(name, value))
	for (const [name, value] of Object.entries(defaultHeaders(exchange, error)))
		if (!lines.has(name.toLowerCase())) lines.set(name.toLowerCase(), headerLine(name, value))
	lines.set('vary', withAccept(lines.get('vary')))
	return lines
}

/** `Vary` with `Accept`, which decides between problem details and the envelope. */
function withAccept([name, value]: HeaderLine = ['Vary', []]): HeaderLine {
	const line = [name, typeof value === 'string' ? value : value.join(', ')]
	vary(line, 'Accept')
	return [name, line[1] ?? '']
}

function defaultHeaders({ mount }: Exchange, { status, code }: RestError): Readonly<Record<string, string>> {
	if (status === 401) return mount?.authenticator?.challenge ?? { 'WWW-Authenticate': 'Bearer' }
	// Not for `outcome_unknown`: a request that may have taken effect must not be repeated automatically.
	return status === 503 && code !== 'outcome_unknown' ? { 'Retry-After': '1' } : {}
}

/** `{"success":false,…}`, or the problem details of RFC 9457, whose `details` and `code` are extensions. */
function errorBody(exchange: Exchange, error: RestError, isProblem: boolean): object {
	const { status, message, code, details } = error
	const { app, mount } = exchange
	const body: Record<string, unknown> = isProblem
		? { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail: message }
		: mount?.wrap === false
			? { error: message }
			: { success: false, error: message }
	if (code !== undefined) body.code = code
	if (details.length > 0) body.details = details
	if (status >= 500 || app.requestId !== undefined) body.requestId = exchange.id()
	return isProblem ? body : (mount?.errorBody?.(body, error) ?? body)
}

const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
	[
		/private (member|field|method)|must be an instance of class/i,
		"#private members can't be reached through a request's view: use TypeScript's private, or mount a factory, `() => new Blog()`",
	],
	[
		/read.?only property|object is not extensible/i,
		'a handler is frozen once it is mounted, because what one request writes would be seen by others, or lost: keep shared state in an object that the handler holds (this.stats.hits++), and declare a field without a value (article?: Article) for the state of one request',
	],
]

/** For the log: adds advice to a TypeError that is caused by how views work; any other error is returned as it is. */
export function withAdvice(error: unknown): unknown {
	if (!(error instanceof TypeError)) return error
	const found = ADVICE.find(([pattern]) => pattern.test(error.message))
	return found === undefined ? error : new TypeError(`${error.message} (${found[1]})`, { cause: error })
}
