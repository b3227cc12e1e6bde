/**
 * Runs a request with an `Idempotency-Key` once, and answers retries with the stored response
 * (draft-ietf-httpapi-idempotency-key-header-07). Credentials and access are checked first, for retries too.
 * `stored-replies.ts` stores and replays responses.
 */
import { RestError } from '../base/error.ts'
import type { Milliseconds, Seconds } from '../base/time.ts'
import { bestEffort, cacheRefusal } from '../cache/cache.ts'
import type { Exchange, Routed } from '../exchange/exchange.ts'
import { type Caller, callerOf } from '../limits/rate-limit.ts'
import type { Reply } from '../reply/headers.ts'
import { fieldLines } from '../request/incoming.ts'
import {
	cacheKeyOf,
	countKey,
	DAY,
	fingerprintOf,
	loadAnswer,
	parseRecord,
	recordOf,
	replay,
	type StoredRecord,
	storeRecord,
	withTimeout,
} from './stored-replies.ts'

const HEADER = 'idempotency-key'
/**
 * Time for writing the lock, and again for storing the response. A deadline is noticed up to 500 ms late. The lock's
 * TTL covers all of this.
 */
const MARGIN: Milliseconds = 1_000
const TOO_MANY =
	'Too many Idempotency-Keys, or answers to them, are kept for this user or network: wait, or send no key'
/** Refusals that aren't stored, because a retry may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([401, 403, 408, 429])

/**
 * Whether the key of a request is used: with POST, PATCH, and actions that declare `takesKey`. All other methods are
 * idempotent anyway (RFC 9110 §9.2.2).
 */
export function takesKey({ method, mount, action }: Routed): boolean {
	if (mount.idempotencyKeys === 'off') return false
	return method === 'POST' || method === 'PATCH' || action.takesKey === true
}

/**
 * Sets `exchange.idempotencyKey` where the request has one. An answer given by `before` is not stored.
 *
 * @throws RestError `bad_request` for a malformed key, for an anonymous caller unless the handler's `idempotencyKeys`
 *   is `'anyone'`, and for a method that streams its body
 */
export function readIdempotencyKey(exchange: Routed, early: unknown): unknown {
	const { headers, incoming, user, mount, action } = exchange
	if (early !== undefined || headers[HEADER] === undefined) return early
	const key = parseKey(fieldLines(incoming, HEADER))
	if (user === null && mount.idempotencyKeys !== 'anyone') {
		throw new RestError(
			'bad_request',
			'An Idempotency-Key is only accepted from known users: send credentials, or no key',
		)
	}
	if (action.streaming !== undefined)
		throw new RestError('bad_request', 'An Idempotency-Key is not supported for a body that is streamed')
	exchange.idempotencyKey = key
	return undefined
}

/** The form that the draft requires: an `sf-string` (RFC 9651 §3.3.3). */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** Many clients send a UUID or another token without quotes. */
const BARE = /^[\w.~:@/+=-]+$/
const MAX_CHARACTERS = 255

/** @throws RestError `bad_request` unless there is exactly one key, of 1 to 255 characters */
function parseKey(lines: readonly string[]): string {
	const [line = ''] = lines
	const text = lines.length === 1 ? line.trim() : ''
	const key = BARE.test(text) ? text : QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1')
	if (key !== undefined && key !== '' && key.length <= MAX_CHARACTERS) return key
	throw new RestError(
		'bad_request',
		`The Idempotency-Key must be one key of 1 to ${MAX_CHARACTERS} characters, as in "8e03978e-40d5-43e8-bc93-6894a57f9324"`,
	)
}

/**
 * Runs the method, or answers with the stored response.
 *
 * @throws RestError, as a rejection: `conflict` while the first request is still running, or when its response wasn't
 *   stored; `invalid` if the key was used for another request; `too_many_requests` if the caller has used too many new
 *   keys in a day; `unavailable` when the cache fails, because the method could then run twice
 */
export async function answerOnce(exchange: Exchange, key: string, run: () => Promise<Reply>): Promise<Reply> {
	exchange.watch?.step('idempotency')
	const { user, app } = exchange
	const caller = callerOf(user, exchange.ip())
	// An anonymous caller may retry from another address, so all anonymous callers share one part of the cache.
	const share = user === null ? 'anyone' : caller.share
	const cacheKey = cacheKeyOf(exchange, share, key)
	const fingerprint = fingerprintOf(exchange)
	const begun = app.deadlines.clock()
	const earlier = await acquireLock(exchange, cacheKey, caller, { state: 'running', fingerprint })
	if (earlier?.state === 'apart')
		return answerRetry(exchange, await loadAnswer(exchange, cacheKey, earlier.fingerprint), fingerprint)
	if (earlier !== undefined) return answerRetry(exchange, earlier, fingerprint)
	const waited = app.deadlines.clock() - begun
	// The cache was so slow that the lock could expire before the method ends: don't run it.
	if (hasTimedOut(exchange) || waited > MARGIN) {
		// If the lock has expired already, the cache key may hold another run's lock or answer by now.
		if (waited < lockSeconds(exchange) * 1_000) await releaseLock(exchange, cacheKey)
		throw new RestError('unavailable')
	}
	const { onCancel } = exchange
	exchange.onCancel = () => {
		onCancel?.()
		// The request has timed out or was cancelled, but its lock hasn't expired yet.
		if (exchange.isDone)
			void bestEffort(() => storeRecord(exchange, cacheKey, { state: 'unkept', fingerprint }))
	}
	const reply = await run()
	if (hasTimedOut(exchange)) {
		// The lock may have expired, and another run may hold it: nothing is stored.
		exchange.log('warn', 'an answer came too late to be stored for its Idempotency-Key')
		return reply
	}
	// Storing has a timeout of its own, and must not turn an answer into 503.
	exchange.due = Number.POSITIVE_INFINITY
	exchange.onCancel = onCancel
	await storeAnswer(exchange, cacheKey, reply, fingerprint)
	return reply
}

