/** What a column of each type holds, and how its values are sent: as text, which the database reads exactly. */
import { type FieldType, ModelError, RawJson, type Value } from '../../../../lib/models/index.ts'
import type { Column } from '../../../../lib/models/sql/index.ts'

const TYPES: Readonly<Record<string, FieldType>> = {
	bool: 'boolean',
	int4: 'integer',
	int8: 'bigint',
	float8: 'float',
	numeric: 'decimal',
	text: 'text',
	varchar: 'text',
	uuid: 'uuid',
	date: 'date',
	time: 'time',
	timestamptz: 'timestamp',
	jsonb: 'json',
	bytea: 'bytes',
}

export function fieldOf(sqlType: string): Pick<Column, 'type' | 'min' | 'max'> {
	const type = TYPES[sqlType] ?? 'other'
	return type === 'integer' ? { type, min: -(2 ** 31), max: 2 ** 31 - 1 } : { type }
}

export function bind(value: Value, { name }: Column): unknown {
	if (value === null || typeof value === 'boolean' || value instanceof Uint8Array) return value
	const text = value instanceof RawJson ? value.text : Object.is(value, -0) ? '-0' : String(value)
	if (/\p{Surrogate}/u.test(text)) throw new ModelError('invalid', [name])
	return text
}

export function placeholder(n: number, column: Column | undefined): string {
	if (column === undefined) return `$${n}::int8`
	if (column.type === 'bytes' || column.type === 'boolean') return `$${n}::${column.sqlType}`
	return `$${n}::text::${column.sqlType}`
}
