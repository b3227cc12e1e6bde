/** A fetch `Response` returned by a method: sends its status, its headers, and its body as a stream. */
import { pipeline, Readable, Transform } from 'node:stream'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import { bindReads } from '../observe/trace.ts'
import type { ReplyOptions } from './custom-reply.ts'
import {
	applyOptions,
	BYTES_SAFETY,
	BYTES_TYPE,
	emptyReply,
	FRAMING,
	hasNoContent,
	headerLine,
	headers,
	isBodiless,
	NOSNIFF,
	type Reply,
	setStatus,
	statusOf,
} from './headers.ts'
import { disposeBody, firstBytes, isWebStream, swallowErrors } from './unsent.ts'

/**
 * The reply for a returned `Response`. Its headers replace those that the method set, except cookies, which are all
 * sent. `options` come from an enclosing `reply()`, and override both the response and the method.
 *
 * @throws TypeError for `Response.error()`, or if the body was already read
 */
export function sealResponse(
	exchange: Exchange,
	response: Response,
	options: ReplyOptions = {},
): Reply | Promise<Reply> {
	if (response.type === 'error' || response.status === 0)
		throw new TypeError(
			'data is a Response without a status, such as Response.error(): return one with a status',
		)
	if (response.bodyUsed || response.body?.locked === true)
		throw new TypeError(
			'data is a Response whose body was already read: return it unread, or a response.clone() made before',
		)
	setStatus(exchange, response.status)
	const length = copyHeaders(exchange, response)
	applyOptions(exchange, options)
	const { body } = response
	const isHead = isBodiless(exchange)
	if (hasNoContent(statusOf(exchange))) {
		disposeBody(response)
		return emptyReply(exchange)
	}
	if (body === null) {
		// The response to a fetched HEAD may have the length that a GET would have. Otherwise the length is 0: without
		// Content-Length, an empty chunk would be sent.
		const known = isHead && response.url !== '' ? length : 0
		return emptyReply(exchange, known === undefined ? [] : ['Content-Length', String(known)])
	}
	if (!isHead) return sealBody(exchange, sourceOf(body), length)
	disposeBody(response)
	return bodyReply(exchange, null, length)
}

/**
 * Adds the response's headers to those of the reply, except hop-by-hop headers and those that only this server may set.
 * Returns the length of the body, if known.
 */
function copyHeaders(exchange: Exchange, response: Response): Bytes | undefined {
	const lines = new Map<string, HeaderLine>()
	const { headers: given } = response
	const hop = new Set((given.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase()))
	const isFetched = response.url !== ''
	const isDecoded = isFetched && DECODED.test(given.get('content-encoding') ?? '')
	for (const [name, value] of given) {
		const key = name.toLowerCase()
		if (FRAMING.has(key) || hop.has(key) || HOP_BY_HOP.has(key) || isReserved(exchange, key)) continue
		if (isFetched && key.startsWith('access-control-')) continue
		if (isDecoded && key === 'content-encoding') continue
		const before = lines.get(key)?.[1]
		// Only Set-Cookie comes more than once: `Headers` joins the values of every other header.
		lines.set(key, headerLine(name, before === undefined ? value : [before, value].flat()))
	}
	const cookies = exchange.headerLines?.get('set-cookie')?.[1]
	const more = lines.get('set-cookie')?.[1]
	if (cookies !== undefined && more !== undefined)
		lines.set('set-cookie', ['Set-Cookie', [cookies, more].flat()])
	exchange.headerLines = new Map([...(exchange.headerLines ?? []), ...lines])
	const length = given.get('content-length') ?? ''
	return isDecoded || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}

/** Hop-by-hop headers, whether `Connection` names them or not (RFC 9110 §7.6.1, §11.7). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
	'proxy-authenticate',
	'proxy-authentication-info',
	'proxy-authorization',
	'proxy-connection',
	'te',
])

/**
 * Whether only this server may set the header (`name` in lower case). Copied from a fetched response, it would allow
 * other origins, state limits that don't apply here, or show a different request id from the log's.
 */
function isReserved({ app, rateLimitLines }: Exchange, name: string): boolean {
	if (name === 'x-content-type-options' || name === app.requestId) return true
	if (name === 'ratelimit' || name === 'ratelimit-policy') return rateLimitLines !== undefined
	return app.cors !== undefined && name.startsWith('access-control-')
}

/**
 * Matches a Content-Encoding that `fetch` has decoded but left in the headers. `fetch` decodes all codings of a
 * response or none.
 */
const DECODED = decodedBy(globalThis.process?.versions ?? {})

/**
 * The codings that `fetch` decodes. zstd is decoded by Bun, and by Node from 24.4 on (undici 7.11). `node:zlib` isn't
 * checked, because Node 22 has zstd there but not in `fetch`.
 */
