/**
 * The `Driver` for a `Pool` of pg: one connection for each statement, for each transaction, and for inserts that
 * wait at the same time.
 */

import type { Seconds } from '../../../base/time.ts'
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { isKept } from '../../sql/text-cache.ts'
import { command, type Run, within } from '../within.ts'
import { PgConnections } from './connections.ts'
import { PgInserts } from './inserts.ts'
import type { Lease } from './lease.ts'
import type { PgPool } from './pool.ts'

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
