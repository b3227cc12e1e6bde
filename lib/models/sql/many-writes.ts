/** The statements of `many.ts`: inserts of several records, and `on conflict`. */
import { NOW, type Upsert, type Values } from '../model.ts'
import { writeCondition } from './condition.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import type { Plan } from './plan.ts'
import type { Subject } from './subject.ts'
import { ALIAS, type Column, columnOf } from './table.ts'
import { type Assignment, assignmentOf, boundTime, changedTable, writeAssignments } from './writes.ts'

/** The fields of a new record that have a value; null for a column that is gone counts as none. */
export function givenFields({ columns }: Subject, values: Values): readonly string[] {
	return Object.keys(values).filter((field) => {
		const value = values[field]
		return value !== undefined && (value !== null || !columns.gone.has(field))
	})
}

/**
 * Inserts several records, all of which fit into one statement.
 *
 * @param isAlike whether all have a value for each of `fields`
 */
export function rowsStatement(
	subject: Subject,
	fields: readonly string[],
	rows: readonly Values[],
	isAlike: boolean,
	plan: Plan,
): Statement {
	const { table, dialect, columns } = subject
	const all = fields.map((field) => columnOf(columns, field))
	const times =
		dialect.nowFor === undefined ? [] : all.filter(({ name }) => rows.every((row) => row[name] === NOW))
	const given = all.filter((column) => !times.includes(column))
	const isPlain =
		isAlike && given.length > 0 && !given.some(({ name }) => rows.some((row) => row[name] === NOW))
	const also = times.map((column) => dialect.nowFor?.(column) ?? '')
	const names = [...given, ...times].map(({ name }) => dialect.quote(name)).join(', ')
	const sql = new Sql(dialect)
	sql.add(`insert into ${changedTable(dialect, table)} (${names})`)
	if (!isPlain || dialect.rows?.write?.(sql, given, rows, also) !== true) {
		let before = ' values ('
		for (const row of rows) {
			sql.add(before)
			writeRow(sql, given, row, also)
			before = '), ('
		}
		sql.add(')')
	}
	return sql.add(plan.returning).statement(true)
}

/** @param also expressions that follow the columns' values */
function writeRow(sql: Sql, given: readonly Column[], row: Values, also: readonly string[]): void {
	const { dialect } = sql
	let between = ''
	for (const column of given) {
		const value = row[column.name]
		sql.add(between)
		between = ', '
		if (value === undefined) sql.add('default')
		else if (value === NOW && dialect.nowFor !== undefined) sql.add(dialect.nowFor(column))
		else sql.value(boundTime(value), column)
	}
	for (const expression of also) {
		sql.add(`${between}${expression}`)
		between = ', '
	}
}

/** Creates a record, or changes the one in its way if that matches the condition; see `Dialect.isInserted`. */
export function upsertStatement(
	subject: Subject,
	{ values, on, changes, where }: Upsert,
	plan: Plan,
): Statement {
	const { table, dialect, columns } = subject
	const given = givenFields(subject, values).map((field) => columnOf(columns, field))
	const sql = new Sql(dialect)
	const names = given.map(({ name }) => dialect.quote(name)).join(', ')
	sql.add(`insert into ${changedTable(dialect, table)} (${names}) values (`)
	writeRow(sql, given, values, [])
	sql.add(`) on conflict (${on.map((name) => dialect.quote(name)).join(', ')}) do update`)
	const assignments: Assignment[] = []
	for (const field of Object.keys(changes)) {
		const value = changes[field]
		if (value === undefined || field === plan.version?.name) continue
		assignments.push(assignmentOf(columnOf(columns, field), value, dialect))
	}
	writeAssignments(sql, assignments, plan)
	if (where !== undefined) writeCondition(sql.add(' where '), where, columns, ALIAS)
	return sql.add(`${plan.returning}, ${dialect.isInserted}`).statement(true)
}
