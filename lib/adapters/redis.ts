/**
 * `RedisCache`: a `Cache` that processes share, over the user's own client of ioredis, iovalkey or node-redis.
 * For what several processes must agree on: nonces, limits, idempotency keys.
 */
import { type Cache, CacheUnavailable, type JsonValue } from '../cache/cache.ts'
import { checkKey, toMilliseconds, toText } from '../cache/entry.ts'
import type { Seconds } from '../time.ts'
import { linkOf, type RedisClient } from './redis/client.ts'
import { INCREMENT } from './redis/counting.ts'
import { Line } from './redis/line.ts'
import { type RedisCacheOptions, settingsOf } from './redis/options.ts'
import { MaxmemoryPolicy } from './redis/policy.ts'

export type { IoredisClient, NodeRedisClient, RedisClient } from './redis/client.ts'
export type { RedisCacheOptions } from './redis/options.ts'

/**
 * A cache in Redis; tested with 7.0.
 *
 *     import { Redis } from 'ioredis'
 *     const cache = new RedisCache(new Redis(), { prefix: 'blog:' })
 *     await cache.add('nonce:1', true, 60) // true
 *     createServer({ blog: new Blog() }, { cache })
 *
 * - Each method is one command, so that of all processes that `add` a key one is answered `true`, and each
 *   `increment` has a number of its own. GET, SET, DEL and EVAL are used, beside CONFIG GET or INFO.
 * - Every call settles within `timeoutSeconds` (and a sixteenth, for the timer is coarse). Where Redis is down,
 *   silent, still loading, or answers what this cache can't have stored, it rejects with `CacheUnavailable`; where
 *   that was so for as long already, at once. It works again when the client has connected again.
 * - After a `CacheUnavailable` it isn't known whether a `set`, `delete`, `add` or `increment` was carried out, or
 *   will be: ioredis repeats what was under way when a connection was lost. An `add` that was is answered `false`
 *   the next time: what relies on it refuses, and lets nothing pass.
 * - A server that says it is a replica, as a primary does that was demoted, is left: the connection is closed, and the
 *   client makes another to whatever has the name or address by then. Until it is a primary's, writes are refused.
 * - The first `add` or `increment` on a connection, and then one a minute, reads `maxmemory-policy`. They are
 *   refused with `CacheUnavailable` for all but `noeviction`, as Redis could forget what they promise.
 * - Redis that is out of memory refuses `set`, `add` and `increment` with `CacheFull`. What the key held stays.
 * - What Redis itself loses is lost: nonces, at a restart without `appendonly yes` and `appendfsync always`, and
 *   at a failover to a replica.
 *
 * Node-redis emits `error` for each connection that is lost, which would end the process: where nobody listens to
 * it, a listener is added that does nothing else. The client is the caller's to close.
 */
export class RedisCache implements Cache {
	readonly #line: Line
	readonly #prefix: string
	/** `undefined` where it was told. */
	readonly #policy: MaxmemoryPolicy | undefined

	/**
	 * @throws TypeError for a client that is none of those, for an option that there isn't, or of another kind
	 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400
	 */
	constructor(client: RedisClient, options: RedisCacheOptions = {}) {
		const { prefix, maxmemoryPolicy, timeoutSeconds } = settingsOf(options)
		this.#line = new Line(linkOf(client), timeoutSeconds)
		this.#prefix = prefix
		this.#policy = maxmemoryPolicy === undefined ? new MaxmemoryPolicy() : undefined
	}

	/**
	 * The value; `undefined` where there is none or its time is over.
	 *
	 * @throws TypeError when the key isn't a string
	 * @throws CacheUnavailable where Redis can't answer, or the key holds what isn't JSON: it is somebody else's
	 */
	async get(key: string): Promise<JsonValue | undefined> {
		const name = this.#nameOf(key)
		const held = await this.#line.within((talk) => talk.ask('GET', name))
		return held === null ? undefined : parse(key, held)
	}

