/**
 * `RedisCache`: a `Cache` that processes share, over the user's own client of ioredis, iovalkey or node-redis.
 * For what several processes must agree on: nonces, limits, idempotency keys. Calls go out by `redis-link.ts`, with shares
 * as scripts of `shares.ts`.
 */
import { numberIn, oneOf, optional, optionsOf, or, such } from '../../base/options.ts'
import type { Bytes, Seconds } from '../../base/time.ts'
import { type Cache, CacheUnavailable, type JsonValue } from '../cache.ts'
import { checkKey, toMilliseconds, toText } from '../entry.ts'
import { LEAST_BYTES, ownerOf } from '../shares.ts'
import { adapterOf, type RedisClient } from './client.ts'
import { MaxmemoryPolicy } from './policy.ts'
import { type Call, RedisLink } from './redis-link.ts'
import { type Ask, INCREMENT, redisKey, runScript, type Script } from './scripts.ts'
import { ADD, DELETE, INCREMENT_SHARED, roomOf, runShared, SET } from './shares.ts'

export type { IoredisClient, NodeRedisClient, RedisClient } from './client.ts'

/** How a `RedisCache` uses its Redis. */
export interface RedisCacheOptions {
	/**
	 * Prefix of every key, so that programs can share a Redis; the same in all processes of a program. May be empty.
	 *
	 * @default 'verbena:'
	 */
	readonly prefix?: string
	/**
	 * Says that Redis' `maxmemory-policy` is `noeviction`, for a managed service that forbids both CONFIG GET and
	 * INFO; then it isn't read. Where that isn't true, a used nonce may be forgotten and a request replayed.
	 *
	 * @default it is read
	 */
	readonly maxmemoryPolicy?: 'noeviction'
	/**
	 * Bytes of Redis that callers share: nonces, counts, and idempotency keys with their answers. From 1,048,576 up;
	 * `Infinity` lets each fill all of it. The same in all processes of a program.
	 *
	 * @default three quarters of Redis' `maxmemory`; 1 GiB where that isn't set, or can't be read
	 */
	readonly maxBytes?: Bytes
	/**
	 * Timeout of a call, connection and reply together; then it rejects with `CacheUnavailable`. Above 0, at most 86,400.
	 * Clients by themselves may wait for ever.
	 *
	 * @default 1
	 */
	readonly timeoutSeconds?: Seconds
}

// Half of a surrogate pair would be U+FFFD as UTF-8, and programs with different prefixes would have one.
const prefixText = such<string>(
	'a string without half of a surrogate pair',
	(value) => typeof value === 'string' && !/\p{Surrogate}/u.test(value),
)

/**
 * A cache in Redis; tested with 7.0.
 *
 *     import { Redis } from 'ioredis'
 *     const cache = new RedisCache(new Redis(), { prefix: 'blog:' })
 *     await cache.add('nonce:1', true, 60) // true
 *     createServer({ blog: new Blog() }, { cache })
 *
 * - Each method is one command, so that of all processes that `add` a key exactly one gets `true`, and each `increment`
 *   its own number. GET, SET, DEL, EVAL and EVALSHA are used, beside CONFIG GET or INFO.
 * - Every call settles within `timeoutSeconds` (and a sixteenth, as the timer is coarse). Where Redis is down,
 *   silent, loading, or answers what this cache can't have stored, it rejects with `CacheUnavailable`; at once where that
 *   has lasted for the timeout already. It works again when the client has reconnected.
 * - After a `CacheUnavailable` it isn't known whether a `set`, `delete`, `add` or `increment` was or will be carried out:
 *   ioredis repeats commands after a lost connection. An `add` that was carried out returns `false` the next time, so that
 *   what relies on it refuses.
 * - Where a server says that it is a replica, such as a demoted primary, the connection is closed, and the client reconnects
 *   to whatever has the name or address by then. Until that is a primary, writes are refused.
 * - The first `add` or `increment` on a connection, and then one a minute, reads `maxmemory-policy`. They are
 *   refused with `CacheUnavailable` for all but `noeviction`, as Redis could forget what they promise.
 * - Redis that is out of memory refuses `set`, `add` and `increment` with `CacheFull`. What the key held stays.
 * - Of `maxBytes`, which by default is three quarters of Redis' `maxmemory`, each caller (a user, a signing key, a network)
 *   has a share, as in a `MemoryCache`: past it only that caller is refused, by a `CacheFull` whose `scope` is `'caller'`.
 * - What Redis itself loses is lost: nonces, at a restart without `appendonly yes` and `appendfsync always`, and
 *   at a failover to a replica.
 *
 * Node-redis emits `error` for each lost connection, which would end the process: where there is no listener, an empty one
 * is added. The caller closes the client.
 */
