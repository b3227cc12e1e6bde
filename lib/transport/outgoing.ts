/**
 * What we use of node's HTTP/1 and HTTP/2 responses, how to cut an answer off, and how its watch ends. For `node-http.ts`,
 * `send.ts` and `slow-reader.ts`.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import type { Closable, Exchange } from '../exchange/exchange.ts'
import type { Watched } from '../exchange/watched.ts'

/** What we use of a response object: node:http's, or http2's compatible one. */
export interface Outgoing extends Writable {
	readonly headersSent: boolean
	/**
	 * Takes alternating names and values; for HTTP/2 an object, because older versions of node lose repeated names there.
	 */
	writeHead(status: number, headers?: string[] | OutgoingHttpHeaders): unknown
	/** Sends the head before the body's first bytes; not needed with HTTP/2. */
	flushHeaders?(): void
	/** `null` while an earlier pipelined answer is being written. */
	readonly socket: Connection | null
	writeContinue(): void
	/** Only with HTTP/2. */
	readonly stream?: Closable & { readonly aborted?: boolean }
	/** Emits `timeout` after the connection has been idle for `time` ms. */
	setTimeout(time: number): unknown
}

export interface Connection extends Writable {
	/** `undefined` for a Unix socket. */
	readonly remoteAddress?: string | undefined
	/** True on TLS. */
	readonly encrypted?: boolean | undefined
	/** Only with TCP. */
	resetAndDestroy?(): unknown
}

/**
 * Cuts an answer off so that the client notices. An HTTP/2 stream is destroyed with an error: without one, node would reset it
 * with NO_ERROR. In HTTP/1.0, which nginx speaks to upstreams by default, a body without a length ends when the connection
 * closes (RFC 9112 §6.3), so the connection is reset instead.
 */
export function cutOff(exchange: Exchange, response: Outgoing): void {
	const { socket } = response
	const isOld = !exchange.isHttp2 && exchange.incoming.httpVersionMinor === 0
	const isTcp = socket?.remoteAddress !== undefined && socket.encrypted !== true
	if (isOld && isTcp) socket.resetAndDestroy?.()
	response.destroy(exchange.isHttp2 ? new Error('the answer was cut off') : undefined)
}

/** Ends the watch when the answer has been written, or the client has disconnected. */
export function watchResponse(watch: Watched, exchange: Exchange, response: Outgoing): void {
	const onClose = (): void => watch.end(false)
	// Must run before node's own listener, which detaches the connection.
	response.prependOnceListener('finish', () => {
		watch.end(!isCutOff(exchange, response))
		exchange.connection?.off('close', onClose)
	})
	response.once('close', onClose)
	// A pipelined response doesn't emit `close` when the client disconnects.
	if (exchange.connection !== response) exchange.connection?.once('close', onClose)
}

/**
 * Whether the answer is incomplete in spite of `finish`: HTTP/2 emits `finish` for every stream, and a destroyed socket
 * emits it although bytes were dropped.
 */
function isCutOff({ incoming }: Exchange, { stream, writableEnded }: Outgoing): boolean {
	if (stream !== undefined) return !writableEnded || stream.aborted === true
	return incoming.socket?.destroyed === true
}
