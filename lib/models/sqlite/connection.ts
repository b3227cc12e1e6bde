/**
 * The part of `node:sqlite`, better-sqlite3 and libsql that is called, and what differs between them: how a
 * statement is made to answer arrays with exact integers.
 */

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
