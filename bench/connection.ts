/** A keep-alive connection that sends one request at a time, and knows how long the response is. */
import { connect, type Socket } from 'node:net'

/** What every response of one server to one workload looks like. */
export interface Expected {
	/** Bytes of a whole response, including its head; if lengths vary, the `Content-Length` line up to its digits. */
	readonly length: number | Buffer
	readonly status: number
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/**
 * Counts bytes instead of parsing responses, so that one core can keep a server on another core busy. Every status is
 * checked; a response of any other length ends the run.
 */
export class Connection {
	/** Called after each complete response. */
	onAnswer: () => void = () => {}
	/** Called once, when the server closes the connection or sends something unexpected. */
	onError: (error: Error) => void = () => {}
	readonly #socket: Socket
	readonly #expected: Expected
	#received = 0
	/** Length of the response that is being received. */
	#whole = 0

	/** Connections may share one `buffer`: Node calls back after each read, before it reads again. */
	constructor(port: number, expected: Expected, buffer: Buffer) {
		this.#expected = expected
		const callback = (length: number): boolean => this.#read(length, buffer)
		this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
		this.#socket.on('error', (error) => this.onError(error))
		this.#socket.setTimeout(10_000, () => this.onError(new Error('no whole answer within 10 s')))
		this.#socket.on('close', () => this.onError(new Error('the server has closed a connection')))
	}

	/** Sends a request. The previous one must have been answered. */
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
 * The length of the response at the start of the buffer. Its head must arrive in one piece, as the heads of all peers do. What
 * follows in the buffer may be left from an earlier response, so only the first match counts. NaN, which equals no byte
 * count, if there is no length line.
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

/** The three digits after `HTTP/1.1 `; NaN if the buffer ends before them. */
function statusOf(buffer: Buffer): number {
	const digit = (at: number): number => (buffer[at] ?? Number.NaN) - 48
	return digit(9) * 100 + digit(10) * 10 + digit(11)
}
