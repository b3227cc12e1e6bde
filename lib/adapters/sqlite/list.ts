/**
 * Lists: one row, in which SQLite has put all records together, where a record is one text; else a row for
 * each record.
 */
import type { FieldType, Listed } from '../../crud/model.ts'
import { ModelError } from '../../crud/model-error.ts'
import {
	type Dialect,
	type ListParts,
	MOST_BYTES,
	type OrderColumn,
	type RecordSql,
	type Selected,
	type Sql,
} from '../../sql/dialect.ts'
import type { Rows } from '../../sql/driver.ts'
import { ALIAS, columnName, tableName } from '../../sql/name.ts'
import { formOf, momentForCursor } from './moment.ts'
import { isOneText } from './record-sql.ts'
import { isWireSql, valueSql, type Writing } from './value-sql.ts'

/** Between records. No JSON that SQLite writes has a line end in it, so that the last one can be cut off. */
const BETWEEN = ',\n'

/** Orders by which a selection's texts are kept; clients choose among many. */
const MOST_ORDERS = 100

/** What is written for one selection in one order, whatever the conditions. */
interface Texts {
	readonly record: RecordSql
	/** Whether the page is one row. */
	readonly isOneText: boolean
	/** Whether there is a key beside each record. */
	readonly hasKeys: boolean
	/** `select … from "article" b`. */
	readonly select: string
	/** ` order by … limit `. */
	readonly orderBy: string
	/** The whole statements without a condition, once they were asked for; with the total, and without. */
	readonly whole: { counted?: string; uncounted?: string }
}

export class Lists {
	readonly #dialect: Dialect
	readonly #writing: Writing
	/** By the selection, which is the same object each time, and by the order. */
	readonly #texts = new WeakMap<readonly Selected[], Map<string, Texts>>()

	constructor(dialect: Dialect, writing: Writing) {
		this.#dialect = dialect
		this.#writing = writing
	}

	write(sql: Sql, parts: ListParts): void {
		const texts = this.#textsOf(parts)
		if (parts.where !== undefined || parts.after !== undefined) {
			this.#write(sql, parts, texts)
			return
		}
		const which = parts.total ? 'counted' : 'uncounted'
		const text = texts.whole[which]
		if (text === undefined) {
			this.#write(sql, parts, texts)
			texts.whole[which] = sql.text
			return
		}
		sql.values.push(this.#dialect.bindNumber(parts.limit + 1), this.#dialect.bindNumber(parts.offset))
		sql.add(text)
	}

	listed({ rows }: Rows, parts: ListParts): Listed {
		const { isOneText, record } = this.#textsOf(parts)
		return isOneText ? fromOneRow(rows[0] ?? [], parts) : fromRows(rows, parts, record)
	}

	#write(sql: Sql, parts: ListParts, texts: Texts): void {
		if (texts.isOneText) {
			const all = 'group_concat(j, char(44, 10))'
			const json = this.#writing.measuresBytes
				? `case when octet_length(${all}) <= ${MOST_BYTES} then ${all} end`
				: all
			sql.add(`select ${json}, count(*)`)
			if (texts.hasKeys) sql.add(', json_group_array(k)')
			if (parts.total) writeTotal(sql.add(', '), parts)
			writePage(sql.add(' from ('), parts, texts)
			sql.add(')')
		} else if (parts.total) {
			// Outer, so that the total is there when the page is empty.
			sql.add('select p.*, t.n from (select ')
			writeTotal(sql, parts)
			writePage(sql.add(' as n) t left join ('), parts, texts)
			sql.add(') p on true')
		} else writePage(sql, parts, texts)
	}

	#textsOf(parts: ListParts): Texts {
		let known = this.#texts.get(parts.selected)
		if (known === undefined) {
			known = new Map()
			this.#texts.set(parts.selected, known)
		}
		let order = ''
		for (const { column, descending } of parts.order) order += `${descending ? '-' : '+'}${column.name}\0`
		let texts = known.get(order)
		if (texts === undefined) {
			if (known.size >= MOST_ORDERS) known.clear()
			texts = this.#written(parts)
			known.set(order, texts)
		}
		return texts
	}

	#written(parts: ListParts): Texts {
		const dialect = this.#dialect
		const record = dialect.record(parts.selected, ALIAS)
		const keys = `json_array(${parts.order.map((term) => keySql(dialect, term, this.#writing)).join(', ')})`
		const from = ` from ${tableName(dialect, parts.table)} ${ALIAS}`
		const orderBy = ` order by ${parts.order.map((term) => dialect.orderTerm(term, ALIAS)).join(', ')} limit `
		if (!isOneText(parts.selected)) {
			const list = [keys, ...record.expressions].map((expression, at) => `${expression} as c${at}`).join(', ')
			return { record, isOneText: false, hasKeys: true, select: `select ${list}${from}`, orderBy, whole: {} }
		}
		const own = ownKeySql(dialect, parts, keys)
		const select = `select ${record.expressions[0]} as j${own === '' ? '' : `, ${own} as k`}${from}`
		return { record, isOneText: true, hasKeys: own !== '', select, orderBy, whole: {} }
	}
}

