/**
 * `writeCondition`: writes filters, scopes and guards as SQL, with SQL's three-valued logic. Called by `sql-model.ts`,
 * `gathered-reads.ts` and `writes.ts`.
 */
import type { Comparison, Condition, Link } from '../model.ts'
import type { Sql } from './dialect.ts'
import { directEquality, equality, isTiedOnce, namesOf, type Side } from './links.ts'
import { subjectOfModel } from './subject.ts'
import {
	type Column,
	type Columns,
	columnName,
	columnOf,
	isUniqueIn,
	type Table,
	tableName,
} from './table.ts'

/** The operators in SQL. */
export const OPERATORS: Readonly<Record<Comparison, string>> = {
	eq: '=',
	ne: '<>',
	gt: '>',
	gte: '>=',
	lt: '<',
	lte: '<=',
}

/** The records that a condition tests: those of a statement, or those to which a link within a condition leads. */
interface Outer {
	readonly columns: Columns
	/** The table's; empty for none. */
	readonly alias: string
	readonly reads: Reads
	/** Set if a link leads to them: then a record may be tested many times. */
	readonly table?: Table | undefined
}

/** Whether a statement reads a `few` records, which it finds by their keys, or `many`. */
type Reads = 'few' | 'many'

/**
 * Writes a condition, in parentheses where precedence needs them. `alias` is the table's, empty for none. With `few`, links
 * are always followed from each record, by `exists`. `table` is given if a record may be tested many times.
 *
 * @throws TypeError for a field that the table doesn't have, and for an operator that there isn't
 */
export function writeCondition(
	sql: Sql,
	condition: Condition,
	columns: Columns,
	alias: string,
	reads: Reads = 'few',
	table?: Table,
): void {
	write(sql, condition, { columns, alias, reads, table })
}

function write(sql: Sql, condition: Condition, outer: Outer): void {
	const { columns, alias } = outer
	switch (condition.op) {
		case 'and':
		case 'or':
			writeTerms(sql, condition.op, condition.terms, outer)
			return
		case 'not':
			sql.add('not (')
			write(sql, condition.term, outer)
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
			writeReaches(sql, condition, 1, true, outer)
			return
		case 'count':
			writeCount(sql, condition, outer)
			return
		default: {
			const { dialect } = sql
			const { op, value, exact = false, ignoreCase = false, as } = condition
			const operator = OPERATORS[op]
			if (operator === undefined) throw new TypeError(`a condition has no operator ${String(op)}`)
			const column = columnOf(columns, condition.field)
			const isText = op === 'eq' && typeof value === 'string'
			const referred =
				isText && as !== undefined ? columnOf(subjectOfModel(as.model).columns, as.field) : column
			if (isText && referred.collation !== column.collation) {
				writeEqualBy(sql, column, alias, value, referred)
				return
			}
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
			else sql.add(`${name} ${operator} `).value(value, column)
		}
	}
}

/** Writes that a column equals a text by the collation of another column. */
function writeEqualBy(sql: Sql, column: Column, alias: string, value: string, { collation }: Column): void {
	const { dialect } = sql
	// An index of the column can serve this.
	if (collation === undefined && dialect.exactly !== undefined) dialect.exactly(sql, column, alias, value)
	else
		sql
			.add(`${columnName(dialect, column, alias)} = `)
			.value(value, column)
			.add(` collate ${collation ?? 'binary'}`)
}

/** Longer chains are split into groups: SQLite's parser nests a chain, at most 1,000 deep. Only scopes have that many terms. */
const MAX_CHAIN = 100

function writeTerms(sql: Sql, op: 'and' | 'or', terms: readonly Condition[], outer: Outer): void {
	if (terms.length === 0) {
		sql.add(op === 'and' ? '1 = 1' : '1 = 0')
		return
	}
	if (terms.length > MAX_CHAIN) {
		const size = Math.ceil(terms.length / MAX_CHAIN)
		const groups: Condition[] = []
		for (let at = 0; at < terms.length; at += size) groups.push({ op, terms: terms.slice(at, at + size) })
		writeTerms(sql, op, groups, outer)
		return
	}
	let between = '('
	for (const term of terms) {
		sql.add(between)
		write(sql, term, outer)
		between = ` ${op} `
	}
	sql.add(')')
}

