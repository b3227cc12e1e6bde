/**
 * The shares of a cache: how much of it each purpose (nonces, counters of users, addresses and guesses, idempotency keys,
 * the application) and, within a purpose, each caller may fill with entries that can't be evicted. Without shares, one
 * caller could fill the cache, and all others would be refused. `redis/shares.ts` has the same rule and constants.
 *
 * Shares aren't fixed. A purpose may fill most of the room that the other purposes leave; within it, a caller may fill three
 * times the room that is still free. So a single caller can use most of the cache, many greedy callers get equal parts, and
 * room is left for the next.
 */
import { type Linked, RecencyList } from '../base/recency-list.ts'
import type { Bytes } from '../base/time.ts'
import type { CacheScope } from './cache.ts'
import { ownCopy } from './entry.ts'

/** Purposes whose keys name a caller: `nonce:<caller>:…`. All other keys belong to the application. */
export const PURPOSES = ['nonce', 'limit', 'address', 'guess', 'idempotency'] as const

export type Purpose = (typeof PURPOSES)[number]

/**
 * The key of an entry that counts towards a caller's share. Colons in the caller's name are escaped as `%3A`, and `%` as
 * `%25`, so that no two callers have the same share.
 */
export function sharedKey(purpose: Purpose, caller: string, rest: string): string {
	return `${purpose}:${caller.replaceAll('%', '%25').replaceAll(':', '%3A')}:${rest}`
}

/** Purpose and caller of an entry. */
export interface Owner {
	readonly purpose: Purpose
	/** As escaped by `sharedKey`. */
	readonly caller: string
}

/** The owner of an entry, by its key; `undefined` for the application. */
export function ownerOf(key: string): Owner | undefined {
	const end = key.indexOf(':')
	const purpose = end === -1 ? undefined : PURPOSE_NAMES.get(key.slice(0, end))
	const next = purpose === undefined ? -1 : key.indexOf(':', end + 1)
	return purpose === undefined || next === -1 ? undefined : { purpose, caller: key.slice(end + 1, next) }
}

const PURPOSE_NAMES: ReadonlyMap<string, Purpose> = new Map(PURPOSES.map((name) => [name, name]))

/** The part of the cache for entries that can't be evicted; the rest is left for values. */
export const KEPT_PART = 7 / 8
/** One purpose may fill this part of what the other purposes leave of `KEPT_PART`. */
export const PURPOSE_PART = 7 / 8
/** A caller may hold up to this many times as much as is still free in the purpose. */
export const CALLER_FACTOR = 3
/** The parts of the cache that values of one caller, and of all callers, may fill before they evict each other. */
const CALLER_VALUES_PART = 1 / 8
const ALL_CALLERS_VALUES_PART = 1 / 2
/** Smaller caches aren't divided: a share would be a few entries. */
const MIN_ENTRIES = 1_000
export const MIN_BYTES: Bytes = 1_048_576

/** What the shares need to know about an entry. */
export interface CacheEntry<E extends Linked<E>> extends Linked<E> {
	/** Whether it is from `add` or `increment`, and so must not be evicted. */
	readonly isKept: boolean
	readonly size: Bytes
	readonly share: Share<E>
}

/** The entries of a caller within a purpose. */
interface Share<E extends Linked<E>> extends Linked<Share<E>> {
	readonly group: Group<E>
	readonly caller: string
	readonly kept: Amount
	readonly values: Amount
	/** The caller's values, least recently used first. */
	readonly evictable: RecencyList<E>
}

/** The entries of all callers within a purpose. */
interface Group<E extends Linked<E>> {
	readonly kept: Amount
	readonly shares: KeyTable<Share<E>>
}

interface Limits {
	readonly entries: number
	readonly bytes: Bytes
}

class Amount implements Limits {
	entries = 0
	bytes: Bytes = 0

	/** Counts an entry that was added (1) or removed (-1). */
	count(entries: 1 | -1, bytes: Bytes): void {
		this.entries += entries
		this.bytes += entries * bytes
	}
}

export class Shares<E extends CacheEntry<E>> {
	readonly #size: Limits
	/** The size that is divided into shares; infinite if the cache isn't divided. */
	readonly #divided: Limits
	readonly #groups: ReadonlyMap<string, Group<E>>
	readonly #application: Share<E>
	/** Shares of callers that have values, least recently used first. */
	readonly #recent = new RecencyList<Share<E>>()
	readonly #kept = new Amount()
	readonly #callersValues = new Amount()

