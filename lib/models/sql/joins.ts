/** `joinedOrder`: orders by columns of other tables, to which links lead, as left joins. Called by `lists.ts`. */
import type { Condition, Link, Order } from '../model.ts'
import { writeCondition } from './condition.ts'
import type { Dialect, Sql } from './dialect.ts'
import type { OrderColumn } from './embedding.ts'
import { directEquality, groupedNames, isRelatedOnce, namesOf } from './links.ts'
import { type Subject, subjectOfModel } from './subject.ts'
import { type Columns, columnOf, tableName } from './table.ts'

/** The terms of an order, and a function that writes the joins that they need; `undefined` if they need none. */
export interface JoinedOrder {
	readonly terms: readonly OrderColumn[]
	readonly joins: ((sql: Sql) => void) | undefined
}

/** A joined table. */
interface Joined {
	readonly columns: Columns
	readonly alias: string
}

interface Join extends Joined {
	readonly from: Joined
	readonly link: Link
	readonly where: Condition | undefined
	readonly other: Subject
}

/** `alias` is the table's; those of joined tables begin with it. */
export function joinedOrder(order: readonly Order[], columns: Columns, alias: string): JoinedOrder {
	const joins: Join[] = []
	const own: Joined = { columns, alias }
	const terms = order.map(({ field, descending, via }): OrderColumn => {
		if (via === undefined) return { column: columnOf(columns, field), descending }
		let table = own
		for (const { link, where } of via) table = joinOf(joins, table, link, where, alias)
		const column = columnOf(table.columns, field)
		return { column: { ...column, nullable: true }, descending, joined: table.alias }
	})
	if (joins.length === 0) return { terms, joins: undefined }
	const write = (sql: Sql): void => {
		for (const join of joins) writeJoin(sql, join)
	}
	return { terms, joins: write }
}

/** Adds a join, unless there is one already. */
function joinOf(
	joins: Join[],
	from: Joined,
	link: Link,
	where: Condition | undefined,
	alias: string,
): Joined {
	const known = joins.find((one) => one.from === from && one.link === link && one.where === where)
	if (known !== undefined) return known
	const other = subjectOfModel(link.model)
	const join = { from, link, where, other, columns: other.columns, alias: `${alias}j${joins.length}` }
	joins.push(join)
	return join
}

function writeJoin(sql: Sql, { from, link, where, other, columns, alias }: Join): void {
	const { dialect } = sql
	const related = { columns, alias, names: link.to }
	const on = directEquality(dialect, link, { ...from, names: link.fields }, related)
	if (isRelatedOnce(link, from.columns)) {
		sql.add(` left join ${tableName(dialect, other.table)} ${alias} on ${on}`)
		if (where !== undefined) writeCondition(sql.add(' and '), where, columns, alias, 'many')
		return
	}
	// Several records may be related, and only the first one by the key is joined.
	const keys = namesOf(dialect, { ...related, names: other.table.key }).join(', ')
	const groups = groupedNames(dialect, link, from.columns, related).join(', ')
	const rank = `row_number() over (partition by ${groups}${keys === '' ? '' : ` order by ${keys}`})`
	const first = dialect.quote(FIRST)
	sql.add(
		` left join (select ${alias}.*, ${rank} as ${first} from ${tableName(dialect, other.table)} ${alias}`,
	)
	if (where !== undefined) writeCondition(sql.add(' where '), where, columns, alias, 'many')
	sql.add(`) ${alias} on ${on} and ${alias}.${first} = 1`)
}

const FIRST = 'verbena first'

/** The name of a joined column in a subselect of a page, by its place in the order. */
function sortName(at: number): string {
	return `verbena sort ${at}`
}

/** The joined columns of an order, each with a comma before it, for the select list of a page. */
export function joinedColumns({ quote }: Pick<Dialect, 'quote'>, order: readonly OrderColumn[]): string {
	const columns = order.map(({ column, joined }, at) =>
		joined === undefined ? '' : `, ${joined}.${quote(column.name)} as ${quote(sortName(at))}`,
	)
	return columns.join('')
}

/** The order outside of the page's subselect, where joined columns are the page's own. */
export function orderOfPage(order: readonly OrderColumn[]): readonly OrderColumn[] {
	return order.map((term, at) =>
		term.joined === undefined
			? term
			: { column: { ...term.column, name: sortName(at) }, descending: term.descending },
	)
}

/** The terms of `order by` within the page's subselect. */
export function orderTerms(
	dialect: Pick<Dialect, 'orderTerm'>,
	order: readonly OrderColumn[],
	alias: string,
): string {
	return order.map((term) => dialect.orderTerm(term, term.joined ?? alias)).join(', ')
}
