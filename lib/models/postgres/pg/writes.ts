/**
 * `PgWrites`: group commit for inserts and updates on pg. Concurrent ones with the same text are sent in one transaction,
 * so the server syncs its disk only once. If one of them fails, all are rolled back and sent again one by one, so that no
 * request gets the error of another. Used by `driver.ts`.
 */

import { type Milliseconds, steadyClock } from '../../../base/time.ts'
import { BatchQueue, Pending, type TakeBatch } from '../../sql/batch-queue.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NoConnection } from '../../sql/pool.ts'
import { codeOf } from '../errors.ts'
import { arrayOfBound } from '../types.ts'
import { type PgConnections, SLOW_BATCH } from './connections.ts'
import { isBreaking, type Lease } from './pool.ts'
import { takesStatements } from './statement.ts'

/** Maximum number of writes per transaction, which holds the locks of all of them until its end. */
const MAX_BATCH = 32
/** How long writes are sent alone after a batch had to wait for a lock. */
const ALONE: Milliseconds = 5_000
/** SQLSTATEs: cancelled, deadlock, lock not available. */
const LOCKED: ReadonlySet<unknown> = new Set(['57014', '40P01', '55P03'])

type Write = Pending<Statement, Rows>

export class PgWrites {
	readonly #connections: PgConnections
	/** Queues by the writes' text. */
	readonly #queues = new Map<string, BatchQueue<Write>>()
	#aloneUntil: Milliseconds = 0

	constructor(connections: PgConnections) {
		this.#connections = connections
	}

	query(statement: Statement): Promise<Rows> {
		if (this.#aloneUntil > steadyClock()) return this.#connections.query(statement)
		const queue = this.#queues.get(statement.text) ?? this.#addQueue(statement.text)
		return new Promise((resolve, reject) => queue.add(new Pending(statement, resolve, reject)))
	}

	#addQueue(text: string): BatchQueue<Write> {
		const queue = new BatchQueue<Write>(MAX_BATCH, {
			begin: (write) => this.#begin(write),
			send: (take) => new Promise<void>((done) => this.#send(take, done)),
			idle: () => this.#queues.delete(text),
		})
		this.#queues.set(text, queue)
		return queue
	}

	#begin(write: Write): void {
		write.due = this.#connections.latest
		this.#connections.deadlines.add(write)
	}

	/** Takes the batch when there is a connection. Calls `done` when the connection is free, or the batch is slow. */
	#send(take: TakeBatch<Write>, done: () => void): void {
		const { latest, deadlines, shortDeadlines } = this.#connections
		const takeBatch = (until?: Milliseconds): readonly Write[] => {
			const writes = take(until)
			for (const write of writes) deadlines.delete(write)
			return writes
		}
		const sendOn = (lease: Lease): void => {
			const writes = takeBatch()
			const watched = shortDeadlines.after(SLOW_BATCH, done)
			const release = (): void => {
				lease.release()
				shortDeadlines.delete(watched)
				done()
			}
			const [first, ...others] = writes
			if (first === undefined) release()
			else if (others.length > 0 && takesStatements(lease.client))
				this.#runBatch(lease, first.input.text, writes, release)
			else {
				this.#connections.run(first, lease, true, release)
				for (const other of others) this.#sendAlone(other)
			}
		}
		const fail = (error: NoConnection): void => {
			// After a timeout (no cause), each write expires by its own deadline. Other errors reject the writes that were
			// queued when the connection was requested, not later ones.
			if (error.cause !== undefined) for (const write of takeBatch(latest)) write.reject(error)
			done()
		}
		this.#connections.acquire(sendOn, fail)
	}

	#runBatch(lease: Lease, text: string, taken: readonly Write[], release: () => void): void {
		const writes = taken.toSorted((a, b) => compare(a.input.locks, b.input.locks))
		const lists = writes.map(({ input }) => input.values)
		const ofAll = areDistinct(writes) ? writes[0]?.input.ofAll?.() : undefined
		const arrays = ofAll === undefined ? lists : [arraysOf(lists)]
		this.#connections.runBatch(lease, ofAll ?? text, arrays, (error, results) => {
			if (LOCKED.has(codeOf(error))) this.#aloneUntil = steadyClock() + ALONE
			release()
			const each =
				ofAll === undefined || results === undefined ? results : splitRows(results[0], writes.length)
			for (const [at, write] of writes.entries()) {
				const rows = each?.[at]
				if (rows !== undefined) write.resolve(rows)
				// After an error all writes were rolled back. Sent again one by one, each gets its own error.
				else if (error === undefined || !isBreaking(error)) this.#sendAlone(write)
				else write.reject(error)
			}
		})
	}

	/** Sends a write on its own, within the rest of its connect timeout. */
	#sendAlone(write: Write): void {
		const { reject } = write
		const timeLeft = write.due - this.#connections.deadlines.clock()
		if (timeLeft <= 0) {
			reject(new NoConnection())
			return
		}
		const send = (lease: Lease): void => this.#connections.run(write, lease, true, () => lease.release())
		this.#connections.acquire(send, reject, timeLeft)
	}
}

/** Whether no two of the writes, in the order of their locks, are for the same record. */
function areDistinct(writes: readonly Write[]): boolean {
	return writes.every(({ input }, at) => at === 0 || input.locks !== writes[at - 1]?.input.locks)
}

/** One array for each placeholder, with the values of all statements. */
function arraysOf(lists: readonly (readonly unknown[])[]): readonly string[] {
	const [first = []] = lists
	return first.map((_, at) => arrayOfBound(lists.map((values) => values[at])))
}

/**
 * Splits the rows of a statement for several writes. `undefined` for a write that has changed nothing: there is no such record,
 * or another of the writes has changed it by another spelling of its id.
 */
function splitRows(all: Rows | undefined, length: number): readonly (Rows | undefined)[] {
	const each: (Rows | undefined)[] = Array.from({ length }, () => undefined)
	for (const row of all?.rows ?? []) each[Number(row.at(-1)) - 1] = { rows: [row], affected: 1 }
	return each
}

/** All batches lock records in the same order, so that they can't deadlock. The sort is stable. */
function compare(a = '', b = ''): number {
	return a < b ? -1 : a > b ? 1 : 0
}
