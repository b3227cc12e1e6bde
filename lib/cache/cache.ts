/**
 * The cache: the `Cache` interface, with what a store must promise to hold nonces, counters and values; its errors; and
 * how a request is refused that they end. `MemoryCache` and `redis/` implement it; limits, idempotency keys, signatures
 * and `remember` use it, and handlers as `this.cache`. It calls nothing above it.
 */

import { RestError } from '../base/error.ts'
import type { Seconds } from '../base/time.ts'

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
 * A cache outside of the process rejects with `CacheUnavailable` where it can't answer, in bounded time.
 *
 * All refuse a key that isn't a string (TypeError), a value that JSON can't say (TypeError) and a
 * `ttlSeconds` that isn't a finite number above 0 (RangeError). `entry.ts` has these checks, and
 * `cacheContract` of `verbena/testing` has all promises as cases for a test runner.
 */
export interface Cache {
	/** The value, or `undefined` where there is none or its time is over. */
	get(key: string): JsonValue | undefined | Promise<JsonValue | undefined>
	/**
	 * Stores a value for `ttlSeconds` (more than 0), replacing what was there.
	 *
	 * @throws CacheFull when there is no room, and what the key holds is kept or can't be told from what is
	 */
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
	/**
	 * Asks the store for a sign of life, for the option `health`; left out where there is nothing to be asked.
	 *
	 * @throws CacheUnavailable where it can't answer
	 */
	check?(): void | Promise<void>
}

/**
 * Whose room is used up: that of the whole cache; that of one purpose (nonces, counters, idempotency keys, the
 * application's own); or the share of one caller, while others still have room.
 */
export type CacheScope = 'cache' | 'purpose' | 'caller'

/** What else is known where a cache is full. */
export interface CacheFullDetails extends ErrorOptions {
	/** @default 'cache' */
	readonly scope?: CacheScope
}

/**
 * Thrown by `add` and `increment` when everything held must be kept, and by a `set` that would have to forget
 * such an entry. The message names the option to raise: `max` counts entries, `maxBytes` their size, and
 * `maxmemory` is Redis' own. A request that it ends is answered 503, or 429 where `scope` is `'caller'`.
 */
export class CacheFull extends Error {
	override readonly name = 'CacheFull' as const
	readonly scope: CacheScope

	/** `limit` is what the option says now; Redis doesn't tell it, and it is left out. */
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
 * Thrown by every method of a cache outside of the process that can't be reached, doesn't answer in time, or
 * answers what a cache can't have said. Whether a `set`, `add`, `delete` or `increment` was carried out is not
 * known then. A request that it ends is answered 503; `remember` loads the value instead.
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
