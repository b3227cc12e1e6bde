/** What was thrown, or recorded by `this.error()`, as an answer. */
import { STATUS_CODES } from 'node:http'
import { prefersProblem } from './accept.ts'
import { CacheFull, CacheUnavailable } from './cache/cache.ts'
import { isRestError, RestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import { explained } from './explain.ts'
import { headerLine } from './reply-head.ts'
import { JSON_TYPE, type Reply, textual } from './reply-text.ts'

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/**
 * Turns whatever was thrown into an answer. Only a `RestError` is shown; everything else is
 * `Internal Server Error`, a failure of the cache `Service Unavailable`, and its cause goes to the logger.
 */
export function sealError(exchange: Exchange, thrown: unknown): Reply {
	try {
		return sealShown(exchange, thrown)
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

function sealShown(exchange: Exchange, thrown: unknown): Reply {
	// What was thrown behind a recorded error is logged all the same.
	const shown = isRestError(thrown) ? thrown : hidden(exchange, thrown)
	const error = exchange.failure ?? shown
	exchange.isOutcomeUnknown = error.code === 'outcome_unknown'
	if (isRestError(thrown) && thrown.cause !== undefined) {
		if (thrown.status >= 500) exchange.log('error', thrown.message, thrown)
		// A client is told the same for every reason: which one it was would help to guess.
		else if (thrown.status === 401) exchange.log('warn', 'credentials were refused', thrown.cause)
	}
	// What a method had set was for its success; a cookie or a Location must not go out with a refusal.
	exchange.headerLines = undefined
	for (const [name, value] of Object.entries(errorHeaders(exchange, error))) {
		exchange.headerLines ??= new Map()
		exchange.headerLines.set(name.toLowerCase(), headerLine(name, value))
	}
	const problem = prefersProblem(exchange.headers.accept)
	return textual(
		exchange,
		error.status,
		problem ? PROBLEM_TYPE : JSON_TYPE,
		JSON.stringify(errorBody(exchange, error, problem)),
	)
}

function hidden(exchange: Exchange, thrown: unknown): RestError {
	exchange.log('error', `${exchange.action?.name ?? 'a request'} failed`, explained(thrown))
	// A cache that can't answer or hold more may do so soon: try again. To let it pass would let a replay pass.
	const isCache = thrown instanceof CacheUnavailable || thrown instanceof CacheFull
	return new RestError(isCache ? 'unavailable' : 'internal')
}

function errorHeaders(exchange: Exchange, error: RestError): Record<string, string> {
	const lines: Record<string, string> = { Vary: 'Accept' }
	if (error.status === 401)
		Object.assign(lines, exchange.mount?.authenticator?.challenge ?? { 'WWW-Authenticate': 'Bearer' })
	// Not of `outcome_unknown`: what may have been done is not to be done again unasked.
	if (error.status === 503 && error.code !== 'outcome_unknown') lines['Retry-After'] = '1'
	return Object.assign(lines, error.headers)
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
