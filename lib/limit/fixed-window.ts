/** Rate limits by windows that begin with a caller's first request: one counter a caller. */
import type { Cache } from '../cache/cache.ts'
import type { Milliseconds } from '../time.ts'
import type { CompiledLimit, Taken } from './rate-limit.ts'

/**
 * Counts one request. The counter alone decides, in one step for all processes; when its window ends is kept
 * beside it, for the headers.
 *
 * @param now the time of day
 */
export async function takeFixed(
	cache: Cache,
	key: string,
	{ limit, windowSeconds }: CompiledLimit,
	now: Milliseconds,
): Promise<Taken> {
	const endKey = `${key}:end`
	const [count, end] = await Promise.all([cache.increment(key, windowSeconds), cache.get(endKey)])
	if (count === 1) await cache.set(endKey, now + windowSeconds * 1_000, windowSeconds)
	// Of a window that has begun in this moment, or whose end was forgotten, the whole length is told.
	const left = count === 1 || typeof end !== 'number' ? windowSeconds : Math.ceil((end - now) / 1_000)
	return {
		isAllowed: count <= limit,
		remaining: Math.max(0, limit - count),
		resetSeconds: Math.min(Math.max(left, 1), windowSeconds),
	}
}
