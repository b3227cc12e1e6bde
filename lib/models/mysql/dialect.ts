/**
 * `dialectOf`: the `Dialect` of MySQL 8 and MariaDB 10.5 and later. There is no statement for upserts: see `sql/upsert.ts`.
 * Used by `model.ts`.
 */
import { ModelError } from '../model-error.ts'
import { type Dialect, patternOf, type RecordSql, type Sql, type TextMatch } from '../sql/dialect.ts'
import type { Selected } from '../sql/embedding.ts'
import { ALIAS, type Column, columnName, type Table, tableName, valuesOfId } from '../sql/table.ts'
import type { Lru } from '../sql/text-cache.ts'
import { failureOf, numberOf } from './errors.ts'
import {
	concatOf,
	jsonParts,
	mysqlColumn,
	type Part,
	quoteName,
	sortedRef,
	withoutLineBreaks,
} from './json.ts'
import { Lists } from './list.ts'
import type { Server } from './mysql2/server.ts'
import { totalsOf } from './totals.ts'

const QUOTING = { quote: quoteName }

export function dialectOf(server: Server, table: Table, lru: Lru): Dialect {
	const { returnsInserted, returnsDeleted, schema, foldsNames } = server
	const name = tableName(QUOTING, table)
	// The key of a table has a unique index and is not null: see `keyOf`.
	const lists = new Lists(recordOf, !table.isView && table.key.length > 0, lru)
	return {
		lru,
		// Error 1093 of MySQL.
		checksLinksFirst: true,
		repeatsExists: true,
		returning: { insert: returnsInserted, update: false, delete: returnsDeleted },
		returningAlias: '',
		comparesRows: false,
		skipsSilently: false,
		// A Galera node without a majority rejects only statements that use a table.
		takesReads: `select 1 from ${name} limit 0`,
		takesChanges: `select 1 from dual where @@global.read_only = 0 and not exists (select 1 from ${name} limit 0)`,
		insertNothing: ' () values ()',
		...(returnsInserted ? { rows: { maxValues: 65_535, hasDefaults: true } } : {}),
		readsSnapshots: true,
		defaultSchema: schema,
		foldsNames,
		quote: quoteName,
		placeholder: (_, column) => (column === undefined ? '?' : mysqlColumn(column).sql.placeholder),
		placeholderOf: (value, column) => mysqlColumn(column).sql.placeholderOf?.(value),
		bind: bindValue,
		// mysql2 sends numbers as doubles, which MySQL 8 rejects as a limit.
		bindNumber: String,
		defaultOf: () => 'default',
		locked: ' for update',
		nowFor: ({ sqlType, fraction = 6 }) =>
			`${sqlType === 'timestamp' ? 'current_timestamp' : 'utc_timestamp'}(${fraction})`,
		record: (selected, alias) => (alias === ALIAS ? lists.record(selected) : recordOf(selected, alias)),
		exact: (column, alias) => mysqlColumn(column).sql.exact(columnName(QUOTING, column, alias)),
		orderTerm: ({ column, descending }, alias) => {
			const ref = columnName(QUOTING, column, alias)
			const own = mysqlColumn(column)
			const term = own.sql.order(sortedRef(own, ref))
			if (descending) return `${term} desc`
			return column.nullable ? `${ref} is null, ${term}` : term
		},
		sorted: (column, alias) => sortedRef(mysqlColumn(column), columnName(QUOTING, column, alias)),
		matches: writeMatches,
		keyIn: writeKeyIn,
		...(isLoose(table) ? { keyIs: (sql, key, alias, text) => writeExactIn(sql, key, alias, [text]) } : {}),
		exactly: (sql, column, alias, text) => writeExactIn(sql, column, alias, [text]),
		oneOf: writeOneOf,
		cantHold: (column, value) => typeof value === 'string' && !holds(mysqlColumn(column).charset, value),
		totals: totalsOf(server.isMariaDb),
		list: (sql, parts) => lists.write(sql, parts),
		listEach: (sql, parts, wheres) => lists.writeEach(sql, parts, wheres),
		listed: (rows, parts) => lists.read(rows, parts),
		// Unknown column.
		isOutdated: (error) => numberOf(error) === 1054,
		failure: failureOf,
	}
}

