/**
 * SQL that writes columns, records and cursors of MySQL and MariaDB as JSON, and how a value of each type is sent, compared
 * and ordered: a `ColumnSql`, made once for each column.
 */

import { RawJson } from '../../wire/raw-json.ts'
import type { Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Column } from '../sql/table.ts'
import { GEOMETRIES, isWellKnownText, type Measures } from './types.ts'

/** Parts of a `concat(…)`: texts that stand as they are, and expressions. `ref` is the column's quoted name. */
export type Part = { readonly text: string } | { readonly sql: string }
export type Parts = readonly Part[]

interface ColumnSql {
	/** Its JSON; where it isn't null. */
	json(ref: string): Parts
	/** Its JSON in a cursor, as exact as the database knows it; where it isn't null. */
	cursor(ref: string): Parts
	/** A condition that it isn't null; nothing where it can't be. */
	isThere(ref: string): string | undefined
	/** As a number or a text that the driver doesn't change. */
	exact(ref: string): string
	/** By what it is compared when it is compared with a text or a number. */
	order(ref: string): string
	/** Its placeholder. */
	readonly placeholder: string
	/** The placeholder of a value that needs another one; `undefined` for all others. */
	placeholderOf?(value: Value): string | undefined
	bind(value: Exclude<Value, null>): unknown
}

/** A column that knows its SQL. */
export interface MysqlColumn extends Column {
	readonly sql: ColumnSql
	/** Whether the database counts it up. */
	readonly isCounted: boolean
	/** The character set of a text. */
	readonly charset: string | undefined
	/** Whether a text's collation takes upper and lower case for the same. */
	readonly ignoresCase: boolean
}

export const asText = (ref: string): string => `cast(${ref} as char)`

/** @throws TypeError for a column that was made elsewhere */
export function mysqlColumn(column: Column): MysqlColumn {
	if (isMysqlColumn(column)) return column
	throw new TypeError(`the column ${JSON.stringify(column.name)} is none of MySQL`)
}

function isMysqlColumn(column: Column): column is MysqlColumn {
	return 'sql' in column
}

/** The parts as the arguments of `concat`; neighbouring texts become one. */
export function concatOf(parts: Parts): string {
	const written: string[] = []
	let text = ''
	for (const part of parts) {
		if ('text' in part) {
			text += part.text
			continue
		}
		if (text !== '') written.push(literal(text))
		text = ''
		written.push(part.sql)
	}
	if (text !== '') written.push(literal(text))
	return `concat(${written.join(',')})`
}

/** A column's JSON within a `concat`, null included: `concat` of anything with NULL is NULL. */
export function jsonParts({ sql }: MysqlColumn, ref: string, form: 'json' | 'cursor'): Parts {
	const parts = sql[form](ref)
	const isThere = sql.isThere(ref)
	if (isThere === undefined) return parts
	const [first] = parts
	const whole = parts.length === 1 && first !== undefined && 'sql' in first ? first.sql : concatOf(parts)
	return [{ sql: `if(${isThere},${whole},'null')` }]
}

/**
 * JSON without its line breaks: those of base64 are no JSON, and others stand between values, as within texts
 * they are escaped.
 */
export function unbroken(json: string): string {
	return json.replaceAll('\n', '')
}

export function columnSql(column: Column, measures: Measures): ColumnSql {
	return { ...plain(column), ...byType(column, measures) }
}

/** What holds for most: a text, written as it is and sent as it is. */
function plain({ name, nullable }: Column): ColumnSql {
	const json = (ref: string): Parts => [{ sql: `json_quote(${ref})` }]
	return {
		json,
		cursor: json,
		isThere: (ref) => (nullable ? `${ref} is not null` : undefined),
		exact: (ref) => ref,
		order: (ref) => ref,
		placeholder: '?',
		bind: (value) => textOf(value, name),
	}
}

function byType(column: Column, measures: Measures): Partial<ColumnSql> {
	switch (column.type) {
		case 'boolean':
			return booleans
		case 'integer':
			return column.sqlType === 'bit' ? bits : integers(measures)
		case 'bigint':
			return bigints(column, measures)
		case 'float':
			return floats(column)
		case 'decimal':
			return decimals(measures)
		case 'date':
		case 'time':
			return quoted
		case 'timestamp':
			return column.sqlType === 'timestamp' ? instants(measures) : datetimes(measures.scale)
		case 'uuid':
			return { ...quoted, exact: asText }
		case 'json':
			return { json: whole, cursor: whole }
		case 'bytes':
			return bytes
		case 'text':
			return column.sqlType === 'enum' ? choices : {}
		default:
			return GEOMETRIES.has(column.sqlType) ? geometries(column) : others
	}
}

