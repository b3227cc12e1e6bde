/**
 * SQL that writes columns as JSON. SQLite has no base64, so a record is selected in parts, split at each `bytes` column, and
 * `joinParts` puts it together.
 *
 * A column of a STRICT table has only values of its type; other columns may have values of any type. A BLOB in a column of
 * another type makes `json_object` fail. Expressions that guard against this are slower, so unguarded ones are tried first.
 */
import type { FieldType } from '../model.ts'
import type { RecordSql } from '../sql/dialect.ts'
import type { EmbeddedParts, LargeSql, Member, Selected } from '../sql/embedding.ts'
import { joinedColumns } from '../sql/joins.ts'
import { BYTES, MARK_CODE } from '../sql/related.ts'
import { ansiQuoted, type Column, columnName, SHORT_TEXT } from '../sql/table.ts'
import { formatOf } from './types.ts'

/** The `storage` of a column that can only hold its declared type. */
export const STRICT = 'strict'
/** Prefix of a decimal's scale in the column's `storage`. */
export const SCALE = 'scale'

/** How values are written: what this version of SQLite supports, and whether BLOBs are guarded against. */
export interface Writing {
	/** Whether SQLite's JSON has all digits of a real number: in 3.45 it has 15. */
	readonly writesReals: boolean
	/** Whether there is `octet_length` (from 3.43 on). */
	readonly measuresBytes: boolean
	/** Whether a BLOB in a column of another type is written as hexadecimal digits instead of failing. */
	readonly guardsBlobs: boolean
}

/** A column as an argument of `json_quote`, whatever it holds. */
export function columnJson(column: Column, name: string, writing: Writing): string {
	return valueSql(column, name, { ...writing, guardsBlobs: true })
}

/** `name` is the column's quoted name with the table's alias. */
function valueSql(column: Column, name: string, writing: Writing): string {
	const { type, storage } = column
	const sql = unguarded(column, name, writing)
	if (!writing.guardsBlobs || storage === STRICT || type === 'boolean') return sql
	return `case when typeof(${name}) = 'blob' then hex(${name}) else ${sql} end`
}

/** A value for a cursor, with full precision. */
export function cursorSql(column: Column, name: string, writing: Writing): string {
	const { type } = column
	if (type === 'bytes') return `case when ${name} is not null then hex(${name}) end`
	if (column.loose !== true)
		return type === 'bigint' ? `cast(${name} as text)` : valueSql(column, name, writing)
	// As stored, whatever the type: a comparison applies the column's affinity again.
	return (
		`case typeof(${name}) when 'integer' then ${integerKeySql(type, name)} when 'real' then ${realKeySql(name)}` +
		` when 'blob' then json_object('x', hex(${name})) else ${name} end`
	)
}

function integerKeySql(type: FieldType, name: string): string {
	if (type === 'bigint') return `cast(${name} as text)`
	if (type === 'boolean')
		return `case ${name} when 0 then json('false') when 1 then json('true') else ${name} end`
	return `case when ${name} between -9007199254740991 and 9007199254740991 then ${name} else cast(${name} as text) end`
}

/** Writes all 17 digits, of which SQLite 3.45 would write 15; and infinities as strings, because JSON has none. */
function realKeySql(name: string): string {
	return `case when ${name} - ${name} = 0 then json(printf('%!.17g', ${name})) when ${name} > 0 then 'Infinity' else '-Infinity' end`
}

function unguarded(column: Column, name: string, { writesReals }: Writing): string {
	const { type, storage } = column
	switch (type) {
		case 'boolean':
			return `case when ${name} then json('true') when ${name} is not null then json('false') end`
		case 'integer':
		case 'bigint':
			return column.asText === true ? `cast(${name} as text)` : name
		case 'float':
			return realSql(name, writesReals)
		case 'decimal':
			return decimalSql(name, storage)
		case 'timestamp':
			return column.allDigits === true ? exactSql(column, name) : timestampSql(name, formatOf(storage).kind)
		case 'json':
			// A column declared `json` stores a JSON number as a real.
			return `case when typeof(${name}) = 'real' then ${realSql(name, writesReals)} when json_valid(${name}) then json(${name}) else ${textSql(name)} end`
		case 'other':
			return textSql(name)
		default:
			return storage === STRICT || hasTextAffinity(column) ? name : textSql(name)
	}
}

