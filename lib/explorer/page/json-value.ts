/** A lossless JSON parser: numbers keep their digits, and objects are Maps, which keep order and `__proto__`. */

export class RawNumber {
	readonly text: string

	constructor(text: string) {
		this.text = text
	}
}

export type JsonValue =
	| null
	| boolean
	| string
	| RawNumber
	| readonly JsonValue[]
	| ReadonlyMap<string, JsonValue>

/** Deeper JSON isn't parsed, and is shown as text. */
const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: readonly (readonly [string, JsonValue])[] = [
	['true', true],
	['false', false],
	['null', null],
]

/** The value of a JSON text; `undefined` if it is invalid. */
export function parseJson(text: string): JsonValue | undefined {
	try {
		const reader = new Reader(text)
		const value = reader.value(0)
		return reader.isAtEnd() ? value : undefined
	} catch {
		return undefined
	}
}

/** A value as JSON, without spaces. */
export function textOf(value: JsonValue): string {
	if (value instanceof RawNumber) return value.text
	if (isList(value)) return `[${value.map(textOf).join(',')}]`
	if (isRecord(value))
		return `{${[...value].map(([name, one]) => `${JSON.stringify(name)}:${textOf(one)}`).join(',')}}`
	return JSON.stringify(value)
}

export function isRecord(value: JsonValue | undefined): value is ReadonlyMap<string, JsonValue> {
	return value instanceof Map
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
	return Array.isArray(value)
}

class Reader {
	readonly #text: string
	#at = 0

	constructor(text: string) {
		this.#text = text
	}

	isAtEnd(): boolean {
		this.#skip()
		return this.#at === this.#text.length
	}

	value(depth: number): JsonValue {
		if (depth > MAX_DEPTH) throw new RangeError('too deep')
		this.#skip()
		const char = this.#text[this.#at]
		if (char === '"') return this.#string()
		if (char === '{') return this.#record(depth)
		if (char === '[') return this.#list(depth)
		for (const [word, value] of WORDS) if (this.#takes(word)) return value
		return this.#number()
	}

	#record(depth: number): ReadonlyMap<string, JsonValue> {
		const record = new Map<string, JsonValue>()
		this.#members('}', () => {
			const name = this.#string()
			this.#skip()
			if (!this.#takes(':')) throw new SyntaxError('a colon is missing')
			record.set(name, this.value(depth + 1))
		})
		return record
	}

	#list(depth: number): JsonValue[] {
		const list: JsonValue[] = []
		this.#members(']', () => list.push(this.value(depth + 1)))
		return list
	}

	/** Reads the members between brackets, separated by commas. */
	#members(end: string, read: () => void): void {
		this.#at++
		this.#skip()
		if (this.#takes(end)) return
		do {
			this.#skip()
			read()
			this.#skip()
		} while (this.#takes(','))
		if (!this.#takes(end)) throw new SyntaxError(`${end} is missing`)
	}

	#string(): string {
		let end = this.#at + 1
		while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1
		const text = this.#text.slice(this.#at, end + 1)
		this.#at = end + 1
		return String(JSON.parse(text))
	}

	#number(): RawNumber {
		NUMBER.lastIndex = this.#at
		const [text] = NUMBER.exec(this.#text) ?? []
		if (text === undefined) throw new SyntaxError('no value')
		this.#at += text.length
		return new RawNumber(text)
	}

	#takes(word: string): boolean {
		if (!this.#text.startsWith(word, this.#at)) return false
		this.#at += word.length
		return true
	}

	#skip(): void {
		while (' \t\r\n'.includes(this.#text[this.#at] ?? '.')) this.#at++
	}
}
