/**
 * The cache: the `Cache` interface, with what a store must promise to hold nonces, counters and values; its errors; and
 * how a request is refused that they end. `MemoryCache` and `redis/` implement it; limits, idempotency keys, signatures
 * and `remember` use it, and handlers as `this.cache`. It calls nothing above it.
 */

import { RestError } from '../base/error.ts'
import type { Seconds } from '../base/time.ts'

/** A JSON value. It is kept as text, so that no two readers share an object. */
export type JsonValue =
	| string
	| number
	| boolean
	| null
	| readonly JsonValue[]
	| { readonly [name: string]: JsonValue }

/**
 * A store of values that expire. Every method may be synchronous or return a promise.
 *
 * Values of `set` may be evicted early, to make room. Entries of `add` and `increment` are promises (a nonce is used up, a
 * request is counted): they are kept until they expire, and where there is no room for one the call throws `CacheFull`
 * instead. `set` and `delete` also work on them; after a `set` such an entry has the new value and time to live, and is
 * still kept.
 *
 * A cache outside of the process rejects with `CacheUnavailable` where it can't answer, in bounded time.
 *
 * All refuse a key that isn't a string (TypeError), a value that JSON can't represent (TypeError) and a `ttlSeconds` that
 * isn't a finite number above 0 (RangeError). `entry.ts` has these checks, and `cacheContract` of `verbena/testing` has
 * all of this as cases for a test runner.
 */
export interface Cache {
	/** The value, or `undefined` where there is none or it has expired. */
	get(key: string): JsonValue | undefined | Promise<JsonValue | undefined>
	/**
	 * Stores a value for `ttlSeconds` (more than 0), replacing what was there.
	 *
	 * @throws CacheFull when there is no room, and the key may hold an entry that must be kept
	 */
	set(key: string, value: JsonValue, ttlSeconds: Seconds): void | Promise<void>
	/** Deletes a value; returns whether there was one. */
	delete(key: string): boolean | Promise<boolean>
	/**
	 * Stores a value only where there is none, atomically: of any number of concurrent callers exactly one gets `true`.
	 *
	 * @throws CacheFull when there is no room, and nothing may be evicted
	 */
	add(key: string, value: JsonValue, ttlSeconds: Seconds): boolean | Promise<boolean>
	/**
	 * Adds one to a counter and returns the new number, atomically. The first call returns 1 and starts the time to live,
	 * which later calls don't extend. A whole number stored by `set` or `add` is counted on from, within its own time.
	 *
	 * @throws TypeError when the key holds anything but a whole number below 2^53 - 1
	 * @throws CacheFull when there is no room, and nothing may be evicted
	 */
	increment(key: string, ttlSeconds: Seconds): number | Promise<number>
	/**
	 * Checks that the store answers, for the option `health`; left out where there is nothing to check.
	 *
	 * @throws CacheUnavailable where it can't answer
	 */
	check?(): void | Promise<void>
}

/**
 * What is full: the whole cache; one purpose (nonces, counters, idempotency keys, the application's own); or the share of
 * one caller, while others still have room.
 */
export type CacheScope = 'cache' | 'purpose' | 'caller'

/** Options of `CacheFull`. */
export interface CacheFullDetails extends ErrorOptions {
	/** @default 'cache' */
	readonly scope?: CacheScope
}

/**
 * Thrown by `add` and `increment` where all entries must be kept, and by a `set` that would have to evict such an entry.
 * The message names the option to raise: `max` counts entries, `maxBytes` their size, and `maxmemory` is Redis' own. A
 * request that it ends is answered 503, or 429 where `scope` is `'caller'`.
 */
export class CacheFull extends Error {
	override readonly name = 'CacheFull' as const
	readonly scope: CacheScope

	/** `limit` is the option's value; `undefined` for Redis, which doesn't say it. */
	constructor(
		limit: number | undefined,
		option: 'max' | 'maxBytes' | 'maxmemory' = 'max',
		{ scope = 'cache', ...details }: CacheFullDetails = {},
	) {
		super(fullness(limit, option, scope), details)
		this.scope = scope
	}
}

/**
 * Thrown by every method of a cache outside of the process that can't be reached, doesn't answer in time, or answers
 * nonsense. Whether a `set`, `add`, `delete` or `increment` was carried out is then unknown. A request that it ends is
 * answered 503; `remember` loads the value instead.
 */
export class CacheUnavailable extends Error {
	override readonly name = 'CacheUnavailable' as const
}

function fullness(limit: number | undefined, option: string, scope: CacheScope): string {
	const said = limit === undefined ? 'its limit' : String(limit)
	if (scope === 'caller')
		return `one caller holds as much of the cache as one may while others need it: wait, or raise ${option} (now ${said})`
	if (scope === 'purpose')
		return `the cache holds as much of this purpose as it may beside the others: raise ${option} (now ${said})`
	if (option === 'max') return `the cache holds ${said} entries that may not be forgotten yet: raise max`
	if (option === 'maxBytes') {
		return `the cache has no room under ${said} bytes that may be cleared yet: raise maxBytes`
	}
	return 'Redis has no room left, and clears nothing before its time: raise its maxmemory'
}

/**
 * The refusal of a request whose entry the cache couldn't take: 429 with `message` where the caller's share is full, 503
 * for everything else.
 *
 * @param cause what the cache has thrown, or an error about it
 */
export function cacheRefusal(cause: unknown, message: string): RestError {
	if (!isCallersOwn(cause)) return new RestError('unavailable', undefined, { cause })
	return new RestError('too_many_requests', message, { cause, headers: { 'Retry-After': '10' } })
}

/** Whether a cache is full for one caller alone. */
export function isCallersOwn(error: unknown): boolean {
	return error instanceof CacheFull && error.scope === 'caller'
}

/** Runs a cache write whose failure must not affect the decision: hints, headers, what is given back. */
export async function bestEffort(work: () => void | Promise<void>): Promise<void> {
	try {
		await work()
	} catch {}
}
