/**
 * The statement of a list: one round trip, one row. The records that are skipped are cut off before the
 * expressions that write JSON come into play, else these would be worked out for them too.
 */

import type { Bytes } from '../../base/time.ts'
import type { Listed } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import type { Dialect, ListParts, Selected, Sql } from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import { ALIAS, columnName, tableName } from '../sql/table.ts'
import { type KeyPart, type Lru, TextCache } from '../sql/text-cache.ts'
import { bytesOf, collected, cursorValue, isShort, recordSql } from './json.ts'

/**
 * PostgreSQL takes a limit that it can't see for a tenth of the table, and so would plan the statement anew at
 * each call. A power of two that it can see, around the page, lets it keep its plan (list of 100 of 100,000:
 * 550 instead of 650 µs), and there are only few of them, so few texts.
 */
const LEAST_REACH = 128

/**
 * What is between two records. No JSON that we write has a line end of its own, so Node finds the last record by
 * it and takes it off; a `json` column keeps its text as it was given, but no JSON text can hold the other mark.
 */
const LINE = ',\n'
const MARK = ',\x01'

/** Clients choose conditions: long ones are written anew each time. */
const LONGEST_KEPT = 1_000

/** The parts of a list that depend on what is asked of its table. */
interface Conditions {
	/** Of what is counted, and of the page; each with its `where`, or empty. */
	readonly counted: string
	readonly paged: string
	/** Placeholders of the limit and of the offset; the latter is empty without one. */
	readonly most: string
	readonly from: string
}

interface Records {
	/** The aggregate of their JSON. */
	readonly sql: string
	/** What ends the mark between two of them. */
	readonly mark: string
}

/** Writes and reads lists. */
export class Lists {
	readonly #lru: Lru
	/** By the selection, of which a model passes the same array again and again. */
	readonly #texts = new WeakMap<readonly Selected[], ListText>()

	constructor(lru: Lru) {
		this.#lru = lru
	}

	/** The statement whose row {@link Lists.read} reads. */
	write(sql: Sql, parts: ListParts): void {
		let text = this.#texts.get(parts.selected)
		if (text === undefined) {
			text = new ListText(parts.selected, this.#lru)
			this.#texts.set(parts.selected, text)
		}
		text.write(sql, parts)
	}

	read(rows: Rows, parts: ListParts): Listed | undefined {
		return readList(rows, parts)
	}
}

/**
 * Writes lists of one selection. Their texts are long, and kept: only the values differ (13 µs of Node's time for
 * a page behind a cursor).
 */
class ListText {
	readonly #records: Records
	readonly #texts: TextCache

	constructor(selected: readonly Selected[], lru: Lru) {
		this.#texts = new TextCache(lru)
		const mark = betweenOf(selected) === LINE ? `\\n` : `\\x01`
		this.#records = {
			sql: `string_agg(${recordSql(selected, ALIAS).expressions[0]}, E',${mark}')`,
			mark: `E'${mark}'`,
		}
	}

