/**
 * `MemoryCache`: a bounded Map of entries with a time to live, and a heap of their expiry times. `createServer` creates one
 * if it is given no cache; processes that must agree (on nonces, limits) need a shared cache.
 */
import { functionLike, numberIn, optionsOf, or, wholeNumber } from '../base/options.ts'
import { type Bytes, type Clock, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { type Cache, CacheFull, type CacheScope, type JsonValue } from './cache.ts'
import { checkKey, notCountable, ownCopy, toMilliseconds, toText } from './entry.ts'
import { type CacheEntry, KeyTable, Shares } from './shares.ts'

/** Bounds of a `MemoryCache`, and its clock. */
export interface MemoryCacheOptions {
	/**
	 * Maximum number of entries, from 1 to 8,000,000; above it, the least recently used entry written by `set` is evicted, never
	 * one of `add` or `increment`. No default: a cache without a bound is a leak. Each entry takes about 200 bytes in addition
	 * to its key and text, and so does each caller that has entries.
	 */
	readonly max: number
	/**
	 * Maximum bytes of keys and JSON texts, from 1 up, counted as two per UTF-16 unit (V8 uses one if all are Latin-1).
	 * @default Infinity
	 */
	readonly maxBytes?: Bytes
	/** Time source. @default performance.now */
	readonly clock?: Clock
}

interface Entry extends Expiring, CacheEntry<Entry> {
	readonly key: string
	readonly text: string
}

/** V8's Map throws above 2^24 slots, up to half of which may be of deleted entries. */
const MAX_ENTRIES = 8_000_000

/** Maximum number of expired entries that a write removes: more than it adds, so that they don't pile up. */
const SWEPT_PER_WRITE = 2

/** Maximum growth of a counter: its text has at most 17 characters of two bytes. */
const MAX_COUNTER_BYTES: Bytes = 34

/**
 * An LRU cache in memory, without timers or scans. Every method is synchronous and takes constant time, except for the
 * steps of a heap of expiry times (17 for 100,000 entries).
 *
 * - An entry is gone the moment it expires. Its memory is freed by later writes.
 * - A full cache evicts expired entries, then the least recently used values of `set` (`get` and `set` are uses), in the
 *   share that `Shares.victim` picks. Entries of `add` and `increment` stay: without room, these two throw `CacheFull`, and
 *   `set` stores nothing.
 * - From 1,000 entries or 1 MiB up, it is divided into shares: see `shares.ts`. `CacheFull.scope` says what is full.
 * - `delete` and `set` also work on entries of `add`. After a `set` the entry has the new value and time to live and is still
 *   kept: no flood of other values can free a used nonce. If a longer text exceeds `maxBytes`, that `set` throws `CacheFull`
 *   and changes nothing.
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
	readonly #expiries = new ExpiryHeap<Entry>()
	readonly #shares: Shares<Entry>
	#bytes: Bytes = 0

	constructor(options: MemoryCacheOptions) {
		const { max, maxBytes, clock } = optionsOf('MemoryCache', options, {
			max: wholeNumber({ from: 1, to: MAX_ENTRIES }),
			maxBytes: or(numberIn({ from: 1, orInfinity: true }), Number.POSITIVE_INFINITY),
			clock: or(functionLike<Clock>('() => milliseconds'), steadyClock),
		})
		this.#max = max
		this.#maxBytes = maxBytes
		this.#clock = clock
		this.#shares = new Shares(max, maxBytes)
	}

	/** Number of entries, including expired ones that haven't been removed yet. */
	get size(): number {
		return this.#entries.size
	}

	/** Bytes of keys and JSON texts, counted as for `maxBytes`; including those of expired entries. */
	get bytes(): Bytes {
		return this.#bytes
	}

	/** The value, a new copy for each call; `undefined` if there is none or it has expired. */
	get(key: string): JsonValue | undefined {
		const entry = this.#find(key, this.#clock())
		if (entry === undefined) return undefined
		if (!entry.isKept) this.#shares.touch(entry)
		return JSON.parse(entry.text) as JsonValue
	}

	/**
	 * Stores a value for `ttlSeconds`, replacing an existing one.
	 *
	 * @throws CacheFull if the key has an entry of `add` or `increment`, and the longer text exceeds `maxBytes`
	 */
	set(key: string, value: JsonValue, ttlSeconds: Seconds): void {
		const now = this.#clock()
		const before = this.#find(key, now)
		const expiresAt = now + toMilliseconds(ttlSeconds)
		this.#store(key, toText(key, value), expiresAt, before?.isKept ?? false, now)
	}

	delete(key: string): boolean {
		const entry = this.#find(key, this.#clock())
		if (entry === undefined) return false
		this.#remove(entry)
		return true
	}

	add(key: string, value: JsonValue, ttlSeconds: Seconds): boolean {
		const now = this.#clock()
		const before = this.#find(key, now)
		const expiresAt = now + toMilliseconds(ttlSeconds)
		const text = toText(key, value)
		if (before !== undefined) return false
		this.#store(key, text, expiresAt, true, now)
		return true
	}

	increment(key: string, ttlSeconds: Seconds): number {
		const now = this.#clock()
		const before = this.#find(key, now)
		const expiresAt = now + toMilliseconds(ttlSeconds)
		const count = before === undefined ? 1 : countAfter(before)
		this.#store(key, String(count), before?.expiresAt ?? expiresAt, true, now)
		return count
	}

	#find(key: string, now: Milliseconds): Entry | undefined {
		checkKey(key)
		const entry = this.#entries.get(key)
		if (entry === undefined || now < entry.expiresAt) return entry
		this.#remove(entry)
		return undefined
	}

	/** Stores an entry, replacing an existing one. Callers first call `#find`, which removes an expired one. */
	#store(key: string, text: string, expiresAt: Milliseconds, isKept: boolean, now: Milliseconds): void {
		const before = this.#entries.get(key)
		if (before !== undefined) this.#remove(before)
		for (let left = SWEPT_PER_WRITE; left > 0; left--) this.#clearExpired(now)
		const entry: Entry = {
			key: before?.key ?? ownCopy(key),
			text,
			expiresAt,
			isKept,
			size: 2 * (key.length + text.length),
			share: before?.share ?? this.#shares.of(key),
			place: 0,
			older: undefined,
			newer: undefined,
		}
		const full = this.#makeRoom(entry, before?.isKept === true ? before : undefined, now)
		if (full === undefined) this.#insert(entry)
		if (full === undefined || !isKept) return
		if (before?.isKept) this.#insert(before)
		throw full
	}

	/** Evicts until one more entry fits; returns the error if that is impossible. */
	#makeRoom(entry: Entry, before: Entry | undefined, now: Milliseconds): CacheFull | undefined {
		const { size, share } = entry
		if (size > this.#maxBytes) return this.#full('bytes')
		// An existing counter can be incremented in a full share: it takes no more room.
		const isMore = entry.isKept && (before === undefined || size > before.size + MAX_COUNTER_BYTES)
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
		const soonest = this.#expiries.soonest
		if (soonest === undefined || now < soonest.expiresAt) return false
		this.#remove(soonest)
		return true
	}

	#insert(entry: Entry): void {
		this.#entries.set(entry.key, entry)
		this.#expiries.add(entry)
		this.#shares.add(entry)
		this.#bytes += entry.size
	}

	#remove(entry: Entry): void {
		this.#entries.delete(entry.key)
		this.#expiries.remove(entry)
		this.#shares.remove(entry)
		this.#bytes -= entry.size
	}
}