const whole = (ref: string): Parts => [{ sql: ref }]
const inQuotes = (sql: string): Parts => [{ text: '"' }, { sql }, { text: '"' }]

const quoted: Partial<ColumnSql> = { json: inQuotes, cursor: inQuotes }

const truth = (ref: string): Parts => [{ sql: `if(${ref},'true','false')` }]
const booleans: Partial<ColumnSql> = {
	json: truth,
	cursor: truth,
	placeholder: 'cast(? as unsigned)',
	bind: (value) => (value === true ? '1' : '0'),
}

/** `+0` makes a number of bits, and of digits with leading zeros. */
const sum = (ref: string): string => `${ref}+0`
const added = (ref: string): Parts => [{ sql: sum(ref) }]

function integers({ isPadded }: Measures): Partial<ColumnSql> {
	const json = isPadded ? added : whole
	return { json, cursor: json, bind: (value) => value }
}

/** Without the cast, bits would be read from the bytes of a text. */
const bits: Partial<ColumnSql> = {
	json: added,
	cursor: added,
	exact: (ref) => asText(sum(ref)),
	placeholder: 'cast(? as unsigned)',
	bind: String,
}

/** As texts, but compared as integers: as numbers of JavaScript, or compared as texts, they lose digits. */
function bigints(
	{ asText: isText, sqlType }: Column,
	{ isUnsigned, isPadded }: Measures,
): Partial<ColumnSql> {
	const digits = (ref: string): string => (isPadded || sqlType === 'bit' ? sum(ref) : ref)
	const texts = (ref: string): Parts => inQuotes(digits(ref))
	return {
		json: isText === true ? texts : (ref) => [{ sql: digits(ref) }],
		cursor: texts,
		exact: (ref) => asText(digits(ref)),
		placeholder: isUnsigned ? 'cast(? as unsigned)' : 'cast(? as signed)',
		bind: String,
	}
}

/** `+0e0` makes a float the double that it is; as it is, it is written with six digits. */
function floats({ name }: Column): Partial<ColumnSql> {
	const double = (ref: string): Parts => [{ sql: `${ref}+0e0` }]
	return {
		json: double,
		cursor: double,
		exact: (ref) => `${ref}+0e0`,
		bind: (value) => {
			if (typeof value === 'number' && Number.isFinite(value)) return value
			throw new ModelError('invalid', [name])
		},
	}
}

/** Compared with a text, a decimal would be compared as a double. */
function decimals({ precision, scale, isPadded }: Measures): Partial<ColumnSql> {
	const most = Math.max(scale, Math.min(30, 65 - (precision - scale)))
	const padded = (ref: string): Parts => inQuotes(sum(ref))
	const json = isPadded ? { json: padded, cursor: padded } : quoted
	return { ...json, exact: asText, placeholder: `cast(? as decimal(65,${most}))` }
}

/**
 * The database breaks the lines of base64, and takes seconds to put a megabyte of them together again: that is
 * left to `unbroken`.
 */
const base64 = (ref: string): Parts => inQuotes(`to_base64(${ref})`)
const bytes: Partial<ColumnSql> = {
	json: base64,
	cursor: base64,
	bind: (value) => (value instanceof Uint8Array ? bufferOf(value) : value),
}

/** An enum is ordered by its number, but compared as a text. */
const choices: Partial<ColumnSql> = { exact: asText, order: (ref) => `concat(${ref})` }

const quotedText = (ref: string): Parts => [{ sql: `json_quote(${asText(ref)})` }]
const others: Partial<ColumnSql> = {
	json: quotedText,
	cursor: quotedText,
	exact: asText,
	order: (ref) => `concat(${ref})`,
}

