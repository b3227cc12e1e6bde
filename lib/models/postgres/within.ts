/** A transaction that is under way, as a `Driver`; what is nested in it is a savepoint. */
import type { Driver, Rows, Statement } from '../sql/driver.ts'

export type Run = (statement: Statement) => Promise<Rows>

/**
 * Runs `work` within a transaction that has begun. PostgreSQL answers a commit after a failed statement by
 * rolling back, without an error: so a failure that `work` has swallowed is thrown here.
 */
export async function within<T>(run: Run, work: (driver: Driver) => Promise<T>, depth = 1): Promise<T> {
	const driver = new Within(run, depth)
	const result = await work(driver)
	if (driver.failure !== undefined) throw driver.failure.error
	return result
}

class Within implements Driver {
	/** The first failure of a statement: since then PostgreSQL refuses every other. */
	failure: { readonly error: unknown } | undefined
	readonly #run: Run
	readonly #depth: number

	constructor(run: Run, depth: number) {
		this.#run = run
		this.#depth = depth
	}

	async query(statement: Statement): Promise<Rows> {
		try {
			return await this.#run(statement)
		} catch (error) {
			this.failure ??= { error }
			throw error
		}
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const savepoint = `verbena_${this.#depth}`
		await this.query(command(`savepoint ${savepoint}`))
		let result: T
		try {
			result = await within(this.#run, work, this.#depth + 1)
		} catch (error) {
			// Where that fails too, `failure` keeps it, and the whole is undone.
			await this.query(command(`rollback to savepoint ${savepoint}`)).catch(() => {})
			throw error
		}
		await this.query(command(`release savepoint ${savepoint}`))
		return result
	}
}

/** A statement without values. */
export function command(text: string): Statement {
	return { text, values: [], writes: false }
}
