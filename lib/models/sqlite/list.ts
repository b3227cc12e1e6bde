/** Lists, and the cursor after a page. If SQLite writes a record as one text, it also joins all records into one row. */
import type { Bytes } from '../../base/time.ts'
import type { FieldType, Listed } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { writeWhere } from '../sql/condition.ts'
import {
	countRead,
	type Dialect,
	type ListParts,
	listedOf,
	type RecordSql,
	type Sql,
} from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import type { Selected } from '../sql/embedding.ts'
import { joinedColumns, orderOfPage, orderTerms } from '../sql/joins.ts'
import { fillMarks, recordOf } from '../sql/related.ts'
import { ALIAS, columnName, tableName } from '../sql/table.ts'
import { TextCache } from '../sql/text-cache.ts'
import { cursorSql, isOneText, isWireSql, UNLIMITED, type Writing } from './json.ts'
import { formatOf } from './types.ts'

/** Numbers the records of a page from 1. */
const NUMBERED = ' from (select *, row_number() over () as r from ('

/** For the size of a `ListSql` in the cache: its overhead, and how many copies of its texts it has. */
const OVERHEAD: Bytes = 1_000
const COPIES = 6

/** The SQL of one selection and order, whatever the conditions. */
interface ListSql {
	readonly record: RecordSql
	readonly isOneRow: boolean
	/** Whether each record's sort values, here called its key, are selected beside it. */
	readonly hasKeys: boolean
	/** Whether keys can be long. Then only the last record's key is returned, unless it is larger than a page may be. */
	readonly hasLongKeys: boolean
	/** `select … from "article" b`. */
	readonly select: string
	/** ` order by … limit `. */
	readonly orderBy: string
	/** The complete statements without a condition, kept from the first use; with the total, without, and with one that is bounded. */
	readonly whole: { counted?: string; uncounted?: string; bounded?: string }
}

export class Lists {
	readonly #dialect: Dialect
	readonly #writing: Writing
	/** By selection (the same object each time) and order. */
	readonly #cached = new WeakMap<readonly Selected[], TextCache<ListSql>>()
	/** For lists with joins, by the order: each list has an object of its own. */
	readonly #joined = new WeakMap<ListParts['order'], ListSql>()

	constructor(dialect: Dialect, writing: Writing) {
		this.#dialect = dialect
		this.#writing = writing
	}

