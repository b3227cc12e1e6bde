/**
 * The parts of an entry: a key, a JSON text and a time to live, with the checks that all caches share. Used by ours and by
 * `remember`; adapters should use them too.
 */
import type { Milliseconds, Seconds } from '../base/time.ts'

/**
 * Refuses a key that isn't a string: `1` and `'1'` would be one entry in a store and two in another.
 *
 * @throws TypeError
 */
export function checkKey(key: unknown): asserts key is string {
	if (typeof key !== 'string') throw new TypeError(`a cache key must be a string, got ${wordFor(key)}`)
}

/**
 * A value as the JSON text that is stored.
 *
 * The value itself must be one that JSON can represent. Within it `JSON.stringify` decides, as for a reply: a member that
 * is `undefined` or a function is left out, `NaN` is null, a Date is its text.
 *
 * @throws TypeError naming the key, for `undefined`, a function, a symbol, a bigint, `NaN`, an infinity, and
 * for an object that is cyclic, nested too deeply or holds a bigint
 */
export function toText(key: string, value: unknown): string {
	if (typeof value === 'number' && !Number.isFinite(value)) throw unsayable(key, String(value))
	const text = stringify(key, value)
	if (text === undefined) throw unsayable(key, wordFor(value))
	return text
}

/**
 * A time to live in whole milliseconds, rounded up, so that no cache ends an entry before its time.
 *
 * @throws RangeError when it isn't a finite number above 0
 */
export function toMilliseconds(ttlSeconds: Seconds): Milliseconds {
	if (!Number.isFinite(ttlSeconds) || ttlSeconds <= 0) {
		const found = typeof ttlSeconds === 'number' ? String(ttlSeconds) : wordFor(ttlSeconds)
		throw new RangeError(`ttlSeconds must be a finite number above 0, got ${found}`)
	}
	// 2.007 * 1000 is 2007.0000000000002: less than a nanosecond is a rounding error.
	return Math.max(1, Math.ceil(ttlSeconds * 1_000 - 1e-6))
}

/**
 * A key sliced from a longer text (a header) keeps all of that text in memory, as V8 makes a slice a view: a client could
 * fill the memory with few entries. Joining and slicing again makes a text of the key's own size.
 */
export function ownCopy(key: string): string {
	return ` ${key}`.slice(1)
}

function stringify(key: string, value: unknown): string | undefined {
	try {
		return JSON.stringify(value)
	} catch (error) {
		throw unsayable(key, wordFor(value), error)
	}
}

function unsayable(key: string, found: string, cause?: unknown): TypeError {
	const why = cause instanceof Error ? ` (${cause.message.split('\n', 1)[0]})` : ''
	const message = `the cache keeps JSON, which can't say the value for '${key}': got ${found}${why}`
	return new TypeError(message, cause === undefined ? undefined : { cause })
}

function wordFor(value: unknown): string {
	if (value === undefined || value === null) return String(value)
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
