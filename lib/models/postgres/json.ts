/** SQL that converts columns to JSON, as `FieldType` specifies, independent of the session's settings. */

import type { RecordSql } from '../sql/dialect.ts'
import type { EmbeddedParts, LargeSql, Member, Selected } from '../sql/embedding.ts'
import { joinedColumns, orderOfPage } from '../sql/joins.ts'
import { MARK_CODE } from '../sql/related.ts'
import { ansiQuoted, type Column, columnName, SHORT_TEXT } from '../sql/table.ts'

/**
 * Formats for `to_char`: RFC 3339 in UTC with milliseconds, and with PostgreSQL's full precision. `T` is quoted because
 * `DDTH` would be a day with an ordinal suffix (`20TH`).
 */
const MILLISECONDS = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`
const QUOTED = `E'\\\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\\\"'`
const MICROSECONDS = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`
const QUOTED_MICROSECONDS = QUOTED.replace('.MS', '.US')

/** Types that `to_json` converts as required. */
const AS_IT_IS: ReadonlySet<string> = new Set(
	(
		'bool int2 int4 int8 float4 float8 text varchar bpchar name "char" uuid date time timetz json jsonb inet ' +
		'cidr macaddr macaddr8 xml interval "bit" varbit int4range int8range numrange point tsvector tsquery pg_lsn'
	).split(' '),
)

/** Ranges of times are built from their bounds, because their own text form depends on DateStyle and TimeZone. */
const RANGES: Readonly<Record<string, string>> = {
	daterange: 'date',
	tsrange: 'timestamp',
	tstzrange: 'timestamptz',
}

const ARRAY = '[]'

/** Types whose text form is JSON. */
const IS_JSON: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'oid', 'json', 'jsonb'])

/**
 * A column's JSON as text. Never NULL, not even for a not-null column: its constraint may be dropped at runtime. `name`
 * is the quoted name with the table's alias.
 */
export function jsonText(column: Column, name: string): string {
	const { sqlType } = column
	if (sqlType.endsWith(ARRAY)) return orNull(`to_json(${arrayOf(sqlType, name)})::text`)
	if (sqlType === 'bool') return `case when ${name} then 'true' when not ${name} then 'false' else 'null' end`
	if (sqlType === 'timestamp' || sqlType === 'timestamptz')
		return column.allDigits === true ? shortest(sqlType, name) : time(sqlType, name, QUOTED)
	if (IS_JSON.has(sqlType) && column.asText !== true) return orNull(`${name}::text`)
	return orNull(`to_json(${scalar(sqlType, name, column.asText === true, MILLISECONDS)})::text`)
}

function orNull(json: string): string {
	return `coalesce(${json}, 'null')`
}

/**
 * A column for {@link cursorValue}, which may be an argument of `array_agg`: arrays become JSON, because `array_agg` rejects
 * arrays of different lengths.
 */
export function aggregable(column: Column, name: string): string {
	return column.sqlType.endsWith(ARRAY) ? `to_json(${arrayOf(column.sqlType, name)})` : name
}

/** The same value as {@link cursorValue}, as JSON text: never NULL. */
function cursorText(column: Column, name: string): string {
	const { sqlType, type } = column
	if (sqlType === 'timestamp' || sqlType === 'timestamptz') return time(sqlType, name, QUOTED_MICROSECONDS)
	const isJson = sqlType.endsWith(ARRAY) || (IS_JSON.has(sqlType) && type !== 'bigint')
	return orNull(isJson ? `${name}::text` : `to_json(${cursorValue(column, name)})::text`)
}

/** The aggregated array's element as JSON for a cursor: in full precision, bigint and decimal as text, null as null. */
export function cursorValue({ sqlType, type }: Column, name: string): string {
	return sqlType.endsWith(ARRAY) ? name : scalar(sqlType, name, type === 'bigint', MICROSECONDS)
}

/** A version, or a value of the key, as text that doesn't depend on the session. */
export function exactText({ sqlType }: Column, name: string): string {
	if (sqlType === 'timestamp' || sqlType === 'timestamptz') return time(sqlType, name, MICROSECONDS)
	return sqlType === 'date' ? `to_json(${name})#>>'{}'` : `${name}::text`
}

/** Types whose values are all small. */
const SHORT: ReadonlySet<string> = new Set(
	(
		'bool int2 int4 int8 float4 float8 oid money name "char" uuid date time timetz timestamp timestamptz interval ' +
		'inet cidr macaddr macaddr8 pg_lsn'
	).split(' '),
)

export function isShort({ sqlType }: Column): boolean {
	return SHORT.has(sqlType)
}

/** A value as an argument of `octet_length`. */
export function bytesOf({ sqlType }: Column, name: string): string {
	return sqlType === 'bytea' ? name : `${name}::text`
}

/** A value that may be compressed counts as this many times its stored size, because its length isn't known without reading it. */
const COMPRESSED = 16

