/** The `Cache` interface: what a store must promise to hold nonces, counters and values. */
import type { Seconds } from '../time.ts'

/** What a cache holds: anything JSON can say. It is kept as text, so no two readers share an object. */
export type JsonValue =
	| string
	| number
	| boolean
	| null
	| readonly JsonValue[]
	| { readonly [name: string]: JsonValue }

/**
 * A store of values that end by themselves. Every method may answer at once or with a promise.
 *
 * `set` values may be forgotten early, to make room. What `add` and `increment` hold is a promise to
 * somebody (a nonce is used up, a limit is counted): it is kept until its time, and when there is no
 * room for it the call throws `CacheFull` instead. `set` and `delete` also work on what they hold, for that
 * is the caller's own decision; after a `set` it has the new value and the new time and is still kept.
 *
 * All refuse a key that isn't a string (TypeError), a value that JSON can't say (TypeError) and a
 * `ttlSeconds` that isn't a finite number above 0 (RangeError). `entry.ts` has these checks, and
 * `cacheContract` of `verbena/testing` has all promises as cases for a test runner.
 */
export interface Cache {
	/** The value, or `undefined` where there is none or its time is over. */
	get(key: string): JsonValue | undefined | Promise<JsonValue | undefined>
	/** Stores a value for `ttlSeconds` (more than 0), replacing what was there. */
	set(key: string, value: JsonValue, ttlSeconds: Seconds): void | Promise<void>
	/** Forgets a value; answers whether there was one. */
	delete(key: string): boolean | Promise<boolean>
	/**
	 * Stores a value only where there is none, in one step: of any number of simultaneous callers
	 * exactly one is answered `true`.
	 *
	 * @throws CacheFull when there is no room that may be cleared
	 */
	add(key: string, value: JsonValue, ttlSeconds: Seconds): boolean | Promise<boolean>
	/**
	 * Adds one to a counter and answers the new number, in one step. The first call answers 1 and
	 * starts the time, which later calls don't move. A whole number that `set` or `add` stored is counted on
	 * from, in the time it has.
	 *
	 * @throws TypeError when the key holds anything but a whole number below 2^53 - 1
	 * @throws CacheFull when there is no room that may be cleared
	 */
	increment(key: string, ttlSeconds: Seconds): number | Promise<number>
}

/**
 * Thrown by `add` and `increment` when everything held must be kept. The message names the option to raise:
 * `max` counts entries, `maxBytes` their size.
 */
export class CacheFull extends Error {
	override readonly name = 'CacheFull' as const

	constructor(limit: number, option: 'max' | 'maxBytes' = 'max') {
		super(
			option === 'max'
				? `the cache holds ${limit} entries that may not be forgotten yet: raise max`
				: `the cache has no room under ${limit} bytes that may be cleared yet: raise maxBytes`,
		)
	}
}
