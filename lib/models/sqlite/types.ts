/**
 * What a column's declared type says, and how its values are stored: booleans as 0 and 1, timestamps in the one form that
 * the column has. SQLite takes any words for a type and has an affinity for them (sqlite.org/datatype3.html §3.1); the
 * names that people use for dates, booleans or JSON are read here too.
 */

import { RawJson } from '../../wire/raw-json.ts'
import type { FieldType, Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Column } from '../sql/table.ts'

export interface DeclaredType {
	readonly type: FieldType
	/** Without length, in lower case: `varchar`. */
	readonly name: string
	/** The first number in parentheses: characters of a text, digits of a timestamp's second. */
	readonly length: number | undefined
	/** The second one: digits of a decimal behind the point. */
	readonly scale: number | undefined
}

/** The first that matches, in this order. */
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
	const [, words = '', digits, behind] = /^([^(]*)(?:\(\s*(\d+)\s*(?:,\s*(\d+))?[^)]*\))?/.exec(text) ?? []
	const name = words.trim().replaceAll(/\s+/g, ' ')
	const length = digits === undefined ? undefined : Number(digits)
	const scale = behind === undefined ? undefined : Number(behind)
	if (name === 'tinyint' && length === 1) return { type: 'boolean', name, length, scale }
	return { type: NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other', name, length, scale }
}

const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** @throws ModelError `invalid` for an integer beyond 64 bits, and for half a surrogate pair */
export function bound(value: Value, column: Column): unknown {
	switch (typeof value) {
		case 'boolean':
			return value ? 1 : 0
		case 'bigint':
			// The drivers would refuse it, each in its own words.
			if (value < LEAST || value > GREATEST) throw new ModelError('invalid', [column.name])
			return value
		case 'number':
			// SQLite would store null.
			return Number.isNaN(value) ? 'NaN' : value
		case 'string':
			return column.type === 'timestamp'
				? storedMoment(value, formOf(column.storage))
				: wellFormed(value, column)
		default:
			return value instanceof RawJson ? wellFormed(value.text, column) : value
	}
}

/** The same for a value of a cursor, which is as it was stored. */
export function boundAfter(value: Value, column: Column): unknown {
	return column.type === 'timestamp' && typeof value === 'string'
		? wellFormed(value, column)
		: bound(value, column)
}

/** Half of a surrogate pair has no UTF-8, and drivers differ in what they make of it. */
function wellFormed(text: string, { name }: Column): string {
	if (/\p{Surrogate}/u.test(text)) throw new ModelError('invalid', [name])
	return text
}

/** How a column holds its timestamps. */
interface MomentForm {
	/**
	 * - `wire`: `2026-11-20T13:45:00.123Z`, where nothing else is seen
	 * - `spaced`: `2026-11-20 13:45:00`, as `current_timestamp` writes it
	 * - `seconds`, `milliseconds`: numbers, since 1970
	 */
	readonly kind: 'wire' | 'spaced' | 'seconds' | 'milliseconds'
	/**
	 * Digits of a second. On the wire exactly as many, for one more or less would change the order of texts that
	 * end with `Z`; spaced, at least as many.
	 */
	readonly digits: number
}

const WIRE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/

/** The form of a column by its default, its first value, and the digits that were declared: `datetime(6)`. */
export function momentForm(
	defaultSql: string | null,
	value: unknown,
	declared: number | undefined,
): MomentForm {
	return (
		formOfDefault(defaultSql ?? '') ??
		formOfValue(value) ?? { kind: 'wire', digits: Math.min(9, Math.max(3, declared ?? 3)) }
	)
}

function formOfDefault(sql: string): MomentForm | undefined {
	if (/^[\s(]*(?:current_timestamp\b|datetime\s*\()/i.test(sql)) return { kind: 'spaced', digits: 0 }
	if (/^[\s(]*strftime\s*\(\s*'%Y-%m-%d %H:%M:%f'/i.test(sql)) return { kind: 'spaced', digits: 3 }
	if (/^[\s(]*(?:cast\s*\(\s*)?(?:unixepoch\s*\(|strftime\s*\(\s*'%s')/i.test(sql)) {
		return { kind: 'seconds', digits: 0 }
	}
	return undefined
}

function formOfValue(value: unknown): MomentForm | undefined {
	if (typeof value === 'string') {
		const spaced = SPACED.exec(value)
		if (spaced !== null) return { kind: 'spaced', digits: spaced[3]?.length ?? 0 }
		const digits = WIRE.exec(value)?.[2]?.length ?? 3
		return { kind: 'wire', digits: Math.max(3, digits) }
	}
	if (typeof value !== 'bigint' && typeof value !== 'number') return undefined
	return { kind: Math.abs(Number(value)) >= 1e11 ? 'milliseconds' : 'seconds', digits: 0 }
}

/** A timestamp of the wire as the column holds it. */
function storedMoment(value: Value, { kind, digits }: MomentForm): unknown {
	const match = typeof value === 'string' ? WIRE.exec(value) : null
	if (match === null) return value
	const [, second = '', given = ''] = match
	if (kind === 'wire') return `${second}.${given.padEnd(digits, '0').slice(0, digits)}Z`
	const fraction = given.replace(/0+$/, '')
	return kind === 'spaced' ? spaced(second, fraction.padEnd(digits, '0')) : counted(second, fraction, kind)
}

function spaced(second: string, fraction: string): string {
	return second.replace('T', ' ') + (fraction === '' ? '' : `.${fraction}`)
}

function counted(second: string, fraction: string, kind: MomentForm['kind']): number {
	const milliseconds = Date.parse(`${second}Z`)
	if (kind === 'seconds') return milliseconds / 1000 + Number(`0.${fraction === '' ? '0' : fraction}`)
	return milliseconds + Number(`${fraction.slice(0, 3).padEnd(3, '0')}.${fraction.slice(3) || '0'}`)
}

/** A form as the text of a column's `storage`, and back: `wire3`. */
export function storageOf({ kind, digits }: MomentForm): string {
	return `${kind}${digits}`
}

export function formOf(storage: string | undefined): MomentForm {
	const [, kind, digits] = /^(wire|spaced|seconds|milliseconds)(\d)$/.exec(storage ?? '') ?? []
	switch (kind) {
		case 'spaced':
		case 'seconds':
		case 'milliseconds':
			return { kind, digits: Number(digits) }
		default:
			return { kind: 'wire', digits: Number(digits ?? 3) }
	}
}
