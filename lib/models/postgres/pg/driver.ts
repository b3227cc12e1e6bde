/** The `Driver` for a pg `Pool`: one connection per statement, per transaction, and per batch of concurrent writes. */
import type { Seconds } from '../../../base/time.ts'
import { type Driver, type Rows, runBehind, type Statement } from '../../sql/driver.ts'
import { isKept } from '../../sql/text-cache.ts'
import { runTransaction } from '../../sql/transaction.ts'
import { usageOf } from '../../usage.ts'
import { isAborted, PROBE } from '../errors.ts'
import { PgConnections } from './connections.ts'
import { isBreaking, type Lease, type PgPool } from './pool.ts'
import { takesStatements } from './statement.ts'
import { PgWrites } from './writes.ts'

export class PgDriver implements Driver {
	readonly #connections: PgConnections
	readonly #writes: PgWrites
	readonly #allowsBatches: boolean

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#connections = new PgConnections(pool, timeoutSeconds)
		this.#writes = new PgWrites(this.#connections)
		usageOf(this).pool = () => this.#connections.usage
		// After pg's `query_timeout` the outcome of a query is unknown, which should not happen to a whole batch.
		this.#allowsBatches = (pool.options?.query_timeout ?? 0) === 0
	}

	query(statement: Statement): Promise<Rows> {
		const isBatched = statement.joins === true && this.#allowsBatches && isKept(statement)
		return isBatched ? this.#writes.query(statement) : this.#connections.query(statement)
	}

	renew(): void {
		this.#connections.renew()
	}

	async queryAfter(setup: Statement, statement: Statement): Promise<Rows> {
		const lease = await this.#lease()
		if (takesStatements(lease.client))
			return new Promise((resolve, reject) => {
				const queried = { input: statement, setup, resolve, reject }
				this.#connections.run(queried, lease, true, () => lease.release())
			})
		return this.#transaction(lease, (inner) => runBehind(inner, setup, statement))
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		return this.#transaction(await this.#lease(), work)
	}

	#lease(): Promise<Lease> {
		return new Promise((resolve, reject) => this.#connections.acquire(resolve, reject))
	}

	async #transaction<T>(lease: Lease, work: (driver: Driver) => Promise<T>): Promise<T> {
		const run = serialized((statement) => this.#run(lease, statement))
		const control = (text: string) => run({ text, values: [], writes: false })
		// If the rollback fails, closing the connection rolls back as well.
		const close = (error: unknown) =>
			lease.markBroken(error instanceof Error ? error : new Error(String(error)))
		try {
			const session = { run, control, leaves, connection: lease.client, probe: PROBE, isAborted }
			return await runTransaction(session, work, close)
		} finally {
			lease.release()
		}
	}

	#run(lease: Lease, statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			this.#connections.run({ input: statement, resolve, reject }, lease, false)
		})
	}
}

function leaves(error: unknown): 'savepoint' | 'nothing' {
	return error instanceof Error && isBreaking(error) ? 'nothing' : 'savepoint'
}

/** Runs one statement after the other; pg would queue them on a busy connection too, but with a warning. */
function serialized(run: Driver['query']): Driver['query'] {
	let last: Promise<unknown> = Promise.resolve()
	return (statement) => {
		const next = last.then(() => run(statement))
		last = next.catch(() => {})
		return next
	}
}
