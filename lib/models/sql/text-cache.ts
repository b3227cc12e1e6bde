/**
 * Caches of statements, bounded. Clients choose fields, orders and conditions, so a text that was asked for only once is
 * not kept (`Doorkeeper`), and the least recently used goes first (`Lru`). `TextCache` keeps texts by what they depend
 * on, for all models of a database; `PreparedTexts` says which statements a driver keeps prepared.
 */
import { type Linked, RecencyList } from '../../base/recency-list.ts'
import type { Bytes } from '../../base/time.ts'
import type { Statement } from './driver.ts'

/** Something in an {@link Lru}. */
export interface LruEntry extends Linked<LruEntry> {
	/** About how many bytes it takes. */
	readonly bytes: Bytes
	/** Called when it is evicted: it may not be used any more. */
	drop(): void
}

/** For all models of a database. */
const MOST_BYTES: Bytes = 8_388_608
/** One entry may take at most this part of all. */
const LARGEST_PART = 16

/** Entries by last use, bounded by their bytes and their number. */
export class Lru {
	readonly #mostBytes: Bytes
	readonly #most: number
	#entries = new RecencyList<LruEntry>()
	#bytes: Bytes = 0
	#size = 0

	constructor(mostBytes: Bytes = MOST_BYTES, most: number = Number.POSITIVE_INFINITY) {
		this.#mostBytes = mostBytes
		this.#most = most
	}

	get bytes(): Bytes {
		return this.#bytes
	}

	/** Adds an entry, unless it is too large; returns whether it did. */
	add(entry: LruEntry): boolean {
		if (entry.bytes > this.#mostBytes / LARGEST_PART) return false
		this.#entries.add(entry)
		this.#bytes += entry.bytes
		this.#size++
		while (this.#bytes > this.#mostBytes || this.#size > this.#most) {
			const { oldest } = this.#entries
			if (oldest === undefined) break
			this.#entries.remove(oldest)
			this.#bytes -= oldest.bytes
			this.#size--
			oldest.drop()
		}
		return true
	}

	/** Makes an entry the last used, which most are already. */
	touch(entry: LruEntry): void {
		if (entry.newer !== undefined) this.#entries.touch(entry)
	}

	/** Forgets all entries, without dropping them. */
	clear(): void {
		this.#entries = new RecencyList()
		this.#bytes = 0
		this.#size = 0
	}
}

/** Remembers hashes that were seen once, the last `most` of them. */
class Doorkeeper {
	readonly #most: number
	/** Oldest first. */
	readonly #seen = new Set<number>()

	constructor(most: number) {
		this.#most = most
	}

