/**
 * `RedisCache`: a `Cache` shared by processes, over the user's client of ioredis, iovalkey or node-redis: for nonces, limits
 * and idempotency keys. Commands are sent by `redis-link.ts`; the scripts of `shares.ts` enforce shares.
 */
import { numberIn, oneOf, optional, optionsOf, or, such } from '../../base/options.ts'
import type { Bytes, Seconds } from '../../base/time.ts'
import { type Cache, CacheUnavailable, type JsonValue } from '../cache.ts'
import { checkKey, notCountable, toMilliseconds, toText } from '../entry.ts'
import { MIN_BYTES, type Owner, ownerOf } from '../shares.ts'
import { adapterOf, type RedisClient } from './client.ts'
import { MaxmemoryPolicy } from './policy.ts'
import { RedisLink } from './redis-link.ts'
import { INCREMENT, redisKey, runScript, type Script, type Send } from './scripts.ts'
import { ADD, DELETE, INCREMENT_SHARED, roomOf, runShared, SET } from './shares.ts'
import { TAGS, tag, tagFor, tagOf } from './slots.ts'

export type {
	IoredisClient,
	IoredisCluster,
	NodeRedisClient,
	NodeRedisCluster,
	NodeRedisSentinel,
	RedisClient,
} from './client.ts'

/** How a `RedisCache` uses its Redis. */
export interface RedisCacheOptions {
	/**
	 * Prefix of all keys, so that programs can share a Redis; the same in all processes of a program. May be empty. With a hash tag
	 * (`'{blog}:'`), all keys are at one server of a Redis Cluster.
	 *
	 * @default 'verbena:'
	 */
	readonly prefix?: string
	/**
	 * Asserts that Redis' `maxmemory-policy` is `noeviction`, for a managed service that forbids both CONFIG GET and INFO. If
	 * that isn't true, a used nonce may be evicted and a request replayed.
	 *
	 * @default read from Redis
	 */
	readonly maxmemoryPolicy?: 'noeviction'
	/**
	 * Bytes of Redis that callers share, for nonces, counters, and idempotency keys with their replies. From 1,048,576 up;
	 * with `Infinity` each caller may fill all of Redis. The same in all processes of a program. In a Redis Cluster, a caller shares a
	 * sixteenth of them with others.
	 *
	 * @default three quarters of Redis' `maxmemory`, in a cluster that of one server; 1 GiB if that isn't set or can't be read
	 */
	readonly maxBytes?: Bytes
	/**
	 * Timeout of a call, including the wait for a connection: a longer call rejects with `CacheUnavailable`. Above 0, at most
	 * 86,400. Without it, clients may wait for ever.
	 *
	 * @default 1
	 */
	readonly timeoutSeconds?: Seconds
}

// UTF-8 encoding replaces a lone surrogate with U+FFFD, so different prefixes could become the same.
const prefixText = such<string>(
	'a string without lone surrogates',
	(value) => typeof value === 'string' && !/\p{Surrogate}/u.test(value),
)

/**
 * A cache in Redis, Redis Cluster, or behind Sentinel; tested with 7.0.
 *
 *     import { Redis } from 'ioredis'
 *     const cache = new RedisCache(new Redis(), { prefix: 'blog:' })
 *     await cache.add('nonce:1', true, 60) // true
 *     createServer({ blog: new Blog() }, { cache })
 *
 * - Each method is one atomic command: if several processes `add` the same key, exactly one gets `true`, and each
 *   `increment` returns another number. GET, SET, DEL, EVAL and EVALSHA are used, and CONFIG GET or INFO.
 * - Every call settles within `timeoutSeconds` (plus a sixteenth, because the timer is coarse). If Redis is down, silent, loading,
 *   or replies with anything this cache can't have stored, the call rejects with `CacheUnavailable`: immediately if Redis has
 *   failed for longer than the timeout. The cache works again when the client has reconnected.
 * - After a `CacheUnavailable` it isn't known whether a `set`, `delete`, `add` or `increment` was or will be carried out:
 *   ioredis repeats commands after a lost connection. If an `add` was carried out after all, its repetition returns
 *   `false`, and the request that relies on it is refused.
 * - If the server is a replica, such as a demoted primary, the connection is closed, and the client reconnects to the server
 *   that has the address by then. Until that server is a primary, writes are refused.
 * - The first `add` or `increment` on a connection, and then one a minute, reads `maxmemory-policy`. Unless it is
 *   `noeviction`, both methods reject with `CacheUnavailable`, because Redis could evict their entries.
 * - If Redis is out of memory, `set`, `add` and `increment` are refused with `CacheFull`. An existing entry stays.
 * - Each caller (a user, a signing key, a network) has a share of `maxBytes`, as in a `MemoryCache`. Only the caller
 *   that exceeds its share is refused, with a `CacheFull` whose `scope` is `'caller'`.
 * - Redis itself may lose nonces: at a restart without `appendonly yes` and `appendfsync always`, and at a failover to a
 *   replica.
 *
 * Node-redis emits `error` for each lost connection, which would end the process: if there is no listener, an empty one is
 * added. Your program closes the client.
 */