type Some = Extract<Condition, { op: 'some' }>
type Count = Extract<Condition, { op: 'count' }>
/** What `some` and `count` have in common: a link, and which of its records match. */
type Match = Pick<Some, 'link' | 'where' | 'fails' | 'selective'>

/** How {@link writeRelated} writes the outer records. */
interface Form {
	/** Their table's alias. @default that of `outer` */
	readonly alias?: string
	/** Their table, if it is one of the subselect's own. */
	readonly table?: string
	/** Whether they are left out, because `in` compares with them. */
	readonly isAlone?: boolean
	/** Whether a related record occurs only once, even if several junction records lead to it. */
	readonly isOnce?: boolean
}

/**
 * Writes ` from … where …` of the related records that match. Their table's alias is that of the outer table with an
 * `r` at its end, so each has its own however deep conditions are nested.
 */
function writeRelated(sql: Sql, { link, where, fails }: Match, outer: Outer, form: Form = {}): void {
	const { dialect } = sql
	const { through } = link
	const other = subjectOfModel(link.model)
	const own: Side = { columns: outer.columns, alias: form.alias ?? outer.alias, names: link.fields }
	const related: Side = { columns: other.columns, alias: `${outer.alias}r`, names: link.to }
	const next = nextOf(link, outer.alias)
	const isOfOwn =
		form.isAlone === true
			? namesOf(dialect, next).map((name) => `${name} is not null`)
			: [through === undefined ? directEquality(dialect, link, own, next) : equality(dialect, own, next)]
	const first = form.table === undefined ? '' : `${form.table} ${own.alias}, `
	sql.add(` from ${first}${tableName(dialect, other.table)} ${related.alias}`)
	if (through === undefined) sql.add(` where ${isOfOwn.join(' and ')}`)
	else {
		const source = `${tableName(dialect, subjectOfModel(through.model).table)} ${next.alias}`
		const isTied = [equality(dialect, related, { ...next, names: through.on }), ...isOfOwn].join(' and ')
		sql.add(
			form.isOnce === true
				? ` where exists (select 1 from ${source} where ${isTied})`
				: `, ${source} where ${isTied}`,
		)
	}
	const inner: Outer = { ...related, reads: outer.reads, table: other.table }
	if (where !== undefined) write(sql.add(' and '), where, inner)
	if (fails === undefined) return
	write(sql.add(' and ('), fails, inner)
	sql.add(') is not true')
}

/** The columns that the link compares with the outer records: those of the related records, or of the junction records. */
function nextOf({ model, to, through }: Link, alias: string): Side {
	const { columns } = subjectOfModel(through?.model ?? model)
	return { columns, alias: `${alias}${through === undefined ? 'r' : 't'}`, names: through?.from ?? to }
}

function writeCount(sql: Sql, condition: Count, outer: Outer): void {
	const { compare, value } = condition
	const reaches = (number: number, isReached: boolean) =>
		writeReaches(sql, condition, number, isReached, outer)
	if (compare === 'gte' || compare === 'lt') reaches(value, compare === 'gte')
	else if (compare === 'gt' || compare === 'lte') reaches(value + 1, compare === 'gt')
	else {
		const isEqual = compare === 'eq'
		sql.add('(')
		reaches(value, isEqual)
		sql.add(isEqual ? ' and ' : ' or ')
		reaches(value + 1, !isEqual)
		sql.add(')')
	}
}

/**
 * Writes the condition that there are, or aren't, at least `number` related records. The database stops reading at this
 * number, where a count would read all. `exists` isn't used with an offset, because databases may ignore the offset there.
 */
