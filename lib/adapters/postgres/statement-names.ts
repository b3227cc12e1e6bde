/**
 * Names of prepared statements, one for each text, the same on all connections of a pool. There are only so
 * many: each costs the server memory on every connection, until the connection ends.
 */
import { createHash } from 'node:crypto'

const MOST = 500

export class StatementNames {
	readonly #names = new Map<string, string>()
	#renewals = 0
	#isOff = false

	/** The text's name; `undefined` when there are too many, so that it goes unprepared. */
	of(text: string): string | undefined {
		if (this.#isOff) return undefined
		const known = this.#names.get(text)
		if (known !== undefined) return known
		if (this.#names.size >= MOST) return undefined
		// Of the text, so that two models on one pool have one name for it.
		const name = `verbena_${createHash('sha1').update(text).digest('base64url')}`
		this.#names.set(text, name)
		return name
	}

	/** Gives the text another name: what is prepared under this one can't be used any more. */
	renew(text: string, name: string): void {
		// Another connection may have met it before.
		if (this.#names.get(text) !== name) return
		this.#renewals++
		this.#names.set(text, `${name.slice(0, 40)}_${this.#renewals}`)
	}

	/** Prepares nothing any more: between us and the server is something that mixes connections up. */
	turnOff(): void {
		this.#isOff = true
		this.#names.clear()
	}
}
