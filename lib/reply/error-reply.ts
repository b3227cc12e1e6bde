/** Replies to errors: what was thrown, or recorded by `this.error()`, as problem details or in the envelope; and what is logged. */
import { STATUS_CODES } from 'node:http'
import { isRestError, RestError } from '../base/error.ts'
import { CacheFull, CacheUnavailable } from '../cache/cache.ts'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import { isFailure } from '../exchange/watched.ts'
import { prefersProblem } from '../request/accept.ts'
import { headerLine } from './head.ts'
import { JSON_TYPE, type Reply, textual, vary } from './headers.ts'

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/**
 * The reply to an error. Only a `RestError` is shown; everything else is `Internal Server Error`, a failure of the cache
 * `Service Unavailable`, and is logged.
 *
 * @param lines headers set for the error, by `onError`; those of the error itself replace them
 */
export function sealError(
	exchange: Exchange,
	thrown: unknown,
	lines: Exchange['headerLines'] = undefined,
): Reply {
	try {
		return sealShown(exchange, thrown, lines)
	} catch (error) {
		// Every request gets a reply, also where an error's headers or details can't be sent, or the logger fails.
		exchange.headerLines = undefined
		logIfPossible(exchange, error)
		const body = errorBody(exchange, new RestError('internal'), false)
		return textual(exchange, 500, JSON_TYPE, JSON.stringify(body))
	}
}

function logIfPossible(exchange: Exchange, error: unknown): void {
	try {
		exchange.log('error', 'an error could not be answered', error)
	} catch {}
}

function sealShown(exchange: Exchange, thrown: unknown, own: Exchange['headerLines']): Reply {
	// Logged also where a recorded error is sent instead.
	logThrown(exchange, thrown)
	const shown = isRestError(thrown) ? thrown : hidden(thrown)
	const error = exchange.failure ?? shown
	if (isFailure(error.status) || shown !== thrown) exchange.watch?.failed(thrown)
	exchange.isOutcomeUnknown = error.code === 'outcome_unknown'
	// Headers set by the method were for its success: a cookie or a Location must not go out with an error.
	exchange.headerLines = errorLines(exchange, error, own)
	const problem = prefersProblem(exchange.headers.accept)
	return textual(
		exchange,
		error.status,
		problem ? PROBLEM_TYPE : JSON_TYPE,
		JSON.stringify(errorBody(exchange, error, problem)),
	)
}

/** Logs what the client doesn't see of an error. */
export function logThrown(exchange: Exchange, thrown: unknown): void {
	if (!isRestError(thrown))
		exchange.log('error', `${exchange.action?.name ?? 'a request'} failed`, explained(thrown))
	else if (thrown.cause === undefined) return
	else if (thrown.status >= 500) exchange.log('error', thrown.message, thrown)
	// The client sees the same for every reason, as the reason would help to guess.
	else if (thrown.status === 401) exchange.log('warn', 'credentials were refused', thrown.cause)
	else if (thrown.status === 429)
		exchange.log('warn', 'a caller has filled their share of the cache', thrown.cause)
}

function hidden(thrown: unknown): RestError {
	// A cache that fails or is full may recover soon. Letting the request pass would let a replay pass.
	const isCache = thrown instanceof CacheUnavailable || thrown instanceof CacheFull
	return new RestError(isCache ? 'unavailable' : 'internal')
}

/** The error's own headers, then those set for it, then the usual ones. */
function errorLines(
	exchange: Exchange,
	error: RestError,
	own: Exchange['headerLines'],
): Exchange['headerLines'] {
	const lines = new Map(own)
	for (const [name, value] of Object.entries(error.headers))
		lines.set(name.toLowerCase(), headerLine(name, value))
	for (const [name, value] of Object.entries(usualHeaders(exchange, error)))
		if (!lines.has(name.toLowerCase())) lines.set(name.toLowerCase(), headerLine(name, value))
	const varied = lines.get('vary')
	lines.set('vary', varied === undefined ? BY_ACCEPT : byAccept(varied))
	return lines
}

/** Every error is problem details or the envelope, by `Accept`. */
const BY_ACCEPT: HeaderLine = ['Vary', 'Accept']

/** `Accept` added to a `Vary` that is there. */
function byAccept([name, value]: HeaderLine): HeaderLine {
	const line = [name, typeof value === 'string' ? value : value.join(', ')]
	vary(line, 'Accept')
	return [name, line[1] ?? '']
}

function usualHeaders({ mount }: Exchange, { status, code }: RestError): Readonly<Record<string, string>> {
	if (status === 401) return mount?.authenticator?.challenge ?? { 'WWW-Authenticate': 'Bearer' }
	// Not for `outcome_unknown`: what may have been done must not be repeated automatically.
	return status === 503 && code !== 'outcome_unknown' ? { 'Retry-After': '1' } : {}
}

/** `{"success":false,…}`, or the problem details of RFC 9457, whose `details` and `code` are extensions. */
function errorBody(exchange: Exchange, error: RestError, problem: boolean): object {
	const { status, message, code, details } = error
	const rest = {
		...(code === undefined ? undefined : { code }),
		...(details.length === 0 ? undefined : { details }),
		...(status >= 500 || exchange.app.requestId !== undefined ? { requestId: exchange.id() } : undefined),
	}
	if (problem)
		return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail: message, ...rest }
	return exchange.mount?.wrap === false
		? { error: message, ...rest }
		: { success: false, error: message, ...rest }
}

const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
	[
		/private (member|field|method)|must be an instance of class/i,
		"#private members can't be reached through a request's view: use TypeScript's private, or mount a factory, `() => new Blog()`",
	],
	[
		/read.?only property|object is not extensible/i,
		'a handler is frozen once it is mounted, so that no write of one request is seen by another or lost: keep what requests share in something the handler holds (this.stats.hits++), and declare a field without a value (article?: Article) for what belongs to one request',
	],
]

/** For the log: a TypeError caused by how views work, with advice, and the original as its cause; else the same error. */
export function explained(error: unknown): unknown {
	if (!(error instanceof TypeError)) return error
	const found = ADVICE.find(([pattern]) => pattern.test(error.message))
	return found === undefined ? error : new TypeError(`${error.message} (${found[1]})`, { cause: error })
}