/** @throws ModelError `invalid` for a text that the column's character set can't represent: MySQL's error names no column */
const bindValue: Dialect['bind'] = (value, column) => {
	if (value === null) return null
	const { charset, sql } = mysqlColumn(column)
	if (typeof value === 'string' && !holds(charset, value)) throw new ModelError('invalid', [column.name])
	return sql.bind(value)
}

/** Whether `=` may match another key: texts ignore case, and in the hour that a clock is set back, two times are the same. */
function isLoose({ key, columns }: Table): boolean {
	return columns.some(
		({ name, type, sqlType }) => (type === 'text' || sqlType === 'timestamp') && key.includes(name),
	)
}

function recordOf(selected: readonly Selected[], alias: string): RecordSql {
	const parts: Part[] = []
	let before = '{'
	for (const { column, as } of selected) {
		parts.push({ text: `${before}${JSON.stringify(as)}:` })
		parts.push(...jsonParts(mysqlColumn(column), columnName(QUOTING, column, alias), 'json'))
		before = ','
	}
	parts.push({ text: selected.length === 0 ? '{}' : '}' })
	const hasBytes = selected.some(({ column }) => column.type === 'bytes')
	const json = (values: readonly unknown[]) => (hasBytes ? withoutLineBreaks(jsonOf(values)) : jsonOf(values))
	return { expressions: [concatOf(parts)], json }
}

/** @throws TypeError if the record is NULL because it is larger than `max_allowed_packet` */
function jsonOf([text]: readonly unknown[]): string {
	if (typeof text === 'string') return text
	throw new TypeError(
		"the database returned NULL instead of a record: it is larger than the server's max_allowed_packet",
	)
}

/** Escapes by `!`, because the meaning of a backslash depends on the `sql_mode`. */
function writeMatches(sql: Sql, column: Column, alias: string, match: TextMatch): void {
	const { type, charset, ignoresCase, sql: columnSql } = mysqlColumn(column)
	// Geometries are searched as text, because the value needn't be a geometry.
	const name = columnName(QUOTING, column, alias)
	const ref = type === 'other' ? columnSql.exact(name) : name
	if (!holds(charset, match.value)) {
		// The character set can't represent the text: false for all values, unknown for NULL.
		sql.add(`${ref} <> ${ref}`)
		return
	}
	const isLowered = match.ignoreCase && !ignoresCase
	const pattern = patternOf(match, /[!%_]/g, '!')
	sql.add(`${isLowered ? `lower(${ref})` : ref} like ${isLowered ? 'lower(' : ''}`)
	if (type === 'other') sql.add('?').values.push(pattern)
	else sql.value(pattern, column)
	sql.add(`${isLowered ? ')' : ''} escape '!'`)
}

/** For several columns, writes alternatives, whose number is padded to a power of two like the values of {@link writeIn}. */
function writeKeyIn(sql: Sql, keys: readonly Column[], alias: string, ids: readonly string[]): void {
	const [only] = keys
	if (keys.length === 1 && only !== undefined) {
		writeExactIn(sql, only, alias, ids)
		return
	}
	let width = 1
	while (width < ids.length) width *= 2
	let between = '('
	for (let row = 0; row < width; row++) {
		const id = ids[Math.min(row, ids.length - 1)] ?? ''
		for (const [at, value] of valuesOfId(id, keys).entries()) {
			sql.add(at === 0 ? `${between}(` : ' and ')
			writeExactIn(sql, keys[at] as Column, alias, [String(value)])
		}
		sql.add(')')
		between = ' or '
	}
	sql.add(')')
}

