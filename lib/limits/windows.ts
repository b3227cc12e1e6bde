/**
 * The two kinds of rate-limit windows, counted in the cache. Called by `pipeline/rate-limits.ts` and `guesses.ts`.
 *
 * A fixed window begins with a caller's first request: one counter a caller. In a sliding window a caller has `limit`
 * slots, each an entry made by `add` that lasts for the length of the window. A request that gets a slot is let in, so
 * no span of that length has more requests than slots, in however many processes. A hint kept beside the slots says
 * where a free one is, and refuses without a search while there is none.
 */
import type { Milliseconds, Seconds } from '../base/time.ts'
import { bestEffort, type Cache, type JsonValue } from '../cache/cache.ts'

/** A limit to count to. */
export interface Count {
	readonly limit: number
	readonly windowSeconds: Seconds
}

/** A limit with the cache key under which it is counted. */
export interface Level extends Count {
	readonly key: string
}

/** The result of counting one request. */
export interface Taken {
	readonly isAllowed: boolean
	/** How many more requests would be served now. */
	readonly remaining: number
	/** Until more are: whole seconds, from 1 to the window's length. */
	readonly resetSeconds: Seconds
}

/** The one that refuses, or leaves fewer requests. */
export function tighter(one: Taken, other: Taken): Taken {
	if (one.isAllowed !== other.isAllowed) return one.isAllowed ? other : one
	return other.remaining < one.remaining ? other : one
}

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
		await bestEffort(() => cache.set(endKey, now + limit.windowSeconds * 1_000, limit.windowSeconds))
	return takenOf(count, count === 1 ? undefined : end, limit, now)
}

/** The result that `takeFixed` would have, without counting. */
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
	// A window that has just begun, or whose end was evicted, reports its whole length.
	const left = typeof end === 'number' ? Math.ceil((end - now) / 1_000) : windowSeconds
	return {
		isAllowed: count <= limit,
		remaining: Math.max(0, limit - count),
		resetSeconds: Math.min(Math.max(left, 1), windowSeconds),
	}
}

interface Hint {
	/** The slot to try next: the one taken longest ago. */
	readonly next: number
	/** When the taken slots will be free, soonest first. */
	readonly ends: readonly Milliseconds[]
}

const NOTHING_KNOWN: Hint = { next: 0, ends: [] }
/** After this many failed attempts, assume that other processes take all free slots. */
const MOST_TRIES = 8
/**
 * A slot that has expired by this clock may still be there, as the cache's clock differs by parts of a millisecond. Up
 * to this much over its time, it is the next to be free, and every request tries it.
 */
const LATE: Milliseconds = 100
/** Where the clocks differ by more, all slots are read, and then none for this time. */
const SOON: Milliseconds = 1_000

/** A sliding limit; its mutex keeps requests of one caller in this process from racing for the same slots. */
export interface SlidingLimit extends Count {
	readonly mutex: KeyedMutex
}

/**
 * Takes one slot.
 *
 * @param now the time of day
 */
export function takeSliding(
	cache: Cache,
	key: string,
	limit: SlidingLimit,
	now: Milliseconds,
): Promise<Taken> {
	return limit.mutex.run(key, () => takeOne(cache, key, limit, now))
}

async function takeOne(cache: Cache, key: string, limit: Count, now: Milliseconds): Promise<Taken> {
	const hint = hintOf(await cache.get(`${key}:hint`), limit, now)
	if (hint.ends.length >= limit.limit) return refused(limit, hint.ends, now)
	const end = now + limit.windowSeconds * 1_000
	if (await cache.add(`${key}:${hint.next}`, end, limit.windowSeconds))
		return letIn(cache, key, limit, now, hint.next, hint.ends)
	const held = await cache.get(`${key}:${hint.next}`)
	if (typeof held === 'number' && held <= now && now - held < LATE) return refused(limit, [now], now)
	// The hint was stale or evicted, or another process was quicker.
	const { free, ends, oldest } = await lookAt(cache, key, limit, now)
	// Other processes search at the same moment: each begins at a random slot.
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
	/** The slot that will be free first. */
	readonly oldest: number
}

/** Reads all slots: one that exists is taken, whatever this clock says of its time. */
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

/** When a taken slot is tried again. */
function endOf(end: Milliseconds, now: Milliseconds): Milliseconds {
	if (end > now) return end
	return now - end < LATE ? now + 1 : now + SOON
}

async function keep(cache: Cache, key: string, { next, ends }: Hint, limit: Count): Promise<void> {
	await bestEffort(() => cache.set(`${key}:hint`, { next, ends }, limit.windowSeconds))
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

/** Longest wait for earlier work: one call that the store doesn't answer must not hold up all later ones. */
const LONGEST: Milliseconds = 1_000

/** Runs work under one key in order, each after the one before has settled or {@link LONGEST} is over. */
export class KeyedMutex {
	readonly #last = new Map<string, Promise<unknown>>()

	async run<T>(key: string, work: () => Promise<T>): Promise<T> {
		const before = this.#last.get(key)
		const mine = before === undefined ? work() : settled(before).then(work)
		this.#last.set(key, mine)
		try {
			return await mine
		} finally {
			if (this.#last.get(key) === mine) this.#last.delete(key)
		}
	}
}

/** Resolves when a promise has settled, or after {@link LONGEST}. */
function settled(promise: Promise<unknown>): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, LONGEST)
		const done = (): void => {
			clearTimeout(timer)
			resolve()
		}
		promise.then(done, done)
	})
}
