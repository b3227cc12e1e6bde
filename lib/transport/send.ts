/** Writes a reply to node's response, at the client's pace, and leaves the connection in a known state. */
import type { OutgoingHttpHeaders } from 'node:http'
import { finished, Readable, type Writable } from 'node:stream'
import type { Closable, Exchange } from '../exchange/exchange.ts'
import { linesByName, type Reply } from '../reply/headers.ts'
import { disposeBody } from '../reply/unsent.ts'
import { hasBody } from '../request/incoming.ts'
import { boundRest, drainUpload } from './drain-upload.ts'

/** What we use of a response object: node:http's, or http2's compatible one. */
export interface Outgoing extends Writable {
	readonly headersSent: boolean
	/** Names and values in turn; for HTTP/2 an object, as older versions of node lose repeated names. */
	writeHead(status: number, headers?: string[] | OutgoingHttpHeaders): unknown
	/** Sends the head before the body's first bytes; not needed with HTTP/2. */
	flushHeaders?(): void
	/** `null` while a pipelined predecessor has the connection. */
	readonly socket: Connection | null
	writeContinue(): void
	/** Only with HTTP/2. */
	readonly stream?: Closable & { readonly aborted?: boolean }
	/** Emits `timeout` after the connection has been idle for `time` ms. */
	setTimeout(time: number): unknown
}

/** What we use of a connection. */
export interface Connection extends Writable {
	readonly remoteAddress?: string | undefined
}

/** Sends a reply; `closes` ends the connection after it. */
export function send(exchange: Exchange, response: Outgoing, reply: Reply, closes: boolean): void {
	exchange.isReplied = true
	if (response.headersSent || isGone(exchange)) {
		disposeBody(reply.body)
		return
	}
	if (exchange.watch !== undefined) exchange.watch.answered(reply)
	const unread = isUnread(exchange)
	const last = closes || isLast(exchange, response) || (unread && !canSkip(exchange))
	if (!writeHead(exchange, response, reply, last)) {
		disposeBody(reply.body)
		return
	}
	const { body } = reply
	if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
		sendStream(exchange, response, body, last)
		return
	}
	if (unread) endUnread(exchange, response, body, last)
	else if (body === null) response.end()
	else if (typeof body === 'string') response.end(body, reply.ascii ? 'latin1' : 'utf8')
	else response.end(body)
	if (response.writableLength > 0) watchReader(exchange, response)
}

/** Whether the client has left: writes would be dropped without an event. */
function isGone({ connection }: Exchange): boolean {
	return connection?.destroyed === true
}

/** Cuts an answer off so that the client can tell: without an error, HTTP/2 would reset with NO_ERROR. */
function cut(exchange: Exchange, response: Outgoing): void {
	response.destroy(isHttp2(exchange) ? new Error('the answer was cut off') : undefined)
}

/** Only real HTTP/2 has pseudo-headers: node reports version 2 for `HTTP/2.0` on a request line, too. */
function isHttp2({ incoming }: Exchange): boolean {
	return incoming.httpVersionMajor === 2 && incoming.headers[':method'] !== undefined
}

function isUnread(exchange: Exchange): boolean {
	const { incoming } = exchange
	if (incoming.complete || incoming.readableEnded || !hasBody(incoming)) return false
	return exchange.body.bytes === undefined
}

/**
 * Whether the connection must close after this answer. A client that waits for `100 Continue` and gets another answer may
 * or may not send the body: its next request could be taken for it. While the server drains, an answer is the last of its
 * connection unless others are owed after it.
 */
function isLast({ app, incoming, isLast, sendContinue }: Exchange, response: Outgoing): boolean {
	if (isLast || sendContinue !== undefined) return true
	if (app.phase === 'open' || incoming.socket === null) return app.phase !== 'open'
	const owed = app.pipelines.pendingAnswer(incoming.socket)
	return owed === undefined || owed === response
}

/** node skips a small rest by itself and the connection stays open; a large one isn't worth the time. */
function canSkip({ incoming }: Exchange): boolean {
	return Number(incoming.headers['content-length']) <= 65_536
}

