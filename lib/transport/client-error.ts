/**
 * Answers requests that node's HTTP parser refuses with an error in the envelope: node would send only a status line.
 * For `node-http.ts`.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { RestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { Exchange } from '../exchange/exchange.ts'
import type { Incoming } from '../request/incoming.ts'
import { MAX_TARGET, otherVersion } from './admission.ts'
import type { TickBatcher } from './tick-batcher.ts'

/** An error of node's HTTP parser. */
interface ParserError extends Error {
	readonly code?: string
	/** `Expected CRLF after version` */
	readonly reason?: string
	/** The bytes that were being parsed. */
	readonly rawPacket?: Buffer
	/** How many bytes of `rawPacket` were valid. */
	readonly bytesParsed?: number
}

/**
 * How long we read on after the answer: closing at once while the client sends would reset the connection and lose
 * the answer.
 */
const LINGER_MS: Milliseconds = 2_000

/** Answers a request that could not be parsed, and closes its connection: where the next request begins is unknown. */
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
		// Bytes after the last answer are ignored. If it is not yet written, it will close the connection.
		if (!socket.writableEnded && app.pipelines.pendingAnswer(socket) !== undefined) return
		if (error.code === 'HPE_INVALID_EOF_STATE') socket.destroySoon()
		else if (!socket.writableEnded) end(app, socket, '')
		return
	}
	const pending = pendingOn(app, socket)
	if (pending !== undefined && !pending.incoming.complete && !pending.isReplied) {
		// The malformed bytes belong to the body of a request that is being read.
		pending.isUnreadable = true
		pending.cancel(errorOf(error))
		return
	}
	// While an earlier request is being answered, the client would take an error written now for that request's answer.
	const earlier = app.pipelines.pendingAnswer(socket)
	const complete = pending ?? deferredOn(batcher, socket)
	if (earlier !== undefined) earlier.once('finish', () => endWith(app, socket, errorOf(error)))
	else if (complete !== undefined) complete.isLast = true
	else endWith(app, socket, errorOf(error))
}

/** Answers CONNECT, for which node passes a bare socket. */
export function answerConnect(
	app: App,
	batcher: TickBatcher<Exchange>,
	incoming: Incoming,
	socket: Socket,
): void {
	// node has removed its own listeners: without a listener, a reset would end the process.
	socket.on('error', () => {})
	const error = new RestError('not_implemented', 'CONNECT is not served')
	// A request of the same packet may begin in the next tick.
	process.nextTick(() => {
		const { pipelines } = app
		const earlier = pendingOn(app, socket) ?? deferredOn(batcher, socket) ?? pipelines.pendingAnswer(socket)
		if (earlier === undefined) endWith(app, socket, error, new Exchange(app, incoming).id())
		// Its client would take the error for its answer, and without node's listeners the answer can't be finished.
		else socket.destroy()
	})
}

/** The newest pending request of a connection. */
function pendingOn(app: App, socket: Socket): Exchange | undefined {
	return app.deadlines
		.values()
		.filter((item) => item instanceof Exchange)
		.findLast(({ incoming }) => incoming.socket === socket)
}

/**
 * The newest complete request of a connection among those deferred to the end of the tick. An incomplete one doesn't count:
 * the error is its answer.
 */
function deferredOn({ deferred }: TickBatcher<Exchange>, socket: Socket): Exchange | undefined {
	return deferred.findLast(({ incoming }) => incoming.socket === socket && incoming.complete)
}

/** Writes an answer to the socket: a request that was never parsed has no response object, and no request id. */
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

/** Ends our side of a connection, and waits for the client to end its side. */
function end(app: App, socket: Socket, text: string): void {
	socket.end(text)
	socket.resume()
	const linger = app.deadlines.after(LINGER_MS, () => socket.destroy())
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
			// Also the code for `HTTP/1.1` with something other than CR LF after it, whose version is valid.
			return error.reason?.startsWith('Expected CRLF') === true ? malformed() : otherVersion()
		case 'HPE_PAUSED_H2_UPGRADE':
			return otherVersion()
		default:
			if (isRequestLine(error)) return new RestError('not_implemented', 'This method is not served')
			return malformed()
	}
}

function malformed(): RestError {
	return new RestError('bad_request', 'The request could not be parsed as HTTP/1.1')
}

/** Whether the request line is well-formed, so that only its method is unknown: 501 (RFC 9110 §9.1). Noise is 400. */
function isRequestLine({ code, rawPacket, bytesParsed = 0 }: ParserError): boolean {
	if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return false
	const line = rawPacket.toString('latin1', rawPacket.lastIndexOf('\n', bytesParsed) + 1)
	return /^[!#$%&'*+.^`|~\w-]+ [/*h]\S* HTTP\/1\.[01]\r?\n/.test(line)
}

/**
 * Whether the request line was too long, rather than the headers. `packet` is only the last packet. Without a line
 * break, it is part of a long target if it has only the characters of a target: header lines usually have others too,
 * such as spaces.
 */
function isLongTarget(packet: Buffer | undefined): boolean {
	if (packet === undefined) return false
	const line = packet.indexOf('\n')
	if (line !== -1) return line > MAX_TARGET
	const text = packet.toString('latin1')
	return /^[A-Z]+ \S+$/.test(text) || /^[!-~]+$/.test(text)
}
