/** `SqliteModel`: tables of an SQLite database as models, over node:sqlite, better-sqlite3 or libsql. */

import type { Milliseconds, Seconds } from '../../base/time.ts'
import type {
	Absent,
	Changes,
	Condition,
	Created,
	Found,
	Guard,
	Listed,
	ListQuery,
	Model,
	Selection,
	Values,
} from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Reopen } from '../sql/live-table.ts'
import {
	type DatabaseOptions,
	type OpeningOptions,
	openingOptions,
	type TableOptions,
} from '../sql/options.ts'
import { SqlModel } from '../sql/sql-model.ts'
import { columnOf, columnsOf, type Table } from '../sql/table.ts'
import { lruOf } from '../sql/text-cache.ts'
import { dialectOf, withExactKey } from './dialect.ts'
import { driverOf, mustBeDatabase, type SqliteDatabase, type SqliteDriver } from './driver.ts'
import { findListing, introspect, type Listing, listings, ownKey } from './introspect.ts'

export type { SqliteDatabase } from './driver.ts'

/** How a table is opened. */
export type SqliteModelOptions = TableOptions

/**
 * A table or view of an SQLite database.
 *
 *     const articles = await SqliteModel.open(new Database('blog.db'), 'article')
 *
 * The columns, their types and constraints are read when it is opened. SQLite keeps foreign keys only after
 * `pragma foreign_keys = on`, which is yours to run, on each connection. It has few types; the declared ones
 * say how a column is written: `INTEGER` and `BIGINT` hold integers of 64 bits, `INT`, `SMALLINT` and their kin
 * smaller ones, `BOOLEAN` 0 and 1, `DATETIME` and `TIMESTAMP` texts like `2026-11-20T13:45:00.123Z` (or, where
 * `current_timestamp` is the default or the first record has it so, `2026-11-20 13:45:00`, or numbers since
 * 1970), `DECIMAL` what SQLite makes of it: exact only in columns that are stored as text. Comparisons and text searches tell upper from lower case.
 *
 * All models of one database object share its one connection. While a transaction is open, other requests
 * wait behind it.
 */
export class SqliteModel extends SqlModel implements Model {
	/** For a table in which a BLOB was met where there should be none, and for transactions, which can't be repeated. */
	readonly #guarded: SqlModel
	readonly #driver: SqliteDriver
	#isLean = true

	/** @internal Models are made by {@link SqliteModel.open}. */
	constructor(ways: Ways, table: Table, timeoutSeconds: Seconds, reopen: Reopen) {
		const { driver, lean, guarded } = ways
		super(table, driver, lean, timeoutSeconds, reopen)
		this.#driver = driver
		this.#guarded = new SqlModel(table, driver, guarded, timeoutSeconds, reopen)
	}

	/**
	 * Opens a table or view: `'article'`, `'main.article'`.
	 *
	 * @throws TypeError where there is no such table (it lists those there are), or no key, or not a database, and
	 * for an option that is wrong
	 * @throws RangeError for a `timeoutSeconds` out of range
	 */
	static async open(
		database: SqliteDatabase,
		name: string,
		options: SqliteModelOptions = {},
	): Promise<SqliteModel> {
		const checked = openingOptions('SqliteModel', options, ['key'])
		const ways = opened(database)
		if (typeof name !== 'string') throw new TypeError(`the table's name must be a string, got ${typeof name}`)
		return modelOf(ways, findListing(ways.driver, name), checked)
	}

	/**
	 * Opens all tables of the main database that have a primary key of one column: `{ article, author }`. Views
	 * are opened one by one, with their `key`.
	 */
	static async openAll(
		database: SqliteDatabase,
		options: DatabaseOptions = {},
	): Promise<Record<string, SqliteModel>> {
		const checked = openingOptions('SqliteModel', options, [])
		const ways = opened(database)
		const { driver } = ways
		const tables = listings(driver).filter(
			(listing) => listing.schema === 'main' && !listing.isView && ownKey(driver, listing) !== undefined,
		)
		return Object.fromEntries(tables.map((listing) => [listing.name, modelOf(ways, listing, checked)]))
	}

	override list(query: ListQuery): Promise<Listed> {
		return this.#leanFirst(
			() => super.list(query),
			() => this.#guarded.list(query),
		)
	}

	override read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		return this.#leanFirst(
			() => super.read(id, selection, where),
			() => this.#guarded.read(id, selection, where),
		)
	}

	override create(values: Values, selection: Selection): Promise<Created> {
		return this.#leanFirst(
			() => super.create(values, selection),
			() => this.#guarded.create(values, selection),
		)
	}

	override update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.#leanFirst(
			() => super.update(id, changes, selection, guard),
			() => this.#guarded.update(id, changes, selection, guard),
		)
	}

	override delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.#leanFirst(
			() => super.delete(id, selection, guard),
			() => this.#guarded.delete(id, selection, guard),
		)
	}

	override transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this.#guarded.transaction(work)
	}

	/** @throws ModelError `unavailable` also where the file could be written when it was opened, and can't be any more */
	override async check(writes = false): Promise<void> {
		await super.check(writes)
		if (!writes || !this.#driver.isWritable) return
		const refusal = this.#driver.whyReadOnly()
		if (refusal !== undefined) throw new ModelError('unavailable', [], refusal)
	}

	async #leanFirst<T>(lean: () => Promise<T>, guarded: () => Promise<T>): Promise<T> {
		if (!this.#isLean) return guarded()
		try {
			return await lean()
		} catch (error) {
			if (!(error instanceof Error && HOLDS_BLOB.test(error.message))) throw error
			this.#isLean = false
			return guarded()
		}
	}
}

/** What SQLite says when it is asked to write a BLOB into JSON; it has undone what the statement had done. */
const HOLDS_BLOB = /JSON cannot hold BLOB/

/** Models of one table that write values in two ways: see `value-sql.ts`. */
interface Ways {
	readonly driver: SqliteDriver
	readonly lean: Dialect
	readonly guarded: Dialect
}

/** How long locks of other processes are waited for, where the user has said nothing: it holds up this process. */
const WAIT_FOR_LOCKS: Milliseconds = 1_000

function opened(database: SqliteDatabase): Ways {
	mustBeDatabase(database)
	const driver = driverOf(database)
	driver.waitForLocks(WAIT_FOR_LOCKS)
	const text = "select json_array(0.1 + 0.2), sum(name = 'octet_length') from pragma_function_list"
	const [row = []] = driver.run({ text, values: [], writes: false }).rows
	const writing = { writesReals: row[0] === '[0.30000000000000004]', measuresBytes: Number(row[1]) > 0 }
	const lru = lruOf(database)
	return {
		driver,
		lean: dialectOf({ ...writing, guardsBlobs: false }, lru),
		guarded: dialectOf({ ...writing, guardsBlobs: true }, lru),
	}
}

function modelOf(ways: Ways, listing: Listing, { key, bigint, timeoutSeconds }: OpeningOptions): SqliteModel {
	const table = introspect(ways.driver, listing, { key, asText: bigint === 'string' })
	const { type } = columnOf(columnsOf(table), table.key)
	// A text's column may be compared without case, or without spaces at its end; an id is what it is.
	const exact = type === 'text' || type === 'uuid' ? exactly(ways) : ways
	const again = { key: table.key, asText: bigint === 'string' }
	const reopen = async () => introspect(ways.driver, listing, again)
	return new SqliteModel(exact, table, timeoutSeconds, reopen)
}

function exactly({ lean, guarded, ...ways }: Ways): Ways {
	return { ...ways, lean: withExactKey(lean), guarded: withExactKey(guarded) }
}
