/**
 * A hash table for parts of a longer text, without slicing them: which of its keys does the text begin with, end with, or
 * have at a place? The caller rolls a hash over the characters and probes at each length that a key has. A `Map` would need
 * a new string, and its hash, for each.
 */

const FIRST_PLACES = 4
/** Lengths from here up share one bit: some are probed needlessly, which is only slower. */
const LONG = 31

/** Adds a character to a hash; the hash of no characters is 0. */
export function roll(hash: number, code: number): number {
	return (Math.imul(hash, 31) + code) | 0
}

/** The order in which keys are hashed: `forward` from the first character to the last. */
type Direction = 'forward' | 'backward'

/** Texts of at least one character, each with a value. The keys are from declared routes: clients can't add any. */
export class LiteralTable<V> {
	/** The length of the longest key, 0 without any. */
	longest = 0
	readonly #direction: Direction
	#lengths = 0
	#codes = 0
	/** Open addressing with linear probing: each place is a hash, or 0, and the number of a key. */
	#places = new Int32Array(2 * FIRST_PLACES)
	/** Dense, outside of the places, so that a match reads little memory. */
	readonly #keys: string[] = []
	readonly #values: V[] = []

	constructor(direction: Direction) {
		this.#direction = direction
	}

	get size(): number {
		return this.#keys.length
	}

	/** Whether a key may have this many characters, from 1 to `longest`. */
	hasLength(length: number): boolean {
		return (this.#lengths & (1 << Math.min(length, LONG))) !== 0
	}

	/** Whether a key may begin, in the table's order, with a character of this code. */
	mayBegin(code: number): boolean {
		return (this.#codes & (1 << (code & 31))) !== 0
	}

	/** The value of the key `text[start, start + length)`, given its rolled hash. */
	probe(rolled: number, text: string, start: number, length: number): V | undefined {
		const places = this.#places
		const hash = scramble(rolled)
		const mask = places.length - 1
		for (let at = (hash << 1) & mask; places[at] !== 0; at = (at + 2) & mask) {
			if (places[at] !== hash) continue
			const number = places[at + 1] ?? 0
			// Twice as fast as startsWith(key, start), which compares by character.
			if (this.#keys[number] === text.slice(start, start + length)) return this.#values[number]
		}
		return undefined
	}

	/** The value of a whole text. */
	get(text: string): V | undefined {
		const length = text.length
		if (length > this.longest) return undefined
		return this.probe(hashOf(text, this.#direction), text, 0, length)
	}

	/** Sets the value of a text. */
	set(key: string, value: V): void {
		const hash = scramble(hashOf(key, this.#direction))
		let at = this.#find(hash, key)
		if (this.#places[at] === 0) {
			if (this.#keys.length * 8 >= this.#places.length * 3) {
				this.#grow()
				at = this.#find(hash, key)
			}
			this.#places[at] = hash
			this.#places[at + 1] = this.#keys.push(key) - 1
			this.#lengths |= 1 << Math.min(key.length, LONG)
			this.#codes |= 1 << (key.charCodeAt(this.#direction === 'forward' ? 0 : key.length - 1) & 31)
			this.longest = Math.max(this.longest, key.length)
		}
		this.#values[this.#places[at + 1] ?? 0] = value
	}

	/** The place of a key, or the empty one for it. */
	#find(hash: number, key: string): number {
		const places = this.#places
		const mask = places.length - 1
		let at = (hash << 1) & mask
		while (places[at] !== 0 && (places[at] !== hash || this.#keys[places[at + 1] ?? 0] !== key)) {
			at = (at + 2) & mask
		}
		return at
	}

	/** Doubles the places: they are at most three quarters full, so that a search soon finds a 0. */
	#grow(): void {
		const old = this.#places
		this.#places = new Int32Array(2 * old.length)
		for (let from = 0; from < old.length; from += 2) {
			const hash = old[from] ?? 0
			const number = old[from + 1] ?? 0
			if (hash === 0) continue
			const at = this.#find(hash, this.#keys[number] ?? '')
			this.#places[at] = hash
			this.#places[at + 1] = number
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

/** Mixes a rolled hash into its low bits, which choose the place; never 0. */
function scramble(rolled: number): number {
	const mixed = Math.imul(rolled ^ (rolled >>> 15), 0x2c1b3c6d)
	return mixed ^ (mixed >>> 13) || 1
}
