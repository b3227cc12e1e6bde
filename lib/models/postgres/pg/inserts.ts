/** `PgInserts`: inserts on the connections of pg; those that wait at the same time are sent `Together`. */

import { type Milliseconds, steadyClock } from '../../../base/time.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NotSent, Unanswered } from '../errors.ts'
import type { PgConnections } from './connections.ts'
import { isBreaking, type Lease } from './lease.ts'
import { takesStatements } from './statement.ts'
import { type Insert, type Take, Together } from './together.ts'

/** How long each is sent alone, after some that were sent together had to wait for what one of them needed. */
const ALONE: Milliseconds = 5_000
/** Cancelled; a deadlock; a lock that was not to be had. */
const WAITED: ReadonlySet<unknown> = new Set(['57014', '40P01', '55P03'])

export class PgInserts {
	readonly #connections: PgConnections
	/** By their texts; only of those that are waited for. */
	readonly #together = new Map<string, Together>()
	#aloneUntil: Milliseconds = 0

	constructor(connections: PgConnections) {
		this.#connections = connections
	}

	query(statement: Statement): Promise<Rows> {
		if (this.#aloneUntil > steadyClock()) return this.#connections.query(statement)
		const { text } = statement
		let together = this.#together.get(text)
		if (together === undefined) {
			together = new Together({
				begin: (item) => this.#connections.begin(item),
				end: (item) => this.#connections.end(item),
				send: (take) => new Promise((done) => this.#send(take, done)),
				idle: () => this.#together.delete(text),
			})
			this.#together.set(text, together)
		}
		return together.query(statement)
	}

	/** `done` is called when the connection is free again, or was held up. */
	#send(take: Take, done: () => void): void {
		const { latest } = this.#connections
		const lend = (lease: Lease): void => {
			const inserts = take()
			const watched = this.#connections.watch(done)
			const release = (): void => {
				lease.release()
				this.#connections.unwatch(watched)
				done()
			}
			const [first, ...others] = inserts
			if (first === undefined) release()
			else if (others.length > 0 && takesStatements(lease.client))
				this.#runBatch(lease, first.statement.text, inserts, release)
			else {
				this.#connections.runFor(first, lease, release)
				for (const other of others) this.#sendAlone(other)
			}
		}
		const fail = (error: NotSent): void => {
			// Where only its time was over, each has a deadline of its own; who came later knows nothing of this failure.
			if (error.cause !== undefined) for (const insert of take(latest)) insert.reject(error)
			done()
		}
		this.#connections.borrow(lend, fail)
	}

	#runBatch(lease: Lease, text: string, inserts: readonly Insert[], release: () => void): void {
		const lists = inserts.map(({ statement }) => statement.values)
		this.#connections.runTogether(lease, text, lists, (error, results) => {
			if (error !== undefined && 'code' in error && WAITED.has(error.code))
				this.#aloneUntil = steadyClock() + ALONE
			release()
			for (const [at, insert] of inserts.entries()) {
				const rows = results?.[at]
				if (rows !== undefined) insert.resolve(rows)
				// All are undone: whose fault it was is found out by each on its own.
				else if (error !== undefined && !isBreaking(error)) this.#sendAlone(insert)
				else insert.reject(error ?? new Unanswered())
			}
		})
	}

	/** Within what is left of the time to have a connection. */
	#sendAlone(insert: Insert): void {
		const { reject } = insert
		const left = this.#connections.left(insert)
		if (left <= 0) reject(new NotSent(undefined))
		else {
			const lend = (lease: Lease): void => this.#connections.runFor(insert, lease, () => lease.release())
			this.#connections.borrow(lend, reject, left)
		}
	}
}
