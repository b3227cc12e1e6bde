/**
 * `Pipelines`: connections with pipelined requests, and those that are about to end. node keeps answers in order, but
 * runs whatever arrives, even after the last answer. For `transport/`.
 */

/** What we use of a response. */
export interface Answering {
	readonly writableFinished: boolean
	once(event: 'finish', call: () => void): unknown
}

/** Keyed weakly by our side of a connection: entries of closed connections are garbage-collected. */
export class Pipelines {
	readonly #ending = new WeakSet<object>()
	readonly #newest = new WeakMap<object, Answering>()

	/**
	 * Registers a pipelined request; false if it must not be served, because an answer has announced that it is the last:
	 * "the server MUST NOT process any further requests received on that connection" (RFC 9112 §9.6).
	 */
	enter(connection: object, response: Answering): boolean {
		if (this.#ending.has(connection)) return false
		this.#newest.set(connection, response)
		return true
	}

	/** Registers an answer that is streamed after its request was handled. */
	owe(connection: object, response: Answering): void {
		if (this.owed(connection) === undefined) this.#newest.set(connection, response)
	}

	/** Registers that the last answer of a connection is being sent. */
	end(connection: object): void {
		this.#ending.add(connection)
	}

	/** Whether the last answer of a connection is being sent, or has been. */
	isEnding(connection: object): boolean {
		return this.#ending.has(connection)
	}

	/** The newest registered answer that isn't written yet; `undefined` when all are. */
	owed(connection: object): Answering | undefined {
		const newest = this.#newest.get(connection)
		return newest === undefined || newest.writableFinished ? undefined : newest
	}
}