	write(sql: Sql, parts: ListParts): void {
		const list = this.#sqlOf(parts)
		if (parts.where !== undefined || parts.after !== undefined || isNested(parts)) {
			this.#write(sql, parts, list)
			return
		}
		const { total, maxTotal } = parts
		const isBounded = total && maxTotal !== undefined
		const which = isBounded ? 'bounded' : total ? 'counted' : 'uncounted'
		const text = list.whole[which]
		if (text === undefined) {
			this.#write(sql, parts, list)
			list.whole[which] = sql.text
			return
		}
		const numbers = [countRead(parts), parts.offset]
		if (isBounded) numbers.unshift(maxTotal + 1)
		if (list.hasLongKeys) numbers.unshift(parts.limit, parts.maxBytes)
		if (list.isOneRow && this.#writing.measuresBytes) numbers.unshift(parts.maxBytes)
		for (const number of numbers) sql.values.push(this.#dialect.bindNumber(number))
		sql.add(text)
	}

	read({ rows }: Rows, parts: ListParts): Listed | undefined {
		const { isOneRow, hasLongKeys, record } = this.#sqlOf(parts)
		if (!isOneRow) return fromRows(rows, parts, record)
		return fromOneRow(rows[0] ?? [], parts, hasLongKeys, this.#dialect)
	}

	#write(sql: Sql, parts: ListParts, list: ListSql): void {
		if (list.isOneRow) {
			const all = 'group_concat(j, char(44, 10))'
			sql.add('select ')
			if (this.#writing.measuresBytes)
				sql.add(`case when octet_length(${all}) <= `).number(parts.maxBytes).add(` then ${all} end`)
			else sql.add(all)
			sql.add(', count(*)')
			if (list.hasLongKeys) {
				sql.add(', max(case when r = ').number(parts.limit).add(' then case when octet_length(k) > ')
				// A null key, whose values are in the record, stays null.
				sql.number(parts.maxBytes).add(` then '' else k end end)`)
			} else if (list.hasKeys) sql.add(', json_group_array(k)')
			if (parts.total) writeTotal(sql.add(', '), parts)
			writePage(sql.add(list.hasLongKeys ? NUMBERED : ' from ('), parts, list)
			sql.add(list.hasLongKeys ? '))' : ')')
		} else if (parts.total) {
			// An outer join, so that an empty page has a total, too.
			sql.add('select p.*, t.n from (select ')
			writeTotal(sql, parts)
			writePage(sql.add(' as n) t left join ('), parts, list)
			sql.add(') p on true')
		} else writePage(sql, parts, list)
	}

	#sqlOf(parts: ListParts): ListSql {
		return parts.joins === undefined ? this.#cachedSqlOf(parts) : this.#joinedSqlOf(parts)
	}

	#joinedSqlOf(parts: ListParts): ListSql {
		let list = this.#joined.get(parts.order)
		if (list === undefined) {
			list = this.#compose(parts)
			this.#joined.set(parts.order, list)
		}
		return list
	}

	#cachedSqlOf(parts: ListParts): ListSql {
		let byOrder = this.#cached.get(parts.selected)
		if (byOrder === undefined) {
			byOrder = new TextCache(this.#dialect.lru)
			this.#cached.set(parts.selected, byOrder)
		}
		const order: string[] = []
		for (const { column, descending } of parts.order) order.push(descending ? '-' : '+', column.name)
		let list = byOrder.get(order)
		if (list === undefined) {
			list = this.#compose(parts)
			byOrder.keep(order, list, OVERHEAD + COPIES * (list.select.length + list.orderBy.length))
		}
		return list
	}

	#compose(parts: ListParts): ListSql {
		const dialect = this.#dialect
		const record = recordOf(dialect, parts.selected, ALIAS, parts.embedded)
		const order = orderOfPage(parts.order)
		const keys = `json_array(${order.map(({ column }) => cursorSql(column, columnName(dialect, column, ALIAS), this.#writing)).join(', ')})`
		const table = `${tableName(dialect, parts.table)} ${ALIAS}`
		// The page in a subselect, whose offset keeps SQLite from making the JSON of records that are sorted out.
		const joined = `(select ${ALIAS}.*${joinedColumns(dialect, parts.order)} from ${table}`
		const from = ` from ${isNested(parts) ? joined : table}`
		const terms = orderTerms(dialect, parts.order, ALIAS)
		const orderBy = `${terms === '' ? '' : ` order by ${terms}`} limit `
		if (parts.embedded === undefined && !isOneText(parts.selected)) {
			const columns = [keys, ...record.expressions]
				.map((expression, at) => `${expression} as c${at}`)
				.join(', ')
			const select = `select ${columns}${from}`
			return { record, isOneRow: false, hasKeys: true, hasLongKeys: false, select, orderBy, whole: {} }
		}
		const own = ownKeySql(dialect, { ...parts, order }, keys, this.#writing)
		const select = `select ${record.expressions[0]} as j${own === '' ? '' : `, ${own} as k`}${from}`
		const hasKeys = own !== ''
		const isLong = hasKeys && this.#writing.measuresBytes && hasLongKeys(parts)
		return { record, isOneRow: true, hasKeys, hasLongKeys: isLong, select, orderBy, whole: {} }
	}
}

/** Whether the page is a subselect: see `joined`. */
function isNested({ joins, embedded }: ListParts): boolean {
	return joins !== undefined || embedded !== undefined
}

function writePage(sql: Sql, parts: ListParts, { select, orderBy }: ListSql): void {
	const { where, embedded, joins, after, offset } = parts
	sql.add(select)
	if (embedded !== undefined) sql.values.push(...embedded.values)
	joins?.(sql)
	writeWhere(sql, [where, after])
	// `+ 0`: since 3.49, SQLite plans a statement again whenever a bare `limit ?` is bound, for a third of a page's time.
	sql.add(orderBy).number(countRead(parts)).add(' + 0 offset ').number(offset).add(' + 0')
	if (isNested(parts)) sql.add(`) ${ALIAS}`)
	// The limit keeps SQLite from moving the records' SQL into the outer select, where it would run once for each use.
	if (embedded !== undefined) sql.add(' limit -1')
}

function writeTotal(sql: Sql, parts: ListParts): void {
	const { table, where, maxTotal } = parts
	sql.add(`(select count(*) from ${maxTotal === undefined ? '' : '(select 1 from '}`)
	sql.add(`${tableName(sql.dialect, table)} ${ALIAS}`)
	writeWhere(sql, [where])
	if (maxTotal !== undefined)
		sql
			.add(' limit ')
			.number(maxTotal + 1)
			.add(' + 0)')
	sql.add(')')
}

function fromOneRow(
	row: readonly unknown[],
	parts: ListParts,
	isOneKey: boolean,
	dialect: Dialect,
): Listed | undefined {
	const [data, count, keys] = row
	const hasBeyond = Number(count) > parts.limit
	if (data === null && Number(count) > 0) {
		if (hasBeyond) return undefined
		throw new ModelError('too_large')
	}
	const all = typeof data === 'string' ? data : ''
	const text = hasBeyond ? all.slice(0, all.lastIndexOf(SEPARATOR)) : all
	const isMore = hasBeyond || !parts.looksBeyond
	if (isMore && isOneKey && keys === '') throw new ModelError('too_large')
	const next = isMore ? nextOf(text, keys, parts, isOneKey) : undefined
	const { embedded } = parts
	const page = embedded === undefined ? text : fillMarks(text, embedded, dialect, parts.apart)
	return listedOf(`[${page}]`, next, row.at(-1), parts)
}

function nextOf(text: string, keys: unknown, parts: ListParts, isOneKey: boolean): string {
	if (isOneKey) return typeof keys === 'string' ? nextFromKey(keys, parts.order) : nextFromRecord(text, parts)
	// `keys` is a JSON array. Each key in it is the text of a JSON array, or null if the record has the values.
	const key =
		typeof keys === 'string' && keys.includes('"') ? (JSON.parse(keys) as unknown[])[parts.limit - 1] : null
	return typeof key === 'string' ? nextFromKey(key, parts.order) : nextFromRecord(text, parts)
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
	const cursor =
		records.length > parts.limit ? nextFromKey(records[parts.limit - 1]?.[0], parts.order) : undefined
	return listedOf(`[${texts.join(',')}]`, cursor, rows[0]?.[width + 1], parts)
}

/** Separates records. SQLite writes no line breaks within JSON, so the last record begins after the last separator. */
const SEPARATOR = ',\n'

function hasLongKeys({ order }: ListParts): boolean {
	return order.some(({ column }) => UNLIMITED.has(column.type))
}

/** Types whose values in a record are as exact as a cursor needs. */
const EXACT: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'float', 'text', 'uuid', 'date', 'time'])

