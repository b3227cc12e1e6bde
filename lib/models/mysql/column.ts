/** `columnOf`: a row of `information_schema.columns` as a column. Called by `introspect.ts`. */
import type { FieldType } from '../model.ts'
import type { Column } from '../sql/table.ts'
import type { Measures, MysqlColumn } from './column-sql.ts'
import type { Server } from './server.ts'
import { columnSql } from './types.ts'

/** What is asked of `information_schema.columns`, in this order. */
export const ASKED_OF_COLUMNS = [
	'column_name',
	'data_type',
	'column_type',
	'is_nullable',
	'column_default',
	'extra',
	'character_maximum_length',
	'numeric_precision',
	'numeric_scale',
	'datetime_precision',
	'character_set_name',
	'collation_name',
] as const

/** What isn't in the row. */
export interface Around {
	readonly server: Server
	/** Columns that a check of MariaDB says to hold JSON. */
	readonly json: ReadonlySet<string>
	readonly bigintAsText: boolean
}

export function columnOf(row: readonly unknown[], around: Around): MysqlColumn {
	const [
		name,
		sqlType,
		written,
		isNullable,
		preset,
		extra,
		length,
		precision,
		scale,
		fraction,
		charset,
		collation,
	] = row
	const full = String(written).toLowerCase()
	const type = String(sqlType).toLowerCase()
	const measures: Measures = {
		isUnsigned: / unsigned\b/.test(full) || type === 'bit',
		precision: Number(precision ?? 0),
		scale: Number(scale ?? fraction ?? 0),
		isPadded: type === 'year' || / zerofill\b/.test(full),
		untilSecond: around.server.untilSecond,
	}
	const fieldType = typeOf(String(name), type, full, measures, around)
	const isCounted = /auto_increment/i.test(String(extra))
	const column: Column = {
		name: String(name),
		type: fieldType,
		sqlType: type,
		nullable: String(isNullable).toUpperCase() === 'YES',
		hasDefault: isCounted || isPreset(preset, around.server.isMariaDb),
		// MySQL's `DEFAULT_GENERATED` is none: it has an expression for its default.
		generated: /\b(virtual|stored|persistent)( generated)?\b/i.test(String(extra)),
		maxLength: fieldType === 'text' && length !== null ? Number(length) : undefined,
		choices: type === 'enum' ? choicesOf(String(written)) : undefined,
		...rangeOf(type, fieldType, measures),
		asText: fieldType === 'bigint' && around.bigintAsText ? true : undefined,
		besides: BESIDES[type],
		digits: fieldType === 'decimal' ? [measures.precision - measures.scale, measures.scale] : undefined,
	}
	const ownCharset = charset === null || charset === undefined ? undefined : String(charset)
	return {
		...column,
		isCounted,
		charset: ownCharset,
		ignoresCase: /_ci$/i.test(String(collation)),
		sql: columnSql(column, measures),
	}
}

/** MariaDB writes defaults as SQL, MySQL a literal as its bare text. */
function isPreset(preset: unknown, isMariaDb: boolean): boolean {
	return preset !== null && preset !== undefined && !(isMariaDb && String(preset).toUpperCase() === 'NULL')
}

/**
 * What these types hold besides days and times of day: dates of which the month, the day or all is zero, of TIMESTAMP
 * only all; and times up to 838 hours before and behind midnight.
 */
const BESIDES: Readonly<Record<string, RegExp>> = {
	date: /^\d{4}-(?:00-[0-3]\d|(?:0[1-9]|1[0-2])-00)$/,
	datetime: /^\d{4}-(?:00-[0-3]\d|(?:0[1-9]|1[0-2])-00)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/,
	timestamp: /^0000-00-00T00:00:00(?:\.0{1,9})?Z$/,
	time: /^-?(?:\d{2}|[0-8]\d{2}):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/,
}

const TYPES: Readonly<Record<string, FieldType>> = {
	tinyint: 'integer',
	smallint: 'integer',
	mediumint: 'integer',
	int: 'integer',
	integer: 'integer',
	year: 'integer',
	bigint: 'bigint',
	float: 'float',
	double: 'float',
	real: 'float',
	decimal: 'decimal',
	numeric: 'decimal',
	char: 'text',
	varchar: 'text',
	tinytext: 'text',
	text: 'text',
	mediumtext: 'text',
	longtext: 'text',
	enum: 'text',
	date: 'date',
	time: 'time',
	datetime: 'timestamp',
	timestamp: 'timestamp',
	json: 'json',
	uuid: 'uuid',
	binary: 'bytes',
	varbinary: 'bytes',
	tinyblob: 'bytes',
	blob: 'bytes',
	mediumblob: 'bytes',
	longblob: 'bytes',
	vector: 'bytes',
}

/** Most bits of an integer that is a number in JSON. */
const EXACT_BITS = 53

function typeOf(
	name: string,
	type: string,
	full: string,
	{ precision }: Measures,
	{ json }: Around,
): FieldType {
	if (type === 'tinyint' && full.startsWith('tinyint(1)')) return 'boolean'
	if (type === 'bit') return precision === 1 ? 'boolean' : precision > EXACT_BITS ? 'bigint' : 'integer'
	if (type === 'longtext' && json.has(name)) return 'json'
	return Object.hasOwn(TYPES, type) ? (TYPES[type] ?? 'other') : 'other'
}

const INTEGER_BITS: Readonly<Record<string, number>> = {
	tinyint: 8,
	smallint: 16,
	mediumint: 24,
	int: 32,
	integer: 32,
}

function rangeOf(
	type: string,
	fieldType: FieldType,
	{ isUnsigned, precision }: Measures,
): Pick<Column, 'min' | 'max'> {
	if (type === 'year') return { min: 0, max: 2155 }
	if (fieldType === 'bigint') {
		if (!isUnsigned) return {}
		return { min: 0n, max: 2n ** BigInt(type === 'bit' ? precision : 64) - 1n }
	}
	if (fieldType !== 'integer') return {}
	const size = type === 'bit' ? precision : INTEGER_BITS[type]
	if (size === undefined) return {}
	if (isUnsigned) return { min: 0, max: 2 ** size - 1 }
	return { min: -(2 ** (size - 1)), max: 2 ** (size - 1) - 1 }
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', 0: '\0', Z: '\x1a' }

/** `enum('a','it''s')`; control characters and backslashes are escaped in it, whatever the `sql_mode`. */
function choicesOf(written: string): readonly string[] {
	return [...written.matchAll(/'((?:[^'\\]|''|\\[\s\S])*)'/g)].map(([, quoted = '']) =>
		quoted.replace(/''|\\([\s\S])/g, (_, escaped: string | undefined) =>
			escaped === undefined ? "'" : (ESCAPED[escaped] ?? escaped),
		),
	)
}
