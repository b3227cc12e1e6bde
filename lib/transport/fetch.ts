/** `server.fetch`: a request of the Fetch standard, on the same path as every other, streamed in both directions. */
import { STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { clearInterval, setInterval } from 'node:timers'
import { type Closable, Exchange } from '../exchange/exchange.ts'
import type { Reply } from '../reply/headers.ts'
import { swallowErrors } from '../reply/unsent.ts'
import { FetchIncoming } from './fetch-incoming.ts'
import { refusalOf, settled } from './inject.ts'
import { discard } from './send.ts'
import { refused, type Service } from './serving.ts'
import type { Vetting } from './vet.ts'
import { watchOf } from './watch-over.ts'

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
	vetting: Vetting,
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
	const refusal = refusalOf(vetting, incoming)
	const answer = refusal === undefined ? settled(service, exchange) : refused(exchange, refusal)
	const reply = answer instanceof Promise ? await answerInTime(answer, exchange, signal) : answer
	if (reply === undefined || signal.aborted) {
		// The method goes on, and what it answers is kept for whoever comes back with its Idempotency-Key.
		if (reply !== undefined) discard(reply)
		over(false)
		throw signal.reason
	}
	exchange.replied = true
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
		return await unlessAborted(answer, exchange, signal)
	} finally {
		clearInterval(timer)
	}
}

/** The answer; `undefined` when the client has left before, and whatever comes later goes nowhere. */
function unlessAborted(
	answer: Promise<Reply>,
	exchange: Exchange,
	signal: AbortSignal,
): Promise<Reply | undefined> {
	return new Promise((resolve) => {
		const leave = (): void => resolve(undefined)
		signal.addEventListener('abort', leave, { once: true })
		// `answer` turns every error into a reply: this promise never rejects.
		void answer.then((reply) => {
			signal.removeEventListener('abort', leave)
			if (signal.aborted) {
				exchange.replied = true
				discard(reply)
			}
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
