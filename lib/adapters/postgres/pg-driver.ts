/**
 * The `Driver` for a `Pool` of pg. Unlike `pool.query` it keeps a connection when a statement was merely
 * refused, never runs a statement that nobody waits for any more, and gives up connections that are silent.
 */
import { Deadlines, type Due } from '../../deadlines.ts'
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { Lending } from '../../sql/lending.ts'
import { isKept } from '../../sql/prepared.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../time.ts'
import { NotSent, Unanswered } from './failure.ts'
import { cancel } from './pg-cancel.ts'
import type { PgClient, PgPool, PgQuery, PgResult } from './pg-pool.ts'
import { PgStatement, takesStatements } from './pg-statement.ts'
import { StatementNames } from './statement-names.ts'
import { command, type Run, within } from './within.ts'

/** Of the time that a model waits, the part within which a connection must be had. */
const CONNECTING = 0.7

export class PgDriver implements Driver {
	readonly #lending: Lending<Lease>
	readonly #names = new StatementNames()
	readonly #deadlines: Deadlines
	readonly #most: Milliseconds

	constructor(pool: PgPool, timeoutSeconds: Seconds) {
		this.#lending = new Lending<Lease>(
			(got) => pool.connect((error, client, release) => got(error, leaseOf(client, release))),
			(lease) => lease.release(),
		)
		this.#most = timeoutSeconds * 1000
		// Noticed so early that the model, which would have to say that nobody knows, has not lost its own patience.
		this.#deadlines = new Deadlines(steadyClock, this.#most / 2)
		// When the server stops, a pool emits 'error' for each idle connection, and without a listener that ends
		// the process. The pool replaces the connections by itself; who wants to know adds a listener before.
		if (pool.listenerCount('error') === 0) pool.on('error', ignore)
	}

	/** One promise for all its steps: with one for each, and what waits for them, a query would cost twice as much. */
	query(statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			this.#borrow((lease) => {
				this.#run(lease, statement, true, (error, rows) => {
					lease.release()
					if (rows === undefined) reject(error)
					else resolve(rows)
				})
			}, reject)
		})
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const lease = await new Promise<Lease>((resolve, reject) => this.#borrow(resolve, reject))
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

	/** Fails by NotSent when there is none in time. */
	#borrow(lend: (lease: Lease) => void, fail: (error: NotSent) => void): void {
		const borrower = {
			lend: (lease: Lease) => {
				this.#deadlines.delete(item)
				lend(lease)
			},
			fail: (error: unknown) => {
				this.#deadlines.delete(item)
				fail(new NotSent(error))
			},
		}
		const item = this.#wait(this.#most * CONNECTING, () => {
			this.#lending.leave(borrower)
			fail(new NotSent(undefined))
		})
		this.#lending.join(borrower)
	}

	/** Within a transaction, which a failed statement has spoilt. */
	#ran(lease: Lease, statement: Statement): Promise<Rows> {
		return new Promise((resolve, reject) => {
			this.#run(lease, statement, false, (error, rows) => {
				if (rows === undefined) reject(error)
				else resolve(rows)
			})
		})
	}

	/** Runs a statement; once more, where only its preparation was at fault and no transaction is spoilt by it. */
	#run(lease: Lease, statement: Statement, mayRepeat: boolean, done: Done): void {
		const name = isKept(statement) ? this.#names.of(statement.text) : undefined
		this.#send(lease, statement, name, (error, rows) => {
			const isOutdated =
				error !== undefined && name !== undefined && this.#isOutdated(error, statement.text, name)
			if (isOutdated && mayRepeat) this.#send(lease, statement, this.#names.of(statement.text), done)
			else done(error, rows)
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

	/** Calls `done` once, whatever comes after. */
	#send(lease: Lease, { text, values }: Statement, name: string | undefined, done: Done): void {
		if (lease.broken !== undefined) {
			done(lease.broken, undefined)
			return
		}
		let isDone = false
		const answered = (error: Error | null, result: PgResult | undefined) => {
			if (isDone) return
			isDone = true
			this.#deadlines.delete(item)
			if (error === null || error === undefined) done(undefined, rowsOf(result))
			else {
				if (isBreaking(error)) lease.spoil(error)
				done(error, undefined)
			}
		}
		const item = this.#wait(this.#most, () => {
			cancel(lease.client)
			answered(new Unanswered(), undefined)
		})
		try {
			if (takesStatements(lease.client)) {
				lease.client.query(new PgStatement(text, name ?? '', values, answered))
				return
			}
			const query: PgQuery = name === undefined ? { text, rowMode: ROWS } : { text, rowMode: ROWS, name }
			lease.client.query(query, [...values], answered)
		} catch (error) {
			answered(error instanceof Error ? error : new Error(String(error), { cause: error }), undefined)
		}
	}

	#wait(most: Milliseconds, expire: () => void): Due {
		const item: Due = { due: this.#deadlines.clock() + most, expire }
		this.#deadlines.add(item)
		return item
	}
}

/** Told once: an error, or rows. */
type Done = (error: Error | undefined, rows: Rows | undefined) => void

const ROWS = 'array'

function rowsOf(result: PgResult | undefined): Rows {
	return { rows: result?.rows ?? [], affected: result?.rowCount ?? 0 }
}

const BEGIN = command('begin')
const COMMIT = command('commit')
const ROLLBACK = command('rollback')

/** A connection of the pool that is ours for a while. */
class Lease {
	readonly client: PgClient
	/** Why it can't be used any more. */
	broken: Error | undefined
	readonly #release: (error?: Error) => void

	constructor(client: PgClient, release: (error?: Error) => void) {
		this.client = client
		this.#release = release
		// While it is ours the pool doesn't listen; the statement is told of it too.
		client.on('error', ignore)
	}

	spoil(error: Error): void {
		this.broken ??= error
	}

	/** Gives it back; a broken one is closed. */
	release(): void {
		this.client.removeListener('error', ignore)
		this.#release(this.broken)
	}
}

function leaseOf(client: PgClient | undefined, release: (error?: Error) => void): Lease | undefined {
	return client === undefined ? undefined : new Lease(client, release)
}

function ignore(): void {}

/** The same, one after the other: pg will not take a statement while another is under way on its connection. */
function inTurn(run: Run): Run {
	let last: Promise<unknown> = Promise.resolve()
	return (statement) => {
		const next = last.then(() => run(statement))
		last = next.catch(ignore)
		return next
	}
}

/** Whether the connection is no good after an error: all but those of the server about a statement. */
function isBreaking(error: Error): boolean {
	const code = 'code' in error ? error.code : undefined
	if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return true
	return /^(?:08|57P|25P0[345])/.test(code)
}
