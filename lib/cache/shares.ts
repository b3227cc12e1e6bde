/**
 * The shares of a cache: how much of it each purpose (nonces, counters of users, of addresses and of guesses, idempotency
 * keys, the application) and, within these, each caller may fill with entries that can't be evicted. Without them one
 * caller could fill the cache and get everybody else refused. The same rule and constants hold in `redis/shares.ts`.
 *
 * No part is fixed. A purpose may take most of what the other purposes leave, and a caller three times what is then still
 * free in that purpose: one alone can use most of the cache, and of many greedy ones each gets as much as the others, with
 * room left for the next.
 */
import { type Linked, RecencyList } from '../base/recency-list.ts'
import type { Bytes } from '../base/time.ts'
import type { CacheScope } from './cache.ts'
import { ownCopy } from './entry.ts'

/** Purposes whose keys name a caller: `nonce:<caller>:…`. All other keys are the application's. */
export const PURPOSES = ['nonce', 'limit', 'address', 'guess', 'idempotency'] as const

export type Purpose = (typeof PURPOSES)[number]

/**
 * The key of an entry that counts for a caller's share. A colon in the caller's name would end it, so it is escaped as
 * `%3A`, and `%` as `%25`: no two callers have the same share.
 */
export function sharedKey(purpose: Purpose, caller: string, rest: string): string {
	return `${purpose}:${caller.replaceAll('%', '%25').replaceAll(':', '%3A')}:${rest}`
}

/** Whose an entry is. */
export interface Owner {
	readonly purpose: Purpose
	/** As `sharedKey` has written it. */
	readonly caller: string
}

/** Whose an entry under a key is; `undefined` for the application's own. */
export function ownerOf(key: string): Owner | undefined {
	const end = key.indexOf(':')
	const purpose = end === -1 ? undefined : PURPOSE_NAMES.get(key.slice(0, end))
	const next = purpose === undefined ? -1 : key.indexOf(':', end + 1)
	return purpose === undefined || next === -1 ? undefined : { purpose, caller: key.slice(end + 1, next) }
}

const PURPOSE_NAMES: ReadonlyMap<string, Purpose> = new Map(PURPOSES.map((name) => [name, name]))

/** The part of the cache that entries which can't be evicted may fill; the rest is left for values. */
export const KEPT = 7 / 8
/** The part of what the other purposes leave of it that one purpose may fill. */
export const OF_PURPOSE = 7 / 8
/** How many times what is still free in its purpose a caller may hold. */
export const OF_CALLER = 3
/** The parts of the cache that one caller's values, and all callers' values, may fill before they evict each other. */
const VALUES_OF_CALLER = 1 / 8
const VALUES_OF_CALLERS = 1 / 2
/** Smaller caches aren't divided, as a share would be a few entries. */
const LEAST_ENTRIES = 1_000
export const LEAST_BYTES: Bytes = 1_048_576

/** An entry of the shares. */
export interface Held<E extends Linked<E>> extends Linked<E> {
	/** Made by `add` or `increment`: not to be evicted. */
	readonly kept: boolean
	readonly size: Bytes
	readonly share: Share<E>
}

/** What one caller holds within a purpose. */
interface Share<E extends Linked<E>> extends Linked<Share<E>> {
	readonly group: Group<E>
	readonly caller: string
	readonly kept: Amount
	readonly values: Amount
	/** The entries that may be evicted. */
	readonly evictable: RecencyList<E>
}

/** What all callers hold within a purpose. */
interface Group<E extends Linked<E>> {
	readonly name: Purpose | 'application'
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

	add(bytes: Bytes): void {
		this.entries++
		this.bytes += bytes
	}

	remove(bytes: Bytes): void {
		this.entries--
		this.bytes -= bytes
	}
}

export class Shares<E extends Held<E>> {
	/** The size of the cache. */
	readonly #size: Limits
	/** The size that is divided; infinite where it isn't. */
	readonly #most: Limits
	readonly #groups: ReadonlyMap<string, Group<E>>
	readonly #application: Share<E>
	/** Shares of callers who have values, by their last use. */
	readonly #recent = new RecencyList<Share<E>>()
	readonly #kept = new Amount()
	readonly #callersValues = new Amount()