const wellKnownText = (ref: string): Parts => [{ sql: `json_quote(st_astext(${ref}))` }]
/** The server turns what it can't parse into NULL; the empty text in its place is an error. */
const geometries = ({ name }: Column): Partial<ColumnSql> => ({
	json: wellKnownText,
	cursor: wellKnownText,
	exact: (ref) => `st_astext(${ref})`,
	placeholder: "coalesce(st_geomfromtext(?),'')",
	placeholderOf: (value) => (value === null ? '?' : undefined),
	bind: (value) => {
		const text = String(value)
		if (isWellKnownText(text)) return text
		throw new ModelError('invalid', [name])
	},
})

/** A view of the same bytes: mysql2 knows a Buffer only. */
function bufferOf(bytes: Uint8Array): Buffer {
	return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Half a surrogate pair would be sent as another character. */
function textOf(value: Exclude<Value, null>, name: string): unknown {
	if (value instanceof RawJson) return value.text
	const text = String(value)
	if (/\p{Surrogate}/u.test(text)) throw new ModelError('invalid', [name])
	return text
}

function datetimes(scale: number): Partial<ColumnSql> {
	return {
		json: (ref) => inUtc(ref, scale, 3),
		cursor: (ref) => inUtc(ref, scale, scale),
		exact: asText,
		bind: utcText,
	}
}

/**
 * A TIMESTAMP is shown in the session's time zone: its seconds since 1970 are not. What is sent is in UTC, and
 * is turned into the session's time.
 */
function instants({ scale, untilSecond }: Measures): Partial<ColumnSql> {
	const utc = (ref: string): string => `timestamp'1970-01-01 00:00:00'+interval unix_timestamp(${ref}) second`
	return {
		json: (ref) => orZero(ref, inUtc(utc(ref), scale, 3)),
		cursor: (ref) => orZero(ref, inUtc(utc(ref), scale, scale)),
		exact: (ref) => asText(utc(ref)),
		placeholderOf: (value) => (isZero(value) ? '?' : undefined),
		placeholder: "convert_tz(cast(? as datetime(6)),'+00:00',@@session.time_zone)",
		bind: (value) => (isZero(value) ? ZERO : instantText(utcText(value), untilSecond)),
	}
}

/** What a TIMESTAMP holds besides instants: it is in no time zone, and has no seconds since 1970. */
const ZERO = '0000-00-00 00:00:00'

function isZero(value: Value): boolean {
	return typeof value === 'string' && value.startsWith('0000-00-00')
}

function orZero(ref: string, parts: Parts): Parts {
	return [{ sql: `if(dayofmonth(${ref}),${concatOf(parts)},'"0000-00-00T00:00:00.000Z"')` }]
}

/** The first second of TIMESTAMP, in UTC. */
const FIRST_INSTANT = '1970-01-01 00:00:01'

/**
 * What no TIMESTAMP can be isn't turned into the session's time by the server, and could so become one that is
 * hours away. Farther out it is refused where it would be stored, and compared rightly.
 */
function instantText(text: string, untilSecond: string): string {
	if (text < FIRST_INSTANT) return '0001-01-01 00:00:00'
	return text < untilSecond ? text : '9999-12-31 23:59:59'
}

/**
 * RFC 3339 with `wanted` digits of a second out of `there`. Cutting and pasting its text costs a third of what
 * `date_format` does.
 */
function inUtc(sql: string, there: number, wanted: number): Parts {
	const text = `insert(${sql},11,1,'T')`
	const point = there === 0 && wanted > 0 ? '.' : ''
	const rest = `${point}${'0'.repeat(Math.max(0, wanted - there))}Z"`
	const cut = there > wanted ? `left(${text},${wanted === 0 ? 19 : 20 + wanted})` : text
	return [{ text: '"' }, { sql: cut }, { text: rest }]
}

/** `2026-11-20T01:02:03.456Z` as the database reads it; it knows six digits of a second. */
function utcText(value: Exclude<Value, null>): string {
	const text = String(value)
	const end = Math.min(26, text.length - 1)
	return `${text.slice(0, 10)} ${text.slice(11, end)}`
}

/** A name as an identifier. */
export function quoteName(name: string): string {
	return `\`${name.replaceAll('`', '``')}\``
}

/**
 * A text of ours as a literal. Backslashes escape or don't, by NO_BACKSLASH_ESCAPES, and what isn't ASCII
 * is read in the session's character set: such texts are written as bytes.
 */
export function literal(text: string): string {
	if (/^[\x20-\x5b\x5d-\x7e]*$/.test(text)) return `'${text.replaceAll("'", "''")}'`
	return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
}
