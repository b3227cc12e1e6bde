/** The field type of each declared type, and how values are sent. */
import { type FieldType, ModelError, RawJson, type Value } from '../../../../lib/models/index.ts'
import type { BigintForm, Column } from '../../../../lib/models/sql/index.ts'

/** By the first word: of `json text`, which libSQL treats as text. In a column declared `json` it would round numbers. */
const TYPES: Readonly<Record<string, FieldType>> = {
	boolean: 'boolean',
	int: 'bigint',
	integer: 'bigint',
	bigint: 'bigint',
	real: 'float',
	double: 'float',
	text: 'text',
	varchar: 'text',
	uuid: 'uuid',
	date: 'date',
	time: 'time',
	datetime: 'timestamp',
	json: 'json',
	blob: 'bytes',
}

type Described = Pick<Column, 'type' | 'sqlType' | 'asText' | 'maxLength'>

export function fieldOf(declared: string, bigint: BigintForm): Described {
	const [, sqlType = '', length] = /^(\w*)(?:\((\d+)\))?/.exec(declared.toLowerCase()) ?? []
	const type = TYPES[sqlType] ?? 'other'
	const maxLength = type === 'text' && length !== undefined ? Number(length) : undefined
	return { type, sqlType, asText: type === 'bigint' && bigint === 'string', maxLength }
}

export function bind(value: Value, { name, type, maxLength = Infinity }: Column): unknown {
	if (typeof value === 'boolean') return value ? 1n : 0n
	if (typeof value === 'number') {
		// libSQL would store NaN as null.
		if (Number.isNaN(value)) throw new ModelError('invalid', [name])
		// A number is sent as a float, a bigint as an integer.
		return type === 'float' ? value : BigInt(value)
	}
	const text = value instanceof RawJson ? value.text : value
	if (typeof text !== 'string') return text
	if (/\p{Surrogate}/u.test(text) || [...text].length > maxLength) throw new ModelError('invalid', [name])
	// '2026-11-20 13:45:00.5', as `current_timestamp` formats it: string order is chronological order.
	return type === 'timestamp' ? text.replace('T', ' ').replace(/(?:\.0*|(\.\d*[1-9])0*)?Z$/, '$1') : text
}
