/**
 * Lists: one row, in which SQLite has put all records together, where a record is one text; else a row for each record. And
 * the cursor behind a page: where its values come from, and how they become `next`.
 */
import type { FieldType, Listed } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import {
	countRead,
	type Dialect,
	type ListParts,
	type RecordSql,
	type Selected,
	type Sql,
} from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import { ALIAS, columnName, tableName } from '../sql/table.ts'
import { TextCache } from '../sql/text-cache.ts'
import { cursorSql, isOneText, isWireSql, type Writing } from './json.ts'
import { formOf } from './types.ts'

/** A page whose records are counted from 1. */
const NUMBERED = ' from (select *, row_number() over () as r from ('

/** What texts take beside their characters, and how often these are in them. */
const BYTES_OF_TEXTS = 1_000
const TIMES = 6

/** What is written for one selection in one order, whatever the conditions. */
interface Texts {
	readonly record: RecordSql
	/** Whether the page is one row. */
	readonly isOneText: boolean
	/** Whether there is a key beside each record. */
	readonly hasKeys: boolean
	/** Whether they can be long: only the last record's is answered then, and none that is larger than a page. */
	readonly hasLongKeys: boolean
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
	readonly #texts = new WeakMap<readonly Selected[], TextCache<Texts>>()

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
		const numbers = [countRead(parts), parts.offset]
		if (texts.hasLongKeys) numbers.unshift(parts.limit, parts.maxBytes)
		if (texts.isOneText && this.#writing.measuresBytes) numbers.unshift(parts.maxBytes)
		for (const number of numbers) sql.values.push(this.#dialect.bindNumber(number))
		sql.add(text)
	}

	read({ rows }: Rows, parts: ListParts): Listed | undefined {
		const { isOneText, hasLongKeys, record } = this.#textsOf(parts)
		if (!isOneText) return fromRows(rows, parts, record)
		return fromOneRow(rows[0] ?? [], parts, hasLongKeys)
	}

	#write(sql: Sql, parts: ListParts, texts: Texts): void {
		if (texts.isOneText) {
			const all = 'group_concat(j, char(44, 10))'
			sql.add('select ')
			if (this.#writing.measuresBytes)
				sql.add(`case when octet_length(${all}) <= `).number(parts.maxBytes).add(` then ${all} end`)
			else sql.add(all)
			sql.add(', count(*)')
			if (texts.hasLongKeys) {
				sql.add(', max(case when r = ').number(parts.limit).add(' then case when octet_length(k) <= ')
				sql.number(parts.maxBytes).add(` then k else '' end end)`)
			} else if (texts.hasKeys) sql.add(', json_group_array(k)')
			if (parts.total) writeTotal(sql.add(', '), parts)
			writePage(sql.add(texts.hasLongKeys ? NUMBERED : ' from ('), parts, texts)
			sql.add(texts.hasLongKeys ? '))' : ')')
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
			known = new TextCache(this.#dialect.lru)
			this.#texts.set(parts.selected, known)
		}
		const order: string[] = []
		for (const { column, descending } of parts.order) order.push(descending ? '-' : '+', column.name)
		let texts = known.get(order)
		if (texts === undefined) {
			texts = this.#written(parts)
			known.keep(order, texts, BYTES_OF_TEXTS + TIMES * (texts.select.length + texts.orderBy.length))
		}
		return texts
	}

	#written(parts: ListParts): Texts {
		const dialect = this.#dialect
		const record = dialect.record(parts.selected, ALIAS)
		const keys = `json_array(${parts.order.map(({ column }) => cursorSql(column, columnName(dialect, column, ALIAS), this.#writing)).join(', ')})`
		const from = ` from ${tableName(dialect, parts.table)} ${ALIAS}`
		const orderBy = ` order by ${parts.order.map((term) => dialect.orderTerm(term, ALIAS)).join(', ')} limit `
		if (!isOneText(parts.selected)) {
			const list = [keys, ...record.expressions].map((expression, at) => `${expression} as c${at}`).join(', ')
			const select = `select ${list}${from}`
			return { record, isOneText: false, hasKeys: true, hasLongKeys: false, select, orderBy, whole: {} }
		}
		const own = ownKeySql(dialect, parts, keys, this.#writing)
		const select = `select ${record.expressions[0]} as j${own === '' ? '' : `, ${own} as k`}${from}`
		const hasKeys = own !== ''
		const isLong = hasKeys && this.#writing.measuresBytes && hasLongKeys(parts)
		return { record, isOneText: true, hasKeys, hasLongKeys: isLong, select, orderBy, whole: {} }
	}
}

function writePage(sql: Sql, parts: ListParts, { select, orderBy }: Texts): void {
	const { where, after, offset } = parts
	sql.add(select)
	if (where !== undefined) where(sql.add(' where '))
	if (after !== undefined) after(sql.add(where === undefined ? ' where ' : ' and '))
	// Since 3.49, SQLite plans a statement anew whenever a bare `limit ?` is bound: a third of a page's time.
	sql.add(orderBy).number(countRead(parts)).add(' + 0 offset ').number(offset).add(' + 0')
}

function writeTotal(sql: Sql, parts: ListParts): void {
	sql.add(`(select count(*) from ${tableName(sql.dialect, parts.table)} ${ALIAS}`)
	if (parts.where !== undefined) parts.where(sql.add(' where '))
	sql.add(')')
}

function fromOneRow(row: readonly unknown[], parts: ListParts, isOneKey: boolean): Listed | undefined {
	const [data, count, keys] = row
	const hasBeyond = Number(count) > parts.limit
	if (data === null && Number(count) > 0) {
		if (hasBeyond) return undefined
		throw new ModelError('too_large')
	}
	const all = typeof data === 'string' ? data : ''
	const text = hasBeyond ? all.slice(0, all.lastIndexOf(BETWEEN)) : all
	const isMore = hasBeyond || !parts.looksBeyond
	if (isMore && isOneKey && keys === '') throw new ModelError('too_large')
	const next = isMore ? nextOf(text, keys, parts, isOneKey) : undefined
	refuseLarger(text, parts.maxBytes, next)
	return {
		json: `[${text}]`,
		next,
		total: parts.total ? Number(row.at(-1)) : undefined,
	}
}

function nextOf(text: string, keys: unknown, parts: ListParts, isOneKey: boolean): string {
	if (isOneKey) return typeof keys === 'string' ? next(keys, parts) : nextInRecord(text, parts)
	// An array of texts, each of them an array again; of nulls where the record says it itself.
	const key =
		typeof keys === 'string' && keys.includes('"') ? (JSON.parse(keys) as unknown[])[parts.limit - 1] : null
	return typeof key === 'string' ? next(key, parts) : nextInRecord(text, parts)
}

function fromRows(rows: Rows['rows'], parts: ListParts, record: RecordSql): Listed {
	const records = rows.filter(([key]) => key !== null)
	const width = record.expressions.length
	const texts: string[] = []
	let units = 0
	for (const row of records.slice(0, parts.limit)) {
		const text = record.json(row.slice(1, width + 1))
		units += text.length
		if (units > parts.maxBytes) throw new ModelError('too_large')
		texts.push(text)
	}
	const json = `[${texts.join(',')}]`
	const cursor = records.length > parts.limit ? next(records[parts.limit - 1]?.[0], parts) : undefined
	refuseLarger(json, parts.maxBytes, cursor)
	return {
		json,
		next: cursor,
		total: parts.total ? Number(rows[0]?.[width + 1]) : undefined,
	}
}

/** Between records. No JSON that SQLite writes has a line end in it, so that the last one can be cut off. */
const BETWEEN = ',\n'

/** Types that have no longest value. */
const UNLIMITED: ReadonlySet<FieldType> = new Set(['text', 'bytes', 'json', 'decimal', 'other'])

/** Whether the values that a list is sorted by can be long: then one key is taken from the page, not all. */
function hasLongKeys({ order }: ListParts): boolean {
	return order.some(({ column }) => UNLIMITED.has(column.type))
}

/** Types whose values are in a record as exactly as a cursor needs them. */
const EXACT: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'float', 'text', 'uuid', 'date', 'time'])

/**
 * The key that is written beside each record. Empty where all columns of the order are in the record, exactly:
 * then the last record is the cursor, and a fifth of the page's time is saved. Timestamps are exact in the
 * records that have them in the form of the wire, and only the others get a key.
 */
function ownKeySql(dialect: Dialect, { order, selected }: ListParts, keys: string, writing: Writing): string {
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
