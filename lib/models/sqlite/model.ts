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
	Upsert,
	Upserted,
	Values,
	Within,
} from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Driver } from '../sql/driver.ts'
import type { Reopen } from '../sql/live-table.ts'
import {
	type BrokenView,
	type OpenAllOptions,
	type OpeningOptions,
	openingOptions,
	type TableOptions,
} from '../sql/options.ts'
import { JOIN } from '../sql/shared-transaction.ts'
import { SqlModel } from '../sql/sql-model.ts'
import type { Table } from '../sql/table.ts'
import { type Lru, lruOf } from '../sql/text-cache.ts'
import { dialectOf } from './dialect.ts'
import { driverOf, mustBeDatabase, type SqliteDatabase, type SqliteDriver } from './driver.ts'
import { findListing, introspect, type Listing, listings, ownKey } from './introspect.ts'
import type { Writing } from './json.ts'

export type { SqliteDatabase } from './driver.ts'

/** How a table is opened. */
export type SqliteModelOptions = TableOptions

/**
 * A table or view of an SQLite database.
 *
 *     const articles = await SqliteModel.open(new Database('blog.db'), 'article')
 *
 * Columns, types and constraints are read when the model is opened. SQLite enforces foreign keys only after
 * `pragma foreign_keys = on`, which you run on each connection. SQLite has few types, so the declared type decides how values
 * are stored. `INTEGER` and `BIGINT` hold integers of 64 bits, `INT`, `SMALLINT` and the like smaller ones, `BOOLEAN` 0
 * and 1. `DATETIME` and `TIMESTAMP` hold texts like `2026-11-20T13:45:00.123Z` (or `2026-11-20 13:45:00`, or numbers since
 * 1970, if the column's default or its first value has that format). `DECIMAL` is exact only in columns stored as text.
 * Comparisons and text searches are case-sensitive.
 *
 * All models of a database object share its connection. While a transaction is open, other requests wait for its end.
 */
export class SqliteModel extends SqlModel implements Model {
	/**
	 * Guards against BLOBs (see `json.ts`). Used after one was found in a column of another type, and for transactions, which
	 * can't be retried.
	 */
	readonly #guarded: SqlModel
	readonly #driver: SqliteDriver
	#isLean = true

	/** @internal Models are made by {@link SqliteModel.open}. */
	constructor(opened: Opened, table: Table, timeoutSeconds: Seconds, reopen: Reopen) {
		const { driver, writing, lru } = opened
		const dialect = (guardsBlobs: boolean) => dialectOf(table, { ...writing, guardsBlobs }, lru)
		super(table, driver, dialect(false), timeoutSeconds, reopen)
		this.#driver = driver
		this.#guarded = new SqlModel(table, driver, dialect(true), timeoutSeconds, reopen)
	}

	/**
	 * Opens a table or view: `'article'`, `'main.article'`.
	 *
	 * @throws TypeError if there is no such table (the message suggests one), it has no key, an option is wrong, or `database`
	 * isn't one of node:sqlite, better-sqlite3 or libsql
	 * @throws RangeError for a `timeoutSeconds` out of range
	 */
	static async open(
		database: SqliteDatabase,
		name: string,
		options: SqliteModelOptions = {},
	): Promise<SqliteModel> {
		const checked = openingOptions('SqliteModel', options, ['key'])
		const opened = openDatabase(database)
		if (typeof name !== 'string') throw new TypeError(`the table's name must be a string, got ${typeof name}`)
		return openTable(opened, findListing(opened.driver, name), checked)
	}

	/**
	 * Opens all tables of the main database, with `views: true` its views too: `{ article, author }`. The records of a view,
	 * and of a table without a primary key, can only be listed. `open` opens one view with `key`.
	 *
	 * @param broken called for a view that can't be opened, which is then left out. @default the error is thrown
	 * @throws TypeError for a view that can't be read, because its table is gone for example, and for a wrong option
	 */
	static async openAll(
		database: SqliteDatabase,
		options: OpenAllOptions = {},
		broken?: BrokenView,
	): Promise<Record<string, SqliteModel>> {
		const checked = openingOptions('SqliteModel', options, ['views'])
		const opened = openDatabase(database)
		const { driver } = opened
		const own = listings(driver).filter(({ schema }) => schema === 'main')
		const tables = own.filter(({ isView }) => checked.views || !isView)
		const open = (listing: Listing) =>
			listing.isView
				? openView(opened, listing, checked)
				: openTable(opened, listing, { ...checked, key: ownKey(driver, listing) })
		return Object.fromEntries(
			tables.flatMap((listing): [string, SqliteModel][] => {
				try {
					return [[listing.name, open(listing)]]
				} catch (error) {
					if (!listing.isView || broken === undefined) throw error
					broken(listing.name, error)
					return []
				}
			}),
		)
	}

