/**
 * Counters of rate limits, kept in the cache, for fixed and sliding windows. Called by `pipeline/enforce-limits.ts` and
 * `guesses.ts`.
 *
 * A fixed window begins with a caller's first request and has one counter. In a sliding window a caller has `limit` slots,
 * each an entry made by `add` that lasts for the length of the window. A request that gets a slot is allowed, so no span of
 * that length has more requests than slots, in any number of processes. A hint stored beside the slots says which slot is
 * free next, and when the taken ones will be, so that no search is needed to refuse a request.
 */
import type { Milliseconds, Seconds } from '../base/time.ts'
import { bestEffort, type Cache, type JsonValue } from '../cache/cache.ts'

/** At most `limit` requests in a window. */
export interface WindowLimit {
	readonly limit: number
	readonly windowSeconds: Seconds
}

/** A limit, and the cache key it is counted under. */
export interface Counter extends WindowLimit {
	readonly key: string
}

/** The result of counting one request. */
export interface LimitResult {
	readonly isAllowed: boolean
	/** How many more requests would be allowed now. */
	readonly remaining: number
	/** Time until more requests are allowed: whole seconds, from 1 to the window's length. */
	readonly resetSeconds: Seconds
}

/** The stricter of two results: the one that refuses, or has fewer requests left. */
export function stricter(one: LimitResult, other: LimitResult): LimitResult {
	if (one.isAllowed !== other.isAllowed) return one.isAllowed ? other : one
	return other.remaining < one.remaining ? other : one
}

/**
 * Counts one request. The counter alone decides, atomically for all processes; the end of its window is stored beside it,
 * for the headers.
 *
 * @param now the time of day
 */
export async function countFixed(
	cache: Cache,
	key: string,
	limit: WindowLimit,
	now: Milliseconds,
): Promise<LimitResult> {
	const endKey = `${key}:end`
	const [count, end] = await Promise.all([cache.increment(key, limit.windowSeconds), cache.get(endKey)])
	if (count === 1)
		await bestEffort(() => cache.set(endKey, now + limit.windowSeconds * 1_000, limit.windowSeconds))
	return resultOf(count, count === 1 ? undefined : end, limit, now)
}

/** The result that `countFixed` would have, without counting. */
export async function peekFixed(
	cache: Cache,
	key: string,
	limit: WindowLimit,
	now: Milliseconds,
): Promise<LimitResult> {
	const [count, end] = await Promise.all([cache.get(key), cache.get(`${key}:end`)])
	return resultOf(count === undefined ? 1 : Number(count) + 1, end, limit, now)
}

function resultOf(
	count: number,
	end: JsonValue | undefined,
	{ limit, windowSeconds }: WindowLimit,
	now: Milliseconds,
): LimitResult {
	if (!Number.isSafeInteger(count) || count < 1)
		throw new TypeError(
			`the cache returned ${String(count)} as a rate limit's count: something else is stored under its key`,
		)
	return {
		isAllowed: count <= limit,
		remaining: Math.max(0, limit - count),
		// The whole length if the window has just begun, or its end was evicted.
		resetSeconds: typeof end === 'number' ? secondsUntil(end, now, windowSeconds) : windowSeconds,
	}
}

interface Hint {
	/** The slot to try next: the one taken longest ago. */
	readonly next: number
	/** When the taken slots will be free, soonest first. */
	readonly ends: readonly Milliseconds[]
}

const NO_HINT: Hint = { next: 0, ends: [] }
/** After this many failed attempts, other processes are assumed to take all free slots. */
const MAX_TRIES = 8
/**
 * A slot that has expired by this clock may still exist, because the cache's clock differs by fractions of a millisecond. For
 * this long after its expiry, the slot counts as the next free one, and every request tries it.
 */
const CLOCK_SKEW_MS: Milliseconds = 100
/** If the clocks differ by more, all slots are read, but not again during this time. */
const RESCAN_MS: Milliseconds = 1_000

/** A sliding limit, with a mutex so that requests of a caller in this process don't race for the same slots. */
export interface SlidingLimit extends WindowLimit {
	readonly mutex: KeyedMutex
}

/** Takes one slot. @param now the time of day */
export function countSliding(
	cache: Cache,
	key: string,
	limit: SlidingLimit,
	now: Milliseconds,
): Promise<LimitResult> {
	return limit.mutex.run(key, () => takeSlot(cache, key, limit, now))
}

