/** `Asking`: statements on their way to a driver; within the model's patience, and with errors in its words. */
import { ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import type { Driver, Rows, Statement } from './driver.ts'
import type { LiveTable } from './live-table.ts'
import type { Patience } from './patience.ts'

export class Asking {
	readonly driver: Driver
	readonly #dialect: Dialect
	readonly #live: LiveTable
	readonly patience: Patience
	/** Whether it is a transaction's. */
	readonly #isWithin: boolean

	constructor(driver: Driver, dialect: Dialect, live: LiveTable, patience: Patience, isWithin = false) {
		this.driver = driver
		this.#dialect = dialect
		this.#live = live
		this.#isWithin = isWithin
		this.patience = patience
	}

	/** @throws ModelError, or what the driver has thrown where the dialect doesn't know it */
	ask(statement: Statement): Promise<Rows> {
		const { writes } = statement
		const meant = (error: unknown) => this.#meant(error, writes)
		try {
			const answer = this.driver.query(statement)
			return this.patience.wait(answer, writes ? 'outcome_unknown' : 'unavailable', meant)
		} catch (error) {
			const told = meant(error)
			return told instanceof Promise ? told : Promise.reject(told)
		}
	}

	/** Runs `work` with the same, on a connection that is within a transaction. */
	async transaction<T>(work: (inner: Asking) => Promise<T>): Promise<T> {
		try {
			return await this.patience.transaction(this.driver, (driver) =>
				work(new Asking(driver, this.#dialect, this.#live, this.patience, true)),
			)
		} catch (error) {
			const told =
				error instanceof ModelError && error.kind === 'busy' ? await this.#live.told(error) : undefined
			throw told ?? (await this.#meant(error, true))
		}
	}

	/** A promise where that takes a look at the table. */
	#meant(error: unknown, writes: boolean): unknown {
		if (error instanceof ModelError) return error
		if (this.#dialect.isOutdated?.(error) === true) return this.#live.refuse(error, !this.#isWithin)
		const meant = this.#dialect.failure(error, this.#live.subject.table)
		if (meant === undefined) return error
		// What is too large to be answered is a page; to be written, a value.
		if (meant.kind === 'too_large' && writes) return new ModelError('invalid', meant.fields, meant.cause)
		if (meant.kind !== 'outcome_unknown' || writes) return meant
		return new ModelError('unavailable', meant.fields, meant.cause)
	}
}
