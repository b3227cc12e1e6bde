/**
 * Related records within a record's JSON (`Selection.related`): a subselect for each, so that the database writes them in
 * the statement that reads the record. Called by `plan.ts`; the dialects' lists call `recordOf` and `fillMarks`.
 *
 * Where only Node can write the JSON, the database writes a mark, which `fillMarks` replaces. JSON has no U+0002, so no stored
 * value looks like a mark. There are three kinds:
 *
 * - `U+0002 n:values U+0002` for a list's cursor: the number of the list, and the sort values as JSON
 * - `U+0002 x:00ff U+0002` for bytes, which SQLite can't write as base64
 * - `U+0002 l0:450000,[7] U+0002` for the members of a large record, which `apart.ts` reads once: the number in
 *   `Embedded.apart`, the record's size and its key
 */
import type { Bytes } from '../../base/time.ts'
import type { Link, Related, Selection } from '../model.ts'
import { MAX_PAGE_BYTES, ModelError } from '../model-error.ts'
import { writeCondition } from './condition.ts'
import { type Dialect, type RecordSql, Sql } from './dialect.ts'
import {
	type Embedded,
	type EmbeddedTotal,
	type LargeSql,
	type Member,
	type OrderColumn,
	type ReadApart,
	type Selected,
	Unread,
} from './embedding.ts'
import { joinedOrder, orderTerms } from './joins.ts'
import { directEquality, equality, isTiedOnce, namesOf, type Through } from './links.ts'
import { subjectOfModel } from './subject.ts'
import { type Column, type Columns, columnOf, isUniqueIn, tableName } from './table.ts'

/** The code of U+0002, for `chr` and `char`. */
export const MARK_CODE = 2
const MARK = '\x02'
/** In a mark, in the place of a list's number. */
export const BYTES = 'x'
/** In a mark, before the number in `Embedded.apart`. */
const LARGE = 'l'

/** A table and its alias within a statement. */
interface Named {
	readonly columns: Columns
	readonly alias: string
	/** Whether a record may occur several times, as a tag does within each of its articles. */
	readonly repeats?: boolean
}

interface Compiled extends Embedded {
	readonly columns: Column[]
	readonly lists: Embedded['lists'][number][]
	readonly apart: Embedded['apart'][number][]
}

/** The selection's columns; those that are gone are left out. */
export function selectedOf({ fields, names }: Selection, columns: Columns): readonly Selected[] {
	return fields.flatMap((field, at) => {
		if (columns.gone.has(field)) return []
		const as = names[at]
		if (as === undefined) throw new TypeError(`the selection has no name for ${JSON.stringify(field)}`)
		return { column: columnOf(columns, field), as }
	})
}

/** The selection's related records as SQL; `undefined` if it has none. */
export function embeddedOf(
	dialect: Dialect,
	{ related = [] }: Selection,
	outer: Named,
): Embedded | undefined {
	if (related.length === 0) return undefined
	const sql = new Sql(dialect)
	const compiled: Compiled = { members: [], values: sql.values, columns: [], lists: [], apart: [] }
	return { ...compiled, members: membersOf(sql, related, outer, compiled) }
}

/** A record's JSON, with its related records. */
export function recordOf(
	dialect: Dialect,
	selected: readonly Selected[],
	alias: string,
	embedded: Embedded | undefined,
): RecordSql {
	if (embedded === undefined || dialect.embedding === undefined) return dialect.record(selected, alias)
	const expression = dialect.embedding.record(selected, alias, embedded.members)
	return { expressions: [expression], json: (row) => fillMarks(row[0], embedded, dialect) }
}

/**
 * Replaces the marks in a text of the database.
 *
 * @throws TypeError if it isn't a text
 * @throws Unread for marks of large records that aren't in `apart`
 */