/** A record's size without its short values: see `Embedding.size`. */
export function sizeSql(
	selected: readonly Selected[],
	alias: string,
): { readonly sql: string; readonly factor: number } | undefined {
	let factor = 1
	const sizes = selected.flatMap(({ column }) => {
		const { type, maxLength = Number.POSITIVE_INFINITY, choices } = column
		// CRUD accepts no longer decimals.
		if (isShort(column) || maxLength <= SHORT_TEXT || choices !== undefined || type === 'decimal') return []
		const name = columnName(QUOTING, column, alias)
		// `octet_length` reads only the length of these, not the value.
		const isRead = type === 'text' || type === 'bytes'
		if (!isRead) factor = COMPRESSED
		const size = isRead ? `octet_length(${bytesOf(column, name)})` : `pg_column_size(${name}) * ${COMPRESSED}`
		return column.nullable ? `coalesce(${size}, 0)` : size
	})
	return sizes.length === 0 ? undefined : { sql: sizes.join(' + '), factor }
}

/** A key as a JSON array. */
export function keySql(columns: readonly Column[], alias: string): string {
	const values = columns.map((column) => cursorText(column, columnName(QUOTING, column, alias)))
	return `'[' || ${values.join(` || ', ' || `)} || ']'`
}

function arrayOf(sqlType: string, name: string): string {
	return arrayValue(sqlType.slice(0, -ARRAY.length), name)
}

function scalar(sqlType: string, name: string, asText: boolean, format: string): string {
	if (sqlType === 'int8' && asText) return `${name}::text`
	if (AS_IT_IS.has(sqlType)) return name
	if (sqlType === 'timestamp' || sqlType === 'timestamptz') return time(sqlType, name, format)
	// `encode` inserts a line break every 76 characters.
	if (sqlType === 'bytea') return `translate(encode(${name}, 'base64'), E'\\n', '')`
	if (sqlType === 'money') return `${name}::numeric::text`
	if (sqlType === 'oid') return `${name}::int8`
	const bound = RANGES[sqlType]
	// Text, because `to_json` would make objects of composite types and use the casts of extensions.
	return bound === undefined ? `${name}::text` : range(bound, name)
}

/** A timestamp with all its digits, at least three after the second. */
function shortest(sqlType: 'timestamp' | 'timestamptz', name: string): string {
	return `regexp_replace(${time(sqlType, name, QUOTED_MICROSECONDS)}, '([.][0-9]{3,5}?)0{1,3}Z', E'\\\\1Z')`
}

function time(sqlType: 'timestamp' | 'timestamptz', name: string, format: string): string {
	if (sqlType === 'timestamp') return timestamp(name, name, `'0001-01-01'`, `'10000-01-01'`, format)
	// Faster than `at time zone 'UTC'`, because a zone's name would be looked up.
	const utc = `${name} at time zone interval '0'`
	return timestamp(name, utc, `'0001-01-01Z'`, `'10000-01-01Z'`, format)
}

/**
 * The range excludes null, which is `null` in a quoted format, and what RFC 3339 can't express: such times are written in
 * PostgreSQL's own form.
 */
function timestamp(name: string, utc: string, min: string, end: string, format: string): string {
	// `to_json` has already added quotes.
	const json = `regexp_replace(to_json(${utc})::text, '([0-9])( BC)?"$', E'\\\\1Z\\\\2"')`
	const rest = format.startsWith('E') ? orNull(json) : `trim('"' from ${json})`
	return `case when ${name} >= ${min} and ${name} < ${end} then to_char(${utc}, ${format}) else ${rest} end`
}

function range(bound: string, name: string): string {
	// The text form of a date depends on DateStyle, its JSON doesn't.
	const text = (value: string) =>
		bound === 'date' ? `to_json(${value})#>>'{}'` : scalar(bound, value, false, MICROSECONDS)
	const end = (which: string) => `(${text(`${which}(${name})`)})`
	const ends = `${end('lower')}, ',', ${end('upper')}`
	const from = `case when lower_inc(${name}) then '[' else '(' end`
	const to = `case when upper_inc(${name}) then ']' else ')' end`
	return `case isempty(${name}) when true then 'empty' when false then concat(${from}, ${ends}, ${to}) end`
}

/** Array elements of these types are converted one by one, which flattens multidimensional arrays. */
const CONVERTED: ReadonlySet<string> = new Set([
	'timestamp',
	'timestamptz',
	'bytea',
	'money',
	'oid',
	...Object.keys(RANGES),
])

/** Whether a multidimensional array of this type becomes nested lists in JSON. */
export function keepsDimensions(sqlType: string): boolean {
	const element = sqlType.slice(0, -ARRAY.length)
	// In an array of JSON, nested lists are elements.
	return sqlType.endsWith(ARRAY) && !CONVERTED.has(element) && element !== 'json' && element !== 'jsonb'
}

function arrayValue(element: string, name: string): string {
	if (AS_IT_IS.has(element)) return name
	if (!CONVERTED.has(element)) return `to_json(${name}::text[])`
	const each = scalar(element, 'u.e', false, MILLISECONDS)
	const all = `(select json_agg(${each} order by u.o) from unnest(${name}) with ordinality u(e, o))`
	return `case when ${name} is not null then coalesce(${all}, '[]') end`
}

