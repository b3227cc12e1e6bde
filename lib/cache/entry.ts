/** Checks of keys, values and times to live, for Verbena's caches and `remember`; other caches should use them, too. */
import type { Milliseconds, Seconds } from '../base/time.ts'

/**
 * Refuses a key that isn't a string: `1` and `'1'` would be one entry in some stores and two in others.
 *
 * @throws TypeError
 */
export function checkKey(key: unknown): asserts key is string {
	if (typeof key !== 'string') throw new TypeError(`a cache key must be a string, got ${describe(key)}`)
}

/**
 * The JSON text of a value.
 *
 * The value itself must be one that JSON can represent. Within it `JSON.stringify` decides, as for a reply: members that
 * are `undefined` or functions are omitted, `NaN` becomes null, a Date its text.
 *
 * @throws TypeError naming the key, for `undefined`, a function, a symbol, a bigint, `NaN`, an infinity, a Map, a Set, a
 * promise, and for an object that is cyclic, nested too deeply or holds a bigint
 */
export function toText(key: string, value: unknown): string {
	if (typeof value === 'number' && !Number.isFinite(value)) throw notJson(key, String(value))
	let text: string | undefined
	try {
		text = JSON.stringify(value)
	} catch (error) {
		throw notJson(key, describe(value), error)
	}
	if (text === undefined) throw notJson(key, describe(value))
	if (text === '{}') refuseHidden(key, value)
	return text
}

/** Refuses a Map, a Set, a promise and others whose content JSON doesn't see. */
function refuseHidden(key: string, value: unknown): void {
	const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
	if (tag !== 'Object') throw notJson(key, `an object (${tag})`)
}

/**
 * A time to live in whole milliseconds, rounded up, so that no entry expires early.
 *
 * @throws RangeError if it isn't a finite number above 0
 */
export function toMilliseconds(ttlSeconds: Seconds): Milliseconds {
	if (!Number.isFinite(ttlSeconds) || ttlSeconds <= 0) {
		const found = typeof ttlSeconds === 'number' ? String(ttlSeconds) : describe(ttlSeconds)
		throw new RangeError(`ttlSeconds must be a finite number above 0, got ${found}`)
	}
	// 2.007 * 1000 is 2007.0000000000002: an excess below a nanosecond is a rounding error.
	return Math.max(1, Math.ceil(ttlSeconds * 1_000 - 1e-6))
}

/**
 * Copies a key. In V8, a slice of a header is a view that keeps the whole header in memory, so a client could fill memory
 * with a few entries. Concatenating and slicing again makes a string of only the key's size.
 */
export function ownCopy(key: string): string {
	return ` ${key}`.slice(1)
}

/** The error of `increment` for a key whose value isn't a whole number below 2^53 - 1. */
export function notCountable(key: string): TypeError {
	return new TypeError(`increment needs a whole number below 2^53 - 1, but '${key}' holds something else`)
}

function notJson(key: string, found: string, cause?: unknown): TypeError {
	const why = cause instanceof Error ? ` (${cause.message.split('\n', 1)[0]})` : ''
	const message = `the value for '${key}' can't be stored as JSON: got ${found}${why}`
	return new TypeError(message, cause === undefined ? undefined : { cause })
}

function describe(value: unknown): string {
	if (value === undefined || value === null) return String(value)
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
