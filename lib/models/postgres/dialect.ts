/** `dialectOf`: the `Dialect` of PostgreSQL. */
import type { Value } from '../model.ts'
import { type Dialect, patternOf, type Sql, type TextMatch, type UpdateOfAll } from '../sql/dialect.ts'
import type { OrderColumn } from '../sql/embedding.ts'
import { ALIAS, ansiQuoted, type Column, columnName, valuesOfId } from '../sql/table.ts'
import type { Lru } from '../sql/text-cache.ts'
import { codeOf, failureOf, isMalformed } from './errors.ts'
import { exactText, keySql, recordSql, recordText, relatedList, sizeSql } from './json.ts'
import { Lists, readList } from './list.ts'

import { totalsOf } from './totals.ts'

import {
	arrayCast,
	arrayLiteral,
	arrayOfRows,
	arrayOfValues,
	bound,
	cast,
	LOOSE,
	takesRows,
} from './types.ts'

/**
 * @param throughText whether the driver converts some types itself: see `cast`
 * @param keys the columns of the table's key
 * @param upserts whether the table takes `on conflict`: it is no view, and has no rules and no triggers
 */
export function dialectOf(throughText: boolean, keys: readonly Column[], lru: Lru, upserts = false): Dialect {
	const lists = new Lists(lru)
	const dialect: Dialect = {
		lru,
		returning: { insert: true, update: true, delete: true },
		returningAlias: ALIAS,
		comparesRows: true,
		skipsSilently: true,
		takesChanges: `select 1 where current_setting('transaction_read_only') = 'off'`,
		checksDeferred: 'set constraints all immediate',
		insertNothing: ' default values',
		// postgres.js takes fewer than 65,534 values.
		rows: { maxValues: 65_533, hasDefaults: true, write: writeRows },
		updateAll,
		// 0 in a new row. A row that `on conflict` updates was locked by the same transaction before.
		...(upserts ? { isInserted: `(${ALIAS}.xmax = 0)::int::text` } : {}),
		quote: ansiQuoted,
		placeholder: (n, column) => cast(n, column, throughText),
		bind: bound,
		bindNumber: String,
		defaultOf: ({ defaultSql = 'default' }) => defaultSql,
		locked: ` for no key update of ${ALIAS}`,
		lockedToDelete: ` for update of ${ALIAS}`,
		nowFor: ({ sqlType }) => `clock_timestamp()${sqlType === 'timestamp' ? ` at time zone 'UTC'` : ''}`,
		record: recordSql,
		embedding: { record: recordText, list: relatedList, size: sizeSql, key: keySql },
		exact: (column, alias) => exactText(column, columnName(QUOTING, column, alias)),
		orderTerm,
		matches: writeMatches,
		oneOf: writeOneOf,
		keyIn: writeKeyIn,
		...(keys.some(({ storage }) => storage === LOOSE) ? { keyIs: writeKeyIs } : {}),
		exactly: writeExactly,
		list: (sql, parts) => lists.write(sql, parts),
		listEach: (sql, parts, wheres) => lists.writeEach(sql, parts, wheres),
		listed: (rows, parts) => readList(rows, parts, dialect),
		totals: totalsOf(),
		isOutdated,
		failure: failureOf,
	}
	return dialect
}

const QUOTING = { quote: ansiQuoted }

function orderTerm({ column, descending }: OrderColumn, alias: string): string {
	const name = columnName(QUOTING, column, alias)
	if (!descending) return name
	// On a column that is never null the clause would only prevent the use of an index.
	return column.nullable ? `${name} desc nulls last` : `${name} desc`
}

/** Types that `like` takes without a cast. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'varchar', 'name'])

function writeMatches(sql: Sql, column: Column, alias: string, match: TextMatch): void {
	const name = columnName(QUOTING, column, alias)
	const text = TEXTS.has(column.sqlType) || isExtension(column) ? name : `${name}::text`
	const pattern = patternOf(match, /[\\%_]/g, '\\')
	// `ilike` can use a trigram index of the column; `lower` would need an index of its own.
	sql.add(`${text} ${match.ignoreCase ? 'ilike' : 'like'} ${parameter(sql, bound(pattern, column))}::text`)
}

/** Adds a value that needs a different cast from its column's, and returns its placeholder. */
function parameter(sql: Sql, value: unknown): string {
	return `$${sql.values.push(value)}`
}

/** Text types of extensions (citext) have a `like` of their own. */
function isExtension(column: Column): boolean {
	return column.type === 'text' && column.choices === undefined && column.sqlType.includes('.')
}

