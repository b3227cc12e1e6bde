/** Answers that are bytes, streams, and records or texts that come one by one: for `reply.ts` and `response.ts`. */
import type { Readable } from 'node:stream'
import type { Exchange } from '../exchange/exchange.ts'
import { bindReads, boundRecords } from '../observe/trace.ts'
import type { ReplyOptions } from './custom-reply.ts'
import { firstThenRest, inPieces, jsonArray, type Records } from './json-array.ts'
import { jsonText } from './json-text.ts'
import { otherTypeOf, pieceOf } from './other-type.ts'
import {
	BYTES_SAFETY,
	BYTES_TYPE,
	bodiless,
	hasNoContent,
	headers,
	JSON_TYPE,
	NOSNIFF,
	type Reply,
	statusOf,
} from './text.ts'
import { firstBytes } from './unsent.ts'

/** What is before the value in the envelope. */
export const BEGINNING = '{"success":true,"data":'

/** What is behind it. */
export function endOf(meta: ReplyOptions['meta']): string {
	return meta === undefined ? '}' : `,"meta":${jsonText(meta, 'meta')}}`
}

/** Bytes are sent as they are; sandboxed, as what a user has uploaded may be a page with a script. */
export function sealBytes(exchange: Exchange, body: Uint8Array): Reply {
	const lines = ['Content-Type', BYTES_TYPE, 'Content-Length', String(body.byteLength), ...BYTES_SAFETY]
	return {
		status: statusOf(exchange),
		headers: headers(exchange, lines),
		body: exchange.method === 'HEAD' ? null : body,
	}
}

/** A stream's bytes, as they come. The first are awaited here, while an error can still be told. */
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

/** A generator, or an iterator of something: it is gone through once. */
export function isIterator(value: object): value is IterableIterator<unknown> {
	return isIterable(value) && 'next' in value
}

/**
 * Records as they come, in a JSON array; or texts, under a Content-Type that is no JSON. The first is awaited here,
 * while an error can still be told: by then a generator has run its first lines, and the status, the headers, the
 * error or the check of these count.
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
		await exchange.checked()
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

/** Texts, and bytes, one behind the other. */
function texts(records: Records, type: string): AsyncIterable<string | Uint8Array> {
	const write = (piece: unknown, at: number): string | Uint8Array => pieceOf(piece, at, type)
	return inPieces(records, { head: '', separator: '', tail: '', write })
}

/** A generator that waits for nothing, read as if it did. */
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
