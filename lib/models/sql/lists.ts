/** `Lists`: pages of a table's records, for one query or for several conditions at once, and counts. Called by `sql-model.ts`. */
import type { Bytes } from '../../base/time.ts'
import type { Condition, Listed, ListQuery } from '../model.ts'
import { MAX_PAGE_BYTES, ModelError, refuseLarger } from '../model-error.ts'
import { withApart } from './apart.ts'
import { writeCondition } from './condition.ts'
import { type ListParts, Sql } from './dialect.ts'
import type { Rows } from './driver.ts'
import { joinedOrder } from './joins.ts'
import { writeAfter } from './keyset.ts'
import type { LiveTable } from './live-table.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { ALIAS, tableName } from './table.ts'

type Write = (sql: Sql) => void

export class Lists {
	readonly #live: LiveTable
	readonly #runner: Runner

	constructor(live: LiveTable, runner: Runner) {
		this.#live = live
		this.#runner = runner
	}

	/** @throws RangeError unless `limit` and `offset` are whole numbers from 0 to 2^53 - 1 */
	one(query: ListQuery): Promise<Listed> {
		return this.#alone(this.#partsOf(query))
	}

	/** A page for each of the conditions. @throws RangeError as `one` does */
	async each(query: ListQuery, conditions: readonly Condition[]): Promise<readonly Listed[]> {
		const parts = this.#partsOf(query)
		const { columns } = this.#subject
		const wheres = conditions.map((condition): Write => {
			const terms = query.where === undefined ? [condition] : [query.where, condition]
			return (sql) => writeCondition(sql, { op: 'and', terms }, columns, ALIAS, 'many')
		})
		const listed: Listed[] = []
		let left = parts.maxBytes
		for (const group of statementsOf(wheres, this.#subject))
			left = await this.#together({ ...parts, maxBytes: left }, group, listed)
		return listed
	}

	async count(where: Condition | undefined): Promise<number> {
		const { table, columns, dialect } = this.#subject
		const sql = new Sql(dialect)
		sql.add(`select count(*) from ${tableName(dialect, table)} ${ALIAS}`)
		if (where !== undefined) writeCondition(sql.add(' where '), where, columns, ALIAS, 'many')
		const { rows } = await this.#runner.run(sql.statement(false))
		return Number(rows[0]?.[0])
	}

	#partsOf(query: ListQuery): ListParts {
		const { table, columns } = this.#subject
		const { where, after } = query
		const { terms: order, joins } = joinedOrder(query.order, columns, ALIAS)
		const { selected, embedded } = this.#live.plans.of(query.selection)
		return {
			table,
			selected,
			embedded,
			order,
			limit: wholeNumber(query.limit),
			offset: wholeNumber(query.offset),
			where: where && ((sql) => writeCondition(sql, where, columns, ALIAS, 'many')),
			joins,
			after: after && ((sql) => writeAfter(sql, order, after, ALIAS)),
			total: query.total,
			maxTotal: query.maxTotal === Number.POSITIVE_INFINITY ? undefined : query.maxTotal,
			maxBytes: Math.min(query.maxBytes ?? MAX_PAGE_BYTES, MAX_PAGE_BYTES),
			looksBeyond: true,
		}
	}

	async #alone(parts: ListParts): Promise<Listed> {
		const listed = (await this.#page(parts)) ?? (await this.#page({ ...parts, looksBeyond: false }))
		if (listed === undefined) throw new ModelError('too_large')
		return listed
	}

	async #page(parts: ListParts): Promise<Listed | undefined> {
		const { dialect } = this.#subject
		const sql = new Sql(dialect)
		dialect.list(sql, parts)
		const rows = await this.#runner.run(sql.statement(false))
		return this.#listed(rows, parts)
	}

	#listed(rows: Rows, parts: ListParts): Promise<Listed | undefined> {
		const { dialect } = this.#subject
		const { embedded, maxBytes } = parts
		return withApart(embedded, { runner: this.#runner, dialect, maxBytes }, (apart) =>
			dialect.listed(rows, apart === undefined ? parts : { ...parts, apart }),
		)
	}

	/** Adds the pages of one statement; returns how many bytes are left. */
	async #together(parts: ListParts, wheres: readonly Write[], listed: Listed[]): Promise<Bytes> {
		const { dialect } = this.#subject
		const sql = new Sql(dialect)
		if (dialect.listEach === undefined) writeUnion(sql, parts, wheres)
		else dialect.listEach(sql, parts, wheres)
		const { rows } = await this.#runner.run(sql.statement(false))
		const groups = wheres.map((): (readonly unknown[])[] => [])
		for (const row of rows) groups[Number(row.at(-1))]?.push(row.slice(0, -1))
		let left = parts.maxBytes
		for (const [at, where] of wheres.entries()) {
			const page =
				(await this.#listed({ rows: groups[at] ?? [], affected: 0 }, { ...parts, maxBytes: left })) ??
				(await this.#alone({ ...parts, where, maxBytes: left }))
			refuseLarger(page.json, left, page.next)
			left -= Buffer.byteLength(page.json) + Buffer.byteLength(page.next ?? '')
			listed.push(page)
		}
		return left
	}

	get #subject(): Subject {
		return this.#live.subject
	}
}

/** Writes the list statements for all conditions as one; the last column is the index of the condition. */
function writeUnion(sql: Sql, parts: ListParts, wheres: readonly Write[]): void {
	for (const [at, where] of wheres.entries()) {
		const list = new Sql(sql.dialect, sql.values)
		sql.dialect.list(list, { ...parts, where })
		sql.add(`${at === 0 ? '' : ' union all '}select p.*, ${at} from (${list.text}) p`)
		sql.maxBytes = list.maxBytes
		sql.isOfLists = true
	}
}

/** Maximum number of lists in a statement: planning a hundred takes longer than a round trip already. */
const MAX_LISTS = 100
/** Maximum length of their conditions: with totals, a statement then has at most 32,766 values, as many as SQLite takes. */
const MAX_TEXT_LENGTH = 32_768

/** Divides conditions, which all have the same form, among statements. */
function statementsOf(wheres: readonly Write[], { dialect }: Subject): Write[][] {
	const [first] = wheres
	if (first === undefined) return []
	const sample = new Sql(dialect)
	first(sample)
	const size = Math.max(
		1,
		Math.min(dialect.listsAtOnce ?? MAX_LISTS, Math.floor(MAX_TEXT_LENGTH / sample.text.length)),
	)
	const groups: Write[][] = []
	for (let at = 0; at < wheres.length; at += size) groups.push(wheres.slice(at, at + size))
	return groups
}

function wholeNumber(count: number): number {
	if (Number.isSafeInteger(count) && count >= 0) return count
	throw new RangeError(`a limit and an offset must be whole numbers from 0 on, got ${String(count)}`)
}