export function fillMarks(
	text: unknown,
	{ lists, apart: parts }: Pick<Embedded, 'lists' | 'apart'>,
	{ embedding }: Dialect,
	apart: ReadApart = new Map(),
): string {
	if (typeof text !== 'string')
		throw new TypeError(`the database has returned ${typeof text} for a record, not text`)
	const unread = new Map<number, Set<string>>()
	let bytes = 0
	let filled = ''
	let end = 0
	for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, end)) {
		const colon = text.indexOf(':', at)
		const close = text.indexOf(MARK, colon)
		const name = text.slice(at + 1, colon)
		const content = text.slice(colon + 1, close)
		filled += text.slice(end, at)
		end = close + 1
		if (name === BYTES) {
			filled += `"${Buffer.from(content, 'hex').toString('base64')}"`
			continue
		}
		if (name.startsWith(LARGE)) {
			const number = Number(name.slice(LARGE.length))
			const own = apart.get(text.slice(at + 1, close))
			// One record may be in so many places that the text would be too long for a string.
			if (filled.length > MAX_PAGE_BYTES) throw new ModelError('too_large')
			if (own !== undefined) filled += own
			else {
				bytes += Number.parseInt(content, 10) / (parts[number]?.factor ?? 1)
				unread.set(number, (unread.get(number) ?? new Set()).add(content))
			}
			continue
		}
		const list = lists[Number(name)]
		if (list === undefined) throw new TypeError('the database has returned a mark that no list has')
		filled += JSON.stringify(list.cursor(embedding?.next?.(content, list.order) ?? content))
	}
	if (unread.size > 0) throw new Unread(unread, bytes)
	return end === 0 ? text : filled + text.slice(end)
}

/** SQL for each of the related records. Values are added in the order of the placeholders. */
function membersOf(sql: Sql, related: readonly Related[], outer: Named, compiled: Compiled): Member[] {
	return related.map((one) => ({ as: one.name, sql: relatedText(sql, one, outer, compiled) }))
}

function relatedText(sql: Sql, related: Related, outer: Named, compiled: Compiled): string {
	const { link, selection, where, list, maxBytes } = related
	const { embedding } = sql.dialect
	if (embedding === undefined)
		throw new TypeError(`${link.model.name} can't be read together with another table`)
	const { table, columns, keys } = subjectOfModel(link.model)
	// One letter longer than the outer alias, so that conditions and nested records can refer to both.
	const alias = `${outer.alias}e`
	const repeats = outer.repeats === true || link.through !== undefined
	const selected = selectedOf(selection, columns)
	for (const { column } of selected) compiled.columns.push(column)
	const unsorted = (joins?: (sql: Sql) => void) =>
		textOf(sql, () => {
			const others = isJoined(link, outer) ? `${betweenText(sql.dialect, link, alias)}, ` : ''
			sql.add(` from ${others}${tableName(sql.dialect, table)} ${alias}`)
			joins?.(sql)
			writeLink(sql.add(' where '), link, outer, { columns, alias })
			if (where === undefined) return
			writeCondition(sql.add(' and '), where, columns, alias, 'many', repeats ? table : undefined)
		})
	const sorted = (terms: readonly OrderColumn[], joins?: (sql: Sql) => void) =>
		`${unsorted(joins)}${terms.length === 0 ? '' : ` order by ${orderTerms(sql.dialect, termsBetween(terms, link, outer, alias), alias)}`}`
	const record = () => {
		const large =
			maxBytes === undefined ? undefined : largeOf(sql, related, selected, maxBytes, alias, compiled)
		const members = membersOf(sql, selection.related ?? [], { columns, alias, repeats }, compiled)
		return embedding.record(selected, alias, members, large)
	}
	if (list === undefined) {
		const isOne = link.through === undefined && isUniqueIn(table, link.to)
		const order = isOne ? [] : keys.map((column) => ({ column, descending: false }))
		return `coalesce((select ${record()}${sorted(order)} limit 1), 'null')`
	}
	const { limit, count, cursor } = list
	if (!Number.isSafeInteger(limit) || limit < 0)
		throw new RangeError(`a limit must be a whole number from 0 on, got ${String(limit)}`)
	const { terms: order, joins } = joinedOrder(list.order, columns, alias)
	const number = compiled.lists.push({ order, cursor }) - 1
	const total = count === undefined ? undefined : totalOf(count, unsorted)
	if (limit === 0) {
		const start = `'{"data":[],"meta":{"limit":0,"next":null`
		return total === undefined ? `${start}}}'` : `${start},"total":' || ${total.sql()} || '}}'`
	}
	const source = () => sorted(order, joins)
	return embedding.list({
		...{ record, source, unsorted: () => unsorted(), alias },
		order,
		limit,
		total,
		number,
	})
}

/** Key types whose values are written exactly in marks, so that records are found by them. */
const KEY_TYPES: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid'])

