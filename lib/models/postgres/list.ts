/** List statements: one round trip, one row. A subselect skips the offset, so that no JSON is built for it. */

import type { Bytes } from '../../base/time.ts'
import type { Listed } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { writeWhere } from '../sql/condition.ts'
import { type Dialect, type ListParts, listedOf, Sql } from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import type { Embedded, Selected } from '../sql/embedding.ts'
import { joinedColumns, orderOfPage, orderTerms } from '../sql/joins.ts'
import { fillMarks, recordOf } from '../sql/related.ts'
import { ALIAS, type Column, columnName, tableName } from '../sql/table.ts'
import { type KeyPart, type Lru, TextCache } from '../sql/text-cache.ts'
import { aggregable, bytesOf, cursorValue, isShort } from './json.ts'

/**
 * Minimum of the literal limit. PostgreSQL assumes that a limit in a placeholder is a tenth of the table, and so would
 * choose a custom plan for each call. With a literal limit, a power of two above the page's end, it uses the generic
 * plan (list of 100 of 100,000: 550 instead of 650 µs), and only few different texts occur.
 */
const MIN_REACH = 128

/**
 * Separators between records; Node cuts off the extra record behind the page at the last one. A line break, which the
 * JSON built here doesn't contain, or U+0001 if there are `json` columns: they keep their text as it was sent, which
 * may contain line breaks, but not U+0001.
 */
const LINE = ',\n'
const MARK = ',\x01'

/** Maximum length of the conditions in a cached text: clients choose them. */
const MAX_CACHED_CONDITIONS = 1_000

/** The parts of a list that depend on its conditions. */
interface Conditions {
	/** The joins and the ` where …` of the total (`counted`) and of the page (`paged`), or empty. */
	readonly counted: string
	readonly paged: string
	/** Placeholders of the limit and of the offset; `offset` is empty if it is 0. */
	readonly limit: string
	readonly offset: string
	/** Placeholder of the number of records at which the count may stop, or empty. */
	readonly maxTotal: string
}

interface ListTexts {
	/** The aggregate of the records' JSON. */
	readonly records: string
	/** The last character of the separator, as a literal. */
	readonly mark: string
	readonly cache: TextCache
}

/** Writes list statements. Their texts are cached: building one takes 13 µs of Node's time (with a cursor). */
export class Lists {
	readonly #lru: Lru
	/** By the selection: a model passes the same array for it each time. */
	readonly #texts = new WeakMap<readonly Selected[], ListTexts>()

	constructor(lru: Lru) {
		this.#lru = lru
	}

	/** Writes the statement whose row {@link readList} reads. */
	write(sql: Sql, parts: ListParts): void {
		const isWhole = sql.values.length === 0
		const conditions = conditionsOf(sql, parts)
		const texts = this.#textsOf(sql.dialect, parts)
		// Within another statement, the placeholders have other numbers.
		const isCached = isWhole && conditions.counted.length + conditions.paged.length <= MAX_CACHED_CONDITIONS
		const key = isCached ? cacheKey(parts, conditions) : []
		const cached = isCached ? texts.cache.get(key) : undefined
		sql.text = cached ?? listText(sql.dialect, parts, texts, conditions)
		if (isCached && cached === undefined) texts.cache.keep(key, sql.text)
	}

	/**
	 * Writes lists that together have at most `maxBytes`, including the extra records behind the pages. A list beyond that isn't
	 * sent, but read alone, because it may fit without the others.
	 */
	writeEach(sql: Sql, parts: ListParts, wheres: readonly NonNullable<ListParts['where']>[]): void {
		const lists = wheres.map((where, at) => {
			const list = new Sql(sql.dialect, sql.values)
			this.write(list, { ...parts, where })
			return `select p.*, ${at} from (${list.text}) p`
		})
		const total = parts.total ? ', t' : ''
		const max = wholeBytes(parts.maxBytes)
		const fits = `coalesce(sum(octet_length(u.j)) over (rows unbounded preceding), 0) <= ${max}`
		sql.add(`select case when ${fits} then u.j end, u.n, u.k, case when ${fits} then u.w else ${APART} end`)
		sql.add(`${total}, u.i from (${lists.join(' union all ')}) u (j, n, k, w${total}, i)`)
	}

