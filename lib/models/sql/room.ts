/**
 * `Room`: how many bytes are kept of what was written once for statements, over all models of one database. What was
 * used longest ago makes room for what comes.
 */
import { type Linked, RecencyList } from '../../base/recency-list.ts'
import type { Bytes } from '../../base/time.ts'

/** Something that is kept, and can be written again. */
export interface Kept extends Linked<Kept> {
	/** About how many bytes it takes. */
	readonly bytes: Bytes
	/** Called when it makes room for others: nobody may hold it any more. */
	drop(): void
}

/** Of all models of a database. */
const MOST_BYTES: Bytes = 8_388_608
/** The part of it that one thing may have. */
const LARGEST_PART = 16

export class Room {
	readonly #most: Bytes
	readonly #kept = new RecencyList<Kept>()
	#bytes: Bytes = 0

	constructor(most: Bytes = MOST_BYTES) {
		this.#most = most
	}

	get bytes(): Bytes {
		return this.#bytes
	}

	/** Keeps something, unless it is too large; answers whether it does. */
	add(kept: Kept): boolean {
		if (kept.bytes > this.#most / LARGEST_PART) return false
		this.#kept.add(kept)
		this.#bytes += kept.bytes
		while (this.#bytes > this.#most) {
			const { oldest } = this.#kept
			if (oldest === undefined) break
			this.#kept.remove(oldest)
			this.#bytes -= oldest.bytes
			oldest.drop()
		}
		return true
	}

	/** Notes that something that is kept is used. */
	touch(kept: Kept): void {
		this.#kept.touch(kept)
	}
}

const ROOM: unique symbol = Symbol.for('verbena.room')

/** The room of a database: models that are opened one by one share it. */
export function roomOf(database: object & { readonly [ROOM]?: unknown }): Room {
	const known = database[ROOM]
	if (known instanceof Room) return known
	const room = new Room()
	if (Object.isExtensible(database))
		Object.defineProperty(database, ROOM, { value: room, configurable: true })
	return room
}
