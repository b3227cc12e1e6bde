/**
 * A hash table that is looked up by parts of a text without slicing them: which of its keys does the text begin with,
 * end with, or have at a position? The caller computes a rolling hash over the characters, and probes at each length
 * that a key has. A `Map` would need a new string, and its hash, for each probe.
 */

const INITIAL_SLOTS = 4
/** Lengths from here up share one bit of `#lengths`, so some are probed needlessly. */
const LAST_LENGTH_BIT = 31

/** Adds a character to a rolling hash; the empty text has the hash 0. */
export function roll(hash: number, code: number): number {
	return (Math.imul(hash, 31) + code) | 0
}

/** The order in which keys are hashed: `forward` from the first character to the last. */
type Direction = 'forward' | 'backward'

/**
 * A hash table with non-empty keys, by open addressing with linear probing. Keys come from declared routes: clients can't
 * add any.
 */
export class LiteralTable<V> {
	/** The length of the longest key, 0 without any. */
	maxLength = 0
	readonly #direction: Direction
	/** Bit sets of the keys' lengths, and of their first characters' codes. */
	#lengths = 0
	#codes = 0
	/** Each slot is a pair: the hash of a key (0 if the slot is empty), and the index of the key. */
	#slots = new Int32Array(2 * INITIAL_SLOTS)
	/** Kept in dense lists, not in the slots, so that a match reads little memory. */
	readonly #keys: string[] = []
	readonly #values: V[] = []

	constructor(direction: Direction) {
		this.#direction = direction
	}

	get size(): number {
		return this.#keys.length
	}

	/** Whether a key may have this length, from 1 to `maxLength`. */
	mayHaveLength(length: number): boolean {
		return (this.#lengths & (1 << Math.min(length, LAST_LENGTH_BIT))) !== 0
	}

	/** Whether a key may begin, in the table's direction, with a character of this code. */
	mayBegin(code: number): boolean {
		return (this.#codes & (1 << (code & 31))) !== 0
	}

	/** The value of the key `text[start, start + length)`, given its rolling hash. */
	probe(rollingHash: number, text: string, start: number, length: number): V | undefined {
		const slots = this.#slots
		const hash = scramble(rollingHash)
		const mask = slots.length - 1
		for (let at = (hash << 1) & mask; slots[at] !== 0; at = (at + 2) & mask) {
			if (slots[at] !== hash) continue
			const index = slots[at + 1] ?? 0
			// Twice as fast as startsWith(key, start), which compares character by character.
			if (this.#keys[index] === text.slice(start, start + length)) return this.#values[index]
		}
		return undefined
	}

	get(text: string): V | undefined {
		const length = text.length
		if (length > this.maxLength) return undefined
		return this.probe(hashOf(text, this.#direction), text, 0, length)
	}

	set(key: string, value: V): void {
		const hash = scramble(hashOf(key, this.#direction))
		let at = this.#find(hash, key)
		if (this.#slots[at] === 0) {
			if (this.#keys.length * 8 >= this.#slots.length * 3) {
				this.#grow()
				at = this.#find(hash, key)
			}
			this.#slots[at] = hash
			this.#slots[at + 1] = this.#keys.push(key) - 1
			this.#lengths |= 1 << Math.min(key.length, LAST_LENGTH_BIT)
			this.#codes |= 1 << (key.charCodeAt(this.#direction === 'forward' ? 0 : key.length - 1) & 31)
			this.maxLength = Math.max(this.maxLength, key.length)
		}
		this.#values[this.#slots[at + 1] ?? 0] = value
	}

	/** The slot of a key, or the empty slot for it. */
	#find(hash: number, key: string): number {
		const slots = this.#slots
		const mask = slots.length - 1
		let at = (hash << 1) & mask
		while (slots[at] !== 0 && (slots[at] !== hash || this.#keys[slots[at + 1] ?? 0] !== key)) {
			at = (at + 2) & mask
		}
		return at
	}

	/** Doubles the slots. At most three quarters are used, so that probing soon finds an empty one. */
	#grow(): void {
		const old = this.#slots
		this.#slots = new Int32Array(2 * old.length)
		for (let from = 0; from < old.length; from += 2) {
			const hash = old[from] ?? 0
			const index = old[from + 1] ?? 0
			if (hash === 0) continue
			const at = this.#find(hash, this.#keys[index] ?? '')
			this.#slots[at] = hash
			this.#slots[at + 1] = index
		}
	}
}

function hashOf(text: string, direction: Direction): number {
	let hash = 0
	if (direction === 'forward') {
		for (let at = 0; at < text.length; at++) hash = roll(hash, text.charCodeAt(at))
	} else {
		for (let at = text.length - 1; at >= 0; at--) hash = roll(hash, text.charCodeAt(at))
	}
	return hash
}

/** Mixes the bits of a rolling hash into its low bits, which choose the slot; never 0. */
function scramble(rollingHash: number): number {
	const mixed = Math.imul(rollingHash ^ (rollingHash >>> 15), 0x2c1b3c6d)
	return mixed ^ (mixed >>> 13) || 1
}
