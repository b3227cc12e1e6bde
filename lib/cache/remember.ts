/** `remember`: a value from the cache, or loaded once for all who want it at the same moment. */
import type { Seconds } from '../base/time.ts'
import type { Cache, JsonValue } from './cache.ts'
import { checkKey, toMilliseconds, toText } from './entry.ts'

/**
 * `T` where JSON keeps it as it is, `never` where not: a bigint, a symbol, a function, and so whatever has
 * methods (a Date, a Map, a class instance). Unlike `JsonValue` it takes interfaces, optional members and,
 * unchecked, `unknown`.
 */
export type Storable<T> = unknown extends T
	? T
	: T extends bigint | symbol | ((...args: never) => unknown)
		? never
		: T extends Primitive
			? T
			: { [Name in keyof T]: Storable<T[Name]> }

type Primitive = string | number | boolean | null | undefined

/** What `remember` can be told beside its subject. */
export interface RememberOptions {
	/**
	 * Told what the cache failed with, for a log. What it throws itself goes to the caller.
	 * @default nothing is told
	 */
	readonly onError?: (error: unknown) => void
}

/**
 * Loads under way, by cache and key. It must outlive the calls, for what it does is to let them meet; a cache
 * that nobody holds takes its entry along.
 */
const LOADS = new WeakMap<Cache, Map<string, Promise<string | undefined>>>()

/**
 * The value that `cache` holds for `key`; where it holds none, what `load` answers, stored for `ttlSeconds`.
 *
 *     const article = await remember(cache, `article:${id}`, 60, () => articles.find(id))
 *
 * - `load` is called once for all who ask while it runs, in this process, per cache and key; the first
 *   caller's `load`, `ttlSeconds` and options count. It must end by itself: who waits for it has no limit of
 *   its own.
 * - Everyone gets a copy of their own, made by JSON: from the cache or not, it is the same.
 * - A failure is never stored. All who waited get it, and the next call loads again.
 * - `undefined` is answered and not stored, so the next call loads again. What isn't there can be stored as
 *   null.
 * - A cache that fails doesn't fail the read: the value is loaded, and `onError` told. One that hangs does
 *   hang it.
 * - A `delete` while `load` runs doesn't stop what it answers from being stored.
 *
 * @throws TypeError when the key isn't a string, or `load` answers what JSON can't say
 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
 */
export async function remember<T extends Primitive | (object & { [Name in keyof T]: Storable<T[Name]> })>(
	cache: Cache,
	key: string,
	ttlSeconds: Seconds,
	load: () => T | Promise<T>,
	options: RememberOptions = {},
): Promise<T> {
	checkKey(key)
	toMilliseconds(ttlSeconds) // Here already: thrown by `set`, it would pass for a failure of the cache.
	const loads = loadsOf(cache)
	const underway = loads.get(key)
	if (underway !== undefined) return parse<T>(await underway)

	const wish = { cache, key, ttlSeconds, load, onError: options.onError }
	const held = ask(wish)
	// Most calls end here, where the cache is in memory: what it answers is the caller's own copy already.
	if (held !== undefined && !isPromise(held)) return held as T
	const text = obtain(wish, held).finally(() => loads.delete(key))
	loads.set(key, text)
	return parse<T>(await text)
}

interface Wish {
	readonly cache: Cache
	readonly key: string
	readonly ttlSeconds: Seconds
	readonly load: () => unknown
	readonly onError: RememberOptions['onError']
}

type Held = JsonValue | undefined

function loadsOf(cache: Cache): Map<string, Promise<string | undefined>> {
	const known = LOADS.get(cache)
	if (known !== undefined) return known
	const loads = new Map<string, Promise<string | undefined>>()
	LOADS.set(cache, loads)
	return loads
}

function ask({ cache, key, onError }: Wish): Held | Promise<Held> {
	try {
		return cache.get(key)
	} catch (error) {
		onError?.(error)
		return undefined
	}
}

/** The JSON text of what is held or else loaded: text, so that each who waits can make a copy from it. */
async function obtain(wish: Wish, held: Held | Promise<Held>): Promise<string | undefined> {
	const found = await answerOf(wish, held)
	if (found !== undefined) return toText(wish.key, found)
	const loaded = await wish.load()
	if (loaded === undefined) return undefined
	const text = toText(wish.key, loaded)
	await store(wish, loaded as JsonValue) // `toText` has just found that JSON can say it.
	return text
}

async function answerOf({ onError }: Wish, held: Held | Promise<Held>): Promise<Held> {
	try {
		return await held
	} catch (error) {
		onError?.(error)
		return undefined
	}
}

async function store({ cache, key, ttlSeconds, onError }: Wish, value: JsonValue): Promise<void> {
	try {
		await cache.set(key, value, ttlSeconds)
	} catch (error) {
		onError?.(error)
	}
}

function parse<T>(text: string | undefined): T {
	// `Storable<T>` says that JSON keeps a T as it is; `undefined` is only there where T has it.
	return (text === undefined ? undefined : JSON.parse(text)) as T
}

function isPromise(held: Held | Promise<Held>): held is Promise<Held> {
	// JSON has no functions, so no value that was stored can look like a promise.
	return typeof held === 'object' && held !== null && 'then' in held && typeof held.then === 'function'
}