	write(sql: Sql, parts: ListParts): void {
		const conditions = conditionsOf(sql, parts)
		const { counted, paged } = conditions
		if (counted.length + paged.length > LONGEST_KEPT) {
			sql.text = listText(sql.dialect, parts, this.#records, conditions)
			return
		}
		const steps = stepsOf(parts, conditions)
		let text = this.#texts.get(steps)
		if (text === undefined) {
			text = listText(sql.dialect, parts, this.#records, conditions)
			this.#texts.keep(steps, text)
		}
		sql.text = text
	}
}

/** Adds all values to the statement, which has no text yet; its text is used to write the conditions. */
function conditionsOf(sql: Sql, { limit, offset, where, after, total }: ListParts): Conditions {
	const numbered = (value: number) =>
		sql.dialect.placeholder(sql.values.push(sql.dialect.bindNumber(value)), undefined)
	const most = numbered(limit)
	if (total) writeWhere(sql, where, undefined)
	const counted = sql.text
	writeWhere(sql, where, after)
	const paged = sql.text.slice(counted.length)
	return { counted, paged, most, from: offset > 0 ? numbered(offset) : '' }
}

function betweenOf(selected: readonly Selected[]): string {
	return selected.some(({ column: { sqlType } }) => sqlType === 'json' || sqlType === 'json[]') ? MARK : LINE
}

/** All that the text of a list depends on. */
function stepsOf(parts: ListParts, { counted, paged }: Conditions): KeyPart[] {
	const { order, limit, offset, total, maxBytes, looksBeyond } = parts
	const form = (looksBeyond ? 4 : 0) + (total ? 2 : 0) + (offset > 0 ? 1 : 0)
	const steps: KeyPart[] = [reach(limit, offset), maxBytes, form, counted, paged]
	for (const { column, descending } of order) steps.push(column.name, descending ? 1 : 0)
	return steps
}

/** One record more than wanted is read, to know whether there is one. */
function listText(
	dialect: Dialect,
	{ table, order, limit, offset, total, maxBytes, looksBeyond }: ListParts,
	{ sql: records, mark }: Records,
	{ counted, paged, most, from }: Conditions,
): string {
	const source = `${tableName(dialect, table)} ${ALIAS}`
	const count = total ? `, (select count(*) from ${source}${counted})` : ''
	const keys = order.map(({ column }, at) => {
		const key = collected(column, columnName(dialect, column, ALIAS))
		// A limit beyond all subscripts is one beyond all records too.
		return `, (array_agg(${key}))[least(${most}, 2147483647)::int4] as k${at}`
	})
	const terms = order.map((term) => dialect.orderTerm(term, ALIAS)).join(', ')
	const rows = `select ${ALIAS}.* from ${source}${paged} order by ${terms} limit ${reach(limit, offset)}`
	const page = `select ${ALIAS}.* from (${rows}) ${ALIAS} limit ${most}${looksBeyond ? ' + 1' : ''}${from === '' ? '' : ` offset ${from}`}`
	const all = `select ${records} as j, count(*) as n${keys.join('')} from (${page}) ${ALIAS}`
	const isSmall = `octet_length(w.j) <= ${wholeBytes(maxBytes)}`
	// Only where it is too large: how many bytes it has without its last record, and the mark before that.
	const last = `octet_length(right(w.j, strpos(reverse(w.j), ${mark}) + 1))`
	const without = looksBeyond ? `case when ${isSmall} then null else octet_length(w.j) - ${last} end` : 'null'
	return `select case when ${isSmall} then w.j end, w.n, ${cursorOf(order, maxBytes)}, ${without}${count} from (${all}) w`
}

/** The last record's keys as JSON; null where one that has no longest value is larger than the whole page may be. */
function cursorOf(order: ListParts['order'], maxBytes: Bytes): string {
	const keys = order.map(({ column }, at) => cursorValue(column, `w.k${at}`)).join(', ')
	const cursor = `json_build_array(${keys})::text`
	const large: string[] = []
	for (const [at, { column }] of order.entries())
		if (!isShort(column)) large.push(`octet_length(${bytesOf(column, `w.k${at}`)}) > ${wholeBytes(maxBytes)}`)
	return large.length === 0 ? cursor : `case when ${large.join(' or ')} then null else ${cursor} end`
}

/** V8 has no longer texts than half a GiB, and pg ends the process where it is given one. */
function wholeBytes(maxBytes: Bytes): Bytes {
	if (Number.isSafeInteger(maxBytes)) return maxBytes
	throw new RangeError(`maxBytes must be a whole number, got ${String(maxBytes)}`)
}

/** The power of two that includes the record behind the page. */
function reach(limit: number, offset: number): number {
	let end = LEAST_REACH
	// Not `end <= limit + offset`: that sum may be beyond 2^53, where it is rounded.
	while (end - offset <= limit) end *= 2
	return end
}

function writeWhere(sql: Sql, where: ListParts['where'], after: ListParts['after']): void {
	let between = ' where '
	for (const write of [where, after]) {
		if (write === undefined) continue
		sql.add(between)
		write(sql)
		between = ' and '
	}
}

/** What the row says. */
function readList({ rows }: Rows, parts: ListParts): Listed | undefined {
	const { limit, total, selected, maxBytes, looksBeyond } = parts
	const [json, count, next, without, all] = rows[0] ?? []
	const hasBeyond = Number(count) > limit
	if (json === null && Number(count) > 0) {
		if (hasBeyond && (limit === 0 || Number(without) <= maxBytes)) return undefined
		throw new ModelError('too_large')
	}
	const isMore = (hasBeyond || !looksBeyond) && limit > 0
	if (isMore && next === null) throw new ModelError('too_large')
	const page = typeof json === 'string' ? `[${recordsOf(json, hasBeyond, betweenOf(selected))}]` : '[]'
	const cursor = isMore && typeof next === 'string' ? next : undefined
	refuseLarger(page, maxBytes, cursor)
	return {
		json: page,
		next: cursor,
		total: total ? Number(all) : undefined,
	}
}

/** Without the one that was only asked for to know of it, and without marks. */
function recordsOf(json: string, isMore: boolean, between: string): string {
	const records = isMore ? json.slice(0, Math.max(0, json.lastIndexOf(between))) : json
	return between === LINE ? records : records.replaceAll(MARK, ',')
}
