/**
 * `SqliteDriver`: one connection for all models of a database. Statements run at once, in this thread; while
 * a transaction is open, those of others wait behind it, for on one connection they would slip into it.
 */

import type { Milliseconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Driver, Rows, Statement } from '../sql/driver.ts'
import { isKept, PreparedTexts } from '../sql/text-cache.ts'
import { isClosed, type Prepared, prepare, type SqliteDatabase } from './connection.ts'
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
		this.#database.exec('begin immediate')
		let end = (): void => {}
		this.#open = new Promise((resolve) => {
			end = resolve
		})
		const within = new Within(this)
		try {
			const result = await work(within)
			within.close()
			this.#database.exec('commit')
			return result
		} catch (error) {
			within.close()
			this.#giveUp('rollback')
			throw error
		} finally {
			this.#open = undefined
			end()
		}
	}

	/** Runs a part of the open transaction, whose changes count or not by themselves. */
	async savepoint<T>(name: string, work: () => Promise<T>): Promise<T> {
		this.#database.exec(`savepoint ${name}`)
		try {
			const result = await work()
			this.#database.exec(`release ${name}`)
			return result
		} catch (error) {
			this.#giveUp(`rollback to ${name}; release ${name}`)
			throw error
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

	/** Lets locks of other processes be waited for, where nobody has said how long: without, each is an error at once. */
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

/** The driver within a transaction. What comes after its end is refused: it would run outside of it. */
class Within implements Driver {
	readonly #driver: SqliteDriver
	readonly #depth: number
	#isClosed = false

	constructor(driver: SqliteDriver, depth = 0) {
		this.#driver = driver
		this.#depth = depth
	}

	async query(statement: Statement): Promise<Rows> {
		this.#mustBeOpen()
		return this.#driver.run(statement)
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		this.#mustBeOpen()
		const inner = new Within(this.#driver, this.#depth + 1)
		return this.#driver.savepoint(`verbena_${inner.#depth}`, async () => {
			try {
				return await work(inner)
			} finally {
				inner.close()
			}
		})
	}

	close(): void {
		this.#isClosed = true
	}

	#mustBeOpen(): void {
		if (this.#isClosed) throw new TypeError('this transaction has ended: await what is done in it')
	}
}
