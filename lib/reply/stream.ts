/**
 * Replies that are bytes or streams, and records or texts that come one by one, as a JSON array or as they are. For
 * `reply.ts`.
 */
import type { Readable } from 'node:stream'
import { type Milliseconds, steadyClock } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { bindReads, boundRecords } from '../observe/trace.ts'
import type { ReplyOptions } from './custom-reply.ts'
import {
	BEGINNING,
	BYTES_SAFETY,
	BYTES_TYPE,
	bodiless,
	endOf,
	hasNoContent,
	headers,
	JSON_TYPE,
	NOSNIFF,
	type Reply,
	statusOf,
} from './headers.ts'
import { firstBytes } from './unsent.ts'
import { otherTypeOf, pieceOf, recordText } from './value-text.ts'

/** Bytes as they are; sandboxed, as a user's upload may be a page with a script. */
export function sealBytes(exchange: Exchange, body: Uint8Array): Reply {
	const lines = ['Content-Type', BYTES_TYPE, 'Content-Length', String(body.byteLength), ...BYTES_SAFETY]
	return {
		status: statusOf(exchange),
		headers: headers(exchange, lines),
		body: exchange.method === 'HEAD' ? null : body,
	}
}

/** A stream's bytes, as they come. Waits for the first, while an error can still be answered as one. */
export async function sealStream(exchange: Exchange, source: Readable): Promise<Reply> {
	if (exchange.watch?.isTraced === true) bindReads(source)
	await firstBytes(source)
	if (exchange.method === 'HEAD') source.destroy()
	const lines = headers(exchange, ['Content-Type', BYTES_TYPE, ...BYTES_SAFETY])
	return { status: statusOf(exchange), headers: lines, body: exchange.method === 'HEAD' ? null : source }
}

export function isIterable(value: object): value is Iterable<unknown> {
	return Symbol.iterator in value
}

/** A generator, or another iterator that can be read once. */
export function isIterator(value: object): value is IterableIterator<unknown> {
	return isIterable(value) && 'next' in value
}

/**
 * Records as they come, in a JSON array; or texts, under another Content-Type. Waits for the first, while an error can still
 * be answered as one: by then a generator has run its first lines, and the status, headers, errors and checks of these
 * count.
 */
export async function sealPieces(
	exchange: Exchange,
	value: AsyncIterable<unknown> | Iterable<unknown>,
	wrap: boolean,
	meta: ReplyOptions['meta'],
): Promise<Reply> {
	const end = endOf(meta)
	const records = Symbol.asyncIterator in value ? value : awaited(value)
	const source = await firstThenRest(exchange.watch?.isTraced === true ? boundRecords(records) : records)
	let body: Reply['body'] = null
	try {
		await exchange.pendingChecks()
		if (exchange.failure !== undefined) throw exchange.failure
		const type = otherTypeOf(exchange.headerLines)
		if (type !== undefined) body = texts(source, type)
		else if (!(Symbol.asyncIterator in value)) throw notAwaited()
		else if (wrap) body = jsonArray(source, `${BEGINNING}[`, `]${end}`)
		else body = jsonArray(source, '[', ']')
		if (exchange.method === 'HEAD' || hasNoContent(statusOf(exchange))) body = null
	} finally {
		if (body === null && source.first.done !== true) await source.rest.return?.()
	}
	if (hasNoContent(statusOf(exchange))) return bodiless(exchange)
	const lines = headers(exchange, ['Content-Type', JSON_TYPE, NOSNIFF, 'nosniff'])
	return { status: statusOf(exchange), headers: lines, body }
}

/** Texts and bytes, one after another. */
function texts(records: Records, type: string): AsyncIterable<string | Uint8Array> {
	const write = (piece: unknown, at: number): string | Uint8Array => pieceOf(piece, at, type)
	return inPieces(records, { head: '', separator: '', tail: '', write })
}

