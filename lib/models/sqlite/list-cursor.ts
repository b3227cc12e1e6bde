/** The cursor behind a page: where its values come from, and how they become `next`. Used by `list.ts`. */
import type { FieldType } from '../model.ts'
import type { Dialect, ListParts } from '../sql/dialect.ts'
import { ALIAS, columnName } from '../sql/table.ts'
import { formOf } from './moment.ts'
import { isWireSql, type Writing } from './value-sql.ts'

/** Between records. No JSON that SQLite writes has a line end in it, so that the last one can be cut off. */
export const BETWEEN = ',\n'

/** Types that have no longest value. */
const UNLIMITED = new Set<FieldType>(['text', 'bytes', 'json', 'decimal', 'other'])

/** Whether the values that a list is sorted by can be long: then one key is taken from the page, not all. */
export function hasLongKeys({ order }: ListParts): boolean {
	return order.some(({ column }) => UNLIMITED.has(column.type))
}

/** Types whose values are in a record as exactly as a cursor needs them. */
const EXACT = new Set<FieldType>(['integer', 'bigint', 'float', 'text', 'uuid', 'date', 'time'])

/**
 * The key that is written beside each record. Empty where all columns of the order are in the record, exactly:
 * then the last record is the cursor, and a fifth of the page's time is saved. Timestamps are exact in the
 * records that have them in the form of the wire, and only the others get a key.
 */
export function ownKeySql(
	dialect: Dialect,
	{ order, selected }: ListParts,
	keys: string,
	writing: Writing,
): string {
	// A BLOB is written into a record as a text, which it isn't.
	if (writing.guardsBlobs) return keys
	const conditions: string[] = []
	for (const { column } of order) {
		const isWire = column.type === 'timestamp' && formOf(column.storage).kind === 'wire'
		// Written as a text, it doesn't tell what it is.
		if (column.asText === true && column.loose === true) return keys
		if (!(isWire || EXACT.has(column.type)) || !selected.some((one) => one.column === column)) return keys
		if (isWire) conditions.push(isWireSql(columnName(dialect, column, ALIAS)))
	}
	return conditions.length === 0 ? '' : `case when ${conditions.join(' and ')} then null else ${keys} end`
}

/** Texts and numbers of a JSON text. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Integers that JavaScript may not read exactly. */
const LONG = /^-?\d{16,}$/

export function nextInRecord(text: string, { order, selected }: ListParts): string {
	const before = text.lastIndexOf(BETWEEN)
	const last = before === -1 ? text : text.slice(before + BETWEEN.length)
	const exact = last.replaceAll(TOKENS, (token) => (LONG.test(token) ? `"${token}"` : token))
	// An object that `json_object` has written.
	const record = JSON.parse(exact) as Record<string, unknown>
	return JSON.stringify(
		order.map(({ column }) => {
			const value = record[selected.find((one) => one.column === column)?.as ?? '']
			return typeof value === 'number' && column.type === 'bigint' ? String(value) : value
		}),
	)
}

export function next(key: unknown, { order }: ListParts): string {
	// A `json_array` of ours.
	const values = JSON.parse(String(key)) as unknown[]
	return JSON.stringify(
		order.map(({ column }, at) => {
			const value = values[at]
			if (column.type === 'bytes' && typeof value === 'string') {
				return Buffer.from(value, 'hex').toString('base64')
			}
			return value
		}),
	)
}