	/** Whether a hash was seen before; then it is forgotten. */
	knows(hash: number): boolean {
		if (this.#seen.delete(hash)) return true
		this.#seen.add(hash)
		if (this.#seen.size > this.#most) for (const oldest of this.#seen) return !this.#seen.delete(oldest)
		return false
	}

	clear(): void {
		this.#seen.clear()
	}
}

/** FNV-1a. A collision means that a text is kept from its first use on. */
function hashOf(text: string, hash = 0x811c9dc5): number {
	let now = hash
	for (let at = 0; at < text.length; at++) now = Math.imul(now ^ text.charCodeAt(at), 0x01000193)
	return Math.imul(now ^ 0x1f, 0x01000193)
}

/** What a text depends on, in order: names of fields, symbols for what is no field, numbers. */
export type Step = string | symbol | number | bigint

const MOST_SEEN = 100
/** A node, its map, and what holds them. */
const BYTES_OF_A_STEP: Bytes = 300

/**
 * Texts of statements, or of their parts, by what they depend on. Writing one anew for each request is cheap, but it makes
 * a new string: the driver finds a prepared statement by its text, and has to hash it first.
 */
export class TextCache<T = string> {
	readonly #lru: Lru
	readonly #root = new Node<T>(undefined, '')
	readonly #doorkeeper = new Doorkeeper(MOST_SEEN)

	constructor(lru: Lru) {
		this.#lru = lru
	}

	get(steps: readonly Step[]): T | undefined {
		let node: Node<T> | undefined = this.#root
		for (const step of steps) {
			node = node.next?.get(step)
			if (node === undefined) return undefined
		}
		if (node.value !== undefined) this.#lru.touch(node)
		return node.value
	}

	/** Keeps a value from the second call on. `bytes` is its size, if it is no text. */
	keep(steps: readonly Step[], value: T, bytes: Bytes = typeof value === 'string' ? value.length : 0): void {
		let hash: number | undefined
		for (const step of steps) hash = hashOf(typeof step === 'string' ? step : String(step), hash)
		if (!this.#doorkeeper.knows(hash ?? 0)) return
		let node = this.#root
		let all = bytes
		for (const step of steps) {
			all += BYTES_OF_A_STEP + (typeof step === 'string' ? step.length : 0)
			node = node.to(step)
		}
		if (node.value !== undefined) return
		node.value = value
		node.bytes = all
		if (!this.#lru.add(node)) node.drop()
	}
}

/** A node of the tree of steps, with the value at its end. */
class Node<T> implements LruEntry {
	value: T | undefined = undefined
	bytes: Bytes = 0
	older: LruEntry | undefined = undefined
	newer: LruEntry | undefined = undefined
	next: Map<Step, Node<T>> | undefined = undefined
	readonly #parent: Node<T> | undefined
	readonly #step: Step

	constructor(parent: Node<T> | undefined, step: Step) {
		this.#parent = parent
		this.#step = step
	}

	to(step: Step): Node<T> {
		this.next ??= new Map()
		let node = this.next.get(step)
		if (node === undefined) {
			node = new Node<T>(this, step)
			this.next.set(step, node)
		}
		return node
	}

	/** Removes the value, and the nodes that only led to it. */
	drop(): void {
		this.value = undefined
		this.#prune()
	}

	#prune(): void {
		if (this.value !== undefined || (this.next?.size ?? 0) > 0) return
		const parent = this.#parent
		if (parent === undefined) return
		parent.next?.delete(this.#step)
		parent.#prune()
	}
}

/** A prepared statement costs some hundred bytes for each placeholder, on each connection, here and in the server. */
const MOST_VALUES = 128
const LONGEST_TEXT = 32_768

/** Whether a statement may stay prepared; a filter of thousands of values seldom comes again. */
export function isKept({ text, values }: Statement): boolean {
	return values.length <= MOST_VALUES && text.length <= LONGEST_TEXT
}

const MOST_PREPARED = 500
/** Of texts. PostgreSQL takes about a hundred bytes for each, on every connection: 46 MB for 0.5 MB in 300 lists (15.20). */
const MOST_BYTES_PREPARED: Bytes = 524_288

/** The statements that a driver keeps prepared, by their text. */
export class PreparedTexts<T> {
	readonly #kept = new Map<string, Prepared<T>>()
	readonly #lru: Lru
	readonly #doorkeeper = new Doorkeeper(MOST_PREPARED)
	readonly #dropped: (text: string, value: T) => void

	/** `dropped` is called for what is evicted; there are at most `most`. */
	constructor(dropped: (text: string, value: T) => void = () => {}, most = MOST_PREPARED) {
		this.#dropped = dropped
		this.#lru = new Lru(MOST_BYTES_PREPARED, most)
	}

	get(text: string): T | undefined {
		const kept = this.#kept.get(text)
		if (kept === undefined) return undefined
		this.#lru.touch(kept)
		return kept.value
	}

	/** Whether a text that isn't kept was asked for before, and so is to be added. */
	isAskedAgain(text: string): boolean {
		return this.#doorkeeper.knows(hashOf(text))
	}

	/** Keeps a value for a text that has none, unless the text is too long. */
	add(text: string, value: T): void {
		const kept = new Prepared(text, value, () => {
			this.#kept.delete(text)
			this.#dropped(text, kept.value)
		})
		if (this.#lru.add(kept)) this.#kept.set(text, kept)
	}

	/** Replaces the value of a text that has one. */
	replace(text: string, value: T): void {
		const kept = this.#kept.get(text)
		if (kept !== undefined) kept.value = value
	}

	clear(): void {
		this.#kept.clear()
		this.#doorkeeper.clear()
		this.#lru.clear()
	}
}

class Prepared<T> implements LruEntry {
	value: T
	readonly bytes: Bytes
	readonly drop: () => void
	older: LruEntry | undefined = undefined
	newer: LruEntry | undefined = undefined

	constructor(text: string, value: T, drop: () => void) {
		this.value = value
		this.bytes = text.length
		this.drop = drop
	}
}

const LRU: unique symbol = Symbol.for('verbena.lru')

/** The cache of a database, which models that are opened one by one share. */
export function lruOf(database: object): Lru {
	return sharedBy(database, LRU, Lru)
}

/** An object that is kept on the user's own one, so that all models over that share it. */
export function sharedBy<T extends object>(owner: object, key: symbol, type: new () => T): T {
	const known: unknown = Reflect.get(owner, key)
	if (known instanceof type) return known
	const made = new type()
	// Configurable: of two copies of this package each replaces what the other has made.
	if (Object.isExtensible(owner)) Object.defineProperty(owner, key, { value: made, configurable: true })
	return made
}
