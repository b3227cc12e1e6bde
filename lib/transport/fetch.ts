/** `server.fetch`: serves a Fetch `Request` on the same path as any other request, streaming in both directions. */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { clearInterval, setInterval } from 'node:timers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isUint8Array } from 'node:util/types'
import type { Bytes } from '../base/time.ts'
import { Exchange } from '../exchange/exchange.ts'
import { isStreamed, type Reply, type StreamedBody } from '../reply/headers.ts'
import { disposeBody, readableOf, swallowErrors } from '../reply/unsent.ts'
import type { Incoming, Peer } from '../request/incoming.ts'
import { replyOf } from './inject.ts'
import { type Service, startWatch } from './serving.ts'

/** Options of `server.fetch()`. */
export interface FetchOptions {
	/** The client's address, which a Request doesn't carry; rate limits count by it. @default none */
	readonly remoteAddress?: string
}

/** Called once, at the end of an answer: whether all was sent, and any error that cut it off. */
type OnEnd = (isWhole: boolean, error?: unknown) => void

/**
 * Answers a request. Rejects only when the request's signal is aborted, with the signal's reason, and when the
 * request's body has already been read, with a TypeError.
 */
export async function serveFetch(
	service: Service,
	request: Request,
	{ remoteAddress }: FetchOptions = {},
): Promise<Response> {
	const { signal } = request
	signal.throwIfAborted()
	const incoming = new FetchIncoming(request, remoteAddress)
	const exchange = new Exchange(service.app, incoming)
	// The client's connection: aborting the request's signal closes it.
	exchange.connection = {
		get destroyed() {
			return signal.aborted
		},
		once: (_event, call) => signal.addEventListener('abort', call, { once: true }),
		off: (_event, call) => signal.removeEventListener('abort', call),
	}
	const watch = startWatch(service, exchange)
	const onEnd: OnEnd = (isWhole, error) => {
		if (error !== undefined) {
			watch?.failed(error)
			exchange.log('error', 'the answer was cut off', error)
		}
		watch?.end(isWhole)
		// Releases a body that nobody reads; a streaming method may still be reading after its answer.
		const isRead = exchange.action?.streaming !== undefined && incoming.listenerCount('data') > 0
		if (!isRead) incoming.destroy()
	}
	const pending = replyOf(service, exchange)
	const reply = pending instanceof Promise ? await replyInTime(pending, exchange, signal) : pending
	if (reply === undefined || signal.aborted) {
		// The method is not stopped: with an Idempotency-Key, its answer is stored for a retry.
		if (reply !== undefined) disposeBody(reply.body)
		onEnd(false)
		throw signal.reason
	}
	watch?.answered(reply)
	return responseOf(exchange, reply, signal, onEnd)
}

/**
 * Resolves to the reply, or to `undefined` if the signal is aborted first; a later reply's body is then closed. The deadline
 * has a timer of its own, because workerd cancels a request's timers when the request ends, and the timer of `Deadlines`,
 * which all requests share, belongs to the request that started it.
 */
function replyInTime(
	pending: Promise<Reply>,
	exchange: Exchange,
	signal: AbortSignal,
): Promise<Reply | undefined> {
	const { deadlines } = exchange.app
	// setImmediate: after an event-loop stall, received bytes are read first.
	const check = (): NodeJS.Immediate => setImmediate(() => deadlines.expireIfLate(exchange))
	const timer = setInterval(check, deadlines.period)
	timer.unref()
	return new Promise((resolve) => {
		const settle = (reply: Reply | undefined): void => {
			clearInterval(timer)
			signal.removeEventListener('abort', onAbort)
			resolve(reply)
		}
		const onAbort = (): void => settle(undefined)
		signal.addEventListener('abort', onAbort)
		void pending.then((reply) => {
			if (signal.aborted) disposeBody(reply.body)
			settle(reply)
		})
	})
}

function responseOf(exchange: Exchange, reply: Reply, signal: AbortSignal, onEnd: OnEnd): Response {
	const { status, headers, body } = reply
	const lines = new Headers()
	for (let at = 0; at < headers.length; at += 2) lines.append(headers[at] ?? '', headers[at + 1] ?? '')
	// Without `encodeBody`, workerd would compress again a body that already has a Content-Encoding.
	const coded = { encodeBody: 'manual' }
	const init = { ...coded, status, statusText: STATUS_CODES[status] ?? '', headers: lines }
	if (isStreamed(body)) return new Response(streamOf(exchange, body, signal, onEnd), init)
	onEnd(true)
	// node's Response also accepts bytes in shared memory, which the DOM type doesn't.
	return new Response(body as string | Uint8Array<ArrayBuffer> | null, init)
}

