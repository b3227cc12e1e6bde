/**
 * Entries by last use, oldest first: a list linked through the entries themselves. A Map's own order would
 * do, but V8 leaves a hole where a first key was deleted and walks over all of them to find the next one.
 */

/** What the list asks of an entry. Both are the list's own: nobody else writes them. */
export interface Linked<E> {
	older: E | undefined
	newer: E | undefined
}

/** A doubly linked list; each operation takes constant time. */
export class RecencyList<E extends Linked<E>> {
	#oldest: E | undefined
	#newest: E | undefined

	/** The entry that was not used for the longest time. */
	get oldest(): E | undefined {
		return this.#oldest
	}

	/** Puts in an entry that is in no list, as the last used. */
	add(entry: E): void {
		entry.older = this.#newest
		if (this.#newest === undefined) this.#oldest = entry
		else this.#newest.newer = entry
		this.#newest = entry
	}

	/** Takes out an entry that is in the list. */
	remove(entry: E): void {
		if (entry.older === undefined) this.#oldest = entry.newer
		else entry.older.newer = entry.newer
		if (entry.newer === undefined) this.#newest = entry.older
		else entry.newer.older = entry.older
		entry.older = undefined
		entry.newer = undefined
	}

	/** Makes an entry of the list the last used. */
	touch(entry: E): void {
		if (entry === this.#newest) return
		this.remove(entry)
		this.add(entry)
	}
}
