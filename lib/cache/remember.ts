/** `remember`: a value from the cache, or loaded once for all concurrent callers. */
import { attached } from '../base/attached.ts'
import { isThenable } from '../base/thenable.ts'
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

/** Options of `remember`. */
export interface RememberOptions {
	/**
	 * Called with an error of the cache, for a log. What it throws goes to the caller.
	 * @default errors are ignored
	 */
	readonly onError?: (error: unknown) => void
}

/** Loads in progress, kept with the cache so that concurrent calls share them. */
const LOADS: unique symbol = Symbol('verbena.loads')

/**
 * The value that `cache` holds for `key`; where there is none, the value of `load`, stored for `ttlSeconds`.
 *
 *     const article = await remember(cache, `article:${id}`, 60, () => articles.find(id))
 *
 * - `load` is called once for all calls while it runs, in this process, per cache and key; the first call's `load`,
 *   `ttlSeconds` and options count. It must end by itself: waiting for it has no timeout.
 * - Each caller gets its own copy, made by JSON: from the cache or not, it is the same.
 * - A failure is never stored. All waiting calls get it, and the next one loads again.
 * - `undefined` is returned and not stored, so the next call loads again. Store null for what doesn't exist.
 * - A cache that fails doesn't fail the read: the value is loaded, and `onError` called. One that hangs does hang it.
 * - A `delete` while `load` runs doesn't keep its value from being stored.
 *
 * @throws TypeError when the key isn't a string, or `load` returns what JSON can't represent
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
	toMilliseconds(ttlSeconds) // Checked here, as an error of `set` would count as a failure of the cache.
	const loads = loadsOf(cache)
	const underway = loads.get(key)
	if (underway !== undefined) return parse<T>(await underway)

	const wish = { cache, key, ttlSeconds, load, onError: options.onError }
	const held = ask(wish)
	// Most calls of a cache in memory end here: its value is the caller's own copy already.
	if (held !== undefined && !isThenable(held)) return held as T
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
	return attached(cache, LOADS, () => new Map<string, Promise<string | undefined>>())
}

function ask({ cache, key, onError }: Wish): Held | Promise<Held> {
	try {
		return cache.get(key)
	} catch (error) {
		onError?.(error)
		return undefined
	}
}

/** The JSON text of the cached or loaded value, from which each caller makes its own copy. */
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