/** A BLOB still makes `json_object` fail: as text it might be invalid UTF-8. */
function textSql(name: string): string {
	return `case when typeof(${name}) in ('integer', 'real') then cast(${name} as text) else ${name} end`
}

/** Whether the column stores numbers as text: sqlite.org/datatype3.html §3.1. */
function hasTextAffinity({ sqlType }: Column): boolean {
	return !sqlType.includes('int') && /char|clob|text/.test(sqlType)
}

/** A decimal column stores `12.50` as the real 12.5, so numbers get the declared scale; texts are exact already. */
function decimalSql(name: string, storage: string | undefined): string {
	const scale = storage?.startsWith(SCALE) === true ? Number(storage.slice(SCALE.length)) : 0
	if (scale === 0) {
		// The least double has its first digit at the 324th place. Input takes no exponents.
		const plain = `rtrim(rtrim(printf('%.340f', ${name}), '0'), '.')`
		return `case when typeof(${name}) = 'real' and ${name} glob '*e*' then ${plain} else ${textSql(name)} end`
	}
	return `case typeof(${name}) when 'real' then printf('%.${scale}f', ${name}) when 'integer' then ${name} || '.${'0'.repeat(scale)}' else ${name} end`
}

/** In SQLite, Infinity - Infinity is NULL, so `x - x = 0` is true of finite numbers only. NaN is stored as `'NaN'`. */
function realSql(name: string, writesReals: boolean): string {
	const infinite = `when ${name} > 0 then 'Infinity' when ${name} < 0 then '-Infinity' end`
	if (writesReals) return `case when ${name} - ${name} = 0 then ${name} ${infinite}`
	const real = `case when ${name} - ${name} = 0 then json(printf('%!.17g', ${name})) ${infinite}`
	return `case when typeof(${name}) = 'real' then ${real} else ${name} end`
}

/** A version, or a value of the key: a timestamp in the wire's format, with all digits that are stored, at least three. */
export function exactSql({ type, storage }: Column, name: string): string {
	if (type !== 'timestamp') return name
	const hasDigits = `${name} glob '????-??-??[T ]??:??:??.[0-9][0-9][0-9]*' and substr(rtrim(${name}, 'Z'), 21) not glob '*[^0-9]*'`
	return `case when ${hasDigits} then replace(rtrim(${name}, 'Z'), ' ', 'T') || 'Z' else ${timestampSql(name, formatOf(storage).kind)} end`
}

/** SQL that tests whether a timestamp is stored exactly as it is sent. */
export function isWireSql(name: string): string {
	return `${name} glob '????-??-??T??:??:??.???Z'`
}

const FORMAT = "'%Y-%m-%dT%H:%M:%fZ'"

/** Tests first for the format that the column usually has (`kind`), then for all others. */
export function timestampSql(name: string, kind: string): string {
	const spaced = `when length(${name}) = 19 and ${name} glob '????-??-??[T ]*' then substr(${name}, 1, 10) || 'T' || substr(${name}, 12) || '.000Z'`
	const wire = `when ${isWireSql(name)} then ${name}`
	return (
		`case ${kind === 'spaced' ? `${spaced} ${wire}` : `${wire} ${spaced}`}` +
		// Cut to milliseconds; strftime would round.
		` when ${name} glob '????-??-??[T ]??:??:??.[0-9]*' and (${name} glob '*Z' or substr(${name}, 21) not glob '*[^0-9]*')` +
		` then substr(${name}, 1, 10) || 'T' || substr(${name}, 12, 8) || '.' || substr(rtrim(substr(${name}, 21), 'Z') || '00', 1, 3) || 'Z'` +
		` when typeof(${name}) = 'blob' then ${name}` +
		` when typeof(${name}) = 'text' then coalesce(strftime(${FORMAT}, ${name}), ${name})` +
		` when abs(${name}) >= 1e11 then strftime(${FORMAT}, ${name} / 1000.0, 'unixepoch')` +
		` else strftime(${FORMAT}, ${name}, 'unixepoch') end`
	)
}

