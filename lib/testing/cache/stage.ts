/** What each case of the cache contract plays on: a cache of its own, and the time it lives by. */

import type { Bytes, Clock, Milliseconds } from '../../base/time.ts'
import type { Cache } from '../../cache/cache.ts'
import type { Case } from '../case.ts'

/**
 * Makes an empty cache that reads the time from `clock` and holds at most `max` entries. A cache of
 * another bound or time ignores them, and says so in the options.
 */
export type MakeCache = (clock: Clock, max: number) => Cache | Promise<Cache>

/** How a cache differs from one that is in memory. */
export interface CacheContractOptions {
	/**
	 * Whether the cache counts to the `max` it was made with. Without, the cases of a full cache are left
	 * out.
	 * @default true
	 */
	readonly bounded?: boolean
	/**
	 * The bytes that the cache is made with, where it gives each caller a share of them: 1 MiB or somewhat more, as they are
	 * filled. A cache counts the bytes of keys and texts, and up to as many again. Without, the cases of shares are left out.
	 * @default undefined
	 */
	readonly maxBytes?: Bytes
	/**
	 * Lets time pass for a cache that doesn't read `clock`: moves its server's, or really waits.
	 * @default only the clock handed to `make` moves
	 */
	readonly advance?: (time: Milliseconds) => void | Promise<void>
	/**
	 * How far from an entry's end it is looked for, on both sides: 0 to 100. It is for real waits, which take
	 * longer than they were told; a case has three of them at most, and their lateness adds up. A case that fails when
	 * it was later than that is played again, with a new cache, at most twenty times.
	 * @default 0: it is there in the last millisecond, and gone in the next
	 */
	readonly slack?: Milliseconds
	/**
	 * Called with each cache after its case, whether it passed or not.
	 * @default nothing
	 */
	readonly close?: (cache: Cache) => void | Promise<void>
}

/** A cache, and its time counted from when it was made. */
export interface Stage {
	readonly cache: Cache
	/** Entries that the cache was made for. */
	readonly max: number
	/** Lets time pass until just before an entry of this time ends. */
	before(time: Milliseconds): Promise<void>
	/** Lets time pass until an entry of this time has ended. */
	after(time: Milliseconds): Promise<void>
}

/** A case before it is known which cache it is for. */
export interface Scene {
	readonly name: string
	/** @default 1000, where none is ever full */
	readonly max?: number
	play(stage: Stage): Promise<void>
}

/**
 * Makes a case of a scene.
 *
 * @throws RangeError when `slack` isn't from 0 to 100
 */
export function toCase(
	{ name, max = 1_000, play }: Scene,
	make: MakeCache,
	options: CacheContractOptions,
): Case {
	const { slack = 0, close } = options
	if (!(slack >= 0 && slack <= 100)) throw new RangeError(`slack must be from 0 to 100 ms, got ${slack}`)
	return {
		name,
		async run() {
			for (let left = ATTEMPTS; ; left--) {
				const time = timeline(options.advance)
				const cache = await make(time.clock, max)
				const lateness = latenessOf(time.passed)
				try {
					return await play({
						cache,
						max,
						before: (end) => time.reach(end - 1 - slack),
						after: (end) => time.reach(end + slack),
					})
				} catch (error) {
					// Without slack nothing really waits, and what never waited wasn't late.
					if (left === 1 || slack === 0 || time.passed() === 0 || lateness() <= slack) throw error
				} finally {
					await close?.(cache)
				}
			}
		},
	}
}

/** How often a case is played that failed while the machine was held up: its entries ended before they were looked for. */
const ATTEMPTS = 20

/** How much more time has really passed than was meant to. */
function latenessOf(passed: () => Milliseconds): () => Milliseconds {
	const start = performance.now()
	return () => performance.now() - start - passed()
}

function timeline(advance: CacheContractOptions['advance']): {
	clock: Clock
	passed(): Milliseconds
	reach(time: Milliseconds): Promise<void>
} {
	// Not from 0: a cache that takes a time of 0 for "no time" would pass.
	const start: Milliseconds = 1_000
	let now = start
	return {
		clock: () => now,
		passed: () => now - start,
		async reach(time) {
			const left = Math.max(0, start + time - now)
			now += left
			await advance?.(left)
		},
	}
}
