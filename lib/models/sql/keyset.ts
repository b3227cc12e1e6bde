/** What is behind a cursor: the condition by which a list goes on where the page before it ended. */
import type { Value } from '../model.ts'
import type { OrderColumn, Sql } from './dialect.ts'
import { columnName } from './name.ts'

/**
 * Writes the condition that a record comes after the one with `values`, one for each term of `order`. Nulls
 * come last in both directions; the last term is the key's, which is never null.
 *
 * @throws TypeError when there are more or fewer values than terms
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
		beyond: descending ? '<' : '>',
		value: values[at] ?? null,
	}))
	if (sql.dialect.comparesRows && isOneRange(terms)) writeRows(sql, terms)
	else writeBehind(sql, terms, 0)
}

interface Term {
	readonly column: OrderColumn['column']
	readonly name: string
	readonly beyond: string
	readonly value: Value
}

/** Whether `(a, b) > (?, ?)` says it: nothing is null, and all directions are the same. */
function isOneRange(terms: readonly Term[]): boolean {
	const beyond = terms[0]?.beyond
	return terms.every((term) => term.beyond === beyond && !term.column.nullable && term.value !== null)
}

function writeRows(sql: Sql, terms: readonly Term[]): void {
	const [first] = terms
	if (first === undefined) return
	if (terms.length === 1) {
		sql.add(`${first.name} ${first.beyond} `).after(first.value, first.column)
		return
	}
	sql.add(`(${terms.map(({ name }) => name).join(', ')}) ${first.beyond} `)
	let between = '('
	for (const { value, column } of terms) {
		sql.add(between).after(value, column)
		between = ', '
	}
	sql.add(')')
}

/** Behind the values of the terms from `at` on, where those before are equal. */
function writeBehind(sql: Sql, terms: readonly Term[], at: number): void {
	const term = terms[at]
	if (term === undefined) {
		sql.add('1 = 0')
		return
	}
	const isLast = at === terms.length - 1
	if (term.value === null) {
		// Nothing comes after null.
		sql.add(isLast ? '1 = 0' : `(${term.name} is null and `)
		if (isLast) return
		writeBehind(sql, terms, at + 1)
		sql.add(')')
		return
	}
	if (isLast) {
		writeBeyond(sql, term)
		return
	}
	if (term.column.nullable) {
		sql.add('(')
		writeBeyond(sql, term)
		sql.add(` or (${term.name} = `).after(term.value, term.column).add(' and ')
		writeBehind(sql, terms, at + 1)
		sql.add('))')
		return
	}
	// The leading range is what an index can be used for; databases don't find it in the `or` by themselves.
	sql.add(`(${term.name} ${term.beyond}= `).after(term.value, term.column).add(' and (')
	writeBeyond(sql, term)
	sql.add(' or ')
	writeBehind(sql, terms, at + 1)
	sql.add('))')
}

function writeBeyond(sql: Sql, { name, beyond, value, column }: Term): void {
	if (column.nullable) sql.add('(')
	sql.add(`${name} ${beyond} `).after(value, column)
	if (column.nullable) sql.add(` or ${name} is null)`)
}
