/**
 * `PgConnections`: the connections of a `Pool` of pg, and what is sent on them. Unlike `pool.query` it keeps a
 * connection when a statement was merely refused, never runs a statement that nobody waits for any more, and gives
 * up connections that are silent. Used by `pg-driver.ts` and `inserts.ts`.
 */
import { Deadlines, type Due } from '../../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../../base/time.ts'
import type { Pending } from '../../sql/batch-queue.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NoAnswer, type NoConnection, Renewal, WaitQueue } from '../../sql/pool.ts'
import { isKept } from '../../sql/text-cache.ts'
import { isReadOnly, READ_TIMEOUT } from '../errors.ts'
import { cancel } from './cancel.ts'
import { isBreaking, Lease, type PgCallback, type PgPool, type PgQuery, type PgResult } from './pool.ts'
import { PgBatch, PgStatement, takesStatements } from './statement.ts'
import { namesOf, type StatementNames } from './statement-names.ts'

/** The part of the model's timeout for getting a connection. */
const CONNECT_SHARE = 0.7
/**
 * What several statements together have, before each is given a try by itself: a part of the model's time, and less than
 * PostgreSQL waits until it looks for deadlocks (1 s by default), which those who share their locks could make.
 */
const BATCH_SHARE = 0.25
const MAX_BATCH_TIME: Milliseconds = 500
/** After this a batch is taken to wait for a lock, and the next is sent. */
const SLOW_BATCH: Milliseconds = 100

/** A statement, and the promise of its rows. */
type PgQueried = Pick<Pending<Statement, Rows>, 'input' | 'resolve' | 'reject'>

/** Called once, with an error or the answer. */
export type Done<T> = (error: Error | undefined, answer: T | undefined) => void