/** The body, read on demand. The client disconnects by cancelling it or by aborting the signal. */
function streamOf(
	exchange: Exchange,
	body: StreamedBody,
	signal: AbortSignal,
	onEnd: OnEnd,
): ReadableStream<Uint8Array> {
	const source = readableOf(body)
	swallowErrors(source)
	const chunks: AsyncIterator<unknown> = source[Symbol.asyncIterator]()
	let hasEnded = false
	const end: OnEnd = (isWhole, error) => {
		if (hasEnded) return
		hasEnded = true
		signal.removeEventListener('abort', onAbort)
		exchange.app.deadlines.delete(exchange)
		if (!isWhole) exchange.abort()
		source.destroy()
		onEnd(isWhole, error)
	}
	const onAbort = (): void => {
		end(false)
	}
	signal.addEventListener('abort', onAbort, { once: true })
	// The exchange never expires: it is added only to be interrupted when the server closes.
	exchange.due = Number.POSITIVE_INFINITY
	exchange.interrupt = (error) => source.destroy(error)
	exchange.app.deadlines.add(exchange)
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				try {
					const next = await chunks.next()
					if (next.done !== true) {
						controller.enqueue(bytesOf(next.value))
						return
					}
					end(true)
					controller.close()
				} catch (error) {
					end(false, error)
					// Thrown here because a signal's reason can be any value, and `destroy` takes only errors.
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
function bytesOf(chunk: unknown): Uint8Array {
	return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk))
}

/** Headers for framing and routing: they are set from the request's body and URL instead. */
const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding'])

/**
 * Chunks read between two yields to the event loop: without yields, no timer would run while a body in memory is read.
 */
const CHUNKS_PER_TURN = 64

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
	/** Bytes still to come, by Content-Length. */
	#remaining: Bytes | undefined
	#chunks = 0

	/** @throws TypeError when the body has been read already */
	constructor(request: Request, remoteAddress: string | undefined) {
		super({ highWaterMark: 65_536 })
		const { protocol, host, pathname, search } = new URL(request.url)
		this.method = request.method
		this.url = pathname + search
		this.socket = { remoteAddress, encrypted: protocol === 'https:' }
		this.#addLine('host', host)
		for (const [name, value] of request.headers) if (!FRAMING.has(name)) this.#addLine(name, value)
		const { body } = request
		if (body !== null) {
			if (request.bodyUsed || body.locked)
				throw new TypeError('something in front has read the body: pass fetch() a clone() made before that')
			this.#addFraming(request.headers.get('content-length'))
			this.#reader = body.getReader()
		}
		// A reader of the body gets the error; without a reader it must not end the process.
		this.on('error', () => {})
		request.signal.addEventListener('abort', () => this.destroy(), { once: true })
	}

	override _read(): void {
		this.#pushNext().catch((error: unknown) => this.destroy(error instanceof Error ? error : undefined))
	}

	override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
		if (!this.complete) this.#reader?.cancel(error).catch(() => {})
		done(error)
	}

	#addLine(name: string, value: string): void {
		this.headers[name] = value
		this.rawHeaders.push(name, value)
	}

	#addFraming(length: string | null): void {
		if (length === null || !/^\d{1,15}$/.test(length)) this.#addLine('transfer-encoding', 'chunked')
		else {
			this.#addLine('content-length', length)
			this.#remaining = Number(length)
		}
	}

	async #pushNext(): Promise<void> {
		const { done, value } = await this.#nextChunk()
		if (done) {
			if (this.#remaining !== undefined && this.#remaining > 0)
				throw new Error('the body is shorter than its Content-Length')
			this.complete = true
			this.push(null)
			return
		}
		// No `instanceof`: the bytes may come from another realm (a host, a test runner), which has its own Uint8Array.
		if (!isUint8Array(value)) throw new TypeError('the body of a request must be made of bytes')
		if (this.#remaining !== undefined) {
			this.#remaining -= value.byteLength
			if (this.#remaining < 0) throw new Error('the body is longer than its Content-Length')
		}
		this.push(value)
	}

	/** The next chunk that isn't empty: after an empty one, node would not call `_read` again. */
	async #nextChunk(): Promise<{ readonly done: boolean; readonly value?: unknown }> {
		for (;;) {
			if (++this.#chunks % CHUNKS_PER_TURN === 0) await nextTurn()
			const next = await this.#reader?.read()
			if (next === undefined) return { done: true }
			if (next.done || !isUint8Array(next.value) || next.value.byteLength > 0) return next
		}
	}
}
