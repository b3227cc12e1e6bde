/**
 * `Pipelines`: connections with pipelined requests, and those that are about to end. node sends answers in order, but
 * emits every request that arrives, even after the last answer. For `transport/`.
 */

/** What we use of a response. */
export interface PendingAnswer {
	readonly writableFinished: boolean
	once(event: 'finish', call: () => void): unknown
}

/** Keeps its state in weak maps by socket: entries of closed connections are garbage-collected. */
export class Pipelines {
	readonly #ending = new WeakSet<object>()
	readonly #newest = new WeakMap<object, PendingAnswer>()

	/**
	 * Registers a pipelined request; false if it must not be served, because an answer has announced that it is the last:
	 * "the server MUST NOT process any further requests received on that connection" (RFC 9112 §9.6).
	 */
	register(connection: object, response: PendingAnswer): boolean {
		if (this.#ending.has(connection)) return false
		this.#newest.set(connection, response)
		return true
	}

	/** Registers an answer that is streamed after its request was handled. */
	addPending(connection: object, response: PendingAnswer): void {
		if (this.pendingAnswer(connection) === undefined) this.#newest.set(connection, response)
	}

	/** Marks a connection whose last answer is being sent. */
	markEnding(connection: object): void {
		this.#ending.add(connection)
	}

	isEnding(connection: object): boolean {
		return this.#ending.has(connection)
	}

	/** The newest registered answer that isn't written yet; `undefined` when all are. */
	pendingAnswer(connection: object): PendingAnswer | undefined {
		const newest = this.#newest.get(connection)
		return newest === undefined || newest.writableFinished ? undefined : newest
	}
}