async function takeSlot(
	cache: Cache,
	key: string,
	limit: WindowLimit,
	now: Milliseconds,
): Promise<LimitResult> {
	const hint = hintOf(await cache.get(`${key}:hint`), limit, now)
	if (hint.ends.length >= limit.limit) return refused(limit, hint.ends, now)
	const end = now + limit.windowSeconds * 1_000
	if (await cache.add(`${key}:${hint.next}`, end, limit.windowSeconds))
		return allow(cache, key, limit, now, hint.next, hint.ends)
	const held = await cache.get(`${key}:${hint.next}`)
	if (typeof held === 'number' && held <= now && now - held < CLOCK_SKEW_MS) return refused(limit, [now], now)
	// The hint was stale or evicted, or another process was faster.
	const { free, ends, oldest } = await readSlots(cache, key, limit, now)
	// Other processes may be searching, too: each begins at a random slot.
	const from = Math.floor(Math.random() * free.length)
	for (const slot of [...free.slice(from), ...free.slice(0, from)].slice(0, MAX_TRIES)) {
		if (await cache.add(`${key}:${slot}`, end, limit.windowSeconds))
			return allow(cache, key, limit, now, slot, ends)
	}
	if (free.length === 0) await storeHint(cache, key, { next: oldest, ends }, limit)
	return refused(limit, ends, now)
}

async function allow(
	cache: Cache,
	key: string,
	limit: WindowLimit,
	now: Milliseconds,
	slot: number,
	others: readonly Milliseconds[],
): Promise<LimitResult> {
	const ends = [...others, now + limit.windowSeconds * 1_000].sort(ascending)
	await storeHint(cache, key, { next: (slot + 1) % limit.limit, ends }, limit)
	return {
		isAllowed: true,
		remaining: limit.limit - ends.length,
		resetSeconds: secondsUntil(ends[0] ?? now, now, limit.windowSeconds),
	}
}

interface Slots {
	readonly free: readonly number[]
	readonly ends: readonly Milliseconds[]
	/** The slot that will be free first. */
	readonly oldest: number
}

/** Reads all slots. A slot that exists is taken, even if it has expired by this clock. */
async function readSlots(cache: Cache, key: string, limit: WindowLimit, now: Milliseconds): Promise<Slots> {
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
	return now - end < CLOCK_SKEW_MS ? now + 1 : now + RESCAN_MS
}

async function storeHint(cache: Cache, key: string, { next, ends }: Hint, limit: WindowLimit): Promise<void> {
	await bestEffort(() => cache.set(`${key}:hint`, { next, ends }, limit.windowSeconds))
}

function hintOf(value: JsonValue | undefined, { limit }: WindowLimit, now: Milliseconds): Hint {
	if (typeof value !== 'object' || value === null || !('next' in value)) return NO_HINT
	const { next, ends } = value
	if (!Number.isSafeInteger(next) || typeof next !== 'number' || next < 0 || !Array.isArray(ends))
		return NO_HINT
	const left = ends.filter((end) => typeof end === 'number').filter((end) => end > now)
	return { next: next % limit, ends: left.sort(ascending) }
}

function ascending(one: number, other: number): number {
	return one - other
}

function refused(limit: WindowLimit, ends: readonly Milliseconds[], now: Milliseconds): LimitResult {
	return {
		isAllowed: false,
		remaining: 0,
		resetSeconds: secondsUntil(ends[0] ?? now, now, limit.windowSeconds),
	}
}

function secondsUntil(end: Milliseconds, now: Milliseconds, windowSeconds: Seconds): Seconds {
	return Math.min(Math.max(Math.ceil((end - now) / 1_000), 1), windowSeconds)
}

/** Maximum wait for earlier work: a call that the store doesn't answer must not block all later ones. */
const MAX_WAIT_MS: Milliseconds = 1_000

/** Runs work under the same key in order, each when the one before has settled, or after {@link MAX_WAIT_MS}. */
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

function settled(promise: Promise<unknown>): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, MAX_WAIT_MS)
		const done = (): void => {
			clearTimeout(timer)
			resolve()
		}
		promise.then(done, done)
	})
}
