/** Writes a reply to a response, as fast as the client takes it, and leaves the connection in a known state. */
import type { OutgoingHttpHeaders } from 'node:http'
import { finished, Readable, type Writable } from 'node:stream'
import type { Closable, Exchange } from '../exchange/exchange.ts'
import { linesByName, type Reply } from '../reply/headers.ts'
import { hasBody } from '../request/incoming.ts'
import { boundRest, drainUpload } from './drain-upload.ts'

/** The part of a response object that is written: node:http's own, and http2's compatible one. */
export interface Outgoing extends Writable {
	readonly headersSent: boolean
	/** Names and values in turn; HTTP/2 is given an object, as older versions of node lose repeated names. */
	writeHead(status: number, headers?: string[] | OutgoingHttpHeaders): unknown
	/** Sends the head before there is anything of a body. HTTP/2 needs none of it. */
	flushHeaders?(): void
	/** `null` while an earlier answer has the connection. */
	readonly socket: Connection | null
	writeContinue(): void
	/** HTTP/2 alone has one. */
	readonly stream?: Closable & { readonly aborted?: boolean }
	/** Emits `timeout` when the connection has been idle for so long. */
	setTimeout(time: number): unknown
}

/** The part of a connection that is looked at. */
export interface Connection extends Writable {
	readonly remoteAddress?: string | undefined
}

/** Sends a reply; `closes` ends the connection behind it. */
export function send(exchange: Exchange, response: Outgoing, reply: Reply, closes: boolean): void {
	exchange.replied = true
	if (response.headersSent || isGone(exchange)) {
		discard(reply)
		return
	}
	if (exchange.watch !== undefined) exchange.watch.answered(reply)
	const unread = isUnread(exchange)
	const last = closes || isLast(exchange, response) || (unread && !canSkip(exchange))
	if (!writeHead(exchange, response, reply, last)) {
		discard(reply)
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

/** A body that nobody will send is closed, so that its source lets go of what it holds. */
export function discard({ body }: Reply): void {
	if (body instanceof Readable) body.destroy()
	else if (body !== null && typeof body === 'object' && Symbol.asyncIterator in body) {
		// What its `finally` throws concerns nobody any more.
		body[Symbol.asyncIterator]()
			.return?.()
			.catch(() => {})
	}
}

/** The client has left: what is written goes nowhere, and no event will tell so. */
function isGone({ connection }: Exchange): boolean {
	return connection?.destroyed === true
}

/** Ends an answer in a way that can't be taken for its end: HTTP/2 needs an error, or says that there was none. */
function cut(exchange: Exchange, response: Outgoing): void {
	response.destroy(isHttp2(exchange) ? new Error('the answer was cut off') : undefined)
}

/** A true one has pseudo-headers; `HTTP/2.0` on a request line gives the same version. */
function isHttp2({ incoming }: Exchange): boolean {
	return incoming.httpVersionMajor === 2 && incoming.headers[':method'] !== undefined
}

function isUnread(exchange: Exchange): boolean {
	const { incoming } = exchange
	if (incoming.complete || incoming.readableEnded || !hasBody(incoming)) return false
	return exchange.body.bytes === undefined
}

/**
 * Who waits for `100 Continue` and gets another answer may send the body all the same, or not: the next
 * request could be taken for it. While the server closes, an answer is its connection's last unless others
 * are owed behind it.
 */
function isLast({ app, incoming, closes, sendContinue }: Exchange, response: Outgoing): boolean {
	if (closes || sendContinue !== undefined) return true
	if (app.phase === 'open' || incoming.socket === null) return app.phase !== 'open'
	const owed = app.pipelines.owed(incoming.socket)
	return owed === undefined || owed === response
}

/** node reads a small rest by itself, and the connection goes on; a large one isn't worth it. */
function canSkip({ incoming }: Exchange): boolean {
	return Number(incoming.headers['content-length']) <= 65_536
}

/** Answers false when it couldn't be written, and the answer has been cut off. */
function writeHead(
	exchange: Exchange,
	response: Outgoing,
	{ status, headers }: Reply,
	last: boolean,
): boolean {
	if (isHttp2(exchange)) return writeHead2(exchange, response, status, headers)
	if (last) {
		headers.push('Connection', 'close')
		if (exchange.incoming.socket !== null) exchange.app.pipelines.end(exchange.incoming.socket)
	}
	response.writeHead(status, headers)
	return true
}

/** HTTP/2 refuses lines that HTTP/1.1 has no rule for: two of a header of which there may be one. */
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

/** Ends an answer whose request hasn't been read to its end. */
function endUnread(
	exchange: Exchange,
	response: Outgoing,
	body: string | Uint8Array | null,
	last: boolean,
): void {
	const { incoming } = exchange
	const bytes = body ?? ''
	if (isHttp2(exchange)) {
		// The answer ends its own half of the stream. node resets the other, unless a method has begun to read.
		response.end(bytes)
		if (incoming.readableDidRead) drainUpload(exchange, () => incoming.pause())
	} else if (last && !exchange.broken && exchange.sendContinue === undefined) {
		// To end at once would reset the connection under a client that is still writing, and it would
		// never see the answer (RFC 9112 §9.6).
		if (body === null) response.flushHeaders?.()
		else response.write(body)
		drainUpload(exchange, () => response.end())
	} else {
		response.end(bytes)
		// node skips what nobody has touched. What a method has begun to read would stop the connection.
		if (!last) boundRest(exchange)
		if (incoming.listenerCount('data') === 0) incoming.resume()
	}
}

/**
 * Sends pieces as they come. An error after the first byte destroys the connection: a cut answer must not
 * look whole.
 */
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
	// Never late: it is there to be told when the server closes.
	exchange.due = Number.POSITIVE_INFINITY
	deadlines.add(exchange)
	if (exchange.incoming.socket !== null) exchange.app.pipelines.owe(exchange.incoming.socket, response)
	const release = (): void => {
		response.off('close', release)
		exchange.connection?.off('close', release)
		deadlines.delete(exchange)
		if (!source.readableEnded) exchange.abandon()
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
	// Nothing has come yet: who waits for a feed of events sees at least that it has begun.
	if (body instanceof Readable && body.readableLength === 0 && !body.readableEnded) response.flushHeaders?.()
}

/**
 * Ends the connection of a client that takes nothing for the send time, while something waits for it: an
 * answer that nobody reads would be held for ever.
 */
function watchReader(exchange: Exchange, response: Outgoing): void {
	const { sendTimeout } = exchange.app
	if (!Number.isFinite(sendTimeout)) return
	response.on('timeout', () => {
		if (response.writableLength > 0) cut(exchange, response)
		else response.setTimeout(sendTimeout)
	})
	response.setTimeout(sendTimeout)
	// Before node gives the connection to the next answer, whose method may think for longer.
	response.prependOnceListener('finish', () => response.setTimeout(0))
}
