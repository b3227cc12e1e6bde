/**
 * Declared types, and how values are stored: booleans as 0 and 1, timestamps in their column's format. SQLite accepts any
 * type name and derives an affinity from it (sqlite.org/datatype3.html §3.1); this file also recognizes the usual names for
 * dates, booleans and JSON.
 */
import { RawJson } from '../../wire/raw-json.ts'
import type { FieldType, Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { type Column, wellFormed } from '../sql/table.ts'

export interface DeclaredType {
	readonly type: FieldType
	/** In lower case, without the length: `varchar`. */
	readonly name: string
	/** The first number in parentheses: maximum length of a text, fraction digits of a timestamp. */
	readonly length: number | undefined
	/** The second number in parentheses: fraction digits of a decimal. */
	readonly scale: number | undefined
}

/** The first match counts. */
const NAMES: readonly (readonly [RegExp, FieldType])[] = [
	[/^bool/, 'boolean'],
	[/^(?:integer|bigint|int8|unsigned big int|bigserial)$/, 'bigint'],
	[/^(?:datetime|timestamp)/, 'timestamp'],
	[/^date$/, 'date'],
	[/^time\b/, 'time'],
	[/^jsonb?$/, 'json'],
	[/^(?:uuid|guid|uniqueidentifier)$/, 'uuid'],
	[/dec|numeric|^money$/, 'decimal'],
	[/int/, 'integer'],
	[/char|clob|text|string|^enum/, 'text'],
	[/blob|binary|^bytea$/, 'bytes'],
	[/real|floa|doub/, 'float'],
]

/** `'VARCHAR(80)'` is text of at most 80 characters; `'TINYINT(1)'` a boolean, as with MySQL. */
export function fieldOf(declared: string): DeclaredType {
	const text = declared.trim().toLowerCase()
	const [, words = '', first, second] = /^([^(]*)(?:\(\s*(\d+)\s*(?:,\s*(\d+))?[^)]*\))?/.exec(text) ?? []
	const name = words.trim().replaceAll(/\s+/g, ' ')
	const length = first === undefined ? undefined : Number(first)
	const scale = second === undefined ? undefined : Number(second)
	if (name === 'tinyint' && length === 1) return { type: 'boolean', name, length, scale }
	return { type: NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other', name, length, scale }
}

/** @throws ModelError `invalid` for an integer beyond 64 bits, and for a lone surrogate */
export function bound(value: Value, column: Column): unknown {
	switch (typeof value) {
		case 'boolean':
			return value ? 1 : 0
		case 'bigint':
			// Each driver would throw an error of its own.
			if (BigInt.asIntN(64, value) !== value) throw new ModelError('invalid', [column.name])
			return value
		case 'number':
			// SQLite would store NaN as NULL.
			return Number.isNaN(value) ? 'NaN' : value
		case 'string':
			return column.type === 'timestamp'
				? storedTimestamp(value, formatOf(column.storage))
				: wellFormed(value, column)
		default:
			return value instanceof RawJson ? wellFormed(value.text, column) : value
	}
}

/** Binds a value of a cursor. A cursor has timestamps as they are stored, so these aren't converted. */
export function boundAfter(value: Value, column: Column): unknown {
	return column.type === 'timestamp' && typeof value === 'string'
		? wellFormed(value, column)
		: bound(value, column)
}

/** The format of a column's timestamps. */
interface TimestampFormat {
	/**
	 * - `wire`: `2026-11-20T13:45:00.123Z`, the default
	 * - `spaced`: `2026-11-20 13:45:00`, as `current_timestamp` writes it
	 * - `seconds`, `milliseconds`: numbers since 1970
	 */
	readonly kind: 'wire' | 'spaced' | 'seconds' | 'milliseconds'
	/** Fraction digits: for `wire` exact, because texts ending with `Z` wouldn't sort otherwise; for `spaced` a minimum. */
	readonly digits: number
}

const WIRE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/

/** Derives a column's format from its default, one of its values, or the declared digits: `datetime(6)`. */
export function timestampFormat(
	defaultSql: string | null,
	value: unknown,
	declared: number | undefined,
): TimestampFormat {
	return (
		formatOfDefault(defaultSql ?? '') ??
		formatOfValue(value) ?? { kind: 'wire', digits: Math.min(9, Math.max(3, declared ?? 3)) }
	)
}

function formatOfDefault(sql: string): TimestampFormat | undefined {
	if (/^[\s(]*(?:current_timestamp\b|datetime\s*\()/i.test(sql)) return { kind: 'spaced', digits: 0 }
	if (/^[\s(]*strftime\s*\(\s*'%Y-%m-%d %H:%M:%f'/i.test(sql)) return { kind: 'spaced', digits: 3 }
	if (/^[\s(]*(?:cast\s*\(\s*)?(?:unixepoch\s*\(|strftime\s*\(\s*'%s')/i.test(sql)) {
		return { kind: 'seconds', digits: 0 }
	}
	return undefined
}

function formatOfValue(value: unknown): TimestampFormat | undefined {
	if (typeof value === 'string') {
		const spaced = SPACED.exec(value)
		if (spaced !== null) return { kind: 'spaced', digits: spaced[3]?.length ?? 0 }
		const digits = WIRE.exec(value)?.[2]?.length ?? 3
		return { kind: 'wire', digits: Math.max(3, digits) }
	}
	if (typeof value !== 'bigint' && typeof value !== 'number') return undefined
	return { kind: Math.abs(Number(value)) >= 1e11 ? 'milliseconds' : 'seconds', digits: 0 }
}

/** Converts a timestamp to the column's format. */
function storedTimestamp(value: string, { kind, digits }: TimestampFormat): string | number {
	const match = WIRE.exec(value)
	if (match === null) return value
	const [, second = '', given = ''] = match
	if (kind === 'wire') return `${second}.${given.padEnd(digits, '0').slice(0, digits)}Z`
	const fraction = given.replace(/0+$/, '')
	if (kind === 'spaced') {
		const shown = fraction.padEnd(digits, '0')
		return second.replace('T', ' ') + (shown === '' ? '' : `.${shown}`)
	}
	const milliseconds = Date.parse(`${second}Z`)
	if (kind === 'seconds') return milliseconds / 1000 + Number(`0.${fraction === '' ? '0' : fraction}`)
	return milliseconds + Number(`${fraction.slice(0, 3).padEnd(3, '0')}.${fraction.slice(3) || '0'}`)
}

/** The most digits of a second that a column keeps. A number has room for microseconds. */
export function fractionOf({ kind, digits }: TimestampFormat): number | undefined {
	return kind === 'wire' ? digits : kind === 'spaced' ? undefined : 6
}

/** Encodes a format as a column's `storage`: `wire3`. */
export function storageOf({ kind, digits }: TimestampFormat): string {
	return `${kind}${digits}`
}

/** Decodes a column's `storage`. */
export function formatOf(storage: string | undefined): TimestampFormat {
	const [, kind = 'wire', digits = 3] = /^(wire|spaced|seconds|milliseconds)(\d)$/.exec(storage ?? '') ?? []
	// The pattern has only these kinds.
	return { kind: kind as TimestampFormat['kind'], digits: Number(digits) }
}
