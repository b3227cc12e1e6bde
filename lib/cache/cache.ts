/**
 * The `Cache` interface, its guarantees for nonces, counters and values, its errors, and how requests are refused because of
 * them. `MemoryCache` and `redis/` implement it; limits, idempotency keys, signatures and `remember` use it, and handlers
 * as `this.cache`.
 */

import { RestError } from '../base/error.ts'
import type { Bytes, Seconds } from '../base/time.ts'

/** A JSON value. It is stored as text, so that readers never share an object. */
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
 * Values of `set` may be evicted to make room. Entries of `add` and `increment` are guarantees (a nonce is used up, a
 * request is counted): they are kept until they expire, and if there is no room for one, the call throws `CacheFull`. `set`
 * and `delete` also work on these entries; after a `set`, the entry has the new value and time to live, and is still kept.
 *
 * A cache outside the process rejects with `CacheUnavailable` in bounded time if it can't respond.
 *
 * All methods refuse a key that isn't a string (TypeError), a value that JSON can't represent (TypeError) and a
 * `ttlSeconds` that isn't a finite number above 0 (RangeError). `entry.ts` has these checks, and `cacheContract` of
 * `verbena/testing` tests all of this.
 */
export interface Cache {
	/** The value, or `undefined` if there is none or it has expired. */
	get(key: string): JsonValue | undefined | Promise<JsonValue | undefined>
	/**
	 * Stores a value for `ttlSeconds`, replacing an existing one.
	 *
	 * @throws CacheFull if there is no room, and the key may have an entry that must be kept
	 */
	set(key: string, value: JsonValue, ttlSeconds: Seconds): void | Promise<void>
	/** Deletes a value; returns whether there was one. */
	delete(key: string): boolean | Promise<boolean>
	/**
	 * Stores a value if there is none, atomically: of any number of concurrent callers exactly one gets `true`.
	 *
	 * @throws CacheFull if there is no room, and nothing may be evicted
	 */
	add(key: string, value: JsonValue, ttlSeconds: Seconds): boolean | Promise<boolean>
	/**
	 * Adds one to a counter and returns the new number, atomically. The first call returns 1 and starts the time to live,
	 * which later calls don't extend. It also increments a whole number stored by `set` or `add`, within its time to live.
	 *
	 * @throws TypeError if the key has anything but a whole number below 2^53 - 1
	 * @throws CacheFull if there is no room, and nothing may be evicted
	 */
	increment(key: string, ttlSeconds: Seconds): number | Promise<number>
	/**
	 * Checks that the store responds, for the option `health`; left out if there is nothing to check.
	 *
	 * @throws CacheUnavailable if it can't respond
	 */
	check?(): void | Promise<void>
	/** How many entries it has, for the option `metrics`; left out if that isn't known. */
	readonly size?: number
	/** How many bytes they take, for the option `metrics`; left out if that isn't known. */
	readonly bytes?: Bytes
}

/**
 * What is full: the whole cache; the room of one purpose (nonces, counters, idempotency keys, the application's entries);
 * or the share of one caller, while others still have room.
 */
export type CacheScope = 'cache' | 'purpose' | 'caller'

/** Options of `CacheFull`. */
export interface CacheFullDetails extends ErrorOptions {
	/** @default 'cache' */
	readonly scope?: CacheScope
}

/**
 * Thrown by `add` and `increment` if there is no room and all entries must be kept, and by `set` if its key may have such an
 * entry. The message names the option to raise: `max` limits entries, `maxBytes` their size, and `maxmemory` is Redis' own. A
 * request that fails with this error gets 503, or 429 if `scope` is `'caller'`.
 */
export class CacheFull extends Error {
	override readonly name = 'CacheFull' as const
	readonly scope: CacheScope

	/** `limit` is the option's value; `undefined` for Redis, which doesn't report it. */
	constructor(
		limit: number | undefined,
		option: 'max' | 'maxBytes' | 'maxmemory' = 'max',
		{ scope = 'cache', ...details }: CacheFullDetails = {},
	) {
		super(messageOf(limit, option, scope), details)
		this.scope = scope
	}
}

/**
 * Thrown by every method if a cache outside the process can't be reached, doesn't respond in time, or sends an invalid
 * reply. Whether a `set`, `add`, `delete` or `increment` was carried out is then unknown. A request that fails with this
 * error gets 503; `remember` loads the value instead.
 */
export class CacheUnavailable extends Error {
	override readonly name = 'CacheUnavailable' as const
}

function messageOf(limit: number | undefined, option: string, scope: CacheScope): string {
	const size = limit === undefined ? 'its limit' : String(limit)
	if (scope === 'caller')
		return `the caller's share of the cache is full: wait, or raise ${option} (now ${size})`
	if (scope === 'purpose')
		return `the cache has no room for more entries of this purpose: raise ${option} (now ${size})`
	if (option === 'max') return `the cache holds ${size} entries that can't be evicted yet: raise max`
	if (option === 'maxBytes')
		return `the cache has no room within ${size} bytes, and nothing more can be evicted yet: raise maxBytes`
	return 'Redis is out of memory, and evicts nothing: raise its maxmemory'
}

/**
 * The error for a request whose entry couldn't be stored: 429 with `message` if the caller's share is full, otherwise 503.
 *
 * @param cause the cache's error, or an error that describes it
 */
export function cacheRefusal(cause: unknown, message: string): RestError {
	if (!isCallerFull(cause)) return new RestError('unavailable', undefined, { cause })
	return new RestError('too_many_requests', message, { cause, headers: { 'Retry-After': '10' } })
}

/** Whether only the caller's share is full. */
export function isCallerFull(error: unknown): boolean {
	return error instanceof CacheFull && error.scope === 'caller'
}

/** Runs a cache write whose failure must not affect the result: hints, header values, released guesses. */
export async function bestEffort(work: () => void | Promise<void>): Promise<void> {
	try {
		await work()
	} catch {}
}
