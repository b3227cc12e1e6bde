/** The part of a response object that is written: node:http's own, and http2's compatible one. */
import type { Writable } from 'node:stream'

export interface Outgoing extends Writable {
	readonly headersSent: boolean
	writeHead(status: number, headers: string[]): unknown
	/** Absent in HTTP/2 before the stream is there, and in what is not of http. */
	readonly socket: Connection | null
	writeContinue(): void
	/** Emits `timeout` when the connection has been idle for so long. */
	setTimeout(time: number): unknown
}

/** The part of a connection that is looked at. */
export interface Connection extends Writable {
	readonly remoteAddress?: string | undefined
}