	constructor(max: number, maxBytes: Bytes) {
		this.#size = { entries: max, bytes: maxBytes }
		this.#most = {
			entries: max < LEAST_ENTRIES ? Number.POSITIVE_INFINITY : max,
			bytes: maxBytes < LEAST_BYTES ? Number.POSITIVE_INFINITY : maxBytes,
		}
		this.#groups = new Map(PURPOSES.map((name) => [name, groupOf<E>(name)]))
		this.#application = shareOf(groupOf<E>('application'), '')
	}

	/** Whose an entry under a key is. */
	of(key: string): Share<E> {
		const owner = ownerOf(key)
		const group = owner === undefined ? undefined : this.#groups.get(owner.purpose)
		if (owner === undefined || group === undefined) return this.#application
		return group.shares.get(owner.caller) ?? shareOf(group, owner.caller)
	}

	add(entry: E): void {
		const { kept, size, share } = entry
		if (kept) {
			this.#kept.add(size)
			share.group.kept.add(size)
			share.kept.add(size)
		} else {
			share.values.add(size)
			share.evictable.add(entry)
			if (share !== this.#application) {
				this.#callersValues.add(size)
				if (share.values.entries === 1) this.#recent.add(share)
				else this.#recent.touch(share)
			}
		}
		if (share !== this.#application && share.kept.entries + share.values.entries === 1)
			share.group.shares.set(share.caller, share)
	}

	remove(entry: E): void {
		const { kept, size, share } = entry
		if (kept) {
			this.#kept.remove(size)
			share.group.kept.remove(size)
			share.kept.remove(size)
		} else {
			share.values.remove(size)
			share.evictable.remove(entry)
			if (share !== this.#application) {
				this.#callersValues.remove(size)
				if (share.values.entries === 0) this.#recent.remove(share)
			}
		}
		if (share !== this.#application && share.kept.entries + share.values.entries === 0)
			share.group.shares.delete(share.caller)
	}

	/** Marks a value as used. */
	touch(entry: E): void {
		entry.share.evictable.touch(entry)
		if (entry.share !== this.#application) this.#recent.touch(entry.share)
	}

	/** Why an entry that can't be evicted has no room in its share; `undefined` where it has. */
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

	/** The value that goes first to make room for an entry of a share. */
	victim(share: Share<E>): E | undefined {
		if (
			share.values.entries > 0 &&
			share !== this.#application &&
			fills(share.values, this.#size, VALUES_OF_CALLER)
		)
			return share.evictable.oldest
		const own = this.#application.evictable.oldest
		const callers = this.#recent.oldest?.evictable.oldest
		if (own === undefined || callers === undefined) return own ?? callers
		return fills(this.#callersValues, this.#size, VALUES_OF_CALLERS) ? callers : own
	}

	#fullOf(share: Share<E>, of: keyof Limits, need: number): CacheScope | undefined {
		const most = this.#most[of]
		if (most === Number.POSITIVE_INFINITY || need === 0) return undefined
		const { group, kept } = share
		const others = this.#kept[of] - group.kept[of]
		const free = OF_PURPOSE * (KEPT * most - others) - group.kept[of]
		const isFull = free < need
		if (share === this.#application) return isFull ? 'purpose' : undefined
		if (!isFull) return kept[of] + need > OF_CALLER * free ? 'caller' : undefined
		// Where many callers have filled the purpose together, those who hold more than the mean are refused as callers.
		return kept[of] * group.shares.size > group.kept[of] ? 'caller' : 'purpose'
	}
}

function fills({ entries, bytes }: Limits, size: Limits, part: number): boolean {
	return entries >= part * size.entries || bytes >= part * size.bytes
}

function groupOf<E extends Linked<E>>(name: Group<E>['name']): Group<E> {
	return { name, kept: new Amount(), shares: new KeyTable() }
}

function shareOf<E extends Linked<E>>(group: Group<E>, caller: string): Share<E> {
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

/**
 * Most deleted keys whose places are kept: so few that the holes in their own Set don't matter.
 */
const MOST_VACANT = 64

/**
 * Entries by key: a Map that keeps the places of recently deleted keys. V8's Map leaves a hole where a key was deleted, in
 * the chain of its hash, until the whole Map is rearranged: a key that is deleted and put back again and again (a lock, a
 * replaced value) gathered holes by the ten thousand in a Map of 100,000, and each look-up took 120 µs.
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

	/** Takes out a key that is in the table. */
	delete(key: string): void {
		this.#places.set(key, undefined)
		this.#vacant.add(key)
		if (this.#vacant.size <= MOST_VACANT) return
		for (const longest of this.#vacant) {
			this.#vacant.delete(longest)
			this.#places.delete(longest)
			return
		}
	}
}
