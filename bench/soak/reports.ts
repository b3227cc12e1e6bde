/** The messages between a server process and its parent; plain data, as it is sent by IPC. */

/** The settings of a server process. */
export interface Assignment {
	readonly postgres: string
	readonly redis: string
	/** Names of the tables of records and of payments. */
	readonly records: string
	readonly payments: string
	/** The prefix of every key in Redis. */
	readonly prefix: string
	/** Shared by clients and servers; base64. */
	readonly secret: string
}

/** A request to a server process. */
export type Order = 'sample' | 'snapshot' | 'close'

/** Event loop delay in milliseconds. As with `monitorEventLoopDelay`, it includes the interval of 10 ms. */
export interface LoopDelay {
	readonly p50: number
	readonly p99: number
	readonly max: number
}

/** Counts of what must never happen in a server process. */
export interface Faults {
	readonly rejections: number
	readonly exceptions: number
	readonly warnings: number
	/** The first of them, as text. */
	readonly first: readonly string[]
}

/** Counts of log lines. */
export interface Logged {
	readonly info: number
	readonly warn: number
	/** Error lines of requests that were meant to fail. */
	readonly expected: number
	/** All other error lines. */
	readonly unexpected: number
	/** The first unexpected ones. */
	readonly first: readonly string[]
}

/** A sample of a server process. In bytes, unless the name says otherwise. */
export interface Sample {
	/** After a full garbage collection. */
	readonly heap: number
	/** Memory outside the heap that is held by its objects: buffers (including `arrayBuffers`), compressors. */
	readonly external: number
	readonly arrayBuffers: number
	readonly rss: number
	/** Duration of that collection. Of the event loop figures, only `wholeMonitor` includes it. */
	readonly gcMs: number
	/** Since the previous sample, by `monitorEventLoopDelay`. */
	readonly loop: LoopDelay
	/** Since the start, measured by our own timer of 10 ms (`Turns`). */
	readonly wholeLoop: LoopDelay
	/** Since the start, by `monitorEventLoopDelay`, including the collections for samples. */
	readonly wholeMonitor: LoopDelay
	/** User and system time of the process since the previous sample, as a fraction of the elapsed time. */
	readonly cpu: number
	/** The fraction of the time since the start in which it was runnable, but had no core. */
	readonly waited: number
	/** Sockets and servers that are open, by `process.getActiveResourcesInfo()`. */
	readonly sockets: number
	/** All resources of that list. */
	readonly resources: number
	/** Streams that haven't ended. */
	readonly streams: number
	readonly faults: Faults
	readonly logged: Logged
}

/** Sent when a server and its clients of database and cache have closed. */
export interface Closed {
	/** Duration of `server.close()`. */
	readonly closeMs: number
	readonly sockets: number
	readonly streams: number
	readonly faults: Faults
	readonly logged: Logged
}

/** The messages of a server process. */
export type Report =
	| { readonly kind: 'listening'; readonly port: number }
	| { readonly kind: 'sample'; readonly sample: Sample }
	/** The path of the snapshot. */
	| { readonly kind: 'snapshot'; readonly file: string }
	| { readonly kind: 'closed'; readonly closed: Closed }
