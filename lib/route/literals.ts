/**
 * A hash table that is asked about parts of a longer text without cutting them out: which of its keys
 * does the text begin with, end with, or hold at a place? The caller rolls a hash over the characters
 * and asks at each length that a key has. A `Map` would need a new string, and its hash, for each.
 */

const FIRST_CAPACITY = 8
/** Lengths from here up share one bit, so they are probed for without need, which is only slower. */
const LONG = 31

/** Takes the next character into a hash; the hash of no characters is 0. */
export function roll(hash: number, code: number): number {
	return (Math.imul(hash, 31) + code) | 0
}

/** The order in which a table's keys are rolled over: `forward` from the first character to the last. */
export type Direction = 'forward' | 'backward'

/** Texts of at least one character, each with a value. The keys are the routes' own: no client adds any. */
export class LiteralTable<V> {
	/** The length of the longest key, 0 without any. */
	longest = 0
	readonly #direction: Direction
	#lengths = 0
	#codes = 0
	#size = 0
	/** Open addressing, at most half full. 0 is an empty place. */
	#hashes = new Int32Array(FIRST_CAPACITY)
	#keys: string[] = new Array(FIRST_CAPACITY).fill('')
	#values: (V | undefined)[] = new Array(FIRST_CAPACITY).fill(undefined)

	constructor(direction: Direction) {
		this.#direction = direction
	}

	/** Whether a key may have this many characters, from 1 to `longest`. */
	hasLength(length: number): boolean {
		return (this.#lengths & (1 << Math.min(length, LONG))) !== 0
	}

	/** Whether a key may begin, in the order of the table, with a character of this code. */
	mayBegin(code: number): boolean {
		return (this.#codes & (1 << (code & 31))) !== 0
	}

	/** The value of the key that is `text[start, start + length)`, given the hash rolled over it. */
	probe(rolled: number, text: string, start: number, length: number): V | undefined {
		const hash = scramble(rolled)
		const mask = this.#hashes.length - 1
		for (let at = hash & mask; this.#hashes[at] !== 0; at = (at + 1) & mask) {
			if (this.#hashes[at] !== hash) continue
			const key = this.#keys[at] ?? ''
			if (key.length === length && text.startsWith(key, start)) return this.#values[at]
		}
		return undefined
	}

	/** The value of a whole text. */
	get(text: string): V | undefined {
		const length = text.length
		if (length > this.longest) return undefined
		return this.probe(hashOf(text, this.#direction), text, 0, length)
	}

	/** Gives a text a value, in place of the one it had. */
	set(key: string, value: V): void {
		if (this.#size * 2 >= this.#hashes.length) this.#grow()
		const at = this.#place(scramble(hashOf(key, this.#direction)), key)
		if (this.#keys[at] === '') this.#size++
		this.#keys[at] = key
		this.#values[at] = value
		this.#lengths |= 1 << Math.min(key.length, LONG)
		this.#codes |= 1 << (key.charCodeAt(this.#direction === 'forward' ? 0 : key.length - 1) & 31)
		this.longest = Math.max(this.longest, key.length)
	}

	/** Where a key is, or else the empty place for it, marked with its hash. */
	#place(hash: number, key: string): number {
		const mask = this.#hashes.length - 1
		let at = hash & mask
		while (this.#hashes[at] !== 0 && this.#keys[at] !== key) at = (at + 1) & mask
		this.#hashes[at] = hash
		return at
	}

	#grow(): void {
		const hashes = this.#hashes
		const keys = this.#keys
		const values = this.#values
		const capacity = hashes.length * 4
		this.#hashes = new Int32Array(capacity)
		this.#keys = new Array(capacity).fill('')
		this.#values = new Array(capacity).fill(undefined)
		for (const [from, key] of keys.entries()) {
			if (key === '') continue
			const to = this.#place(hashes[from] ?? 0, key)
			this.#keys[to] = key
			this.#values[to] = values[from]
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

/** Spreads a rolled hash over its low bits, which choose the place, and never answers 0. */
function scramble(rolled: number): number {
	const mixed = Math.imul(rolled ^ (rolled >>> 15), 0x2c1b3c6d)
	return mixed ^ (mixed >>> 13) || 1
}
