/** What the steps of a request tell whoever watches it: see `observe/watch.ts`. */

/** A part of a request that takes its time. */
export type Step = 'auth' | 'before' | 'body' | 'idempotency' | 'handler' | 'reply'

/** What is about to be sent, as far as it is looked at. */
export interface Outcome {
	readonly status: number
	/** Names and values in turn; may be added to. */
	readonly headers: string[]
	readonly body: unknown
	readonly ascii?: boolean
}

export interface Watched {
	/** Whether a tracer may have bound a context to it. */
	readonly isTraced: boolean
	/** Runs what answers the request, in whatever context tracers bind to it. */
	run<T>(answer: () => T): T
	/** A step begins, and the one before it has ended. */
	step(name: Step): void
	/** The request ends in a {@link isFailure failure}, or its answer is cut off. The first call counts. */
	failed(error: unknown): void
	/** The answer is about to be sent. */
	answered(outcome: Outcome): void
}

/**
 * Whether a status tells of a failure of the server's own. What isn't served, a method or a version of HTTP, is
 * whoever's who asked for it.
 */
export function isFailure(status: number): boolean {
	return status >= 500 && status !== 501 && status !== 505
}
