/**
 * SQL that writes a column's value into `json_object`, and records made of them; around each column of bytes a record is
 * cut into two, since SQLite has no base64, and put together here. A column of a STRICT table holds its type and nothing
 * else; all others may hold anything. A BLOB where there should be none makes SQLite refuse the whole list: expressions
 * without a guard against it are tried first, for they cost less.
 */
import type { FieldType } from '../model.ts'
import type { RecordSql, Selected } from '../sql/dialect.ts'
import type { Column } from '../sql/table.ts'
import { formOf } from './types.ts'

/** The column's `storage` where it can only hold its declared type. */
export const STRICT = 'strict'
/** Before the declared digits behind a decimal's point, in the column's `storage`. */
export const SCALE = 'scale'

/** How values are written. */
export interface Writing {
	/** Whether SQLite's own JSON has all digits of a real number: 3.45 writes 15. */
	readonly writesReals: boolean
	/** Whether there is `octet_length`: from 3.43 on. */
	readonly measuresBytes: boolean
	/** Whether a BLOB in a column of another type is written, as hexadecimal digits, and doesn't fail. */
	readonly guardsBlobs: boolean
}

/** `name` is the column's, quoted and behind its alias. */
export function valueSql(column: Column, name: string, writing: Writing): string {
	const { type, storage } = column
	const sql = unguarded(column, name, writing)
	if (!writing.guardsBlobs || storage === STRICT || type === 'boolean') return sql
	return `case when typeof(${name}) = 'blob' then hex(${name}) else ${sql} end`
}

/** A value for a cursor, as exactly as it is known. */
export function cursorSql(column: Column, name: string, writing: Writing): string {
	const { type } = column
	if (type === 'bytes') return `case when ${name} is not null then hex(${name}) end`
	if (column.loose !== true)
		return type === 'bigint' ? `cast(${name} as text)` : valueSql(column, name, writing)
	// As it is stored, whatever its type: what is compared with it gets the column's affinity again.
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

/** With all digits, which JSON of SQLite 3.45 doesn't write; it has no word for infinity. */
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
			return momentSql(name, formOf(storage).kind)
		case 'json':
			// A column declared `json` keeps a JSON number as a double.
			return `case when typeof(${name}) = 'real' then ${realSql(name, writesReals)} when json_valid(${name}) then json(${name}) else ${textSql(name)} end`
		case 'other':
			return textSql(name)
		default:
			return storage === STRICT || hasTextAffinity(column) ? name : textSql(name)
	}
}

/** A BLOB is left to fail: as text it might be no UTF-8. */
function textSql(name: string): string {
	return `case when typeof(${name}) in ('integer', 'real') then cast(${name} as text) else ${name} end`
}

/** Numbers are made texts when they are stored: sqlite.org/datatype3.html §3.1. */
function hasTextAffinity({ sqlType }: Column): boolean {
	return !sqlType.includes('int') && /char|clob|text/.test(sqlType)
}

/**
 * A decimal column holds integers and doubles, whatever was written: `12.50` as 12.5. Those are written with the
 * digits that were declared; what was kept as text is exact as it is.
 */
function decimalSql(name: string, storage: string | undefined): string {
	const scale = storage?.startsWith(SCALE) === true ? Number(storage.slice(SCALE.length)) : 0
	if (scale === 0) return textSql(name)
	return `case typeof(${name}) when 'real' then printf('%.${scale}f', ${name}) when 'integer' then ${name} || '.${'0'.repeat(scale)}' else ${name} end`
}

/** Infinities differ from themselves by NaN, which is null here; NaN itself is stored as text. */
function realSql(name: string, writesReals: boolean): string {
	const infinite = `when ${name} > 0 then 'Infinity' when ${name} < 0 then '-Infinity' end`
	if (writesReals) return `case when ${name} - ${name} = 0 then ${name} ${infinite}`
	const real = `case when ${name} - ${name} = 0 then json(printf('%!.17g', ${name})) ${infinite}`
	return `case when typeof(${name}) = 'real' then ${real} else ${name} end`
}

