/** Conditions as SQL, with its three-valued logic. Called by `sql-model.ts` for what a list, a scope or a guard asks. */
import type { Comparison, Condition, Value } from '../crud/model.ts'
import type { Sql } from './dialect.ts'
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
			if (condition.exact === true) writeExactIn(sql, condition.field, condition.values, columns, alias)
			else writeIn(sql, condition.field, condition.values, columns, alias)
			return
		case 'null':
			sql.add(columnName(sql.dialect, columnOf(columns, condition.field), alias))
			sql.add(condition.value ? ' is null' : ' is not null')
			return
		case 'contains':
		case 'startsWith':
		case 'endsWith':
			sql.dialect.matches(sql, columnOf(columns, condition.field), alias, condition.op, condition.value)
			return
		default: {
			const column = columnOf(columns, condition.field)
			if (condition.op === 'eq' && condition.exact === true) {
				writeExact(sql, column, alias, condition.value)
				return
			}
			sql.add(`${columnName(sql.dialect, column, alias)} ${OPERATORS[condition.op]} `)
			sql.value(condition.value, column)
		}
	}
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

function writeExactIn(
	sql: Sql,
	field: string,
	values: readonly Exclude<Value, null>[],
	columns: Columns,
	alias: string,
): void {
	writeTerms(
		sql,
		'or',
		values.map((value) => ({ op: 'eq', field, value, exact: true })),
		columns,
		alias,
	)
}

function writeIn(sql: Sql, field: string, values: readonly Value[], columns: Columns, alias: string): void {
	const column = columnOf(columns, field)
	if (values.length === 0) {
		sql.add('1 = 0')
		return
	}
	let between = `${columnName(sql.dialect, column, alias)} in (`
	for (const value of values) {
		sql.add(between).value(value, column)
		between = ', '
	}
	sql.add(')')
}
