/** `remember`: reads a value through the cache, loading it once for all concurrent callers. */
import { attached } from '../base/attached.ts'
import { isThenable } from '../base/thenable.ts'
import type { Seconds } from '../base/time.ts'
import type { Cache, JsonValue } from './cache.ts'
import { checkKey, toMilliseconds, toText } from './entry.ts'

/**
 * `T` if JSON preserves it, otherwise `never`: for a bigint, a symbol, a function, and so for anything with methods (a Date,
 * a Map, a class instance). Unlike `JsonValue` it accepts interfaces, optional members and, unchecked, `unknown`.
 */
export type Storable<T> = unknown extends T
	? T
	: T extends bigint | symbol | ((...args: never) => unknown)
		? never
		: T extends Primitive
			? T
			: { [Name in keyof T]: Storable<T[Name]> }

type Primitive = string | number | boolean | null | undefined

/** Options of `remember`. */
export interface RememberOptions {
	/**
	 * Called with an error of the cache, for a log. An error that it throws goes to the caller.
	 * @default errors are ignored
	 */
	readonly onError?: (error: unknown) => void
}

/** Loads in progress, attached to the cache so that concurrent calls share them. */
const LOADS: unique symbol = Symbol('verbena.loads')

/**
 * The value in `cache` under `key`; without one, the value of `load`, which is stored for `ttlSeconds`.
 *
 *     const article = await remember(cache, `article:${id}`, 60, () => articles.find(id))
 *
 * - Concurrent calls in this process for the same cache and key share one `load`, with the first call's `ttlSeconds` and
 *   options. There is no timeout: `load` must settle by itself.
 * - Each caller gets its own copy, made by JSON, whether it is from the cache or not.
 * - A failure is never stored: all waiting calls reject with it, and the next one loads again.
 * - `undefined` is returned and not stored, so the next call loads again. Return null for what doesn't exist.
 * - If the cache fails, `onError` is called and the value is loaded. If it hangs, so does the call.
 * - A `delete` while `load` runs doesn't prevent its value from being stored.
 *
 * @throws TypeError if the key isn't a string, or JSON can't represent what `load` returns
 * @throws RangeError if `ttlSeconds` isn't a finite number above 0
 */
export async function remember<T extends Primitive | (object & { [Name in keyof T]: Storable<T[Name]> })>(
	cache: Cache,
	key: string,
	ttlSeconds: Seconds,
	load: () => T | Promise<T>,
	options: RememberOptions = {},
): Promise<T> {
	checkKey(key)
	toMilliseconds(ttlSeconds) // Checked here: thrown by `set`, the error would count as a failure of the cache.
	const loads = attached(cache, LOADS, () => new Map<string, Promise<string | undefined>>())
	const inProgress = loads.get(key)
	if (inProgress !== undefined) return parse<T>(await inProgress)

	const call = { cache, key, ttlSeconds, load, onError: options.onError }
	const cached = readCache(call)
	// Most calls with a `MemoryCache` end here: it returns a new copy, not a promise.
	if (cached !== undefined && !isThenable(cached)) return cached as T
	const text = cachedOrLoaded(call, cached).finally(() => loads.delete(key))
	loads.set(key, text)
	return parse<T>(await text)
}

interface Call {
	readonly cache: Cache
	readonly key: string
	readonly ttlSeconds: Seconds
	readonly load: () => unknown
	readonly onError: RememberOptions['onError']
}

type Cached = JsonValue | undefined

function readCache({ cache, key, onError }: Call): Cached | Promise<Cached> {
	try {
		return cache.get(key)
	} catch (error) {
		onError?.(error)
		return undefined
	}
}

/** The JSON text of the cached or loaded value, which each caller parses. */
async function cachedOrLoaded(call: Call, cached: Cached | Promise<Cached>): Promise<string | undefined> {
	const { cache, key, ttlSeconds, load } = call
	const found = await orUndefined(call, () => cached)
	if (found !== undefined) return toText(key, found)
	const loaded = await load()
	if (loaded === undefined) return undefined
	const text = toText(key, loaded)
	// `toText` has checked that it is a JsonValue.
	await orUndefined(call, () => cache.set(key, loaded as JsonValue, ttlSeconds))
	return text
}

/** The result of a cache operation; `undefined` if it fails. */
async function orUndefined<T>({ onError }: Call, work: () => T | Promise<T>): Promise<T | undefined> {
	try {
		return await work()
	} catch (error) {
		onError?.(error)
		return undefined
	}
}

function parse<T>(text: string | undefined): T {
	// `Storable<T>` says that JSON preserves a T; `undefined` is returned only if T includes it.
	return (text === undefined ? undefined : JSON.parse(text)) as T
}
