/**
 * Links as SQL: the join condition, which compares as a foreign key does, and whether a link can lead to a record more than
 * once. Used by `condition.ts`, `joins.ts` and `related.ts`.
 */
import type { Link } from '../model.ts'
import type { Dialect } from './dialect.ts'
import { subjectOfModel } from './subject.ts'
import { type Columns, columnName, columnOf, isUniqueIn } from './table.ts'

/** The columns of a link in one of its tables. */
export interface Side {
	readonly columns: Columns
	readonly alias: string
	readonly names: readonly string[]
}

/** The join condition. SQLite compares by the collation of the left side, and in foreign keys by that of the referenced side. */
export function equality(dialect: Dialect, referenced: Side, referring: Side): string {
	const names = namesOf(dialect, referring)
	return namesOf(dialect, referenced)
		.map((name, at) => `${name} = ${names[at]}`)
		.join(' and ')
}

/** The join condition of a link without junction records. */
export function directEquality(dialect: Dialect, link: Link, own: Side, related: Side): string {
	return refersBack(link) ? equality(dialect, own, related) : equality(dialect, related, own)
}

function refersBack({ isMany, refersBack = isMany }: Link): boolean {
	return refersBack
}

export function namesOf(dialect: Dialect, { columns, alias, names }: Side): readonly string[] {
	return names.map((field) => columnName(dialect, columnOf(columns, field), alias))
}

/** Whether a link without junction records leads to at most one record. */
export function isRelatedOnce(link: Link, columns: Columns): boolean {
	const { table, columns: others } = subjectOfModel(link.model)
	return (
		isUniqueIn(table, link.to) && (!refersBack(link) || distinguishes(others, link.to, columns, link.fields))
	)
}

/** Whether at most one junction record leads from a record to a related one. `columns` are those of the former. */
export function isTiedOnce({ model, fields, to }: Link, through: Through, columns: Columns): boolean {
	const { from, on } = through
	const { table, columns: between } = subjectOfModel(through.model)
	return (
		isUniqueIn(table, [...from, ...on]) &&
		distinguishes(between, from, columns, fields) &&
		distinguishes(between, on, subjectOfModel(model).columns, to)
	)
}

export type Through = NonNullable<Link['through']>

/** Whether texts that differ in the referring columns also differ by the collations of the referenced columns. */
function distinguishes(
	referring: Columns,
	names: readonly string[],
	referred: Columns,
	others: readonly string[],
): boolean {
	return names.every((name, at) => {
		const { collation } = columnOf(referred, others[at] ?? '')
		return collation === undefined || collation === columnOf(referring, name).collation
	})
}

/** For `partition by`: the columns of related records, equal if the records belong to the same one. */
export function groupedNames(
	dialect: Dialect,
	link: Link,
	columns: Columns,
	related: Side,
): readonly string[] {
	const names = namesOf(dialect, related)
	if (!refersBack(link)) return names
	return names.map((name, at) => {
		const { collation } = columnOf(columns, link.fields[at] ?? '')
		return collation === undefined ? name : `${name} collate ${collation}`
	})
}
