/** The part of a response object that is written: node:http's own, and http2's compatible one. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import type { Closable } from '../exchange/exchange.ts'

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
