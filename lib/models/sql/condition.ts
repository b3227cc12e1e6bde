/** Conditions as SQL, with its three-valued logic. Called by `sql-model.ts` for what a list, a scope or a guard asks. */
import type { Comparison, Condition, Value } from '../model.ts'
import type { Sql, TextMatch } from './dialect.ts'
import { type Columns, columnName, columnOf } from './name.ts'
import type { Column } from './table.ts'

const OPERATORS: Readonly<Record<Comparison, string>> = {
	eq: '=',
	ne: '<>',
	gt: '>',
	gte: '>=',
	lt: '<',
	lte: '<=',
}

/**
 * Writes a condition, in parentheses where that could matter. `alias` is the table's, empty for none.
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
		case 'in':
			writeIn(sql, condition, columns, alias)
			return
		case 'null':
			sql.add(columnName(sql.dialect, columnOf(columns, condition.field), alias))
			sql.add(condition.value ? ' is null' : ' is not null')
			return
		case 'contains':
		case 'startsWith':
		case 'endsWith':
			writeMatch(sql, columnOf(columns, condition.field), alias, condition)
			return
		default: {
			const column = columnOf(columns, condition.field)
			if (condition.op === 'eq' && condition.exact === true) {
				writeExact(sql, column, alias, condition.value)
				return
			}
			if (condition.op === 'eq' && condition.ignoreCase === true && typeof condition.value === 'string') {
				writeMatch(sql, column, alias, { ...condition, op: 'eq', value: condition.value })
				return
			}
			const name = columnName(sql.dialect, column, alias)
			if (sql.dialect.cantHold?.(column, condition.value) === true) {
				// True of all but null, or false; unknown of a null.
				sql.add(`${name} ${condition.op === 'ne' ? '=' : '<>'} ${name}`)
				return
			}
			sql.add(`${name} ${OPERATORS[condition.op]} `)
			sql.value(condition.value, column)
		}
	}
}

/** What is looked for in texts, or is the whole of one. */
type Match = Pick<TextMatch, 'op' | 'value'> & { readonly ignoreCase?: boolean | undefined }

function writeMatch(sql: Sql, column: Column, alias: string, { op, value, ignoreCase = false }: Match): void {
	sql.dialect.matches(sql, column, alias, { op, value, ignoreCase })
}

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
	let between = '('
	for (const term of terms) {
		sql.add(between)
		writeCondition(sql, term, columns, alias)
		between = ` ${op} `
	}
	sql.add(')')
}

function writeExact(sql: Sql, column: Column, alias: string, value: Exclude<Value, null>): void {
	const { dialect } = sql
	if (dialect.exactly !== undefined && column.type === 'text' && typeof value === 'string')
		dialect.exactly(sql, column, alias, value)
	else sql.add(`${columnName(dialect, column, alias)} = `).value(value, column)
}

function writeIn(
	sql: Sql,
	{ field, values, exact }: Extract<Condition, { op: 'in' }>,
	columns: Columns,
	alias: string,
): void {
	const column = columnOf(columns, field)
	if (values.length === 0) sql.add('1 = 0')
	else sql.dialect.oneOf(sql, column, alias, values, exact === true && column.type === 'text')
}
