/** `referencesTo`: the foreign keys of a table that refer to another one. Called by `sql-model.ts`. */
import type { Reference } from '../model.ts'
import type { LiveTable } from './live-table.ts'
import type { Base, Target } from './table.ts'

/**
 * The foreign keys of a table that refer to `other`, a table of the same database. A writable view stands for the table
 * behind it, as far as it has the columns. Columns that were added after a model was opened aren't its fields.
 */
export function referencesTo({ subject, opened }: LiveTable, other: LiveTable): readonly Reference[] {
	const own = new Set(opened.columns.map(({ name }) => name))
	const found = new Map<string, Reference>()
	for (const { columns, target } of subject.table.constraints) {
		if (target === undefined || !columns.every((name) => own.has(name))) continue
		const to = fieldsAt(target, other)
		if (to === undefined || to.length !== columns.length) continue
		// Two constraints may be the same.
		const pairs = columns.map((name, at) => JSON.stringify([name, to[at]]))
		const name = pairs.sort().join()
		if (!found.has(name)) found.set(name, { fields: columns, to })
	}
	return [...found.values()]
}

/** The fields of a model for the columns of a target; `undefined` if the target is another table, or a column is missing. */
function fieldsAt(target: Target, { subject, opened }: LiveTable): readonly string[] | undefined {
	const { table, columns, dialect } = subject
	const { base = table } = table
	const place = ({ schema = dialect.defaultSchema, name }: Pick<Base, 'schema' | 'name'>) => {
		const text = JSON.stringify([schema, name])
		return dialect.foldsNames === true ? text.toLowerCase() : text
	}
	if (place(base) !== place(target)) return undefined
	const fields = target.columns.map((name) =>
		table.base === undefined ? name : table.base.columns.get(name),
	)
	const isField = (name: string | undefined): name is string =>
		name !== undefined && columns.has(name) && opened.columns.some((column) => column.name === name)
	return fields.every(isField) ? fields : undefined
}
