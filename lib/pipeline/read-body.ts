/** Reads a request's body as bytes, under its limit. Nothing is decoded here: see `request/body/`. */
import { IncomingMessage } from 'node:http'
import { RestError } from '../base/error.ts'
import { takesBody } from '../base/http.ts'
import type { Bytes } from '../base/time.ts'
import type { Exchange, Routed } from '../exchange/exchange.ts'
import { hasBody, type Incoming } from '../request/incoming.ts'

const EMPTY = Buffer.alloc(0)

/**
 * Step 8: reads the body of the methods that have one into `exchange.body.bytes`, and compares it with its digest where
 * that is required. Skipped where `before` has answered, and for a request that has been given up meanwhile.
 *
 * @throws RestError `content_too_large`, at once when `Content-Length` says so, else when it is reached;
 *   `bad_request` when the client leaves before the end, `unauthorized` for another digest
 */
export function readBody(exchange: Routed, early: unknown): unknown {
	if (early !== undefined || exchange.replied || !takesBody(exchange.method)) return early
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
	// Another parser has read it (express.json()): what it made of it is taken as the body.
	if (incoming.readableDidRead && incoming.body !== undefined) return undefined
	if (!hasBody(incoming)) {
		body.bytes = EMPTY
		return undefined
	}
	refuseTooLarge(incoming, app.maxBody)
	refuseGone(incoming)
	body.bytes = arrived(incoming, app.maxBody)
	if (body.bytes !== undefined) return undefined
	exchange.sendContinue?.()
	exchange.allow(app.bodyTimeout, 'request_timeout')
	return collect(exchange, app.maxBody)
}

function refuseTooLarge(incoming: Incoming, limit: Bytes): void {
	const length = incoming.headers['content-length']
	if (length !== undefined && Number(length) > limit) throw tooLarge(limit)
}

function tooLarge(limit: Bytes): RestError {
	return new RestError('content_too_large', `The body may have at most ${limit} bytes`)
}

/** A stream that has been read, or whose client has left while credentials were asked about, never ends again. */
function refuseGone(incoming: Incoming): void {
	if (incoming.readableDidRead) {
		throw new TypeError(
			'something in front has read the body and left nothing in request.body: mount Verbena before it',
		)
	}
	if (incoming.destroyed) throw cutOff()
}

function cutOff(): RestError {
	return new RestError('bad_request', 'The body was cut off before its end')
}

/**
 * The body, if it has come to its end already. Most arrive in one packet with their headers, and are taken at
 * once, without the listeners that a longer one needs.
 */
function arrived(incoming: Incoming, limit: Bytes): Buffer | undefined {
	const { readableLength } = incoming
	if (readableLength === 0 || readableLength > limit || incoming.readableEncoding !== null) return undefined
	// HTTP/2's requests are complete when they are cut off, too.
	const isWhole = incoming.complete && incoming instanceof IncomingMessage
	if (!isWhole && readableLength !== Number(incoming.headers['content-length'])) return undefined
	const bytes: unknown = incoming.read()
	// Its end may be still to come, and is what node waits for before it forgets the request.
	incoming.resume()
	return Buffer.isBuffer(bytes) ? bytes : undefined
}

/** Collects the stream's bytes; leaves the stream alone, paused, when they are too many. */
function collect(exchange: Exchange, limit: Bytes): Promise<void> {
	return new Promise((resolve, reject) => {
		const { incoming } = exchange
		const chunks: Buffer[] = []
		let size = 0
		let settled = false
		const fail = (error: RestError): void => {
			settled = true
			incoming.off('data', onData).pause()
			reject(error)
		}
		const onData = (chunk: Buffer | string): void => {
			// Somebody in front may have asked for text.
			const bytes =
				typeof chunk === 'string' ? Buffer.from(chunk, incoming.readableEncoding ?? 'utf8') : chunk
			size += bytes.length
			chunks.push(bytes)
			if (size > limit) fail(tooLarge(limit))
		}
		const onEnd = (): void => {
			settled = true
			exchange.body.bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)
			resolve()
		}
		// A stream closes after its end as well; the listener stays, as to take it off costs more.
		const onCut = (): void => {
			if (!settled) fail(cutOff())
		}
		incoming.on('data', onData).on('end', onEnd).on('close', onCut)
		// node's own request emits no error that nobody listens for; every listener costs a small body 1 %.
		if (!(incoming instanceof IncomingMessage)) incoming.on('error', onCut)
	})
}
