/** What errors of SQLite mean: by its result codes (sqlite.org/rescode.html), however a driver tells them. */
import { ModelError, type ModelErrorKind } from '../model-error.ts'
import type { Table } from '../sql/table.ts'

/** Its name is the code by which the option `databaseMessages` knows it. */
const RAISED = 'SQLITE_CONSTRAINT_TRIGGER'

/** By the extended code where it says more than the primary one. */
const CODES: readonly (readonly [number, string, ModelErrorKind])[] = [
	[2067, 'SQLITE_CONSTRAINT_UNIQUE', 'unique'],
	[1555, 'SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
	[2579, 'SQLITE_CONSTRAINT_ROWID', 'unique'],
	[787, 'SQLITE_CONSTRAINT_FOREIGNKEY', 'foreign_key'],
	[1299, 'SQLITE_CONSTRAINT_NOTNULL', 'not_null'],
	[3091, 'SQLITE_CONSTRAINT_DATATYPE', 'invalid'],
	// A trigger's `raise`.
	[1811, RAISED, 'refused'],
	[19, 'SQLITE_CONSTRAINT', 'check'],
	[20, 'SQLITE_MISMATCH', 'invalid'],
	[18, 'SQLITE_TOOBIG', 'too_large'],
	[5, 'SQLITE_BUSY', 'busy'],
	[6, 'SQLITE_LOCKED', 'busy'],
	[7, 'SQLITE_NOMEM', 'unavailable'],
	[10, 'SQLITE_IOERR', 'unavailable'],
	[11, 'SQLITE_CORRUPT', 'unavailable'],
	[13, 'SQLITE_FULL', 'unavailable'],
	[14, 'SQLITE_CANTOPEN', 'unavailable'],
	[15, 'SQLITE_PROTOCOL', 'unavailable'],
	[26, 'SQLITE_NOTADB', 'unavailable'],
]

export function failureOf(error: unknown, table: Table): ModelError | undefined {
	if (!(error instanceof Error)) return undefined
	const kind = kindOf(error)
	if (kind === undefined) return undefined
	const raised = kind === 'refused' ? { code: RAISED, message: error.message } : undefined
	return new ModelError(kind, fieldsOf(error.message, table), error, raised)
}

/** Whether the file can't be written: `SQLITE_READONLY` and its extended codes. */
export function isReadOnly(error: unknown): boolean {
	if (!(error instanceof Error)) return false
	const number: unknown = Reflect.get(error, 'errcode') ?? Reflect.get(error, 'rawCode')
	const code: unknown = Reflect.get(error, 'code')
	return (typeof number === 'number' && (number & 0xff) === 8) || String(code).startsWith('SQLITE_READONLY')
}

function kindOf(error: Error): ModelErrorKind | undefined {
	// node:sqlite and libsql have numbers; libsql doesn't know all the names.
	const number: unknown = Reflect.get(error, 'errcode') ?? Reflect.get(error, 'rawCode')
	if (typeof number === 'number') return byNumber(number)
	const code: unknown = Reflect.get(error, 'code')
	if (typeof code === 'string' && code.startsWith('SQLITE_')) return byName(code)
	// The drivers' own words for a database that was closed.
	if (/\b(?:database|connection) is not open\b/.test(error.message)) return 'unavailable'
	if (error instanceof RangeError && /too big/.test(error.message)) return 'invalid'
	return undefined
}

function byName(name: string): ModelErrorKind | undefined {
	return CODES.find(([, code]) => name === code || name.startsWith(`${code}_`))?.[2]
}

function byNumber(number: number): ModelErrorKind | undefined {
	const found = CODES.find(([code]) => code === number) ?? CODES.find(([code]) => code === (number & 0xff))
	return found?.[2]
}

/**
 * The columns that a message names: `UNIQUE constraint failed: article.author, article.slug`, or
 * `… failed: index 'name'` for an index over expressions. Names may hold commas and points, so they are
 * looked for, not cut out.
 */
function fieldsOf(message: string, table: Table): string[] {
	const [, said] = /^(?:UNIQUE|NOT NULL) constraint failed: (.*)$/s.exec(message) ?? []
	if (said !== undefined) {
		const [, index] = /^index '(.*)'$/s.exec(said) ?? []
		const constraint = table.constraints.find(({ name, columns }) =>
			index === undefined ? spelt(table, columns) === said : name === index,
		)
		if (constraint !== undefined) return [...constraint.columns]
		return table.columns.filter(({ name }) => spelt(table, [name]) === said).map(({ name }) => name)
	}
	const [, strict] = /^cannot store .* value in .* column (.*)$/s.exec(message) ?? []
	return table.columns.filter(({ name }) => spelt(table, [name]) === strict).map(({ name }) => name)
}

function spelt(table: Table, columns: readonly string[]): string {
	return columns.map((column) => `${table.name}.${column}`).join(', ')
}
