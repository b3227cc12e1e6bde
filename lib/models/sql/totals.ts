/**
 * `totalsOf`: groups of records with their totals. The inner select groups, its columns are `k0`, `k1` … for the keys and
 * `a0` … for the totals; the outer one has the condition on groups, their order and their JSON. Called by `sql-model.ts`.
 */
import type { Comparison, Model, Order, Totaled, TotalsCondition, TotalsQuery, Value } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import { jsonParts, type Leaf } from '../totals/groups.ts'
import { TimeZones } from '../totals/time-zone.ts'
import { OPERATORS, writeCondition, writeWhere } from './condition.ts'
import { type KeyColumn, Sql, type TotalColumn, type TotalsParts } from './dialect.ts'
import type { Rows } from './driver.ts'
import { joinedOrder } from './joins.ts'
import type { LiveTable } from './live-table.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { ALIAS, type Column, columnName, columnOf, tableName } from './table.ts'

/** Maximum number of attempts while records are changed between the probe and the statement. */
const MAX_ATTEMPTS = 3

/** The totals of a model; `undefined` if its dialect has none. */
export function totalsOf(live: LiveTable, runner: Runner): Model['totals'] {
	const { totals: dialect } = live.subject.dialect
	if (dialect === undefined) return undefined
	const zones = new TimeZones()
	return async (query) => {
		const parts = partsOf(query, live.subject, zones)
		for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
			const probe = new Sql(live.subject.dialect)
			const isProbed = dialect.probe?.(probe, parts) === true
			const probed = isProbed ? ((await runner.run(probe.statement(false))).rows[0] ?? []) : []
			const sql = new Sql(live.subject.dialect)
			sql.maxBytes = query.maxBytes
			dialect.write(sql, parts, probed)
			const rows = await runner.run(sql.statement(false))
			if (dialect.read === undefined) return readJson(rows, query)
			const totaled = dialect.read(rows, parts, probed)
			if (totaled !== undefined) return totaled
		}
		throw new ModelError('busy')
	}
}

function partsOf(query: TotalsQuery, { table, columns, dialect }: Subject, zones: TimeZones): TotalsParts {
	const { by, totals, where, timeZone } = query
	const order = by.map(
		({ field, via }): Order => ({ field, descending: false, ...(via === undefined ? {} : { via }) }),
	)
	const { terms, joins } = joinedOrder(order, columns, ALIAS)
	return {
		query,
		keys: terms.map(({ column, joined = ALIAS }, at) => ({
			...{ column, ref: columnName(dialect, column, joined), part: by[at]?.part },
		})),
		totals: totals.map((total): TotalColumn => {
			if (total.op === 'count') return total
			const column = columnOf(columns, total.field)
			return { op: total.op, column, ref: columnName(dialect, column, ALIAS) }
		}),
		source(sql) {
			sql.add(` from ${tableName(dialect, table)} ${ALIAS}`)
			joins?.(sql)
			writeWhere(sql, [where && ((one) => writeCondition(one, where, columns, ALIAS, 'many'))])
		},
		spans: (from, to) => zones.spans(timeZone, from, to),
	}
}

/** @throws ModelError `too_large` */
function readJson({ rows }: Rows, { maxBytes }: TotalsQuery): Totaled {
	const texts = rows.map(([json]) => {
		if (typeof json === 'string') return json
		throw new ModelError('too_large')
	})
	const json = `[${texts.join()}]`
	refuseLarger(json, maxBytes)
	return { json, groups: texts.length }
}

/** A dialect's SQL for the parts of {@link writeTotals}. `ref` is a column of the inner select. */
export interface TotalsWords {
	/** Writes the value that records are grouped by. */
	key(sql: Sql, key: KeyColumn): void
	/** The aggregate of a total. */
	total(total: TotalColumn): string
	/** JSON as a text, never null. */
	keyJson(key: KeyColumn, ref: string): string
	/** The same for a total. */
	totalJson(total: TotalColumn, ref: string): string
	/** Writes a value that a total is compared with, except `min` and `max`. */
	operand(sql: Sql, total: TotalColumn, value: Value): void
	/** A term of `order by` for a column without an order of its own. */
	order(ref: string, descending: boolean): string
	/** Joins texts and expressions to one text. */
	concat(parts: readonly ({ readonly text: string } | { readonly sql: string })[]): string
	/** What is selected of the groups within the limit, whose JSON is `j`. @default `j` */
	readonly selected?: string
}

export const GROUPS = 'g'