	constructor(max: number, maxBytes: Bytes) {
		this.#size = { entries: max, bytes: maxBytes }
		this.#divided = {
			entries: max < MIN_ENTRIES ? Number.POSITIVE_INFINITY : max,
			bytes: maxBytes < MIN_BYTES ? Number.POSITIVE_INFINITY : maxBytes,
		}
		this.#groups = new Map(PURPOSES.map((name) => [name, newGroup<E>()]))
		this.#application = newShare(newGroup<E>(), '')
	}

	/** The share that an entry with this key counts towards. */
	of(key: string): Share<E> {
		const owner = ownerOf(key)
		const group = owner === undefined ? undefined : this.#groups.get(owner.purpose)
		if (owner === undefined || group === undefined) return this.#application
		return group.shares.get(owner.caller) ?? newShare(group, owner.caller)
	}

	add(entry: E): void {
		const { isKept, share } = entry
		this.#count(1, entry)
		if (!isKept) share.evictable.add(entry)
		if (share === this.#application) return
		if (!isKept && share.values.entries === 1) this.#recent.add(share)
		else if (!isKept) this.#recent.touch(share)
		if (share.kept.entries + share.values.entries === 1) share.group.shares.set(share.caller, share)
	}

	remove(entry: E): void {
		const { isKept, share } = entry
		this.#count(-1, entry)
		if (!isKept) share.evictable.remove(entry)
		if (share === this.#application) return
		if (!isKept && share.values.entries === 0) this.#recent.remove(share)
		if (share.kept.entries + share.values.entries === 0) share.group.shares.delete(share.caller)
	}

	#count(entries: 1 | -1, { isKept, size, share }: E): void {
		if (isKept) {
			this.#kept.count(entries, size)
			share.group.kept.count(entries, size)
			share.kept.count(entries, size)
		} else {
			share.values.count(entries, size)
			if (share !== this.#application) this.#callersValues.count(entries, size)
		}
	}

	/** Marks a value as used. */
	touch(entry: E): void {
		entry.share.evictable.touch(entry)
		if (entry.share !== this.#application) this.#recent.touch(entry.share)
	}

	/** Which limit leaves no room for an entry that can't be evicted; `undefined` if there is room. */
	full(
		share: Share<E>,
		entries: 0 | 1,
		bytes: Bytes,
	): { readonly scope: CacheScope; readonly of: keyof Limits } | undefined {
		const ofEntries = this.#fullOf(share, 'entries', entries)
		if (ofEntries !== undefined) return { scope: ofEntries, of: 'entries' }
		const ofBytes = this.#fullOf(share, 'bytes', bytes)
		return ofBytes === undefined ? undefined : { scope: ofBytes, of: 'bytes' }
	}

	/** The value to evict to make room for an entry of a share. */
	victim(share: Share<E>): E | undefined {
		if (
			share.values.entries > 0 &&
			share !== this.#application &&
			fills(share.values, this.#size, CALLER_VALUES_PART)
		)
			return share.evictable.oldest
		const own = this.#application.evictable.oldest
		const callers = this.#recent.oldest?.evictable.oldest
		if (own === undefined || callers === undefined) return own ?? callers
		return fills(this.#callersValues, this.#size, ALL_CALLERS_VALUES_PART) ? callers : own
	}

	#fullOf(share: Share<E>, of: keyof Limits, need: number): CacheScope | undefined {
		const most = this.#divided[of]
		if (most === Number.POSITIVE_INFINITY || need === 0) return undefined
		const { group, kept } = share
		const others = this.#kept[of] - group.kept[of]
		const free = PURPOSE_PART * (KEPT_PART * most - others) - group.kept[of]
		const isFull = free < need
		if (share === this.#application) return isFull ? 'purpose' : undefined
		if (!isFull) return kept[of] + need > CALLER_FACTOR * free ? 'caller' : undefined
		// If many callers together have filled the purpose, a caller with more than the mean is refused as a caller.
		return kept[of] * group.shares.size > group.kept[of] ? 'caller' : 'purpose'
	}
}

function fills({ entries, bytes }: Limits, size: Limits, part: number): boolean {
	return entries >= part * size.entries || bytes >= part * size.bytes
}

function newGroup<E extends Linked<E>>(): Group<E> {
	return { kept: new Amount(), shares: new KeyTable() }
}

function newShare<E extends Linked<E>>(group: Group<E>, caller: string): Share<E> {
	return {
		group,
		caller: ownCopy(caller),
		kept: new Amount(),
		values: new Amount(),
		evictable: new RecencyList(),
		older: undefined,
		newer: undefined,
	}
}

/** Maximum number of deleted keys whose places are kept: so few that holes in the Set of these keys don't matter. */
const MAX_VACANT = 64

/**
 * A Map that keeps the places of recently deleted keys. V8's Map leaves a hole in the hash chain of a deleted key until it
 * is rehashed: a key that is deleted and set again and again (a lock, a replaced value) left tens of thousands of holes in a
 * Map of 100,000, so that each look-up took 120 µs.
 */
export class KeyTable<E> {
	readonly #places = new Map<string, E | undefined>()
	readonly #vacant = new Set<string>()

	get size(): number {
		return this.#places.size - this.#vacant.size
	}

	get(key: string): E | undefined {
		return this.#places.get(key)
	}

	set(key: string, entry: E): void {
		this.#vacant.delete(key)
		this.#places.set(key, entry)
	}

	/** Deletes a key that is in the table. */
	delete(key: string): void {
		this.#places.set(key, undefined)
		this.#vacant.add(key)
		if (this.#vacant.size <= MAX_VACANT) return
		for (const longest of this.#vacant) {
			this.#vacant.delete(longest)
			this.#places.delete(longest)
			return
		}
	}
}
