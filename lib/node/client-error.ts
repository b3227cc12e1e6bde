/** What node's parser refuses, answered in the envelope: by itself node says nothing but a status line. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from '../app.ts'
import { RestError } from '../error.ts'
import { Exchange } from '../exchange.ts'
import { MAX_TARGET } from './vet.ts'

/** An error of node's HTTP parser. */
export interface ParserError extends Error {
	readonly code?: string
	/** The bytes that were being parsed. */
	readonly rawPacket?: Buffer
}

/** Answers a request that could not be parsed, and closes its connection: where the next one begins is unknown. */
export function answerClientError(app: App, error: ParserError, socket: Socket): void {
	if (error.code === 'ECONNRESET' || !socket.writable) {
		socket.destroy(error)
		return
	}
	const pending = pendingOn(app, socket)
	if (pending === undefined) {
		endWith(socket, errorOf(error))
		return
	}
	// The broken bytes are the body of a request that is being read, or come after a whole one. In the
	// second case its answer is still owed, and an error written now would be taken for it.
	if (!pending.incoming.complete) pending.cancel(errorOf(error))
	else pending.closes = true
}

/** Answers a CONNECT, which node hands over as a bare socket. */
export function answerConnect(socket: Socket): void {
	endWith(socket, new RestError('not_implemented', 'CONNECT is not served'))
}

function pendingOn(app: App, socket: Socket): Exchange | undefined {
	for (const item of app.deadlines.values()) {
		if (item instanceof Exchange && item.incoming.socket === socket) return item
	}
	return undefined
}

/** Writes an answer by hand: there is no response object for what was never parsed. */
function endWith(socket: Socket, error: RestError): void {
	const body = JSON.stringify({ success: false, error: error.message, code: error.code })
	const head = [
		`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
		'Content-Type: application/json; charset=utf-8',
		`Content-Length: ${Buffer.byteLength(body)}`,
		'X-Content-Type-Options: nosniff',
		'Connection: close',
	]
	socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
	// Whoever keeps sending is listened to no longer than this.
	socket.setTimeout(2_000, () => socket.destroy())
	socket.resume()
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
		default:
			return new RestError('bad_request', 'The request could not be parsed as HTTP/1.1')
	}
}

/** Whether it was the request line that was too long: no line has ended in so many bytes. */
function isLongTarget(packet: Buffer | undefined): boolean {
	if (packet === undefined) return false
	const line = packet.indexOf('\n')
	return line === -1 ? packet.length > MAX_TARGET : line > MAX_TARGET
}
