/** The `Dialect` of SQLite: the SQL from which `sql-model.ts` builds statements. */
import type { Dialect, Sql, TextMatch } from '../sql/dialect.ts'
import { ansiQuoted, type Column, columnName, type Table } from '../sql/table.ts'
import type { Lru } from '../sql/text-cache.ts'
import { failureOf } from './errors.ts'
import { exactSql, keySql, recordSql, recordText, relatedList, sizeSql, type Writing } from './json.ts'
import { Lists, nextFromKey } from './list.ts'
import { totalsOf } from './totals.ts'
import { bound, boundAfter } from './types.ts'

const NO_COLUMN = /\b(?:no such column: |has no column named )/

/** Creates a table's dialect; `writing` says what this version of SQLite supports. */
export function dialectOf({ columns, key, isView }: Table, writing: Writing, lru: Lru): Dialect {
	// A collation may ignore case or trailing spaces; ids are compared exactly.
	const isText = columns.some(({ name, type }) => key.includes(name) && (type === 'text' || type === 'uuid'))
	const dialect: Dialect = {
		lru,
		returning: { insert: true, update: true, delete: true },
		// `returning` accepts no alias: sqlite.org/lang_returning.html.
		returningAlias: '',
		// Triggers of a view decide what is stored.
		rereads: isView,
		repeatsExists: true,
		comparesRows: true,
		skipsSilently: true,
		insertNothing: ' default values',
		// The order of `returning` is arbitrary: sqlite.org/lang_returning.html.
		rows: { maxValues: 32_766, hasDefaults: false, isUnordered: true },
		defaultSchema: 'main',
		foldsNames: true,
		quote: ansiQuoted,
		placeholder: () => '?',
		bind: bound,
		bindAfter: boundAfter,
		bindNumber: (value) => value,
		defaultOf: ({ defaultSql }) => `(${defaultSql ?? 'null'})`,
		record: (selected, alias) => recordSql(selected, alias, writing),
		embedding: {
			record: (selected, alias, related, large) => recordText(selected, related, alias, writing, large),
			key: (columns, alias) => keySql(columns, alias, writing),
			list: (parts) => relatedList(parts, writing),
			next: nextFromKey,
			size: (selected, alias) => sizeSql(selected, alias, writing),
		},
		exact: (column, alias) => exactSql(column, columnName(dialect, column, alias)),
		// SQLite sorts null lowest, so a descending order has nulls last already.
		orderTerm: ({ column, descending }, alias) =>
			`${columnName(dialect, column, alias)}${descending ? ' desc' : ''}${
				column.nullable && !descending ? ' nulls last' : ''
			}`,
		matches: writeMatches,
		...(isText ? { keyIs: writeExactly } : {}),
		exactly: writeExactly,
		oneOf: writeOneOf,
		totals: totalsOf(writing),
		list: (sql, parts) => lists.write(sql, parts),
		listsAtOnce: 5,
		listed: (rows, parts) => lists.read(rows, parts),
		isOutdated: (error) => error instanceof Error && NO_COLUMN.test(error.message),
		failure: failureOf,
	}
	const lists = new Lists(dialect, writing)
	return dialect
}

/** Compares twice: the first comparison can use the index, the second ignores the column's collation. */
function writeExactly(sql: Sql, column: Column, alias: string, text: string): void {
	const name = columnName(sql.dialect, column, alias)
	sql.add(`(${name} = `).value(text, column)
	sql.add(` and ${name} = `).value(text, column).add(' collate binary)')
}

/** Longer lists are sent as one JSON array: a statement may have at most 32,766 placeholders. */
const MAX_PLACEHOLDERS = 100
/** Maximum number of placeholders up to the end of a list; the rest of the statement needs some, too. */
const MAX_SINGLE = 32_000

/** If exact, compares twice, like `writeExactly`. */
const writeOneOf: Dialect['oneOf'] = (sql, column, alias, values, isExact) => {
	const name = columnName(sql.dialect, column, alias)
	const bounds = values.map((value) => bound(value, column))
	if (isExact) {
		sql.add('(')
		writeIn(sql, name, bounds)
		sql.add(' and ')
		writeIn(sql, `${name} collate binary`, bounds)
		sql.add(')')
	} else writeIn(sql, name, bounds)
}

function writeIn(sql: Sql, name: string, values: readonly unknown[]): void {
	const listed: string[] = []
	const single: unknown[] = []
	for (const value of values) {
		const json = values.length > MAX_PLACEHOLDERS ? jsonOf(value) : undefined
		if (json === undefined) single.push(value)
		else listed.push(json)
	}
	if (listed.length === 0) {
		writePlaceholders(sql, name, single)
		return
	}
	sql.add(single.length > 0 ? '(' : '').add(`${name} in (select value from json_each(?))`)
	sql.values.push(`[${listed.join(',')}]`)
	if (single.length === 0) return
	sql.add(' or ')
	writePlaceholders(sql, name, single)
	sql.add(')')
}

/** A value as JSON; `undefined` if SQLite wouldn't read it exactly: fractions, bytes, and texts with U+0000, which it cuts off. */
function jsonOf(value: unknown): string | undefined {
	if (typeof value === 'string') return value.includes('\0') ? undefined : JSON.stringify(value)
	if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value)
	return value === null ? 'null' : undefined
}

/** @throws RangeError for more values than SQLite accepts */
function writePlaceholders(sql: Sql, name: string, values: readonly unknown[]): void {
	if (sql.values.length + values.length > MAX_SINGLE)
		throw new RangeError(
			`a condition has ${values.length} fractions, bytes or texts with U+0000; SQLite accepts at most ${MAX_SINGLE} of them`,
		)
	sql.add(`${name} in (${Array(values.length).fill('?').join(', ')})`)
	for (const value of values) sql.values.push(value)
}

/**
 * Doesn't use `like`, which always ignores the case of ASCII letters and limits patterns to 50,000 bytes. `lower` changes
 * only ASCII letters, so only these are lower-cased in the value.
 */
function writeMatches(sql: Sql, column: Column, alias: string, match: TextMatch): void {
	const { op, ignoreCase } = match
	const plain = columnName(sql.dialect, column, alias)
	const name = ignoreCase ? `lower(${plain})` : plain
	const value = ignoreCase ? match.value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : match.value
	if (op === 'eq') {
		// The result of `lower` has no collation, so this compares bytes.
		sql.add(`${name} = `).value(value, column)
		return
	}
	if (value === '') {
		// NULL for NULL, so that `not` doesn't match it either; `is not null` would be false.
		sql.add(`length(${plain}) >= 0`)
		return
	}
	if (op === 'contains') {
		sql.add(`instr(${name}, `).value(value, column).add(') > 0')
		return
	}
	const length = [...value].length
	sql.add(`substr(${name}, `)
	if (op === 'startsWith') sql.add('1, ').number(length)
	else sql.number(-length)
	sql.add(') = ').value(value, column)
}
