/**
 * Compresses replies according to `Accept-Encoding` (RFC 9110 §8.4, §12.5.3); called by `transport/serving.ts` around
 * `answer`. `etag.ts` gives each compressed form a tag of its own.
 */
import { finished, type Readable } from 'node:stream'
import type { Bytes } from '../../base/time.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { fieldLines } from '../../request/incoming.ts'
import { removeSuffixes, suffixedTag, tagOf304 } from '../etag.ts'
import {
	headerOf,
	indexOfLine,
	isBodiless,
	isStreamed,
	type Reply,
	type StreamedBody,
	vary,
} from '../headers.ts'
import { readableOf, swallowErrors } from '../unsent.ts'
import type { Coding } from './codings.ts'
import type { Compression } from './negotiate.ts'

/**
 * Smaller bodies are compressed synchronously: handing one to a thread costs more than the 0.1 ms that compressing
 * takes (4 kB of JSON by gzip: 46 µs of processor time here, 99 µs in the pool; 11 kB: 138 and 210; Node 24, two
 * cores).
 */
const MAX_SYNC: Bytes = 4_096

/**
 * Maximum size of all bodies that are in the thread pool or wait for it: they are in memory, but don't count towards
 * `maxUnsentBytes` yet, so a client that asks for many large replies at once could use up the memory. Beyond it, replies are
 * sent uncompressed; a single one may be larger.
 */
const MAX_IN_POOL: Bytes = 16 * 1_048_576

/** Types worth compressing: text, and text-based formats. Images, videos and archives are already compressed. */
const COMPRESSIBLE =
	/^(?:text\/|(?:application|image|model|message)\/[\w.-]+\+(?:json|xml|yaml)\b|application\/(?:json|xml|javascript|ecmascript|yaml|toml|sql|graphql|wasm|rtf|x-ndjson|ndjson|jsonl|x-www-form-urlencoded)\b|font\/(?:ttf|otf|collection)\b|image\/bmp\b)/i

/** Replies with one of these headers aren't compressed: they are encoded already, are (or allow) ranges, or have a digest. */
const EXCLUDING_HEADERS = [
	'content-encoding',
	'content-range',
	'accept-ranges',
	'content-digest',
	'repr-digest',
]

export function answerCompressed(
	exchange: Exchange,
	compression: Compression,
	answer: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
	removeSuffixes(exchange.headers)
	const reply = answer()
	return reply instanceof Promise
		? reply.then((done) => compress(exchange, compression, done))
		: compress(exchange, compression, reply)
}

/**
 * Compresses a reply if the client accepts it. A compressible reply has `Vary: Accept-Encoding` even if it isn't
 * compressed.
 */
function compress(exchange: Exchange, compression: Compression, reply: Reply): Reply | Promise<Reply> {
	// Another reply, such as a timeout's, was sent instead.
	if (exchange.isReplied) return reply
	const coding = compression.choose(exchange.headers['accept-encoding'])
	if (reply.status === 304) return notModified(exchange, reply, coding)
	if (!isCompressible(exchange, compression, reply)) return reply
	const headers = [...reply.headers]
	vary(headers, 'Accept-Encoding')
	const varied: Reply = { ...reply, headers }
	if (coding === undefined) return varied
	const { body } = reply
	// HEAD: nothing is compressed, and the unknown length may be left out (RFC 9110 §9.3.2).
	if (body === null) return coded(varied, coding, null)
	// zlib may run out of memory: the reply is then sent uncompressed.
	const fallBack = (error: unknown): Reply => {
		exchange.log('error', 'the answer could not be compressed', error)
		return varied
	}
	try {
		if (isStreamed(body)) return coded(varied, coding, zipped(body, coding))
		const { inPool } = compression
		if (inPool > 0 && body.length > MAX_SYNC && inPool + body.length > MAX_IN_POOL) return varied
		const bytes = typeof body === 'string' ? Buffer.from(body, reply.ascii ? 'latin1' : 'utf8') : body
		if (bytes.byteLength <= MAX_SYNC) return coded(varied, coding, coding.compressSync(bytes))
		compression.inPool += bytes.byteLength
		const zipping = coding.compress(bytes).finally(() => {
			compression.inPool -= bytes.byteLength
		})
		return zipping.then((zip) => coded(varied, coding, zip), fallBack)
	} catch (error) {
		return fallBack(error)
	}
}

