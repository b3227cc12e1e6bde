/** The part of a response object that is written: node:http's own, and http2's compatible one. */
import type { Writable } from 'node:stream'

export interface Outgoing extends Writable {
	readonly headersSent: boolean
	/** Names and values in turn; HTTP/2 is given an object, as older versions of node lose repeated names. */
	writeHead(status: number, headers: string[] | Record<string, string | string[]>): unknown
	/** Sends the head before there is anything of a body. */
	flushHeaders(): void
	/** `null` while an earlier answer has the connection; `undefined` once an HTTP/2 stream is closed. */
	readonly socket: Connection | null | undefined
	writeContinue(): void
	/** Emits `timeout` when the connection has been idle for so long. */
	setTimeout(time: number): unknown
}

/** The part of a connection that is looked at. */
export interface Connection extends Writable {
	readonly remoteAddress?: string | undefined
}
