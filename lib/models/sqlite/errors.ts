/** Translates errors by SQLite's result codes (sqlite.org/rescode.html), which each driver reports in its own way. */
import { ModelError, type ModelErrorKind } from '../model-error.ts'
import type { Table } from '../sql/table.ts'

/** The `code` of errors raised by triggers, for the option `databaseMessages`. */
const RAISED = 'SQLITE_CONSTRAINT_TRIGGER'

/** Result codes; extended ones where they are more specific than the primary code. */
const CODES: readonly (readonly [number, string, ModelErrorKind])[] = [
	[2067, 'SQLITE_CONSTRAINT_UNIQUE', 'unique'],
	[1555, 'SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
	[2579, 'SQLITE_CONSTRAINT_ROWID', 'unique'],
	[787, 'SQLITE_CONSTRAINT_FOREIGNKEY', 'foreign_key'],
	[1299, 'SQLITE_CONSTRAINT_NOTNULL', 'not_null'],
	[3091, 'SQLITE_CONSTRAINT_DATATYPE', 'invalid'],
	[1811, RAISED, 'refused'],
	[19, 'SQLITE_CONSTRAINT', 'check'],
	[20, 'SQLITE_MISMATCH', 'invalid'],
	[18, 'SQLITE_TOOBIG', 'too_large'],
	[5, 'SQLITE_BUSY', 'busy'],
	[6, 'SQLITE_LOCKED', 'busy'],
	[7, 'SQLITE_NOMEM', 'unavailable'],
	[8, 'SQLITE_READONLY', 'unavailable'],
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

/** Whether the file is read-only: `SQLITE_READONLY` and its extended codes. */
export function isReadOnly(error: unknown): boolean {
	if (!(error instanceof Error)) return false
	const number = numberOf(error)
	const code: unknown = Reflect.get(error, 'code')
	return (number !== undefined && (number & 0xff) === 8) || String(code).startsWith('SQLITE_READONLY')
}

/** The code's number, which node:sqlite and libsql report; libsql doesn't name all codes. */
function numberOf(error: Error): number | undefined {
	const number: unknown = Reflect.get(error, 'errcode') ?? Reflect.get(error, 'rawCode')
	return typeof number === 'number' ? number : undefined
}

function kindOf(error: Error): ModelErrorKind | undefined {
	const number = numberOf(error)
	if (number !== undefined) {
		const found = CODES.find(([code]) => code === number) ?? CODES.find(([code]) => code === (number & 0xff))
		return found?.[2]
	}
	const code: unknown = Reflect.get(error, 'code')
	if (typeof code === 'string' && code.startsWith('SQLITE_'))
		return CODES.find(([, name]) => code === name || code.startsWith(`${name}_`))?.[2]
	// The drivers' messages for a closed database.
	if (/\b(?:database|connection) is not open\b/.test(error.message)) return 'unavailable'
	if (error instanceof RangeError && /too big/.test(error.message)) return 'invalid'
	return undefined
}

/**
 * The columns that a message names: `UNIQUE constraint failed: article.author, article.slug`, or
 * `… failed: index 'name'` for an index on expressions. Names may contain commas and dots, so the message is compared
 * with the table's names instead of being split.
 */
function fieldsOf(message: string, table: Table): string[] {
	const [, failed] = /^(?:UNIQUE|NOT NULL) constraint failed: (.*)$/s.exec(message) ?? []
	if (failed !== undefined) {
		const [, index] = /^index '(.*)'$/s.exec(failed) ?? []
		const constraint = table.constraints.find(({ name, columns }) =>
			index === undefined ? qualified(table, columns) === failed : name === index,
		)
		if (constraint !== undefined) return [...constraint.columns]
		return table.columns.filter(({ name }) => qualified(table, [name]) === failed).map(({ name }) => name)
	}
	const [, typed] = /^cannot store .* value in .* column (.*)$/s.exec(message) ?? []
	return table.columns.filter(({ name }) => qualified(table, [name]) === typed).map(({ name }) => name)
}

function qualified({ name, base }: Table, columns: readonly string[]): string {
	return columns.map((column) => `${base?.name ?? name}.${column}`).join(', ')
}