function isCompressible(exchange: Exchange, { threshold }: Compression, reply: Reply): boolean {
	const { status, headers, body } = reply
	if (status === 204 || status === 205 || status === 206) return false
	if (body === null && !isBodiless(exchange)) return false
	const length = headerOf(headers, 'content-length')
	if (length !== undefined && Number(length) < threshold) return false
	return COMPRESSIBLE.test(headerOf(headers, 'content-type') ?? '') && !isExcluded(headers)
}

function isExcluded(headers: readonly string[]): boolean {
	if (EXCLUDING_HEADERS.some((name) => indexOfLine(headers, name) !== -1)) return true
	return /(?:^|,)\s*no-transform\s*(?:,|$)/i.test(headerOf(headers, 'cache-control') ?? '')
}

/** The reply with its compressed body. */
function coded({ status, headers }: Reply, coding: Coding, body: Uint8Array | Readable | null): Reply {
	const lines: string[] = []
	for (let at = 0; at < headers.length; at += 2) {
		const [name = '', value = ''] = [headers[at], headers[at + 1]]
		const key = name.toLowerCase()
		if (key === 'etag') lines.push(name, suffixedTag(value, coding))
		else if (key !== 'content-length') lines.push(name, value)
	}
	lines.push('Content-Encoding', coding.name)
	if (body instanceof Uint8Array) lines.push('Content-Length', String(body.byteLength))
	return { status, headers: lines, body }
}

/**
 * Gives a 304 the `Vary` of the full reply, and the ETag as the client knows it (RFC 9110 §15.4.5). A 304 has no length
 * and usually no type, so it gets `Vary` if the full reply may be compressible. A needless `Vary` costs a cache a second
 * entry; without a needed one, a cache would give the compressed form to clients that can't decode it.
 */
function notModified({ incoming }: Exchange, reply: Reply, coding: Coding | undefined): Reply {
	const headers = [...reply.headers]
	const type = headerOf(headers, 'content-type')
	const varies = (type === undefined || COMPRESSIBLE.test(type)) && !isExcluded(headers)
	if (varies) vary(headers, 'Accept-Encoding')
	const at = indexOfLine(headers, 'etag')
	if (at === -1) return { ...reply, headers }
	const named = fieldLines(incoming, 'if-none-match').join(', ')
	headers[at + 1] = tagOf304(headers[at + 1] ?? '', named, coding)
	return { ...reply, headers }
}

/**
 * A streamed body, compressed. Chunks that arrive while another is being compressed are compressed together; when no more
 * arrive by the end of an event-loop turn, the output is flushed, so that a feed shows each record when it comes. Nothing is
 * read ahead of the reader; destroying the result closes the source, an error of the source destroys the result.
 */
export function zipped(body: StreamedBody, coding: Coding): Readable {
	// Created first: if this fails, the body is still untouched.
	const zip = coding.stream()
	const source = readableOf(body)
	swallowErrors(zip)
	let isBusy = false
	let hasEnded = false
	const onWritten = (): void => {
		isBusy = false
		writeNext()
	}
	const flush = (): void => {
		if (isBusy || hasEnded || zip.destroyed) return
		isBusy = true
		coding.flush(zip, onWritten)
	}
	const writeNext = (): void => {
		if (isBusy || hasEnded || zip.destroyed) return
		// All that is buffered, in one chunk.
		const chunk: unknown = source.read()
		if (chunk === null) return
		isBusy = true
		// Calls back when the chunk is compressed and there is room for the result.
		zip.write(chunk, () => {
			onWritten()
			if (!isBusy) setImmediate(flush)
		})
	}
	finished(source, { writable: false }, (error) => {
		hasEnded = true
		if (error === undefined || error === null) zip.end()
		else zip.destroy(error)
	})
	zip.once('close', () => source.destroy())
	source.on('readable', writeNext)
	return zip
}
