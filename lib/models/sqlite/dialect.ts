/** SQLite's way of writing what `sql-model.ts` asks for. */
import type { Dialect, Sql, TextMatch } from '../sql/dialect.ts'
import { type Column, columnName } from '../sql/table.ts'
import type { Lru } from '../sql/text-cache.ts'
import { failureOf } from './errors.ts'
import { recordSql, type Writing } from './json.ts'
import { Lists } from './list.ts'
import { bound, boundAfter } from './types.ts'

const NO_COLUMN = /\b(?:no such column: |has no column named )/

export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

/** The dialect for the SQLite at hand. */
export function dialectOf(writing: Writing, lru: Lru): Dialect {
	const dialect: Dialect = {
		lru,
		returning: { insert: true, update: true, delete: true },
		// `returning` knows no alias: sqlite.org/lang_returning.html.
		returningAlias: '',
		comparesRows: true,
		skipsSilently: true,
		gathers: false,
		insertNothing: ' default values',
		quote: quoted,
		placeholder: () => '?',
		bind: bound,
		bindAfter: boundAfter,
		bindNumber: (value) => value,
		defaultOf: ({ defaultSql }) => `(${defaultSql ?? 'null'})`,
		record: (selected, alias) => recordSql(selected, (column) => columnName(dialect, column, alias), writing),
		exact: (column, alias) => columnName(dialect, column, alias),
		// Null is the least of all: last when descending, without a word.
		orderTerm: ({ column, descending }, alias) =>
			`${columnName(dialect, column, alias)}${descending ? ' desc' : ''}${
				column.nullable && !descending ? ' nulls last' : ''
			}`,
		matches: writeMatches,
		keyIn: (sql, key, alias, ids) => {
			const values = key.type === 'integer' || key.type === 'bigint' ? ids.join(',') : undefined
			sql.add(`${columnName(dialect, key, alias)} in (select value from json_each(`)
			sql.values.push(values === undefined ? JSON.stringify(ids) : `[${values}]`)
			sql.add('?))')
		},
		exactly: writeExactly,
		oneOf: writeOneOf,
		list: (sql, parts) => lists.write(sql, parts),
		listed: (rows, parts) => lists.read(rows, parts),
		isOutdated: (error) => error instanceof Error && NO_COLUMN.test(error.message),
		failure: failureOf,
	}
	const lists = new Lists(dialect, writing)
	return dialect
}

/** The same for tables whose key is a text: an id is compared byte by byte, whatever the column's collation. */
export function withExactKey(dialect: Dialect): Dialect {
	const keyIs: Dialect['keyIs'] = (sql, key, alias, id) => writeExactly(sql, key, alias, id)
	return { ...dialect, keyIs }
}

/** The first by the index, the second whatever the column's own collation. */
function writeExactly(sql: Sql, column: Column, alias: string, text: string): void {
	const name = columnName(sql.dialect, column, alias)
	sql.add(`(${name} = `).value(text, column)
	sql.add(` and ${name} = `).value(text, column).add(' collate binary)')
}

/** More values are sent as JSON: a statement has 32,766 placeholders at most. */
const MOST_PLACEHOLDERS = 100
/** Leaves lru for those that aren't of lists. */
const MOST_SINGLE = 32_000

/** As `writeExactly`: by the index, and whatever the column's own collation. */
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
		const json = values.length > MOST_PLACEHOLDERS ? jsonOf(value) : undefined
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

/** Only of what SQLite reads exactly: not of fractions, and not of a text with U+0000, which ends for it there. */
function jsonOf(value: unknown): string | undefined {
	if (typeof value === 'string') return value.includes('\0') ? undefined : JSON.stringify(value)
	if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value)
	return value === null ? 'null' : undefined
}

/**
 * @throws RangeError for more than SQLite takes
 */
function writePlaceholders(sql: Sql, name: string, values: readonly unknown[]): void {
	if (sql.values.length + values.length > MOST_SINGLE)
		throw new RangeError(
			`a condition has ${values.length} values that SQLite takes only one by one, of which it takes ${MOST_SINGLE}: fractions, bytes, or texts with U+0000`,
		)
	sql.add(`${name} in (${Array(values.length).fill('?').join(', ')})`)
	for (const value of values) sql.values.push(value)
}

/**
 * Not by `like`, which takes letters of ASCII without case, where `=` doesn't, and reads patterns of at most
 * 50,000 bytes. `lower` knows no other letters either.
 */
function writeMatches(sql: Sql, column: Column, alias: string, match: TextMatch): void {
	const { op, ignoreCase } = match
	const own = columnName(sql.dialect, column, alias)
	const name = ignoreCase ? `lower(${own})` : own
	const value = ignoreCase ? match.value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : match.value
	if (op === 'eq') {
		// By the bytes, whatever the column's own collation.
		sql.add(`${name} = `).value(value, column)
		return
	}
	if (value === '') {
		// Unknown of a null, unlike `is not null`, so that `not` doesn't find it either.
		sql.add(`length(${own}) >= 0`)
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
