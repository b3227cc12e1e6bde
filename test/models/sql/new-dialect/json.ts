/** SQL that writes columns, records and cursors as JSON. */
import {
	type Column,
	columnName,
	type OrderColumn,
	type RecordSql,
	type Selected,
} from '../../../../lib/models/sql/index.ts'

export function quote(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

export function recordSql(selected: readonly Selected[], alias: string): RecordSql {
	const members = selected.map(({ column, as }) => {
		const value = `to_json(${valueSql(column, columnName({ quote }, column, alias), 'MS')})`
		return `${literal(`${JSON.stringify(as)}:`)} || coalesce(${value}::text, 'null')`
	})
	const record = members.length === 0 ? `'{}'` : `'{' || ${members.join(` || ',' || `)} || '}'`
	return { expressions: [record], json: ([text]) => String(text) }
}

/** A JSON array of the values in an order, as exactly as the database has them. */
export function cursorSql(order: readonly OrderColumn[], alias: string): string {
	const values = order.map(({ column }) => {
		const name = columnName({ quote }, column, alias)
		return column.type === 'bigint' ? `${name}::text` : valueSql(column, name, 'US')
	})
	return `json_build_array(${values.join(', ')})::text`
}

function valueSql({ type }: Column, name: string, fraction: 'MS' | 'US'): string {
	switch (type) {
		case 'decimal':
		case 'other':
			return `${name}::text`
		case 'timestamp':
			return `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${fraction}"Z"')`
		case 'bytes':
			return `translate(encode(${name}, 'base64'), E'\\n', '')`
		default:
			return name
	}
}

function literal(text: string): string {
	return `E'${text.replace(/['\\]/g, '\\$&')}'`
}
