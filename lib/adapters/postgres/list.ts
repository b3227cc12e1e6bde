/**
 * The statement of a list: one round trip, one row. The records that are skipped are cut off before the
 * expressions that write JSON come into play, else these would be worked out for them too.
 */
import type { Listed } from '../../crud/model.ts'
import type { ListParts, Sql } from '../../sql/dialect.ts'
import type { Rows } from '../../sql/driver.ts'
import { ALIAS, columnName, tableName } from '../../sql/name.ts'
import { type Step, Texts } from '../../sql/texts.ts'
import { cursorValue } from './expression.ts'
import type { RecordJson } from './record.ts'

/**
 * PostgreSQL takes a limit that it can't see for a tenth of the table, and so would plan the statement anew at
 * each call. A power of two that it can see, around the page, lets it keep its plan (list of 100 of 100,000:
 * 550 instead of 650 µs), and there are only few of them, so few texts.
 */
const LEAST_REACH = 128

/** Writes lists of one selection. Texts without conditions are kept: only the numbers of the page differ. */
export class ListText {
	readonly #record: RecordJson
	readonly #texts = new Texts()

	constructor(record: RecordJson) {
		this.#record = record
	}

	/** The statement whose row is read by {@link readListed}. */
	write(sql: Sql, parts: ListParts): void {
		if (parts.where !== undefined || parts.after !== undefined) {
			writeList(sql, parts, this.#record)
			return
		}
		const steps = stepsOf(parts)
		const text = this.#texts.get(steps)
		if (text === undefined) {
			writeList(sql, parts, this.#record)
			this.#texts.keep(steps, sql.text)
			return
		}
		sql.add(text)
		sql.values.push(sql.dialect.bindNumber(parts.limit))
		if (parts.offset > 0) sql.values.push(sql.dialect.bindNumber(parts.offset))
	}
}

/** All that the text of a list without conditions depends on. */
function stepsOf({ order, limit, offset, total }: ListParts): Step[] {
	const steps: Step[] = [reach(limit, offset), (total ? 2 : 0) + (offset > 0 ? 1 : 0)]
	for (const { column, descending } of order) steps.push(column.name, descending ? 1 : 0)
	return steps
}

function writeList(sql: Sql, parts: ListParts, record: RecordJson): void {
	const { table, order, limit, offset, total } = parts
	const from = `${tableName(sql.dialect, table)} ${ALIAS}`
	sql.values.push(sql.dialect.bindNumber(limit))
	const most = sql.dialect.placeholder(sql.values.length, undefined)
	const last = order
		.map(({ column }) => cursorValue(column, columnName(sql.dialect, column, ALIAS)))
		.join(', ')

	sql.add(`select string_agg(w.j, ',') filter (where w.n <= ${most}), count(*), max(w.k)`)
	if (total) {
		sql.add(`, (select count(*) from ${from}`)
		writeWhere(sql, parts.where, undefined)
		sql.add(')')
	}
	sql.add(` from (select ${record.text} as j, row_number() over () as n, case when row_number()`)
	sql.add(` over () = ${most} then json_build_array(${last})::text end as k from (select ${ALIAS}.* from (`)
	sql.add(`select ${ALIAS}.* from ${from}`)
	writeWhere(sql, parts.where, parts.after)
	sql.add(` order by ${order.map((term) => sql.dialect.orderTerm(term, ALIAS)).join(', ')}`)
	sql.add(` limit ${reach(limit, offset)}) ${ALIAS} limit ${most} + 1`)
	if (offset > 0) sql.add(' offset ').number(offset)
	if (record.lateral !== '') sql.add(`) ${ALIAS} cross join lateral ${record.lateral}) w`)
	else sql.add(`) ${ALIAS}) w`)
}

/** The power of two that holds all up to the record behind the page; a bigint beyond what numbers count exactly. */
function reach(limit: number, offset: number): number | bigint {
	const all = limit + offset + 1
	if (all > 2 ** 52) return largeReach(limit, offset)
	let most = LEAST_REACH
	while (most < all) most *= 2
	return most
}

function largeReach(limit: number, offset: number): bigint {
	let most = BigInt(LEAST_REACH)
	while (most < BigInt(limit) + BigInt(offset) + 1n) most *= 2n
	return most
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
export function readListed({ rows }: Rows, { limit, total }: ListParts): Listed {
	const [json, count, next, all] = rows[0] ?? []
	return {
		json: typeof json === 'string' ? `[${json}]` : '[]',
		next: Number(count) > limit && typeof next === 'string' ? next : undefined,
		total: total ? Number(all) : undefined,
	}
}