	#textsOf(dialect: Dialect, { selected, embedded }: ListParts): ListTexts {
		let texts = this.#texts.get(selected)
		if (texts === undefined) {
			const mark = separatorOf(selected, embedded) === LINE ? `\\n` : `\\x01`
			const [record] = recordOf(dialect, selected, ALIAS, embedded).expressions
			const records = `string_agg(${record}, E',${mark}')`
			texts = { records, mark: `E'${mark}'`, cache: new TextCache(this.#lru) }
			this.#texts.set(selected, texts)
		}
		return texts
	}
}

/** Adds all values to `sql`, and returns the conditions' SQL. `sql.text`, empty before, is overwritten later. */
function conditionsOf(
	sql: Sql,
	{ limit, offset, where, joins, after, total, maxTotal, embedded }: ListParts,
): Conditions {
	// The lists of one statement share these values: their placeholders have the same numbers in each.
	if (embedded !== undefined && sql.values.length === 0) sql.values.push(...embedded.values)
	const bindNumber = (value: number) =>
		sql.dialect.placeholder(sql.values.push(sql.dialect.bindNumber(value)), undefined)
	const limitPlaceholder = bindNumber(limit)
	if (total) writeWhere(sql, [where])
	const counted = sql.text
	const maxPlaceholder = total && maxTotal !== undefined ? bindNumber(maxTotal) : ''
	joins?.(sql)
	writeWhere(sql, [where, after])
	const paged = sql.text.slice(counted.length)
	const skip = offset > 0 ? bindNumber(offset) : ''
	return { counted, paged, limit: limitPlaceholder, offset: skip, maxTotal: maxPlaceholder }
}

function separatorOf(selected: readonly Selected[], embedded: Embedded | undefined): string {
	const keepsText = ({ sqlType }: Column) => sqlType === 'json' || sqlType === 'json[]'
	const isKept = selected.some(({ column }) => keepsText(column)) || embedded?.columns.some(keepsText)
	return isKept ? MARK : LINE
}

function cacheKey(parts: ListParts, { counted, paged }: Conditions): KeyPart[] {
	const { order, limit, offset, total, maxTotal, maxBytes, looksBeyond } = parts
	const form = (looksBeyond ? 4 : 0) + (total ? 2 : 0) + (offset > 0 ? 1 : 0)
	const key: KeyPart[] = [reach(limit, offset), maxBytes, form, counted, paged]
	if (total && maxTotal !== undefined) key.push(reach(maxTotal, 0))
	for (const { column, descending, joined } of order) {
		key.push(column.name, descending ? 1 : 0)
		if (joined !== undefined) key.push(joined)
	}
	return key
}

function listText(
	dialect: Dialect,
	{ table, order, limit, offset, total, maxTotal, maxBytes, looksBeyond }: ListParts,
	{ records, mark }: ListTexts,
	{
		counted,
		paged,
		limit: limitPlaceholder,
		offset: offsetPlaceholder,
		maxTotal: maxPlaceholder,
	}: Conditions,
): string {
	const source = `${tableName(dialect, table)} ${ALIAS}`
	const matching =
		maxTotal === undefined
			? `${source}${counted}`
			: `(select from (select from ${source}${counted} limit ${reach(maxTotal, 0)}) b limit ${maxPlaceholder} + 1) b`
	const count = total ? `, (select count(*) from ${matching})` : ''
	const keys = orderOfPage(order).map(({ column }, at) => {
		const key = aggregable(column, columnName(dialect, column, ALIAS))
		// A limit above the largest subscript is above the number of records too, so `least` doesn't change the result.
		return `, (array_agg(${key}))[least(${limitPlaceholder}, 2147483647)::int4] as k${at}`
	})
	const terms = orderTerms(dialect, order, ALIAS)
	const sorted = terms === '' ? '' : ` order by ${terms}`
	const rows = `select ${ALIAS}.*${joinedColumns(dialect, order)} from ${source}${paged}${sorted} limit ${reach(limit, offset)}`
	const size = `${limitPlaceholder}${looksBeyond ? ' + 1' : ''}`
	const skip = offsetPlaceholder === '' ? '' : ` offset ${offsetPlaceholder}`
	const page = `select ${ALIAS}.* from (${rows}) ${ALIAS} limit ${size}${skip}`
	const all = `select ${records} as j, count(*) as n${keys.join('')} from (${page}) ${ALIAS}`
	const isSmall = `octet_length(w.j) <= ${wholeBytes(maxBytes)}`
	// Only for a result that is too large: its size without the last record and the separator before that record.
	const last = `octet_length(right(w.j, strpos(reverse(w.j), ${mark}) + 1))`
	const without = looksBeyond ? `case when ${isSmall} then null else octet_length(w.j) - ${last} end` : 'null'
	return `select case when ${isSmall} then w.j end, w.n, ${cursorOf(order, maxBytes)}, ${without}${count} from (${all}) w`
}

/** In place of a list's size: it isn't in the result, and must be read alone. */
const APART = -1

/** The last record's sort values as JSON; null if one of variable length alone is larger than `maxBytes`. */
function cursorOf(order: ListParts['order'], maxBytes: Bytes): string {
	const keys = order.map(({ column }, at) => cursorValue(column, `w.k${at}`)).join(', ')
	const cursor = `json_build_array(${keys})::text`
	const large: string[] = []
	for (const [at, { column }] of order.entries())
		if (!isShort(column)) large.push(`octet_length(${bytesOf(column, `w.k${at}`)}) > ${wholeBytes(maxBytes)}`)
	return large.length === 0 ? cursor : `case when ${large.join(' or ')} then null else ${cursor} end`
}

/** The limit must hold: V8's strings end at half a GiB, and pg ends the process when it receives a longer one. */
function wholeBytes(maxBytes: Bytes): Bytes {
	if (Number.isSafeInteger(maxBytes)) return maxBytes
	throw new RangeError(`maxBytes must be a whole number, got ${String(maxBytes)}`)
}

/** The smallest power of two that includes the extra record behind the page. */
function reach(limit: number, offset: number): number {
	let end = MIN_REACH
	// Not `end <= limit + offset`: that sum may be beyond 2^53, where it is rounded.
	while (end - offset <= limit) end *= 2
	return end
}

/** Converts the row of a list statement: see `Dialect.listed`. @throws ModelError `too_large` */
export function readList({ rows }: Rows, parts: ListParts, dialect: Dialect): Listed | undefined {
	const { limit, selected, embedded, maxBytes, looksBeyond, apart } = parts
	const [json, count, next, without, all] = rows[0] ?? []
	const hasBeyond = Number(count) > limit
	if (json === null && Number(count) > 0) {
		if (Number(without) === APART) return undefined
		if (hasBeyond && (limit === 0 || Number(without) <= maxBytes)) return undefined
		throw new ModelError('too_large')
	}
	const isMore = (hasBeyond || !looksBeyond) && limit > 0
	if (isMore && next === null) throw new ModelError('too_large')
	const records = typeof json === 'string' ? recordsOf(json, hasBeyond, separatorOf(selected, embedded)) : ''
	const page = `[${embedded === undefined ? records : fillMarks(records, embedded, dialect, apart)}]`
	const cursor = isMore && typeof next === 'string' ? next : undefined
	return listedOf(page, cursor, all, parts)
}

/** Removes the extra record behind the page, and U+0001 from the separators. */
function recordsOf(json: string, hasBeyond: boolean, separator: string): string {
	const records = hasBeyond ? json.slice(0, Math.max(0, json.lastIndexOf(separator))) : json
	return separator === LINE ? records : records.replaceAll(MARK, ',')
}
