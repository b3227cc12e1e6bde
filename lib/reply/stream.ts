/**
 * Replies with bytes, streams or iterables. An iterable has either records, sent as a JSON array, or texts and bytes,
 * sent one after another. Used by `reply.ts`.
 */
import type { Readable } from 'node:stream'
import { type Milliseconds, steadyClock } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { bindReads, bindRecords } from '../observe/trace.ts'
import type { ReplyOptions } from './custom-reply.ts'
import {
	BYTES_SAFETY,
	BYTES_TYPE,
	ENVELOPE_START,
	emptyReply,
	envelopeEnd,
	hasNoContent,
	headers,
	isBodiless,
	JSON_TYPE,
	NOSNIFF,
	type Reply,
	statusOf,
} from './headers.ts'
import { firstBytes } from './unsent.ts'
import { otherTypeOf, pieceOf, recordText } from './value-text.ts'

/** Replies with bytes, with headers that sandbox them: an upload may be an HTML page with a script. */
export function sealBytes(exchange: Exchange, body: Uint8Array): Reply {
	const lines = ['Content-Type', BYTES_TYPE, 'Content-Length', String(body.byteLength), ...BYTES_SAFETY]
	return {
		status: statusOf(exchange),
		headers: headers(exchange, lines),
		body: isBodiless(exchange) ? null : body,
	}
}

/** Replies with a stream. Waits for its first bytes: if the stream fails before, the error is answered. */
export async function sealStream(exchange: Exchange, source: Readable): Promise<Reply> {
	if (exchange.watch?.isTraced === true) bindReads(source)
	// Nothing else closes it before its first bytes: the client may disconnect, or the deadline pass.
	const signal = exchange.signal()
	const close = (): void => void source.destroy()
	if (signal.aborted) close()
	else signal.addEventListener('abort', close, { once: true })
	await firstBytes(source).finally(() => signal.removeEventListener('abort', close))
	const isDropped = isBodiless(exchange)
	if (isDropped) source.destroy()
	const lines = headers(exchange, ['Content-Type', BYTES_TYPE, ...BYTES_SAFETY])
	return { status: statusOf(exchange), headers: lines, body: isDropped ? null : source }
}

export function isIterable(value: object): value is Iterable<unknown> {
	return Symbol.iterator in value
}

/** Whether this is an iterator, such as a generator, which can be read only once. */
export function isIterator(value: object): value is IterableIterator<unknown> {
	return isIterable(value) && 'next' in value
}

/**
 * Streams records as a JSON array, or texts under another Content-Type. Waits for the first item: if the source fails
 * before, the error is answered. By then a generator has run its first lines, which may set status and headers, record
 * errors and begin checks.
 */
export async function sealIterable(
	exchange: Exchange,
	value: AsyncIterable<unknown> | Iterable<unknown>,
	wrap: boolean,
	meta: ReplyOptions['meta'],
): Promise<Reply> {
	const end = envelopeEnd(meta)
	const records = Symbol.asyncIterator in value ? value : asyncIterable(value)
	const source = await firstThenRest(exchange.watch?.isTraced === true ? bindRecords(records) : records)
	let body: Reply['body'] = null
	try {
		await exchange.pendingChecks()
		if (exchange.failure !== undefined) throw exchange.failure
		const type = otherTypeOf(exchange.headerLines)
		if (type !== undefined) body = texts(source, type)
		else if (!(Symbol.asyncIterator in value))
			throw new TypeError(
				"data is an iterator, which can't be written as JSON: return an array (`[...iterator]`), or make the generator async",
			)
		else if (wrap) body = jsonArray(source, `${ENVELOPE_START}[`, `]${end}`)
		else body = jsonArray(source, '[', ']')
		if (isBodiless(exchange) || hasNoContent(statusOf(exchange))) body = null
	} finally {
		if (body === null && source.first.done !== true) await source.rest.return?.()
	}
	if (hasNoContent(statusOf(exchange))) return emptyReply(exchange)
	const lines = headers(exchange, ['Content-Type', JSON_TYPE, NOSNIFF, 'nosniff'])
	return { status: statusOf(exchange), headers: lines, body }
}

/** Texts and bytes, one after another. */
function texts(records: Records, type: string): AsyncIterable<string | Uint8Array> {
	const write = (piece: unknown, at: number): string | Uint8Array => pieceOf(piece, at, type)
	return inChunks(records, { head: '', separator: '', tail: '', write })
}

function asyncIterable(source: Iterable<unknown>): AsyncIterable<unknown> {
	return {
		[Symbol.asyncIterator]() {
			const inner = source[Symbol.iterator]()
			return {
				next: async () => inner.next(),
				return: async () => inner.return?.() ?? { done: true, value: undefined },
			}
		},
	}
}

