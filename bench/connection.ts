/** A keep-alive connection that asks one request at a time and knows how long the answer is. */
import { connect, type Socket } from 'node:net'

/** What every answer of one server to one workload looks like. */
export interface Expected {
	/** Bytes of a whole answer, head included; of answers that vary, the start of the line that says it. */
	readonly length: number | Buffer
	readonly status: number
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

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
	/** Bytes of the answer that is coming in. */
	#whole = 0

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
		if (this.#received === 0) {
			if (statusOf(buffer) !== this.#expected.status) return this.#fail(`status ${statusOf(buffer)}`)
			this.#whole = lengthOf(buffer, this.#expected.length)
		}
		this.#received += length
		if (this.#received < this.#whole) return true
		if (this.#received !== this.#whole) return this.#fail(`${this.#received} bytes`)
		this.#received = 0
		this.onAnswer()
		return true
	}

	#fail(found: string): boolean {
		const { status } = this.#expected
		this.onError(new Error(`expected status ${status} and ${this.#whole} bytes, got ${found}`))
		this.close()
		return false
	}
}

/**
 * Bytes of the whole answer that begins the buffer. Heads come in one piece, as those of all our peers do;
 * what is behind them in the buffer may be of an earlier answer, so only the first match counts. NaN, which
 * no count equals, where the length isn't said.
 */
function lengthOf(buffer: Buffer, expected: number | Buffer): number {
	if (typeof expected === 'number') return expected
	const end = buffer.indexOf(END_OF_HEAD)
	const line = buffer.indexOf(expected)
	if (line === -1 || line > end) return Number.NaN
	let length = 0
	for (let at = line + expected.length; buffer[at] !== 13; at++) length = length * 10 + (buffer[at] ?? 0) - 48
	return end + END_OF_HEAD.length + length
}

/** The three digits after `HTTP/1.1 `; NaN of a piece that ends before them. */
function statusOf(buffer: Buffer): number {
	const digit = (at: number): number => (buffer[at] ?? Number.NaN) - 48
	return digit(9) * 100 + digit(10) * 10 + digit(11)
}
