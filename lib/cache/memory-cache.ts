/**
 * The `Cache` of one process: a bounded Map with a time for each entry. `createServer` makes one where it is
 * given none; several processes that must agree (nonces, limits) need a cache outside of them.
 */
import { functionLike, numberIn, optionsOf, or, wholeNumber } from '../base/options.ts'
import { type Bytes, type Clock, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { type Cache, CacheFull, type CacheScope, type JsonValue } from './cache.ts'
import { checkKey, ownCopy, toMilliseconds, toText } from './entry.ts'
import { type Ending, ExpiryHeap } from './expiry-heap.ts'
import { KeyTable } from './key-table.ts'
import { type Held, Shares } from './shares.ts'

/** What a `MemoryCache` may hold, and its time. */
export interface MemoryCacheOptions {
	/**
	 * Most entries held at once, from 1 to 8,000,000; where it is reached, the value of `set` not used for the
	 * longest time goes. No default: a cache without a bound is a leak. An entry takes about 200 bytes beside its
	 * key and text, and so does each caller of whom there are some.
	 */
	readonly max: number
	/**
	 * Most bytes of keys and JSON texts held at once, from 1 up, at two for each UTF-16 unit (V8 takes one
	 * where all are Latin-1).
	 * @default Infinity
	 */
	readonly maxBytes?: Bytes
	/**
	 * Time source.
	 * @default performance.now
	 */
	readonly clock?: Clock
}

interface Entry extends Ending, Held<Entry> {
	readonly key: string
	readonly text: string
}

/** V8's Map throws past 2^24 slots, and up to half of them may be deleted ones that it hasn't cleared. */
const MOST_ENTRIES = 8_000_000

/** Expired entries that a write clears in passing: more than it adds, so that they don't pile up. */
const SWEPT_PER_WRITE = 2

/** Of a number, in bytes. */
const DIGITS: Bytes = 34

/**
 * A cache in memory: no timer, no scan. Every method answers at once, in constant time but for the steps
 * of a heap of expiry times (17 at 100,000 entries).
 *
 * - An entry is gone the moment its time is over. Its memory is cleared by later writes.
 * - Where there is no room, expired entries go first, then the values of `set`, the least recently used first
 *   (`get` and `set` are uses). What `add` and `increment` made stays: they throw `CacheFull` instead, and
 *   a `set` is forgotten at once.
 * - From 1,000 entries, or 1 MiB, they are divided into shares: see `shares.ts`. `CacheFull.scope` says whose is full.
 * - Whoever holds a key decides: `delete` and `set` also work on what `add` made. After a `set` it has the new
 *   value and time, and is still kept: no flood of other values can free a nonce that was used. Where a longer
 *   text has no room under `maxBytes`, that `set` throws `CacheFull` and changes nothing.
 *
 *     const cache = new MemoryCache({ max: 100_000 })
 *     cache.add('nonce:1', true, 60) // true
 *     cache.add('nonce:1', true, 60) // false
 *
 * @throws TypeError for an option that does not exist or is of another kind
 * @throws RangeError when `max` or `maxBytes` is out of its range
 */
export class MemoryCache implements Cache {
	readonly #max: number
	readonly #maxBytes: Bytes
	readonly #clock: Clock
	readonly #entries = new KeyTable<Entry>()
	readonly #endings = new ExpiryHeap<Entry>()
	readonly #shares: Shares<Entry>
	#bytes: Bytes = 0

	constructor(options: MemoryCacheOptions) {
		const { max, maxBytes, clock } = optionsOf('MemoryCache', options, {
			max: wholeNumber({ from: 1, to: MOST_ENTRIES }),
			maxBytes: or(numberIn({ from: 1, orInfinity: true }), Number.POSITIVE_INFINITY),
			clock: or(functionLike<Clock>('() => milliseconds'), steadyClock),
		})
		this.#max = max
		this.#maxBytes = maxBytes
		this.#clock = clock
		this.#shares = new Shares(max, maxBytes)
	}

	/** Entries in memory, with those whose time is over and that no write has cleared yet. */
	get size(): number {
		return this.#entries.size
	}

	/**
	 * The value, a new copy at each call; `undefined` where there is none or its time is over.
	 *
	 * @throws TypeError when the key isn't a string
	 */
	get(key: string): JsonValue | undefined {
		const entry = this.#find(key, this.#clock())
		if (entry === undefined) return undefined
		if (!entry.kept) this.#shares.touch(entry)
		return JSON.parse(entry.text) as JsonValue
	}

	/**
	 * Stores a value for `ttlSeconds`, in place of what was there.
	 *
	 * @throws TypeError when the key isn't a string, or JSON can't say the value
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheFull when the key is one that `add` made, and `maxBytes` has no room for the longer text
	 */
	set(key: string, value: JsonValue, ttlSeconds: Seconds): void {
		const now = this.#clock()
		const before = this.#find(key, now)
		const endsAt = now + toMilliseconds(ttlSeconds)
		this.#store(key, toText(key, value), endsAt, before?.kept ?? false, now)
	}

	/**
	 * Forgets a value; answers whether there was one.
	 *
	 * @throws TypeError when the key isn't a string
	 */
	delete(key: string): boolean {
		const entry = this.#find(key, this.#clock())
		if (entry === undefined) return false
		this.#remove(entry)
		return true
	}

	/**
	 * Stores a value where there is none and answers whether it did; kept until its time.
	 *
	 * @throws TypeError when the key isn't a string, or JSON can't say the value
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheFull when all that is held must be kept
	 */
	add(key: string, value: JsonValue, ttlSeconds: Seconds): boolean {
		const now = this.#clock()
		const before = this.#find(key, now)
		const endsAt = now + toMilliseconds(ttlSeconds)
		const text = toText(key, value)
		if (before !== undefined) return false
		this.#store(key, text, endsAt, true, now)
		return true
	}

	/**
	 * Adds one to a counter and answers the new number; kept until its time, which the first call starts.
	 *
	 * @throws TypeError when the key isn't a string, or holds anything but a whole number below 2^53 - 1
	 * @throws RangeError when `ttlSeconds` isn't a finite number above 0
	 * @throws CacheFull when all that is held must be kept
	 */
	increment(key: string, ttlSeconds: Seconds): number {
		const now = this.#clock()
		const before = this.#find(key, now)
		const endsAt = now + toMilliseconds(ttlSeconds)
		const count = before === undefined ? 1 : countAfter(before)
		this.#store(key, String(count), before?.endsAt ?? endsAt, true, now)
		return count
	}

	#find(key: string, now: Milliseconds): Entry | undefined {
		checkKey(key)
		const entry = this.#entries.get(key)
		if (entry === undefined || now < entry.endsAt) return entry
		this.#remove(entry)
		return undefined
	}

	/** Stores an entry in place of the one that holds its key, which must be what `#find` answered. */
	#store(key: string, text: string, endsAt: Milliseconds, kept: boolean, now: Milliseconds): void {
		const before = this.#entries.get(key)
		if (before !== undefined) this.#remove(before)
		for (let left = SWEPT_PER_WRITE; left > 0; left--) this.#clearExpired(now)
		const entry: Entry = {
			key: before?.key ?? ownCopy(key),
			text,
			endsAt,
			kept,
			size: 2 * (key.length + text.length),
			share: before?.share ?? this.#shares.of(key),
			place: 0,
			older: undefined,
			newer: undefined,
		}
		const full = this.#makeRoom(entry, before?.kept === true ? before : undefined, now)
		if (full === undefined) this.#insert(entry)
		if (full === undefined || !kept) return
		if (before?.kept) this.#insert(before)
		throw full
	}

	/** Clears what may be cleared until one more entry fits; answers why it doesn't. */
	#makeRoom(entry: Entry, before: Entry | undefined, now: Milliseconds): CacheFull | undefined {
		const { size, share } = entry
		if (size > this.#maxBytes) return this.#full('bytes')
		// A counter that is there goes on counting, whatever its caller holds: it takes no more room than before.
		const isMore = entry.kept && (before === undefined || size > before.size + DIGITS)
		while (isMore) {
			const full = this.#shares.full(share, before === undefined ? 1 : 0, size)
			if (full === undefined) break
			if (!this.#clearExpired(now)) return this.#full(full.of, full.scope)
		}
		while (this.#entries.size >= this.#max || this.#bytes + size > this.#maxBytes) {
			if (this.#clearExpired(now)) continue
			const victim = this.#shares.victim(share)
			if (victim === undefined) return this.#full(this.#entries.size < this.#max ? 'bytes' : 'entries')
			this.#remove(victim)
		}
		return undefined
	}

	#full(of: 'entries' | 'bytes', scope: CacheScope = 'cache'): CacheFull {
		if (of === 'entries') return new CacheFull(this.#max, 'max', { scope })
		return new CacheFull(this.#maxBytes, 'maxBytes', { scope })
	}

	#clearExpired(now: Milliseconds): boolean {
		const soonest = this.#endings.soonest
		if (soonest === undefined || now < soonest.endsAt) return false
		this.#remove(soonest)
		return true
	}

	#insert(entry: Entry): void {
		this.#entries.set(entry.key, entry)
		this.#endings.add(entry)
		this.#shares.add(entry)
		this.#bytes += entry.size
	}

	#remove(entry: Entry): void {
		this.#entries.delete(entry.key)
		this.#endings.remove(entry)
		this.#shares.remove(entry)
		this.#bytes -= entry.size
	}
}

function countAfter({ key, text }: Entry): number {
	const count = Number(text) + 1
	if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(count)) {
		throw new TypeError(`increment counts in whole numbers below 2^53 - 1, and '${key}' holds something else`)
	}
	return count
}