export class RedisCache implements Cache {
	readonly #link: RedisLink
	readonly #prefix: string
	readonly #maxBytes: Bytes | undefined
	/** `undefined` where the option says that it is `noeviction`. */
	readonly #policy: MaxmemoryPolicy | undefined

	/**
	 * @throws TypeError for a client that is none of those, for an option that there isn't, or of another kind
	 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400, or a `maxBytes` below 1 MiB
	 */
	constructor(client: RedisClient, options: RedisCacheOptions = {}) {
		const { prefix, maxmemoryPolicy, maxBytes, timeoutSeconds } = optionsOf('RedisCache', options, {
			prefix: or(prefixText, 'verbena:'),
			maxmemoryPolicy: optional(oneOf('noeviction')),
			maxBytes: optional(numberIn({ from: LEAST_BYTES, orInfinity: true })),
			timeoutSeconds: or(numberIn({ above: 0, to: 86_400 }), 1),
		})
		this.#link = new RedisLink(adapterOf(client), timeoutSeconds)
		this.#prefix = prefix
		this.#maxBytes = maxBytes
		this.#policy = maxmemoryPolicy === undefined ? new MaxmemoryPolicy() : undefined
	}

	/**
	 * The value; `undefined` where there is none or its time is over.
	 *
	 * @throws TypeError when the key isn't a string
	 * @throws CacheUnavailable where Redis can't answer, or the key holds no JSON, as another program's may
	 */
	async get(key: string): Promise<JsonValue | undefined> {
		const name = this.#nameOf(key)
		const held = await this.#link.within((call) => call.ask('GET', name))
		return held === null ? undefined : parse(key, held)
	}

	/**
	 * Stores a value for `ttlSeconds`, in place of what was there.
	 *
	 * @throws TypeError when the key isn't a string, or JSON can't say the value
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheUnavailable where Redis can't answer
	 * @throws CacheFull where it is out of memory, or the caller's share is full; the key holds what it did
	 */
	async set(key: string, value: JsonValue, ttlSeconds: Seconds): Promise<void> {
		const name = this.#nameOf(key)
		const time = timeOf(ttlSeconds)
		const text = toText(key, value)
		const plain = (ask: Ask) => ask('SET', name, text, 'PX', time)
		const answer = await this.#run({ key, name, plain, script: SET, time, text })
		if (answer !== 'OK') throw nonsense('SET')
	}

