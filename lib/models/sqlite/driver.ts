/**
 * `SqliteDriver`: one connection for all models of a database, over node:sqlite, better-sqlite3 or libsql. Statements run
 * synchronously, in this thread. While a transaction is open, other statements wait: on the same connection they would
 * become part of it.
 */
import { attached } from '../../base/attached.ts'
import { hasMethods, refusal } from '../../base/options.ts'
import type { Milliseconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { isKept, PreparedTexts } from '../sql/text-cache.ts'
import { runTransaction, type Session } from '../sql/transaction.ts'
import { Turn } from '../sql/turn.ts'
import { isReadOnly } from './errors.ts'

const DRIVER: unique symbol = Symbol.for('verbena.sqlite.driver')

/** The one driver of a database: models share its connection, and must wait for each other's transactions. */
export function driverOf(database: SqliteDatabase): SqliteDriver {
	return attached(database, DRIVER, () => new SqliteDriver(database))
}

export class SqliteDriver implements Driver {
	readonly #database: SqliteDatabase
	readonly #prepared = new PreparedTexts<Prepared>()
	/** Whether the file was writable when the driver was created. */
	readonly isWritable: boolean
	readonly #turn = new Turn()

	constructor(database: SqliteDatabase) {
		this.#database = database
		this.isWritable = this.readOnlyError() === undefined
	}

	async query(statement: Statement, isGivenUp?: () => boolean): Promise<Rows> {
		return this.#turn.after(async () => this.run(statement), isGivenUp)
	}

	get isTaken(): boolean {
		return this.#turn.isTaken
	}

	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const session: Session = {
			run: async (statement) => this.run(statement),
			control: (text) => this.#database.exec(text),
			leaves: () => 'everything',
			connection: this.#database,
		}
		// If the rollback fails, SQLite has rolled back already (on a full disk, for example).
		return this.#turn.take(() => runTransaction(session, work, () => {}, 'begin immediate'))
	}

	/** Runs a statement without waiting for an open transaction. */
	run(statement: Statement): Rows {
		const { text, values } = statement
		if (isClosed(this.#database)) {
			// If the database is reopened, statements prepared before can't be used.
			this.#prepared.clear()
			throw new ModelError('unavailable')
		}
		const prepared = isKept(statement) ? this.#prepare(text) : prepare(this.#database, text)
		const answer = prepared.run(values)
		if (typeof answer === 'number') return { rows: [], affected: answer }
		return { rows: answer, affected: answer.length }
	}

	/**
	 * The error of a write to a read-only file. `undefined` if the file is writable, or if that can't be tested now because
	 * it is locked or a transaction is open. Doesn't wait for locks.
	 */
	readOnlyError(): unknown {
		if (this.#turn.isTaken) return undefined
		const wait = this.#lockWait()
		try {
			if (wait > 0) this.#database.exec('pragma busy_timeout = 0')
			this.#testWrite()
			return undefined
		} catch (error) {
			return isReadOnly(error) ? error : undefined
		} finally {
			if (wait > 0) this.#tryExec(`pragma busy_timeout = ${wait}`)
		}
	}

	/** Writes the present `user_version` again, and rolls back: only a write shows whether the file is writable. */
	#testWrite(): void {
		this.#database.exec('begin immediate')
		try {
			const { rows } = this.run({ text: 'pragma user_version', values: [], writes: false })
			this.#database.exec(`pragma user_version = ${Number(rows[0]?.[0])}`)
		} finally {
			this.#tryExec('rollback')
		}
	}

	/** Sets a `busy_timeout` unless there is one: without it, a lock held by another process is an error at once. */
	waitForLocks(time: Milliseconds): void {
		if (this.#lockWait() === 0) this.#database.exec(`pragma busy_timeout = ${time}`)
	}

	#lockWait(): Milliseconds {
		const { rows } = this.run({ text: 'pragma busy_timeout', values: [], writes: false })
		return Number(rows[0]?.[0])
	}

	#tryExec(sql: string): void {
		try {
			this.#database.exec(sql)
		} catch {
			// SQLite has rolled back already (on a full disk, for example); the caller's error says more.
		}
	}

	#prepare(text: string): Prepared {
		const kept = this.#prepared.get(text)
		if (kept !== undefined) return kept
		const prepared = prepare(this.#database, text)
		if (this.#prepared.isSeenAgain(text)) this.#prepared.add(text, prepared)
		return prepared
	}
}

/** `DatabaseSync` of node:sqlite (Node 22.16 or later), or `Database` of better-sqlite3 or libsql. */
export interface SqliteDatabase {
	/** Whether the database is open, in better-sqlite3 and libsql; a method in node:sqlite. */
	readonly open?: unknown
	/** Whether the database is open, in node:sqlite. */
	readonly isOpen?: unknown
	prepare(sql: string): object
	exec(sql: string): unknown
}

const DATABASES = 'a DatabaseSync of node:sqlite, or a Database of better-sqlite3 or libsql'

/** A prepared statement of any of these drivers. */
interface Prepared {
	/** Returns rows as arrays, with integers as bigint; for a statement without a result, the number of changed rows. */
	run(values: readonly unknown[]): readonly (readonly unknown[])[] | number
}

/** A statement of better-sqlite3 or libsql. */
interface RawStatement {
	readonly reader: boolean
	raw(on: boolean): RawStatement
	safeIntegers(on: boolean): RawStatement
	all(values: readonly unknown[]): unknown[][]
	run(values: readonly unknown[]): { readonly changes: number }
}

/** A statement of node:sqlite. */
interface NodeStatement {
	setReadBigInts(on: boolean): void
	setReturnArrays(on: boolean): void
	columns(): readonly unknown[]
	all(...values: readonly unknown[]): unknown[][]
	run(...values: readonly unknown[]): { readonly changes: number | bigint }
}

/** @throws TypeError unless `database` is one of better-sqlite3, libsql, or node:sqlite in Node 22.16 or later */
export function prepare(database: SqliteDatabase, sql: string): Prepared {
	const statement = database.prepare(sql)
	if ('raw' in statement && 'safeIntegers' in statement) {
		// A statement of better-sqlite3 or libsql, which have the same interface.
		return preparedRaw(statement as RawStatement)
	}
	if ('setReturnArrays' in statement && 'setReadBigInts' in statement) {
		// Only node:sqlite's statements have these.
		return preparedByNode(statement as NodeStatement)
	}
	if ('setReadBigInts' in statement) {
		throw new TypeError(
			"this Node's node:sqlite can't return rows as arrays: use Node 22.16 or later, or better-sqlite3",
		)
	}
	throw new TypeError(`the database must be ${DATABASES}`)
}

function preparedRaw(statement: RawStatement): Prepared {
	if (!statement.reader) return { run: (values) => statement.run(values).changes }
	statement.raw(true)
	statement.safeIntegers(true)
	return { run: (values) => statement.all(values) }
}

function preparedByNode(statement: NodeStatement): Prepared {
	if (statement.columns().length === 0) return { run: (values) => Number(statement.run(...values).changes) }
	statement.setReadBigInts(true)
	statement.setReturnArrays(true)
	return { run: (values) => statement.all(...values) }
}

/** Checked before each statement, because libsql still runs statements that were prepared before it was closed. */
export function isClosed({ open, isOpen }: SqliteDatabase): boolean {
	return open === false || isOpen === false
}

export function mustBeDatabase(database: unknown): asserts database is SqliteDatabase {
	if (!hasMethods(database, 'prepare', 'exec')) throw refusal('the database', DATABASES, database)
}
