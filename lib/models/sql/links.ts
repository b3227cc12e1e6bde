/**
 * Links as SQL: the condition that two records belong together, compared as a foreign key does, and whether records in between
 * lead there once. Used by `condition.ts`, `joins.ts` and `related.ts`.
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

/** The condition of a link. SQLite compares texts by the collation of the left side, which is the referenced one's in its foreign keys. */
export function equality(dialect: Dialect, referenced: Side, referring: Side): string {
	const names = namesOf(dialect, referring)
	return namesOf(dialect, referenced)
		.map((name, at) => `${name} = ${names[at]}`)
		.join(' and ')
}

/** The condition of a link without records in between. */
export function directEquality(dialect: Dialect, link: Link, own: Side, related: Side): string {
	return refersBack(link) ? equality(dialect, own, related) : equality(dialect, related, own)
}

function refersBack({ isMany, refersBack = isMany }: Link): boolean {
	return refersBack
}

export function namesOf(dialect: Dialect, { columns, alias, names }: Side): readonly string[] {
	return names.map((field) => columnName(dialect, columnOf(columns, field), alias))
}

/** Whether at most one record is related to each one by a link without records in between. */
export function isRelatedOnce(link: Link, columns: Columns): boolean {
	const { table, columns: others } = subjectOfModel(link.model)
	return (
		isUniqueIn(table, link.to) && (!refersBack(link) || distinguishes(others, link.to, columns, link.fields))
	)
}

/** Whether at most one record in between leads from a record to another. `columns` are those of the records. */
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

/** Whether texts that differ in the referring columns differ by the collations of those that are referred to, too. */
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

/** The columns of related records that are equal where the records belong to the same one, for `partition by`. */
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
