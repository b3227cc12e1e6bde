/** Translates errors of mysql2, MySQL and MariaDB (`failureOf`), and classifies what they mean for the connection. */
import { ModelError, type ModelErrorKind, type RaisedError } from '../model-error.ts'
import { NoAnswer, NoConnection } from '../sql/pool.ts'
import { ansiQuoted, type Constraint, type Table } from '../sql/table.ts'
import { QUOTED_NAME, quoteName, unquoted } from './json.ts'

const KINDS: ReadonlyMap<number, ModelErrorKind> = new Map([
	...kind('unique', 1062, 1586, 1022, 1169, 1859),
	...kind('foreign_key', 1451, 1452, 1216, 1217, 1557, 1761, 1762),
	...kind('not_null', 1048, 1263, 1364, 1423, 1566, 3673),
	// The last one is the check option of a view.
	...kind('check', 3819, 4025, 1369),
	// Too long, out of range, truncated, no such value, malformed.
	...kind('invalid', 1406, 1264, 1265, 1366, 1292, 1367, 1525, 1916),
	// Text of another character set.
	...kind('invalid', 1300, 1267, 1270, 1271, 1279),
	// A wrong argument of a function; geometry, JSON; larger than the server accepts.
	...kind('invalid', 1411, 1416, 1690, 3037, 3140, 3141, 3548, 3854, 3988, 4079, 1153, 1301, 1118),
	// A geometry of another reference system, or a longitude or latitude beyond it; a vector.
	...kind('invalid', 3643, 3616, 3617, 6136),
	// No partition takes the record; an index on an expression refuses the value.
	...kind('invalid', 1526, 3751, 3752, 3903, 3904, 3905, 3908),
	// Deadlock, lock wait timeout, changed since it was read, too many locks, killed, too many prepared statements.
	...kind('busy', 1213, 1205, 1020, 1206, 1613, 1614, 1637, 3572, 1317, 1461),
	// Statement timeout; the statement was rolled back. Not `busy`, because an immediate retry would only add load.
	...kind('unavailable', 1969, 3024),
	// Error during commit: a Galera node lost the majority, perhaps after it had replicated the change.
	...kind('outcome_unknown', 1180),
	// Access denied to a database, table, column or routine (which a trigger may call).
	...kind('forbidden', 1044, 1142, 1143, 1370),
	// Too many connections, in total or per user; out of memory or threads.
	...kind('unavailable', 1040, 1203, 1226, 1129, 1037, 1038, 1041, 1135),
])

function kind(kind: ModelErrorKind, ...numbers: readonly number[]): [number, ModelErrorKind][] {
	return numbers.map((number) => [number, kind])
}

/** Translates an error; `undefined` for a programming error. */
export function failureOf(error: unknown, table: Table): ModelError | undefined {
	if (isUnsent(error) || isReadOnly(error)) return new ModelError('unavailable', [], error)
	const raised = raisedBy(error)
	const known = numberOf(error) === undefined ? undefined : (kindOf(error) ?? (raised && 'refused'))
	// Checked before `isLost`, because a server that rejects a packet also disconnects.
	if (known !== undefined) return new ModelError(known, fieldsOf(known, error, table), error, raised)
	return isLost(error) ? new ModelError('outcome_unknown', [], error) : undefined
}

/** What the server's error number means; `undefined` for an unknown one. */
export function kindOf(error: unknown): ModelErrorKind | undefined {
	return KINDS.get(numberOf(error) ?? 0)
}

/** The servers' own classes of SQLSTATEs; a state of another class is user-defined. */
const CLASSES: ReadonlySet<string> = new Set(
	'00 01 02 07 08 0A 0K 20 21 22 23 24 25 26 27 28 2B 2D 2F 30 34 35 37 38 39 3B 3D 3F 40 42 44 70 HY HZ XA'.split(
		' ',
	),
)

/** Error numbers of `signal` and `resignal` that don't set one. */
const SIGNALED: ReadonlySet<number> = new Set([1643, 1644])

/** The error that `signal`, usually in a trigger, has raised. */
function raisedBy(error: unknown): RaisedError | undefined {
	if (!(error instanceof Error)) return undefined
	const code: unknown = Reflect.get(error, 'sqlState')
	const message: unknown = Reflect.get(error, 'sqlMessage')
	if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return undefined
	const isRaised = SIGNALED.has(numberOf(error) ?? 0) || !CLASSES.has(code.slice(0, 2))
	return isRaised ? { code, message: typeof message === 'string' ? message : error.message } : undefined
}

function fieldsOf(kind: ModelErrorKind, error: unknown, table: Table): readonly string[] {
	const message = error instanceof Error ? error.message : ''
	switch (kind) {
		case 'unique':
			return keyOf(message, table)?.columns ?? []
		case 'foreign_key':
			return foreignKeyOf(error, message, table)?.columns ?? []
		case 'check':
			return checkOf(message, table)
		case 'not_null':
		case 'invalid':
			return columnOf(message, table)
		default:
			return []
	}
}

