/**
 * The `Driver` for a `Pool` of pg: one connection for each statement, for each transaction, and for inserts that
 * wait at the same time.
 */
import type { Seconds } from '../../../base/time.ts'
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { isKept } from '../../sql/text-cache.ts'
import { runTransaction } from '../../sql/transaction.ts'
import { PgConnections } from './connections.ts'
import { PgInserts } from './inserts.ts'
import { isBreaking, type Lease, type PgPool } from './pool.ts'

export class PgDriver implements Driver {
	readonly #connections: PgConnections
	readonly #inserts: PgInserts
	readonly #mayJoin: boolean

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#connections = new PgConnections(pool, timeoutSeconds)
		this.#inserts = new PgInserts(this.#connections)
		// pg gives up a query by its own clock and can't say what has become of it: of one, not of many.
		this.#mayJoin = (pool.options?.query_timeout ?? 0) === 0
	}

	query(statement: Statement): Promise<Rows> {
		const joins = statement.joins === true && this.#mayJoin && isKept(statement)
		return joins ? this.#inserts.query(statement) : this.#connections.query(statement)
	}

	renew(): void {
		this.#connections.renew()
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const lease = await new Promise<Lease>((resolve, reject) => this.#connections.acquire(resolve, reject))
		const run = inTurn((statement) => this.#run(lease, statement))
		const control = (text: string) => run({ text, values: [], writes: false })
		// A connection that can't even roll back is closed, which rolls back as well.
		const close = (error: unknown) =>
			lease.markBroken(error instanceof Error ? error : new Error(String(error)))
		try {
			return await runTransaction({ run, control, leaves }, work, close)
		} finally {
			lease.release()
		}
	}

	#run(lease: Lease, statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			this.#connections.run(lease, statement, false, (error, rows) => {
				if (rows === undefined) reject(error)
				else resolve(rows)
			})
		})
	}
}

type Run = (statement: Statement) => Promise<Rows>

function leaves(error: unknown): 'savepoint' | 'nothing' {
	return error instanceof Error && isBreaking(error) ? 'nothing' : 'savepoint'
}

/** Runs one statement after the other: pg queues those on a busy connection, and warns. */
function inTurn(run: Run): Run {
	let last: Promise<unknown> = Promise.resolve()
	return (statement) => {
		const next = last.then(() => run(statement))
		last = next.catch(ignore)
		return next
	}
}

function ignore(): void {}