function writeReaches(sql: Sql, match: Match, number: number, isReached: boolean, outer: Outer): void {
	if (number === 0) {
		sql.add(isReached ? '1 = 1' : '1 = 0')
		return
	}
	const { link } = match
	const mayRepeat = number > 1 && link.through !== undefined && !isTiedOnce(link, link.through, outer.columns)
	const { keys } = subjectOfModel(link.model)
	// By the key if there is one: for `isOnce`, SQLite would read each record of the table.
	const groups = mayRepeat ? keys.map((key) => columnName(sql.dialect, key, `${outer.alias}r`)) : []
	const isOnce = mayRepeat && groups.length === 0
	const { table, reads } = outer
	const isRepeated = sql.dialect.repeatsExists === true && reads === 'many' && link.isMany
	if (isRepeated && !isOnce && table !== undefined) {
		writeSet(sql.add('('), match, number, groups, outer)
		sql.add(isReached ? ') is true' : ') is not true')
		return
	}
	if (isRepeated && match.selective === true) {
		writeSet(sql.add('('), match, number, groups, outer)
		// Not `is true`, with which SQLite would read all of the statement's own records.
		const own = namesOf(sql.dialect, { ...outer, names: link.fields })
		sql.add(` and ${own.join(' is not null and ')} is not null)`)
		return
	}
	if (number === 1) {
		sql.add(isReached ? 'exists (select 1' : 'not exists (select 1')
		writeRelated(sql, match, outer)
		sql.add(')')
		return
	}
	sql.add('(select 1')
	writeRelated(sql, match, outer, { isOnce })
	if (groups.length > 0) sql.add(` group by ${groups.join(', ')}`)
	sql.add(' limit 1 offset ').number(number - 1)
	sql.add(isReached ? ') is not null' : ') is null')
}

/**
 * Writes the same condition as `… in (select …)`, whose subselect doesn't depend on the outer records and so runs once. A
 * nested `exists` would run for each outer record, repeatedly for the same ones: one request could take minutes. Not needed
 * for a link to one record, which costs a look-up by key; nor for the statement's own records, of which a list needs only
 * the first ones, unless the condition is `selective`.
 */
function writeSet(sql: Sql, match: Match, number: number, groups: readonly string[], outer: Outer): void {
	const { dialect } = sql
	const { table } = outer
	const { link } = match
	const names = namesOf(dialect, { ...outer, names: link.fields }).join(', ')
	sql.add(`${link.fields.length === 1 ? names : `(${names})`} in (select `)
	if (number === 1 || table === undefined) {
		sql.add(namesOf(dialect, nextOf(link, outer.alias)).join(', '))
		writeRelated(sql, match, outer, { isAlone: true })
	} else {
		writeGroups(sql, match, groups, { ...outer, table })
		sql.add(' having count(*) >= ').number(number)
	}
	sql.add(')')
}

/**
 * Writes the outer records' columns, and groups related records by them. Not by the related records' own columns: two texts
 * that differ there may both equal one of the outer texts, by the collation of the outer column.
 */
function writeGroups(
	sql: Sql,
	match: Match,
	groups: readonly string[],
	outer: Outer & { readonly table: Table },
): void {
	const { dialect } = sql
	const { fields } = match.link
	const alias = `${outer.alias}o`
	const names = (of: string) => namesOf(dialect, { columns: outer.columns, alias: of, names: fields })
	const table = tableName(dialect, outer.table)
	const isUnique = isUniqueIn(outer.table, fields)
	const form = {
		alias,
		table: isUnique ? table : `(select distinct ${names('').join(', ')} from ${table})`,
	}
	if (groups.length === 0) {
		const own = names(alias).join(', ')
		writeRelated(sql.add(own), match, outer, form)
		sql.add(` group by ${own}`)
		return
	}
	// A related record counts once, however many junction records lead to it.
	const own = fields.map((_, at) => `f${at}`).join(', ')
	const columns = [
		...names(alias).map((name, at) => `${name} as f${at}`),
		...groups.map((key, at) => `${key} as k${at}`),
	]
	writeRelated(sql.add(`${own} from (select distinct ${columns.join(', ')}`), match, outer, form)
	sql.add(`) ${outer.alias}d group by ${own}`)
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
