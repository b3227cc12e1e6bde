/** Lists: the statement that selects a page, one row a record, and what its rows say. Used by `dialect.ts`. */
import type { Listed } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import type { Dialect, ListParts, Sql } from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import { type Table, tableName } from '../sql/table.ts'
import { type Lru, TextCache } from '../sql/text-cache.ts'
import { concatOf, jsonParts, mysqlColumn, type Part, quoteName, unbroken } from './json.ts'

/**
 * Beyond this offset, or limit, the keys of a page are looked for first: the records that are skipped aren't read
 * then, and a large page isn't sorted with its texts.
 */
const FAR = 100
const LARGE = 1000

/**
 * Writes and reads lists of limit + 1 records: their JSON, the values of a cursor that goes on behind them, and the total.
 * Never an aggregate: MariaDB cuts those at `group_concat_max_len`, and MySQL has no order in them.
 */
export class Lists {
	readonly #record: Dialect['record']
	/** Whether a record is found by its key through a unique index. */
	readonly #isKeyed: boolean
	readonly #lru: Lru
	/** Expressions of cursors by the columns of the order, for as long as the table is the same. */
	#cursors: TextCache
	#table: Table | undefined

	constructor(record: Dialect['record'], isKeyed: boolean, lru: Lru) {
		this.#record = record
		this.#isKeyed = isKeyed
		this.#lru = lru
		this.#cursors = new TextCache(lru)
	}

	write(sql: Sql, parts: ListParts): void {
		const { expressions } = this.#record(parts.selected, 'b')
		const isKeyed = this.#isKeyed
		sql.maxBytes = parts.maxBytes
		sql.add(`select ${expressions.join(', ')}, ${this.#cursor(parts)}`)
		if (parts.total) sql.add(`, c.n, b.${quoteName(parts.table.key)} is null`)
		sql.add(' from ')
		if (parts.total) writeCount(sql, parts)
		const isFar = parts.total || parts.offset > FAR || parts.limit > LARGE
		if (isFar) writePage(sql, parts, isKeyed)
		else writeSource(sql, parts, [parts.where, parts.after])
		// By the page's own columns: by those of the table, the database would sort the texts once more.
		writeOrder(sql, parts, isFar && isKeyed ? 'p' : 'b')
		if (!isFar) writeLimit(sql, parts)
	}

	#cursor({ table, order }: ListParts): string {
		if (table !== this.#table) this.#cursors = new TextCache(this.#lru)
		this.#table = table
		const columns = order.map(({ column }) => column.name)
		let cursor = this.#cursors.get(columns)
		if (cursor === undefined) {
			cursor = cursorOf(order)
			this.#cursors.keep(columns, cursor)
		}
		return cursor
	}

	/** @throws ModelError `too_large` also for a record beyond the server's `max_allowed_packet`: it writes NULL then, and warns */
	read({ rows }: Rows, { selected, limit, total, maxBytes }: ListParts): Listed {
		const { json } = this.#record(selected, 'b')
		const [first] = rows
		// With a total there is always a row; without records, it has nothing but the total, and no key. Its JSON
		// tells nothing: where all fields that are selected can be null, it is written all the same.
		const isEmpty = first === undefined || (total && Number(first[3]) === 1)
		const end = isEmpty ? 0 : Math.min(rows.length, limit)
		let text = '['
		for (let at = 0; at < end; at++) {
			const row = rows[at] ?? []
			if (row[0] === null) throw new ModelError('too_large')
			text += at === 0 ? json(row) : `,${json(row)}`
		}
		text += ']'
		const last = rows.length > limit ? rows[limit - 1]?.[1] : undefined
		const next = typeof last === 'string' ? unbroken(last) : undefined
		refuseLarger(text, maxBytes, next)
		return {
			json: text,
			next,
			total: total ? Number(first?.[2]) : undefined,
		}
	}
}

/** Joined to the page, so that it is there on a page without records too. */
function writeCount(sql: Sql, parts: ListParts): void {
	sql.add('(select count(*) as n from ')
	writeSource(sql, parts, [parts.where])
	sql.add(') c left join ')
}

/**
 * A page within a list; by its keys and what it is ordered by, which an index may hold, or where there is no key
 * to rely on, by its whole rows. Joined in this order: the other way round the whole table would be read.
 */
function writePage(sql: Sql, parts: ListParts, isKeyed: boolean): void {
	sql.add(`(select ${isKeyed ? orderedBy(parts) : 'b.*'} from `)
	writeSource(sql, parts, [parts.where, parts.after])
	writeOrder(sql, parts, 'b')
	writeLimit(sql, parts)
	if (!isKeyed) {
		sql.add(parts.total ? ') b on true' : ') b')
		return
	}
	const key = quoteName(parts.table.key)
	sql.add(parts.total ? ') p on true left join ' : ') p straight_join ')
	sql.add(`${tableName(sql.dialect, parts.table)} b on b.${key} = p.${key}`)
}

/** The key, and the columns of the order, each once. */
function orderedBy({ table, order }: ListParts): string {
	const names = new Set([table.key, ...order.map(({ column }) => column.name)])
	return Array.from(names, (name) => `b.${quoteName(name)}`).join(', ')
}

function writeSource(
	sql: Sql,
	parts: ListParts,
	conditions: readonly (((sql: Sql) => void) | undefined)[],
): void {
	sql.add(`${tableName(sql.dialect, parts.table)} b`)
	let before = ' where '
	for (const write of conditions) {
		if (write === undefined) continue
		sql.add(before)
		write(sql)
		before = ' and '
	}
}

function writeOrder(sql: Sql, { order }: ListParts, alias: 'b' | 'p'): void {
	sql.add(` order by ${order.map((term) => sql.dialect.orderTerm(term, alias)).join(', ')}`)
}

/**
 * An offset is written as digits where there are no other values, and the statement isn't prepared then: MariaDB
 * plans a page better whose place it knows. Beside values, and for a first page, they are bound: else each page
 * would be one more statement to prepare.
 */
function writeLimit(sql: Sql, { limit, offset }: ListParts): void {
	const isBound = sql.values.length > 0 || offset === 0
	const write = (count: number) => (isBound ? sql.number(count) : sql.add(digitsOf(count)))
	sql.add(' limit ')
	write(limit + 1)
	if (offset === 0) return
	sql.add(' offset ')
	write(offset)
}

/** @throws RangeError for what is no whole number from 0 to 2^53 - 1 */
function digitsOf(count: number): string {
	if (Number.isSafeInteger(count) && count >= 0) return String(count)
	throw new RangeError(`a limit and an offset must be whole numbers from 0 on, got ${String(count)}`)
}

/** A JSON array of the order's values. */
function cursorOf(order: ListParts['order']): string {
	const parts: Part[] = []
	let before = '['
	for (const { column } of order) {
		parts.push({ text: before })
		parts.push(...jsonParts(mysqlColumn(column), `b.${quoteName(column.name)}`, 'cursor'))
		before = ','
	}
	parts.push({ text: ']' })
	return concatOf(parts)
}
