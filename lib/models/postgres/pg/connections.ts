/**
 * `PgConnections`: checks connections out of a pg `Pool` and runs statements on them. Unlike `pool.query` it keeps a
 * connection after an error that concerns only the statement, doesn't send statements whose caller has timed out, and
 * abandons connections that don't respond. Used by `driver.ts` and `writes.ts`.
 */
import { Deadlines } from '../../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../../base/time.ts'
import type { Pending } from '../../sql/batch-queue.ts'
import { type Rows, SetupError, type Statement } from '../../sql/driver.ts'
import { NoAnswer, type NoConnection, Renewal, WaitQueue } from '../../sql/pool.ts'
import { isKept } from '../../sql/text-cache.ts'
import type { PoolUsage } from '../../usage.ts'
import { codeOf, isMixedUp, isReadOnly, READ_TIMEOUT } from '../errors.ts'
import { cancel } from './cancel.ts'
import { isBreaking, Lease, type PgCallback, type PgPool, type PgQuery, type PgResult } from './pool.ts'
import { PgAfter, PgBatch, PgStatement, takesStatements } from './statement.ts'
import { namesOf, type StatementNames } from './statement-names.ts'

/** Share of the model's timeout for getting a connection. */
const CONNECT_SHARE = 0.7
/**
 * Timeout of a batch, as a share of the model's timeout; then its statements are sent one by one. Less than
 * PostgreSQL's `deadlock_timeout` (1 s by default): a batch holds the locks of all its statements, so two batches may
 * deadlock.
 */
const BATCH_SHARE = 0.25
const MAX_BATCH_TIME: Milliseconds = 500
/** A batch that takes longer is assumed to wait for a lock; the next batch is sent without waiting for it. */
export const SLOW_BATCH: Milliseconds = 100

/** A statement with the callbacks of its promise. */
interface PgQueried extends Pick<Pending<Statement, Rows>, 'input' | 'resolve' | 'reject'> {
	/** Sets up the statement's transaction; only for clients where `takesStatements` is true. */
	readonly setup?: Statement
}

/** Called once, with an error or the result. */
export type Done<T> = (error: Error | undefined, result: T | undefined) => void

