/** List statements, one row per record, and the conversion of their rows to a page. Used by `dialect.ts`. */
import type { Listed } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { writeWhere } from '../sql/condition.ts'
import { type Dialect, type ListParts, listedOf, type RecordSql, type Sql } from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import type { Selected } from '../sql/embedding.ts'
import { joinedColumns, orderOfPage, orderTerms } from '../sql/joins.ts'
import { type Table, tableName } from '../sql/table.ts'
import { type Lru, TextCache } from '../sql/text-cache.ts'
import { concatOf, jsonParts, mysqlColumn, type Part, quoteName, withoutLineBreaks } from './json.ts'

/** Beyond these, a subselect finds the page's keys first: skipped records aren't read, and texts aren't sorted. */
const FAR = 100
const LARGE = 1000

/** A column of the page of a table without a key: null in the row of an empty page, which only has the total. */
const PRESENT = 'verbena present'

/** Columns of a union of pages: the index of the condition, and the total. */
const PLACE = quoteName('verbena place')
const TOTAL = quoteName('verbena total')

/**
 * Writes and reads lists of limit + 1 records: each record's JSON and cursor, and the total. Not by an aggregate:
 * MariaDB truncates aggregates at `group_concat_max_len`, and MySQL's JSON aggregates have no order.
 */
export class Lists {
	readonly #recordSql: Dialect['record']
	readonly #records = new WeakMap<readonly Selected[], RecordSql>()
	/** Whether the key has a unique index. */
	readonly #isKeyed: boolean
	readonly #lru: Lru
	/** Expressions of cursors by the columns of the order; cleared when the table's schema changes. */
	#cursors: TextCache
	#table: Table | undefined

	constructor(recordSql: Dialect['record'], isKeyed: boolean, lru: Lru) {
		this.#recordSql = recordSql
		this.#isKeyed = isKeyed
		this.#lru = lru
		this.#cursors = new TextCache(lru)
	}

	write(sql: Sql, parts: ListParts): void {
		const { expressions } = this.record(parts.selected)
		const isKeyed = this.#isKeyed
		sql.maxBytes = parts.maxBytes
		sql.add(`select ${expressions.join(', ')}, ${this.#cursor(parts)}`)
		if (parts.total) sql.add(`, c.n, b.${quoteName(parts.table.key[0] ?? PRESENT)} is null`)
		sql.add(' from ')
		if (parts.total) writeCount(sql, parts)
		const isLong = parts.offset > FAR || parts.limit > LARGE || (isKeyed && hasJson(parts.selected))
		const isFar = parts.total || isLong || parts.joins !== undefined
		if (isFar) writePage(sql, parts, isKeyed)
		else writeSource(sql, parts, [parts.where, parts.after])
		// Sorted by the subselect's columns: by the table's, the database would sort the texts again.
		writeOrder(sql, orderOfPage(parts.order), isFar && isKeyed ? 'p' : 'b')
		if (!isFar) writeLimit(sql, parts)
	}

