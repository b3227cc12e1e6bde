/**
 * Rate limits by a window that slides: a caller has `limit` slots, each an entry that `add` makes and that lasts
 * for the length of the window. Whoever gets one is let in; so no span of that length has more of them than there
 * are slots, in however many processes. What is known of the slots is kept beside them, as a hint: it says where
 * a free one is, and refuses without a search while there is none.
 */

import type { Milliseconds } from '../base/time.ts'
import type { Cache, JsonValue } from '../cache/cache.ts'
import type { Count, Taken } from './count.ts'
import { inform } from './inform.ts'
import { Turn } from './turn.ts'

interface Hint {
	/** The slot to be tried next: the one that was taken the longest time ago. */
	readonly next: number
	/** When the slots that are taken will be free, the soonest first. */
	readonly ends: readonly Milliseconds[]
}

const NOTHING_KNOWN: Hint = { next: 0, ends: [] }
/** So many free slots are tried before it is taken for certain that other processes take them all. */
const MOST_TRIES = 8
/**
 * A slot whose time should be over by this clock may still be there: the cache's own clock differs by parts of a
 * millisecond. One that is no later than this is the next to be free, and tried by each request.
 */
const LATE: Milliseconds = 100
/** Of a clock that differs by more, all slots are looked at, and then none for this time. */
const SOON: Milliseconds = 1_000

const turn = new Turn()

/**
 * Takes one slot.
 *
 * @param now the time of day
 */
export function takeSliding(cache: Cache, key: string, limit: Count, now: Milliseconds): Promise<Taken> {
	return turn.take(key, () => takeOne(cache, key, limit, now))
}

async function takeOne(cache: Cache, key: string, limit: Count, now: Milliseconds): Promise<Taken> {
	const hint = hintOf(await cache.get(`${key}:hint`), limit, now)
	if (hint.ends.length >= limit.limit) return refused(limit, hint.ends, now)
	const end = now + limit.windowSeconds * 1_000
	if (await cache.add(`${key}:${hint.next}`, end, limit.windowSeconds))
		return letIn(cache, key, limit, now, hint.next, hint.ends)
	const held = await cache.get(`${key}:${hint.next}`)
	if (typeof held === 'number' && held <= now && now - held < LATE) return refused(limit, [now], now)
	// The hint was of old, or lost, or another process was quicker.
	const { free, ends, oldest } = await lookAt(cache, key, limit, now)
	// Others look for a slot at the same moment: each begins elsewhere.
	const from = Math.floor(Math.random() * free.length)
	for (const slot of [...free.slice(from), ...free.slice(0, from)].slice(0, MOST_TRIES)) {
		if (await cache.add(`${key}:${slot}`, end, limit.windowSeconds))
			return letIn(cache, key, limit, now, slot, ends)
	}
	if (free.length === 0) await keep(cache, key, { next: oldest, ends }, limit)
	return refused(limit, ends, now)
}

async function letIn(
	cache: Cache,
	key: string,
	limit: Count,
	now: Milliseconds,
	slot: number,
	others: readonly Milliseconds[],
): Promise<Taken> {
	const ends = [...others, now + limit.windowSeconds * 1_000].sort(ascending)
	await keep(cache, key, { next: (slot + 1) % limit.limit, ends }, limit)
	return {
		isAllowed: true,
		remaining: limit.limit - ends.length,
		resetSeconds: secondsUntil(ends[0] ?? now, now, limit),
	}
}

interface Slots {
	readonly free: readonly number[]
	readonly ends: readonly Milliseconds[]
	/** The one that will be free first. */
	readonly oldest: number
}

/** What the slots themselves say: those that are there are taken, whatever this clock says of their time. */
async function lookAt(cache: Cache, key: string, limit: Count, now: Milliseconds): Promise<Slots> {
	const values = await Promise.all(
		Array.from({ length: limit.limit }, async (_, slot) => cache.get(`${key}:${slot}`)),
	)
	const taken = values.flatMap((value, slot) =>
		value === undefined ? [] : [{ slot, end: endOf(typeof value === 'number' ? value : 0, now) }],
	)
	taken.sort((one, other) => one.end - other.end)
	return {
		free: values.flatMap((value, slot) => (value === undefined ? [slot] : [])),
		ends: taken.map(({ end }) => end),
		oldest: taken[0]?.slot ?? 0,
	}
}

/** When a slot that is taken is tried again. */
function endOf(end: Milliseconds, now: Milliseconds): Milliseconds {
	if (end > now) return end
	return now - end < LATE ? now + 1 : now + SOON
}

async function keep(cache: Cache, key: string, { next, ends }: Hint, limit: Count): Promise<void> {
	await inform(() => cache.set(`${key}:hint`, { next, ends }, limit.windowSeconds))
}

function hintOf(value: JsonValue | undefined, { limit }: Count, now: Milliseconds): Hint {
	if (typeof value !== 'object' || value === null || !('next' in value)) return NOTHING_KNOWN
	const { next, ends } = value
	if (!Number.isSafeInteger(next) || typeof next !== 'number' || next < 0 || !Array.isArray(ends))
		return NOTHING_KNOWN
	const left = ends.filter((end) => typeof end === 'number').filter((end) => end > now)
	return { next: next % limit, ends: left.sort(ascending) }
}

function ascending(one: number, other: number): number {
	return one - other
}

function refused(limit: Count, ends: readonly Milliseconds[], now: Milliseconds): Taken {
	return { isAllowed: false, remaining: 0, resetSeconds: secondsUntil(ends[0] ?? now, now, limit) }
}

function secondsUntil(end: Milliseconds, now: Milliseconds, { windowSeconds }: Count): number {
	return Math.min(Math.max(Math.ceil((end - now) / 1_000), 1), windowSeconds)
}