/** Finds the key in `Duplicate entry '…' for key 'name'` or `'table.name'`, at the end: the value may look like one. */
function keyOf(message: string, { constraints }: Table): Constraint | undefined {
	const keys = constraints.filter(({ kind }) => kind === 'primary' || kind === 'unique')
	return keys
		.filter(({ name }) => message.endsWith(`'${name}'`) || message.endsWith(`.${name}'`))
		.sort((a, b) => b.name.length - a.name.length)[0]
}

const CHECK = new RegExp(`'([^']+)' is violated|CONSTRAINT ${QUOTED_NAME} failed for`)
const COLUMN = new RegExp(
	`(?:[Cc]olumn|Field) (?:'([^']+)'|(?:(?:\`[^\`]*\`|"[^"]*")\\.)*${QUOTED_NAME})`,
	'g',
)

/** Finds `CONSTRAINT "name" FOREIGN KEY` in error 1452; other errors are about a key of another table. */
function foreignKeyOf(error: unknown, message: string, { constraints }: Table): Constraint | undefined {
	if (numberOf(error) !== 1452) return undefined
	// MySQL doesn't double the quotes in a name.
	const quotings = (name: string) => [quoteName(name), ansiQuoted(name), `\`${name}\``, `"${name}"`]
	return constraints.find(
		({ kind, name }) =>
			kind === 'foreign_key' &&
			quotings(name).some((quoted) => message.includes(`CONSTRAINT ${quoted} FOREIGN KEY`)),
	)
}

/** Parses `Check constraint 'name' is violated.`, or MariaDB's `CONSTRAINT "name" failed for "schema"."table"`. */
function checkOf(message: string, table: Table): readonly string[] {
	const [, mysqls, ticked, quoted] = CHECK.exec(message) ?? []
	const name = mysqls ?? unquoted(ticked, quoted)
	if (name === undefined) return []
	const found = table.constraints.find(
		(constraint) => constraint.kind === 'check' && constraint.name === name,
	)
	if (found !== undefined) return found.columns
	// A check in a column's definition is named by table and column.
	const owner = (table.base ?? table).name
	return named(name.startsWith(`${owner}.`) ? name.slice(owner.length + 1) : name, table)
}

/** The model's field for a column of its table, or of the table behind its view. */
function named(column: string, { base, columns }: Table): readonly string[] {
	const field = base === undefined ? column : base.columns.get(column)
	return columns.some(({ name }) => name === field) && field !== undefined ? [field] : []
}

/** Finds the column that is named last, perhaps with its table. A value before it may look like a column's name. */
function columnOf(message: string, table: Table): readonly string[] {
	const [, bare, ticked, quoted] = [...message.matchAll(COLUMN)].at(-1) ?? []
	const name = bare ?? unquoted(ticked, quoted)
	if (name === undefined) return []
	const names =
		table.base === undefined ? table.columns.map((column) => column.name) : [...table.base.columns.keys()]
	const match = names.find((each) => each === name) ?? names.find((each) => name.endsWith(`.${each}`))
	return match === undefined ? [] : named(match, table)
}

/** Codes of mysql2 and of Node for a lost connection. */
const LOST: ReadonlySet<unknown> = new Set([
	...'PROTOCOL_CONNECTION_LOST PROTOCOL_ERROR PROTOCOL_UNEXPECTED_PACKET'.split(' '),
	...'PROTOCOL_SEQUENCE_TIMEOUT ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENETRESET ENETDOWN'.split(' '),
	...'ENETUNREACH EHOSTUNREACH ENOTCONN ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END'.split(' '),
])

/**
 * Errors after which the server disconnects: shutdown in progress, aborting, packet too large, gone away, lost during a
 * query, killed (MariaDB), closed for idleness (MySQL).
 */
const ENDED: ReadonlySet<number> = new Set([1053, 1152, 1153, 1184, 1927, 2006, 2013, 4031])

/** The server or session is read-only, or a Galera node has no majority. New connections may lead to a writable one. */
const READ_ONLY: ReadonlySet<number> = new Set([1290, 1792, 1836, 1047])

/** Message of mysql2, without a code, if the connection was closed before the statement was sent. */
const CLOSED = "Can't add new command when connection is in closed state"

/** The server's error number. */
export function numberOf(error: unknown): number | undefined {
	const number: unknown = error instanceof Error ? Reflect.get(error, 'errno') : undefined
	return typeof number === 'number' && number > 0 ? number : undefined
}

/** Whether the connection was lost during a statement. */
export function isLost(error: unknown): boolean {
	if (error instanceof NoAnswer) return true
	if (!(error instanceof Error)) return false
	if (LOST.has(Reflect.get(error, 'code'))) return true
	const number = numberOf(error)
	if (number !== undefined) return ENDED.has(number)
	return Reflect.get(error, 'fatal') === true
}

/** Whether the statement was never sent. */
export function isUnsent(error: unknown): boolean {
	return error instanceof NoConnection || (error instanceof Error && error.message === CLOSED)
}

export function isReadOnly(error: unknown): boolean {
	return READ_ONLY.has(numberOf(error) ?? 0)
}
