/**
 * Entries by the time they end, soonest first: a binary heap whose entries know their place, so that one
 * which is deleted or replaced leaves at once and nothing stale piles up. `MemoryCache` finds in it, without
 * looking through all entries, whose time is over.
 */
import type { Milliseconds } from '../base/time.ts'

/** What the heap asks of an entry. `place` is the heap's own: nobody else writes it. */
export interface Ending {
	readonly endsAt: Milliseconds
	place: number
}

/**
 * A heap by `endsAt`: `soonest` takes constant time, `add` and `remove` at most log2 of its size in steps.
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
