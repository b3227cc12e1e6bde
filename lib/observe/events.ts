/** Server events, which `watch.ts` emits for each request to the listeners added by `server.on()`. */
import { type Logger, logSafely } from '../base/logger.ts'
import { refusal } from '../base/options.ts'
import { isThenable } from '../base/thenable.ts'
import type { Milliseconds } from '../base/time.ts'

/** What identifies a request. */
export interface RequestFacts {
	readonly requestId: string
	/** The method that was called; if no handler was found, the one that was sent. */
	readonly method: string
	/** The path as sent, without the query, which may contain secrets. */
	readonly url: string
	/**
	 * The handler's class, or the handler's path if it is a `new CrudHandler(…)` without a class of its own: `shop/article`.
	 * `undefined` if no handler has the request's path.
	 */
	readonly handler?: string | undefined
	/** The method's name: `get_article`. */
	readonly action?: string | undefined
	/** The template of its path, as in the OpenAPI description: `/blog/article/{id}`; `undefined` if nothing serves it. */
	readonly route?: string | undefined
	/** From its `traceparent`. */
	readonly traceId?: string | undefined
}

/** A finished request: the fields of its log line and of the event `request`. */
export interface ServedRequest extends RequestFacts {
	/** `undefined` if the client disconnected before the reply. */
	readonly status?: number | undefined
	/** Time from the request's head to the last byte of its reply. */
	readonly durationMs: Milliseconds
	/** Length of the reply's body; `undefined` for streams. */
	readonly bytes?: number | undefined
	/** The client's address, as `this.request.ip`. */
	readonly ip: string
	readonly userId?: string | undefined
	/** Set if the reply was not sent completely: the client disconnected, or it was cut off. */
	readonly aborted?: true | undefined
}

/** The event `error`: a request whose status is 500 or above, or whose reply was cut off. */
export interface FailedRequest extends RequestFacts {
	/** What was thrown, even if the client doesn't see it. */
	readonly error: unknown
}

/** The argument of listeners, by event. */
export interface ServerEvents {
	readonly request: ServedRequest
	readonly error: FailedRequest
}

/** A listener. Errors that it throws or rejects with are logged. */
export type ServerListener<Name extends keyof ServerEvents> = (event: ServerEvents[Name]) => unknown

const NAMES: readonly string[] = ['request', 'error'] satisfies (keyof ServerEvents)[]

/** A listener with the event it was added for. */
export interface Entry {
	readonly name: keyof ServerEvents
	readonly listener: (event: never) => unknown
	readonly once: boolean
}

/** An event emitter that never throws: it logs listeners' errors and, unlike Node's, needs no listener for `error`. */
export class Events {
	readonly #logger: Logger
	/** The listeners, in the order they were added. */
	entries: readonly Entry[] = []

	constructor(logger: Logger) {
		this.#logger = logger
	}

	has(name: keyof ServerEvents): boolean {
		return this.entries.some((entry) => entry.name === name)
	}

	/** @throws TypeError for an unknown event, or a listener that isn't a function */
	add<Name extends keyof ServerEvents>(name: Name, listener: ServerListener<Name>, once: boolean): void {
		if (!NAMES.includes(name))
			throw new TypeError(`a server has no event ${JSON.stringify(name)}: there are ${NAMES.join(', ')}`)
		if (typeof listener !== 'function') throw refusal('a listener', 'a function', listener)
		this.entries = [...this.entries, { name, listener, once }]
	}

	/** Removes one registration of a listener. */
	remove<Name extends keyof ServerEvents>(name: Name, listener: ServerListener<Name>): void {
		const at = this.entries.findLastIndex((entry) => entry.name === name && entry.listener === listener)
		if (at !== -1) this.entries = this.entries.toSpliced(at, 1)
	}

	emit<Name extends keyof ServerEvents>(name: Name, event: ServerEvents[Name]): void {
		for (const entry of this.entries) {
			// Another listener may have removed it, or a nested event may have called it already.
			if (entry.name !== name || !this.entries.includes(entry)) continue
			if (entry.once) this.entries = this.entries.filter((other) => other !== entry)
			const listener = entry.listener as ServerListener<Name> // Added under this name.
			try {
				const result = listener(event)
				if (isThenable(result)) result.then(undefined, (error: unknown) => this.#logError(name, error))
			} catch (error) {
				this.#logError(name, error)
			}
		}
	}

	#logError(event: string, error: unknown): void {
		logSafely(this.#logger, 'error', { event, err: error }, 'a listener of the server has failed')
	}
}
