/**
 * What each type of MySQL and MariaDB needs of SQL: how a column is written as JSON, as a key or in a cursor,
 * how it is ordered, and how a value is sent. Worked out once for a column, by `column.ts`.
 */

import { RawJson } from '../../wire/raw-json.ts'
import type { Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Column } from '../sql/table.ts'
import { asText, type ColumnSql, type Measures, type Parts } from './column-sql.ts'
import { GEOMETRIES, isWellKnownText } from './geometry.ts'
import { datetimes, instants } from './time-sql.ts'

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

/** Adding nothing makes a number of bits, and of what has zeros in front. */
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
/** The server makes NULL of what it can't read, and of an empty text in its place an error. */
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
