/**
 * SQL that writes a column's value as JSON, for a record or a cursor, each type in the one form that `FieldType` says,
 * whatever the session's settings are; and records made of them. Used by `list.ts` and `dialect.ts`.
 */

import type { RecordSql, Selected } from '../sql/dialect.ts'
import type { Column } from '../sql/table.ts'
import { quoteName } from './types.ts'

/** RFC 3339 in UTC with milliseconds, and with all that PostgreSQL knows. Unquoted, `TH` would be a suffix. */
const MILLISECONDS = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`
const QUOTED = `E'\\\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\\\"'`
const MICROSECONDS = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`

/** Types that `to_json` writes by itself as they are wanted. */
const AS_IT_IS: ReadonlySet<string> = new Set(
	(
		'bool int2 int4 int8 float4 float8 text varchar bpchar name "char" uuid date time timetz json jsonb inet ' +
		'cidr macaddr macaddr8 xml interval "bit" varbit int4range int8range numrange point tsvector tsquery pg_lsn'
	).split(' '),
)

/** Ranges of times: written out, as their own text follows DateStyle and TimeZone. */
const RANGES: Readonly<Record<string, string>> = {
	daterange: 'date',
	tsrange: 'timestamp',
	tstzrange: 'timestamptz',
}

const ARRAY = '[]'

/** Types whose own text is JSON. */
const IS_JSON: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'oid', 'json', 'jsonb'])

/**
 * The JSON of a value as an argument of `concat`; never NULL, whatever the catalog says of the column: its
 * `not null` may be dropped while we run. `name` is the column's, with its table's alias.
 */
export function jsonText(column: Column, name: string): string {
	const { sqlType } = column
	if (sqlType.endsWith(ARRAY)) return orNull(`to_json(${arrayOf(sqlType, name)})`)
	if (sqlType === 'bool') return `case when ${name} then 'true' when not ${name} then 'false' else 'null' end`
	if (sqlType === 'timestamp' || sqlType === 'timestamptz') return orNull(time(sqlType, name, QUOTED))
	if (IS_JSON.has(sqlType) && column.asText !== true) return orNull(`${name}::text`)
	return orNull(`to_json(${scalar(sqlType, name, column.asText === true, MILLISECONDS)})`)
}

function orNull(json: string): string {
	return `coalesce(${json}, 'null')`
}

/** A column as `array_agg` can collect it for {@link cursorValue}: arrays of unlike lengths it can't. */
export function collected(column: Column, name: string): string {
	return column.sqlType.endsWith(ARRAY) ? `to_json(${arrayOf(column.sqlType, name)})` : name
}

/**
 * A collected value for a cursor: as exactly as PostgreSQL knows it, digits of bigint and decimal as text; null
 * stays null.
 */
export function cursorValue({ sqlType, type }: Column, name: string): string {
	return sqlType.endsWith(ARRAY) ? name : scalar(sqlType, name, type === 'bigint', MICROSECONDS)
}

/** Types whose values have some bytes, whatever they are. */
const SHORT: ReadonlySet<string> = new Set(
	(
		'bool int2 int4 int8 float4 float8 oid money name "char" uuid date time timetz timestamp timestamptz interval ' +
		'inet cidr macaddr macaddr8 pg_lsn'
	).split(' '),
)

export function isShort({ sqlType }: Column): boolean {
	return SHORT.has(sqlType)
}

/** A collected value as `octet_length` takes it. */
export function bytesOf({ sqlType }: Column, name: string): string {
	return sqlType === 'bytea' ? name : `${name}::text`
}

function arrayOf(sqlType: string, name: string): string {
	return arrayValue(sqlType.slice(0, -ARRAY.length), name)
}

function scalar(sqlType: string, name: string, asText: boolean, format: string): string {
	if (sqlType === 'int8' && asText) return `${name}::text`
	if (AS_IT_IS.has(sqlType)) return name
	if (sqlType === 'timestamp' || sqlType === 'timestamptz') return time(sqlType, name, format)
	// `encode` breaks its lines after 76 characters.
	if (sqlType === 'bytea') return `translate(encode(${name}, 'base64'), E'\\n', '')`
	if (sqlType === 'money') return `${name}::numeric::text`
	if (sqlType === 'oid') return `${name}::int8`
	const bound = RANGES[sqlType]
	// Composite types would become objects, and extensions have casts of their own.
	return bound === undefined ? `${name}::text` : range(bound, name)
}

