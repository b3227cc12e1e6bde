/** A fetch `Response` returned by a method, sent as it is: status, headers, and its body as it comes. */
import { pipeline, Readable, Transform } from 'node:stream'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import { bindReads } from '../observe/trace.ts'
import type { ReplyOptions } from './custom-reply.ts'
import { applyOptions, headerLine, isFraming, setStatus } from './head.ts'
import {
	BYTES_SAFETY,
	BYTES_TYPE,
	emptyReply,
	hasNoContent,
	headers,
	NOSNIFF,
	type Reply,
	statusOf,
} from './headers.ts'
import { disposeBody, firstBytes, isWebStream, swallowErrors } from './unsent.ts'

/**
 * Its headers replace those set by the method; cookies of both are sent. `options` are those of a `reply()` around it, and
 * replace its own.
 *
 * @throws TypeError for a `Response.error()`, and for a body that was read before
 */
export function sealResponse(
	exchange: Exchange,
	response: Response,
	options: ReplyOptions = {},
): Reply | Promise<Reply> {
	if (response.type === 'error' || response.status === 0)
		throw new TypeError('data is a Response that is an error: it has no status to be answered')
	if (response.bodyUsed || response.body?.locked === true)
		throw new TypeError(
			'data is a Response whose body was read before: return it unread, or a copy, response.clone()',
		)
	setStatus(exchange, response.status)
	const length = takeHeaders(exchange, response)
	applyOptions(exchange, options)
	const { body } = response
	const isHead = exchange.method === 'HEAD'
	if (hasNoContent(statusOf(exchange))) {
		disposeBody(response)
		return emptyReply(exchange)
	}
	if (body === null) return empty(exchange, isHead ? lengthOfHead(response, length) : 0)
	if (!isHead) return streamed(exchange, sourceOf(body), length)
	disposeBody(response)
	return whole(exchange, null, length)
}

/** A fetched HEAD has no body, and maybe the length that a GET would have. */
function lengthOfHead({ url }: Response, length: Bytes | undefined): Bytes | undefined {
	return url === '' ? 0 : length
}

/** Without a length it would be sent as an empty chunk. */
function empty(exchange: Exchange, length: Bytes | undefined): Reply {
	const lines = [NOSNIFF, 'nosniff', ...(length === undefined ? [] : ['Content-Length', String(length)])]
	return { status: statusOf(exchange), headers: headers(exchange, lines), body: null }
}

/**
 * Adds its headers to those of the reply, without those of its connection and those that only this server sets. Returns its
 * length, if known.
 */
function takeHeaders(exchange: Exchange, response: Response): Bytes | undefined {
	const lines = new Map<string, HeaderLine>()
	const { headers: given } = response
	const hop = new Set((given.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase()))
	const isFetched = response.url !== ''
	const isDecoded = isFetched && DECODED.test(given.get('content-encoding') ?? '')
	for (const [name, value] of given) {
		const key = name.toLowerCase()
		if (isFraming(key) || hop.has(key) || OF_HOP.has(key) || isOurs(exchange, key)) continue
		if (isFetched && key.startsWith('access-control-')) continue
		if (isDecoded && key === 'content-encoding') continue
		const before = lines.get(key)?.[1]
		// Only Set-Cookie comes more than once: Headers joins all others.
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
const OF_HOP: ReadonlySet<string> = new Set([
	'proxy-authenticate',
	'proxy-authentication-info',
	'proxy-authorization',
	'proxy-connection',
	'te',
])

/**
 * Whether only this server may set a header, by its name in lower case: another server's would open replies to other origins,
 * state limits that don't hold here, or name another request than the log does.
 */
function isOurs({ app, rateLimitLines }: Exchange, name: string): boolean {
	if (name === 'x-content-type-options' || name === app.requestId) return true
	if (name === 'ratelimit' || name === 'ratelimit-policy') return rateLimitLines !== undefined
	return app.cors !== undefined && name.startsWith('access-control-')
}

/** Codings that `fetch` has decoded, but leaves in the headers. It decodes all codings of a reply, or none. */
const DECODED = decodedBy(globalThis.process?.versions ?? {})

/** Bun's `fetch` knows zstd, and Node's from 24.4 on: by undici 7.11. `node:zlib` may know it where `fetch` doesn't: Node 22. */
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
	throw new TypeError('data is a Response whose body is no stream')
}

/**
 * Its bytes as they come. An immediate failure can still be answered as an error; a slow body isn't waited for, as readers of
 * an event feed should see that it has begun.
 */
async function streamed(exchange: Exchange, source: Readable, length: Bytes | undefined): Promise<Reply> {
	if (exchange.watch?.isTraced === true) bindReads(source)
	const body = length === undefined ? source : counted(source, length)
	if (exchange.idempotencyKey !== undefined && !isFeed(exchange)) {
		const bytes = await gathered(exchange, body)
		if (bytes !== undefined) return whole(exchange, bytes, bytes.length)
	}
	const beginning = firstBytes(body)
	beginning.catch(() => {})
	await Promise.race([beginning, new Promise(setImmediate)])
	return whole(exchange, body, length)
}

function whole(exchange: Exchange, body: Readable | Buffer | null, length: Bytes | undefined): Reply {
	const hasType = exchange.headerLines?.has('content-type') === true
	const lines = hasType ? [NOSNIFF, 'nosniff'] : ['Content-Type', BYTES_TYPE, ...BYTES_SAFETY]
	if (length !== undefined) lines.push('Content-Length', String(length))
	return { status: statusOf(exchange), headers: headers(exchange, lines), body }
}

function isFeed({ headerLines }: Exchange): boolean {
	return /^text\/event-stream\b/i.test(String(headerLines?.get('content-type')?.[1]))
}

/** A body that is longer, or slower, is sent as it comes. */
const MOST_GATHERED: Bytes = 1_048_576
const GATHERING: Milliseconds = 5_000

/**
 * The whole body, for a request with an Idempotency-Key, so that it can be stored and replayed. `undefined` where it is too
 * long or slow; it can then still be read from the beginning. Rejects with the body's error.
 */
function gathered(exchange: Exchange, source: Readable): Promise<Buffer | undefined> {
	swallowErrors(source)
	const { due, app } = exchange
	const time = Math.min(GATHERING, (due - app.deadlines.clock()) / 2)
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = []
		let size = 0
		const stop = (): void => {
			clearTimeout(timer)
			source.off('readable', take).off('end', end).off('error', fail)
		}
		const take = (): void => {
			for (let chunk = source.read(); chunk !== null; chunk = source.read()) {
				chunks.push(Buffer.from(chunk))
				size += chunk.length
			}
			if (size > MOST_GATHERED) giveUp()
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
			// The method has run.
			exchange.isDone = true
			reject(error)
		}
		const timer = setTimeout(giveUp, time)
		source.on('readable', take).on('end', end).on('error', fail)
	})
}

/**
 * Fails unless the body has exactly its Content-Length: with more or fewer bytes, the client would take a part of this reply
 * for the next, or the next for a part of this one (RFC 9112 §11.2).
 */
function counted(source: Readable, length: Bytes): Readable {
	let left = length
	const wrong = (): Error =>
		new Error(`the Response has not the ${length} bytes that its Content-Length says`)
	const counter = new Transform({
		transform(chunk: Uint8Array, _encoding, done) {
			left -= chunk.byteLength
			if (left < 0) done(wrong())
			else done(null, chunk)
		},
		flush(done) {
			done(left === 0 ? null : wrong())
		},
	})
	// The reader gets the error; a reader that leaves closes the source.
	return pipeline(source, counter, () => {})
}
