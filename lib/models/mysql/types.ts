/** Types of MySQL and MariaDB, from a column's row in `information_schema`. */
import type { FieldType } from '../model.ts'
import type { Column } from '../sql/table.ts'

export interface TypeDetails {
	readonly isUnsigned: boolean
	readonly precision: number
	/** Fractional digits: of a decimal, of seconds. */
	readonly scale: number
	/** Years, and columns with `zerofill`. */
	readonly isZeroPadded: boolean
	/** See `Server`. */
	readonly timestampEnd: string
	readonly isMariaDb: boolean
	/** The spatial reference system that MySQL requires of a column's geometries; 0 if none. */
	readonly srid: number
}

/**
 * Values of these types that aren't dates or times of day: dates whose month or day is zero, or that are zero
 * altogether (the only ones in TIMESTAMP), and times from -838 to 838 hours.
 */
export const BESIDES: Readonly<Record<string, RegExp>> = {
	date: /^\d{4}-(?:00-[0-3]\d|(?:0[1-9]|1[0-2])-00)$/,
	datetime: /^\d{4}-(?:00-[0-3]\d|(?:0[1-9]|1[0-2])-00)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/,
	timestamp: /^0000-00-00T00:00:00(?:\.0{1,9})?Z$/,
	time: /^-?(?:\d{2}|[0-8]\d{2}):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/,
}

const TYPES: ReadonlyMap<string, FieldType> = new Map([
	...named('integer', 'tinyint', 'smallint', 'mediumint', 'int', 'integer', 'year'),
	...named('bigint', 'bigint'),
	...named('float', 'float', 'double', 'real'),
	...named('decimal', 'decimal', 'numeric'),
	...named('text', 'char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum'),
	...named('date', 'date'),
	...named('time', 'time'),
	...named('timestamp', 'datetime', 'timestamp'),
	...named('json', 'json'),
	...named('uuid', 'uuid'),
	...named('bytes', 'binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob', 'vector'),
])

function named(type: FieldType, ...names: readonly string[]): [string, FieldType][] {
	return names.map((name) => [name, type])
}

/** JavaScript's numbers hold integers of up to this many bits exactly. */
const EXACT_BITS = 53

export function fieldOf(
	name: string,
	type: string,
	full: string,
	{ precision }: TypeDetails,
	json: ReadonlySet<string>,
): FieldType {
	if (type === 'tinyint' && full.startsWith('tinyint(1)')) return 'boolean'
	if (type === 'bit') return precision === 1 ? 'boolean' : precision > EXACT_BITS ? 'bigint' : 'integer'
	if (type === 'longtext' && json.has(name)) return 'json'
	return TYPES.get(type) ?? 'other'
}

const INTEGER_BITS: Readonly<Record<string, number>> = {
	tinyint: 8,
	smallint: 16,
	mediumint: 24,
	int: 32,
	integer: 32,
}

export function rangeOf(
	type: string,
	fieldType: FieldType,
	{ isUnsigned, precision }: TypeDetails,
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

/** Parses `enum('a','it''s')`, where control characters and backslashes are escaped in any `sql_mode`. */
export function choicesOf(enumType: string): readonly string[] {
	return [...enumType.matchAll(/'((?:[^'\\]|''|\\[\s\S])*)'/g)].map(([, quoted = '']) =>
		quoted.replace(/''|\\([\s\S])/g, (_, escaped: string | undefined) =>
			escaped === undefined ? "'" : (ESCAPED[escaped] ?? escaped),
		),
	)
}