	override list(query: ListQuery): Promise<Listed> {
		return this.#leanFirst(super.list, query)
	}

	override listEach(query: ListQuery, conditions: readonly Condition[]): Promise<readonly Listed[]> {
		return this.#leanFirst(super.listEach, query, conditions)
	}

	override read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		return this.#leanFirst(super.read, id, selection, where)
	}

	override create(values: Values, selection: Selection): Promise<Created> {
		return this.#leanFirst(super.create, values, selection)
	}

	override update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.#leanFirst(super.update, id, changes, selection, guard)
	}

	override delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.#leanFirst(super.delete, id, selection, guard)
	}

	override createMany(values: readonly Values[], selection: Selection): Promise<readonly Created[]> {
		return this.#leanFirst(super.createMany, values, selection)
	}

	override upsert(given: Upsert, selection: Selection): Promise<Upserted> {
		return this.#leanFirst(super.upsert, given, selection)
	}

	/** The guarded model's statements may have links to that table as well. */
	override joins(other: Model): boolean {
		return super.joins(other) && this.#guarded.joins(other)
	}

	override transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this.#guarded.transaction(work)
	}

	override transactionWith<T>(others: readonly Model[], work: (within: Within) => Promise<T>): Promise<T> {
		return this.#guarded.transactionWith(others, work)
	}

	/** @internal */
	override [JOIN](driver: Driver): Model {
		return this.#guarded[JOIN](driver)
	}

	/** @throws ModelError `unavailable` also if the file was writable when it was opened, and is read-only now */
	override async check(writes = false): Promise<void> {
		await super.check(writes)
		if (!writes || !this.#driver.isWritable) return
		const error = this.#driver.readOnlyError()
		if (error !== undefined) throw new ModelError('unavailable', [], error)
	}

	/** Calls a method of `SqlModel` on this model, or on the guarded one if a BLOB was found. */
	async #leanFirst<A extends unknown[], T>(
		method: (this: SqlModel, ...args: A) => Promise<T>,
		...args: A
	): Promise<T> {
		if (this.#isLean) {
			try {
				return await method.apply(this, args)
			} catch (error) {
				if (!(error instanceof Error && HOLDS_BLOB.test(error.message))) throw error
				this.#isLean = false
			}
		}
		return method.apply(this.#guarded, args)
	}
}

/** SQLite's error for a BLOB in JSON; the failed statement has changed nothing. */
const HOLDS_BLOB = /JSON cannot hold BLOB/

interface Opened {
	readonly driver: SqliteDriver
	/** What this version of SQLite supports. */
	readonly writing: Omit<Writing, 'guardsBlobs'>
	readonly lru: Lru
}

/** The `busy_timeout` unless the user has set one. Waiting blocks this process. */
const LOCK_TIMEOUT_MS: Milliseconds = 1_000

function openDatabase(database: SqliteDatabase): Opened {
	mustBeDatabase(database)
	const driver = driverOf(database)
	driver.waitForLocks(LOCK_TIMEOUT_MS)
	const text = "select json_array(0.1 + 0.2), sum(name = 'octet_length') from pragma_function_list"
	const [row = []] = driver.run({ text, values: [], writes: false }).rows
	const writing = { writesReals: row[0] === '[0.30000000000000004]', measuresBytes: Number(row[1]) > 0 }
	return { driver, writing, lru: lruOf(database) }
}

function openTable(
	opened: Opened,
	listing: Listing,
	{ key, bigint, timeoutSeconds }: OpeningOptions,
): SqliteModel {
	const table = introspect(opened.driver, listing, { key, bigint })
	const reopen = async () => introspect(opened.driver, listing, { key: table.key, bigint })
	return new SqliteModel(opened, table, timeoutSeconds, reopen)
}

/** A view to be listed. SQLite's error doesn't say which view it is: `no such table: main.author`. */
function openView(opened: Opened, listing: Listing, options: OpeningOptions): SqliteModel {
	try {
		return openTable(opened, listing, { ...options, key: [] })
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error)
		throw new TypeError(`the view ${listing.name} can't be opened: ${reason}`, { cause: error })
	}
}
