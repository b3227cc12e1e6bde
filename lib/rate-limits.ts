/** Counts a request against its method's rate limit, once it is known who is calling. */
import type { Action } from './action.ts'
import { RestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import { lookFixed, takeFixed } from './limit/fixed-window.ts'
import { type CompiledLimit, callerOf, keyOf, type Taken } from './limit/rate-limit.ts'
import { takeSliding } from './limit/sliding-window.ts'
import { timeOfDay } from './time.ts'

/**
 * Counts the request for its user, else for its address, and leaves the fields `RateLimit-Policy` and
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers) for whatever is answered. `undefined` where the method has
 * no limit.
 *
 * @throws RestError by the promise: `too_many_requests` past the limit, with Retry-After; `unavailable` where the
 *   cache fails and the limit isn't `failOpen`
 */
export function countRequest(exchange: Exchange, { limit }: Action): Promise<void> | undefined {
	if (limit === undefined) return undefined
	const take = limit.isSliding ? takeSliding : takeFixed
	return count(exchange, limit, take, callerOf(exchange.user, exchange.ip()))
}

/**
 * Refuses whoever has sent bad credentials as often as the limit allows, before more of them are looked at.
 *
 * @throws RestError as {@link countRequest}
 */
export function refuseGuesser(exchange: Exchange, limit: CompiledLimit): Promise<void> {
	return count(exchange, limit, lookFixed, guesserOf(exchange))
}

/** Counts bad credentials, for their address, beside what others at that address ask for. */
export function countGuess(exchange: Exchange, limit: CompiledLimit): Promise<void> {
	return count(exchange, limit, takeFixed, guesserOf(exchange))
}

function guesserOf(exchange: Exchange): string {
	return `guesses:${callerOf(null, exchange.ip())}`
}

async function count(
	exchange: Exchange,
	limit: CompiledLimit,
	take: typeof takeFixed,
	caller: string,
): Promise<void> {
	let taken: Taken
	try {
		taken = await take(exchange.app.cache, keyOf(limit, caller), limit, timeOfDay())
	} catch (error) {
		if (!limit.failOpen) throw new RestError('unavailable', undefined, { cause: error })
		exchange.log('error', 'a request was not counted against its rate limit', error)
		return
	}
	const { isAllowed, remaining, resetSeconds } = taken
	const rest = `${limit.name};r=${remaining};t=${resetSeconds}`
	exchange.standing = ['RateLimit-Policy', limit.policy, 'RateLimit', rest]
	if (isAllowed) return
	throw new RestError('too_many_requests', undefined, { headers: { 'Retry-After': String(resetSeconds) } })
}
