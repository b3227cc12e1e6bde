/**
 * `PgInserts`: inserts on the connections of pg. Those of one text that wait at the same time are sent in one transaction,
 * which the server writes to its disk once. If one of them fails, all are undone, and each is sent again alone: no request
 * gets another's error. Used by `pg-driver.ts`.
 */

import { type Milliseconds, steadyClock } from '../../../base/time.ts'
import { BatchQueue, Pending, type TakeBatch } from '../../sql/batch-queue.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NoAnswer, NoConnection } from '../../sql/pool.ts'
import type { PgConnections } from './connections.ts'
import { isBreaking, type Lease } from './pool.ts'
import { takesStatements } from './statement.ts'

/** Of one transaction: what it locks stays locked until the last of them is done. */
const MOST_TOGETHER = 32
/** How long inserts are sent alone after a batch had to wait for a lock that one of them needed. */
const ALONE: Milliseconds = 5_000
/** Cancelled, deadlock, lock not available. */
const WAITED: ReadonlySet<unknown> = new Set(['57014', '40P01', '55P03'])

type Insert = Pending<Statement, Rows>

export class PgInserts {
	readonly #connections: PgConnections
	/** The queues in which inserts wait, by their text. */
	readonly #queues = new Map<string, BatchQueue<Insert>>()
	#aloneUntil: Milliseconds = 0

	constructor(connections: PgConnections) {
		this.#connections = connections
	}

	query(statement: Statement): Promise<Rows> {
		if (this.#aloneUntil > steadyClock()) return this.#connections.query(statement)
		const { text } = statement
		let queue = this.#queues.get(text)
		if (queue === undefined) {
			queue = this.#queue(text)
			this.#queues.set(text, queue)
		}
		const own = queue
		return new Promise((resolve, reject) => own.add(new Pending(statement, resolve, reject)))
	}

	#queue(text: string): BatchQueue<Insert> {
		return new BatchQueue<Insert>(MOST_TOGETHER, {
			begin: (insert) => this.#connections.begin(insert),
			send: (take) => new Promise<void>((done) => this.#send(take, done)),
			idle: () => this.#queues.delete(text),
		})
	}

	/** The batch is taken when there is a connection. `done` is called when that is free again, or is held up. */
	#send(take: TakeBatch<Insert>, done: () => void): void {
		const { latest } = this.#connections
		const taken = (until?: Milliseconds): readonly Insert[] => {
			const inserts = take(until)
			for (const insert of inserts) this.#connections.end(insert)
			return inserts
		}
		const lend = (lease: Lease): void => {
			const inserts = taken()
			const watched = this.#connections.watch(done)
			const release = (): void => {
				lease.release()
				this.#connections.unwatch(watched)
				done()
			}
			const [first, ...others] = inserts
			if (first === undefined) release()
			else if (others.length > 0 && takesStatements(lease.client))
				this.#runBatch(lease, first.input.text, inserts, release)
			else {
				this.#connections.runFor(first, lease, release)
				for (const other of others) this.#sendAlone(other)
			}
		}
		const fail = (error: NoConnection): void => {
			// After a timeout each insert has its own deadline; an error is not for those that came later.
			if (error.cause !== undefined) for (const insert of taken(latest)) insert.reject(error)
			done()
		}
		this.#connections.acquire(lend, fail)
	}

	#runBatch(lease: Lease, text: string, inserts: readonly Insert[], release: () => void): void {
		const lists = inserts.map(({ input }) => input.values)
		this.#connections.runBatch(lease, text, lists, (error, results) => {
			if (error !== undefined && 'code' in error && WAITED.has(error.code))
				this.#aloneUntil = steadyClock() + ALONE
			release()
			for (const [at, insert] of inserts.entries()) {
				const rows = results?.[at]
				if (rows !== undefined) insert.resolve(rows)
				// All are undone: sent alone, each gets its own error.
				else if (error !== undefined && !isBreaking(error)) this.#sendAlone(insert)
				else insert.reject(error ?? new NoAnswer())
			}
		})
	}

	/** Within the rest of the time for getting a connection. */
	#sendAlone(insert: Insert): void {
		const { reject } = insert
		const left = this.#connections.timeLeft(insert)
		if (left <= 0) reject(new NoConnection())
		else {
			const lend = (lease: Lease): void => this.#connections.runFor(insert, lease, () => lease.release())
			this.#connections.acquire(lend, reject, left)
		}
	}
}
