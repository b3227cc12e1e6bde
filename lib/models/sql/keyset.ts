/** `writeAfter`: keyset pagination, the condition that a record comes after a cursor. Called by `sql-model.ts`. */
import type { Value } from '../model.ts'
import type { Sql } from './dialect.ts'
import type { OrderColumn } from './embedding.ts'
import { columnName } from './table.ts'

/**
 * Writes the condition that a record comes after the one with these sort values, one for each term
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
	const terms = order.map(({ column, descending, joined = alias }, at) => ({
		column,
		name: sql.dialect.sorted?.(column, joined) ?? columnName(sql.dialect, column, joined),
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
