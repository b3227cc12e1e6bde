/** Writes a reply to node's response with backpressure, and either closes the connection or leaves it ready for reuse. */
import { finished, Readable } from 'node:stream'
import type { Exchange } from '../exchange/exchange.ts'
import { isStreamed, LONG_TEXT, linesByName, type Reply, type StreamedBody } from '../reply/headers.ts'
import { disposeBody, readableOf } from '../reply/unsent.ts'
import { hasBody } from '../request/incoming.ts'
import { drainUpload, limitRest } from './drain-upload.ts'
import { cutOff, type Outgoing, watchResponse } from './outgoing.ts'
import { limitStream, limitWait } from './slow-reader.ts'

/** Sends a reply; `mustClose` closes the connection after it. */
export function send(exchange: Exchange, response: Outgoing, reply: Reply, mustClose: boolean): void {
	exchange.isReplied = true
	const { watch } = exchange
	if (response.headersSent || isGone(exchange)) {
		disposeBody(reply.body)
		if (watch?.isLazy === true) watch.end(false)
		return
	}
	watch?.answered(reply)
	const hasRest = hasUnreadBody(exchange)
	// node reads and drops a small rest, and the connection stays open.
	const hasLongRest = hasRest && !(Number(exchange.headers['content-length']) <= 65_536)
	const isLast = mustClose || hasLongRest || isLastAnswer(exchange, response)
	if (!writeHead(exchange, response, reply, isLast)) {
		disposeBody(reply.body)
		if (watch?.isLazy === true) watch.end(false)
		return
	}
	const body = bodyToWrite(reply)
	if (isStreamed(body)) {
		if (watch?.isLazy === true) watchResponse(watch, exchange, response)
		sendStream(exchange, response, body, isLast)
		return
	}
	// As bytes, for the same reason as in `bodyToWrite`.
	if (hasRest) endBeforeRest(exchange, response, typeof body === 'string' ? Buffer.from(body) : body, isLast)
	else if (body === null) response.end()
	else if (typeof body === 'string') response.end(body, reply.ascii ? 'latin1' : 'utf8')
	else response.end(body)
	const isWaiting = response.writableLength > 0
	if (isWaiting) limitWait(exchange, response, body)
	if (watch?.isLazy !== true) return
	// Most answers are written at once, and need no listeners.
	if (!isWaiting && response.writableEnded) watch.end(true)
	else watchResponse(watch, exchange, response)
}

/**
 * Encodes long texts: while a text waits for a slow client, node keeps both the string and its bytes, and the string counts
 * towards the heap's limit. Also encodes a text beyond ASCII if a header is beyond ASCII too: node writes the head in the
 * encoding of the text, so the header would be sent as UTF-8 instead of Latin-1.
 */
function bodyToWrite({ body, ascii, headers }: Reply): Reply['body'] {
	if (typeof body !== 'string') return body
	const isPlain = ascii || !headers.some((text) => BEYOND_ASCII.test(text))
	return body.length < LONG_TEXT && isPlain ? body : Buffer.from(body, ascii ? 'latin1' : 'utf8')
}

const BEYOND_ASCII = /[\x80-\xff]/

/** Whether the client has disconnected: writes would be dropped without an event. */
function isGone({ connection }: Exchange): boolean {
	return connection?.destroyed === true
}

/** Whether part of the request's body is still unread. */
function hasUnreadBody(exchange: Exchange): boolean {
	const { incoming } = exchange
	if (incoming.complete || incoming.readableEnded || !hasBody(incoming)) return false
	return exchange.body.bytes === undefined
}

/**
 * Whether the connection must close after this answer. A client that waits for `100 Continue` and gets another answer
 * may or may not send the body: its next request could be taken for that body. While the server drains, an answer is
 * the last of its connection unless later ones are pending.
 */
function isLastAnswer({ app, incoming, isLast, sendContinue }: Exchange, response: Outgoing): boolean {
	if (isLast || sendContinue !== undefined) return true
	if (app.phase === 'open' || incoming.socket === null) return app.phase !== 'open'
	const pending = app.pipelines.pendingAnswer(incoming.socket)
	return pending === undefined || pending === response
}

