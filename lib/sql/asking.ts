/** `Asking`: statements on their way to a driver; within the model's patience, and with errors in its words. */
import { ModelError } from '../crud/model-error.ts'
import type { Dialect } from './dialect.ts'
import type { Driver, Rows, Statement } from './driver.ts'
import type { Patience } from './patience.ts'
import type { Table } from './table.ts'

export class Asking {
	readonly driver: Driver
	readonly #dialect: Dialect
	readonly #table: Table
	readonly patience: Patience

	constructor(driver: Driver, dialect: Dialect, table: Table, patience: Patience) {
		this.driver = driver
		this.#dialect = dialect
		this.#table = table
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
			return Promise.reject(meant(error))
		}
	}

	/** Runs `work` with the same, on a connection that is within a transaction. */
	async transaction<T>(work: (inner: Asking) => Promise<T>): Promise<T> {
		try {
			return await this.patience.transaction(this.driver, (driver) =>
				work(new Asking(driver, this.#dialect, this.#table, this.patience)),
			)
		} catch (error) {
			throw this.#meant(error, true)
		}
	}

	#meant(error: unknown, writes: boolean): unknown {
		if (error instanceof ModelError) return error
		const meant = this.#dialect.failure(error, this.#table)
		if (meant === undefined) return error
		if (meant.kind !== 'outcome_unknown' || writes) return meant
		return new ModelError('unavailable', meant.fields, meant.cause)
	}
}
