/** Tells when the client of a pipelined request leaves: its response isn't told before it has the connection. */
import type { Socket } from 'node:net'
import type { Closable } from '../exchange/exchange.ts'
import type { Outgoing } from './outgoing.ts'

/** The socket, as far as it concerns one of the requests that are under way on it. */
export class Departure implements Closable {
	readonly #socket: Socket
	readonly #response: Outgoing

	constructor(socket: Socket, response: Outgoing) {
		this.#socket = socket
		this.#response = response
	}

	get destroyed(): boolean {
		return this.#socket.destroyed
	}

	/** Calls back once, unless the answer has been written before: a connection may live on for days. */
	once(event: 'close', call: () => void): void {
		// As many wait as there are requests under way, which is no leak to be warned of.
		this.#socket.setMaxListeners(0)
		this.#socket.once(event, call)
		this.#response.once(event, () => this.off(event, call))
	}

	off(event: 'close', call: () => void): void {
		this.#socket.off(event, call)
	}
}