/** Sends one array for any number of values, because a statement can't have more than 65,535 placeholders. */
function writeOneOf(
	sql: Sql,
	column: Column,
	alias: string,
	values: readonly Value[],
	isExact: boolean,
): void {
	const name = columnName(QUOTING, column, alias)
	const array = arrayOfValues(values, column)
	if (array === undefined) {
		sql.add(`${name} in (`)
		for (const [index, value] of values.entries()) sql.add(index === 0 ? '' : ', ').value(value, column)
		sql.add(')')
		return
	}
	sql.values.push(array)
	const isOne = `${name} = any(${arrayCast(sql.values.length, column)})`
	if (!isExact || column.storage !== LOOSE) {
		sql.add(isOne)
		return
	}
	sql.add(`(${isOne} and ${name}::text collate "C" = any(${parameter(sql, array)}::text[]))`)
}

function writeKeyIn(sql: Sql, keys: readonly Column[], alias: string, ids: readonly string[]): void {
	const values = ids.map((id) => valuesOfId(id, keys))
	const arrays = keys.map((key, at) => {
		const texts = values.map((one) => String(one[at]))
		return `${parameter(sql, arrayLiteral(texts, key))}::${key.sqlType}[]`
	})
	const names = keys.map((key) => columnName(QUOTING, key, alias)).join(', ')
	// The subselect hides the array's length from the planner, which otherwise would prefer a custom plan for each call
	// (122 instead of 62 µs in the database).
	if (keys.length === 1) sql.add(`${names} = any((select ${arrays[0]})::${keys[0]?.sqlType}[])`)
	else sql.add(`(${names}) in (select * from unnest(${arrays.join(', ')}))`)
}

/**
 * Each column as one array, so that the text, and with it the prepared statement, is the same for any number of rows. They
 * are inserted, and returned, one after the other.
 */
function writeRows(
	sql: Sql,
	columns: readonly Column[],
	lists: readonly Value[][],
	also: readonly string[],
): boolean {
	const arrays = columns.map((column, at) => arrayOfRows(lists[at] ?? [], column))
	if (arrays.includes(undefined)) return false
	const casts = columns.map((column, at) => {
		sql.values.push(arrays[at])
		return arrayCast(sql.values.length, column)
	})
	// In a `from` clause, the rows would be stored before the first one is inserted.
	sql.add(` select ${[...casts.map((array) => `unnest(${array})`), ...also].join(', ')}`)
	return true
}

/**
 * Locks the records in the order of the arrays before it changes any. The planner may join them in another order, so that two
 * such statements could deadlock. The lock is as strong as an update's.
 */
function updateAll(update: UpdateOfAll): string | undefined {
	const { table, set, where, columns, keys, keyAt, returning } = update
	if (!columns.every(takesRows)) return undefined
	const rows = (from: number, some: readonly Column[]): string => {
		const arrays = some.map((column, at) => arrayCast(from + at, column))
		const names = some.map((_, at) => `c${from + at}`)
		return `unnest(${arrays.join(', ')}) with ordinality v(${names.join(', ')}, n)`
	}
	const isKey = keys.map((key, at) => `${columnName(QUOTING, key, ALIAS)} = v.c${keyAt + at}`).join(' and ')
	const locked = `select from ${rows(keyAt, keys)} join ${table} on ${isKey} order by v.n for no key update of ${ALIAS}`
	const all = `update ${table}${set} from ${rows(1, columns)} where ${where}`
	return `${all} and (select count(*) from (${locked}) l) >= 0${returning}, v.n`
}

function writeExactly(sql: Sql, column: Column, alias: string, text: string): void {
	if (column.storage === LOOSE) {
		sql.add('(')
		writeKeyIs(sql, column, alias, text)
		sql.add(')')
	} else sql.add(`${columnName(QUOTING, column, alias)} = `).value(text, column)
}

/** Compares by `=`, which can use the column's index, and then byte by byte. */
function writeKeyIs(sql: Sql, key: Column, alias: string, id: string): void {
	const name = columnName(QUOTING, key, alias)
	sql.add(`${name} = `).value(id, key)
	if (key.storage !== LOOSE) return
	sql.add(` and ${name}::text collate "C" = ${parameter(sql, bound(id, key))}::text`)
}

/** Undefined column, datatype mismatch, undefined function or operator (for `regproc`, also a malformed value). */
const OUTDATED: ReadonlySet<unknown> = new Set(['42703', '42804', '42883'])

function isOutdated(error: unknown): boolean {
	return error instanceof Error && OUTDATED.has(codeOf(error)) && !isMalformed(error)
}