function countAfter({ key, text }: Entry): number {
	const count = Number(text) + 1
	if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(count)) throw notCountable(key)
	return count
}

/** An entry of the heap. Only the heap writes `place`. */
export interface Expiring {
	readonly expiresAt: Milliseconds
	place: number
}

/** A binary heap by `expiresAt` whose entries know their place: `add` and `remove` take at most log2(size) steps. */
export class ExpiryHeap<E extends Expiring> {
	readonly #entries: E[] = []

	/** The entry that expires first. */
	get soonest(): E | undefined {
		return this.#entries[0]
	}

	add(entry: E): void {
		this.#entries.push(entry)
		this.#siftUp(entry, this.#entries.length - 1)
	}

	/** Takes out an entry that is in the heap. */
	remove(entry: E): void {
		const last = this.#entries.pop()
		if (last === undefined || last === entry) return
		if (last.expiresAt < entry.expiresAt) this.#siftUp(last, entry.place)
		else this.#siftDown(last, entry.place)
	}

	#siftUp(entry: E, from: number): void {
		let place = from
		while (place > 0) {
			const above = (place - 1) >> 1
			const parent = this.#at(above)
			if (parent.expiresAt <= entry.expiresAt) break
			this.#put(parent, place)
			place = above
		}
		this.#put(entry, place)
	}

	#siftDown(entry: E, from: number): void {
		const size = this.#entries.length
		let place = from
		for (let below = 2 * place + 1; below < size; below = 2 * place + 1) {
			const right = below + 1
			if (right < size && this.#at(right).expiresAt < this.#at(below).expiresAt) below = right
			const child = this.#at(below)
			if (child.expiresAt >= entry.expiresAt) break
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
		// Callers have checked that 0 <= place < length, and the array has no holes.
		return this.#entries[place] as E
	}
}
