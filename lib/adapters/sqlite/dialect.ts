/** SQLite's way of writing what `sql-model.ts` asks for. */
import type { Dialect, Sql } from '../../sql/dialect.ts'
import { columnName } from '../../sql/name.ts'
import type { Column } from '../../sql/table.ts'
import { bound, boundAfter } from './bind.ts'
import { failureOf } from './failure.ts'
import { Lists } from './list.ts'
import { recordSql } from './record-sql.ts'
import type { Writing } from './value-sql.ts'

export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

/** The dialect for the SQLite at hand. */
export function sqliteDialect(writing: Writing): Dialect {
	const dialect: Dialect = {
		name: 'sqlite',
		returning: { insert: true, update: true, delete: true },
		// `returning` knows no alias: sqlite.org/lang_returning.html.
		returningAlias: '',
		comparesRows: true,
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
		list: (sql, parts) => lists.write(sql, parts),
		listed: (rows, parts) => lists.listed(rows, parts),
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

/**
 * Not by `like`, which takes letters of ASCII without case, where `=` doesn't, and reads patterns of at most
 * 50,000 bytes.
 */
function writeMatches(
	sql: Sql,
	column: Column,
	alias: string,
	op: 'contains' | 'startsWith' | 'endsWith',
	value: string,
): void {
	const name = columnName(sql.dialect, column, alias)
	if (value === '') {
		// Unknown of a null, unlike `is not null`, so that `not` doesn't find it either.
		sql.add(`length(${name}) >= 0`)
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