export class PgConnections {
	readonly #connectTimeout: Milliseconds
	readonly #pool: PgPool
	readonly #waiting: WaitQueue<Lease>
	readonly #renewal: Renewal
	readonly #names: StatementNames
	readonly deadlines: Deadlines
	/** For batches. */
	readonly shortDeadlines = new Deadlines(steadyClock, SLOW_BATCH)
	readonly #timeout: Milliseconds

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#pool = pool
		this.#renewal = Renewal.of(pool)
		this.#names = namesOf(pool)
		this.#timeout = timeoutSeconds * 1000
		this.#connectTimeout = this.#timeout * CONNECT_SHARE
		// Checked so often that these deadlines expire before the model's own timeout, whose error says less.
		this.deadlines = new Deadlines(steadyClock, this.#timeout / 2)
		this.#waiting = new WaitQueue<Lease>(
			this.deadlines,
			(callback) => this.#connect(callback),
			(lease) => lease.release(),
		)
		// When the server stops, a pool emits 'error' for each idle connection, which ends the process if there is no
		// listener. The pool replaces the connections by itself.
		if (pool.listenerCount('error') === 0) pool.on('error', () => {})
	}

	/** The pool's state; `undefined` for pools that don't tell it, as those of older versions of pg. */
	get usage(): PoolUsage | undefined {
		const { totalCount, idleCount, options } = this.#pool
		if (idleCount === undefined || options?.max === undefined) return undefined
		const counts = { waiting: this.#waiting.size, inUse: totalCount - idleCount, max: options.max }
		return { pool: this.#pool, system: 'postgresql', ...counts }
	}

	acquire(
		resolve: (lease: Lease) => void,
		reject: (error: NoConnection) => void,
		time = this.#connectTimeout,
	): void {
		this.#waiting.acquire(resolve, reject, time)
	}

	/** Closes the existing connections when they are next used. */
	renew(): void {
		this.#renewal.renew()
	}

	#connect(callback: (error: unknown, lease?: Lease) => void): void {
		this.#pool.connect((error, client, release) => {
			if (client === undefined) callback(error)
			else if (this.#renewal.isFresh(client)) callback(error, new Lease(client, release))
			else {
				release(new Error('its server became read-only in a failover, or has fallen silent'))
				this.#connect(callback)
			}
		})
	}

	/** Runs a statement on a connection of its own. Uses one promise: one per step would double the cost of a query. */
	query(statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			const queried = { input: statement, resolve, reject }
			this.acquire((lease) => this.run(queried, lease, true, () => lease.release()), reject)
		})
	}

	/** The deadline for getting a connection, for an item that is queued now. */
	get latest(): Milliseconds {
		return this.deadlines.clock() + this.#connectTimeout
	}

	/**
	 * Runs a statement, calls `release`, and settles the promise. With `mayRepeat` (not in a transaction), runs it again if
	 * only its prepared statement was outdated.
	 */
	run(
		{ input: statement, setup, resolve, reject }: PgQueried,
		lease: Lease,
		mayRepeat: boolean,
		release?: () => void,
	): void {
		// Statements without values aren't prepared: it would save nothing, and a `begin` that fails behind a pooler
		// couldn't be repeated.
		const name = this.#nameOf(statement)
		const settle: Done<Rows> = (error, rows) => {
			release?.()
			if (rows === undefined) reject(error)
			else resolve(rows)
		}
		this.#send(lease, statement, name, setup, (error, rows) => {
			const cause = error instanceof SetupError ? error.cause : error
			const mayBeOutdated = cause !== undefined && (name ?? setup) !== undefined
			const isOutdated = mayBeOutdated && this.#isOutdated(cause, statement.text, name ?? '')
			if (isOutdated && mayRepeat) this.#send(lease, statement, this.#names.of(statement.text), setup, settle)
			else settle(error, rows)
		})
	}

	/** The name by which a statement is prepared; `undefined` if it isn't. */
	#nameOf(statement: Statement): string | undefined {
		return statement.values.length > 0 && isKept(statement) ? this.#names.of(statement.text) : undefined
	}

	/**
	 * Executes one text with several lists of values in one transaction, for clients where `takesStatements` is true.
	 * After an error nothing is stored, unless the lease is broken: then the outcome is unknown. A batch that takes too
	 * long is cancelled: it may wait for a lock that only one of its statements needs.
	 */
	runBatch(
		lease: Lease,
		text: string,
		lists: readonly (readonly unknown[])[],
		done: Done<readonly Rows[]>,
	): void {
		const name = this.#names.of(text)
		const time = Math.min(this.#timeout * BATCH_SHARE, MAX_BATCH_TIME)
		const timeout = this.shortDeadlines.after(time, () => {
			cancel(lease.client)
			// The connection is closed, because a late cancel request could hit its next statement.
			lease.markBroken(new Error('a batch of statements took too long and was cancelled'))
		})
		let batch: PgBatch | undefined
		const submit = (callback: PgCallback): void => {
			batch = new PgBatch(text, name ?? '', this.#names, lists, callback)
			lease.client.query(batch)
		}
		this.#submit(lease, submit, (error) => {
			this.shortDeadlines.delete(timeout)
			if (error !== undefined && name !== undefined) this.#isOutdated(error, text, name)
			done(error, error === undefined ? batch?.results : undefined)
		})
	}

	/** Whether an error concerns only the prepared statement; if so, later statements don't use it. */
	#isOutdated(error: unknown, text: string, name: string): boolean {
		if (codeOf(error) === '0A000' && String(error).includes('cached plan')) this.#names.renew(text, name)
		else if (isMixedUp(error)) this.#names.turnOff()
		else return false
		return true
	}

	#send(
		lease: Lease,
		statement: Statement,
		name: string | undefined,
		setup: Statement | undefined,
		done: Done<Rows>,
	): void {
		let after: PgAfter | undefined
		const submit = (callback: PgCallback): void => {
			const { text, values } = statement
			if (setup !== undefined) {
				const first = { statement: setup, name: this.#nameOf(setup) ?? '' }
				after = new PgAfter(first, { statement, name: name ?? '' }, this.#names, callback)
				lease.client.query(after)
				return
			}
			if (takesStatements(lease.client)) {
				lease.client.query(new PgStatement(text, name ?? '', this.#names, [values], callback))
				return
			}
			if (name !== undefined && this.#names.mustRenew()) this.renew()
			const rowMode = 'array'
			const query: PgQuery = name === undefined ? { text, rowMode } : { text, rowMode, name }
			lease.client.query(query, [...values], callback)
		}
		this.#submit(lease, submit, (error, result) => {
			if (error === undefined) done(undefined, rowsOf(result))
			// After a lost connection it isn't known what was done.
			else done(after?.isSetUp === false && !isBreaking(error) ? new SetupError(error) : error, undefined)
		})
	}

	/** Calls `done` once: later results are ignored. */
	#submit(lease: Lease, submit: (callback: PgCallback) => void, done: Done<PgResult>): void {
		if (lease.broken !== undefined) {
			done(lease.broken, undefined)
			return
		}
		let isDone = false
		const callback = (error: Error | null, result: PgResult | undefined) => {
			if (isDone) return lease.endHold()
			isDone = true
			this.deadlines.delete(item)
			if (error === null || error === undefined) {
				done(undefined, result)
				return
			}
			if (isBreaking(error)) lease.markBroken(error)
			if (isReadOnly(error)) this.renew()
			// After its `query_timeout`, pg doesn't report how the statement ends.
			if (error.message === READ_TIMEOUT) this.#abandon(lease)
			done(error, undefined)
		}
		const item = this.deadlines.after(this.#timeout, () => {
			this.#abandon(lease)
			callback(new NoAnswer(), undefined)
		})
		try {
			submit(callback)
		} catch (error) {
			callback(error instanceof Error ? error : new Error(String(error), { cause: error }), undefined)
		}
	}

	/** Other connections to a silent server would be found out one after the other, each by a statement that times out. */
	#abandon(lease: Lease): void {
		lease.abandon(this.deadlines, () => this.renew())
	}
}

function rowsOf(result: PgResult | undefined): Rows {
	return { rows: result?.rows ?? [], affected: result?.rowCount ?? 0 }
}