const NAMES = { quote: ansiQuoted }

function nameOf(column: Column, alias: string): string {
	return columnName(NAMES, column, alias)
}

/** Maximum number of fields in one `json_object`: older SQLite allows 127 arguments of a function, some builds 100. */
const MAX_PAIRS = 50

export function recordSql(selected: readonly Selected[], alias: string, writing: Writing): RecordSql {
	const parts = partsOf(selected)
	const expressions = parts.map((part) =>
		'bytes' in part ? nameOf(part.bytes.column, alias) : objectSql(part.pairs, alias, writing),
	)
	if (isOneText(selected)) return { expressions, json: (row) => textOf(row[0]) }
	return { expressions, json: (row) => joinParts(parts, row) }
}

/** Whether SQLite writes the record as one JSON text, so that it can write a whole list, too. */
export function isOneText(selected: readonly Selected[]): boolean {
	return selected.length <= MAX_PAIRS && selected.every(({ column }) => column.type !== 'bytes')
}

function base64Of(value: unknown): string | null {
	if (value === null || value === undefined) return null
	if (value instanceof Uint8Array) {
		return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
	}
	// A column that isn't STRICT may hold any type.
	return Buffer.from(String(value)).toString('base64')
}

type Part = { readonly pairs: Selected[] } | { readonly bytes: Selected }

function partsOf(selected: readonly Selected[]): Part[] {
	const parts: Part[] = []
	for (const one of selected) {
		const last = parts.at(-1)
		if (one.column.type === 'bytes') parts.push({ bytes: one })
		else if (last !== undefined && 'pairs' in last && last.pairs.length < MAX_PAIRS) last.pairs.push(one)
		else parts.push({ pairs: [one] })
	}
	return parts.length === 0 ? [{ pairs: [] }] : parts
}

function objectSql(pairs: readonly Selected[], alias: string, writing: Writing): string {
	const members = pairs.map(
		({ column, as }) => `${literal(as)}, ${valueSql(column, nameOf(column, alias), writing)}`,
	)
	return `json_object(${members.join(', ')})`
}

function literal(text: string): string {
	return `'${text.replaceAll("'", "''")}'`
}

/**
 * A record's JSON as one text, with related records as its last members. Their JSON is appended as text: `json_object`
 * would parse it again, and wouldn't accept marks. Bytes become marks.
 */
export function recordText(
	selected: readonly Selected[],
	related: readonly Member[],
	alias: string,
	writing: Writing,
	large?: LargeSql,
): string {
	const texts: string[] = []
	let pairs: Selected[] = []
	/** Writes the pairs so far, and a member whose value is appended. */
	const append = ({ as, sql }: Member): void => {
		// The last pair is the member with the value 0, and 0 and the brace are cut off.
		const object = () =>
			`rtrim(${objectSql(pairs, alias, writing).slice(0, -1)}${pairs.length === 0 ? '' : ', '}${literal(as)}, 0), '0}')`
		if (texts.length === 0) texts.push(object())
		else if (pairs.length === 0) texts.push(literal(`,${JSON.stringify(as)}:`))
		else texts.push(`',' || substr(${object()}, 2)`)
		texts.push(sql)
		pairs = []
	}
	for (const one of selected) {
		const { column, as } = one
		const name = nameOf(column, alias)
		if (column.type === 'bytes') {
			const mark = `char(${MARK_CODE}) || '${BYTES}:' || hex(${name}) || char(${MARK_CODE})`
			append({ as, sql: `case when ${name} is null then 'null' else ${mark} end` })
		} else if (pairs.length < MAX_PAIRS - 1) pairs.push(one)
		else append({ as, sql: `json_quote(${valueSql(column, name, writing)})` })
	}
	const [first, ...others] = related
	if (first === undefined) {
		const rest = objectSql(pairs, alias, writing)
		if (texts.length > 0) texts.push(pairs.length === 0 ? `'}'` : `',' || substr(${rest}, 2)`)
		return withMark(texts.length === 0 ? rest : texts.join(' || '), `'}'`, large)
	}
	append(first)
	const member = texts.pop() ?? ''
	const own = withMark(texts.join(' || '), literal(`,${JSON.stringify(first.as)}:`), large)
	texts.splice(0, texts.length, own, member)
	for (const one of others) append(one)
	return [...texts, `'}'`].join(' || ')
}

