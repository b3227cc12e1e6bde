/** Events of a server: what its listeners are told of each request. `server.on()` adds them. */
import type { Logger } from '../base/logger.ts'
import { isThenable } from '../base/thenable.ts'
import type { Milliseconds } from '../base/time.ts'

/** Which request it is. */
export interface RequestFacts {
	readonly requestId: string
	/** The method that was served; of a request that no handler has, the one that was sent. */
	readonly method: string
	/** The path as the client sent it, without the query, which may hold a secret. */
	readonly url: string
	/** The handler's class; `undefined` where no handler has the path. */
	readonly handler?: string | undefined
	/** The method's name: `get_article`. */
	readonly action?: string | undefined
	/** Of the `traceparent` that came with it. */
	readonly traceId?: string | undefined
}

/** A request that is over: what its log line has, and the event `request`. */
export interface ServedRequest extends RequestFacts {
	/** `undefined` where the client left before the answer. */
	readonly status?: number | undefined
	/** From the request's head to the last byte of its answer. */
	readonly durationMs: Milliseconds
	/** Length of the body that was answered; `undefined` for streams. */
	readonly bytes?: number | undefined
	/** The client's address, as `this.request.ip`. */
	readonly ip: string
	readonly userId?: string | undefined
	/** Set where the answer didn't reach its end: the client left, or it was cut off. */
	readonly aborted?: true | undefined
}

/** A request that ends in a status from 500 up, or whose answer is cut off: the event `error`. */
export interface FailedRequest extends RequestFacts {
	/** What was thrown, also where the client isn't told. */
	readonly error: unknown
}

/** What listeners are called with, by the name of the event. */
export interface ServerEvents {
	readonly request: ServedRequest
	readonly error: FailedRequest
}

/** What is called with an event. What it throws, or rejects with, goes to the logger. */
export type ServerListener<Name extends keyof ServerEvents> = (event: ServerEvents[Name]) => unknown

const NAMES: readonly string[] = ['request', 'error'] satisfies (keyof ServerEvents)[]

/** A listener, and where it was added: an event calls no other. */
interface Entry {
	readonly name: keyof ServerEvents
	readonly listener: (event: never) => unknown
	readonly once: boolean
}

/** The listeners. Unlike node's emitter it throws nothing: not what a listener does, nor an `error` nobody listens to. */
export class Events {
	readonly #logger: Logger
	#entries: readonly Entry[] = []

	constructor(logger: Logger) {
		this.#logger = logger
	}

	/** Whether anybody listens. */
	get some(): boolean {
		return this.#entries.length > 0
	}

	/** Whether anybody listens to an event. */
	has(name: keyof ServerEvents): boolean {
		return this.#entries.some((entry) => entry.name === name)
	}

	/** @throws TypeError for an event that there isn't, or for what is no function */
	add<Name extends keyof ServerEvents>(name: Name, listener: ServerListener<Name>, once: boolean): void {
		if (!NAMES.includes(name))
			throw new TypeError(`a server has no event ${JSON.stringify(name)}: there are ${NAMES.join(', ')}`)
		if (typeof listener !== 'function')
			throw new TypeError(
				`a listener must be a function, got ${listener === null ? 'null' : typeof listener}`,
			)
		this.#entries = [...this.#entries, { name, listener, once }]
	}

	/** Takes a listener away, once, where it was added. */
	remove<Name extends keyof ServerEvents>(name: Name, listener: ServerListener<Name>): void {
		const at = this.#entries.findLastIndex((entry) => entry.name === name && entry.listener === listener)
		if (at !== -1) this.#entries = this.#entries.toSpliced(at, 1)
	}

	emit<Name extends keyof ServerEvents>(name: Name, event: ServerEvents[Name]): void {
		for (const entry of this.#entries) {
			// Another listener may have taken it away, and an event within this one may have called it.
			if (entry.name !== name || !this.#entries.includes(entry)) continue
			if (entry.once) this.#entries = this.#entries.filter((other) => other !== entry)
			this.#call(name, entry.listener as ServerListener<Name>, event) // Added under this name.
		}
	}

	#call<Name extends keyof ServerEvents>(
		name: Name,
		listener: ServerListener<Name>,
		event: ServerEvents[Name],
	): void {
		try {
			const answer = listener(event)
			if (isThenable(answer)) answer.then(undefined, (error: unknown) => this.#tell(name, error))
		} catch (error) {
			this.#tell(name, error)
		}
	}

	#tell(event: string, error: unknown): void {
		try {
			this.#logger.error({ event, err: error }, 'a listener of the server has failed')
		} catch {}
	}
}
