/**
 * The last step: a value or an error becomes status, headers and body. This is the only place where the
 * bytes of an answer are decided.
 */
import { STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { prefersProblem } from './accept.ts'
import { CustomReply, type ReplyOptions } from './custom-reply.ts'
import { isRestError, RestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import { explained } from './explain.ts'
import { allowHeader, type RouteMethod } from './http.ts'
import { firstThenRest, jsonArray } from './json-array.ts'
import { applyOptions, headerLine } from './reply-head.ts'
import { firstBytes, isWebStream, letGo } from './unsent.ts'
import { RawJson } from './wire/raw-json.ts'

/** What is sent. A body that is no text or bytes is sent in chunks, as the client takes them. */
export interface Reply {
	readonly status: number
	/** Names and values in turn. */
	readonly headers: string[]
	readonly body: string | Uint8Array | Readable | AsyncIterable<string> | null
	/** Set for text of one byte a character: it is written without a look at each. */
	readonly ascii?: boolean
}

const JSON_TYPE = 'application/json; charset=utf-8'
const BYTES_TYPE = 'application/octet-stream'
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

const NOSNIFF = 'X-Content-Type-Options'
const BYTES_SAFETY: readonly string[] = [NOSNIFF, 'nosniff', 'Content-Security-Policy', 'sandbox']

/** Turns what a method has returned into the answer; the error it has recorded comes first. */
export function seal(exchange: Exchange, value: unknown): Reply | Promise<Reply> {
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
	if (value === undefined || value === null) return json(exchange, aroundText('null', wrap, meta))
	if (typeof value === 'object' && !isPlain(value)) {
		if (value instanceof RawJson) return json(exchange, aroundText(value.text, wrap, meta))
		if (hasNoContent(statusOf(exchange))) {
			letGo(value)
			return json(exchange, '')
		}
		if (value instanceof Uint8Array) return bytes(exchange, value)
		if (value instanceof Readable && !value.readableObjectMode) return stream(exchange, value)
		if (isWebStream(value)) return stream(exchange, Readable.fromWeb(value))
		if (isAsyncIterable(value)) return records(exchange, value, wrap, meta)
	}
	return json(exchange, aroundText(stringify(value), wrap, meta))
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

function unspeakable(value: unknown): TypeError {
	return new TypeError(`a ${typeof value} can't be answered: JSON has no such value`)
}

/** The envelope is put around the text: to stringify it with the value costs a small answer 0.2 µs more. */
function aroundText(data: string, wrap: boolean, meta: Meta): string {
	if (!wrap) return data
	return `{"success":true,"data":${data}${meta === undefined ? '' : `,"meta":${stringify(meta)}`}}`
}

function json(exchange: Exchange, text: string): Reply {
	const status = statusOf(exchange)
	if (hasNoContent(status)) return { status, headers: headers(exchange, [NOSNIFF, 'nosniff']), body: null }
	return textual(exchange, status, JSON_TYPE, text)
}

function hasNoContent(status: number): boolean {
	return status === 204 || status === 205 || status === 304
}

function textual(exchange: Exchange, status: number, type: string, text: string): Reply {
	const length = Buffer.byteLength(text)
	return {
		status,
		headers: headers(exchange, ['Content-Type', type, 'Content-Length', String(length), NOSNIFF, 'nosniff']),
		body: exchange.method === 'HEAD' ? null : text,
		ascii: length === text.length,
	}
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
	const source = await firstThenRest(value)
	let body: AsyncIterable<string> | null = null
	try {
		await exchange.checked()
		if (exchange.failure !== undefined) throw exchange.failure
		if (exchange.method !== 'HEAD')
			body = jsonArray(source, wrap ? '{"success":true,"data":[' : '[', wrap ? end : ']')
	} finally {
		if (body === null && source.first.done !== true) await source.rest.return?.()
	}
	const lines = headers(exchange, ['Content-Type', JSON_TYPE, NOSNIFF, 'nosniff'])
	return { status: statusOf(exchange), headers: lines, body }
}

/** The usual headers, each replaced by what the method has set under the same name, and the others it has set. */
function headers(exchange: Exchange, usual: string[]): string[] {
	const lines = exchange.headerLines
	const { requestId } = exchange.app
	if (requestId !== undefined) usual.push(requestId, exchange.id())
	if (lines === undefined) return usual
	const all: string[] = []
	for (let at = 0; at < usual.length; at += 2) {
		const name = usual[at] ?? ''
		if (!lines.has(name.toLowerCase())) all.push(name, usual[at + 1] ?? '')
	}
	for (const [name, value] of lines.values()) {
		if (typeof value === 'string') all.push(name, value)
		else for (const one of value) all.push(name, one)
	}
	return all
}

/** 204 with the methods that a path answers. */
export function sealOptions(exchange: Exchange, methods: readonly RouteMethod[]): Reply {
	return {
		status: 204,
		headers: headers(exchange, ['Allow', allowHeader(methods), NOSNIFF, 'nosniff']),
		body: null,
	}
}

/**
 * Turns whatever was thrown into an answer. Only a `RestError` is shown; everything else is
 * `Internal Server Error`, and its cause goes to the logger.
 */
export function sealError(exchange: Exchange, thrown: unknown): Reply {
	try {
		return sealShown(exchange, thrown)
	} catch (error) {
		// Every request is answered, also where an error's headers or details can't be sent, or the logger fails.
		exchange.headerLines = undefined
		logIfPossible(exchange, error)
		const body = errorBody(exchange, new RestError('internal'), false)
		return textual(exchange, 500, JSON_TYPE, JSON.stringify(body))
	}
}

function logIfPossible(exchange: Exchange, error: unknown): void {
	try {
		exchange.log('error', 'an error could not be answered', error)
	} catch {}
}

function sealShown(exchange: Exchange, thrown: unknown): Reply {
	const error = exchange.failure ?? (isRestError(thrown) ? thrown : hidden(exchange, thrown))
	if (isRestError(thrown) && thrown.status >= 500 && thrown.cause !== undefined)
		exchange.log('error', thrown.message, thrown)
	// What a method had set was for its success; a cookie or a Location must not go out with a refusal.
	exchange.headerLines = undefined
	for (const [name, value] of Object.entries(errorHeaders(exchange, error))) {
		exchange.headerLines ??= new Map()
		exchange.headerLines.set(name.toLowerCase(), headerLine(name, value))
	}
	const problem = prefersProblem(exchange.headers.accept)
	return textual(
		exchange,
		error.status,
		problem ? PROBLEM_TYPE : JSON_TYPE,
		JSON.stringify(errorBody(exchange, error, problem)),
	)
}

function hidden(exchange: Exchange, thrown: unknown): RestError {
	exchange.log('error', `${exchange.action?.name ?? 'a request'} failed`, explained(thrown))
	return new RestError('internal')
}

function errorHeaders(exchange: Exchange, error: RestError): Record<string, string> {
	const lines: Record<string, string> = { Vary: 'Accept' }
	if (error.status === 401)
		Object.assign(lines, exchange.mount?.authenticator?.challenge ?? { 'WWW-Authenticate': 'Bearer' })
	if (error.status === 503) lines['Retry-After'] = '1'
	return Object.assign(lines, error.headers)
}

/** `{"success":false,…}`, or the problem details of RFC 9457, whose `details` and `code` are extensions. */
function errorBody(exchange: Exchange, error: RestError, problem: boolean): object {
	const { status, message, code, details } = error
	const rest = {
		...(code === undefined ? undefined : { code }),
		...(details.length === 0 ? undefined : { details }),
		...(status >= 500 || exchange.app.requestId !== undefined ? { requestId: exchange.id() } : undefined),
	}
	if (problem)
		return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail: message, ...rest }
	return exchange.mount?.wrap === false
		? { error: message, ...rest }
		: { success: false, error: message, ...rest }
}
