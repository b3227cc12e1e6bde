/**
 * Bounded LRU caches of statements. Clients choose fields, orders and conditions, so a text is only cached when it is
 * used for the second time (`Doorkeeper`). `TextCache` holds the texts of all models of a database; `PreparedTexts`
 * holds the statements that a driver keeps prepared. `LruMap` is for anything else.
 */
import { attached } from '../../base/attached.ts'
import { type Linked, RecencyList } from '../../base/recency-list.ts'
import type { Bytes } from '../../base/time.ts'
import type { Statement } from './driver.ts'

export interface LruEntry extends Linked<LruEntry> {
	/** Approximate size. */
	readonly bytes: Bytes
	/** Called on eviction; the entry must not be used after it. */
	drop(): void
}

/** Maximum size of the cache that all models of a database share. */
const MAX_BYTES: Bytes = 8_388_608
/** An entry may take at most 1/16 of the cache. */
const MAX_ENTRY_SHARE = 1 / 16

/** LRU list, bounded by the entries' bytes and number. */
export class Lru {
	readonly #maxBytes: Bytes
	readonly #maxEntries: number
	#entries = new RecencyList<LruEntry>()
	#bytes: Bytes = 0
	#size = 0

	constructor(maxBytes: Bytes = MAX_BYTES, maxEntries: number = Number.POSITIVE_INFINITY) {
		this.#maxBytes = maxBytes
		this.#maxEntries = maxEntries
	}

	get bytes(): Bytes {
		return this.#bytes
	}

	/** Adds an entry and returns true, unless it is too large. */
	add(entry: LruEntry): boolean {
		if (entry.bytes > this.#maxBytes * MAX_ENTRY_SHARE) return false
		this.#entries.add(entry)
		this.#bytes += entry.bytes
		this.#size++
		while (this.#bytes > this.#maxBytes || this.#size > this.#maxEntries) {
			const { oldest } = this.#entries
			if (oldest === undefined) break
			this.#entries.remove(oldest)
			this.#bytes -= oldest.bytes
			this.#size--
			oldest.drop()
		}
		return true
	}

	/** Marks an entry as the most recently used. */
	touch(entry: LruEntry): void {
		if (entry.newer !== undefined) this.#entries.touch(entry)
	}

	/** Removes all entries without calling `drop`. */
	clear(): void {
		this.#entries = new RecencyList()
		this.#bytes = 0
		this.#size = 0
	}
}

/** A map whose entries are evicted when its list is full, the least recently used first. */
export class LruMap<K, V> {
	readonly #kept = new Map<K, LruEntry & { value: V }>()
	readonly #lru: Lru
	readonly #onEvict: ((key: K, value: V) => void) | undefined

	/** @param lru may be shared with others */
	constructor(lru: Lru, onEvict?: (key: K, value: V) => void) {
		this.#lru = lru
		this.#onEvict = onEvict
	}

	get(key: K): V | undefined {
		const kept = this.#kept.get(key)
		if (kept === undefined) return undefined
		this.#lru.touch(kept)
		return kept.value
	}

	/** Adds a key that isn't there, unless it is too large. */
	add(key: K, value: V, bytes: Bytes): void {
		const drop = () => {
			this.#kept.delete(key)
			this.#onEvict?.(key, kept.value)
		}
		const kept = { value, bytes, drop, older: undefined, newer: undefined }
		if (this.#lru.add(kept)) this.#kept.set(key, kept)
	}

	replace(key: K, value: V): void {
		const kept = this.#kept.get(key)
		if (kept !== undefined) kept.value = value
	}

	/** Removes all entries, if the list isn't shared. */
	clear(): void {
		this.#kept.clear()
		this.#lru.clear()
	}
}

/** Remembers the latest hashes that were seen only once, so that only repeated keys are admitted to a cache. */
class Doorkeeper {
	readonly #maxHashes: number
	/** Oldest first. */
	readonly #seen = new Set<number>()

	constructor(maxHashes: number) {
		this.#maxHashes = maxHashes
	}

