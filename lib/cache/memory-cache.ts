/**
 * The `Cache` of one process: a bounded Map with a time to live for each entry, and a heap of these times. `createServer`
 * makes one where it is given none; several processes that must agree (nonces, limits) need a cache outside of them.
 */
import { functionLike, numberIn, optionsOf, or, wholeNumber } from '../base/options.ts'
import { type Bytes, type Clock, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { type Cache, CacheFull, type CacheScope, type JsonValue } from './cache.ts'
import { checkKey, ownCopy, toMilliseconds, toText } from './entry.ts'
import { type Held, KeyTable, Shares } from './shares.ts'

/** Bounds of a `MemoryCache`, and its clock. */
export interface MemoryCacheOptions {
	/**
	 * Most entries, from 1 to 8,000,000; beyond it, the least recently used value of `set` is evicted. No default: a cache
	 * without a bound is a leak. An entry takes about 200 bytes beside its key and text, and so does each caller that has
	 * entries.
	 */
	readonly max: number
	/**
	 * Most bytes of keys and JSON texts, from 1 up, counted as two for each UTF-16 unit (V8 takes one where all are Latin-1).
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

/** V8's Map throws past 2^24 slots, up to half of which may be deleted ones not cleared yet. */
const MOST_ENTRIES = 8_000_000

/** Expired entries that each write clears: more than it adds, so that they don't pile up. */
const SWEPT_PER_WRITE = 2

/** Most bytes of a counter's digits. */
const DIGITS: Bytes = 34

/**
 * A cache in memory, without timers or scans. Every method is synchronous and takes constant time, but for the steps of a
 * heap of expiry times (17 at 100,000 entries).
 *
 * - An entry is gone the moment it expires. Its memory is freed by later writes.
 * - A full cache evicts expired entries, then the least recently used values of `set` (`get` and `set` are uses), in the
 *   share that `Shares.victim` picks. Entries of `add` and `increment` stay: with no room left, these two throw
 *   `CacheFull`, and `set` stores nothing.
 * - From 1,000 entries, or 1 MiB, it is divided into shares: see `shares.ts`. `CacheFull.scope` says what is full.
 * - `delete` and `set` also work on entries of `add`. After a `set` the entry has the new value and time and is still kept:
 *   no flood of other values can free a used nonce. Where a longer text has no room under `maxBytes`, that `set` throws
 *   `CacheFull` and changes nothing.
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

	/** Entries in memory, with expired ones that no write has cleared yet. */
	get size(): number {
		return this.#entries.size
	}

	/**
	 * The value, a new copy at each call; `undefined` where there is none or it has expired.
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
	 * Deletes a value; returns whether there was one.
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

	/** Stores an entry in place of the one with its key, which must be what `#find` returned. */
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

	/** Evicts until one more entry fits; returns the error where it can't. */
	#makeRoom(entry: Entry, before: Entry | undefined, now: Milliseconds): CacheFull | undefined {
		const { size, share } = entry
		if (size > this.#maxBytes) return this.#full('bytes')
		// An existing counter goes on counting, however full its caller's share is: it takes no more room.
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

/** An entry of the heap. `place` is written by the heap only. */
export interface Ending {
	readonly endsAt: Milliseconds
	place: number
}

/**
 * A binary heap by `endsAt` whose entries know their place, so that a deleted or replaced one leaves at once. `soonest`
 * takes constant time, `add` and `remove` at most log2 of its size in steps.
 */
export class ExpiryHeap<E extends Ending> {
	readonly #entries: E[] = []

	/** The entry that ends first. */
	get soonest(): E | undefined {
		return this.#entries[0]
	}

	add(entry: E): void {
		this.#entries.push(entry)
		this.#rise(entry, this.#entries.length - 1)
	}

	/** Takes out an entry that is in the heap. */
	remove(entry: E): void {
		const last = this.#entries.pop()
		if (last === undefined || last === entry) return
		if (last.endsAt < entry.endsAt) this.#rise(last, entry.place)
		else this.#sink(last, entry.place)
	}

	#rise(entry: E, from: number): void {
		let place = from
		while (place > 0) {
			const above = (place - 1) >> 1
			const parent = this.#at(above)
			if (parent.endsAt <= entry.endsAt) break
			this.#put(parent, place)
			place = above
		}
		this.#put(entry, place)
	}

	#sink(entry: E, from: number): void {
		const size = this.#entries.length
		let place = from
		for (let below = 2 * place + 1; below < size; below = 2 * place + 1) {
			const right = below + 1
			if (right < size && this.#at(right).endsAt < this.#at(below).endsAt) below = right
			const child = this.#at(below)
			if (child.endsAt >= entry.endsAt) break
			this.#put(child, place)
			place = below
		}
		this.#put(entry, place)
	}

	#put(entry: E, place: number): void {
		this.#entries[place] = entry
		entry.place = place
	}

	#at(place: number): E {
		// Every caller has checked that 0 <= place < length, and the array has no holes.
		return this.#entries[place] as E
	}
}
