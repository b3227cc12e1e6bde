/** `dialectOf`: the SQL of MySQL 8 and MariaDB 10.5 and later. Used by `model.ts`. */
import {
	type Dialect,
	patternOf,
	type RecordSql,
	type Selected,
	type Sql,
	type TextMatch,
} from '../sql/dialect.ts'
import { type Column, type Table, tableName } from '../sql/table.ts'
import type { Lru } from '../sql/text-cache.ts'
import { failureOf, numberOf } from './errors.ts'
import { concatOf, jsonParts, mysqlColumn, type Part, quoteName, unbroken } from './json.ts'
import { Lists } from './list.ts'
import type { Server } from './mysql2/server.ts'

export function dialectOf({ returnsInserted, returnsDeleted }: Server, table: Table, lru: Lru): Dialect {
	const record = rememberedRecord()
	const name = tableName({ quote: quoteName }, table)
	const lists = new Lists(record, isKeyed(table), lru)
	return {
		lru,
		returning: { insert: returnsInserted, update: false, delete: returnsDeleted },
		returningAlias: '',
		comparesRows: false,
		skipsSilently: false,
		gathers: true,
		// A node of Galera without a majority answers anything but what asks for a table.
		takesReads: `select 1 from ${name} limit 0`,
		takesChanges: `select 1 from dual where @@global.read_only = 0 and not exists (select 1 from ${name} limit 0)`,
		insertNothing: ' () values ()',
		quote: quoteName,
		placeholder: (_, column) => (column === undefined ? '?' : mysqlColumn(column).sql.placeholder),
		placeholderOf: (value, column) => mysqlColumn(column).sql.placeholderOf?.(value),
		bind: (value, column) => (value === null ? null : mysqlColumn(column).sql.bind(value)),
		// MySQL 8 refuses a double, which numbers are sent as, for a limit.
		bindNumber: String,
		defaultOf: () => 'default',
		record,
		exact: (column, alias) => mysqlColumn(column).sql.exact(refOf(column, alias)),
		orderTerm: ({ column, descending }, alias) => {
			const ref = refOf(column, alias)
			const term = mysqlColumn(column).sql.order(ref)
			if (descending) return `${term} desc`
			return column.nullable ? `${ref} is null, ${term}` : term
		},
		matches: writeMatches,
		keyIn: writeKeyIn,
		...(isText(table) ? { keyIs: (sql, key, alias, id) => writeKeyIn(sql, key, alias, [id]) } : {}),
		exactly: (sql, column, alias, text) => writeKeyIn(sql, column, alias, [text]),
		oneOf: writeOneOf,
		cantHold: (column, value) => typeof value === 'string' && !holds(mysqlColumn(column).charset, value),
		list: (sql, parts) => lists.write(sql, parts),
		listed: (rows, parts) => lists.read(rows, parts),
		// Unknown column.
		isOutdated: (error) => numberOf(error) === 1054,
		failure: failureOf,
	}
}

function refOf(column: Column, alias: string): string {
	return alias === '' ? quoteName(column.name) : `${alias}.${quoteName(column.name)}`
}

/** Whether a record can be found by its key as fast as it can be. */
function isKeyed({ isView, key, constraints, columns }: Table): boolean {
	if (isView || columns.find(({ name }) => name === key)?.nullable !== false) return false
	return constraints.some(
		({ kind, columns: [first, ...more] }) =>
			(kind === 'primary' || kind === 'unique') && first === key && more.length === 0,
	)
}

function isText({ key, columns }: Table): boolean {
	return columns.find(({ name }) => name === key)?.type === 'text'
}

/** Records are written once for a selection: a list asks for the same one again and again. */
function rememberedRecord(): Dialect['record'] {
	const known = new WeakMap<readonly Selected[], Map<string, RecordSql>>()
	return (selected, alias) => {
		let byAlias = known.get(selected)
		if (byAlias === undefined) {
			byAlias = new Map()
			known.set(selected, byAlias)
		}
		let record = byAlias.get(alias)
		if (record === undefined) {
			record = recordOf(selected, alias)
			byAlias.set(alias, record)
		}
		return record
	}
}

function recordOf(selected: readonly Selected[], alias: string): RecordSql {
	const parts: Part[] = []
	let before = '{'
	for (const { column, as } of selected) {
		parts.push({ text: `${before}${JSON.stringify(as)}:` })
		parts.push(...jsonParts(mysqlColumn(column), refOf(column, alias), 'json'))
		before = ','
	}
	parts.push({ text: selected.length === 0 ? '{}' : '}' })
	const hasBytes = selected.some(({ column }) => column.type === 'bytes')
	const json = (values: readonly unknown[]) => (hasBytes ? unbroken(jsonOf(values)) : jsonOf(values))
	return { expressions: [concatOf(parts)], json }
}

