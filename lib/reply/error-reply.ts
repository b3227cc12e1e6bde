/** What was thrown, or recorded by `this.error()`, as an answer. */
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
 * Turns whatever was thrown into an answer. Only a `RestError` is shown; everything else is
 * `Internal Server Error`, a failure of the cache `Service Unavailable`, and its cause goes to the logger.
 *
 * @param lines headers that were set for the error itself; its own replace them
 */
export function sealError(
	exchange: Exchange,
	thrown: unknown,
	lines: Exchange['headerLines'] = undefined,
): Reply {
	try {
		return sealShown(exchange, thrown, lines)
	} catch (error) {
		// Every request is answered, also where an error's headers or details can't be sent, or the logger fails.
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
	// What was thrown behind a recorded error is logged all the same.
	logThrown(exchange, thrown)
	const shown = isRestError(thrown) ? thrown : hidden(thrown)
	const error = exchange.failure ?? shown
	if (isFailure(error.status) || shown !== thrown) exchange.watch?.failed(thrown)
	exchange.isOutcomeUnknown = error.code === 'outcome_unknown'
	// What a method had set was for its success; a cookie or a Location must not go out with a refusal.
	exchange.headerLines = errorLines(exchange, error, own)
	const problem = prefersProblem(exchange.headers.accept)
	return textual(
		exchange,
		error.status,
		problem ? PROBLEM_TYPE : JSON_TYPE,
		JSON.stringify(errorBody(exchange, error, problem)),
	)
}

/** Tells the logger what a client isn't told of an error. */
export function logThrown(exchange: Exchange, thrown: unknown): void {
	if (!isRestError(thrown))
		exchange.log('error', `${exchange.action?.name ?? 'a request'} failed`, explained(thrown))
	else if (thrown.cause === undefined) return
	else if (thrown.status >= 500) exchange.log('error', thrown.message, thrown)
	// A client is told the same for every reason: which one it was would help to guess.
	else if (thrown.status === 401) exchange.log('warn', 'credentials were refused', thrown.cause)
	else if (thrown.status === 429)
		exchange.log('warn', 'a caller has filled their share of the cache', thrown.cause)
}

function hidden(thrown: unknown): RestError {
	// A cache that can't answer or hold more may do so soon: try again. To let it pass would let a replay pass.
	const isCache = thrown instanceof CacheUnavailable || thrown instanceof CacheFull
	return new RestError(isCache ? 'unavailable' : 'internal')
}

/** Its own headers, then those that were set for it; ours where there are neither. */
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

/** Problem details or the envelope: every error differs by it. */
const BY_ACCEPT: HeaderLine = ['Vary', 'Accept']

/** The same beside whatever else it differs by. */
function byAccept([name, value]: HeaderLine): HeaderLine {
	const line = [name, typeof value === 'string' ? value : value.join(', ')]
	vary(line, 'Accept')
	return [name, line[1] ?? '']
}

function usualHeaders({ mount }: Exchange, { status, code }: RestError): Readonly<Record<string, string>> {
	if (status === 401) return mount?.authenticator?.challenge ?? { 'WWW-Authenticate': 'Bearer' }
	// Not of `outcome_unknown`: what may have been done is not to be done again unasked.
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

/** The same error, or one that says what to do and has it as its cause. */
export function explained(error: unknown): unknown {
	if (!(error instanceof TypeError)) return error
	const found = ADVICE.find(([pattern]) => pattern.test(error.message))
	return found === undefined ? error : new TypeError(`${error.message} (${found[1]})`, { cause: error })
}
