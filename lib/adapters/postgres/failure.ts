/** What an error of PostgreSQL, or of the way to it, means; read alike from pg, postgres.js and PGlite. */
import { ModelError, type ModelErrorKind } from '../../crud/model-error.ts'
import type { Table } from '../../sql/table.ts'

/** Thrown by the drivers where they know that a statement never went out. */
export class NotSent extends Error {
	override readonly name = 'NotSent'

	constructor(cause: unknown) {
		super('there was no connection to PostgreSQL to be had', { cause })
	}
}

/** Thrown by the drivers for a statement that went out, and that nobody waits for any more. */
export class Unanswered extends Error {
	override readonly name = 'Unanswered'

	constructor() {
		super('PostgreSQL has not answered in time')
	}
}

/** SQLSTATEs, and their classes of two characters (PostgreSQL, appendix A); the longest that fits counts. */
const STATES: Readonly<Record<string, ModelErrorKind>> = {
	'23505': 'unique',
	// Exclusion: another record stands against it.
	'23P01': 'unique',
	'23503': 'foreign_key',
	'23001': 'foreign_key',
	'23502': 'not_null',
	'23514': 'check',
	'44000': 'check',
	'22': 'invalid',
	// A value too large for an index.
	'54000': 'invalid',
	'40001': 'busy',
	'40P01': 'busy',
	'55P03': 'busy',
	// A statement's or a transaction's time was over, or it was cancelled: it is undone.
	'57014': 'unavailable',
	'25P02': 'unavailable',
	'25P03': 'unavailable',
	'25P04': 'unavailable',
	// The server is a replica that only reads: it may be the primary again.
	'25006': 'unavailable',
	'53': 'unavailable',
	'57P03': 'unavailable',
	// The server was stopped or has crashed under the statement; the commit may be done.
	'57P01': 'outcome_unknown',
	'57P02': 'outcome_unknown',
	'57P05': 'unavailable',
	// No connection was made.
	'08001': 'unavailable',
	'08004': 'unavailable',
	'08': 'outcome_unknown',
}

/** Codes of Node's sockets and of the drivers. */
const CODES: Readonly<Record<string, ModelErrorKind>> = {
	ECONNREFUSED: 'unavailable',
	ENOTFOUND: 'unavailable',
	EAI_AGAIN: 'unavailable',
	EHOSTUNREACH: 'unavailable',
	ENETUNREACH: 'unavailable',
	CONNECT_TIMEOUT: 'unavailable',
	// Asked of a postgres.js that has been ended.
	CONNECTION_ENDED: 'unavailable',
	ECONNRESET: 'outcome_unknown',
	EPIPE: 'outcome_unknown',
	ETIMEDOUT: 'outcome_unknown',
	CONNECTION_CLOSED: 'outcome_unknown',
	CONNECTION_DESTROYED: 'outcome_unknown',
}

/** What pg and PGlite say in words only. */
const MESSAGES: readonly (readonly [pattern: RegExp, kind: ModelErrorKind])[] = [
	[/^timeout exceeded when trying to connect|^timeout expired|due to connection timeout/i, 'unavailable'],
	[/^Cannot use a pool after calling end/i, 'unavailable'],
	[/^PGlite is (?:closed|closing)/i, 'unavailable'],
	[
		/^Connection terminated|^Client has encountered a connection error|^Client was closed/i,
		'outcome_unknown',
	],
]

/** `undefined` for what is no failure of the database or of the values: a mistake of ours, or a table changed. */
export function failure(error: unknown, table: Table): ModelError | undefined {
	if (error instanceof ModelError) return error
	if (!(error instanceof Error)) return undefined
	if (error instanceof NotSent) return new ModelError('unavailable', [], error)
	if (error instanceof Unanswered) return new ModelError('outcome_unknown', [], error)
	const kind = kindOf(error)
	return kind === undefined ? undefined : new ModelError(kind, fieldsOf(error, kind, table), error)
}

function kindOf(error: Error): ModelErrorKind | undefined {
	const code = textAt(error, 'code')
	if (code !== undefined) {
		// A socket that couldn't be connected to has carried nothing.
		if (textAt(error, 'syscall') === 'connect') return 'unavailable'
		const known = CODES[code]
		if (known !== undefined) return known
		if (/^[0-9A-Z]{5}$/.test(code)) return STATES[code] ?? STATES[code.slice(0, 2)]
	}
	return MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1]
}

/** The columns that it is about, where they are this table's own. */
function fieldsOf(error: Error, kind: ModelErrorKind, table: Table): readonly string[] {
	const where = textAt(error, 'table') ?? textAt(error, 'table_name')
	// A trigger may have written into another table; a type's error (a domain's) names no table.
	if (where !== undefined && where !== table.name) return []
	if (kind === 'not_null') {
		const column = textAt(error, 'column') ?? textAt(error, 'column_name')
		return table.columns.some(({ name }) => name === column) && column !== undefined ? [column] : []
	}
	const name = textAt(error, 'constraint') ?? textAt(error, 'constraint_name')
	if (name === undefined) return []
	const columns = table.constraints.filter((constraint) => constraint.name === name)
	return [...new Set(columns.flatMap((constraint) => constraint.columns))]
}

function textAt(error: Error, key: string): string | undefined {
	// An Error is an object: any key may be asked for.
	const value = (error as unknown as Record<string, unknown>)[key]
	return typeof value === 'string' && value !== '' ? value : undefined
}
