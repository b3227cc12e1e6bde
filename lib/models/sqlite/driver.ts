/**
 * `SqliteDriver`: one connection for all models of a database, over node:sqlite, better-sqlite3 or libsql. Statements run
 * at once, in this thread; during a transaction those of others wait, as on one connection they would become part of it.
 */
import type { Milliseconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { isKept, PreparedTexts } from '../sql/text-cache.ts'
import { runTransaction, type Session } from '../sql/transaction.ts'
import { isReadOnly } from './errors.ts'

const DRIVER: unique symbol = Symbol.for('verbena.sqlite.driver')

/**
 * The driver of a database, always the same one: models that were opened one by one share the connection,
 * and must wait for each other's transactions.
 */
export function driverOf(database: SqliteDatabase & { readonly [DRIVER]?: SqliteDriver }): SqliteDriver {
	const known = database[DRIVER]
	if (known !== undefined) return known
	const driver = new SqliteDriver(database)
	if (Object.isExtensible(database)) Object.defineProperty(database, DRIVER, { value: driver })
	return driver
}

export class SqliteDriver implements Driver {
	readonly #database: SqliteDatabase
	readonly #prepared = new PreparedTexts<Prepared>()
	/** Whether the file could be written when it was opened. */
	readonly isWritable: boolean
	/** Settles when the transaction that is open has ended. */
	#open: Promise<void> | undefined

	constructor(database: SqliteDatabase) {
		this.#database = database
		this.isWritable = this.whyReadOnly() === undefined
	}

	async query(statement: Statement): Promise<Rows> {
		while (this.#open !== undefined) await this.#open
		return this.run(statement)
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		while (this.#open !== undefined) await this.#open
		let end = (): void => {}
		this.#open = new Promise((resolve) => {
			end = resolve
		})
		const session: Session = {
			run: async (statement) => this.run(statement),
			control: (text) => this.#database.exec(text),
			leaves: () => 'everything',
		}
		try {
			// Where a rollback fails, SQLite has rolled back already (disk full, for one).
			return await runTransaction(session, work, () => {}, 'begin immediate')
		} finally {
			this.#open = undefined
			end()
		}
	}

	/** Runs a statement now, also while a transaction is open. */
	run(statement: Statement): Rows {
		const { text, values } = statement
		if (isClosed(this.#database)) {
			// It may be opened again; its statements can't.
			this.#prepared.clear()
			throw new ModelError('unavailable')
		}
		const prepared = isKept(statement) ? this.#prepare(text) : prepare(this.#database, text)
		const answer = prepared.run(values)
		if (typeof answer === 'number') return { rows: [], affected: answer }
		return { rows: answer, affected: answer.length }
	}

	/**
	 * What SQLite says to a change where the file is read-only. Without waiting, as a lock of somebody else's tells nothing,
	 * and neither does a transaction of the user's own; an open one of ours has begun as one that writes.
	 */
	whyReadOnly(): unknown {
		if (this.#open !== undefined) return undefined
		const wait = this.#lockWait()
		try {
			if (wait > 0) this.#database.exec('pragma busy_timeout = 0')
			this.#tryWriting()
			return undefined
		} catch (error) {
			return isReadOnly(error) ? error : undefined
		} finally {
			if (wait > 0) this.#giveUp(`pragma busy_timeout = ${wait}`)
		}
	}

	/** Writes what is there already, and takes it back: whether the file can be written is known by nothing less. */
	#tryWriting(): void {
		this.#database.exec('begin immediate')
		try {
			const { rows } = this.run({ text: 'pragma user_version', values: [], writes: false })
			this.#database.exec(`pragma user_version = ${Number(rows[0]?.[0])}`)
		} finally {
			this.#giveUp('rollback')
		}
	}

	/** Sets a `busy_timeout` if there is none: else each lock of another process is an error at once. */
	waitForLocks(time: Milliseconds): void {
		if (this.#lockWait() === 0) this.#database.exec(`pragma busy_timeout = ${time}`)
	}

	#lockWait(): Milliseconds {
		const { rows } = this.run({ text: 'pragma busy_timeout', values: [], writes: false })
		return Number(rows[0]?.[0])
	}

	#giveUp(sql: string): void {
		try {
			this.#database.exec(sql)
		} catch {
			// SQLite has rolled back already (disk full, for one); the error that led here says more.
		}
	}

	#prepare(text: string): Prepared {
		const known = this.#prepared.get(text)
		if (known !== undefined) return known
		const prepared = prepare(this.#database, text)
		if (this.#prepared.isAskedAgain(text)) this.#prepared.add(text, prepared)
		return prepared
	}
}

/** `DatabaseSync` of node:sqlite (Node 22.16 or later), or `Database` of better-sqlite3 or libsql. */
export interface SqliteDatabase {
	/** Whether it is open, of better-sqlite3 and libsql; a method of node:sqlite. */
	readonly open?: unknown
	/** Whether it is open, of node:sqlite. */
	readonly isOpen?: unknown
	prepare(sql: string): object
	exec(sql: string): unknown
}

/** A statement of either. */
export interface Prepared {
	/** The rows as arrays, integers as bigint; of a statement that answers none, how many it has changed. */
	run(values: readonly unknown[]): readonly (readonly unknown[])[] | number
}

/** Of better-sqlite3 and libsql. */
interface RawStatement {
	readonly reader: boolean
	raw(on: boolean): RawStatement
	safeIntegers(on: boolean): RawStatement
	all(values: readonly unknown[]): unknown[][]
	run(values: readonly unknown[]): { readonly changes: number }
}

/** Of node:sqlite. */
interface NodeStatement {
	setReadBigInts(on: boolean): void
	setReturnArrays(on: boolean): void
	columns(): readonly unknown[]
	all(...values: readonly unknown[]): unknown[][]
	run(...values: readonly unknown[]): { readonly changes: number | bigint }
}

/** @throws TypeError for what isn't a database, or one of a Node that is too old */
export function prepare(database: SqliteDatabase, sql: string): Prepared {
	const statement = database.prepare(sql)
	if ('raw' in statement && 'safeIntegers' in statement) {
		// Both together are the statements of better-sqlite3, whose form libsql has taken.
		return preparedRaw(statement as RawStatement)
	}
	if ('setReturnArrays' in statement && 'setReadBigInts' in statement) {
		// Only node:sqlite's statements have these.
		return preparedByNode(statement as NodeStatement)
	}
	if ('setReadBigInts' in statement) {
		throw new TypeError(
			"this Node's node:sqlite can't answer rows as arrays: take Node 22.16 or later, or better-sqlite3",
		)
	}
	throw new TypeError(
		'the database must be a DatabaseSync of node:sqlite, or a Database of better-sqlite3 or libsql',
	)
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

/** Asked for by itself, since libsql goes on to run statements that it had prepared before it was closed. */
export function isClosed({ open, isOpen }: SqliteDatabase): boolean {
	return open === false || isOpen === false
}

/** @throws TypeError that says what was given instead */
export function mustBeDatabase(database: unknown): asserts database is SqliteDatabase {
	const has = (name: string) =>
		typeof database === 'object' && database !== null && typeof Reflect.get(database, name) === 'function'
	if (has('prepare') && has('exec')) return
	throw new TypeError(
		`the database must be a DatabaseSync of node:sqlite, or a Database of better-sqlite3 or libsql, got ${
			database === null ? 'null' : typeof database
		}`,
	)
}