	/**
	 * Writes the lists for several conditions: a union of the pages' keys, so that the record's expression occurs once, and
	 * the order of the rows is that of the statement.
	 */
	writeEach(sql: Sql, parts: ListParts, wheres: readonly ((sql: Sql) => void)[]): void {
		const { expressions } = this.record(parts.selected)
		const pages = this.#isKeyed ? 'p' : 'b'
		const { key } = parts.table
		sql.maxBytes = parts.maxBytes
		sql.isOfLists = true
		sql.add(`select ${expressions.join(', ')}, ${this.#cursor(parts)}`)
		if (parts.total) sql.add(`, ${pages}.${TOTAL}, b.${quoteName(key[0] ?? PRESENT)} is null`)
		sql.add(`, ${pages}.${PLACE} from (`)
		for (const [at, where] of wheres.entries()) {
			const one = { ...parts, where }
			sql.add(`${at === 0 ? '' : ' union all '}(select ${at} as ${PLACE}, `)
			if (parts.total) {
				writeCount(sql.add(`c.n as ${TOTAL}, q.* from `), one)
				writeKeys(sql.add('(select '), one, this.#isKeyed)
				sql.add(') q on true')
			} else writeKeys(sql, one, this.#isKeyed)
			sql.add(')')
		}
		sql.add(`) ${pages}`)
		if (this.#isKeyed) writeJoin(sql, parts)
		const terms = orderTerms(sql.dialect, orderOfPage(parts.order), pages)
		sql.add(` order by ${pages}.${PLACE}${terms === '' ? '' : `, ${terms}`}`)
	}

	/** A record's SQL, cached: the plan and the lists of a selection pass the same array. */
	record(selected: readonly Selected[]): RecordSql {
		let record = this.#records.get(selected)
		if (record === undefined) {
			record = this.#recordSql(selected, 'b')
			this.#records.set(selected, record)
		}
		return record
	}

	#cursor({ table, order, joins }: ListParts): string {
		// Not cached: other lists may have other tables in the same joins.
		if (joins !== undefined) return cursorOf(order, this.#isKeyed ? 'p' : 'b')
		if (table !== this.#table) this.#cursors = new TextCache(this.#lru)
		this.#table = table
		const columns = order.map(({ column }) => column.name)
		let cursor = this.#cursors.get(columns)
		if (cursor === undefined) {
			cursor = cursorOf(order, 'b')
			this.#cursors.keep(columns, cursor)
		}
		return cursor
	}

	/** @throws ModelError `too_large`, also if a record is NULL because it is larger than `max_allowed_packet` */
	read({ rows }: Rows, parts: ListParts): Listed {
		const { selected, limit, total } = parts
		const { json } = this.record(selected)
		const [first] = rows
		// With a total there is always a row. If there are no records, the row has no key, but it may have JSON if all
		// selected fields can be null.
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
		const next = typeof last === 'string' ? withoutLineBreaks(last) : undefined
		return listedOf(text, next, first?.[2], parts)
	}
}

/** Whether a column has MySQL's type JSON: MySQL would sort it with the rest of the row, which fails if it is large (1038). */
function hasJson(selected: readonly Selected[]): boolean {
	return selected.some(({ column }) => column.sqlType === 'json')
}

/** Writes the total, left-joined with the page, so that an empty page has a total, too. */
function writeCount(sql: Sql, parts: ListParts): void {
	const { where, maxTotal } = parts
	sql.add(`(select count(*) as n from ${maxTotal === undefined ? '' : '(select 1 from '}`)
	writeSource(sql, parts, [where])
	if (maxTotal !== undefined) {
		writeNumber(sql.add(' limit '), parts, maxTotal + 1)
		sql.add(') t')
	}
	sql.add(') c left join ')
}

/**
 * Writes the subselect of a page: its keys and sort columns, which an index may cover. Without a unique index on the
 * key it selects whole rows. Without `straight_join`, the optimizer might read the whole table.
 */
function writePage(sql: Sql, parts: ListParts, isKeyed: boolean): void {
	writeKeys(sql.add('(select '), parts, isKeyed)
	if (!isKeyed) {
		sql.add(parts.total ? ') b on true' : ') b')
		return
	}
	sql.add(parts.total ? ') p on true' : ') p')
	writeJoin(sql, parts)
}

function writeKeys(sql: Sql, parts: ListParts, isKeyed: boolean): void {
	// Each by its name, because `*` leaves out invisible ones.
	const all = parts.table.columns.map(({ name }) => `b.${quoteName(name)}`).join(', ')
	const present = parts.table.key.length === 0 ? `, 1 as ${quoteName(PRESENT)}` : ''
	sql.add(
		`${isKeyed ? keyColumns(parts) : `${all}${present}`}${joinedColumns(sql.dialect, parts.order)} from `,
	)
	writeSource(sql, parts, [parts.where, parts.after], parts.joins)
	writeOrder(sql, parts.order, 'b')
	writeLimit(sql, parts)
}

/** Joins the records of the keys in `p`, of which there may be none if there is a total. */
function writeJoin(sql: Sql, { table, total }: ListParts): void {
	const isSame = table.key.map((name) => `b.${quoteName(name)} = p.${quoteName(name)}`).join(' and ')
	sql.add(` ${total ? 'left join' : 'straight_join'} ${tableName(sql.dialect, table)} b on ${isSame}`)
}

/** The key and the sort columns, each once. */
function keyColumns({ table, order }: ListParts): string {
	const own = order.filter(({ joined }) => joined === undefined)
	const names = new Set([...table.key, ...own.map(({ column }) => column.name)])
	return Array.from(names, (name) => `b.${quoteName(name)}`).join(', ')
}

function writeSource(
	sql: Sql,
	parts: ListParts,
	conditions: readonly (((sql: Sql) => void) | undefined)[],
	joins?: ListParts['joins'],
): void {
	sql.add(`${tableName(sql.dialect, parts.table)} b`)
	joins?.(sql)
	writeWhere(sql, conditions)
}

function writeOrder(sql: Sql, order: ListParts['order'], alias: 'b' | 'p'): void {
	if (order.length > 0) sql.add(` order by ${orderTerms(sql.dialect, order, alias)}`)
}

/**
 * Limit and offset are literals if there is an offset and no other values: such a statement isn't prepared, and MariaDB
 * plans it better. Otherwise they are bound, so that not every page is another prepared statement.
 */
function writeLimit(sql: Sql, parts: ListParts): void {
	const { limit, offset } = parts
	writeNumber(sql.add(' limit '), parts, limit + 1)
	if (offset > 0) writeNumber(sql.add(' offset '), parts, offset)
}

function writeNumber(sql: Sql, { offset }: ListParts, number: number): void {
	if (sql.values.length > 0 || offset === 0) sql.number(number)
	else sql.add(String(number))
}

/** An expression for the JSON array of a record's sort values; joined ones are in the page `alias`. */
function cursorOf(order: ListParts['order'], alias: 'b' | 'p'): string {
	const parts: Part[] = order.length === 0 ? [{ text: '[' }] : []
	let before = '['
	for (const [at, { column }] of orderOfPage(order).entries()) {
		const table = order[at]?.joined === undefined ? 'b' : alias
		parts.push({ text: before })
		parts.push(...jsonParts(mysqlColumn(column), `${table}.${quoteName(column.name)}`, 'cursor'))
		before = ','
	}
	parts.push({ text: ']' })
	return concatOf(parts)
}