/** A record's own members, or a mark, each with what is between them and the next member. */
function withMark(own: string, next: string, large: LargeSql | undefined): string {
	if (large === undefined) return own
	return `case when ${large.condition} then ${large.mark} || ${next} else ${own} end`
}

/** Types whose values have no maximum length. */
export const UNLIMITED: ReadonlySet<FieldType> = new Set(['text', 'bytes', 'json', 'decimal', 'other'])

/** A record's size: see `Embedding.size`. Other columns hold long values only if others than CRUD write them. */
export function sizeSql(
	selected: readonly Selected[],
	alias: string,
	{ measuresBytes }: Writing,
): { readonly sql: string; readonly factor: number } | undefined {
	const sizes = selected.flatMap(({ column }) => {
		const { type, maxLength = Number.POSITIVE_INFINITY } = column
		if (!UNLIMITED.has(type) || maxLength <= SHORT_TEXT) return []
		const name = nameOf(column, alias)
		const size = measuresBytes ? `octet_length(${name})` : `length(cast(${name} as blob))`
		return column.nullable ? `ifnull(${size}, 0)` : size
	})
	return sizes.length === 0 ? undefined : { sql: sizes.join(' + '), factor: 1 }
}

/** A key as a JSON array. */
export function keySql(columns: readonly Column[], alias: string, writing: Writing): string {
	return `json_array(${columns.map((column) => cursorSql(column, nameOf(column, alias), writing)).join(', ')})`
}

/**
 * A list of related records. Whether one follows, and the last one's sort values, are read only if there are as many as the
 * limit: numbering the rows by a window function takes twice as long. The limit is in a subselect, so that no JSON is made
 * of records that are sorted out.
 */
export function relatedList(parts: EmbeddedParts, writing: Writing): string {
	const { total, alias, order, limit, number } = parts
	const records = `coalesce(group_concat(${parts.record()}, ','), '')`
	const keys = order.map(({ column, joined = alias }) => cursorSql(column, nameOf(column, joined), writing))
	const follows = `exists (select 1${parts.unsorted()} limit 1 offset ${limit})`
	const last = `(select json_array(${keys.join(', ')})${parts.source()} limit 1 offset ${limit - 1})`
	const mark = `char(${MARK_CODE})`
	const next = `case when count(*) = ${limit} and ${follows} then ${mark} || '${number}:' || ${last} || ${mark} else 'null' end`
	const all =
		total &&
		`case when count(*) <= ${Math.min(limit - 1, total.max)} then cast(count(*) as text) else ${total.sql()} end`
	const meta = `'],"meta":{"limit":${limit},"next":' || ${next}${all === undefined ? '' : ` || ',"total":' || ${all}`}`
	const page = `select ${alias}.*${joinedColumns(NAMES, order)}${parts.source()} limit ${limit}`
	return `(select '{"data":[' || ${records} || ${meta} || '}}' from (${page}) ${alias})`
}

function joinParts(parts: readonly Part[], values: readonly unknown[]): string {
	const texts = parts.map((part, at) => {
		const value = values[at]
		if (!('bytes' in part)) return textOf(value).slice(1, -1)
		return `${JSON.stringify(part.bytes.as)}:${JSON.stringify(base64Of(value))}`
	})
	return `{${texts.join(',')}}`
}

function textOf(value: unknown): string {
	if (typeof value !== 'string') throw new TypeError('SQLite returned no text for a record')
	return value
}