/** Number of characters after which a chunk is sent: a chunk for each record would cost more than the record. */
const CHUNK_SIZE = 16_384
/** While a source never waits, we yield to the event loop after this time, or after CHUNK_SIZE characters. */
const MAX_SLICE_MS: Milliseconds = 5
/** Records written between two checks of the clock. */
const RECORDS_PER_CHECK = 8

/** An iterator whose first record has been awaited. */
export interface Records {
	readonly first: IteratorResult<unknown>
	readonly rest: AsyncIterator<unknown>
}

/** Waits for the first record, so that an early failure is answered as an error. */
export async function firstThenRest(source: AsyncIterable<unknown>): Promise<Records> {
	const rest = source[Symbol.asyncIterator]()
	return { first: await rest.next(), rest }
}

interface Format<Piece extends string | Uint8Array> {
	readonly head: string
	readonly separator: string
	readonly tail: string
	/** @throws TypeError for a record that can't be sent */
	write(record: unknown, at: number): Piece
}

/** The records as a JSON array between `head` and `tail`. @throws TypeError if JSON can't represent the first record */
export function jsonArray(records: Records, head: string, tail: string): AsyncIterable<string> {
	return inChunks(records, { head, separator: ',', tail, write: recordText })
}

/**
 * The written records, in chunks of about 16 kB, or less when the next record is slow. Records are pulled one by one:
 * nothing is read ahead of the client. Closing the result early closes the source, even before the first chunk or while
 * a record is awaited. The first record is written at once, so that its error is thrown here.
 */
function inChunks<Piece extends string | Uint8Array>(
	records: Records,
	format: Format<Piece>,
): AsyncIterable<string | Piece> {
	const state: ReadState = { isAwaiting: false }
	const first = records.first.done === true ? undefined : format.write(records.first.value, 0)
	const chunks = generateChunks(records, first, format, state)
	let hasBegun = false
	const iterator: AsyncIterator<string | Piece, void> = {
		next() {
			hasBegun = true
			return chunks.next()
		},
		async return() {
			// A generator that was never started is closed without running its `finally`: the source is closed here.
			const isUnread = !hasBegun && records.first.done !== true
			hasBegun = true
			const closing = isUnread || state.isAwaiting ? records.rest.return?.() : undefined
			// While a record is still awaited, an error from closing is ignored.
			if (isUnread) await closing
			else closing?.catch(() => {})
			return chunks.return()
		},
	}
	return { [Symbol.asyncIterator]: () => iterator }
}

/** Whether a record is being awaited: `generateChunks` can't close the source then. */
interface ReadState {
	isAwaiting: boolean
}

async function* generateChunks<Piece extends string | Uint8Array>(
	{ first, rest }: Records,
	written: Piece | undefined,
	{ head, separator, tail, write }: Format<Piece>,
	state: ReadState,
): AsyncGenerator<string | Piece, void> {
	let mustClose = first.done !== true
	try {
		const slice = new TimeSlice()
		let text = head
		let next = first
		for (let at = 0; next.done !== true; at++) {
			const piece = at === 0 && written !== undefined ? written : write(next.value, at)
			if (at > 0) text += separator
			if (typeof piece === 'string') text += piece
			else {
				if (text !== '') yield text
				text = ''
				yield piece
			}
			if (text.length >= CHUNK_SIZE) {
				yield text
				text = ''
			}
			if (slice.isUsedUp(piece.length)) await slice.renew()
			// A source that has ended or failed by itself must not be closed.
			mustClose = false
			state.isAwaiting = true
			const pending = Promise.resolve(rest.next())
			if (text !== '' && (await isSlow(pending))) {
				yield text
				text = ''
			}
			next = await pending
			state.isAwaiting = false
			mustClose = next.done !== true
		}
		if (text !== '' || tail !== '') yield text + tail
	} finally {
		state.isAwaiting = false
		if (mustClose) await rest.return?.()
	}
}

/** How much may be written before the next yield to the event loop. */
class TimeSlice {
	#length = 0
	#records = 0
	#began = steadyClock()

	isUsedUp(length: number): boolean {
		this.#length += length
		if (this.#length >= CHUNK_SIZE) return true
		return ++this.#records % RECORDS_PER_CHECK === 0 && steadyClock() - this.#began >= MAX_SLICE_MS
	}

	async renew(): Promise<void> {
		await new Promise(setImmediate)
		this.#length = 0
		this.#began = steadyClock()
	}
}

/** After this many microtasks, the callbacks of a promise that was already settled have run. */
const READY_MICROTASKS = 3

/**
 * Whether a record is still pending after this turn of the event loop. If so, the text so far is sent, so that a feed
 * shows each record when it arrives.
 */
async function isSlow(pending: Promise<unknown>): Promise<boolean> {
	let hasSettled = false
	const settle = (): void => {
		hasSettled = true
	}
	pending.then(settle, settle)
	for (let tick = 0; tick < READY_MICROTASKS; tick++) {
		await undefined
		if (hasSettled) return false
	}
	await new Promise(setImmediate)
	return !hasSettled
}
