/** A request of the Fetch standard as every other: its URL is split, its body is read as it is asked for. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { isUint8Array } from 'node:util/types'
import type { Bytes } from '../base/time.ts'
import type { Incoming, Peer } from '../request/incoming.ts'

/** Which say where a message ends, or where it goes: that is told by the request itself. */
const OF_THE_MESSAGE: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding'])

/** Pieces after which others get their turn: of a body that is in memory, no timer would run before its end. */
const PIECES_A_TURN = 64

export class FetchIncoming extends Readable implements Incoming {
	readonly method: string
	readonly url: string
	readonly headers: IncomingHttpHeaders = {}
	readonly rawHeaders: string[] = []
	readonly httpVersionMajor = 1
	readonly httpVersionMinor = 1
	readonly socket: Peer
	complete = false
	readonly #reader: ReadableStreamDefaultReader<unknown> | undefined
	/** Bytes that are still to come, where it was said how many. */
	#left: Bytes | undefined
	#pieces = 0

	/** @throws TypeError where somebody has read the body: there is no other */
	constructor(request: Request, remoteAddress: string | undefined) {
		super({ highWaterMark: 65_536 })
		const { protocol, host, pathname, search } = new URL(request.url)
		this.method = request.method
		this.url = pathname + search
		this.socket = { remoteAddress, encrypted: protocol === 'https:' }
		this.#line('host', host)
		for (const [name, value] of request.headers) if (!OF_THE_MESSAGE.has(name)) this.#line(name, value)
		const { body } = request
		if (body !== null) {
			if (request.bodyUsed || body.locked)
				throw new TypeError('something in front has read the body: give fetch() a clone() made before')
			this.#frame(request.headers.get('content-length'))
			this.#reader = body.getReader()
		}
		// Who reads the body is told that it was cut off; nobody else is to be.
		this.on('error', () => {})
		request.signal.addEventListener('abort', () => this.destroy(), { once: true })
	}

	override _read(): void {
		this.#take().catch((error: unknown) => this.destroy(error instanceof Error ? error : undefined))
	}

	override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
		if (!this.complete) this.#reader?.cancel(error).catch(() => {})
		done(error)
	}

	#line(name: string, value: string): void {
		this.headers[name] = value
		this.rawHeaders.push(name, value)
	}

	#frame(length: string | null): void {
		if (length === null || !/^\d{1,15}$/.test(length)) this.#line('transfer-encoding', 'chunked')
		else {
			this.#line('content-length', length)
			this.#left = Number(length)
		}
	}

	async #take(): Promise<void> {
		const { done, value } = await this.#next()
		if (done) {
			if (this.#left !== undefined && this.#left > 0) throw new Error('the body is shorter than was said')
			this.complete = true
			this.push(null)
			return
		}
		// Hosts and test runners have realms of their own, and each its own class.
		if (!isUint8Array(value)) throw new TypeError('the body of a request must be made of bytes')
		if (this.#left !== undefined) {
			this.#left -= value.byteLength
			if (this.#left < 0) throw new Error('the body is longer than was said')
		}
		this.push(value)
	}

	/** The next piece. An empty one isn't its end, and node would not ask again. */
	async #next(): Promise<{ readonly done: boolean; readonly value?: unknown }> {
		for (;;) {
			if (++this.#pieces % PIECES_A_TURN === 0) await turn()
			const next = await this.#reader?.read()
			if (next === undefined) return { done: true }
			if (next.done || !isUint8Array(next.value) || next.value.byteLength > 0) return next
		}
	}
}
