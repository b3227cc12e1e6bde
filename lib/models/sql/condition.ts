/**
 * `writeCondition`: writes filters, scopes and guards as SQL, with SQL's three-valued logic. Called by `sql-model.ts`,
 * `gathered-reads.ts` and `writes.ts`.
 */
import type { Comparison, Condition, Link } from '../model.ts'
import type { Dialect, Sql } from './dialect.ts'
import { subjectOfModel } from './subject.ts'
import { type Columns, columnName, columnOf, isUniqueIn, tableName } from './table.ts'

/** The operators in SQL. */
export const OPERATORS: Readonly<Record<Comparison, string>> = {
	eq: '=',
	ne: '<>',
	gt: '>',
	gte: '>=',
	lt: '<',
	lte: '<=',
}

/**
 * Writes a condition, in parentheses where precedence needs them. `alias` is the table's, empty for none.
 *
 * @throws TypeError for a field that the table doesn't have
 */
export function writeCondition(sql: Sql, condition: Condition, columns: Columns, alias: string): void {
	switch (condition.op) {
		case 'and':
		case 'or':
			writeTerms(sql, condition.op, condition.terms, columns, alias)
			return
		case 'not':
			sql.add('not (')
			writeCondition(sql, condition.term, columns, alias)
			sql.add(')')
			return
		case 'in': {
			const { field, values, exact } = condition
			const column = columnOf(columns, field)
			if (values.length === 0) sql.add('1 = 0')
			else sql.dialect.oneOf(sql, column, alias, values, exact === true && column.type === 'text')
			return
		}
		case 'null':
			sql.add(columnName(sql.dialect, columnOf(columns, condition.field), alias))
			sql.add(condition.value ? ' is null' : ' is not null')
			return
		case 'contains':
		case 'startsWith':
		case 'endsWith': {
			const { op, field, value, ignoreCase = false } = condition
			sql.dialect.matches(sql, columnOf(columns, field), alias, { op, value, ignoreCase })
			return
		}
		case 'some':
			sql.add('exists (select 1')
			writeRelated(sql, condition, columns, alias)
			sql.add(')')
			return
		case 'count':
			writeCount(sql, condition, columns, alias)
			return
		default: {
			const { dialect } = sql
			const { op, value, exact = false, ignoreCase = false } = condition
			const column = columnOf(columns, condition.field)
			const isText = op === 'eq' && typeof value === 'string'
			if (isText && exact && column.type === 'text' && dialect.exactly !== undefined) {
				dialect.exactly(sql, column, alias, value)
				return
			}
			if (isText && ignoreCase && !exact) {
				dialect.matches(sql, column, alias, { op, value, ignoreCase })
				return
			}
			const name = columnName(dialect, column, alias)
			// The column can't hold this value: `ne` is always true, other comparisons are always false, and NULL stays
			// unknown.
			if (dialect.cantHold?.(column, value)) sql.add(`${name} ${op === 'ne' ? '=' : '<>'} ${name}`)
			else sql.add(`${name} ${OPERATORS[op]} `).value(value, column)
		}
	}
}

/** Clients can't give more terms, scopes can. SQLite's parser nests a chain, at most 1,000 deep. */
const MAX_CHAIN = 100

function writeTerms(
	sql: Sql,
	op: 'and' | 'or',
	terms: readonly Condition[],
	columns: Columns,
	alias: string,
): void {
	if (terms.length === 0) {
		sql.add(op === 'and' ? '1 = 1' : '1 = 0')
		return
	}
	if (terms.length > MAX_CHAIN) {
		const size = Math.ceil(terms.length / MAX_CHAIN)
		const groups: Condition[] = []
		for (let at = 0; at < terms.length; at += size) groups.push({ op, terms: terms.slice(at, at + size) })
		writeTerms(sql, op, groups, columns, alias)
		return
	}
	let between = '('
	for (const term of terms) {
		sql.add(between)
		writeCondition(sql, term, columns, alias)
		between = ` ${op} `
	}
	sql.add(')')
}

type Some = Extract<Condition, { op: 'some' }>
type Count = Extract<Condition, { op: 'count' }>

/**
 * Writes ` from … where …` of the related records that match. Their table's alias is that of the outer table with an
 * `r` at its end, so each has its own however deep conditions are nested. If several records in between lead to the same one,
 * it is there for each of them, unless `isOnce`.
 */
