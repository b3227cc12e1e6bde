/**
 * The `Driver` for a `sql` of postgres.js. What is still in its queue when nobody waits for it any more is taken
 * out: it would be run later, though its client has been told that it wasn't.
 */
import { Deadlines, type Due } from '../../deadlines.ts'
import type { Driver, Rows, Statement } from '../../sql/driver.ts'
import { isKept } from '../../sql/prepared.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../../time.ts'
import { StatementNames } from './statement-names.ts'

/** What is called of a `sql`, and of the one within a transaction. */
export interface PostgresJsQueryable {
	unsafe(text: string, values: never[], options: { readonly prepare: boolean }): { values(): PostgresJsQuery }
}

/** A statement of its, which it sends when it is first waited for. */
export interface PostgresJsQuery extends PromiseLike<unknown[][] & { readonly count: number | null }> {
	cancel(): void
}

export interface PostgresJsSql extends PostgresJsQueryable {
	begin(work: (sql: PostgresJsTransaction) => Promise<unknown>): Promise<unknown>
	readonly options: object
}

export interface PostgresJsTransaction extends PostgresJsQueryable {
	savepoint(work: (sql: PostgresJsTransaction) => Promise<unknown>): Promise<unknown>
}

/** Of the time that a model waits, the part within which a statement must have been sent. */
const SENDING = 0.7

export class PostgresJsDriver implements Driver {
	readonly #sql: PostgresJsSql
	readonly #deadlines: Deadlines
	readonly #most: Milliseconds
	/** It names statements itself, but would prepare any number of them. */
	readonly #names = new StatementNames()

	constructor(sql: PostgresJsSql, timeoutSeconds: Seconds) {
		this.#sql = sql
		this.#most = timeoutSeconds * 1000 * SENDING
		// Noticed so early that the model, which would have to say that nobody knows, has not lost its own patience.
		this.#deadlines = new Deadlines(steadyClock, this.#most / 2)
	}

	async query(statement: Statement): Promise<Rows> {
		try {
			return await this.#run(this.#sql, statement)
		} catch (error) {
			comeBackSoon(this.#sql)
			throw error
		}
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		try {
			return await this.#scope((scope) => this.#sql.begin(scope), work)
		} catch (error) {
			comeBackSoon(this.#sql)
			throw error
		}
	}

	/** Its savepoints are its own: after a failure it rolls back all that they don't hold. */
	async #scope<T>(
		open: (scope: (sql: PostgresJsTransaction) => Promise<void>) => Promise<unknown>,
		work: (driver: Driver) => Promise<T>,
	): Promise<T> {
		// In a box, as postgres.js would wait for the members of an array.
		const done: T[] = []
		await open(async (sql) => {
			const inner: Driver = {
				query: (statement) => this.#run(sql, statement),
				transaction: (nested) => this.#scope((scope) => sql.savepoint(scope), nested),
			}
			done.push(await work(inner))
		})
		// Without it `open` would have rejected.
		return done[0] as T
	}

	async #run(sql: PostgresJsQueryable, statement: Statement): Promise<Rows> {
		const { text, values } = statement
		const prepare = isKept(statement) && this.#names.of(text) !== undefined
		// Its types want values that it knows; what we bind are texts, booleans and Buffers.
		const query = sql.unsafe(text, [...values] as never[], { prepare }).values()
		const item: Due = { due: this.#deadlines.clock() + this.#most, expire: () => cancelUnsent(query) }
		this.#deadlines.add(item)
		try {
			const rows = await query
			return { rows, affected: rows.count ?? 0 }
		} finally {
			this.#deadlines.delete(item)
		}
	}
}

/**
 * Its `state` is null until it is sent. One that was sent is left alone: it would be cancelled through another
 * connection, and where that fails, by a rejection that nobody can catch. One for which a connection is being
 * made isn't in the queue; postgres.js would skip it when the connection is there, and never use the connection.
 * So it isn't to be skipped, but nothing is left of it that does anything.
 */
function cancelUnsent(query: PostgresJsQuery): void {
	if (Reflect.get(query, 'state') !== null || !('strings' in query && 'args' in query)) return
	query.cancel()
	Object.assign(query, { strings: ['select 1'], args: [], cancelled: null })
}

/**
 * After each connection that it couldn't have, postgres.js waits longer, up to 20 seconds, before it tries
 * again, while requests are there that could be answered. What it counts by is put back.
 */
function comeBackSoon({ options }: PostgresJsSql): void {
	const shared: unknown = Reflect.get(options, 'shared')
	if (typeof shared === 'object' && shared !== null && 'retries' in shared) shared.retries = 0
}
