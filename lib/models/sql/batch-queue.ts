/**
 * `BatchQueue`: groups concurrent requests into batches. `gathered-reads.ts` uses it to join reads of single records into one
 * query, `postgres/pg/writes.ts` to group writes. A single request is sent at once; while a batch is in flight, later
 * requests are collected until the end of the event loop's turn. Items leave the queue before their statement is sent,
 * so a read never gets the result of a statement that was sent before it.
 */
import type { AsyncResource } from 'node:async_hooks'
import type { Due } from '../../base/deadlines.ts'
import type { Milliseconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'

/** Maximum number of batches in flight: with more, batches are too small; with fewer, a slow one blocks all others. */
const MAX_IN_FLIGHT = 4

/** Takes the next batch from the queue; with `latest`, only items whose deadline isn't after it. */
export type TakeBatch<I> = (latest?: Milliseconds) => readonly I[]

export interface BatchSender<I> {
	/** Starts the deadline of an item. */
	begin(item: I): void
	/** Takes and sends a batch; resolves when the next batch may be sent. Never rejects: errors go to the items. */
	send(take: TakeBatch<I>): Promise<unknown>
	/** Called when the queue is empty and nothing is in flight. */
	idle(): void
}

export class BatchQueue<I extends Pending<unknown, never>> {
	readonly #maxItems: number
	readonly #sender: BatchSender<I>
	readonly #take: TakeBatch<I> = (latest = Number.POSITIVE_INFINITY) => this.#next(latest)
	#waiting: I[] = []
	#inFlight = 0
	#isScheduled = false

	/** @param maxItems per batch */
	constructor(maxItems: number, sender: BatchSender<I>) {
		this.#maxItems = maxItems
		this.#sender = sender
	}

	add(item: I): void {
		this.#sender.begin(item)
		this.#waiting.push(item)
		if (this.#inFlight === 0) this.#pump()
		else if (this.#inFlight < MAX_IN_FLIGHT && !this.#isScheduled) {
			this.#isScheduled = true
			setImmediate(() => {
				this.#isScheduled = false
				this.#pump()
			})
		}
	}

	#pump(): void {
		// The oldest items expire first.
		while (this.#waiting[0]?.hasExpired === true) this.#waiting.shift()
		let unsent = this.#waiting.length
		while (unsent > 0 && this.#inFlight < MAX_IN_FLIGHT) {
			unsent -= this.#maxItems
			this.#inFlight++
			void this.#sender.send(this.#take).then(() => {
				this.#inFlight--
				this.#pump()
			})
		}
		if (this.#inFlight === 0 && !this.#isScheduled) this.#sender.idle()
	}

	/** Skips items that have expired. */
	#next(latest: Milliseconds): readonly I[] {
		const taken: I[] = []
		let end = 0
		for (; end < this.#waiting.length && taken.length < this.#maxItems; end++) {
			const item = this.#waiting[end]
			if (item === undefined || item.due > latest) break
			if (!item.hasExpired) taken.push(item)
		}
		this.#waiting.splice(0, end)
		return taken
	}
}

/** A queued item with the callbacks of its promise. */
export class Pending<Input, Result> implements Due {
	due: Milliseconds = 0
	// All properties exist from the start, so that items have one hidden class.
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	isWaiting = false
	hasExpired = false
	/** The async context in which it was begun, if batches are traced. */
	context: AsyncResource | undefined = undefined
	readonly input: Input
	readonly resolve: (result: Result) => void
	readonly reject: (error: unknown) => void

	constructor(input: Input, resolve: (result: Result) => void, reject: (error: unknown) => void) {
		this.input = input
		this.resolve = resolve
		this.reject = reject
	}

	expire(): void {
		this.hasExpired = true
		this.reject(new ModelError('unavailable'))
	}
}
