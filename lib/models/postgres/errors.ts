/** `failureOf`: translates errors of PostgreSQL and of the connection to it; the same for pg, postgres.js and PGlite. */
import { ModelError, type ModelErrorKind, type RaisedError } from '../model-error.ts'
import { NoAnswer, NoConnection } from '../sql/pool.ts'
import type { Table } from '../sql/table.ts'

/** Message of pg after its own `query_timeout`: the statement is still running. */
export const READ_TIMEOUT = 'Query read timeout'

/** Fails in a transaction after an error; a commit would roll back without one. */
export const PROBE = 'select 1'

/** Whether an error only says that an earlier one has aborted the transaction. */
export function isAborted(error: unknown): boolean {
	return error instanceof Error && Reflect.get(error, 'code') === '25P02'
}

/** By SQLSTATE, or by its class, the first two characters (PostgreSQL, appendix A). */
const STATES: Readonly<Record<string, ModelErrorKind>> = {
	'23505': 'unique',
	// Exclusion constraint: conflicts with another record.
	'23P01': 'unique',
	'23503': 'foreign_key',
	'23001': 'foreign_key',
	'23502': 'not_null',
	'23514': 'check',
	'44000': 'check',
	'22': 'invalid',
	// A value is too large for an index, or larger than 1 GB: a page's JSON, or a value that is written.
	'54000': 'too_large',
	'42501': 'forbidden',
	// In a transaction, a prepared statement doesn't exist, or exists twice: a pooler has switched connections. The
	// transaction is rolled back; the next attempt doesn't prepare.
	'26000': 'busy',
	'42P05': 'busy',
	'40001': 'busy',
	'40P01': 'busy',
	'55P03': 'busy',
	// A timeout of a statement or transaction, or a cancelled statement: the transaction is rolled back.
	'57014': 'unavailable',
	'25P02': 'unavailable',
	'25P03': 'unavailable',
	'25P04': 'unavailable',
	// The server is a read-only replica, which may become the primary.
	'25006': 'unavailable',
	'53': 'unavailable',
	'57P03': 'unavailable',
	// The server was stopped or has crashed during the statement, perhaps after the commit.
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
	// `end()` was called on postgres.js.
	CONNECTION_ENDED: 'unavailable',
	ECONNRESET: 'outcome_unknown',
	EPIPE: 'outcome_unknown',
	ETIMEDOUT: 'outcome_unknown',
	CONNECTION_CLOSED: 'outcome_unknown',
	CONNECTION_DESTROYED: 'outcome_unknown',
}

/** Errors of pg and PGlite that have no code. */
const MESSAGES: readonly (readonly [pattern: RegExp, kind: ModelErrorKind])[] = [
	[/^timeout exceeded when trying to connect|^timeout expired|due to connection timeout/i, 'unavailable'],
	[/^Cannot use a pool after calling end/i, 'unavailable'],
	[/^PGlite is (?:closed|closing)/i, 'unavailable'],
	[/^Query read timeout$/, 'outcome_unknown'],
	// The table was altered during a transaction, which is rolled back. The next attempt plans again.
	[/^cached plan must not change result type/, 'busy'],
	[
		/^Connection terminated|^Client has encountered a connection error|^Client was closed/i,
		'outcome_unknown',
	],
]

/** Whether the server rejects changes, as a replica does. */
export function isReadOnly(error: unknown): boolean {
	return codeOf(error) === '25006'
}

/** Whether a pooler has switched connections, so that a prepared statement doesn't exist, or exists twice. */
export function isMixedUp(error: unknown): boolean {
	return /^(?:26000|42P05)$/.test(codeOf(error) ?? '')
}

/** Translates an error; `undefined` for a programming error, and for a table that was altered. */
export function failureOf(error: unknown, table: Table): ModelError | undefined {
	if (error instanceof ModelError) return error
	if (!(error instanceof Error)) return undefined
	if (error instanceof NoConnection) return new ModelError('unavailable', [], error)
	if (error instanceof NoAnswer) return new ModelError('outcome_unknown', [], error)
	const raised = raisedBy(error)
	const kind = kindOf(error) ?? (raised === undefined ? undefined : 'refused')
	return kind === undefined ? undefined : new ModelError(kind, fieldsOf(error, kind, table), error, raised)
}

/** PostgreSQL's own classes of SQLSTATEs (appendix A); a state of another class is user-defined. */
const CLASSES: ReadonlySet<string> = new Set(
	(
		'00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 ' +
		'53 54 55 57 58 72 F0 HV P0 XX'
	).split(' '),
)

