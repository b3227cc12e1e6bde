/** Counts a request against its method's rate limit, once it is known who is calling. */
import type { Action } from './action.ts'
import { RestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import { takeFixed } from './limit/fixed-window.ts'
import { type CompiledLimit, callerOf, type Taken } from './limit/rate-limit.ts'
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
	return limit === undefined ? undefined : count(exchange, limit)
}

async function count(exchange: Exchange, limit: CompiledLimit): Promise<void> {
	const taken = await take(exchange, limit)
	if (taken === undefined) return
	const { isAllowed, remaining, resetSeconds } = taken
	exchange.standing = [
		...['RateLimit-Policy', limit.policy],
		...['RateLimit', `${limit.name};r=${remaining};t=${resetSeconds}`],
	]
	if (isAllowed) return
	throw new RestError('too_many_requests', undefined, { headers: { 'Retry-After': String(resetSeconds) } })
}

async function take(exchange: Exchange, limit: CompiledLimit): Promise<Taken | undefined> {
	const { cache } = exchange.app
	const key = `${limit.key}${callerOf(exchange.user, exchange.ip())}`
	try {
		const now = timeOfDay()
		return limit.isSliding
			? await takeSliding(cache, key, limit, now)
			: await takeFixed(cache, key, limit, now)
	} catch (error) {
		if (!limit.failOpen) throw new RestError('unavailable', undefined, { cause: error })
		exchange.log('error', 'a request was not counted against its rate limit', error)
		return undefined
	}
}
