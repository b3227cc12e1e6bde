/** Records and cursors as JSON, made from the columns' values here, because libSQL's own JSON rounds floats. */
import {
	type Column,
	columnName,
	type OrderColumn,
	type RecordSql,
	type Selected,
} from '../../../../lib/models/sql/index.ts'

/** Doesn't use double quotes: libSQL reads an unknown name in double quotes as a string. */
export function quote(name: string): string {
	return `\`${name.replaceAll('`', '``')}\``
}

export function recordSql(selected: readonly Selected[], alias: string): RecordSql {
	const columns = selected.map(({ column }) => column)
	const keys = selected.map(({ as }) => JSON.stringify(as))
	return {
		expressions: columns.map((column) => valueSql(column, alias)),
		json: (values) =>
			`{${columns.map((column, at) => `${keys[at]}:${valueJson(values[at], column, 'record')}`).join(',')}}`,
	}
}

/** A record's sort values as a JSON array, as exact as in the database. */
export function cursorJson(values: readonly unknown[], order: readonly OrderColumn[]): string {
	return `[${order.map(({ column }, at) => valueJson(values[at], column, 'cursor')).join(',')}]`
}

export function valueSql(column: Column, alias: string): string {
	const name = columnName({ quote }, column, alias)
	if (column.type === 'json') return `json(${name})`
	return column.type === 'other' ? `cast(${name} as text)` : name
}

function valueJson(value: unknown, { type, asText }: Column, use: 'record' | 'cursor'): string {
	if (value === null) return 'null'
	if (type === 'boolean') return String(value !== 0n)
	if (type === 'json') return String(value)
	if (typeof value === 'bigint') return asText || use === 'cursor' ? `"${value}"` : String(value)
	if (typeof value === 'number') return Number.isFinite(value) ? String(value) : `"${value}"`
	if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`
	return JSON.stringify(type === 'timestamp' ? timestamp(String(value), use) : value)
}

function timestamp(stored: string, use: 'record' | 'cursor'): string {
	const [seconds = '', fraction = ''] = stored.replace(' ', 'T').split('.')
	return `${seconds}.${use === 'cursor' ? fraction.padEnd(3, '0') : fraction.slice(0, 3).padEnd(3, '0')}Z`
}