/** What a function, usually a trigger, has raised: by `raise` of PL/pgSQL, or with a user-defined state. */
function raisedBy(error: Error): RaisedError | undefined {
	const code = codeOf(error)
	// Codes of Node such as EPERM have five letters too; only errors of the server have a severity.
	if (code === undefined || textAt(error, 'severity') === undefined) return undefined
	const isRaised =
		code === 'P0001' || textAt(error, 'routine') === 'exec_stmt_raise' || !CLASSES.has(code.slice(0, 2))
	return isRaised ? { code, message: error.message } : undefined
}

/** What an error of the server, or of the connection to it, means; `undefined` for any other. */
export function kindOf(error: Error): ModelErrorKind | undefined {
	const code = codeOf(error)
	if (code !== undefined) {
		// The connection failed, so nothing was sent.
		if (textAt(error, 'syscall') === 'connect') return 'unavailable'
		const known = CODES[code]
		if (known !== undefined) return known
		const state = /^[0-9A-Z]{5}$/.test(code) ? (STATES[code] ?? STATES[code.slice(0, 2)]) : undefined
		if (state !== undefined) return state
		if (isMalformed(error)) return 'invalid'
	}
	return MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1]
}

/** SQLSTATEs besides class 22 with which types reject a text: a syntax error, an unknown or ambiguous name. */
const UNREADABLE = /^(?:4260[12]|42704|42725|42883|42P0[12])$/
/** Class 42, an unknown schema, another database: caused by a value if the error names the parameter. */
const UNREADABLE_PARAMETER = /^(?:42|3F000|0A000)/
/**
 * Matches the context of an error in a parameter, such as `unnamed portal parameter $2 = '...'`, in any language,
 * perhaps after a line about the type. A `$2` in quotes is part of a function's statement instead.
 */
const OF_PARAMETER = /^(?:[^\n]*["»«”“]\n)?[^\n$"]*\$\d+(?: = |$)/
/** Functions of hstore that raise an internal error for a malformed value (before PostgreSQL 16). */
const HSTORE: ReadonlySet<string | undefined> = new Set(['get_val', 'parse_hstore'])

/**
 * Whether a type rejects the syntax of a value: tsvector, tsquery, jsonpath, regclass and others. A wrong statement, the
 * library's or a function's, has the same SQLSTATE, but its error has a position.
 */
export function isMalformed(error: Error): boolean {
	const code = codeOf(error) ?? ''
	if (code === 'XX000') return HSTORE.has(textAt(error, 'routine'))
	if (UNREADABLE_PARAMETER.test(code) && OF_PARAMETER.test(textAt(error, 'where') ?? '')) return true
	if (!UNREADABLE.test(code) || textAt(error, 'severity') === undefined) return false
	const places = ['position', 'internalPosition', 'internal_position', 'internalQuery', 'internal_query']
	return places.every((place) => textAt(error, place) === undefined)
}

/** The columns of this table that the error is about. */
function fieldsOf(error: Error, kind: ModelErrorKind, table: Table): readonly string[] {
	const where = textAt(error, 'table') ?? textAt(error, 'table_name')
	// A trigger may have written to another table. Errors about domains don't name a table.
	const own = table.base ?? table
	if (where !== undefined && where !== own.name) return []
	// A table of another schema may have the same name and the same constraint names.
	const schema = textAt(error, 'schema') ?? textAt(error, 'schema_name')
	if (where !== undefined && schema !== undefined && schema !== own.schema) return []
	if (kind === 'not_null') {
		const column = textAt(error, 'column') ?? textAt(error, 'column_name')
		if (column === undefined) return []
		const field = table.base === undefined ? column : table.base.columns.get(column)
		return field !== undefined && table.columns.some(({ name }) => name === field) ? [field] : []
	}
	const name = textAt(error, 'constraint') ?? textAt(error, 'constraint_name')
	if (name === undefined) return []
	const columns = table.constraints.filter((constraint) => constraint.name === name)
	return [...new Set(columns.flatMap((constraint) => constraint.columns))]
}

/** The SQLSTATE, or a code of Node or of a driver. */
export function codeOf(error: unknown): string | undefined {
	return error instanceof Error ? textAt(error, 'code') : undefined
}

function textAt(error: Error, key: string): string | undefined {
	const value: unknown = Reflect.get(error, key)
	return typeof value === 'string' && value !== '' ? value : undefined
}
