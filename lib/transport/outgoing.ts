/** What we use of node's responses, of HTTP/1 and HTTP/2, and how to cut an answer off. For `send.ts` and `slow-reader.ts`. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import type { Closable, Exchange } from '../exchange/exchange.ts'

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
	/** Of TCP alone. */
	resetAndDestroy?(): unknown
}

/**
 * Cuts an answer off so that the client notices: without an error, HTTP/2 would reset with NO_ERROR. With HTTP/1.0, which nginx
 * speaks to upstreams by default, the end of the connection ends a stream (RFC 9112 §6.3): only a reset is an error.
 */
export function cutOff(exchange: Exchange, response: Outgoing): void {
	const { socket } = response
	const isOld = !exchange.isHttp2 && exchange.incoming.httpVersionMinor === 0
	const isTcp = socket?.remoteAddress !== undefined && socket.encrypted !== true
	if (isOld && isTcp) socket.resetAndDestroy?.()
	response.destroy(exchange.isHttp2 ? new Error('the answer was cut off') : undefined)
}