export class RedisCache implements Cache {
	readonly #link: RedisLink
	readonly #prefix: string
	readonly #maxBytes: Bytes | undefined
	/** `undefined` if the option `maxmemoryPolicy` says that it is `noeviction`. */
	readonly #policy: MaxmemoryPolicy | undefined
	/** Whether entries of callers have hash tags: in a cluster, unless the prefix has one. */
	readonly #hasTags: boolean

	/**
	 * @throws TypeError for an unsupported client, an unknown option, or an option of the wrong type
	 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400, or a `maxBytes` below 1 MiB
	 */
	constructor(client: RedisClient, options: RedisCacheOptions = {}) {
		const { prefix, maxmemoryPolicy, maxBytes, timeoutSeconds } = optionsOf('RedisCache', options, {
			prefix: or(prefixText, 'verbena:'),
			maxmemoryPolicy: optional(oneOf('noeviction')),
			maxBytes: optional(numberIn({ from: MIN_BYTES, orInfinity: true })),
			timeoutSeconds: or(numberIn({ above: 0, to: 86_400 }), 1),
		})
		const adapter = adapterOf(client)
		if (adapter.isCluster && /^[^{]*\{\}/.test(prefix))
			throw new TypeError('RedisCache: prefix must have no empty hash tag {} for a Redis Cluster')
		this.#link = new RedisLink(adapter, timeoutSeconds)
		this.#hasTags = adapter.isCluster && tagOf(prefix) === undefined
		this.#prefix = prefix
		this.#maxBytes = maxBytes
		this.#policy = maxmemoryPolicy === undefined ? new MaxmemoryPolicy() : undefined
	}

	/** @throws CacheUnavailable also if the value isn't JSON: it may be another program's */
	async get(key: string): Promise<JsonValue | undefined> {
		checkKey(key)
		const name = this.#prefixOf(ownerOf(key)) + redisKey(key)
		const held = await this.#link.withTimeout(name, (call) => call.send('GET', name))
		return held === null ? undefined : parse(key, held)
	}

	async set(key: string, value: JsonValue, ttlSeconds: Seconds): Promise<void> {
		checkKey(key)
		const time = timeOf(ttlSeconds)
		const text = toText(key, value)
		const plain = (send: Send, name: string) => send('SET', name, text, 'PX', time)
		const reply = await this.#run({ key, plain, script: SET, time, text })
		if (reply !== 'OK') throw invalidReply('SET')
	}

	async delete(key: string): Promise<boolean> {
		checkKey(key)
		const plain = (send: Send, name: string) => send('DEL', name)
		const deleted = numberFrom(await this.#run({ key, plain, script: DELETE }))
		if (deleted !== 0 && deleted !== 1) throw invalidReply('DEL')
		return deleted === 1
	}

	async add(key: string, value: JsonValue, ttlSeconds: Seconds): Promise<boolean> {
		checkKey(key)
		const time = timeOf(ttlSeconds)
		const text = toText(key, value)
		const plain = (send: Send, name: string) => send('SET', name, text, 'PX', time, 'NX')
		const reply = await this.#run({ key, plain, script: ADD, time, text, isKept: true })
		if (reply !== 'OK' && reply !== null) throw invalidReply('SET NX')
		return reply === 'OK'
	}

	async increment(key: string, ttlSeconds: Seconds): Promise<number> {
		checkKey(key)
		const time = timeOf(ttlSeconds)
		const plain = (send: Send, name: string) => runScript(send, INCREMENT, '1', name, time)
		const reply = await this.#run({ key, plain, script: INCREMENT_SHARED, time, isKept: true })
		if (reply === null) throw notCountable(key)
		const count = numberFrom(reply)
		if (!Number.isSafeInteger(count)) throw invalidReply('EVAL')
		return count
	}

	/**
	 * Makes a write that changes nothing, for the option `health`. In a cluster one server that accepts it is enough: while another
	 * fails over, most requests are served.
	 *
	 * @throws CacheUnavailable if Redis can't respond, or refuses writes, as a replica does
	 */
	async check(): Promise<void> {
		const tags = this.#hasTags ? Array.from({ length: TAGS }, (_, number) => tag(number)) : ['']
		const writes = tags.map(async (one) => {
			const name = this.#prefix + one + UNUSED
			const deleted = numberFrom(await this.#link.withTimeout(name, (call) => call.send('DEL', name)))
			if (deleted !== 0) throw invalidReply('DEL')
		})
		const outcomes = await Promise.allSettled(writes)
		if (outcomes.every(({ status }) => status === 'rejected')) await writes[0]
	}

	/** Runs a command. If the entry counts towards a caller's share, this is a script that checks the share. */
	#run({ key, plain, script, time, text, isKept = false }: Command): Promise<unknown> {
		const owner = ownerOf(key)
		const prefix = this.#prefixOf(owner)
		const name = prefix + redisKey(key)
		return this.#link.withTimeout(name, async (call) => {
			if (isKept) await this.#policy?.check(call)
			const send: Send = (...args) => (isKept ? call.sendOnce(...args) : call.send(...args))
			if (owner === undefined) return plain(send, name)
			const maxmemory = this.#maxBytes === undefined ? await this.#policy?.maxmemory(call) : undefined
			const room = roomOf(this.#maxBytes, maxmemory ?? 0, this.#hasTags ? TAGS : 1)
			if (room === undefined) return plain(send, name)
			return runShared(send, script, { prefix, name, owner, room }, time, text)
		})
	}

	/** The prefix of an entry, and of the counts of its owner. */
	#prefixOf(owner: Owner | undefined): string {
		return this.#hasTags && owner !== undefined ? this.#prefix + tagFor(owner) : this.#prefix
	}
}