/** Writes a statement whose rows are the groups' JSON. */
export function writeTotals(sql: Sql, parts: TotalsParts, words: TotalsWords): void {
	const { query, keys, totals } = parts
	const { quote } = sql.dialect
	const keyRef = (at: number) => `${GROUPS}.${quote(`k${at}`)}`
	const totalRef = (at: number) => `${GROUPS}.${quote(`a${at}`)}`
	const json = words.concat(
		jsonParts(query).map((part) => {
			if (typeof part === 'string') return { text: part }
			if ('key' in part) return { sql: words.keyJson(keys[part.key] as KeyColumn, keyRef(part.key)) }
			return { sql: words.totalJson(totals[part.total] as TotalColumn, totalRef(part.total)) }
		}),
	)
	if (words.selected !== undefined) sql.add(`select ${words.selected} from (`)
	sql.add(`select ${json} as j from (`)
	writeGroups(sql, parts, words.key, totals.map(words.total))
	sql.add(`) ${GROUPS}`)
	if (query.having !== undefined)
		writeHaving(sql.add(' where '), query.having, totalRef, (leaf) => {
			const total = totals[leaf.total] as TotalColumn // an index of them
			writeComparison(sql, leaf, total, totalRef(leaf.total), words)
		})
	const order = query.order.map((term) => {
		if ('total' in term) return totalOrder(sql, term, totals, totalRef, words)
		const key = keys[term.key] as KeyColumn // as above
		if (key.part !== undefined) return words.order(keyRef(term.key), term.descending)
		const column = { ...key.column, name: `k${term.key}`, nullable: true }
		return sql.dialect.orderTerm({ column, descending: term.descending }, GROUPS)
	})
	if (order.length > 0) sql.add(` order by ${order.join(', ')}`)
	// A literal: with a placeholder, the planner might assume few groups.
	sql.add(` limit ${query.limit}`)
	if (words.selected !== undefined) sql.add(') p')
}

function totalOrder(
	{ dialect }: Sql,
	{ total: at, descending }: { readonly total: number; readonly descending: boolean },
	totals: readonly TotalColumn[],
	totalRef: (at: number) => string,
	words: TotalsWords,
): string {
	const total = totals[at] as TotalColumn // an index of them
	if (!isExtreme(total)) return words.order(totalRef(at), descending)
	const column = { ...total.column, name: `a${at}`, nullable: true }
	return dialect.orderTerm({ column, descending }, GROUPS)
}

/** Writes the inner select: ` as k0, … from … group by 1, …`. */
export function writeGroups(
	sql: Sql,
	{ keys, source }: TotalsParts,
	key: (sql: Sql, key: KeyColumn) => void,
	totals: readonly string[],
	names: (at: number) => string = (at) => `a${at}`,
): void {
	const { quote } = sql.dialect
	sql.add('select ')
	for (const [at, one] of keys.entries()) {
		key(sql.add(at === 0 ? '' : ', '), one)
		sql.add(` as ${quote(`k${at}`)}`)
	}
	for (const [at, total] of totals.entries())
		sql.add(`${at + keys.length === 0 ? '' : ', '}${total} as ${quote(names(at))}`)
	if (keys.length + totals.length === 0) sql.add(`count(*) as ${quote('n')}`)
	source(sql)
	if (keys.length > 0) sql.add(` group by ${keys.map((_, at) => at + 1).join(', ')}`)
}

/** Whether a total is one of the values, `min` or `max`, and so has its field's type. */
export function isExtreme(
	total: TotalColumn,
): total is Extract<TotalColumn, { readonly column: Column }> & { readonly op: 'min' | 'max' } {
	return total.op === 'min' || total.op === 'max'
}

/** Whether a total is the exact sum or average of a column. */
export function isExact(total: TotalColumn): boolean {
	return (total.op === 'sum' || total.op === 'avg') && total.column.type !== 'float'
}

/** Whether a total's JSON is a string of digits. */
export function isDigitText(total: TotalColumn): boolean {
	if (total.op === 'count') return false
	return total.op === 'avg' || total.column.type === 'decimal' || total.column.asText === true
}

function writeHaving(
	sql: Sql,
	having: TotalsCondition,
	ref: (at: number) => string,
	compare: (leaf: Leaf) => void,
): void {
	if ('term' in having) {
		writeHaving(sql.add('not ('), having.term, ref, compare)
		sql.add(')')
	} else if ('terms' in having) {
		if (having.terms.length === 0) sql.add(having.op === 'and' ? '1 = 1' : '1 = 0')
		for (const [at, term] of having.terms.entries())
			writeHaving(sql.add(at === 0 ? '(' : ` ${having.op} `), term, ref, compare)
		if (having.terms.length > 0) sql.add(')')
	} else if (having.op === 'null') sql.add(`${ref(having.total)} is ${having.value ? '' : 'not '}null`)
	else compare(having)
}

function writeComparison(sql: Sql, leaf: Leaf, total: TotalColumn, ref: string, words: TotalsWords): void {
	if (isExtreme(total)) writeExtreme(sql, leaf.op, total.column, ref, leaf.value)
	else words.operand(sql.add(`${ref} ${OPERATORS[leaf.op]} `), total, leaf.value)
}

/** Writes a comparison of a `min` or `max`. */
export function writeExtreme(
	sql: Sql,
	op: Comparison,
	column: Column,
	ref: string,
	value: Exclude<Value, null>,
): void {
	if (sql.dialect.cantHold?.(column, value) === true) sql.add(`${ref} ${op === 'ne' ? '=' : '<>'} ${ref}`)
	else sql.add(`${ref} ${OPERATORS[op]} `).value(value, column)
}