/**
 * SQL of the key beside each record. It is empty if the record has exact values for all columns of the order: then the cursor
 * is taken from the last record, which saves a fifth of the page's time. If the order has timestamps, only records in which
 * one isn't stored in the wire's format have a key.
 */
function ownKeySql(
	dialect: Dialect,
	{ order, selected, embedded }: ListParts,
	keys: string,
	writing: Writing,
): string {
	// With marks, a record isn't JSON yet.
	if (embedded !== undefined) return keys
	// Guarded records have BLOBs as hexadecimal text, which a cursor couldn't tell from a stored text.
	if (writing.guardsBlobs) return keys
	const conditions: string[] = []
	for (const { column } of order) {
		const isWire = column.type === 'timestamp' && formatOf(column.storage).kind === 'wire'
		// A bigint written as a string doesn't show whether a number or a text is stored.
		if (column.asText === true && column.loose === true) return keys
		if (!(isWire || EXACT.has(column.type)) || !selected.some((one) => one.column === column)) return keys
		if (isWire) conditions.push(isWireSql(columnName(dialect, column, ALIAS)))
	}
	return conditions.length === 0 ? '' : `case when ${conditions.join(' and ')} then null else ${keys} end`
}

/** Strings and numbers in JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Integers that `JSON.parse` may round. */
const LONG = /^-?\d{16,}$/

function nextFromRecord(text: string, { order, selected }: ListParts): string {
	const before = text.lastIndexOf(SEPARATOR)
	const last = before === -1 ? text : text.slice(before + SEPARATOR.length)
	const exact = last.replaceAll(TOKENS, (token) => (LONG.test(token) ? `"${token}"` : token))
	// Written by `json_object`.
	const record = JSON.parse(exact) as Record<string, unknown>
	return JSON.stringify(
		order.map(({ column }) => {
			const value = record[selected.find((one) => one.column === column)?.as ?? '']
			return typeof value === 'number' && column.type === 'bigint' ? String(value) : value
		}),
	)
}

/** The sort values in a key of a list, or of a list of related records. */
export function nextFromKey(key: unknown, order: ListParts['order']): string {
	// Written by `json_array`.
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