export class PgConnections {
	/** How long a connection is waited for. */
	readonly connectTimeout: Milliseconds
	readonly #pool: PgPool
	readonly #waiting: WaitQueue<Lease>
	readonly #renewal: Renewal
	readonly #names: StatementNames
	readonly #deadlines: Deadlines
	/** For the short deadlines. */
	readonly #shortDeadlines = new Deadlines(steadyClock, SLOW_BATCH)
	readonly #timeout: Milliseconds

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#pool = pool
		this.#renewal = Renewal.of(pool)
		this.#names = namesOf(pool)
		this.#timeout = timeoutSeconds * 1000
		this.connectTimeout = this.#timeout * CONNECT_SHARE
		// Noticed early enough that the model's own timeout, which knows less, has not ended.
		this.#deadlines = new Deadlines(steadyClock, this.#timeout / 2)
		this.#waiting = new WaitQueue<Lease>(
			this.#deadlines,
			(got) => this.#connect(got),
			(lease) => lease.release(),
		)
		// When the server stops, a pool emits 'error' for each idle connection, and without a listener that ends
		// the process. The pool replaces the connections by itself; who wants to know adds a listener before.
		if (pool.listenerCount('error') === 0) pool.on('error', ignore)
	}

	acquire(
		lend: (lease: Lease) => void,
		fail: (error: NoConnection) => void,
		time = this.connectTimeout,
	): void {
		this.#waiting.acquire(lend, fail, time)
	}

	/** Connections that were made before a failover are closed instead of being used. */
	renew(): void {
		this.#renewal.renew()
	}

	#connect(got: (error: unknown, lease?: Lease) => void): void {
		this.#pool.connect((error, client, release) => {
			if (client === undefined) got(error)
			else if (this.#renewal.isFresh(client)) got(error, new Lease(client, release))
			else {
				release(new Error('its server only reads since a failover'))
				this.#connect(got)
			}
		})
	}

	/** Starts the deadline of an item that waits to be sent. */
	begin(item: Due): void {
		item.due = this.#deadlines.clock() + this.connectTimeout
		this.#deadlines.add(item)
	}

	end(item: Due): void {
		this.#deadlines.delete(item)
	}

	/** Runs a statement on a connection of its own. One promise: with one for each step a query would cost twice as much. */
	query(statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			const queried = { input: statement, resolve, reject }
			this.acquire((lease) => this.runFor(queried, lease, () => lease.release()), reject)
		})
	}

	/** Runs a statement and settles its promise; calls `release` before. */
	runFor({ input, resolve, reject }: PgQueried, lease: Lease, release: () => void): void {
		this.run(lease, input, true, (error, rows) => {
			release()
			if (rows === undefined) reject(error)
			else resolve(rows)
		})
	}

	/** Calls `expire` when a batch takes so long that others should not wait for it. */
	watch(expire: () => void): Due {
		return wait(this.#shortDeadlines, SLOW_BATCH, expire)
	}

	unwatch(item: Due): void {
		this.#shortDeadlines.delete(item)
	}

	/** The deadline of an item that begins to wait now. */
	get latest(): Milliseconds {
		return this.#deadlines.clock() + this.connectTimeout
	}

	/** The time until the item's deadline. */
	timeLeft({ due }: Due): Milliseconds {
		return due - this.#deadlines.clock()
	}

	/** Runs a statement; once more, where only its preparation was at fault and no transaction is spoilt by it. */
	run(lease: Lease, statement: Statement, mayRepeat: boolean, done: Done<Rows>): void {
		// Commands gain nothing by it; behind a pooler, where they could fail, `begin` could not be repeated.
		const isPrepared = statement.values.length > 0 && isKept(statement)
		const name = isPrepared ? this.#names.of(statement.text) : undefined
		this.#send(lease, statement, name, (error, rows) => {
			const isOutdated =
				error !== undefined && name !== undefined && this.#isOutdated(error, statement.text, name)
			if (isOutdated && mayRepeat) this.#send(lease, statement, this.#names.of(statement.text), done)
			else done(error, rows)
		})
	}

	/**
	 * Runs one text with several lists of values, in one transaction; `takesStatements` must be true of the client.
	 * After an error nothing of it is done, unless the lease is broken: then the outcome is unknown. One that takes long is
	 * cancelled, as it may wait for a lock that only one of them needs.
	 */
	runBatch(
		lease: Lease,
		text: string,
		lists: readonly (readonly unknown[])[],
		done: Done<readonly Rows[]>,
	): void {
		const name = this.#names.of(text)
		const timeout = wait(this.#shortDeadlines, Math.min(this.#timeout * BATCH_SHARE, MAX_BATCH_TIME), () => {
			cancel(lease.client)
			// It may arrive late and hit the connection's next statement: so the connection is closed.
			lease.markBroken(new Error('what several statements waited for was cancelled'))
		})
		const results: Rows[] = []
		const submit = (callback: PgCallback): void => {
			lease.client.query(
				new PgBatch({ text, name: name ?? '', names: this.#names, lists, results }, callback),
			)
		}
		this.#submit(lease, submit, (error) => {
			this.#shortDeadlines.delete(timeout)
			if (error !== undefined && name !== undefined) this.#isOutdated(error, text, name)
			done(error, error === undefined ? results : undefined)
		})
	}

	/** Whether an error is about the prepared statement, not about the statement. */
	#isOutdated(error: unknown, text: string, name: string): boolean {
		const code = error instanceof Error && 'code' in error ? error.code : undefined
		if (code === '0A000' && String(error).includes('cached plan')) this.#names.renew(text, name)
		// It isn't there, or is there twice: a proxy has given us another connection of the server's.
		else if (code === '26000' || code === '42P05') this.#names.turnOff()
		else return false
		return true
	}

	#send(lease: Lease, statement: Statement, name: string | undefined, done: Done<Rows>): void {
		const submit = (callback: PgCallback): void => {
			if (takesStatements(lease.client)) {
				lease.client.query(new PgStatement(statement, name ?? '', this.#names, callback))
				return
			}
			if (name !== undefined && this.#names.mustRenew()) this.renew()
			const { text, values } = statement
			const query: PgQuery = name === undefined ? { text, rowMode: ROWS } : { text, rowMode: ROWS, name }
			lease.client.query(query, [...values], callback)
		}
		this.#submit(lease, submit, (error, result) => {
			done(error, error === undefined ? rowsOf(result) : undefined)
		})
	}

	/** Calls `done` once, whatever comes after. */
	#submit(lease: Lease, submit: (callback: PgCallback) => void, done: Done<PgResult>): void {
		if (lease.broken !== undefined) {
			done(lease.broken, undefined)
			return
		}
		let isDone = false
		const callback = (error: Error | null, result: PgResult | undefined) => {
			if (isDone) return lease.endHold()
			isDone = true
			this.#deadlines.delete(item)
			if (error === null || error === undefined) {
				done(undefined, result)
				return
			}
			if (isBreaking(error)) lease.markBroken(error)
			if (isReadOnly(error)) this.renew()
			// pg's `query_timeout` has ended, and pg doesn't tell what becomes of the statement.
			if (error.message === READ_TIMEOUT) lease.abandon(this.#deadlines)
			done(error, undefined)
		}
		const item = wait(this.#deadlines, this.#timeout, () => {
			lease.abandon(this.#deadlines)
			callback(new NoAnswer(), undefined)
		})
		try {
			submit(callback)
		} catch (error) {
			callback(error instanceof Error ? error : new Error(String(error), { cause: error }), undefined)
		}
	}
}

function wait(deadlines: Deadlines, time: Milliseconds, expire: () => void): Due {
	const item: Due = { due: deadlines.clock() + time, expire }
	deadlines.add(item)
	return item
}

const ROWS = 'array'

function rowsOf(result: PgResult | undefined): Rows {
	return { rows: result?.rows ?? [], affected: result?.rowCount ?? 0 }
}

function ignore(): void {}
