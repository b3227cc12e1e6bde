/** A string that is JSON already, and is spliced into the envelope without being parsed. */

const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/**
 * JSON text made elsewhere (by a database, a cache), passed on as it is. It is trusted: what is
 * not JSON in here makes an answer that is not JSON.
 *
 *     get_report() { return new RawJson('{"a":1}') }
 *     200 {"success":true,"data":{"a":1}}
 *
 * Within another value it is written as its value: what is in it is parsed, and digits beyond a double's are lost.
 */
export class RawJson {
	// No field of its own: spread or stringified, those of a subclass would be sent, hidden ones of records among them.
	readonly #text: string

	constructor(text: string) {
		this.#text = text
	}

	/** The JSON text. */
	get text(): string {
		return this.#text
	}

	/** The parsed value, a new one at each call. `T` is the caller's word for what is in it: nothing checks it. */
	value<T = unknown>(): T {
		return JSON.parse(this.#text) as T
	}

	/** Its value, for `JSON.stringify` of what it stands in. */
	toJSON(): unknown {
		return this.value()
	}

	/** What `console.log` shows. @internal */
	[INSPECT](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
		return `${this.constructor.name} ${inspect({ text: this.#text }, options)}`
	}
}