/**
 * @throws TypeError for a record beyond the server's `max_allowed_packet`: it writes NULL then, and warns
 */
function jsonOf([text]: readonly unknown[]): string {
	if (typeof text === 'string') return text
	throw new TypeError(
		"the database has written no JSON: a record is larger than the server's max_allowed_packet",
	)
}

/** `!` escapes in every `sql_mode`, where a backslash doesn't. */
function writeMatches(sql: Sql, column: Column, alias: string, match: TextMatch): void {
	const { type, charset, ignoresCase, sql: own } = mysqlColumn(column)
	// A geometry as it is shown; what is looked for is a part of that, and needn't be one itself.
	const ref = type === 'other' ? own.exact(refOf(column, alias)) : refOf(column, alias)
	if (!holds(charset, match.value)) {
		// Neither true nor false of a null.
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

/** As many placeholders as the next power of two: so few texts are prepared. The last id is repeated. */
function writeKeyIn(sql: Sql, key: Column, alias: string, ids: readonly string[]): void {
	const { type, charset, sql: own } = mysqlColumn(key)
	const ref = refOf(key, alias)
	if (type !== 'text') {
		writeIn(sql, ref, own.placeholder, type === 'integer' ? ids.map(Number) : ids)
		return
	}
	const texts = ids.filter((id) => holds(charset, id)).map((id) => own.bind(id))
	if (texts.length === 0) {
		sql.add('1 = 0')
		return
	}
	// By the index, as the database compares texts: without case, or without spaces at their end. Then exactly.
	sql.add('(')
	writeIn(sql, ref, '?', texts)
	sql.add(' and ')
	writeIn(sql, `cast(convert(${ref} using utf8mb4) as binary)`, '?', texts)
	sql.add(')')
}

/** What the characters of a text are within, for character sets that don't have them all. MySQL's latin1 is Windows-1252. */
const HELD: Readonly<Record<string, RegExp>> = {
	ascii: /^[\0-\x7f]*$/,
	latin1:
		/^[\0-\x7f\x81\x8d\x8f\x90\x9d\xa0-\xff\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]*$/,
	utf8mb3: /^[\0-\uffff]*$/u,
	utf8: /^[\0-\uffff]*$/u,
	ucs2: /^[\0-\uffff]*$/u,
}

/** Whether a text can be one in a character set: if not, the database refuses to compare with it. */
function holds(charset: string | undefined, text: string): boolean {
	if (charset === undefined || charset === 'utf8mb4') return true
	return HELD[charset]?.test(text) ?? true
}

/** What the character set of a column lacks, no record has. */
const writeOneOf: Dialect['oneOf'] = (sql, column, alias, values, isExact) => {
	const { charset, sql: own } = mysqlColumn(column)
	const ref = refOf(column, alias)
	const held = values.filter((value) => typeof value !== 'string' || holds(charset, value))
	if (held.length === 0) {
		// False, and unknown of a null.
		sql.add(`${ref} <> ${ref}`)
		return
	}
	if (isExact) {
		writeKeyIn(sql, column, alias, held.map(String))
		return
	}
	const usual = held.filter((value) => own.placeholderOf?.(value) === undefined)
	if (usual.length === held.length) {
		writeIn(
			sql,
			ref,
			own.placeholder,
			held.map((value) => (value === null ? null : own.bind(value))),
		)
		return
	}
	let between = `${ref} in (`
	for (const value of held) {
		sql.add(between).value(value, column)
		between = ', '
	}
	sql.add(')')
}

/**
 * Of 65,535 placeholders that a statement may have; beyond, values are literals. A list and its total may both have them.
 */
const MOST_PLACEHOLDERS = 30_000

/** The same in every `sql_mode` and session. */
function literalOf(value: unknown): string {
	if (value === null) return 'null'
	if (typeof value === 'number') return Number.isInteger(value) ? String(value) : `${value}e0`
	if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`
	return `_utf8mb4 x'${Buffer.from(String(value)).toString('hex')}'`
}

function writeIn(sql: Sql, ref: string, placeholder: string, values: readonly unknown[]): void {
	if (sql.values.length + 2 * values.length > MOST_PLACEHOLDERS) {
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
