/** Rate limits by windows that begin with a caller's first request: one counter a caller. */

import type { Milliseconds } from '../base/time.ts'
import type { Cache, JsonValue } from '../cache/cache.ts'
import type { Count, Taken } from './count.ts'
import { inform } from './inform.ts'

/**
 * Counts one request. The counter alone decides, in one step for all processes; when its window ends is kept
 * beside it, for the headers.
 *
 * @param now the time of day
 */
export async function takeFixed(cache: Cache, key: string, limit: Count, now: Milliseconds): Promise<Taken> {
	const endKey = `${key}:end`
	const [count, end] = await Promise.all([cache.increment(key, limit.windowSeconds), cache.get(endKey)])
	if (count === 1)
		await inform(() => cache.set(endKey, now + limit.windowSeconds * 1_000, limit.windowSeconds))
	return takenOf(count, count === 1 ? undefined : end, limit, now)
}

/** What `takeFixed` would answer, without counting. */
export async function lookFixed(cache: Cache, key: string, limit: Count, now: Milliseconds): Promise<Taken> {
	const [count, end] = await Promise.all([cache.get(key), cache.get(`${key}:end`)])
	return takenOf(count === undefined ? 1 : Number(count) + 1, end, limit, now)
}

function takenOf(
	count: number,
	end: JsonValue | undefined,
	{ limit, windowSeconds }: Count,
	now: Milliseconds,
): Taken {
	if (!Number.isSafeInteger(count) || count < 1)
		throw new TypeError(`the cache counted to ${String(count)}: it holds something else under a rate limit`)
	// Of a window that has begun in this moment, or whose end was forgotten, the whole length is told.
	const left = typeof end === 'number' ? Math.ceil((end - now) / 1_000) : windowSeconds
	return {
		isAllowed: count <= limit,
		remaining: Math.max(0, limit - count),
		resetSeconds: Math.min(Math.max(left, 1), windowSeconds),
	}
}
