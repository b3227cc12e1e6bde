/**
 * Writes conditions as SQL, with SQL's three-valued logic: `writeCondition` for filters, scopes and guards,
 * `writeAfter` for keyset pagination. Called by `sql-model.ts`, `reads.ts` and `writes.ts`.
 */
import type { Comparison, Condition, Value } from '../model.ts'
import type { OrderColumn, Sql } from './dialect.ts'
import { type Columns, columnName, columnOf } from './table.ts'

const OPERATORS: Readonly<Record<Comparison, string>> = {
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
		case 'count':
			throw new TypeError(`${condition.link.model.name} can't be joined`)
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

/**
 * Keyset pagination: writes the condition that a record comes after the one with these sort values, one for each term
 * of `order`. Nulls come last in both directions; the last term is the key, which is never null.
 *
 * @throws TypeError unless there is one value for each term
 */
export function writeAfter(
	sql: Sql,
	order: readonly OrderColumn[],
	values: readonly Value[],
	alias: string,
): void {
	if (order.length !== values.length || order.length === 0) {
		throw new TypeError(
			`a cursor needs one value for each of the ${order.length} terms, got ${values.length}`,
		)
	}
	const terms = order.map(({ column, descending }, at) => ({
		column,
		name: columnName(sql.dialect, column, alias),
		operator: descending ? '<' : '>',
		value: values[at] ?? null,
	}))
	if (sql.dialect.comparesRows && isOneRange(terms)) writeRows(sql, terms)
	else writeAfterTerms(sql, terms, 0)
}

interface Term {
	readonly column: OrderColumn['column']
	readonly name: string
	readonly operator: string
	readonly value: Value
}

/** Whether `(a, b) > (?, ?)` can be used: nothing can be null, and all terms have the same direction. */
function isOneRange(terms: readonly Term[]): boolean {
	const operator = terms[0]?.operator
	return terms.every((term) => term.operator === operator && !term.column.nullable && term.value !== null)
}

function writeRows(sql: Sql, terms: readonly Term[]): void {
	const [first] = terms
	if (first === undefined) return
	if (terms.length === 1) {
		sql.add(`${first.name} ${first.operator} `).after(first.value, first.column)
		return
	}
	sql.add(`(${terms.map(({ name }) => name).join(', ')}) ${first.operator} `)
	let between = '('
	for (const { value, column } of terms) {
		sql.add(between).after(value, column)
		between = ', '
	}
	sql.add(')')
}

/** Writes the condition for the terms from `at` on, for records that are equal in all previous terms. */
function writeAfterTerms(sql: Sql, terms: readonly Term[], at: number): void {
	const term = terms[at]
	if (term === undefined) {
		sql.add('1 = 0')
		return
	}
	const isLast = at === terms.length - 1
	if (term.value === null) {
		// Nulls come last, so nothing comes after null in this term: the next terms decide.
		sql.add(isLast ? '1 = 0' : `(${term.name} is null and `)
		if (isLast) return
		writeAfterTerms(sql, terms, at + 1)
		sql.add(')')
		return
	}
	if (isLast) {
		writeComparison(sql, term)
		return
	}
	if (term.column.nullable) {
		sql.add('(')
		writeComparison(sql, term)
		sql.add(` or (${term.name} = `).after(term.value, term.column).add(' and ')
		writeAfterTerms(sql, terms, at + 1)
		sql.add('))')
		return
	}
	// The range in front is redundant, but allows an index scan: databases don't derive a range from the `or`.
	sql.add(`(${term.name} ${term.operator}= `).after(term.value, term.column).add(' and (')
	writeComparison(sql, term)
	sql.add(' or ')
	writeAfterTerms(sql, terms, at + 1)
	sql.add('))')
}

function writeComparison(sql: Sql, { name, operator, value, column }: Term): void {
	if (column.nullable) sql.add('(')
	sql.add(`${name} ${operator} `).after(value, column)
	if (column.nullable) sql.add(` or ${name} is null)`)
}
