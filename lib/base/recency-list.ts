/**
 * `RecencyList`: entries in order of use, oldest first, for LRU caches and wait queues. A Map is ordered too, but V8 leaves
 * a hole for each deleted key, and walks over all holes to find the first entry.
 */

/** An entry's neighbours, which only the list writes. */
export interface Linked<E> {
	older: E | undefined
	newer: E | undefined
}

/** A list linked through its entries; each operation takes constant time. */
export class RecencyList<E extends Linked<E>> {
	#oldest: E | undefined
	#newest: E | undefined

	/** The least recently used entry. */
	get oldest(): E | undefined {
		return this.#oldest
	}

	/** Adds an entry that is in no list, as the most recently used. */
	add(entry: E): void {
		entry.older = this.#newest
		if (this.#newest === undefined) this.#oldest = entry
		else this.#newest.newer = entry
		this.#newest = entry
	}

	/** Removes an entry that is in the list. */
	remove(entry: E): void {
		if (entry.older === undefined) this.#oldest = entry.newer
		else entry.older.newer = entry.newer
		if (entry.newer === undefined) this.#newest = entry.older
		else entry.newer.older = entry.older
		entry.older = undefined
		entry.newer = undefined
	}

	/** Makes an entry of the list the most recently used. */
	touch(entry: E): void {
		if (entry === this.#newest) return
		this.remove(entry)
		this.add(entry)
	}
}