function writeRelated(
	sql: Sql,
	{ link, where, fails }: Pick<Some, 'link' | 'where' | 'fails'>,
	columns: Columns,
	alias: string,
	isOnce = false,
): void {
	const { dialect } = sql
	const { through, isMany } = link
	const other = subjectOfModel(link.model)
	const own: Side = { columns, alias, names: link.fields }
	const related: Side = { columns: other.columns, alias: `${alias}r`, names: link.to }
	sql.add(` from ${tableName(dialect, other.table)} ${related.alias}`)
	if (through === undefined) {
		sql.add(` where ${isMany ? equality(dialect, own, related) : equality(dialect, related, own)}`)
	} else {
		const { table, columns } = subjectOfModel(through.model)
		const from: Side = { columns, alias: `${alias}t`, names: through.from }
		const on: Side = { ...from, names: through.on }
		const source = `${tableName(dialect, table)} ${from.alias}`
		const isTied = `${equality(dialect, related, on)} and ${equality(dialect, own, from)}`
		sql.add(
			isOnce ? ` where exists (select 1 from ${source} where ${isTied})` : `, ${source} where ${isTied}`,
		)
	}
	if (where !== undefined) writeCondition(sql.add(' and '), where, other.columns, related.alias)
	if (fails === undefined) return
	writeCondition(sql.add(' and ('), fails, other.columns, related.alias)
	sql.add(') is not true')
}

/** The columns of a link in one of its tables. */
export interface Side {
	readonly columns: Columns
	readonly alias: string
	readonly names: readonly string[]
}

/** The condition of a link. SQLite compares texts by the collation of the left side, which is the referenced one's in its foreign keys. */
export function equality(dialect: Dialect, referenced: Side, referring: Side): string {
	const name = ({ columns, alias }: Side, field = '') => columnName(dialect, columnOf(columns, field), alias)
	return referenced.names
		.map((field, at) => `${name(referenced, field)} = ${name(referring, referring.names[at])}`)
		.join(' and ')
}

function writeCount(sql: Sql, condition: Count, columns: Columns, alias: string): void {
	const { compare, value } = condition
	const write = (number: number, isReached: boolean) =>
		writeReaches(sql, condition, number, isReached, columns, alias)
	if (compare === 'gte' || compare === 'lt') write(value, compare === 'gte')
	else if (compare === 'gt' || compare === 'lte') write(value + 1, compare === 'gt')
	else {
		const isEqual = compare === 'eq'
		sql.add('(')
		write(value, isEqual)
		sql.add(isEqual ? ' and ' : ' or ')
		write(value + 1, !isEqual)
		sql.add(')')
	}
}

/**
 * Writes the condition that there are, or aren't, at least so many related records. It reads no more of them: a count
 * would read all. `exists` isn't used with an offset, because databases may ignore it there.
 */
function writeReaches(
	sql: Sql,
	condition: Count,
	number: number,
	isReached: boolean,
	columns: Columns,
	alias: string,
): void {
	if (number === 0) {
		sql.add(isReached ? '1 = 1' : '1 = 0')
		return
	}
	if (number === 1) {
		sql.add(isReached ? 'exists (select 1' : 'not exists (select 1')
		writeRelated(sql, condition, columns, alias)
		sql.add(')')
		return
	}
	const { link } = condition
	const mayRepeat = link.through !== undefined && !isTiedOnce(link.through)
	const { keys } = subjectOfModel(link.model)
	// By the key where there is one: SQLite would look at each record of the table for `isOnce`.
	const groups = mayRepeat ? keys.map((key) => columnName(sql.dialect, key, `${alias}r`)) : []
	sql.add('(select 1')
	writeRelated(sql, condition, columns, alias, mayRepeat && groups.length === 0)
	if (groups.length > 0) sql.add(` group by ${groups.join(', ')}`)
	sql.add(' limit 1 offset ').number(number - 1)
	sql.add(isReached ? ') is not null' : ') is null')
}

/** Whether at most one record in between leads from a record to another. */
function isTiedOnce({ model, from, on }: NonNullable<Link['through']>): boolean {
	return isUniqueIn(subjectOfModel(model).table, [...from, ...on])
}

/** Whether a condition has links, so that it selects from other tables. */
export function hasLinks(condition: Condition | undefined): boolean {
	switch (condition?.op) {
		case 'some':
		case 'count':
			return true
		case 'and':
		case 'or':
			return condition.terms.some(hasLinks)
		case 'not':
			return hasLinks(condition.term)
		default:
			return false
	}
}

/** Writes ` where ` and the conditions that are defined, joined by `and`. */
export function writeWhere(sql: Sql, conditions: readonly (((sql: Sql) => void) | undefined)[]): void {
	let between = ' where '
	for (const write of conditions) {
		if (write === undefined) continue
		sql.add(between)
		write(sql)
		between = ' and '
	}
}