/**
 * Maximum number of fields in a chain of `||`, which takes 14 % less time than `concat` with as many arguments. Each `||`
 * copies what is before it, so chains are short, in case that a field is long.
 */
const MAX_CHAIN = 8
/** PostgreSQL's functions take at most 100 arguments. */
const MAX_ARGUMENTS = 100

/** @param alias the table's alias, empty for none */
export function recordSql(selected: readonly Selected[], alias: string): RecordSql {
	return { expressions: [recordText(selected, alias)], json: (row) => textOf(row[0]) }
}

function textOf(value: unknown): string {
	if (typeof value === 'string') return value
	throw new TypeError(`PostgreSQL has returned ${typeof value} for a record, not text`)
}

/** A record's JSON, with related records as its last members. Never NULL. */
export function recordText(
	selected: readonly Selected[],
	alias: string,
	related: readonly Member[] = [],
	large?: LargeSql,
): string {
	const own = selected.map(({ column, as }) => ({
		as,
		sql: jsonText(column, columnName(QUOTING, column, alias)),
	}))
	const members = [...own, ...related]
	// With its type, which aggregates would not guess.
	if (members.length === 0) return `'{}'::text`
	const isLast = (at: number) => at === members.length - 1 && large === undefined
	const texts = members.map(({ as, sql }, at) => {
		const name = literal(`${at === 0 ? '{' : ','}${JSON.stringify(as)}:`)
		return `${name} || ${sql}${isLast(at) ? ` || '}'` : ''}`
	})
	if (large === undefined) return chained(texts)
	const short = chained(texts.slice(0, own.length))
	const ofOwn = `case when ${large.condition} then ${large.mark} else ${short} end`
	return chained([ofOwn, ...texts.slice(own.length), `'}'`])
}

function chained(texts: readonly string[]): string {
	const chains = chunks(texts, MAX_CHAIN).map((chain) => chain.join(' || '))
	if (chains.length === 1) return chains.join()
	return chunks(chains, MAX_ARGUMENTS)
		.map((some) => `concat(${some.join(', ')})`)
		.join(' || ')
}

function chunks<T>(all: readonly T[], size: number): T[][] {
	const parts: T[][] = []
	for (let from = 0; from < all.length; from += size) parts.push(all.slice(from, from + size))
	return parts
}

/**
 * A list of related records. Its rows are numbered, so that PostgreSQL writes the JSON of no more than `limit` records, and one
 * cursor: that takes 4 % less time than cutting arrays of everything, and the extra record may be long. The limit is in a
 * subselect, so that the planner doesn't know it: if it expects no more related records than the limit, it reads and sorts
 * all of them, which is slow for a record that has many.
 */
export function relatedList(parts: EmbeddedParts): string {
	const { total, alias, order, limit, number } = parts
	const at = `${alias}.${ansiQuoted(ROW_NUMBER)}`
	const records = `string_agg(${parts.record()}, ',') filter (where ${at} <= ${limit})`
	const mark = `chr(${MARK_CODE})`
	const keys = orderOfPage(order).map(({ column }) =>
		cursorText(column, aggregable(column, columnName(QUOTING, column, alias))),
	)
	// Not by `json_build_array`: it looks up the types of its arguments for each list.
	const cursor = [
		mark,
		`'${number}:['`,
		...(keys.length > 0 ? [keys.join(` || ', ' || `)] : []),
		`']'`,
		mark,
	].join(' || ')
	const last = `string_agg(${cursor}, '') filter (where ${at} = ${limit})`
	const next = `case when count(*) > ${limit} then ${last} else 'null' end`
	// All that match were read if they are no more than the limit.
	const all =
		total && `case when count(*) <= ${Math.min(limit, total.max)} then count(*)::text else ${total.sql()} end`
	const meta = `'],"meta":{"limit":${limit},"next":', ${next}${all === undefined ? '' : `, ',"total":', ${all}`}`
	const page = `select ${alias}.*${joinedColumns(QUOTING, order)}${parts.source()} limit (select ${limit + 1})`
	const numbered = `select ${alias}.*, row_number() over () as ${ansiQuoted(ROW_NUMBER)} from (${page}) ${alias}`
	return `(select concat('{"data":[', ${records}, ${meta}, '}}') from (${numbered}) ${alias})`
}

/** Added to related records' columns, like the other names that begin so. */
const ROW_NUMBER = 'verbena number'
const QUOTING = { quote: ansiQuoted }

/** Joins texts and expressions that are never null to one text. */
export function concatText(parts: readonly ({ readonly text: string } | { readonly sql: string })[]): string {
	const all = parts.map((part) => ('text' in part ? literal(part.text) : part.sql))
	return chunks(all, MAX_ARGUMENTS)
		.map((some) => `concat(${some.join(', ')})`)
		.join(' || ')
}

/** A string literal, independent of `standard_conforming_strings`. */
function literal(text: string): string {
	return `E'${text.replace(/['\\]/g, '\\$&')}'`
}
