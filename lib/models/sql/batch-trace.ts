/**
 * The tracing channel `verbena:batch` of `node:diagnostics_channel`: tells tracers that a statement reads for several
 * requests. They would otherwise attribute it to the one request that happened to send it. Used by `gathered-reads.ts`.
 */
import { AsyncResource } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'

/** The message of `verbena:batch`: one object for all events of a batch. */
export interface BatchTrace {
	/** The table's name. */
	readonly table: string
	/** The async context in which each read was begun: `reads[0].runInAsyncScope(() => …)`. */
	readonly reads: readonly AsyncResource[]
}

/** Not in the published types, because Node 26 swaps the two type parameters. @internal */
export const BATCHES: TracingChannel<unknown, BatchTrace> = tracingChannel('verbena:batch')

/** Captures the current async context for a read. */
export function readContext(): AsyncResource {
	return new AsyncResource('VerbenaRead')
}

/** Sends a batch in the context that a tracer binds to it, by default that of its first read. */
export function sendTraced(
	table: string,
	reads: readonly AsyncResource[],
	send: () => Promise<void>,
): Promise<void> {
	const [first] = reads
	if (first === undefined) return send()
	return first.runInAsyncScope(() => BATCHES.tracePromise(send, { table, reads }))
}