/** Returns false when the head couldn't be written, and the answer was cut off. */
function writeHead(
	exchange: Exchange,
	response: Outgoing,
	{ status, headers }: Reply,
	isLast: boolean,
): boolean {
	if (exchange.isHttp2) return writeHttp2Head(exchange, response, status, headers)
	if (isLast) {
		headers.push('Connection', 'close')
		if (exchange.incoming.socket !== null) exchange.app.pipelines.markEnding(exchange.incoming.socket)
	}
	response.writeHead(status, headers)
	return true
}

/**
 * node:http2 throws for some headers that node:http accepts, such as a single-value header given twice. The answer is
 * then cut off.
 */
function writeHttp2Head(exchange: Exchange, response: Outgoing, status: number, headers: string[]): boolean {
	try {
		const lines = linesByName(headers)
		for (const name of HOP_BY_HOP) delete lines[name]
		response.writeHead(status, lines)
		return true
	} catch (error) {
		exchange.watch?.failed(error)
		exchange.log('error', 'the answer could not be sent over HTTP/2', error)
		cutOff(exchange, response)
		return false
	}
}

/** "An endpoint MUST NOT generate an HTTP/2 message containing connection-specific header fields" (RFC 9113 §8.2.2). */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['http2-settings', 'proxy-connection', 'te'])

/** Ends an answer while the rest of the request's body is unread. */
function endBeforeRest(
	exchange: Exchange,
	response: Outgoing,
	body: string | Uint8Array | null,
	isLast: boolean,
): void {
	const { incoming } = exchange
	const bytes = body ?? ''
	if (exchange.isHttp2) {
		// This ends our half of the stream. node resets the other half, unless a method has begun to read it.
		response.end(bytes)
		if (incoming.readableDidRead) drainUpload(exchange, () => incoming.pause())
	} else if (isLast && !exchange.isUnreadable && (body !== null || exchange.sendContinue === undefined)) {
		// Ending at once would reset the connection while the client still writes: the client would never see the answer
		// (RFC 9112 §9.6).
		if (body === null) response.flushHeaders?.()
		else response.write(body, (error) => error ?? exchange.watch?.end(true))
		// A client that waits for `100 Continue` may never send its body, and sees now that the connection ends.
		if (exchange.sendContinue !== undefined) response.socket?.end()
		drainUpload(exchange, () => response.end())
	} else {
		response.end(bytes)
		// node drops only an untouched body. If a method has begun to read the body, its rest would block the connection.
		if (!isLast) limitRest(exchange)
		if (incoming.listenerCount('data') === 0) incoming.resume()
	}
}

/** Sends a streamed body. An error after the first byte cuts the connection: a partial answer must not look complete. */
function sendStream(exchange: Exchange, response: Outgoing, body: StreamedBody, isLast: boolean): void {
	const { deadlines, pipelines } = exchange.app
	const source = readableOf(body)
	limitStream(exchange, response, source)
	// The exchange never expires: it is added only to be interrupted when the server closes.
	exchange.due = Number.POSITIVE_INFINITY
	deadlines.add(exchange)
	if (exchange.incoming.socket !== null) pipelines.addPending(exchange.incoming.socket, response)
	const release = (): void => {
		response.off('close', release)
		exchange.connection?.off('close', release)
		deadlines.delete(exchange)
		if (!source.readableEnded) exchange.abort()
		source.destroy()
	}
	response.on('close', release)
	if (exchange.connection !== response) exchange.connection?.once('close', release)
	finished(source, { writable: false }, (error) => {
		if (error === undefined || error === null) {
			if (hasUnreadBody(exchange)) endBeforeRest(exchange, response, null, isLast)
			else response.end()
		} else if (!isGone(exchange)) {
			exchange.watch?.failed(error)
			exchange.log('error', 'the answer was cut off', error)
			cutOff(exchange, response)
		}
	})
	source.pipe(response, { end: false })
	// Without bytes yet, the head is sent alone: the client of an event stream waits for it.
	if (body instanceof Readable && body.readableLength === 0 && !body.readableEnded) response.flushHeaders?.()
}
