/** What an error of PostgreSQL, or of the way to it, means; read alike from pg, postgres.js and PGlite. */
import { ModelError, type ModelErrorKind, type RaisedError } from '../model-error.ts'
import { NoAnswer, NoConnection } from '../sql/pool.ts'
import type { Table } from '../sql/table.ts'

/** What pg says where its own `query_timeout` has ended: the statement is still being run. */
export const READ_TIMEOUT = 'Query read timeout'

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
	// A value too large for an index, or more than a GB in one value: of a page, or of what is written.
	'54000': 'too_large',
	'42501': 'forbidden',
	// A prepared statement isn't there, or is there twice, within a transaction: a pooler has mixed up connections. It
	// is undone, and goes unprepared when it is tried again.
	'26000': 'busy',
	'42P05': 'busy',
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
	[/^Query read timeout$/, 'outcome_unknown'],
	// Of a table that was changed, within a transaction, which is undone; it is planned anew when it is tried again.
	[/^cached plan must not change result type/, 'busy'],
	[
		/^Connection terminated|^Client has encountered a connection error|^Client was closed/i,
		'outcome_unknown',
	],
]

/** Whether an error says that the server only reads. */
export function isReadOnly(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === '25006'
}

/** `undefined` for what is no failure of the database or of the values: a mistake of ours, or a table changed. */
export function failureOf(error: unknown, table: Table): ModelError | undefined {
	if (error instanceof ModelError) return error
	if (!(error instanceof Error)) return undefined
	if (error instanceof NoConnection) return new ModelError('unavailable', [], error)
	if (error instanceof NoAnswer) return new ModelError('outcome_unknown', [], error)
	const raised = raisedBy(error)
	const kind = kindOf(error) ?? (raised === undefined ? undefined : 'refused')
	return kind === undefined ? undefined : new ModelError(kind, fieldsOf(error, kind, table), error, raised)
}

/** Classes of SQLSTATEs that PostgreSQL has itself (its appendix A): a state of another class is somebody's own. */
const CLASSES: ReadonlySet<string> = new Set(
	(
		'00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 ' +
		'53 54 55 57 58 72 F0 HV P0 XX'
	).split(' '),
)

/**
 * What somebody's function has raised, a trigger's mostly: `raise` of PL/pgSQL, whatever state it names, and states of
 * one's own from any language.
 */
function raisedBy(error: Error): RaisedError | undefined {
	const code = textAt(error, 'code')
	// Codes of Node such as EPERM have five letters too; only what the server has said has a severity.
	if (code === undefined || textAt(error, 'severity') === undefined) return undefined
	const isRaised =
		code === 'P0001' || textAt(error, 'routine') === 'exec_stmt_raise' || !CLASSES.has(code.slice(0, 2))
	return isRaised ? { code, message: error.message } : undefined
}

function kindOf(error: Error): ModelErrorKind | undefined {
	const code = textAt(error, 'code')
	if (code !== undefined) {
		// A socket that couldn't be connected has carried nothing.
		if (textAt(error, 'syscall') === 'connect') return 'unavailable'
		const known = CODES[code]
		if (known !== undefined) return known
		const state = /^[0-9A-Z]{5}$/.test(code) ? (STATES[code] ?? STATES[code.slice(0, 2)]) : undefined
		if (state !== undefined) return state
		if (isMalformed(error, code)) return 'invalid'
	}
	return MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1]
}

/**
 * What types say of a text that they can't read, besides the states of class 22: syntax, a name that there isn't, or that
 * several have.
 */
const UNREADABLE: ReadonlySet<string> = new Set([
	'42601',
	'42602',
	'42704',
	'42725',
	'42883',
	'42P01',
	'42P02',
])
/** These, and a schema that there isn't, or another database: of a value where the server tells which parameter it was. */
const UNREADABLE_PARAMETER = /^(?:42|3F000|0A000)/
/**
 * As in `unnamed portal parameter $2 = '...'`, in whatever language, and behind what the type has to say of the name; a
 * statement of a function stands in quotes.
 */
const OF_PARAMETER = /^(?:[^\n]*["»«”“]\n)?[^\n$"]*\$\d+(?: = |$)/
/** Functions of hstore that say so without a state of their own (before PostgreSQL 16). */
const HSTORE: ReadonlySet<string | undefined> = new Set(['get_val', 'parse_hstore'])

/**
 * Whether a type could not read a value: tsvector, tsquery, jsonpath, regclass and their kin. The same states are those of
 * statements that are wrong, of which the server tells the position, in ours or in a function's.
 */
export function isMalformed(error: Error, code: string): boolean {
	if (code === 'XX000') return HSTORE.has(textAt(error, 'routine'))
	if (UNREADABLE_PARAMETER.test(code) && OF_PARAMETER.test(textAt(error, 'where') ?? '')) return true
	if (!UNREADABLE.has(code) || textAt(error, 'severity') === undefined) return false
	const places = ['position', 'internalPosition', 'internal_position', 'internalQuery', 'internal_query']
	return places.every((place) => textAt(error, place) === undefined)
}

/** The columns that it is about, where they are this table's own. */
function fieldsOf(error: Error, kind: ModelErrorKind, table: Table): readonly string[] {
	const where = textAt(error, 'table') ?? textAt(error, 'table_name')
	// A trigger may have written into another table; a type's error (a domain's) names no table.
	if (where !== undefined && where !== table.name) return []
	// One of another schema may have its name, and names its constraints alike.
	const schema = textAt(error, 'schema') ?? textAt(error, 'schema_name')
	if (where !== undefined && schema !== undefined && schema !== table.schema) return []
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
