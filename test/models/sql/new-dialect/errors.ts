/** Maps errors of libSQL to `ModelError`s. */
import { ModelError, type ModelErrorKind } from '../../../../lib/models/index.ts'
import { NoConnection, type Table } from '../../../../lib/models/sql/index.ts'

/** The kind of each error, by SQLite's error code or the code's prefix. */
const KINDS: Readonly<Record<string, ModelErrorKind>> = {
	SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
	SQLITE_CONSTRAINT_UNIQUE: 'unique',
	SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign_key',
	SQLITE_CONSTRAINT_NOTNULL: 'not_null',
	SQLITE_CONSTRAINT_CHECK: 'check',
	SQLITE_CONSTRAINT_TRIGGER: 'refused',
	SQLITE_BUSY: 'busy',
	SQLITE_FULL: 'unavailable',
	SQLITE_IOERR: 'unavailable',
	SQLITE_CANTOPEN: 'unavailable',
}

const CLOSED = 'The database connection is not open'

export function failureOf(error: unknown, table: Table): ModelError | undefined {
	if (!(error instanceof Error)) return undefined
	const { message } = error
	if (error instanceof NoConnection || message === CLOSED) return new ModelError('unavailable', [], error)
	const code = codeOf(error)
	const kind = KINDS[code] ?? KINDS[code.split('_', 2).join('_')]
	if (kind === undefined) return undefined
	// 'UNIQUE constraint failed: article.author, article.title'
	const named = message.slice(message.indexOf(': ') + 2).split(', ')
	const fields = table.columns
		.map(({ name }) => name)
		.filter((name) => named.includes(`${table.name}.${name}`))
	return new ModelError(kind, fields, error, kind === 'refused' ? { code, message } : undefined)
}

/** Whether a column was dropped or renamed. */
export function isOutdated(error: unknown): boolean {
	return error instanceof Error && /no such column|has no column named/.test(error.message)
}

/** Whether the error has rolled back the transaction; other errors roll back only their statement. */
export function rollsBack(error: unknown): boolean {
	return /^SQLITE_(?:FULL|IOERR|NOMEM)/.test(codeOf(error))
}

function codeOf(error: unknown): string {
	return error instanceof Error && 'code' in error ? String(error.code) : ''
}