	/**
	 * Stores a value for `ttlSeconds`, in place of what was there.
	 *
	 * @throws TypeError when the key isn't a string, or JSON can't say the value
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheUnavailable where Redis can't answer
	 * @throws CacheFull where it is out of memory; the key holds what it did
	 */
	async set(key: string, value: JsonValue, ttlSeconds: Seconds): Promise<void> {
		const name = this.#nameOf(key)
		const time = timeOf(ttlSeconds)
		const text = toText(key, value)
		const answer = await this.#line.within((talk) => talk.ask('SET', name, text, 'PX', time))
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
		const deleted = numberIn(await this.#line.within((talk) => talk.ask('DEL', name)))
		if (deleted !== 0 && deleted !== 1) throw nonsense('DEL')
		return deleted === 1
	}

	/**
	 * Stores a value where there is none and answers whether it did; kept until its time.
	 *
	 * @throws TypeError when the key isn't a string, or JSON can't say the value
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheUnavailable where Redis can't answer, or its `maxmemory-policy` isn't `noeviction`
	 * @throws CacheFull where it is out of memory
	 */
	async add(key: string, value: JsonValue, ttlSeconds: Seconds): Promise<boolean> {
		const name = this.#nameOf(key)
		const time = timeOf(ttlSeconds)
		const text = toText(key, value)
		const answer = await this.#promise(['SET', name, text, 'PX', time, 'NX'])
		if (answer !== 'OK' && answer !== null) throw nonsense('SET NX')
		return answer === 'OK'
	}

	/**
	 * Adds one to a counter and answers the new number; kept until its time, which the first call starts.
	 *
	 * @throws TypeError when the key isn't a string, or holds anything but a whole number below 2^53 - 1
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheUnavailable where Redis can't answer, or its `maxmemory-policy` isn't `noeviction`
	 * @throws CacheFull where it is out of memory
	 */
	async increment(key: string, ttlSeconds: Seconds): Promise<number> {
		const name = this.#nameOf(key)
		const answer = await this.#promise(['EVAL', INCREMENT, '1', name, timeOf(ttlSeconds)])
		if (answer === null) {
			throw new TypeError(
				`increment counts in whole numbers below 2^53 - 1, and '${key}' holds something else`,
			)
		}
		const count = numberIn(answer)
		if (!Number.isSafeInteger(count)) throw nonsense('EVAL')
		return count
	}

	/**
	 * Writes nothing, as a write: for the option `health`, which so is told of a server that takes none.
	 *
	 * @throws CacheUnavailable where Redis can't answer, or takes no writes, as a replica does
	 */
	async check(): Promise<void> {
		const deleted = numberIn(await this.#line.within((talk) => talk.ask('DEL', this.#prefix + UNUSED)))
		if (deleted !== 0) throw nonsense('DEL')
	}

	/** Runs what promises something, where Redis keeps its promises. */
	#promise(command: readonly string[]): Promise<unknown> {
		return this.#line.within(async (talk) => {
			await this.#policy?.check(talk)
			return talk.askOnce(...command)
		})
	}

	/** The key as Redis has it. */
	#nameOf(key: string): string {
		checkKey(key)
		return this.#prefix + (UNSAYABLE.test(key) ? MARK + Buffer.from(key, 'utf16le').toString('hex') : key)
	}
}

/** A key that there never is. */
const UNUSED = '\0check'

/** What stands before a key that UTF-8 can't say. */
const MARK = '\0utf16:'

/**
 * Half a surrogate pair, which as UTF-8 would be U+FFFD, and one entry with every other half; and what looks like
 * a key that was written otherwise because of it.
 */
const UNSAYABLE = /^\0utf16:|\p{Surrogate}/u

/** Redis adds the time of day and takes no more than 2^63 - 1 for the sum. */
function timeOf(ttlSeconds: Seconds): string {
	return String(Math.min(toMilliseconds(ttlSeconds), Number.MAX_SAFE_INTEGER))
}

function parse(key: string, held: unknown): JsonValue {
	// Bytes are what a client answers that was told so; a number is nothing that GET answers.
	if (typeof held !== 'string' && !(held instanceof Uint8Array)) throw nonsense('GET')
	try {
		return JSON.parse(String(held)) as JsonValue // JSON.parse answers nothing else.
	} catch (error) {
		throw new CacheUnavailable(
			`Redis holds what isn't JSON under '${key}': give the cache a prefix of its own`,
			{
				cause: error,
			},
		)
	}
}

/** A whole number, which some clients are told to answer as text or bytes; NaN for all else, as for what is empty. */
function numberIn(answer: unknown): number {
	if (typeof answer === 'number') return answer
	const text = answer instanceof Uint8Array ? Buffer.from(answer).toString() : answer
	return typeof text === 'string' && /^-?\d+$/.test(text) ? Number(text) : Number.NaN
}

function nonsense(command: string): CacheUnavailable {
	return new CacheUnavailable(`Redis answered ${command} by something else than it does`)
}
