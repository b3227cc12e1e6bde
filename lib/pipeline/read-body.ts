/** Step 8: collects a request's body as bytes, up to its limit; `request/body/` decodes it. For `answer.ts`. */
import { IncomingMessage } from 'node:http'
import { RestError } from '../base/error.ts'
import type { Bytes } from '../base/time.ts'
import type { Exchange, Routed } from '../exchange/exchange.ts'
import { cutOffError } from '../request/body.ts'
import { hasBody, type Incoming } from '../request/incoming.ts'

const EMPTY = Buffer.alloc(0)

/**
 * Reads the body into `exchange.body.bytes`, and compares it with its digest if one is required. Skipped when `before` has
 * answered, or the request has timed out.
 *
 * @throws RestError `content_too_large`, at once if Content-Length exceeds the limit, else when the limit is reached;
 *   `bad_request` when the client disconnects before the end, `unauthorized` when the digest doesn't match
 */
export function readBody(exchange: Routed, early: unknown): unknown {
	if (early !== undefined || exchange.isReplied) return early
	const collecting = collectBytes(exchange)
	if (collecting === undefined) return exchange.body.compareDigest()
	exchange.watch?.step('body')
	return exchange.body.requiredDigest === undefined
		? collecting
		: collecting.then(() => exchange.body.compareDigest())
}

function collectBytes(exchange: Routed): Promise<void> | undefined {
	const { action, app, body, incoming } = exchange
	if (action.streaming !== undefined) {
		refuseTooLarge(incoming, action.streaming.maxBody)
		return undefined
	}
	// A parser in front (express.json()) has read the body: `incoming.body` has its result.
	if (incoming.readableDidRead && incoming.body !== undefined) return undefined
	if (!hasBody(incoming)) {
		body.bytes = EMPTY
		return undefined
	}
	refuseTooLarge(incoming, app.maxBody)
	refuseEnded(incoming)
	body.bytes = readArrived(incoming, app.maxBody)
	if (body.bytes !== undefined) return undefined
	exchange.sendContinue?.()
	exchange.setDeadline(app.bodyTimeout, 'request_timeout')
	return collect(exchange, app.maxBody)
}

function refuseTooLarge(incoming: Incoming, limit: Bytes): void {
	const length = incoming.headers['content-length']
	if (length !== undefined && Number(length) > limit) throw tooLarge(limit)
}

function tooLarge(limit: Bytes): RestError {
	return new RestError('content_too_large', `The body may have at most ${limit} bytes`)
}

/**
 * Refuses a stream that was already read, or whose client disconnected during authentication: it will emit no `end`.
 */
function refuseEnded(incoming: Incoming): void {
	if (incoming.readableDidRead) {
		throw new TypeError(
			'something in front has read the body and left nothing in request.body: mount Verbena before it',
		)
	}
	if (incoming.destroyed) throw cutOffError()
}

/** The body, if all of it has arrived. Most bodies come in one packet with their headers, and so need no listeners. */
function readArrived(incoming: Incoming, limit: Bytes): Buffer | undefined {
	const { readableLength } = incoming
	if (readableLength === 0 || readableLength > limit || incoming.readableEncoding !== null) return undefined
	// With HTTP/2, `complete` is also true for a body that was cut off.
	const isWhole = incoming.complete && incoming instanceof IncomingMessage
	if (!isWhole && readableLength !== Number(incoming.headers['content-length'])) return undefined
	const bytes: unknown = incoming.read()
	// `end` may not have been emitted yet: node waits for it before it releases the request.
	incoming.resume()
	return Buffer.isBuffer(bytes) ? bytes : undefined
}

/** Collects the stream's bytes; past the limit it pauses the stream and rejects. */
function collect(exchange: Exchange, limit: Bytes): Promise<void> {
	return new Promise((resolve, reject) => {
		const { incoming } = exchange
		let body: Buffer = Buffer.alloc(0)
		let size = 0
		let isSettled = false
		const fail = (error: RestError): void => {
			isSettled = true
			incoming.off('data', onData).pause()
			reject(error)
		}
		const onData = (chunk: Buffer | string): void => {
			// A middleware in front may have called setEncoding().
			const bytes =
				typeof chunk === 'string' ? Buffer.from(chunk, incoming.readableEncoding ?? 'utf8') : chunk
			const before = size
			size += bytes.length
			if (size > limit) {
				fail(tooLarge(limit))
				return
			}
			// Copied: a client can send a byte per chunk, and a Buffer for each takes 350 times as much.
			if (before === 0) body = bytes
			else {
				if (size > body.length) body = Buffer.concat([body.subarray(0, before)], Math.min(2 * size, limit))
				body.set(bytes, before)
			}
		}
		const onEnd = (): void => {
			// HTTP/2 also emits it for a body that was cut off by RST_STREAM with NO_ERROR.
			if (incoming.stream?.aborted === true) {
				onClose()
				return
			}
			isSettled = true
			exchange.body.bytes = body.subarray(0, size)
			resolve()
		}
		// `close` is also emitted after `end`; removing the listener would cost more than keeping it.
		const onClose = (): void => {
			if (!isSettled) fail(cutOffError())
		}
		incoming.on('data', onData).on('end', onEnd).on('close', onClose)
		// node:http's request emits `error` only if it has a listener, so it gets none: each listener slows a small body
		// down by 1 %.
		if (!(incoming instanceof IncomingMessage)) incoming.on('error', onClose)
	})
}
