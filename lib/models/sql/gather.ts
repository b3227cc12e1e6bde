/**
 * `Gather`: reads of single records that wait at the same time are asked in one query. One `Gather` for one
 * statement and one scope. A read is taken out of the queue before its query goes to the driver, so that
 * nobody is answered by a query that was sent before they asked.
 */

import type { Due } from '../../base/deadlines.ts'
import type { Milliseconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Patience } from './patience.ts'

/** More leave too little to gather; with fewer, one slow query stops all reads. */
const MOST_IN_FLIGHT = 4
const MOST_IDS = 100

/** How the records are asked for. */
export interface Asked<T> {
	one(id: string): Promise<T | undefined>
	/** The records that there are, by their ids. */
	many(ids: readonly string[]): Promise<ReadonlyMap<string, T>>
	/**
	 * Whether a record can be found by an id that isn't written as its own (texts that a database compares
	 * without case): those that `many` has not answered are then asked alone.
	 */
	readonly looselyCompared: boolean
	/** Called when nothing is waited for any more. */
	idle(): void
}

export class Gather<T> {
	readonly #asked: Asked<T>
	readonly #patience: Patience
	#waiting: Read<T>[] = []
	#inFlight = 0
	#scheduled = false

	constructor(asked: Asked<T>, patience: Patience) {
		this.#asked = asked
		this.#patience = patience
	}

	/** The record, or `undefined`; waits at most as long as the model's patience says. */
	read(id: string): Promise<T | undefined> {
		return new Promise((resolve, reject) => {
			const read = new Read(id, resolve, reject)
			this.#patience.begin(read)
			this.#waiting.push(read)
			if (this.#inFlight === 0) this.#pump()
			else if (this.#inFlight < MOST_IN_FLIGHT && !this.#scheduled) {
				this.#scheduled = true
				setImmediate(() => {
					this.#scheduled = false
					this.#pump()
				})
			}
		})
	}

	#pump(): void {
		while (this.#waiting.length > 0 && this.#inFlight < MOST_IN_FLIGHT) {
			const batch = this.#waiting.splice(0, MOST_IDS).filter((read) => !read.isOver)
			if (batch.length > 0) this.#send(batch)
		}
		if (this.#waiting.length === 0 && this.#inFlight === 0 && !this.#scheduled) this.#asked.idle()
	}

	#send(batch: readonly Read<T>[]): void {
		this.#inFlight++
		const [first] = batch
		const sent = batch.length === 1 && first !== undefined ? this.#alone(first) : this.#together(batch)
		// Neither rejects: what goes wrong is handed to those who wait.
		void sent.then(() => {
			this.#inFlight--
			this.#pump()
		})
	}

	async #alone(read: Read<T>): Promise<void> {
		if (read.isOver) return
		try {
			this.#answer(read, await this.#asked.one(read.id))
		} catch (error) {
			this.#refuse(read, error)
		}
	}

	async #together(batch: readonly Read<T>[]): Promise<void> {
		const ids = [...new Set(batch.map(({ id }) => id))]
		let records: ReadonlyMap<string, T>
		try {
			records = await this.#asked.many(ids)
		} catch (error) {
			// That isn't the fault of one id; to ask a hundred times again would only make it worse.
			if (error instanceof ModelError && (error.kind === 'unavailable' || error.kind === 'busy')) {
				for (const read of batch) this.#refuse(read, error)
				return
			}
			await Promise.all(batch.map((read) => this.#alone(read)))
			return
		}
		const missed: Read<T>[] = []
		for (const read of batch) {
			const record = records.get(read.id)
			if (record === undefined && this.#asked.looselyCompared) missed.push(read)
			else this.#answer(read, record)
		}
		await Promise.all(missed.map((read) => this.#alone(read)))
	}

	#answer(read: Read<T>, record: T | undefined): void {
		this.#patience.end(read)
		read.resolve(record)
	}

	#refuse(read: Read<T>, error: unknown): void {
		this.#patience.end(read)
		read.reject(error)
	}
}

/** One who waits for a record. */
class Read<T> implements Due {
	due: Milliseconds = 0
	// Both are there from the start, so that all reads have one shape.
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	waiting = false
	isOver = false
	readonly id: string
	readonly resolve: (record: T | undefined) => void
	readonly reject: (error: unknown) => void

	constructor(id: string, resolve: (record: T | undefined) => void, reject: (error: unknown) => void) {
		this.id = id
		this.resolve = resolve
		this.reject = reject
	}

	expire(): void {
		this.isOver = true
		this.reject(new ModelError('unavailable'))
	}
}
