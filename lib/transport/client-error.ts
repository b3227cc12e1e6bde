/** What node's parser refuses, answered in the envelope: by itself node says nothing but a status line. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { Exchange } from '../exchange/exchange.ts'
import type { Incoming } from '../request/incoming.ts'
import { MAX_TARGET } from './admission.ts'
import type { TickBatcher } from './tick-batcher.ts'

/** An error of node's HTTP parser. */
export interface ParserError extends Error {
	readonly code?: string
	/** The bytes that were being parsed. */
	readonly rawPacket?: Buffer
	/** How many of them were right. */
	readonly bytesParsed?: number
}

/** How long somebody who keeps sending is listened to, so that the answer isn't lost in a reset. */
const LINGER: Milliseconds = 2_000

/** Answers a request that could not be parsed, and closes its connection: where the next one begins is unknown. */
export function answerClientError(
	app: App,
	batcher: TickBatcher<Exchange>,
	error: ParserError,
	socket: Socket,
): void {
	if (error.code === 'ECONNRESET' || socket.destroyed) {
		socket.destroy(error)
		return
	}
	if (error.code === 'HPE_CLOSED_CONNECTION') return
	if (socket.writableEnded || app.pipelines.isEnding(socket)) {
		// What comes behind the last answer isn't looked at; when its sender is gone, so is the connection.
		if (error.code === 'HPE_INVALID_EOF_STATE') socket.destroySoon()
		else if (!socket.writableEnded && app.pipelines.owed(socket) === undefined) end(app, socket, '')
		return
	}
	const pending = pendingOn(app, socket)
	if (pending !== undefined && !pending.incoming.complete && !pending.replied) {
		// The broken bytes are the body of a request that is being read.
		pending.broken = true
		pending.cancel(errorOf(error))
		return
	}
	// They come behind a whole request. Its answer is still owed, and an error written now would be taken
	// for it.
	const owed = app.pipelines.owed(socket)
	const whole = pending ?? wholeOn(batcher, socket)
	if (owed !== undefined) owed.once('finish', () => endWith(app, socket, errorOf(error)))
	else if (whole !== undefined) whole.closes = true
	else endWith(app, socket, errorOf(error))
}

/** Answers a CONNECT, which node hands over with a bare socket. */
export function answerConnect(app: App, incoming: Incoming, socket: Socket): void {
	// node has taken its own listeners off: without one, a reset would end the process.
	socket.on('error', () => {})
	const error = new RestError('not_implemented', 'CONNECT is not served')
	endWith(app, socket, error, new Exchange(app, incoming).id())
}

/** The newest request of a connection that is being worked on. */
function pendingOn(app: App, socket: Socket): Exchange | undefined {
	let newest: Exchange | undefined
	for (const item of app.deadlines.values()) {
		if (item instanceof Exchange && item.incoming.socket === socket) newest = item
	}
	return newest
}

/** One that waits for the end of its turn. What is broken within its own body is its answer, as nobody has begun another. */
function wholeOn({ deferred }: TickBatcher<Exchange>, socket: Socket): Exchange | undefined {
	return deferred.findLast(({ incoming }) => incoming.socket === socket && incoming.complete)
}

/** Writes an answer by hand: there is no response object, and no id that was sent, for what was never parsed. */
function endWith(app: App, socket: Socket, error: RestError, id: string = crypto.randomUUID()): void {
	if (socket.writableEnded || socket.destroyed) return
	const { status, message, code } = error
	const requestId = status >= 500 || app.requestId !== undefined ? id : undefined
	const body = JSON.stringify({ success: false, error: message, code, requestId })
	const head = [
		`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
		`Date: ${new Date().toUTCString()}`,
		'Content-Type: application/json; charset=utf-8',
		`Content-Length: ${Buffer.byteLength(body)}`,
		'X-Content-Type-Options: nosniff',
		...(app.requestId === undefined ? [] : [`${app.requestId}: ${id}`]),
		'Connection: close',
	]
	end(app, socket, `${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Ends our side of a connection, and lingers for the other's. */
function end(app: App, socket: Socket, text: string): void {
	socket.end(text)
	socket.resume()
	const linger: Due = { due: app.deadlines.clock() + LINGER, expire: () => socket.destroy() }
	app.deadlines.add(linger)
	socket.once('close', () => app.deadlines.delete(linger))
}

function errorOf(error: ParserError): RestError {
	switch (error.code) {
		case 'HPE_HEADER_OVERFLOW':
			return isLongTarget(error.rawPacket)
				? new RestError('uri_too_long')
				: new RestError('header_fields_too_large')
		case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
			return new RestError('content_too_large', 'The chunk extensions are too long')
		case 'ERR_HTTP_REQUEST_TIMEOUT':
			return new RestError('request_timeout')
		case 'HPE_INVALID_VERSION':
			return new RestError('version_not_supported', 'HTTP/1.1 and HTTP/1.0 are served')
		case 'HPE_INVALID_METHOD':
			if (isRequestLine(error)) return new RestError('not_implemented', 'This method is not served')
			return new RestError('bad_request', 'The request could not be parsed as HTTP/1.1')
		default:
			return new RestError('bad_request', 'The request could not be parsed as HTTP/1.1')
	}
}

/** Whether nothing but the method's name is wrong: a token that isn't known is 501 (RFC 9110 §9.1), noise is 400. */
function isRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
	if (rawPacket === undefined) return false
	const line = rawPacket.toString('latin1', rawPacket.lastIndexOf('\n', bytesParsed) + 1)
	return /^[!#$%&'*+.^`|~\w-]+ [/*h]\S* HTTP\/1\.[01]\r?\n/.test(line)
}

/**
 * Whether it was the request line that was too long. The packet is the last one alone: of a line that came
 * in pieces it holds nothing but characters that a target may have, and a header's value mostly others too.
 */
function isLongTarget(packet: Buffer | undefined): boolean {
	if (packet === undefined) return false
	const line = packet.indexOf('\n')
	if (line !== -1) return line > MAX_TARGET
	const text = packet.toString('latin1')
	return /^[A-Z]+ \S+$/.test(text) || /^[!-~]+$/.test(text)
}
