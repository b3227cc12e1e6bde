/** What a `RedisCache` can be told, its defaults and checks. */

import { nearest } from '../../base/options.ts'
import type { Bytes, Seconds } from '../../base/time.ts'
import { LEAST_BYTES } from '../shares.ts'

/** How a `RedisCache` uses its Redis. */
export interface RedisCacheOptions {
	/**
	 * What stands before every key, so that programs can share a Redis. All processes of one program need the
	 * same one. May be empty.
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
	 * @default three quarters of Redis' `maxmemory`; 1 GiB where that isn't set, or not told
	 */
	readonly maxBytes?: Bytes
	/**
	 * How long a call takes at most, for a connection and for the answer; then it rejects with
	 * `CacheUnavailable`. Above 0, at most 86,400. Clients by themselves may wait for ever.
	 *
	 * @default 1
	 */
	readonly timeoutSeconds?: Seconds
}

export interface RedisCacheSettings {
	readonly prefix: string
	readonly maxmemoryPolicy: 'noeviction' | undefined
	readonly maxBytes: Bytes | undefined
	readonly timeoutSeconds: Seconds
}

const NAMES = ['prefix', 'maxmemoryPolicy', 'maxBytes', 'timeoutSeconds']

/** Longer than a day nobody waits. */
const MOST_SECONDS: Seconds = 86_400

/**
 * The options with their defaults.
 *
 * @throws TypeError for an option that there isn't, or of another kind
 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400, or a `maxBytes` below 1 MiB
 */
export function settingsOf(options: RedisCacheOptions): RedisCacheSettings {
	if (typeof options !== 'object' || options === null)
		throw new TypeError(`the options of RedisCache must be an object, got ${shown(options)}`)
	const unknown = Object.keys(options).find((name) => !NAMES.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`RedisCache has no option ${unknown}${nearest(unknown, NAMES)}`)
	const { prefix = 'verbena:', maxmemoryPolicy, maxBytes, timeoutSeconds = 1 } = options
	if (typeof prefix !== 'string') throw new TypeError(`prefix must be a string, got ${shown(prefix)}`)
	// As UTF-8 it would be U+FFFD, and programs with different prefixes would have one.
	if (/\p{Surrogate}/u.test(prefix))
		throw new TypeError(`prefix must be text, got ${shown(prefix)} with half of a surrogate pair`)
	if (maxmemoryPolicy !== undefined && maxmemoryPolicy !== 'noeviction')
		throw new TypeError(`maxmemoryPolicy must be 'noeviction', got ${shown(maxmemoryPolicy)}`)
	if (maxBytes !== undefined && typeof maxBytes !== 'number')
		throw new TypeError(`maxBytes must be a number, got ${shown(maxBytes)}`)
	if (maxBytes !== undefined && !(maxBytes >= LEAST_BYTES))
		throw new RangeError(`maxBytes must be from ${LEAST_BYTES} up, got ${maxBytes}`)
	if (typeof timeoutSeconds !== 'number')
		throw new TypeError(`timeoutSeconds must be a number, got ${shown(timeoutSeconds)}`)
	if (!(timeoutSeconds > 0 && timeoutSeconds <= MOST_SECONDS))
		throw new RangeError(`timeoutSeconds must be above 0 and at most ${MOST_SECONDS}, got ${timeoutSeconds}`)
	return { prefix, maxmemoryPolicy, maxBytes, timeoutSeconds }
}

function shown(value: unknown): string {
	if (typeof value === 'string') return JSON.stringify(value)
	return value === undefined || value === null || typeof value === 'number'
		? String(value)
		: `a ${typeof value}`
}
