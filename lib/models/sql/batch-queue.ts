/**
 * `BatchQueue`: gathers what waits at the same time into batches, for `reads.ts`, which joins reads of single records into
 * one query, and for inserts on pg (`postgres/pg/inserts.ts`). One that comes alone is sent at once; while a batch is in flight, the others wait for the end of the event loop's turn. An item is
 * taken out of the queue before its statement is sent, so a read is never answered by an older one.
 */
import type { Due } from '../../base/deadlines.ts'
import type { Milliseconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'

/** With more, too little is gathered; with fewer, one slow statement (a lock) stops all others. */
const MOST_IN_FLIGHT = 4

/** Takes the next batch, at most `most` items; only those whose deadline is by `latest`, if that is given. */
export type Take<I> = (latest?: Milliseconds) => readonly I[]

/** What sends the batches. */
export interface Sender<I> {
	/** Starts the deadline of an item. */
	begin(item: I): void
	/** Sends a batch that it takes; resolves when the next may be sent. Never rejects: items have their own errors. */
	send(take: Take<I>): Promise<unknown>
	/** Called when nothing waits and nothing is in flight. */
	idle(): void
}

export class BatchQueue<I extends Waiting<unknown, never>> {
	readonly #most: number
	readonly #sender: Sender<I>
	readonly #take: Take<I> = (latest = Number.POSITIVE_INFINITY) => this.#next(latest)
	#waiting: I[] = []
	#inFlight = 0
	#isScheduled = false

	/** @param most items of one batch */
	constructor(most: number, sender: Sender<I>) {
		this.#most = most
		this.#sender = sender
	}

	add(item: I): void {
		this.#sender.begin(item)
		this.#waiting.push(item)
		if (this.#inFlight === 0) this.#pump()
		else if (this.#inFlight < MOST_IN_FLIGHT && !this.#isScheduled) {
			this.#isScheduled = true
			setImmediate(() => {
				this.#isScheduled = false
				this.#pump()
			})
		}
	}

	/** Sends as many batches as the waiting items fill. */
	#pump(): void {
		// The oldest expire first.
		while (this.#waiting[0]?.isOver === true) this.#waiting.shift()
		let unsent = this.#waiting.length
		while (unsent > 0 && this.#inFlight < MOST_IN_FLIGHT) {
			unsent -= this.#most
			this.#inFlight++
			void this.#sender.send(this.#take).then(() => {
				this.#inFlight--
				this.#pump()
			})
		}
		if (this.#inFlight === 0 && !this.#isScheduled) this.#sender.idle()
	}

	/** Without those that have expired meanwhile. */
	#next(latest: Milliseconds): readonly I[] {
		const taken: I[] = []
		let end = 0
		for (; end < this.#waiting.length && taken.length < this.#most; end++) {
			const item = this.#waiting[end]
			if (item === undefined || item.due > latest) break
			if (!item.isOver) taken.push(item)
		}
		this.#waiting.splice(0, end)
		return taken
	}
}

/** An item of a queue, and the promise of its answer. */
export class Waiting<Question, Answer> implements Due {
	due: Milliseconds = 0
	// All are there from the start, so that items have one shape.
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	isWaiting = false
	isOver = false
	readonly question: Question
	readonly resolve: (answer: Answer) => void
	readonly reject: (error: unknown) => void

	constructor(question: Question, resolve: (answer: Answer) => void, reject: (error: unknown) => void) {
		this.question = question
		this.resolve = resolve
		this.reject = reject
	}

	expire(): void {
		this.isOver = true
		this.reject(new ModelError('unavailable'))
	}
}
