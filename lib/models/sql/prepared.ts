/**
 * Which statements a driver keeps prepared. Clients choose which lists they ask for: so that none of them takes the
 * place of what others ask for again and again, `PreparedTexts` keeps nothing that is asked for once, and what was used
 * longest ago makes room. Used by the drivers of the databases.
 */
import type { Bytes } from '../../base/time.ts'
import type { Statement } from './driver.ts'

/** A prepared statement costs some hundred bytes a placeholder, on each connection, here and in the server. */
const MOST_VALUES = 128
const LONGEST_TEXT = 32_768

/** Whether it is worth its memory; a filter of thousands of values seldom comes again. */
export function isKept({ text, values }: Statement): boolean {
	return values.length <= MOST_VALUES && text.length <= LONGEST_TEXT
}

const MOST = 500
/** Of texts. For each byte PostgreSQL takes about a hundred on every connection: 46 MB for 0.5 MB in 300 lists (15.20). */
const MOST_BYTES: Bytes = 524_288

interface Kept<T> {
	value: T
	/** The larger, the later it was used. */
	used: number
}

export class PreparedTexts<T> {
	readonly #kept = new Map<string, Kept<T>>()
	/** Texts that were asked for once, the oldest first. */
	readonly #once = new Set<string>()
	readonly #dropped: (text: string, value: T) => void
	readonly #most: number
	#uses = 0
	#bytes: Bytes = 0
	#bytesOnce: Bytes = 0

	/** `dropped` is told what has made room; there are at most `most`. */
	constructor(dropped: (text: string, value: T) => void = () => {}, most = MOST) {
		this.#dropped = dropped
		this.#most = most
	}

	/** What is kept for a text. */
	get(text: string): T | undefined {
		const kept = this.#kept.get(text)
		if (kept === undefined) return undefined
		kept.used = ++this.#uses
		return kept.value
	}

	/** Whether what isn't kept is to be from now on: it has been asked for before. */
	isAskedAgain(text: string): boolean {
		if (this.#once.delete(text)) {
			this.#bytesOnce -= text.length
			return true
		}
		this.#once.add(text)
		this.#bytesOnce += text.length
		for (const oldest of this.#once) {
			if (this.#once.size <= MOST && this.#bytesOnce <= MOST_BYTES) break
			this.#once.delete(oldest)
			this.#bytesOnce -= oldest.length
		}
		return false
	}

	/** Keeps something for a text that has nothing yet. */
	add(text: string, value: T): void {
		this.#kept.set(text, { value, used: ++this.#uses })
		this.#bytes += text.length
		while (this.#kept.size > this.#most || this.#bytes > MOST_BYTES) this.#dropOldest()
	}

	/** Keeps something else for a text that has something. */
	replace(text: string, value: T): void {
		const kept = this.#kept.get(text)
		if (kept !== undefined) kept.value = value
	}

	clear(): void {
		this.#kept.clear()
		this.#once.clear()
		this.#bytes = 0
		this.#bytesOnce = 0
	}

	/** Looked for among all: that costs some microseconds where something new is kept, and nothing where all is known. */
	#dropOldest(): void {
		let oldest: string | undefined
		let earliest = Number.POSITIVE_INFINITY
		for (const [text, { used }] of this.#kept) {
			if (used >= earliest) continue
			oldest = text
			earliest = used
		}
		const kept = oldest === undefined ? undefined : this.#kept.get(oldest)
		if (oldest === undefined || kept === undefined) return
		this.#kept.delete(oldest)
		this.#bytes -= oldest.length
		this.#dropped(oldest, kept.value)
	}
}
