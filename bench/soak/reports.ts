/** What a server process and the one that has started it tell each other; plain data, as it goes through IPC. */

/** What a server process is started with. */
export interface Assignment {
	readonly postgres: string
	readonly redis: string
	/** Table of the records, and that of the payments. */
	readonly records: string
	readonly payments: string
	/** Before every key in Redis. */
	readonly prefix: string
	/** Shared by clients and servers; base64. */
	readonly secret: string
}

/** Asked of a server process. */
export type Order = 'sample' | 'snapshot' | 'close'

/** Delays of the event loop in milliseconds, as `monitorEventLoopDelay` has them: the 10 ms of its interval are in them. */
export interface LoopDelay {
	readonly p50: number
	readonly p99: number
	readonly max: number
}

/** What must not happen in a server process at all. */
export interface Faults {
	readonly rejections: number
	readonly exceptions: number
	readonly warnings: number
	/** The first of them, in words. */
	readonly first: readonly string[]
}

/** What the logger was told. */
export interface Logged {
	readonly info: number
	readonly warn: number
	/** Error lines of requests that were asked to fail. */
	readonly expected: number
	/** All other error lines. */
	readonly unexpected: number
	/** The first of these. */
	readonly first: readonly string[]
}

/** One look into a server process. Bytes, unless the name says otherwise. */
export interface Sample {
	/** After a full collection. */
	readonly heap: number
	/** Held by objects of the heap outside of it: buffers, compressors. `arrayBuffers` are in it. */
	readonly external: number
	readonly arrayBuffers: number
	readonly rss: number
	/** What that collection took. It is in no figure of the loop but `wholeMonitor`. */
	readonly gcMs: number
	/** Since the sample before, by `monitorEventLoopDelay`. */
	readonly loop: LoopDelay
	/** Since the beginning, by turns of 10 ms of our own. */
	readonly wholeLoop: LoopDelay
	/** Since the beginning, by `monitorEventLoopDelay`: with the collections of the samples. */
	readonly wholeMonitor: LoopDelay
	/** User and system time of the process since the sample before, as a part of that time. */
	readonly cpu: number
	/** The part of the time since the beginning in which it could have gone on, and no core was free. */
	readonly waited: number
	/** Sockets and servers that are open, by `process.getActiveResourcesInfo()`. */
	readonly sockets: number
	/** All that it names. */
	readonly resources: number
	/** Methods that have begun to stream, and haven't ended. */
	readonly streams: number
	readonly faults: Faults
	readonly logged: Logged
}

/** Told when a server has closed, and its clients of database and cache. */
export interface Closed {
	/** What `server.close()` took. */
	readonly closeMs: number
	readonly sockets: number
	readonly streams: number
	readonly faults: Faults
	readonly logged: Logged
}

/** What a server process sends. */
export type Report =
	| { readonly kind: 'listening'; readonly port: number }
	| { readonly kind: 'sample'; readonly sample: Sample }
	/** Where it was written. */
	| { readonly kind: 'snapshot'; readonly file: string }
	| { readonly kind: 'closed'; readonly closed: Closed }