/** How long a lock lasts. */
function lockSeconds({ app: { handlerTimeout } }: Exchange): Seconds {
	return Math.min((handlerTimeout + 3 * MARGIN) / 1_000, DAY)
}

/** Whether the request was answered because it timed out. */
function hasTimedOut({ due, isReplied }: Exchange): boolean {
	return isReplied || due === Number.NEGATIVE_INFINITY
}

/** Writes the lock; returns the record instead if there is one already. */
async function acquireLock(
	exchange: Exchange,
	cacheKey: string,
	caller: Caller,
	lock: StoredRecord,
): Promise<StoredRecord | undefined> {
	const { cache } = exchange.app
	const seconds = lockSeconds(exchange)
	try {
		// The record may expire between `add` and `get`: try once more.
		for (let attempt = 0; attempt < 2; attempt++) {
			if (await cache.add(cacheKey, { ...lock }, seconds)) {
				await countOrRelease(exchange, cacheKey, caller)
				return undefined
			}
			const value = await cache.get(cacheKey)
			if (value !== undefined) return parseRecord(value)
		}
	} catch (error) {
		if (error instanceof RestError) throw error
		// Anonymous callers share one part of the cache, so if it is full, that isn't this caller's fault: 503 rather than
		// 429.
		throw caller.isUser
			? cacheRefusal(error, TOO_MANY)
			: new RestError('unavailable', undefined, { cause: error })
	}
	return lock
}

/** Counts the key. @throws RestError past the limit, after releasing the lock */
async function countOrRelease(exchange: Exchange, cacheKey: string, caller: Caller): Promise<void> {
	try {
		await countKey(exchange.app.cache, caller)
	} catch (error) {
		await releaseLock(exchange, cacheKey)
		throw error instanceof RestError ? error : cacheRefusal(error, TOO_MANY)
	}
}

/** Removes the lock, or leaves it to expire if the cache fails. */
function releaseLock({ app }: Exchange, cacheKey: string): Promise<void> {
	return bestEffort(async () => void (await app.cache.delete(cacheKey)))
}

/**
 * Stores the answer. Where a retry may succeed (after a server error, a transient refusal, or an abort), it deletes the key
 * instead. But if the method may have taken effect, the key is kept: retries of a failed request are refused, those of an
 * aborted one get its answer.
 */
async function storeAnswer(
	exchange: Exchange,
	cacheKey: string,
	reply: Reply,
	fingerprint: string,
): Promise<void> {
	const { isAborted, isDone } = exchange
	const mayRetry = reply.status >= 500 || TRANSIENT.has(reply.status) || (isAborted && !isDone)
	try {
		if (exchange.isOutcomeUnknown || (mayRetry && isDone))
			await withTimeout(MARGIN, storeRecord(exchange, cacheKey, { state: 'unkept', fingerprint }))
		else if (mayRetry) await withTimeout(MARGIN, exchange.app.cache.delete(cacheKey))
		else await withTimeout(MARGIN, storeRecord(exchange, cacheKey, recordOf(exchange, reply, fingerprint)))
	} catch (error) {
		// The answer is sent anyway; retries are refused until the lock expires.
		exchange.log('error', 'an answer could not be stored for its Idempotency-Key', error)
	}
}

function answerRetry(exchange: Exchange, record: StoredRecord, fingerprint: string): Reply {
	if (record.fingerprint !== fingerprint) {
		const message = 'was used for another request: a new request needs a new key'
		const details = [{ field: 'Idempotency-Key', code: 'reused', message }]
		throw new RestError('invalid', `The Idempotency-Key ${message}`, { details })
	}
	if (record.state === 'answered') return replay(exchange, record)
	if (record.state === 'running')
		throw new RestError('conflict', 'The first request with this Idempotency-Key is still being answered', {
			headers: { 'Retry-After': '1' },
		})
	throw new RestError(
		'conflict',
		'This request was already processed, but its response was not stored: check the result, then use a new key',
	)
}