/** An exact `in`; see {@link writeIn}. */
function writeExactIn(sql: Sql, key: Column, alias: string, ids: readonly string[]): void {
	const { type, sqlType, charset, sql: columnSql } = mysqlColumn(key)
	const ref = columnName(QUOTING, key, alias)
	if (type !== 'text') {
		const given = type === 'integer' ? ids.map(Number) : type === 'timestamp' ? ids.map(columnSql.bind) : ids
		if (sqlType !== 'timestamp') {
			writeIn(sql, ref, columnSql.placeholder, given)
			return
		}
		sql.add('(')
		writeIn(sql, ref, columnSql.placeholder, given)
		sql.add(' and ')
		writeIn(sql, `unix_timestamp(${ref})`, 'cast(? as decimal(20,6))', ids.map(secondsOf))
		sql.add(')')
		return
	}
	const texts = ids.filter((id) => holds(charset, id)).map((id) => columnSql.bind(id))
	if (texts.length === 0) {
		sql.add('1 = 0')
		return
	}
	// First by the collation, which can use the index, but may ignore case and trailing spaces; then byte by byte.
	sql.add('(')
	writeIn(sql, ref, '?', texts)
	sql.add(' and ')
	writeIn(sql, `cast(convert(${ref} using utf8mb4) as binary)`, '?', texts)
	sql.add(')')
}

/** Seconds since 1970, with the digits of `2026-11-20T12:00:00.123456Z`. */
function secondsOf(timestamp: string): string {
	const [second = '', digits = ''] = timestamp.replace(/Z$/, '').split('.')
	return `${Date.parse(`${second}Z`) / 1000}.${digits}`
}

/** Characters of the character sets that don't have all of Unicode. MySQL's latin1 is Windows-1252. */
const CHARACTERS: Readonly<Record<string, RegExp>> = {
	ascii: /^[\0-\x7f]*$/,
	latin1:
		/^[\0-\x7f\x81\x8d\x8f\x90\x9d\xa0-\xff\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]*$/,
	utf8mb3: /^[\0-\uffff]*$/u,
	utf8: /^[\0-\uffff]*$/u,
	ucs2: /^[\0-\uffff]*$/u,
}

/** Whether a character set can represent a text; if not, comparing a column with the text is an error. */
function holds(charset: string | undefined, text: string): boolean {
	if (charset === undefined || charset === 'utf8mb4') return true
	return CHARACTERS[charset]?.test(text) ?? true
}

/** Leaves out texts that the column's character set can't represent: no record has them. */
const writeOneOf: Dialect['oneOf'] = (sql, column, alias, values, isExact) => {
	const { charset, sql: columnSql } = mysqlColumn(column)
	const ref = columnName(QUOTING, column, alias)
	const possible = values.filter((value) => typeof value !== 'string' || holds(charset, value))
	if (possible.length === 0) {
		// No value is possible: false for all records, unknown for NULL.
		sql.add(`${ref} <> ${ref}`)
		return
	}
	if (isExact) {
		writeExactIn(sql, column, alias, possible.map(String))
		return
	}
	if (possible.every((value) => columnSql.placeholderOf?.(value) === undefined)) {
		const bound = possible.map((value) => (value === null ? null : columnSql.bind(value)))
		writeIn(sql, ref, columnSql.placeholder, bound)
		return
	}
	let between = `${ref} in (`
	for (const value of possible) {
		sql.add(between).value(value, column)
		between = ', '
	}
	sql.add(')')
}

/** Beyond this number, values are literals. Both a list and its total may have them, and MySQL's limit is 65,535. */
const MAX_PLACEHOLDERS = 30_000

/** A literal that is independent of the `sql_mode` and the session. */
function literalOf(value: unknown): string {
	if (value === null) return 'null'
	if (typeof value === 'number')
		return Number.isInteger(value) || /e/.test(String(value)) ? String(value) : `${value}e0`
	if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`
	return `_utf8mb4 x'${Buffer.from(String(value)).toString('hex')}'`
}

/** Pads the placeholders to a power of two by repeating the last value, so that few texts are prepared. */
function writeIn(sql: Sql, ref: string, placeholder: string, values: readonly unknown[]): void {
	if (sql.values.length + 2 * values.length > MAX_PLACEHOLDERS) {
		const literals = values.map((value) => placeholder.replace('?', literalOf(value)))
		sql.add(`${ref} in (${literals.join(',')})`)
		return
	}
	const [first, ...more] = values
	if (more.length === 0) {
		sql.add(`${ref} = ${placeholder}`)
		sql.values.push(first)
		return
	}
	let width = 1
	while (width < values.length) width *= 2
	const last = values.at(-1)
	for (let at = 0; at < width; at++) sql.values.push(at < values.length ? values[at] : last)
	sql.add(`${ref} in (${placeholder}${`,${placeholder}`.repeat(width - 1)})`)
}
