/** The fixture of the cache contract's cases: a cache and its clock. */
import { numberIn, optionsOf, or, type Readers, unchecked } from '../../base/options.ts'
import { type Bytes, type Clock, inMilliseconds, type Milliseconds, type Seconds } from '../../base/time.ts'
import type { Cache } from '../../cache/cache.ts'
import type { Case } from '../case.ts'

/**
 * Creates an empty cache that reads the time from `clock` and holds at most `max` entries. If your cache has another limit or
 * clock, ignore these arguments, and say so in the options.
 */
export type MakeCache = (clock: Clock, max: number) => Cache | Promise<Cache>

/** How a cache differs from one in memory. */
export interface CacheContractOptions {
	/** Whether the cache holds at most `max` entries. If not, the cases of a full cache are omitted. @default true */
	readonly bounded?: boolean
	/**
	 * The size of the cache, if it limits each caller to a share of it: 1 MiB or a little more, because the cases fill it.
	 * Keys and texts may count up to twice their bytes. If absent, the cases of shares are omitted.
	 * @default undefined
	 */
	readonly maxBytes?: Bytes
	/**
	 * Lets time pass for a cache that doesn't read `clock`: advances its server's clock, or waits.
	 * @default only the clock given to `make` advances
	 */
	readonly advance?: (time: Milliseconds) => void | Promise<void>
	/**
	 * How long before and after its expiry an entry is checked, from 0 to 0.1. Use it if `advance` really waits: waits take
	 * longer than requested, and the delays of a case's waits (at most three) add up. A case that fails after a longer delay
	 * is retried with a new cache, up to 20 attempts in all.
	 * @default 0: present in the last millisecond, expired in the next
	 */
	readonly slackSeconds?: Seconds
	/** Called with each cache after its case, passed or failed. @default nothing */
	readonly close?: (cache: Cache) => void | Promise<void>
}

/** A cache, with the time since it was created. */
export interface CacheFixture {
	readonly cache: Cache
	/** The `max` that was passed to `MakeCache`. */
	readonly max: number
	/** Lets time pass until just before an entry of this age expires. */
	before(time: Milliseconds): Promise<void>
	/** Lets time pass until an entry of this age has expired. */
	after(time: Milliseconds): Promise<void>
}

/** A case for any cache. */
export interface CacheTest {
	readonly name: string
	/** Maximum number of entries. @default 1000, which no case fills */
	readonly max?: number
	run(fixture: CacheFixture): Promise<void>
}

const readers = {
	bounded: unchecked<boolean | undefined>,
	maxBytes: unchecked<Bytes | undefined>,
	advance: unchecked<CacheContractOptions['advance']>,
	slackSeconds: or(numberIn({ from: 0, to: 0.1 }), 0),
	close: unchecked<CacheContractOptions['close']>,
} satisfies Readers<CacheContractOptions>

/** Makes cases of functions, by name. */
export function tests(functions: Readonly<Record<string, CacheTest['run']>>): CacheTest[] {
	return Object.entries(functions).map(([name, run]) => ({ name, run }))
}

/** Makes cases for a cache of at most `max` entries. */
export function testsFor(max: number, functions: Readonly<Record<string, CacheTest['run']>>): CacheTest[] {
	return tests(functions).map((test) => ({ ...test, max }))
}

/** Converts a cache test into a test case for the runner. Throws as `cacheContract` does. */
export function toCase(
	{ name, max = 1_000, run }: CacheTest,
	make: MakeCache,
	options: CacheContractOptions,
): Case {
	const { slackSeconds, advance, close } = optionsOf('cacheContract', options, readers)
	const slack = inMilliseconds(slackSeconds)
	return {
		name,
		async run() {
			for (let left = MAX_ATTEMPTS; ; left--) {
				const time = timeline(advance)
				const cache = await make(time.clock, max)
				const begin = performance.now()
				try {
					return await run({
						cache,
						max,
						before: (end) => time.reach(end - 1 - slack),
						after: (end) => time.reach(end + slack),
					})
				} catch (error) {
					const lateness = performance.now() - begin - time.passed()
					// Not retried: there were no waits, or they weren't longer than the slack allows.
					if (left === 1 || slack === 0 || time.passed() === 0 || lateness <= slack) throw error
				} finally {
					await close?.(cache)
				}
			}
		},
	}
}

/** Maximum number of attempts at a case that fails because the machine stalled and entries expired too early. */
const MAX_ATTEMPTS = 20

function timeline(advance: CacheContractOptions['advance']) {
	// Not 0, which a faulty cache could treat as absent.
	const start: Milliseconds = 1_000
	let now = start
	return {
		clock: (): Milliseconds => now,
		passed: (): Milliseconds => now - start,
		async reach(time: Milliseconds): Promise<void> {
			const left = Math.max(0, start + time - now)
			now += left
			await advance?.(left)
		},
	}
}
