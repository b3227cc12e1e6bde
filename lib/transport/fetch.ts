/** `server.fetch`: serves a Fetch `Request` on the same path as any other request, streaming in both directions. */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { clearInterval, setInterval } from 'node:timers'
import { setImmediate as turn } from 'node:timers/promises'
import { isUint8Array } from 'node:util/types'
import type { Bytes } from '../base/time.ts'
import { type Closable, Exchange } from '../exchange/exchange.ts'
import type { Reply } from '../reply/headers.ts'
import { disposeBody, swallowErrors } from '../reply/unsent.ts'
import type { Incoming, Peer } from '../request/incoming.ts'
import { replied } from './inject.ts'
import { type Service, watchOf } from './serving.ts'

/** What `server.fetch()` takes beside the Request. */
export interface FetchOptions {
	/** The client's address, which a Request doesn't carry; rate limits count by it. @default none */
	readonly remoteAddress?: string
}

/** Called once, at the end of an answer: whether all was sent, and any error that cut it off. */
type Over = (isWhole: boolean, error?: unknown) => void

/**
 * Answers a request. Rejects with the reason of its signal when that is aborted, and with a TypeError when its body has
 * been read already; never otherwise.
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
		// Releases a body that nobody reads; a streaming method may read on after its answer.
		const readsOn = exchange.action?.streaming !== undefined && incoming.listenerCount('data') > 0
		if (!readsOn) incoming.destroy()
	}
	const answer = replied(service, exchange)
	const reply = answer instanceof Promise ? await answerInTime(answer, exchange, signal) : answer
	if (reply === undefined || signal.aborted) {
		// The method runs on: its answer is stored for a retry with the same Idempotency-Key.
		if (reply !== undefined) disposeBody(reply.body)
		over(false)
		throw signal.reason
	}
	watch?.answered(reply)
	return responseOf(exchange, reply, signal, over)
}

/** The client's end: only its signal tells that it has left. */
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
 * {@link unlessAborted} with a timer of its own: workerd cancels a request's timers when it ends, and the timer of
 * `Deadlines`, which all requests share, belongs to the first.
 */
async function answerInTime(
	answer: Promise<Reply>,
	exchange: Exchange,
	signal: AbortSignal,
): Promise<Reply | undefined> {
	const { deadlines } = exchange.app
	// setImmediate: after an event-loop stall, received bytes are read first.
	const look = (): NodeJS.Immediate => setImmediate(() => deadlines.expireIfLate(exchange))
	const timer = setInterval(look, deadlines.period)
	timer.unref()
	try {
		return await unlessAborted(answer, signal)
	} finally {
		clearInterval(timer)
	}
}

/** The answer; `undefined` when the client leaves first, and a later answer is dropped. */
function unlessAborted(answer: Promise<Reply>, signal: AbortSignal): Promise<Reply | undefined> {
	return new Promise((resolve) => {
		const leave = (): void => resolve(undefined)
		signal.addEventListener('abort', leave, { once: true })
		// Never rejects: `answer` turns every error into a reply.
		void answer.then((reply) => {
			signal.removeEventListener('abort', leave)
			if (signal.aborted) disposeBody(reply.body)
			resolve(reply)
		})
	})
}

function responseOf(exchange: Exchange, reply: Reply, signal: AbortSignal, over: Over): Response {
	const { status, headers, body } = reply
	const lines = new Headers()
	for (let at = 0; at < headers.length; at += 2) lines.append(headers[at] ?? '', headers[at + 1] ?? '')
	// Without it, workerd compresses again what has a Content-Encoding.
	const coded = { encodeBody: 'manual' }
	const init = { ...coded, status, statusText: STATUS_CODES[status] ?? '', headers: lines }
	if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array))
		return new Response(streamOf(exchange, body, signal, over), init)
	over(true)
	// A HEAD that was refused early still has a body.
	const isEmpty = body === null || exchange.incoming.method === 'HEAD'
	// node's Response also takes bytes over shared memory, which the browser's type leaves out.
	return new Response(isEmpty ? null : (body as string | Uint8Array<ArrayBuffer>), init)
}

/** The body, pulled piece by piece. A reader that cancels, or whose signal is aborted, has left. */
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
		if (!isWhole) exchange.abort()
		source.destroy()
		over(isWhole, error)
	}
	const leave = (): void => {
		end(false)
	}
	signal.addEventListener('abort', leave, { once: true })
	// Never late: it is added only to be interrupted when the server closes.
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
					// A signal's reason can be any value, which `destroy` doesn't take.
					throw signal.aborted ? signal.reason : error
				}
			},
			cancel() {
				end(false)
			},
		},
		// No reading ahead.
		{ highWaterMark: 0 },
	)
}

/** A source with an encoding set yields text. */
function bytesOf(piece: unknown): Uint8Array {
	return piece instanceof Uint8Array ? piece : Buffer.from(String(piece))
}

/** Headers of framing and routing: set from the request itself instead. */
const OF_THE_MESSAGE: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding'])

/** Pieces between yields to the event loop: while a body in memory is read, no timer would run. */
const PIECES_A_TURN = 64

/** A Fetch `Request` as an `Incoming`: its body is read on demand. */
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
	/** Bytes still to come, where Content-Length says how many. */
	#left: Bytes | undefined
	#pieces = 0

	/** @throws TypeError when the body has been read already */
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
		// A reader of the body gets the error; without one the process must not end.
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
		// No `instanceof`: hosts and test runners have other realms, each with its own class.
		if (!isUint8Array(value)) throw new TypeError('the body of a request must be made of bytes')
		if (this.#left !== undefined) {
			this.#left -= value.byteLength
			if (this.#left < 0) throw new Error('the body is longer than was said')
		}
		this.push(value)
	}

	/** The next piece that isn't empty: after an empty one, node would not call `_read` again. */
	async #next(): Promise<{ readonly done: boolean; readonly value?: unknown }> {
		for (;;) {
			if (++this.#pieces % PIECES_A_TURN === 0) await turn()
			const next = await this.#reader?.read()
			if (next === undefined) return { done: true }
			if (next.done || !isUint8Array(next.value) || next.value.byteLength > 0) return next
		}
	}
}