/** Returns false when the head couldn't be written; the answer has been cut off then. */
function writeHead(
	exchange: Exchange,
	response: Outgoing,
	{ status, headers }: Reply,
	last: boolean,
): boolean {
	if (isHttp2(exchange)) return writeHead2(exchange, response, status, headers)
	if (last) {
		headers.push('Connection', 'close')
		if (exchange.incoming.socket !== null) exchange.app.pipelines.markEnding(exchange.incoming.socket)
	}
	response.writeHead(status, headers)
	return true
}

/** node's http2 throws on header lines that node:http sends, such as two of a header that allows one. */
function writeHead2(exchange: Exchange, response: Outgoing, status: number, headers: string[]): boolean {
	try {
		response.writeHead(status, linesOfHttp2(headers))
		return true
	} catch (error) {
		exchange.watch?.failed(error)
		exchange.log('error', 'the answer could not be sent over HTTP/2', error)
		cut(exchange, response)
		return false
	}
}

/** "An endpoint MUST NOT generate an HTTP/2 message containing connection-specific header fields" (RFC 9113 §8.2.2). */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['http2-settings', 'proxy-connection', 'te'])

function linesOfHttp2(headers: readonly string[]): Record<string, string | string[]> {
	const lines = linesByName(headers)
	for (const name of HOP_BY_HOP) delete lines[name]
	return lines
}

/** Ends an answer whose request body hasn't been read to its end. */
function endUnread(
	exchange: Exchange,
	response: Outgoing,
	body: string | Uint8Array | null,
	last: boolean,
): void {
	const { incoming } = exchange
	const bytes = body ?? ''
	if (isHttp2(exchange)) {
		// This ends our half of the stream. node resets the other half, unless a method has begun to read it.
		response.end(bytes)
		if (incoming.readableDidRead) drainUpload(exchange, () => incoming.pause())
	} else if (last && !exchange.isUnreadable && exchange.sendContinue === undefined) {
		// Ending at once would reset the connection while the client still writes: it would never see the
		// answer (RFC 9112 §9.6).
		if (body === null) response.flushHeaders?.()
		else response.write(body)
		drainUpload(exchange, () => response.end())
	} else {
		response.end(bytes)
		// node skips only an untouched body: one that a method has begun to read would block the connection.
		if (!last) boundRest(exchange)
		if (incoming.listenerCount('data') === 0) incoming.resume()
	}
}

/** Sends a body piece by piece. An error after the first byte cuts it off: a cut answer must not look whole. */
function sendStream(
	exchange: Exchange,
	response: Outgoing,
	body: Readable | AsyncIterable<string | Uint8Array>,
	last: boolean,
): void {
	const { deadlines } = exchange.app
	const source =
		body instanceof Readable ? body : Readable.from(body, { objectMode: false, highWaterMark: 65_536 })
	watchReader(exchange, response)
	// Never late: it is added only to be interrupted when the server closes.
	exchange.due = Number.POSITIVE_INFINITY
	deadlines.add(exchange)
	if (exchange.incoming.socket !== null) exchange.app.pipelines.addPending(exchange.incoming.socket, response)
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
			if (isUnread(exchange)) endUnread(exchange, response, null, last)
			else response.end()
		} else if (!isGone(exchange)) {
			exchange.watch?.failed(error)
			exchange.log('error', 'the answer was cut off', error)
			cut(exchange, response)
		}
	})
	source.pipe(response, { end: false })
	// No bytes yet: send the head, so that the client of an event stream sees that it has begun.
	if (body instanceof Readable && body.readableLength === 0 && !body.readableEnded) response.flushHeaders?.()
}

/** Ends the connection of a client that reads nothing for `sendTimeout`: its answer would be held in memory for ever. */
function watchReader(exchange: Exchange, response: Outgoing): void {
	const { sendTimeout } = exchange.app
	if (!Number.isFinite(sendTimeout)) return
	response.on('timeout', () => {
		if (response.writableLength > 0) cut(exchange, response)
		else response.setTimeout(sendTimeout)
	})
	response.setTimeout(sendTimeout)
	// Before node passes the connection to the next answer, whose method may take longer.
	response.prependOnceListener('finish', () => response.setTimeout(0))
}