	/**
	 * Forgets a value; answers whether there was one.
	 *
	 * @throws TypeError when the key isn't a string
	 * @throws CacheUnavailable where Redis can't answer
	 */
	async delete(key: string): Promise<boolean> {
		const name = this.#nameOf(key)
		const plain = (ask: Ask) => ask('DEL', name)
		const deleted = numberFrom(await this.#run({ key, name, plain, script: DELETE }))
		if (deleted !== 0 && deleted !== 1) throw nonsense('DEL')
		return deleted === 1
	}

	/**
	 * Stores a value where there is none and answers whether it did; kept until its time.
	 *
	 * @throws TypeError when the key isn't a string, or JSON can't say the value
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheUnavailable where Redis can't answer, or its `maxmemory-policy` isn't `noeviction`
	 * @throws CacheFull where it is out of memory, or the caller's share is full
	 */
	async add(key: string, value: JsonValue, ttlSeconds: Seconds): Promise<boolean> {
		const name = this.#nameOf(key)
		const time = timeOf(ttlSeconds)
		const text = toText(key, value)
		const plain = (ask: Ask) => ask('SET', name, text, 'PX', time, 'NX')
		const answer = await this.#promise({ key, name, plain, script: ADD, time, text })
		if (answer !== 'OK' && answer !== null) throw nonsense('SET NX')
		return answer === 'OK'
	}

	/**
	 * Adds one to a counter and answers the new number; kept until its time, which the first call starts.
	 *
	 * @throws TypeError when the key isn't a string, or holds anything but a whole number below 2^53 - 1
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheUnavailable where Redis can't answer, or its `maxmemory-policy` isn't `noeviction`
	 * @throws CacheFull where it is out of memory, or the caller's share is full and the counter new
	 */
	async increment(key: string, ttlSeconds: Seconds): Promise<number> {
		const name = this.#nameOf(key)
		const time = timeOf(ttlSeconds)
		const plain = (ask: Ask) => runScript(ask, INCREMENT, '1', name, time)
		const answer = await this.#promise({ key, name, plain, script: INCREMENT_SHARED, time })
		if (answer === null) {
			throw new TypeError(
				`increment counts in whole numbers below 2^53 - 1, and '${key}' holds something else`,
			)
		}
		const count = numberFrom(answer)
		if (!Number.isSafeInteger(count)) throw nonsense('EVAL')
		return count
	}

	/**
	 * A write that changes nothing, for the option `health`: it fails on a server that takes no writes.
	 *
	 * @throws CacheUnavailable where Redis can't answer, or takes no writes, as a replica does
	 */
	async check(): Promise<void> {
		const deleted = numberFrom(await this.#link.within((call) => call.ask('DEL', this.#prefix + UNUSED)))
		if (deleted !== 0) throw nonsense('DEL')
	}

	/** Runs what must not be evicted, after checking Redis' policy. */
	#promise(work: Work): Promise<unknown> {
		return this.#link.within(async (call) => {
			await this.#policy?.check(call)
			return this.#share(call, (...command) => call.askOnce(...command), work)
		})
	}

	#run(work: Work): Promise<unknown> {
		return this.#link.within((call) => this.#share(call, (...command) => call.ask(...command), work))
	}

	/** Runs it; as a script that checks the share where the entry counts towards a caller's. */
	async #share(call: Call, ask: Ask, { key, name, plain, script, time, text }: Work): Promise<unknown> {
		const owner = ownerOf(key)
		if (owner === undefined) return plain(ask)
		const maxmemory = this.#maxBytes === undefined ? await this.#policy?.maxmemory(call) : undefined
		const room = roomOf(this.#maxBytes, maxmemory ?? 0)
		if (room === undefined) return plain(ask)
		return runShared(ask, script, { prefix: this.#prefix, name, owner, room }, time, text)
	}

	/** The key as Redis has it. */
	#nameOf(key: string): string {
		checkKey(key)
		return this.#prefix + redisKey(key)
	}
}

interface Work {
	readonly key: string
	/** The key as Redis has it. */
	readonly name: string
	/** The command where there are no shares. */
	plain(ask: Ask): Promise<unknown>
	/** The script where there are. */
	readonly script: Script
	readonly time?: string
	readonly text?: string
}

/** A key that never exists. */
const UNUSED = '\0check'

/** Bounded, as Redis adds the time of day and takes at most 2^63 - 1. */
function timeOf(ttlSeconds: Seconds): string {
	return String(Math.min(toMilliseconds(ttlSeconds), Number.MAX_SAFE_INTEGER))
}

function parse(key: string, held: unknown): JsonValue {
	// Clients may be configured to return bytes; GET never returns a number.
	if (typeof held !== 'string' && !(held instanceof Uint8Array)) throw nonsense('GET')
	try {
		return JSON.parse(String(held)) as JsonValue // JSON.parse returns nothing else.
	} catch (error) {
		throw new CacheUnavailable(
			`Redis holds what isn't JSON under '${key}': give the cache a prefix of its own`,
			{
				cause: error,
			},
		)
	}
}

/** A whole number, which clients may return as text or bytes; NaN for all else. */
function numberFrom(answer: unknown): number {
	if (typeof answer === 'number') return answer
	const text = answer instanceof Uint8Array ? Buffer.from(answer).toString() : answer
	return typeof text === 'string' && /^-?\d+$/.test(text) ? Number(text) : Number.NaN
}

function nonsense(command: string): CacheUnavailable {
	return new CacheUnavailable(`Redis answered ${command} by something else than it does`)
}