function time(sqlType: 'timestamp' | 'timestamptz', name: string, format: string): string {
	if (sqlType === 'timestamp') return timestamp(name, name, `'0001-01-01'`, `'10000-01-01'`, format)
	// An interval is quicker than the name of a zone, which is looked up.
	const utc = `${name} at time zone interval '0'`
	return timestamp(name, utc, `'0001-01-01Z'`, `'10000-01-01Z'`, format)
}

/**
 * One comparison finds null, infinity, years before Christ and beyond 9999, for which there is no form in
 * RFC 3339: these are written as PostgreSQL reads them.
 */
function timestamp(name: string, utc: string, least: string, most: string, format: string): string {
	// As JSON, in quotes already.
	const json = `regexp_replace(to_json(${utc})::text, '([0-9])( BC)?"$', E'\\\\1Z\\\\2"')`
	const rest = format === QUOTED ? json : `trim('"' from ${json})`
	return `case when ${name} >= ${least} and ${name} < ${most} then to_char(${utc}, ${format}) else ${rest} end`
}

function range(bound: string, name: string): string {
	// A date's own text follows DateStyle, its JSON doesn't.
	const text = (value: string) =>
		bound === 'date' ? `to_json(${value})#>>'{}'` : scalar(bound, value, false, MICROSECONDS)
	const end = (which: string) => `(${text(`${which}(${name})`)})`
	const ends = `${end('lower')}, ',', ${end('upper')}`
	const from = `case when lower_inc(${name}) then '[' else '(' end`
	const to = `case when upper_inc(${name}) then ']' else ')' end`
	return `case isempty(${name}) when true then 'empty' when false then concat(${from}, ${ends}, ${to}) end`
}

/** Elements whose own text isn't what is wanted: their arrays are worked through, and lose their dimensions. */
const REWRITTEN: ReadonlySet<string> = new Set([
	'timestamp',
	'timestamptz',
	'bytea',
	'money',
	'oid',
	...Object.keys(RANGES),
])

/** Whether an array is shown with the lists that are within it. */
export function keepsDimensions(sqlType: string): boolean {
	const element = sqlType.slice(0, -ARRAY.length)
	// Within an array of JSON, lists are its elements.
	return sqlType.endsWith(ARRAY) && !REWRITTEN.has(element) && element !== 'json' && element !== 'jsonb'
}

function arrayValue(element: string, name: string): string {
	if (AS_IT_IS.has(element)) return name
	if (!REWRITTEN.has(element)) return `to_json(${name}::text[])`
	const each = scalar(element, 'u.e', false, MILLISECONDS)
	const all = `(select json_agg(${each} order by u.o) from unnest(${name}) with ordinality u(e, o))`
	return `case when ${name} is not null then coalesce(${all}, '[]') end`
}

/** Fields of one `concat`: PostgreSQL's functions take at most 100 arguments, and a field is two. */
const MOST_FIELDS = 49

/** @param alias the table's, empty for none */
export function recordSql(selected: readonly Selected[], alias: string): RecordSql {
	return { expressions: [recordText(selected, alias)], json: ([text]) => textOf(text) }
}

function textOf(value: unknown): string {
	if (typeof value === 'string') return value
	throw new TypeError(`PostgreSQL has answered no text for a record, but ${typeof value}`)
}

function recordText(selected: readonly Selected[], alias: string): string {
	if (selected.length === 0) return `'{}'`
	const before = alias === '' ? '' : `${alias}.`
	const parts: string[] = []
	for (let from = 0; from < selected.length; from += MOST_FIELDS) {
		const members = selected
			.slice(from, from + MOST_FIELDS)
			.flatMap(({ column, as }, at) => [
				literal(`${from + at === 0 ? '{' : ','}${JSON.stringify(as)}:`),
				jsonText(column, before + quoteName(column.name)),
			])
		const end = from + MOST_FIELDS < selected.length ? [] : [`'}'`]
		parts.push(`concat(${[...members, ...end].join(', ')})`)
	}
	return parts.join(' || ')
}

/** A text as a literal, whatever `standard_conforming_strings` is. */
function literal(text: string): string {
	return `E'${text.replace(/['\\]/g, '\\$&')}'`
}
