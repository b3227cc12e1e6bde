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

/** The records that a condition is about: those of a statement, or those to which a link within a condition leads. */
interface Outer {
	readonly columns: Columns
	/** The table's; empty for none. */
	readonly alias: string
	readonly reads: Reads
	/** If a link leads to them: one of them may be looked at many times. */
	readonly table?: Table
}

/** Whether a statement looks at a `few` records, which it finds by their keys, or at `many`. */
type Reads = 'few' | 'many'

/**
 * Writes a condition, in parentheses where precedence needs them. `alias` is the table's, empty for none. With `few`, links
 * are followed from each record, without reading other ones. `table` is given if a record may be looked at many times.
 *
 * @throws TypeError for a field that the table doesn't have
 */
export function writeCondition(
	sql: Sql,
	condition: Condition,
	columns: Columns,
	alias: string,
	reads: Reads = 'few',
	table?: Table,
): void {
	write(sql, condition, { columns, alias, reads, ...(table && { table }) })
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
			else sql.add(`${name} ${OPERATORS[op]} `).value(value, column)
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

/** Clients can't give more terms, scopes can. SQLite's parser nests a chain, at most 1,000 deep. */
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
/** The records that a condition asks for: those of a link that match. */
type Asked = Pick<Some, 'link' | 'where' | 'fails' | 'selective'>

/** How {@link writeRelated} writes the outer records. */
interface Within {
	/** Their table's alias. @default that of `outer` */
	readonly alias?: string
	/** Their table, if it is one of the subselect's own. */
	readonly table?: string
	/** Whether they are left out, because `in` compares with them. */
	readonly isAlone?: boolean
	/** Whether a related record is there once, even if several records in between lead to it. */
	readonly isOnce?: boolean
}

/**
 * Writes ` from … where …` of the related records that match. Their table's alias is that of the outer table with an
 * `r` at its end, so each has its own however deep conditions are nested.
 */
function writeRelated(sql: Sql, { link, where, fails }: Asked, outer: Outer, within: Within = {}): void {
	const { dialect } = sql
	const { through } = link
	const other = subjectOfModel(link.model)
	const own: Side = { columns: outer.columns, alias: within.alias ?? outer.alias, names: link.fields }
	const related: Side = { columns: other.columns, alias: `${outer.alias}r`, names: link.to }
	const next = nextOf(link, outer.alias)
	const isOfOwn =
		within.isAlone === true
			? namesOf(dialect, next).map((name) => `${name} is not null`)
			: [through === undefined ? directEquality(dialect, link, own, next) : equality(dialect, own, next)]
	const first = within.table === undefined ? '' : `${within.table} ${own.alias}, `
	sql.add(` from ${first}${tableName(dialect, other.table)} ${related.alias}`)
	if (through === undefined) sql.add(` where ${isOfOwn.join(' and ')}`)
	else {
		const source = `${tableName(dialect, subjectOfModel(through.model).table)} ${next.alias}`
		const isTied = [equality(dialect, related, { ...next, names: through.on }), ...isOfOwn].join(' and ')
		sql.add(
			within.isOnce === true
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

/** The columns that equal those of the outer records: of the related ones, or of those in between. */
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
 * Writes the condition that there are, or aren't, at least so many related records. It reads no more of them: a count
 * would read all. `exists` isn't used with an offset, because databases may ignore it there.
 */
function writeReaches(sql: Sql, asked: Asked, number: number, isReached: boolean, outer: Outer): void {
	if (number === 0) {
		sql.add(isReached ? '1 = 1' : '1 = 0')
		return
	}
	const { link } = asked
	const mayRepeat = number > 1 && link.through !== undefined && !isTiedOnce(link, link.through, outer.columns)
	const { keys } = subjectOfModel(link.model)
	// By the key where there is one: SQLite would look at each record of the table for `isOnce`.
	const groups = mayRepeat ? keys.map((key) => columnName(sql.dialect, key, `${outer.alias}r`)) : []
	const isOnce = mayRepeat && groups.length === 0
	const { table, reads } = outer
	const isRepeated = sql.dialect.repeatsExists === true && reads === 'many' && link.isMany
	if (isRepeated && !isOnce && table !== undefined) {
		writeSet(sql.add('('), asked, number, groups, outer)
		sql.add(isReached ? ') is true' : ') is not true')
		return
	}
	if (isRepeated && asked.selective === true) {
		writeSet(sql.add('('), asked, number, groups, outer)
		// Not `is true`, with which SQLite would look at each of the statement's own records.
		const own = namesOf(sql.dialect, { ...outer, names: link.fields })
		sql.add(` and ${own.join(' is not null and ')} is not null)`)
		return
	}
	if (number === 1) {
		sql.add(isReached ? 'exists (select 1' : 'not exists (select 1')
		writeRelated(sql, asked, outer)
		sql.add(')')
		return
	}
	sql.add('(select 1')
	writeRelated(sql, asked, outer, { isOnce })
	if (groups.length > 0) sql.add(` group by ${groups.join(', ')}`)
	sql.add(' limit 1 offset ').number(number - 1)
	sql.add(isReached ? ') is not null' : ') is null')
}

/**
 * Writes the same condition, on records to which a link leads, as `… in (select …)`: the subselect refers to nothing around
 * it, so it is run once. A nested `exists` is run for each record in front of the link, again and again for the same ones:
 * one request could take minutes. A link to one needs none of this: it costs a look-up by the key. Nor do the statement's
 * own records, of which a list needs only the first ones, unless the condition is `selective`.
 */
function writeSet(sql: Sql, asked: Asked, number: number, groups: readonly string[], outer: Outer): void {
	const { dialect } = sql
	const { table } = outer
	const { link } = asked
	const names = namesOf(dialect, { ...outer, names: link.fields }).join(', ')
	sql.add(`${link.fields.length === 1 ? names : `(${names})`} in (select `)
	if (number === 1 || table === undefined) {
		sql.add(namesOf(dialect, nextOf(link, outer.alias)).join(', '))
		writeRelated(sql, asked, outer, { isAlone: true })
	} else {
		writeGroups(sql, asked, groups, { ...outer, table })
		sql.add(' having count(*) >= ').number(number)
	}
	sql.add(')')
}

/**
 * Writes the outer records' columns, and related records in groups by them. Not by the related records' own columns: two
 * texts that differ there may equal the same one here, by the collation of this side.
 */
function writeGroups(
	sql: Sql,
	asked: Asked,
	groups: readonly string[],
	outer: Outer & { readonly table: Table },
): void {
	const { dialect } = sql
	const { fields } = asked.link
	const alias = `${outer.alias}o`
	const names = (of: string) => namesOf(dialect, { columns: outer.columns, alias: of, names: fields })
	const table = tableName(dialect, outer.table)
	const isUnique = isUniqueIn(outer.table, fields)
	const within = {
		alias,
		table: isUnique ? table : `(select distinct ${names('').join(', ')} from ${table})`,
	}
	if (groups.length === 0) {
		const own = names(alias).join(', ')
		writeRelated(sql.add(own), asked, outer, within)
		sql.add(` group by ${own}`)
		return
	}
	// A related record counts once, however many records in between lead to it.
	const own = fields.map((_, at) => `f${at}`).join(', ')
	const columns = [
		...names(alias).map((name, at) => `${name} as f${at}`),
		...groups.map((key, at) => `${key} as k${at}`),
	]
	writeRelated(sql.add(`${own} from (select distinct ${columns.join(', ')}`), asked, outer, within)
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