	/** Whether a hash was seen before; after the second call for a hash it is forgotten. */
	wasSeen(hash: number): boolean {
		if (this.#seen.delete(hash)) return true
		this.#seen.add(hash)
		if (this.#seen.size > this.#maxHashes) for (const oldest of this.#seen) return !this.#seen.delete(oldest)
		return false
	}

	clear(): void {
		this.#seen.clear()
	}
}

/** FNV-1a. A collision only means that a text is cached at its first use. */
function hashOf(text: string, hash = 0x811c9dc5): number {
	let result = hash
	for (let at = 0; at < text.length; at++) result = Math.imul(result ^ text.charCodeAt(at), 0x01000193)
	return Math.imul(result ^ 0x1f, 0x01000193)
}

/** Part of a cache key: a field's name, a number, or a symbol for anything else. */
export type KeyPart = string | symbol | number

const MAX_SEEN = 100
/** Approximate size of a node and its map. */
const NODE_BYTES: Bytes = 300

/**
 * Cache of the texts of statements or of their parts: a trie over the parts of the key. Building a text for each
 * request would be cheap, but the driver finds the prepared statement by the text's hash, which must be computed for
 * each new string.
 */
export class TextCache<T = string> {
	readonly #lru: Lru
	readonly #root = new Node<T>(undefined, '')
	readonly #doorkeeper = new Doorkeeper(MAX_SEEN)

	constructor(lru: Lru) {
		this.#lru = lru
	}

	get(key: readonly KeyPart[]): T | undefined {
		let node: Node<T> | undefined = this.#root
		for (const part of key) {
			node = node.next?.get(part)
			if (node === undefined) return undefined
		}
		if (node.value !== undefined) this.#lru.touch(node)
		return node.value
	}

	/** Stores a value at the second call for its key. `bytes` is the size of a value that isn't a string. */
	keep(key: readonly KeyPart[], value: T, bytes: Bytes = typeof value === 'string' ? value.length : 0): void {
		let hash: number | undefined
		for (const part of key) hash = hashOf(typeof part === 'string' ? part : String(part), hash)
		if (!this.#doorkeeper.wasSeen(hash ?? 0)) return
		let node = this.#root
		let total = bytes
		for (const part of key) {
			total += NODE_BYTES + (typeof part === 'string' ? part.length : 0)
			node = node.child(part)
		}
		if (node.value !== undefined) return
		node.value = value
		node.bytes = total
		if (!this.#lru.add(node)) node.drop()
	}
}

/** A node of the trie; `value` belongs to the key that ends here. */
class Node<T> implements LruEntry {
	value: T | undefined = undefined
	bytes: Bytes = 0
	older: LruEntry | undefined = undefined
	newer: LruEntry | undefined = undefined
	next: Map<KeyPart, Node<T>> | undefined = undefined
	readonly #parent: Node<T> | undefined
	readonly #part: KeyPart

	constructor(parent: Node<T> | undefined, part: KeyPart) {
		this.#parent = parent
		this.#part = part
	}

	child(part: KeyPart): Node<T> {
		this.next ??= new Map()
		let node = this.next.get(part)
		if (node === undefined) {
			node = new Node<T>(this, part)
			this.next.set(part, node)
		}
		return node
	}

	/** Removes the value and the nodes that led only to it. */
	drop(): void {
		this.value = undefined
		this.#prune()
	}

	#prune(): void {
		if (this.value !== undefined || (this.next?.size ?? 0) > 0) return
		const parent = this.#parent
		if (parent === undefined) return
		parent.next?.delete(this.#part)
		parent.#prune()
	}
}

/** Maximum of placeholders in a prepared statement: each takes some hundred bytes per connection, on both sides. */
const MAX_VALUES = 128
const MAX_TEXT_LENGTH = 32_768

/** Whether a statement may stay prepared. Not if it is long: a filter with thousands of values is seldom repeated. */
export function isKept({ text, values }: Statement): boolean {
	return values.length <= MAX_VALUES && text.length <= MAX_TEXT_LENGTH
}

const MAX_PREPARED = 500
/** PostgreSQL needs about 100 bytes per byte of text and connection: 46 MB for 0.5 MB in 300 statements (15.20). */
const MAX_PREPARED_BYTES: Bytes = 524_288

/** LRU cache of the statements that a driver keeps prepared, by their text. */
export class PreparedTexts<T> extends LruMap<string, T> {
	readonly #doorkeeper = new Doorkeeper(MAX_PREPARED)

	constructor(onEvict?: (text: string, value: T) => void, maxEntries = MAX_PREPARED) {
		super(new Lru(MAX_PREPARED_BYTES, maxEntries), onEvict)
	}

	/** Whether a text that isn't in the cache was asked for before, and so should be added. */
	isSeenAgain(text: string): boolean {
		return this.#doorkeeper.wasSeen(hashOf(text))
	}

	/** Adds a text that isn't in the cache, unless it is too long. */
	override add(text: string, value: T): void {
		super.add(text, value, text.length)
	}

	override clear(): void {
		super.clear()
		this.#doorkeeper.clear()
	}
}

const LRU: unique symbol = Symbol('verbena.lru')

/** The cache that all models of a database share. */
export function lruOf(database: object): Lru {
	return attached(database, LRU, () => new Lru())
}
