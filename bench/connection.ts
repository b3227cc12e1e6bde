/** A keep-alive connection that asks one request at a time and knows how long the answer is. */
import { connect, type Socket } from 'node:net'

/** What every answer of one server to one workload looks like. */
export interface Expected {
	/** Bytes of a whole answer, head included. */
	readonly length: number
	readonly status: number
}

/**
 * Counts bytes instead of parsing answers, so that one core can keep a server on another core busy.
 * The status is checked on every answer; any answer of another length ends the run.
 */
export class Connection {
	/** Called after each whole answer. */
	onAnswer: () => void = () => {}
	/** Called once, when the server closes or answers something else than expected. */
	onError: (error: Error) => void = () => {}
	readonly #socket: Socket
	readonly #expected: Expected
	#received = 0

	/** `buffer` may be shared by many connections: Node hands out what it has read before it reads on. */
	constructor(port: number, expected: Expected, buffer: Buffer) {
		this.#expected = expected
		const callback = (length: number): boolean => this.#read(length, buffer)
		this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
		this.#socket.on('error', (error) => this.onError(error))
		this.#socket.setTimeout(10_000, () => this.onError(new Error('no whole answer within 10 s')))
		this.#socket.on('close', () => this.onError(new Error('the server has closed a connection')))
	}

	/** Sends a request. The answer to the one before must have come. */
	send(request: Buffer): void {
		this.#socket.write(request)
	}

	close(): void {
		this.onError = () => {}
		this.#socket.destroy()
	}

	#read(length: number, buffer: Buffer): boolean {
		const { length: whole, status } = this.#expected
		if (this.#received === 0 && statusOf(buffer) !== status) return this.#fail(`status ${statusOf(buffer)}`)
		this.#received += length
		if (this.#received < whole) return true
		if (this.#received > whole) return this.#fail(`${this.#received} bytes`)
		this.#received = 0
		this.onAnswer()
		return true
	}

	#fail(found: string): boolean {
		const { length, status } = this.#expected
		this.onError(new Error(`expected status ${status} and ${length} bytes, got ${found}`))
		this.close()
		return false
	}
}

/** The three digits after `HTTP/1.1 `; NaN of a piece that ends before them. */
function statusOf(buffer: Buffer): number {
	const digit = (at: number): number => (buffer[at] ?? Number.NaN) - 48
	return digit(9) * 100 + digit(10) * 10 + digit(11)
}