/** A synchronous generator as an asynchronous one. */
function awaited(source: Iterable<unknown>): AsyncIterable<unknown> {
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

function notAwaited(): TypeError {
	return new TypeError(
		"data is an iterator, which JSON can't hold: return an array, [...it], or write async before the generator",
	)
}

/** Characters gathered into one chunk: a chunk for each record would cost more than the record. */
const BATCH = 16_384
/** The event loop gets a turn after that many characters, or this time: a source that never waits would block it. */
const TURN: Milliseconds = 5
/** Records written between two checks of the clock. */
const LOOK = 8

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

/** How records are written. */
export interface Writing<Piece extends string | Uint8Array> {
	readonly head: string
	readonly separator: string
	readonly tail: string
	/** @throws TypeError for a record that can't be sent */
	write(record: unknown, at: number): Piece
}

/** The records as a JSON array between `head` and `tail`. @throws TypeError if JSON can't represent the first */
export function jsonArray(records: Records, head: string, tail: string): AsyncIterable<string> {
	return inPieces(records, { head, separator: ',', tail, write: recordText })
}

/**
 * The written records, in pieces of about 16 kB, or fewer when the next record is slow. Pulled one by one: nothing is read
 * ahead of the client. Closing it early closes the source, also before the first piece and while a record is awaited. The
 * first record is written at once.
 */
function inPieces<Piece extends string | Uint8Array>(
	records: Records,
	writing: Writing<Piece>,
): AsyncIterable<string | Piece> {
	const feed: Feed = { isAsked: false }
	const first = records.first.done === true ? undefined : writing.write(records.first.value, 0)
	const pieces = piecesOf(records, first, writing, feed)
	let begun = false
	const iterator: AsyncIterator<string | Piece, void> = {
		next() {
			begun = true
			return pieces.next()
		},
		async return() {
			// A generator that was never started is closed without running its `finally`.
			const isUnread = !begun && records.first.done !== true
			begun = true
			const closing = isUnread || feed.isAsked ? records.rest.return?.() : undefined
			// While a record is still awaited, an error of closing is ignored.
			if (isUnread) await closing
			else closing?.catch(() => {})
			return pieces.return()
		},
	}
	return { [Symbol.asyncIterator]: () => iterator }
}

/** Whether a record has been requested and hasn't come: `piecesOf` can't close the source then. */
interface Feed {
	isAsked: boolean
}

async function* piecesOf<Piece extends string | Uint8Array>(
	{ first, rest }: Records,
	written: Piece | undefined,
	{ head, separator, tail, write }: Writing<Piece>,
	feed: Feed,
): AsyncGenerator<string | Piece, void> {
	let closes = first.done !== true
	try {
		const turn = new Turn()
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
			if (text.length >= BATCH) {
				yield text
				text = ''
			}
			if (turn.isOver(piece.length)) await turn.end()
			// A source that has ended or failed by itself must not be closed.
			closes = false
			feed.isAsked = true
			const pending = Promise.resolve(rest.next())
			if (text !== '' && (await isSlow(pending))) {
				yield text
				text = ''
			}
			next = await pending
			feed.isAsked = false
			closes = next.done !== true
		}
		if (text !== '' || tail !== '') yield text + tail
	} finally {
		feed.isAsked = false
		if (closes) await rest.return?.()
	}
}

/** What was written since the last turn of the event loop. */
class Turn {
	#length = 0
	#records = 0
	#began = steadyClock()

	isOver(length: number): boolean {
		this.#length += length
		if (this.#length >= BATCH) return true
		return ++this.#records % LOOK === 0 && steadyClock() - this.#began >= TURN
	}

	async end(): Promise<void> {
		await new Promise(setImmediate)
		this.#length = 0
		this.#began = steadyClock()
	}
}

/** Microtasks after which a ready record has arrived. */
const TURNS = 3

/**
 * Whether a record is still awaited at the end of this turn of the event loop: then what was gathered is sent, so that a feed
 * shows each record when it comes.
 */
async function isSlow(pending: Promise<unknown>): Promise<boolean> {
	let arrived = false
	const arrive = (): void => {
		arrived = true
	}
	pending.then(arrive, arrive)
	for (let turn = 0; turn < TURNS; turn++) {
		await undefined
		if (arrived) return false
	}
	await new Promise(setImmediate)
	return !arrived
}
