/**
 * The last step: a value or an error becomes status, headers and body. This is the only place where the
 * bytes of an answer are decided.
 */
import { Readable } from 'node:stream'
import { CustomReply, type ReplyOptions } from './custom-reply.ts'
import { isRestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import { allowHeader, type RouteMethod } from './http.ts'
import { firstThenRest, jsonArray } from './json-array.ts'
import { bindReads, boundRecords } from './observe/context.ts'
import { sealError } from './reply-error.ts'
import { applyOptions } from './reply-head.ts'
import { headers, JSON_TYPE, NOSNIFF, type Reply, SANDBOX, textual } from './reply-text.ts'
import { firstBytes, isWebStream, letGo } from './unsent.ts'
import { RawJson } from './wire/raw-json.ts'

const BYTES_TYPE = 'application/octet-stream'

const BYTES_SAFETY: readonly string[] = [NOSNIFF, 'nosniff', ...SANDBOX]

/** Turns what a method has returned into the answer; the error it has recorded comes first. */
export function seal(exchange: Exchange, value: unknown): Reply | Promise<Reply> {
	try {
		return sealed(exchange, value)
	} catch (error) {
		// The method has returned, and what it did is done: whoever repeats the request must not have it done again.
		exchange.isDone = true
		throw error
	}
}

function sealed(exchange: Exchange, value: unknown): Reply | Promise<Reply> {
	if (exchange.failure !== undefined) {
		letGo(value)
		return sealError(exchange, exchange.failure)
	}
	const wrap = exchange.mount?.wrap !== false
	if (value instanceof CustomReply) {
		applyOptions(exchange, value.options)
		return sealValue(exchange, value.value, wrap || value.enveloped, value.options.meta)
	}
	return sealValue(exchange, value, wrap, undefined)
}

type Meta = ReplyOptions['meta']

function sealValue(exchange: Exchange, value: unknown, wrap: boolean, meta: Meta): Reply | Promise<Reply> {
	if (value === undefined || value === null) return json(exchange, 'null', wrap, meta)
	if (typeof value === 'object' && !isPlain(value)) {
		if (value instanceof RawJson) return json(exchange, value.text, wrap, meta)
		if (hasNoContent(statusOf(exchange))) {
			letGo(value)
			return bodiless(exchange)
		}
		if (value instanceof Uint8Array) return bytes(exchange, value)
		if (value instanceof Readable && !value.readableObjectMode) return stream(exchange, value)
		if (isWebStream(value)) return stream(exchange, Readable.fromWeb(value))
		if (isAsyncIterable(value)) return records(exchange, value, wrap, meta)
		if (isRestError(value)) return sealError(exchange, value)
		refuseLossy(value)
	}
	return json(exchange, stringify(value), wrap, meta)
}

/** Objects and arrays made by literals, which most answers are: they need no further questions. */
function isPlain(value: object): boolean {
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === Array.prototype || (prototype === Object.prototype && !isAsyncIterable(value))
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
	return Symbol.asyncIterator in value
}

/** `JSON.stringify` answers undefined for a function or a symbol: an answer must not lose them in silence. */
function stringify(value: unknown): string {
	const text: string | undefined = JSON.stringify(value)
	if (text === undefined) throw unspeakable(value)
	return text
}

/** Objects that JSON writes as `{}`: a success with nothing in it would hide the mistake. */
function refuseLossy(value: object): void {
	const isLossy =
		value instanceof Error ||
		value instanceof Map ||
		value instanceof Set ||
		value instanceof ArrayBuffer ||
		value instanceof Blob
	const isIterator = Symbol.iterator in value && 'next' in value
	if ((!isLossy && !isIterator) || 'toJSON' in value) return
	const kind = isIterator ? 'an iterator' : `a value of ${value.constructor.name}`
	throw new TypeError(
		`${kind} can't be answered, as JSON would make {} of it: return an array, an object, bytes or an async iterable`,
	)
}

function unspeakable(value: unknown): TypeError {
	return new TypeError(`a ${typeof value} can't be answered: JSON has no such value`)
}

/**
 * The envelope is put around the text: to stringify it with the value costs a small answer 0.2 µs more. Bytes are
 * counted before joining: counting a joined text would copy it first.
 */
function json(exchange: Exchange, data: string, wrap: boolean, meta: Meta): Reply {
	const status = statusOf(exchange)
	if (hasNoContent(status)) return bodiless(exchange)
	const length = Buffer.byteLength(data)
	if (!wrap) return textual(exchange, status, JSON_TYPE, data, length)
	const end = meta === undefined ? '}' : `,"meta":${stringify(meta)}}`
	const text = BEGINNING + data + end
	return textual(exchange, status, JSON_TYPE, text, BEGINNING.length + length + Buffer.byteLength(end))
}

const BEGINNING = '{"success":true,"data":'

function bodiless(exchange: Exchange): Reply {
	return { status: statusOf(exchange), headers: headers(exchange, [NOSNIFF, 'nosniff']), body: null }
}

function hasNoContent(status: number): boolean {
	return status === 204 || status === 205 || status === 304
}

/** Bytes are sent as they are; sandboxed, as what a user has uploaded may be a page with a script. */
function bytes(exchange: Exchange, body: Uint8Array): Reply {
	const lines = ['Content-Type', BYTES_TYPE, 'Content-Length', String(body.byteLength), ...BYTES_SAFETY]
	return {
		status: statusOf(exchange),
		headers: headers(exchange, lines),
		body: exchange.method === 'HEAD' ? null : body,
	}
}

/** A stream's bytes, as they come. The first are awaited here, while an error can still be told. */
async function stream(exchange: Exchange, source: Readable): Promise<Reply> {
	if (exchange.watch?.isTraced === true) bindReads(source)
	await firstBytes(source)
	if (exchange.method === 'HEAD') source.destroy()
	const lines = headers(exchange, ['Content-Type', BYTES_TYPE, ...BYTES_SAFETY])
	return { status: statusOf(exchange), headers: lines, body: exchange.method === 'HEAD' ? null : source }
}

function statusOf(exchange: Exchange): number {
	return exchange.status === 0 ? 200 : exchange.status
}

/**
 * Records as they come, in a JSON array. The first is awaited here, while an error can still be told: by
 * then a generator has run its first lines, and the status, error or check of these counts.
 */
async function records(
	exchange: Exchange,
	value: AsyncIterable<unknown>,
	wrap: boolean,
	meta: Meta,
): Promise<Reply> {
	const end = `]${meta === undefined ? '' : `,"meta":${stringify(meta)}`}}`
	const source = await firstThenRest(exchange.watch?.isTraced === true ? boundRecords(value) : value)
	let body: AsyncIterable<string> | null = null
	try {
		await exchange.checked()
		if (exchange.failure !== undefined) throw exchange.failure
		if (exchange.method !== 'HEAD' && !hasNoContent(statusOf(exchange)))
			body = jsonArray(source, wrap ? '{"success":true,"data":[' : '[', wrap ? end : ']')
	} finally {
		if (body === null && source.first.done !== true) await source.rest.return?.()
	}
	if (hasNoContent(statusOf(exchange))) return bodiless(exchange)
	const lines = headers(exchange, ['Content-Type', JSON_TYPE, NOSNIFF, 'nosniff'])
	return { status: statusOf(exchange), headers: lines, body }
}

/** 204 with the methods that a path answers. */
export function sealOptions(exchange: Exchange, methods: readonly RouteMethod[]): Reply {
	return {
		status: 204,
		headers: headers(exchange, ['Allow', allowHeader(methods), NOSNIFF, 'nosniff']),
		body: null,
	}
}
