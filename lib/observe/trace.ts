/**
 * The tracing channel `verbena:request` of `node:diagnostics_channel`: for OpenTelemetry and its like, which make a
 * span of each request. Published by `watch.ts`.
 */
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { Exchange } from '../exchange/exchange.ts'
import type { Request } from '../request/request.ts'

/** What subscribers of `verbena:request` are called with: the same object for all that is told of a request. */
export class RequestTrace {
	readonly request: Request
	/** What was thrown, where the request ends in a status from 500 up or its answer is cut off. */
	error: unknown = undefined
	/** Known when the answer is. */
	status: number | undefined = undefined
	/** Length of the answer's body; `undefined` for streams, and before it is known. */
	bytes: number | undefined = undefined
	/** Whether the answer didn't reach its end; known in `asyncEnd`. */
	aborted = false
	readonly #exchange: Exchange

	constructor(exchange: Exchange) {
		this.#exchange = exchange
		this.request = exchange.request
	}

	/** The handler's class, once it is found. */
	get handler(): string | undefined {
		return this.#exchange.mount?.name
	}

	/** The method's name, once it is found: `get_article`. */
	get action(): string | undefined {
		return this.#exchange.action?.name
	}
}

/**
 * Its five channels are node's, by name: whoever subscribes needs nothing of ours. Not among the types that are
 * published: those of node 26 have the two parameters the other way round.
 *
 * @internal
 */
export const REQUESTS: TracingChannel<unknown, RequestTrace> = tracingChannel('verbena:request')
