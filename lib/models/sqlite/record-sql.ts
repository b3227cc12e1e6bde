/**
 * A record as SQLite writes it: one `json_object`; around each column of bytes it is cut into two, since SQLite
 * has no base64, and put together here.
 */
import type { RecordSql, Selected } from '../sql/dialect.ts'
import type { Column } from '../sql/table.ts'
import { valueSql, type Writing } from './value-sql.ts'

/** A function has at most 127 arguments in older SQLite, 63 pairs; 100 is the limit of others that are set lower. */
const MOST_PAIRS = 50

export function recordSql(
	selected: readonly Selected[],
	nameOf: (column: Column) => string,
	writing: Writing,
): RecordSql {
	const parts = partsOf(selected)
	const expressions = parts.map((part) =>
		'bytes' in part ? nameOf(part.bytes.column) : objectSql(part.pairs, nameOf, writing),
	)
	const [only] = parts
	if (parts.length === 1 && only !== undefined && !('bytes' in only)) {
		return { expressions, json: ([text]) => textOf(text) }
	}
	return { expressions, json: (values) => joined(parts, values) }
}

/** Whether the record is one text: then a whole list can be. */
export function isOneText(selected: readonly Selected[]): boolean {
	const [only, ...others] = partsOf(selected)
	return only !== undefined && others.length === 0 && !('bytes' in only)
}

export function base64Of(value: unknown): string | null {
	if (value === null || value === undefined) return null
	if (value instanceof Uint8Array) {
		return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
	}
	// A column that isn't STRICT may hold anything.
	return Buffer.from(String(value)).toString('base64')
}

type Part = { readonly pairs: Selected[] } | { readonly bytes: Selected }

function partsOf(selected: readonly Selected[]): Part[] {
	const parts: Part[] = []
	for (const one of selected) {
		const last = parts.at(-1)
		if (one.column.type === 'bytes') parts.push({ bytes: one })
		else if (last !== undefined && 'pairs' in last && last.pairs.length < MOST_PAIRS) last.pairs.push(one)
		else parts.push({ pairs: [one] })
	}
	return parts.length === 0 ? [{ pairs: [] }] : parts
}

function objectSql(pairs: readonly Selected[], nameOf: (column: Column) => string, writing: Writing): string {
	const members = pairs.map(
		({ column, as }) => `'${as.replaceAll("'", "''")}', ${valueSql(column, nameOf(column), writing)}`,
	)
	return `json_object(${members.join(', ')})`
}

function joined(parts: readonly Part[], values: readonly unknown[]): string {
	const texts = parts.map((part, at) => {
		const value = values[at]
		if (!('bytes' in part)) return textOf(value).slice(1, -1)
		return `${JSON.stringify(part.bytes.as)}:${JSON.stringify(base64Of(value))}`
	})
	return `{${texts.join(',')}}`
}

function textOf(value: unknown): string {
	if (typeof value !== 'string') throw new TypeError('SQLite has answered no text for a record')
	return value
}