/** SQL for large records; `undefined` if no record can be large, or they can't be read by their key. */
function largeOf(
	{ dialect: { embedding } }: Sql,
	{ link: { model }, where }: Related,
	selected: readonly Selected[],
	maxBytes: Bytes,
	alias: string,
	{ apart }: Compiled,
): LargeSql | undefined {
	const { keys } = subjectOfModel(model)
	const sizeIn = (of: string) => embedding?.size?.(selected, of)
	const keyIn = (of: string) => embedding?.key?.(keys, of)
	const size = sizeIn(alias)
	if (size === undefined || keys.length === 0 || !keys.every(({ type }) => KEY_TYPES.has(type)))
		return undefined
	const mark = (of: string) => `(${sizeIn(of)?.sql}) || ',' || ${keyIn(of)}`
	const number = apart.push({ model, selected, where, mark, factor: size.factor }) - 1
	return {
		condition: `${size.sql} > ${maxBytes}`,
		mark: `'${MARK}${LARGE}${number}:' || ${mark(alias)} || '${MARK}'`,
	}
}

/** Returns the text that `write` writes, without adding it to the statement. */
function textOf(sql: Sql, write: () => void): string {
	const before = sql.text
	sql.text = ''
	write()
	const written = sql.text
	sql.text = before
	return written
}

/** Writes the condition that records are related to the outer one. */
function writeLink(sql: Sql, link: Link, outer: Named, related: Named): void {
	const { dialect } = sql
	const { fields, to, through } = link
	const own = { ...outer, names: fields }
	const target = { ...related, names: to }
	if (through === undefined) {
		sql.add(directEquality(dialect, link, own, target))
		return
	}
	const between = betweenOf(through, related.alias)
	const on = { ...between, names: through.on }
	const ofOwn = equality(dialect, own, { ...between, names: through.from })
	if (isJoined(link, outer)) {
		sql.add(`${equality(dialect, target, on)} and ${ofOwn}`)
		return
	}
	const keys = namesOf(dialect, target).join(', ')
	// Not a join, so that a related record occurs once, however many junction records lead to it.
	sql.add(`${to.length === 1 ? keys : `(${keys})`} in (select ${namesOf(dialect, on).join(', ')}`)
	sql.add(` from ${betweenText(dialect, link, related.alias)} where ${ofOwn})`)
}

/** The table of the junction records; `alias` is that of the related records. */
function betweenOf({ model }: Through, alias: string): Named {
	return { columns: subjectOfModel(model).columns, alias: `${alias}m` }
}

function betweenText(dialect: Dialect, { through }: Link, alias: string): string {
	if (through === undefined) return ''
	return `${tableName(dialect, subjectOfModel(through.model).table)} ${betweenOf(through, alias).alias}`
}

/**
 * Whether the junction records are joined, because only one of them leads to each related record. A join reads no more of
 * them than needed, while SQLite collects all for `in`. Not for texts: different ones may be equal in the other collation.
 */
function isJoined(link: Link, outer: Named): boolean {
	const { model, to, through } = link
	const { columns } = subjectOfModel(model)
	if (through === undefined || to.some((name) => columnOf(columns, name).type === 'text')) return false
	return !subjectOfModel(through.model).table.isView && isTiedOnce(link, through, outer.columns)
}

/** Sorts by columns of the junction table instead of the related columns that equal them: SQLite can use only its index. */
function termsBetween(
	terms: readonly OrderColumn[],
	link: Link,
	outer: Named,
	alias: string,
): readonly OrderColumn[] {
	const { to, through } = link
	if (through === undefined || !isJoined(link, outer)) return terms
	const between = betweenOf(through, alias)
	return terms.map((term) => {
		const name = term.joined === undefined ? through.on[to.indexOf(term.column.name)] : undefined
		if (name === undefined) return term
		const column = { ...columnOf(between.columns, name), nullable: false }
		return { ...term, column, joined: between.alias }
	})
}

function totalOf(count: number, source: () => string): EmbeddedTotal {
	const all = 'cast(count(*) as text)'
	if (count === Number.POSITIVE_INFINITY)
		return { sql: () => `(select ${all}${source()})`, max: Number.MAX_SAFE_INTEGER }
	if (!Number.isSafeInteger(count) || count < 0)
		throw new RangeError(`a count must be a whole number from 0 on or Infinity, got ${String(count)}`)
	const number = `case when count(*) > ${count} then '${count},"more":true' else ${all} end`
	return { sql: () => `(select ${number} from (select 1${source()} limit ${count + 1}) n)`, max: count }
}