function writePage(sql: Sql, { where, after, limit, offset }: ListParts, { select, orderBy }: Texts): void {
	sql.add(select)
	if (where !== undefined) where(sql.add(' where '))
	if (after !== undefined) after(sql.add(where === undefined ? ' where ' : ' and '))
	// Since 3.49, SQLite plans a statement anew whenever a bare `limit ?` is bound: a third of a page's time.
	sql
		.add(orderBy)
		.number(limit + 1)
		.add(' + 0 offset ')
		.number(offset)
		.add(' + 0')
}

function writeTotal(sql: Sql, parts: ListParts): void {
	sql.add(`(select count(*) from ${tableName(sql.dialect, parts.table)} ${ALIAS}`)
	if (parts.where !== undefined) parts.where(sql.add(' where '))
	sql.add(')')
}

/** A value for a cursor, as exactly as it is known. */
function keySql(dialect: Dialect, { column }: OrderColumn, writing: Writing): string {
	const name = columnName(dialect, column, ALIAS)
	if (column.type === 'bigint') return `cast(${name} as text)`
	if (column.type === 'decimal') {
		return `case typeof(${name}) when 'real' then printf('%!.17g', ${name}) else cast(${name} as text) end`
	}
	if (column.type === 'timestamp') return `case when typeof(${name}) = 'blob' then null else ${name} end`
	if (column.type === 'bytes') return `case when ${name} is not null then hex(${name}) end`
	return valueSql(column, name, writing)
}

function fromOneRow(row: readonly unknown[], parts: ListParts): Listed {
	const [data, count, keys] = row
	if (data === null && Number(count) > 0) throw new ModelError('too_large')
	const isMore = Number(count) > parts.limit
	const all = typeof data === 'string' ? data : ''
	const text = isMore ? all.slice(0, all.lastIndexOf(BETWEEN)) : all
	return {
		json: `[${text}]`,
		next: isMore ? nextOf(text, keys, parts) : undefined,
		total: parts.total ? Number(row.at(-1)) : undefined,
	}
}

function nextOf(text: string, keys: unknown, parts: ListParts): string {
	// An array of texts, each of them an array again; of nulls where the record says it itself.
	const key =
		typeof keys === 'string' && keys.includes('"') ? (JSON.parse(keys) as unknown[])[parts.limit - 1] : null
	return typeof key === 'string' ? next(key, parts) : nextInRecord(text, parts)
}

/** Types whose values are in a record as exactly as a cursor needs them. */
const EXACT = new Set<FieldType>(['boolean', 'integer', 'bigint', 'float', 'text', 'uuid', 'date', 'time'])

/**
 * The key that is written beside each record. Empty where all columns of the order are in the record, exactly:
 * then the last record is the cursor, and a fifth of the page's time is saved. Timestamps are exact in the
 * records that have them in the form of the wire, and only the others get a key.
 */
function ownKeySql(dialect: Dialect, { order, selected }: ListParts, keys: string): string {
	const conditions: string[] = []
	for (const { column } of order) {
		const isWire = column.type === 'timestamp' && formOf(column.storage).kind === 'wire'
		if (!(isWire || EXACT.has(column.type)) || !selected.some((one) => one.column === column)) return keys
		if (isWire) conditions.push(isWireSql(columnName(dialect, column, ALIAS)))
	}
	return conditions.length === 0 ? '' : `case when ${conditions.join(' and ')} then null else ${keys} end`
}

/** Texts and numbers of a JSON text. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Integers that JavaScript may not read exactly. */
const LONG = /^-?\d{16,}$/

function nextInRecord(text: string, { order, selected }: ListParts): string {
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

function fromRows(rows: Rows['rows'], parts: ListParts, record: RecordSql): Listed {
	const records = rows.filter(([key]) => key !== null)
	const width = record.expressions.length
	const texts = records.slice(0, parts.limit).map((row) => record.json(row.slice(1, width + 1)))
	return {
		json: `[${texts.join(',')}]`,
		next: records.length > parts.limit ? next(records[parts.limit - 1]?.[0], parts) : undefined,
		total: parts.total ? Number(rows[0]?.[width + 1]) : undefined,
	}
}

function next(key: unknown, { order }: ListParts): string {
	// A `json_array` of ours.
	const values = JSON.parse(String(key)) as unknown[]
	return JSON.stringify(
		order.map(({ column }, at) => {
			const value = values[at]
			if (column.type === 'timestamp') return momentForCursor(value, formOf(column.storage))
			if (column.type === 'bytes' && typeof value === 'string') {
				return Buffer.from(value, 'hex').toString('base64')
			}
			return value
		}),
	)
}
