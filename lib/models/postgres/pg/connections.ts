/**
 * `PgConnections`: the connections of a `Pool` of pg, and what is sent on them. Unlike `pool.query` it keeps a
 * connection when a statement was merely refused, never runs a statement that nobody waits for any more, and gives
 * up connections that are silent. Used by `pg-driver.ts` and `inserts.ts`.
 */
import { Deadlines, type Due } from '../../../base/deadlines.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../../base/time.ts'
import type { Waiting } from '../../sql/batch-queue.ts'
import type { Rows, Statement } from '../../sql/driver.ts'
import { NoAnswer, type NoConnection, Renewal, WaitQueue } from '../../sql/pool.ts'
import { isKept, sharedBy } from '../../sql/text-cache.ts'
import { isReadOnly, READ_TIMEOUT } from '../errors.ts'
import { cancel } from './cancel.ts'
import { isBreaking, Lease, type PgCallback, type PgPool, type PgQuery, type PgResult } from './pool.ts'
import { PgBatch, PgStatement, takesStatements } from './statement.ts'
import { namesOf, type StatementNames } from './statement-names.ts'

/** The part of the model's timeout for getting a connection. */
const CONNECTING = 0.7
/**
 * What several statements together have, before each is given a try by itself: a part of the model's time, and less than
 * PostgreSQL waits until it looks for deadlocks (1 s by default), which those who share their locks could make.
 */
const TOGETHER = 0.25
const MOST_TOGETHER: Milliseconds = 500
/** After this a batch is taken to wait for a lock, and the next is sent. */
const HELD_UP: Milliseconds = 100

const RENEWAL: unique symbol = Symbol('verbena.renewal')

/** A statement, and the promise of its rows. */
type PgQueried = Pick<Waiting<Statement, Rows>, 'question' | 'resolve' | 'reject'>

/** Called once, with an error or the answer. */
export type Done<T> = (error: Error | undefined, answer: T | undefined) => void

export class PgConnections {
	/** How long a connection is waited for. */
	readonly connecting: Milliseconds
	readonly #pool: PgPool
	readonly #waiting: WaitQueue<Lease>
	readonly #renewal: Renewal
	readonly #names: StatementNames
	readonly #deadlines: Deadlines
	/** For the short deadlines. */
	readonly #soon = new Deadlines(steadyClock, HELD_UP)
	readonly #most: Milliseconds

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#pool = pool
		this.#renewal = sharedBy(pool, RENEWAL, Renewal)
		this.#names = namesOf(pool)
		this.#most = timeoutSeconds * 1000
		this.connecting = this.#most * CONNECTING
		// Noticed early enough that the model's own timeout, which knows less, has not ended.
		this.#deadlines = new Deadlines(steadyClock, this.#most / 2)
		this.#waiting = new WaitQueue<Lease>(
			this.#deadlines,
			(got) => this.#connect(got),
			(lease) => lease.release(),
		)
		// When the server stops, a pool emits 'error' for each idle connection, and without a listener that ends
		// the process. The pool replaces the connections by itself; who wants to know adds a listener before.
		if (pool.listenerCount('error') === 0) pool.on('error', ignore)
	}

	borrow(lend: (lease: Lease) => void, fail: (error: NoConnection) => void, time = this.connecting): void {
		this.#waiting.borrow(lend, fail, time)
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
		item.due = this.#deadlines.clock() + this.connecting
		this.#deadlines.add(item)
	}

	end(item: Due): void {
		this.#deadlines.delete(item)
	}

	/** Runs a statement on a connection of its own. One promise: with one for each step a query would cost twice as much. */
	query(statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			const queried = { question: statement, resolve, reject }
			this.borrow((lease) => this.runFor(queried, lease, () => lease.release()), reject)
		})
	}

	/** Runs a statement and settles its promise; calls `release` before. */
	runFor({ question, resolve, reject }: PgQueried, lease: Lease, release: () => void): void {
		this.run(lease, question, true, (error, rows) => {
			release()
			if (rows === undefined) reject(error)
			else resolve(rows)
		})
	}

	/** Calls `expire` when a batch takes so long that others should not wait for it. */
	watch(expire: () => void): Due {
		return wait(this.#soon, HELD_UP, expire)
	}

	unwatch(item: Due): void {
		this.#soon.delete(item)
	}

	/** The deadline of an item that begins to wait now. */
	get latest(): Milliseconds {
		return this.#deadlines.clock() + this.connecting
	}

	/** The time until the item's deadline. */
	left({ due }: Due): Milliseconds {
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
	runTogether(
		lease: Lease,
		text: string,
		lists: readonly (readonly unknown[])[],
		done: Done<readonly Rows[]>,
	): void {
		const name = this.#names.of(text)
		const timeout = wait(this.#soon, Math.min(this.#most * TOGETHER, MOST_TOGETHER), () => {
			cancel(lease.client)
			// It may arrive late and hit the connection's next statement: so the connection is closed.
			lease.spoil(new Error('what several statements waited for was cancelled'))
		})
		const results: Rows[] = []
		const submit = (told: PgCallback): void => {
			lease.client.query(new PgBatch({ text, name: name ?? '', names: this.#names, lists, results }, told))
		}
		this.#submit(lease, submit, (error) => {
			this.#soon.delete(timeout)
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
		const submit = (told: PgCallback): void => {
			if (takesStatements(lease.client)) {
				lease.client.query(new PgStatement(statement, name ?? '', this.#names, told))
				return
			}
			if (name !== undefined && this.#names.mustRenew()) this.renew()
			const { text, values } = statement
			const query: PgQuery = name === undefined ? { text, rowMode: ROWS } : { text, rowMode: ROWS, name }
			lease.client.query(query, [...values], told)
		}
		this.#submit(lease, submit, (error, result) => {
			done(error, error === undefined ? rowsOf(result) : undefined)
		})
	}

	/** Calls `done` once, whatever comes after. */
	#submit(lease: Lease, submit: (told: PgCallback) => void, done: Done<PgResult>): void {
		if (lease.broken !== undefined) {
			done(lease.broken, undefined)
			return
		}
		let isDone = false
		const told = (error: Error | null, result: PgResult | undefined) => {
			if (isDone) return lease.letGo()
			isDone = true
			this.#deadlines.delete(item)
			if (error === null || error === undefined) {
				done(undefined, result)
				return
			}
			if (isBreaking(error)) lease.spoil(error)
			if (isReadOnly(error)) this.renew()
			// pg's `query_timeout` has ended, and pg doesn't tell what becomes of the statement.
			if (error.message === READ_TIMEOUT) lease.giveUp(this.#deadlines)
			done(error, undefined)
		}
		const item = wait(this.#deadlines, this.#most, () => {
			lease.giveUp(this.#deadlines)
			told(new NoAnswer(), undefined)
		})
		try {
			submit(told)
		} catch (error) {
			told(error instanceof Error ? error : new Error(String(error), { cause: error }), undefined)
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
