/**
 * Entries by key: a Map in which a key that is deleted and soon put back costs what any other does.
 *
 * V8's Map leaves a hole where a key was deleted, in the chain of its hash, until the whole Map is next
 * rearranged. Put back again and again (a lock, a value that is replaced), one key of a Map of 100,000
 * gathers holes by the ten thousand, and each look-up of it walks over all: 120 µs were measured.
 */

/**
 * Keys whose places are held for them after they were deleted. Its own Set has so few that its holes don't
 * count.
 */
const MOST_VACANT = 64

/** A table whose last deleted keys leave their places late, so that a key which comes back finds its own. */
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
