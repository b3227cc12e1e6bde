/**
 * `PgInserts`: group commit for inserts on pg. Concurrent inserts with the same text are sent in one transaction, so
 * the server syncs its disk only once. If one of them fails, all are rolled back and sent again one by one, so that no
 * request gets the error of another. Used by `driver.ts`.
 */

import { type Milliseconds, steadyClock } from '../../../base/time.ts'
import { BatchQueue, Pending, type TakeBatch } from '../../sql/batch-queue.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NoAnswer, NoConnection } from '../../sql/pool.ts'
import { codeOf } from '../errors.ts'
import { type PgConnections, SLOW_BATCH } from './connections.ts'
import { isBreaking, type Lease } from './pool.ts'
import { takesStatements } from './statement.ts'

/** Maximum number of inserts per transaction, which holds the locks of all of them until its end. */
const MAX_BATCH = 32
/** How long inserts are sent alone after a batch had to wait for a lock. */
const ALONE: Milliseconds = 5_000
/** SQLSTATEs: cancelled, deadlock, lock not available. */
const LOCKED: ReadonlySet<unknown> = new Set(['57014', '40P01', '55P03'])

type Insert = Pending<Statement, Rows>

export class PgInserts {
	readonly #connections: PgConnections
	/** Queues by the inserts' text. */
	readonly #queues = new Map<string, BatchQueue<Insert>>()
	#aloneUntil: Milliseconds = 0

	constructor(connections: PgConnections) {
		this.#connections = connections
	}

	query(statement: Statement): Promise<Rows> {
		if (this.#aloneUntil > steadyClock()) return this.#connections.query(statement)
		const queue = this.#queues.get(statement.text) ?? this.#addQueue(statement.text)
		return new Promise((resolve, reject) => queue.add(new Pending(statement, resolve, reject)))
	}

	#addQueue(text: string): BatchQueue<Insert> {
		const queue = new BatchQueue<Insert>(MAX_BATCH, {
			begin: (insert) => this.#begin(insert),
			send: (take) => new Promise<void>((done) => this.#send(take, done)),
			idle: () => this.#queues.delete(text),
		})
		this.#queues.set(text, queue)
		return queue
	}

	#begin(insert: Insert): void {
		insert.due = this.#connections.latest
		this.#connections.deadlines.add(insert)
	}

	/** Takes the batch when there is a connection. Calls `done` when the connection is free, or the batch is slow. */
	#send(take: TakeBatch<Insert>, done: () => void): void {
		const { latest, deadlines, shortDeadlines } = this.#connections
		const takeBatch = (until?: Milliseconds): readonly Insert[] => {
			const inserts = take(until)
			for (const insert of inserts) deadlines.delete(insert)
			return inserts
		}
		const sendOn = (lease: Lease): void => {
			const inserts = takeBatch()
			const watched = shortDeadlines.after(SLOW_BATCH, done)
			const release = (): void => {
				lease.release()
				shortDeadlines.delete(watched)
				done()
			}
			const [first, ...others] = inserts
			if (first === undefined) release()
			else if (others.length > 0 && takesStatements(lease.client))
				this.#runBatch(lease, first.input.text, inserts, release)
			else {
				this.#connections.run(first, lease, true, release)
				for (const other of others) this.#sendAlone(other)
			}
		}
		const fail = (error: NoConnection): void => {
			// After a timeout (no cause), each insert expires by its own deadline. Other errors reject the inserts that were
			// queued when the connection was requested, not later ones.
			if (error.cause !== undefined) for (const insert of takeBatch(latest)) insert.reject(error)
			done()
		}
		this.#connections.acquire(sendOn, fail)
	}

	#runBatch(lease: Lease, text: string, inserts: readonly Insert[], release: () => void): void {
		const lists = inserts.map(({ input }) => input.values)
		this.#connections.runBatch(lease, text, lists, (error, results) => {
			if (LOCKED.has(codeOf(error))) this.#aloneUntil = steadyClock() + ALONE
			release()
			for (const [at, insert] of inserts.entries()) {
				const rows = results?.[at]
				if (rows !== undefined) insert.resolve(rows)
				// All inserts were rolled back. Sent again one by one, each gets its own error.
				else if (error !== undefined && !isBreaking(error)) this.#sendAlone(insert)
				else insert.reject(error ?? new NoAnswer())
			}
		})
	}

	/** Sends an insert on its own, within the rest of its connect timeout. */
	#sendAlone(insert: Insert): void {
		const { reject } = insert
		const timeLeft = insert.due - this.#connections.deadlines.clock()
		if (timeLeft <= 0) {
			reject(new NoConnection())
			return
		}
		const send = (lease: Lease): void => this.#connections.run(insert, lease, true, () => lease.release())
		this.#connections.acquire(send, reject, timeLeft)
	}
}
