/**
 * The tracing channel `verbena:request` of `node:diagnostics_channel`, for OpenTelemetry and the like, which make a span of
 * each request; published by `watch.ts`. And async contexts for replies that come in pieces: a stream read by the
 * connection would run in the connection's context, not the request's; `reply/` binds it where a tracer listens.
 */

import { AsyncResource } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { Readable } from 'node:stream'
import type { Exchange } from '../exchange/exchange.ts'
import type { Request } from '../request/request.ts'

/** The message of `verbena:request`: one object for all events of a request. */
export class RequestTrace {
	readonly request: Request
	/** What was thrown, where the request ends in a status from 500 up or its reply is cut off. */
	error: unknown = undefined
	/** Set once there is a reply. */
	status: number | undefined = undefined
	/** Length of the reply's body; `undefined` for streams, and before it is known. */
	bytes: number | undefined = undefined
	/** Whether the reply was not sent completely; known in `asyncEnd`. */
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
 * Its five channels are Node's, by name: subscribers need nothing of ours. Not among the published types, as Node 26 has
 * the two type parameters the other way round.
 *
 * @internal
 */
export const REQUESTS: TracingChannel<unknown, RequestTrace> = tracingChannel('verbena:request')

/** Makes a stream read in the current async context. */
export function bindReads(source: Readable): void {
	const scope = new AsyncResource(NAME)
	const read = source._read
	source._read = (size) => scope.runInAsyncScope(read, source, size)
}

/** The same records, each produced in the current async context. */
export function boundRecords(source: AsyncIterable<unknown>): AsyncIterable<unknown> {
	const scope = new AsyncResource(NAME)
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

/** The name in tools that list async resources. */
const NAME = 'VerbenaRequest'
