/**
 * Rate limits by a window that slides: a caller has `limit` slots, each an entry that `add` makes and that lasts
 * for the length of the window. Whoever gets one is served; so no span of that length holds more requests than
 * there are slots, in however many processes. What is known of the slots is kept beside them, as a hint: it says
 * where a free one is, and refuses without a search while there is none.
 */
import type { Cache, JsonValue } from '../cache/cache.ts'
import type { Milliseconds } from '../time.ts'
import type { CompiledLimit, Taken } from './rate-limit.ts'

interface Hint {
	/** The slot that was taken the longest time ago: the next to be free. */
	readonly next: number
	/** When the slots that are taken will be free, the soonest first. */
	readonly ends: readonly Milliseconds[]
}

const NOTHING_KNOWN: Hint = { next: 0, ends: [] }

/**
 * Takes one slot.
 *
 * @param now the time of day
 */
export async function takeSliding(
	cache: Cache,
	key: string,
	limit: CompiledLimit,
	now: Milliseconds,
): Promise<Taken> {
	const { windowSeconds } = limit
	const hint = hintOf(await cache.get(`${key}:hint`), limit, now)
	const { ends, next } = hint
	if (ends.length >= limit.limit) return refused(limit, ends, now)
	const end = now + windowSeconds * 1_000
	for (let tried = 0; tried < limit.limit; tried++) {
		const slot = (next + tried) % limit.limit
		if (!(await cache.add(`${key}:${slot}`, end, windowSeconds))) continue
		const taken = { next: (slot + 1) % limit.limit, ends: [...ends, end] }
		await keep(cache, key, taken, limit)
		const resetSeconds = secondsUntil(taken.ends[0] ?? end, now, limit)
		return { isAllowed: true, remaining: limit.limit - taken.ends.length, resetSeconds }
	}
	// The hint was of old, or lost: others that are refused shall not search again.
	const known = await lookAt(cache, key, limit, now)
	await keep(cache, key, known, limit)
	return refused(limit, known.ends, now)
}

/** What the slots themselves say. */
async function lookAt(cache: Cache, key: string, limit: CompiledLimit, now: Milliseconds): Promise<Hint> {
	const slots = await Promise.all(
		Array.from({ length: limit.limit }, async (_, slot) => ({
			slot,
			end: await cache.get(`${key}:${slot}`),
		})),
	)
	const taken = slots.map(({ slot, end }) => ({
		slot,
		end: typeof end === 'number' && end > now ? end : now,
	}))
	taken.sort((one, other) => one.end - other.end)
	const ends = taken.map(({ end }) => end).filter((end) => end > now)
	return { next: taken[0]?.slot ?? 0, ends }
}

async function keep(cache: Cache, key: string, { next, ends }: Hint, limit: CompiledLimit): Promise<void> {
	await cache.set(`${key}:hint`, { next, ends }, limit.windowSeconds)
}

function hintOf(value: JsonValue | undefined, { limit }: CompiledLimit, now: Milliseconds): Hint {
	if (typeof value !== 'object' || value === null || !('next' in value)) return NOTHING_KNOWN
	const { next, ends } = value
	if (typeof next !== 'number' || !Array.isArray(ends)) return NOTHING_KNOWN
	const left = ends.filter((end) => typeof end === 'number').filter((end) => end > now)
	return { next: next % limit, ends: left.sort((one, other) => one - other) }
}

function refused(limit: CompiledLimit, ends: readonly Milliseconds[], now: Milliseconds): Taken {
	return { isAllowed: false, remaining: 0, resetSeconds: secondsUntil(ends[0] ?? now, now, limit) }
}

function secondsUntil(end: Milliseconds, now: Milliseconds, { windowSeconds }: CompiledLimit): number {
	return Math.min(Math.max(Math.ceil((end - now) / 1_000), 1), windowSeconds)
}
