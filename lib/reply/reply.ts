/**
 * `reply/` turns what a method returns into status, headers and body. `seal` is the last step of `pipeline/answer.ts`; it
 * hands errors to `error-reply.ts`, streams and generators to `stream.ts` and a fetch `Response` to `response.ts`;
 * `headers.ts` adds the headers of every reply.
 */
import { Readable } from 'node:stream'
import { isRestError } from '../base/error.ts'
import { allowHeader, type RouteMethod } from '../base/http.ts'
import type { Bytes } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { RawJson } from '../wire/raw-json.ts'
import { CustomReply, type ReplyOptions } from './custom-reply.ts'
import { sealError } from './error-reply.ts'
import {
	applyOptions,
	ENVELOPE_START,
	emptyReply,
	envelopeEnd,
	hasNoContent,
	headers,
	isBodiless,
	JSON_TYPE,
	LONG_TEXT,
	NOSNIFF,
	type Reply,
	statusOf,
	textReply,
} from './headers.ts'
import { sealResponse } from './response.ts'
import { isIterable, isIterator, sealBytes, sealIterable, sealStream } from './stream.ts'
import { disposeBody, isResponse, isWebStream } from './unsent.ts'
import { jsonText, otherTypeOf, refuseError, refuseUnderType, textUnderType } from './value-text.ts'

/** Makes the reply from what a method has returned; a recorded error takes precedence. */
export function seal(exchange: Exchange, value: unknown): Reply | Promise<Reply> {
	try {
		return sealReturned(exchange, value)
	} catch (error) {
		exchange.isDone = true
		throw error
	}
}

function sealReturned(exchange: Exchange, value: unknown): Reply | Promise<Reply> {
	if (exchange.failure !== undefined) {
		disposeBody(value)
		return sealError(exchange, exchange.failure)
	}
	const wrap = exchange.mount?.wrap !== false
	if (value instanceof CustomReply) {
		const { value: inner, options, enveloped } = value
		if (isResponse(inner)) return sealResponse(exchange, inner, options)
		applyOptions(exchange, options)
		return sealValue(exchange, inner, { wrap: wrap || enveloped, enveloped, meta: options.meta })
	}
	return sealValue(exchange, value, wrap ? WRAPPED : BARE)
}

/** How a JSON value is sent. */
interface JsonFormat {
	readonly wrap: boolean
	/** Whether the value is in the envelope whatever the Content-Type: it comes from `respond()`. */
	readonly enveloped: boolean
	readonly meta: ReplyOptions['meta']
}

const WRAPPED: JsonFormat = { wrap: true, enveloped: false, meta: undefined }
const BARE: JsonFormat = { wrap: false, enveloped: false, meta: undefined }

function sealValue(exchange: Exchange, value: unknown, format: JsonFormat): Reply | Promise<Reply> {
	const type =
		exchange.headerLines === undefined || format.enveloped ? undefined : otherTypeOf(exchange.headerLines)
	if (type !== undefined) {
		const text = textUnderType(value, type)
		if (text !== undefined) return plainReply(exchange, text)
	}
	if (value === undefined || value === null) return jsonReply(exchange, 'null', format)
	if (typeof value === 'object' && !isPlain(value)) {
		if (value instanceof RawJson && type === undefined) return jsonReply(exchange, value.text, format)
		if (isResponse(value)) return sealResponse(exchange, value)
		if (hasNoContent(statusOf(exchange))) {
			disposeBody(value)
			return emptyReply(exchange)
		}
		if (value instanceof Uint8Array) return sealBytes(exchange, value)
		if (value instanceof Readable && !value.readableObjectMode) return sealStream(exchange, value)
		if (isWebStream(value)) return sealStream(exchange, Readable.fromWeb(value))
		if (isAsyncIterable(value) || isIterator(value) || (type !== undefined && isIterable(value)))
			return sealIterable(exchange, value, format.wrap, format.meta)
		if (isRestError(value)) return sealError(exchange, value)
		refuseError(value, 'data')
	}
	if (type !== undefined) refuseUnderType(value, type)
	return jsonReply(exchange, jsonText(value, 'data'), format)
}

/** Whether this is an object literal or an array, as most values are: these skip the other checks. */
function isPlain(value: object): boolean {
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === Array.prototype || (prototype === Object.prototype && !isAsyncIterable(value))
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
	return Symbol.asyncIterator in value
}

/** A text under the Content-Type that the method has set, which replaces `JSON_TYPE`. */
function plainReply(exchange: Exchange, text: string): Reply {
	const status = statusOf(exchange)
	return hasNoContent(status) ? emptyReply(exchange) : textReply(exchange, status, JSON_TYPE, text)
}

/**
 * Puts the envelope around the text: stringifying the envelope together with the value takes 0.2 µs more for a small reply.
 * Bytes are counted before joining, because V8 would copy a joined text to count its bytes.
 */
function jsonReply(exchange: Exchange, data: string, { wrap, meta }: JsonFormat): Reply {
	const status = statusOf(exchange)
	if (hasNoContent(status)) return emptyReply(exchange)
	const length = Buffer.byteLength(data)
	const start = wrap ? ENVELOPE_START : ''
	const end = wrap ? envelopeEnd(meta) : ''
	const total = start.length + length + Buffer.byteLength(end)
	const isShort = data.length < LONG_TEXT || isBodiless(exchange)
	const body = isShort ? start + data + end : joinedBytes(start, data, length, end, total)
	return textReply(exchange, status, JSON_TYPE, body, total)
}

/** A long text joined as bytes: joined as text, it would be copied twice more. */
function joinedBytes(start: string, data: string, length: Bytes, end: string, total: Bytes): Uint8Array {
	const bytes = Buffer.allocUnsafe(total)
	bytes.write(start, 'latin1')
	bytes.write(data, start.length, length === data.length ? 'latin1' : 'utf8')
	bytes.write(end, start.length + length)
	return bytes
}

/** Answers OPTIONS: 204 with the path's methods in `Allow`, and `patch`, the media types of its PATCH, in `Accept-Patch`. */
export function sealOptions(exchange: Exchange, methods: readonly RouteMethod[], patch?: string): Reply {
	const types = patch === undefined ? [] : ['Accept-Patch', patch]
	return {
		status: 204,
		headers: headers(exchange, ['Allow', allowHeader(methods), ...types, NOSNIFF, 'nosniff']),
		body: null,
	}
}
