/** `server.fetch`: a request of the Fetch standard, on the same path as every other, streamed in both directions. */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { clearInterval, setInterval } from 'node:timers'
import { setImmediate as turn } from 'node:timers/promises'
import { isUint8Array } from 'node:util/types'
import type { Bytes } from '../base/time.ts'
import { type Closable, Exchange } from '../exchange/exchange.ts'
import type { Reply } from '../reply/headers.ts'
import { swallowErrors } from '../reply/unsent.ts'
import type { Incoming, Peer } from '../request/incoming.ts'
import { replied } from './inject.ts'
import { discard } from './send.ts'
import { type Service, watchOf } from './serving.ts'

/** What `server.fetch()` is told beside the Request. */
export interface FetchOptions {
	/** The client's address, of which a Request says nothing; rate limits count by it. @default none */
	readonly remoteAddress?: string
}

/** Called once, when an answer is over: whole or not, and with what has broken it off. */
type Over = (isWhole: boolean, error?: unknown) => void

/**
 * Answers a request. Rejects with the reason of its signal once that is aborted, with a TypeError where its body has
 * been read before, and otherwise never.
 */
export async function fetched(
	service: Service,
	request: Request,
	{ remoteAddress }: FetchOptions = {},
): Promise<Response> {
	const { signal } = request
	signal.throwIfAborted()
	const incoming = new FetchIncoming(request, remoteAddress)
	const exchange = new Exchange(service.app, incoming)
	exchange.connection = new Caller(signal)
	const watch = watchOf(service, exchange)
	const over: Over = (isWhole, error) => {
		if (error !== undefined) {
			watch?.failed(error)
			exchange.log('error', 'the answer was cut off', error)
		}
		watch?.end(isWhole)
		// A body that nobody reads is let go of; a method that streams it may read on behind its answer.
		const readsOn = exchange.action?.streaming !== undefined && incoming.listenerCount('data') > 0
		if (!readsOn) incoming.destroy()
	}
	const answer = replied(service, exchange)
	const reply = answer instanceof Promise ? await answerInTime(answer, exchange, signal) : answer
	if (reply === undefined || signal.aborted) {
		// The method goes on, and what it answers is kept for whoever comes back with its Idempotency-Key.
		if (reply !== undefined) discard(reply)
		over(false)
		throw signal.reason
	}
	watch?.answered(reply)
	return responseOf(exchange, reply, signal, over)
}

/** What tells that the client has left: nothing but its signal. */
class Caller implements Closable {
	readonly #signal: AbortSignal

	constructor(signal: AbortSignal) {
		this.#signal = signal
	}

	get destroyed(): boolean {
		return this.#signal.aborted
	}

	once(_event: 'close', call: () => void): void {
		this.#signal.addEventListener('abort', call, { once: true })
	}

	off(_event: 'close', call: () => void): void {
		this.#signal.removeEventListener('abort', call)
	}
}

/**
 * The same as {@link unlessAborted}. workerd ends a request's timers with it, and with the first one the timer that all
 * requests share: each has one of its own beside that.
 */
async function answerInTime(
	answer: Promise<Reply>,
	exchange: Exchange,
	signal: AbortSignal,
): Promise<Reply | undefined> {
	const { deadlines } = exchange.app
	// What has come while the process was held up is read before it is late.
	const look = (): NodeJS.Immediate => setImmediate(() => deadlines.expireIfLate(exchange))
	const timer = setInterval(look, deadlines.period)
	timer.unref()
	try {
		return await unlessAborted(answer, signal)
	} finally {
		clearInterval(timer)
	}
}

/** The answer; `undefined` when the client has left before, and whatever comes later goes nowhere. */
function unlessAborted(answer: Promise<Reply>, signal: AbortSignal): Promise<Reply | undefined> {
	return new Promise((resolve) => {
		const leave = (): void => resolve(undefined)
		signal.addEventListener('abort', leave, { once: true })
		// `answer` turns every error into a reply: this promise never rejects.
		void answer.then((reply) => {
			signal.removeEventListener('abort', leave)
			if (signal.aborted) discard(reply)
			resolve(reply)
		})
	})
}

function responseOf(exchange: Exchange, reply: Reply, signal: AbortSignal, over: Over): Response {
	const { status, headers, body } = reply
	const lines = new Headers()
	for (let at = 0; at < headers.length; at += 2) lines.append(headers[at] ?? '', headers[at + 1] ?? '')
	// workerd would compress once more what says that it is compressed.
	const coded = { encodeBody: 'manual' }
	const init = { ...coded, status, statusText: STATUS_CODES[status] ?? '', headers: lines }
	if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array))
		return new Response(streamOf(exchange, body, signal, over), init)
	over(true)
	// A HEAD may have been refused before its method was looked at.
	const isEmpty = body === null || exchange.incoming.method === 'HEAD'
	// Bytes over shared memory, which the type of a browser's Response leaves out, are taken by node's as any others.
	return new Response(isEmpty ? null : (body as string | Uint8Array<ArrayBuffer>), init)
}

/** The pieces, each when it is asked for. A reader that cancels, or whose signal is aborted, has left. */
function streamOf(
	exchange: Exchange,
	body: Readable | AsyncIterable<string | Uint8Array>,
	signal: AbortSignal,
	over: Over,
): ReadableStream<Uint8Array> {
	const source =
		body instanceof Readable ? body : Readable.from(body, { objectMode: false, highWaterMark: 65_536 })
	swallowErrors(source)
	const pieces: AsyncIterator<unknown> = source[Symbol.asyncIterator]()
	let isOver = false
	const end: Over = (isWhole, error) => {
		if (isOver) return
		isOver = true
		signal.removeEventListener('abort', leave)
		exchange.app.deadlines.delete(exchange)
		if (!isWhole) exchange.abandon()
		source.destroy()
		over(isWhole, error)
	}
	const leave = (): void => {
		end(false)
	}
	signal.addEventListener('abort', leave, { once: true })
	// Never late: it is there to be told when the server closes.
	exchange.due = Number.POSITIVE_INFINITY
	exchange.interrupt = (error) => source.destroy(error)
	exchange.app.deadlines.add(exchange)
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				try {
					const next = await pieces.next()
					if (next.done !== true) {
						controller.enqueue(bytesOf(next.value))
						return
					}
					end(true)
					controller.close()
				} catch (error) {
					end(false, error)
					// Any value can be a signal's reason, and no stream can be destroyed by that.
					throw signal.aborted ? signal.reason : error
				}
			},
			cancel() {
				end(false)
			},
		},
		// Nothing is read ahead of whoever reads.
		{ highWaterMark: 0 },
	)
}

/** Text where the source was told to read so. */
function bytesOf(piece: unknown): Uint8Array {
	return piece instanceof Uint8Array ? piece : Buffer.from(String(piece))
}

/** Which say where a message ends, or where it goes: that is told by the request itself. */
const OF_THE_MESSAGE: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding'])

/** Pieces after which others get their turn: of a body that is in memory, no timer would run before its end. */
const PIECES_A_TURN = 64

/** A request of the Fetch standard as every other: its URL is split, its body is read as it is asked for. */
class FetchIncoming extends Readable implements Incoming {
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
