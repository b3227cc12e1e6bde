/**
 * The `Driver` for a `Pool` of pg: one connection for each statement, for each transaction, and for inserts that
 * wait at the same time.
 */
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { isKept } from '../../sql/prepared.ts'
import type { Seconds } from '../../time.ts'
import { PgConnections } from './pg-connections.ts'
import { PgInserts } from './pg-inserts.ts'
import type { Lease } from './pg-lease.ts'
import type { PgPool } from './pg-pool.ts'
import { command, type Run, within } from './within.ts'

export class PgDriver implements Driver {
	readonly #connections: PgConnections
	readonly #inserts: PgInserts

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#connections = new PgConnections(pool, timeoutSeconds)
		this.#inserts = new PgInserts(this.#connections)
	}

	/** One promise for all its steps: with one for each, and what waits for them, a query would cost twice as much. */
	query(statement: Statement): Promise<Rows> {
		if (statement.joins === true && isKept(statement)) return this.#inserts.query(statement)
		return new Promise((resolve, reject) => {
			this.#connections.borrow((lease) => {
				this.#connections.run(lease, statement, true, (error, rows) => {
					lease.release()
					if (rows === undefined) reject(error)
					else resolve(rows)
				})
			}, reject)
		})
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const lease = await new Promise<Lease>((resolve, reject) => this.#connections.borrow(resolve, reject))
		const run = inTurn((statement) => this.#ran(lease, statement))
		try {
			await run(BEGIN)
			const result = await within(run, work)
			await run(COMMIT)
			return result
		} catch (error) {
			// Where that fails too, the connection is closed, which undoes it as well.
			if (lease.broken === undefined) await run(ROLLBACK).catch((failed) => lease.spoil(failed))
			throw error
		} finally {
			lease.release()
		}
	}

	/** Within a transaction, which a failed statement has spoilt. */
	#ran(lease: Lease, statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			this.#connections.run(lease, statement, false, (error, rows) => {
				if (rows === undefined) reject(error)
				else resolve(rows)
			})
		})
	}
}

const BEGIN = command('begin')
const COMMIT = command('commit')
const ROLLBACK = command('rollback')

/** The same, one after the other: pg will not take a statement while another is under way on its connection. */
function inTurn(run: Run): Run {
	let last: Promise<unknown> = Promise.resolve()
	return (statement) => {
		const next = last.then(() => run(statement))
		last = next.catch(ignore)
		return next
	}
}

function ignore(): void {}