/** Whether a timestamp is stored in the very form of the wire. */
export function isWireSql(name: string): string {
	return `${name} glob '????-??-??T??:??:??.???Z'`
}

const FORMAT = "'%Y-%m-%dT%H:%M:%fZ'"

/** The form that the column is seen to have comes first, by its length; then all others there may be. */
function momentSql(name: string, kind: string): string {
	const spaced = `when length(${name}) = 19 and ${name} glob '????-??-??[T ]*' then substr(${name}, 1, 10) || 'T' || substr(${name}, 12) || '.000Z'`
	const wire = `when ${isWireSql(name)} then ${name}`
	return (
		`case ${kind === 'spaced' ? `${spaced} ${wire}` : `${wire} ${spaced}`}` +
		// Cut to milliseconds, where strftime would round them.
		` when ${name} glob '????-??-??[T ]??:??:??.[0-9]*' and (${name} glob '*Z' or substr(${name}, 21) not glob '*[^0-9]*')` +
		` then substr(${name}, 1, 10) || 'T' || substr(${name}, 12, 8) || '.' || substr(rtrim(substr(${name}, 21), 'Z') || '00', 1, 3) || 'Z'` +
		` when typeof(${name}) = 'blob' then ${name}` +
		` when typeof(${name}) = 'text' then coalesce(strftime(${FORMAT}, ${name}), ${name})` +
		` when abs(${name}) >= 1e11 then strftime(${FORMAT}, ${name} / 1000.0, 'unixepoch')` +
		` else strftime(${FORMAT}, ${name}, 'unixepoch') end`
	)
}

/** A function has at most 127 arguments in older SQLite, 63 pairs; 100 is the limit of others that are set lower. */
const MOST_PAIRS = 50

export function recordSql(
	selected: readonly Selected[],
	nameOf: (column: Column) => string,
	writing: Writing,
): RecordSql {
	const parts = partsOf(selected)
	const expressions = parts.map((part) =>
		'bytes' in part ? nameOf(part.bytes.column) : objectSql(part.pairs, nameOf, writing),
	)
	const [only] = parts
	if (parts.length === 1 && only !== undefined && !('bytes' in only)) {
		return { expressions, json: ([text]) => textOf(text) }
	}
	return { expressions, json: (values) => joined(parts, values) }
}

/** Whether the record is one text: then a whole list can be. */
export function isOneText(selected: readonly Selected[]): boolean {
	const [only, ...others] = partsOf(selected)
	return only !== undefined && others.length === 0 && !('bytes' in only)
}

function base64Of(value: unknown): string | null {
	if (value === null || value === undefined) return null
	if (value instanceof Uint8Array) {
		return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
	}
	// A column that isn't STRICT may hold anything.
	return Buffer.from(String(value)).toString('base64')
}

type Part = { readonly pairs: Selected[] } | { readonly bytes: Selected }

function partsOf(selected: readonly Selected[]): Part[] {
	const parts: Part[] = []
	for (const one of selected) {
		const last = parts.at(-1)
		if (one.column.type === 'bytes') parts.push({ bytes: one })
		else if (last !== undefined && 'pairs' in last && last.pairs.length < MOST_PAIRS) last.pairs.push(one)
		else parts.push({ pairs: [one] })
	}
	return parts.length === 0 ? [{ pairs: [] }] : parts
}

function objectSql(pairs: readonly Selected[], nameOf: (column: Column) => string, writing: Writing): string {
	const members = pairs.map(
		({ column, as }) => `'${as.replaceAll("'", "''")}', ${valueSql(column, nameOf(column), writing)}`,
	)
	return `json_object(${members.join(', ')})`
}

function joined(parts: readonly Part[], values: readonly unknown[]): string {
	const texts = parts.map((part, at) => {
		const value = values[at]
		if (!('bytes' in part)) return textOf(value).slice(1, -1)
		return `${JSON.stringify(part.bytes.as)}:${JSON.stringify(base64Of(value))}`
	})
	return `{${texts.join(',')}}`
}

function textOf(value: unknown): string {
	if (typeof value !== 'string') throw new TypeError('SQLite has answered no text for a record')
	return value
}
