/**
 * Connections on which requests came before their predecessors were answered, and those that are about
 * to end. node keeps the answers in order, but runs whatever arrives, also behind a last answer.
 */

/** The part of a response that is asked of. */
export interface Answering {
	readonly writableFinished: boolean
	once(event: 'finish', call: () => void): unknown
}

/** Remembered by the server's side of a connection; nothing is kept of connections that are gone. */
export class Pipelines {
	readonly #ending = new WeakSet<object>()
	readonly #newest = new WeakMap<object, Answering>()

	/**
	 * Whether a request that came behind another may be served. Not once an answer has said that it is
	 * the last: "the server MUST NOT process any further requests received on that connection" (RFC 9112 §9.6).
	 */
	enter(connection: object, response: Answering): boolean {
		if (this.#ending.has(connection)) return false
		this.#newest.set(connection, response)
		return true
	}

	/** Told of an answer that takes its time to be written, after its request has been dealt with. */
	owe(connection: object, response: Answering): void {
		if (this.owed(connection) === undefined) this.#newest.set(connection, response)
	}

	/** Told when an answer is sent that is the last of its connection. */
	end(connection: object): void {
		this.#ending.add(connection)
	}

	/** Whether the last answer of a connection has been sent. */
	isEnding(connection: object): boolean {
		return this.#ending.has(connection)
	}

	/** The answer that is owed last, as far as it was told; `undefined` when all are written. */
	owed(connection: object): Answering | undefined {
		const newest = this.#newest.get(connection)
		return newest === undefined || newest.writableFinished ? undefined : newest
	}
}
