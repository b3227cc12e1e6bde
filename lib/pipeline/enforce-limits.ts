/**
 * Counts requests against the rate limits of their methods, counts refused credentials as guesses, and refuses requests
 * past a limit. For `credentials.ts`. `limits/` reads the limits and keeps the counters.
 */
import { isRestError, RestError } from '../base/error.ts'
import { type Milliseconds, timeOfDay } from '../base/time.ts'
import { type Cache, cacheRefusal, isCallerFull } from '../cache/cache.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { countFixed, countSliding, type LimitResult, peekFixed, stricter } from '../limits/counters.ts'
import type { Guess } from '../limits/guesses.ts'
import { type Caller, type CompiledLimit, callerOf, countersOf, keyOf } from '../limits/rate-limit.ts'

/**
 * Counts the request against its user, or without a user against its address, and sets `RateLimit-Policy` and
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers) on every answer.
 *
 * @throws RestError, as a rejection: `too_many_requests` past the limit, with Retry-After; `unavailable` when the cache
 *   fails and the limit isn't `failOpen`
 */
export async function countRequest(exchange: Exchange, limit: CompiledLimit): Promise<void> {
	const caller = callerOf(exchange.user, exchange.ip())
	const taken = await failOpenOrRefuse(exchange, limit, () =>
		countOne(exchange.app.cache, caller, limit, timeOfDay()),
	)
	if (taken !== undefined) enforce(exchange, limit, taken)
}

/**
 * Counts one request. The counters of wider IPv6 networks are read first, so that a request that one of them refuses
 * creates no counters.
 */
async function countOne(
	cache: Cache,
	caller: Caller,
	limit: CompiledLimit,
	now: Milliseconds,
): Promise<LimitResult> {
	const countBy = limit.isSliding ? countSliding : countFixed
	if (caller.wider === undefined) return countBy(cache, keyOf(limit, caller), limit, now)
	const [own, ...wider] = countersOf(limit, caller)
	const looked = await Promise.all(wider.map((counter) => peekFixed(cache, counter.key, counter, now)))
	const full = looked.find(({ isAllowed }) => !isAllowed)
	if (full !== undefined) return full
	const taken = await countBy(cache, own.key, limit, now)
	if (!taken.isAllowed) return taken
	const others = await Promise.all(wider.map((counter) => countFixed(cache, counter.key, counter, now)))
	return others.reduce(stricter, taken)
}

/**
 * Authenticates as one of the guesses that the client's address may make. The guess is taken first, and released unless
 * the credentials are refused.
 *
 * @throws RestError `too_many_requests` when the guesses are used up, and as {@link countRequest}; and what
 *   `authenticate` throws
 */
export async function authenticateAsGuess<T>(
	exchange: Exchange,
	limit: CompiledLimit,
	authenticate: () => Promise<T>,
): Promise<T> {
	const guess = await takeGuess(exchange, limit)
	if (guess === undefined) return authenticate()
	const { onCancel } = exchange
	// If the authenticator never settles, the guess is released when the request is cancelled.
	exchange.onCancel = () => {
		// Set if the method is running already, and calls another handler's authenticator.
		onCancel?.()
		guess.release()
	}
	try {
		// The request timed out while it waited for other guesses of this address.
		if (exchange.isReplied) throw new RestError('unavailable')
		const user = await authenticate()
		guess.release()
		return user
	} catch (error) {
		if (isRestError(error) && (error.status === 401 || error.status === 403))
			await spendGuess(exchange, limit, guess)
		else guess.release()
		throw error
	}
}

/** Takes a guess; `undefined` when the cache fails and the limit is `failOpen`. */
async function takeGuess(exchange: Exchange, limit: CompiledLimit): Promise<Guess | undefined> {
	const counters = countersOf(limit, callerOf(null, exchange.ip()), 'guess')
	const taken = await failOpenOrRefuse(exchange, limit, () =>
		limit.guesses.take(exchange.app.cache, counters, timeOfDay, () => exchange.isReplied),
	)
	if (taken === undefined || !('isAllowed' in taken)) return taken
	enforce(exchange, limit, taken)
	return undefined
}

async function spendGuess(exchange: Exchange, limit: CompiledLimit, guess: Guess): Promise<void> {
	const taken = await failOpenOrRefuse(exchange, limit, () => guess.spend())
	if (taken !== undefined) enforce(exchange, limit, taken)
}

/**
 * Handles a failure of the cache: with `failOpen` it is logged and the request passes, otherwise the request is
 * refused.
 */
async function failOpenOrRefuse<T>(
	exchange: Exchange,
	limit: CompiledLimit,
	work: () => Promise<T>,
): Promise<T | undefined> {
	try {
		return await work()
	} catch (error) {
		if (!limit.failOpen || isCallerFull(error)) throw cacheRefusal(error, TOO_MANY)
		exchange.log('error', 'a request was not counted against its rate limit', error)
		return undefined
	}
}

const TOO_MANY = 'Too many requests are being counted for this user or network: wait a moment'

/** Sets the `RateLimit` headers, and refuses a request past the limit. */
function enforce(
	exchange: Exchange,
	limit: CompiledLimit,
	{ isAllowed, remaining, resetSeconds }: LimitResult,
): void {
	const state = `${limit.name};r=${remaining};t=${resetSeconds}`
	exchange.rateLimitLines = ['RateLimit-Policy', limit.policy, 'RateLimit', state]
	if (isAllowed) return
	throw new RestError('too_many_requests', undefined, { headers: { 'Retry-After': String(resetSeconds) } })
}
