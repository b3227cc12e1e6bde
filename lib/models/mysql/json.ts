/** A `ColumnSql` for each column: how it is converted to JSON, sent, compared, sorted. Also quotes names and literals. */

import { RawJson } from '../../wire/raw-json.ts'
import type { Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { type Column, wellFormed } from '../sql/table.ts'
import { GEOMETRIES, geometrySql } from './geometries/geometries.ts'
import type { TypeDetails } from './types.ts'

/** Parts of a `concat(…)`: literal texts, and expressions. */
export type Part = { readonly text: string } | { readonly sql: string }
export type Parts = readonly Part[]

/** `ref` is the column's quoted name with the table's alias. */
interface ColumnSql {
	/** The JSON of a value that isn't null. */
	json(ref: string): Parts
	/** The JSON of a value that isn't null, for a cursor: with full precision. */
	cursor(ref: string): Parts
	/** The value as a number or text that the driver doesn't convert. */
	exact(ref: string): string
	/** An expression that sorts values in the order in which the column compares them. */
	order(ref: string): string
	readonly placeholder: string
	/** The placeholder of a value that can't use `placeholder`; `undefined` for other values. */
	placeholderOf?(value: Value): string | undefined
	bind(value: Exclude<Value, null>): unknown
}

export interface MysqlColumn extends Column {
	readonly sql: ColumnSql
	readonly isAutoIncrement: boolean
	/** The character set of a text. */
	readonly charset: string | undefined
	/** Whether a text's collation is case-insensitive. */
	readonly ignoresCase: boolean
	/** Whether it is sorted by its beginning only: a text that is too long to be indexed, unless it is part of the key. */
	readonly isCut: boolean
}

/** What a column is sorted by and a cursor has: the first 255 characters of a text that `isCut`. */
export function sortedRef({ isCut }: MysqlColumn, ref: string): string {
	return isCut ? `left(${ref},255)` : ref
}

export const asText = (ref: string): string => `cast(${ref} as char)`

/** @throws TypeError for a column of another adapter */
export function mysqlColumn(column: Column): MysqlColumn {
	if (isMysqlColumn(column)) return column
	throw new TypeError(`${JSON.stringify(column.name)} is not a column of MySQL`)
}

function isMysqlColumn(column: Column): column is MysqlColumn {
	return 'sql' in column
}

/** Joins the parts by `concat`; adjacent texts become one literal. */
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

/** A column's JSON within a `concat`. NULL becomes `null`; otherwise the whole `concat` would be NULL. */
export function jsonParts(column: MysqlColumn, ref: string, form: 'json' | 'cursor'): Parts {
	const { sql, nullable, allDigits } = column
	const written = form === 'cursor' ? sortedRef(column, ref) : ref
	const parts = allDigits === true ? quoted.json(sql.exact(ref)) : sql[form](written)
	if (!nullable) return parts
	return [{ sql: `if(${ref} is not null,${oneText(parts)},'null')` }]
}

export function oneText(parts: Parts): string {
	const [first] = parts
	return parts.length === 1 && first !== undefined && 'sql' in first ? first.sql : concatOf(parts)
}

/** Removes line breaks from JSON: those that `to_base64` puts into strings; all others are whitespace between values. */
export function withoutLineBreaks(json: string): string {
	return json.replaceAll('\n', '')
}

export function columnSql(column: Column, details: TypeDetails): ColumnSql {
	return { ...defaults(column), ...byType(column, details) }
}

/** The SQL of a text, the default. */
function defaults(column: Column): ColumnSql {
	return {
		...jsonAndCursor((ref) => [{ sql: `json_quote(${ref})` }]),
		exact: (ref) => ref,
		order: (ref) => ref,
		placeholder: '?',
		bind: (value) => (value instanceof RawJson ? value.text : wellFormed(String(value), column)),
	}
}

function byType(column: Column, details: TypeDetails): Partial<ColumnSql> {
	switch (column.type) {
		case 'boolean':
			return booleans(column)
		case 'integer':
			return column.sqlType === 'bit' ? bits : integers(details)
		case 'bigint':
			return bigints(column, details)
		case 'float':
			return floats(column, details)
		case 'decimal':
			return decimals(details)
		case 'date':
		case 'uuid':
			return { ...quoted, exact: asText }
		case 'time':
			return details.scale === 0 ? { ...quoted, exact: asText } : times
		case 'timestamp':
			return column.sqlType === 'timestamp' ? instants(details) : datetimes(details.scale)
		case 'json':
			return jsonAndCursor(whole)
		case 'bytes':
			return bytes
		case 'text':
			return column.sqlType === 'enum' ? choices : {}
		default:
			return GEOMETRIES.has(column.sqlType) ? geometries(column, details) : others
	}
}

/** The same JSON in records and in cursors. */
function jsonAndCursor(json: ColumnSql['json']): Pick<ColumnSql, 'json' | 'cursor'> {
	return { json, cursor: json }
}

const whole = (ref: string): Parts => [{ sql: ref }]
const inQuotes = (sql: string): Parts => [{ text: '"' }, { sql }, { text: '"' }]

const quoted = jsonAndCursor(inQuotes)

/** Fractional digits without trailing zeros, as in PostgreSQL. */
const timeText = (ref: string): string => `trim(trailing '.' from trim(trailing '0' from ${ref}))`
const times: Partial<ColumnSql> = { ...jsonAndCursor((ref) => inQuotes(timeText(ref))), exact: timeText }

/**
 * A TINYINT(1) may hold other numbers than 0 and 1. They are written as they are: as `true` they would be sorted and found
 * as other values than that, and a PUT of the same record would change them.
 */
function booleans({ name, loose }: Column): Partial<ColumnSql> {
	const json = (ref: string) =>
		loose === true
			? `case ${ref} when 0 then 'false' when 1 then 'true' else ${ref} end`
			: `if(${ref},'true','false')`
	return {
		...jsonAndCursor((ref) => [{ sql: json(ref) }]),
		placeholder: 'cast(? as signed)',
		bind: (value) => {
			if (typeof value === 'boolean') return value ? '1' : '0'
			if (loose === true && typeof value === 'number') return String(value) // of a cursor
			throw new ModelError('invalid', [name])
		},
	}
}

/** `+0` converts bits, and digits with leading zeros, to a number. */
const sum = (ref: string): string => `${ref}+0`
const added = (ref: string): Parts => [{ sql: sum(ref) }]

function integers({ isZeroPadded }: TypeDetails): Partial<ColumnSql> {
	return { ...jsonAndCursor(isZeroPadded ? added : whole), bind: (value) => value }
}

/** BIT columns. A value is sent as text; without the placeholder's cast, the server would store the text's bytes. */
const bits: Partial<ColumnSql> = {
	...jsonAndCursor(added),
	exact: (ref) => asText(sum(ref)),
	placeholder: 'cast(? as unsigned)',
	bind: String,
}

/**
 * Sent as text, because JavaScript's numbers lose digits, and cast so that they are compared as integers. Cast to char first,
 * because MySQL would read a text parameter as a signed integer: 2^63 and above would all be 2^63-1.
 */
function bigints(
	{ asText: isText, sqlType }: Column,
	{ isUnsigned, isZeroPadded }: TypeDetails,
): Partial<ColumnSql> {
	const digits = (ref: string): string => (isZeroPadded || sqlType === 'bit' ? sum(ref) : ref)
	const texts = (ref: string): Parts => inQuotes(digits(ref))
	return {
		json: isText === true ? texts : (ref) => [{ sql: digits(ref) }],
		cursor: texts,
		exact: (ref) => asText(digits(ref)),
		placeholder: isUnsigned ? 'cast(cast(? as char) as unsigned)' : 'cast(? as signed)',
		bind: String,
	}
}

/** The shortest text of a double that is read as the same. MySQL cuts it after 22 characters, except in its JSON: `5.0`. */
export function doubleText(ref: string, isMariaDb: boolean): string {
	return isMariaDb ? ref : `trim(trailing '.0' from cast(cast(${ref} as json) as char))`
}

/** `+0e0` converts a float to a double; without it, a float is written with six digits. */
function floats({ name }: Column, { isMariaDb }: TypeDetails): Partial<ColumnSql> {
	const double = (ref: string): string => `${ref}+0e0`
	return {
		...jsonAndCursor((ref) => [{ sql: doubleText(double(ref), isMariaDb) }]),
		exact: double,
		bind: (value) => {
			if (typeof value === 'number' && Number.isFinite(value)) return value
			throw new ModelError('invalid', [name])
		},
	}
}

/** Without the cast, a decimal and a text would be compared as doubles. */
function decimals({ precision, scale, isZeroPadded }: TypeDetails): Partial<ColumnSql> {
	const maxScale = Math.max(scale, Math.min(30, 65 - (precision - scale)))
	const json = isZeroPadded ? jsonAndCursor((ref) => inQuotes(sum(ref))) : quoted
	return { ...json, exact: asText, placeholder: `cast(? as decimal(65,${maxScale}))` }
}

/** `to_base64` inserts line breaks; `withoutLineBreaks` removes them, because SQL would take seconds per megabyte. */
const bytes: Partial<ColumnSql> = {
	...jsonAndCursor((ref) => inQuotes(`to_base64(${ref})`)),
	// A Buffer over the same memory, because mysql2 doesn't accept a Uint8Array.
	bind: (value) =>
		value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
}

/** An enum is sorted by its number, but compared as text; `concat` makes it sort as text, too. */
const choices: Partial<ColumnSql> = { exact: asText, order: (ref) => `concat(${ref})` }

const others: Partial<ColumnSql> = {
	...jsonAndCursor((ref) => [{ sql: `json_quote(${asText(ref)})` }]),
	exact: asText,
	order: (ref) => `concat(${ref})`,
}

const geometries = (column: Column, details: TypeDetails): Partial<ColumnSql> => {
	const { exact, ...others } = geometrySql(column, details)
	return { ...jsonAndCursor((ref) => [{ sql: `json_quote(${exact(ref)})` }]), exact, ...others }
}

function datetimes(scale: number): Partial<ColumnSql> {
	return {
		json: (ref) => inUtc(ref, scale, 3),
		cursor: (ref) => inUtc(ref, scale, scale),
		exact: (ref) => shortest(ref, scale),
		bind: utcText,
	}
}

/**
 * The server returns TIMESTAMP in the session's time zone, so the UTC time is computed from its seconds since 1970.
 * Values are sent in UTC and converted to the session's time zone.
 */
function instants({ scale, timestampEnd }: TypeDetails): Partial<ColumnSql> {
	const utc = (ref: string): string => `timestamp'1970-01-01 00:00:00'+interval unix_timestamp(${ref}) second`
	return {
		json: (ref) => orZero(ref, inUtc(utc(ref), scale, 3)),
		cursor: (ref) => orZero(ref, inUtc(utc(ref), scale, scale)),
		exact: (ref) => shortest(utc(ref), scale),
		placeholderOf: (value) => (isZero(value) ? '?' : undefined),
		placeholder: "convert_tz(cast(? as datetime(6)),'+00:00',@@session.time_zone)",
		bind: (value) => (isZero(value) ? ZERO : instantText(utcText(value), timestampEnd)),
	}
}

/** The zero value of TIMESTAMP, which has no time zone and no seconds since 1970. */
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
 * The server doesn't convert values outside the range of TIMESTAMP to the session's time zone, so a value near the
 * range's end could become a valid one some hours away. Such values are replaced by values far outside the range, which
 * are compared correctly, and rejected when stored.
 */
function instantText(text: string, timestampEnd: string): string {
	if (text < FIRST_INSTANT) return '0001-01-01 00:00:00'
	return text < timestampEnd ? text : '9999-12-31 23:59:59'
}

/**
 * Converts to RFC 3339, from `scale` to `digits` fractional digits. String functions take a third of the time of
 * `date_format`.
 */
function utcParts(sql: string, scale: number, digits: number): Parts {
	const text = `insert(${sql},11,1,'T')`
	const point = scale === 0 && digits > 0 ? '.' : ''
	const rest = `${point}${'0'.repeat(Math.max(0, digits - scale))}Z`
	const cut = scale > digits ? `left(${text},${digits === 0 ? 19 : 20 + digits})` : text
	return [{ sql: cut }, { text: rest }]
}

/** With all digits, at least three after the second. */
function shortest(sql: string, scale: number): string {
	const text = concatOf(utcParts(sql, scale, Math.max(3, scale)))
	return scale > 3 ? `regexp_replace(${text},'0{1,${scale - 3}}Z','Z')` : text
}

function inUtc(sql: string, scale: number, digits: number): Parts {
	return [{ text: '"' }, ...utcParts(sql, scale, digits), { text: '"' }]
}

/** Converts `2026-11-20T01:02:03.456Z` to the database's form, with at most six fractional digits. */
function utcText(value: Exclude<Value, null>): string {
	const text = String(value)
	return `${text.slice(0, 10)} ${text.slice(11, Math.min(26, text.length - 1))}`
}

export function quoteName(name: string): string {
	return `\`${name.replaceAll('`', '``')}\``
}

/** Pattern of a quoted name: in backticks, or with ANSI_QUOTES in double quotes. Two groups, for {@link unquoted}. */
export const QUOTED_NAME = '(?:`((?:[^`]|``)+)`|"((?:[^"]|"")+)")'

export function unquoted(ticked: string | undefined, quoted?: string): string | undefined {
	return ticked?.replaceAll('``', '`') ?? quoted?.replaceAll('""', '"')
}

/**
 * A string literal. Texts with backslashes, which depend on NO_BACKSLASH_ESCAPES, or with anything but printable ASCII,
 * which depends on the session's character set, are written as bytes.
 */
function literal(text: string): string {
	if (/^[\x20-\x5b\x5d-\x7e]*$/.test(text)) return `'${text.replaceAll("'", "''")}'`
	return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
}
