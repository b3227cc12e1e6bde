/** `RawJson`: serialized JSON, which is sent as it is. Used by handlers, models and replies, and by the client's types. */

const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/**
 * JSON text made elsewhere (by a database, a cache), sent as it is, without parsing. It is trusted: text that isn't
 * JSON makes a response that isn't JSON.
 *
 *     get_report() { return new RawJson('{"a":1}') }
 *     200 {"success":true,"data":{"a":1}}
 *
 * Inside another value it is parsed and written again: numbers are then rounded to doubles.
 */
export class RawJson {
	// Private, so that spreading a record doesn't copy the text, which may have fields that must stay hidden.
	readonly #text: string

	constructor(text: string) {
		this.#text = text
	}

	/** The JSON text. */
	get text(): string {
		return this.#text
	}

	/** The parsed value, a new one at each call. `T` is not checked. */
	value<T = unknown>(): T {
		return JSON.parse(this.#text) as T
	}

	/** Called by `JSON.stringify` if this is inside another value. */
	toJSON(): unknown {
		return this.value()
	}

	/** What `console.log` shows. @internal */
	[INSPECT](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
		return `${this.constructor.name} ${inspect({ text: this.#text }, options)}`
	}
}
