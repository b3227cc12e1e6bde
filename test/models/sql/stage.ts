/** A table of SQLite for tests of what all SQL models share, with access to the statements sent to its driver. */

import type { Dialect } from '../../../lib/models/sql/dialect.ts'
import type { Driver, Rows, Statement } from '../../../lib/models/sql/driver.ts'
import { type Columns, columnsOf, type Table } from '../../../lib/models/sql/table.ts'
import { Lru } from '../../../lib/models/sql/text-cache.ts'
import { dialectOf } from '../../../lib/models/sqlite/dialect.ts'
import { driverOf, type SqliteDriver } from '../../../lib/models/sqlite/driver.ts'
import { findListing, introspect } from '../../../lib/models/sqlite/introspect.ts'
import { opened, sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'

export interface Stage {
	readonly database: TestDatabase
	readonly driver: SqliteDriver
	readonly dialect: Dialect
	readonly table: Table
	readonly columns: Columns
}

/** An in-memory database with the table that `sql` creates. */
export function stage(sql: string, name = 'item'): Stage {
	const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
	database.exec(sql)
	const driver = driverOf(database)
	const table = introspect(driver, findListing(driver, name), { key: undefined, bigint: 'number' })
	const writing = { writesReals: true, measuresBytes: false, guardsBlobs: true }
	const dialect = dialectOf(table, writing, new Lru())
	return { database, driver, dialect, table, columns: columnsOf(table) }
}

/** A driver that holds statements back until they are released, and counts them. */
export class HeldDriver implements Driver {
	readonly sent: Statement[] = []
	/** Called for each statement; what it throws is the driver's error. */
	check: (statement: Statement) => void = () => {}
	readonly #driver: Driver
	#held: (() => void)[] | undefined = []

	constructor(driver: Driver) {
		this.#driver = driver
	}

	async query(statement: Statement): Promise<Rows> {
		this.sent.push(statement)
		this.check(statement)
		// Run when it is sent, as a database would: later writes aren't in the result.
		const rows = await this.#driver.query(statement)
		await new Promise<void>((resolve) => (this.#held === undefined ? resolve() : this.#held.push(resolve)))
		return rows
	}

	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		return this.#driver.transaction(work)
	}

	/** Releases held statements, and with `all` later ones too. */
	release(all = false): void {
		const held = this.#held ?? []
		this.#held = all ? undefined : []
		for (const go of held) go()
	}
}

/** One turn of the event loop: work deferred to its end has been done. */
export function turn(): Promise<void> {
	return new Promise((resolve) => {
		setImmediate(() => setImmediate(resolve))
	})
}