interface Command {
	/** The cache's key; `name` is Redis' key for it. */
	readonly key: string
	/** The command without shares. */
	plain(send: Send, name: string): Promise<unknown>
	/** The script with shares. */
	readonly script: Script
	readonly time?: string
	readonly text?: string
	/** Whether the entry must not be evicted: then Redis' policy is checked, and the command must not run twice. */
	readonly isKept?: boolean
}

/** A key that never exists. */
const UNUSED = '\0check'

/** A time to live for Redis; limited, because Redis adds the time of day, and the sum must be below 2^63. */
function timeOf(ttlSeconds: Seconds): string {
	return String(Math.min(toMilliseconds(ttlSeconds), Number.MAX_SAFE_INTEGER))
}

function parse(key: string, held: unknown): JsonValue {
	// Clients may be configured to return bytes.
	if (typeof held !== 'string' && !(held instanceof Uint8Array)) throw invalidReply('GET')
	try {
		return JSON.parse(String(held)) as JsonValue // JSON.parse returns nothing else.
	} catch (error) {
		throw new CacheUnavailable(
			`Redis holds a value under '${key}' that isn't JSON: give the cache a prefix of its own`,
			{ cause: error },
		)
	}
}

/** A whole number, which clients may return as text or bytes; NaN for anything else. */
function numberFrom(reply: unknown): number {
	if (typeof reply === 'number') return reply
	const text = reply instanceof Uint8Array ? Buffer.from(reply).toString() : reply
	return typeof text === 'string' && /^-?\d+$/.test(text) ? Number(text) : Number.NaN
}

function invalidReply(command: string): CacheUnavailable {
	return new CacheUnavailable(`Redis sent an invalid reply to ${command}`)
}