export function decodedBy({ bun, undici = '' }: Readonly<Record<string, string | undefined>>): RegExp {
	const [major = 0, minor = 0] = undici.split('.').map(Number)
	const knowsZstd = bun !== undefined || major > 7 || (major === 7 && minor >= 11)
	return knowsZstd
		? /^\s*(?:(?:gzip|x-gzip|deflate|br|zstd)\s*(?:,|$)\s*)+$/i
		: /^\s*(?:(?:gzip|x-gzip|deflate|br)\s*(?:,|$)\s*)+$/i
}

function sourceOf(body: unknown): Readable {
	if (body instanceof Readable) return body
	if (typeof body === 'object' && body !== null && isWebStream(body)) return Readable.fromWeb(body)
	throw new TypeError("data is a Response whose body isn't a stream")
}

/**
 * The reply with a streamed body. Waits one turn of the event loop for the first bytes, so that a body that fails at
 * once is answered as an error. A slow body isn't awaited longer: clients of an event stream should see that it has
 * begun.
 */
async function sealBody(exchange: Exchange, source: Readable, length: Bytes | undefined): Promise<Reply> {
	if (exchange.watch?.isTraced === true) bindReads(source)
	const body = length === undefined ? source : withCheckedLength(source, length)
	if (exchange.idempotencyKey !== undefined && !isEventStream(exchange)) {
		const bytes = await bufferBody(exchange, body)
		if (bytes !== undefined) return bodyReply(exchange, bytes, bytes.length)
	}
	const beginning = firstBytes(body)
	beginning.catch(() => {})
	await Promise.race([beginning, new Promise(setImmediate)])
	return bodyReply(exchange, body, length)
}

function bodyReply(exchange: Exchange, body: Readable | Buffer | null, length: Bytes | undefined): Reply {
	const hasType = exchange.headerLines?.has('content-type') === true
	const lines = hasType ? [NOSNIFF, 'nosniff'] : ['Content-Type', BYTES_TYPE, ...BYTES_SAFETY]
	if (length !== undefined) lines.push('Content-Length', String(length))
	return { status: statusOf(exchange), headers: headers(exchange, lines), body }
}

function isEventStream({ headerLines }: Exchange): boolean {
	return /^text\/event-stream\b/i.test(String(headerLines?.get('content-type')?.[1]))
}

/** A longer or slower body is streamed instead of buffered. */
const MAX_BUFFERED: Bytes = 1_048_576
const MAX_BUFFER_MS: Milliseconds = 5_000

/**
 * The whole body, for a request with an Idempotency-Key, so that it can be stored and replayed. `undefined` when the
 * body is too long or slow: `source` can then still be read from the beginning. Rejects with the body's error.
 */
function bufferBody(exchange: Exchange, source: Readable): Promise<Buffer | undefined> {
	swallowErrors(source)
	const { due, app } = exchange
	const time = Math.min(MAX_BUFFER_MS, (due - app.deadlines.clock()) / 2)
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = []
		let size = 0
		const stop = (): void => {
			clearTimeout(timer)
			source.off('readable', read).off('end', end).off('error', fail)
		}
		const read = (): void => {
			for (let chunk = source.read(); chunk !== null; chunk = source.read()) {
				chunks.push(Buffer.from(chunk))
				size += chunk.length
			}
			if (size > MAX_BUFFERED) giveUp()
		}
		const giveUp = (): void => {
			stop()
			if (size > 0) source.unshift(Buffer.concat(chunks))
			resolve(undefined)
		}
		const end = (): void => {
			stop()
			resolve(Buffer.concat(chunks))
		}
		const fail = (error: Error): void => {
			stop()
			exchange.isDone = true
			reject(error)
		}
		const timer = setTimeout(giveUp, time)
		source.on('readable', read).on('end', end).on('error', fail)
	})
}

/**
 * The body, which fails unless it has exactly its Content-Length: otherwise the client would take part of this reply
 * for the next one, or part of the next one for this (RFC 9112 §11.2).
 */
function withCheckedLength(source: Readable, length: Bytes): Readable {
	let remaining = length
	const mismatch = (): Error =>
		new Error(`the Response doesn't have the ${length} bytes that its Content-Length says`)
	const counter = new Transform({
		transform(chunk: Uint8Array, _encoding, done) {
			remaining -= chunk.byteLength
			if (remaining < 0) done(mismatch())
			else done(null, chunk)
		},
		flush(done) {
			done(remaining === 0 ? null : mismatch())
		},
	})
	// The reader gets the error; destroying the reader closes the source.
	return pipeline(source, counter, () => {})
}
