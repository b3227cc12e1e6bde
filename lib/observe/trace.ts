/**
 * The tracing channel `verbena:request` of `node:diagnostics_channel`, for OpenTelemetry and the like, which create a span
 * for each request; published by `watch.ts`. Also binds streamed replies to the request's async context: they are read in the
 * connection's context, so `reply/` binds them if a tracer listens.
 */

import { AsyncResource } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { Readable } from 'node:stream'
import type { Exchange } from '../exchange/exchange.ts'
import type { Request } from '../request/request.ts'

/** The message of `verbena:request`: one object for all events of a request. */
export class RequestTrace {
	readonly request: Request
	/** What was thrown, if the status is 500 or above, or the reply is cut off. */
	error: unknown = undefined
	/** Set once there is a reply. */
	status: number | undefined = undefined
	/** Length of the reply's body; `undefined` for streams, and before it is known. */
	bytes: number | undefined = undefined
	/** Whether the reply was not sent completely; set by `asyncEnd`. */
	aborted = false
	readonly #exchange: Exchange

	constructor(exchange: Exchange) {
		this.#exchange = exchange
		this.request = exchange.request
	}

	/** The handler's class, or its path if it has none of its own, once found. */
	get handler(): string | undefined {
		return this.#exchange.mount?.label
	}

	/** The method's name, once found: `get_article`. */
	get action(): string | undefined {
		return this.#exchange.action?.name
	}

	/** The template of the path, once found, as in the OpenAPI description: `/blog/article/{id}`; OpenTelemetry's `http.route`. */
	get route(): string | undefined {
		return this.#exchange.route
	}
}

/**
 * The tracing channel. Subscribers find its five channels by name, without an import from Verbena. It isn't in the published
 * types, because Node 26 swaps the two type parameters.
 *
 * @internal
 */
export const REQUESTS: TracingChannel<unknown, RequestTrace> = tracingChannel('verbena:request')

/** Binds a stream's reads to the current async context. */
export function bindReads(source: Readable): void {
	const scope = new AsyncResource(RESOURCE_NAME)
	const read = source._read
	source._read = (size) => scope.runInAsyncScope(read, source, size)
}

/** The same records, with the iteration bound to the current async context. */
export function bindRecords(source: AsyncIterable<unknown>): AsyncIterable<unknown> {
	const scope = new AsyncResource(RESOURCE_NAME)
	return {
		[Symbol.asyncIterator]() {
			const inner = source[Symbol.asyncIterator]()
			return {
				next: () => scope.runInAsyncScope(() => inner.next()),
				async return() {
					const ended = await scope.runInAsyncScope(() => inner.return?.())
					return ended ?? { done: true, value: undefined }
				},
			}
		},
	}
}

/** Shown by tools that list async resources. */
const RESOURCE_NAME = 'VerbenaRequest'
