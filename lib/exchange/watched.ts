/** What the steps of a request report to its watch: see `observe/watch.ts`. */

/** A timed part of a request. */
export type Step = 'auth' | 'before' | 'body' | 'idempotency' | 'handler' | 'reply'

/** What a watch reads of a reply. */
export interface Outcome {
	readonly status: number
	/** Alternating names and values; lines may be added. */
	readonly headers: string[]
	readonly body: unknown
	readonly ascii?: boolean
}

export interface Watched {
	/** Whether a tracer may have bound a context to the request. */
	readonly isTraced: boolean
	/** Whether it needs to know only how the answer ends, and not when a client disconnects before it. */
	readonly isLazy: boolean
	/** Answers the request in the async context that tracers bind to it. */
	run<T>(answer: () => T): T
	/** A step begins, which ends the previous one. */
	step(name: Step): void
	/** The request fails (see {@link isFailure}), or its answer is cut off. The first call counts. */
	failed(error: unknown): void
	/** The answer is about to be sent. */
	answered(outcome: Outcome): void
	/** Ends the request; `isWhole` if its answer was sent completely. The first call counts. */
	end(isWhole: boolean): void
}

/**
 * Whether a status is a failure of the server; an unknown method (501) or version of HTTP (505) is the client's
 * mistake.
 */
export function isFailure(status: number): boolean {
	return status >= 500 && status !== 501 && status !== 505
}
