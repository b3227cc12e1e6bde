/** The statements that change records. Their texts depend on which fields are given, and are kept for each choice. */
import { type Changes, DEFAULT, type Guard, type Value, type Values } from '../model.ts'
import { writeCondition } from './condition.ts'
import { type Dialect, Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import type { Plan } from './plan.ts'
import {
	ALIAS,
	type Column,
	type Columns,
	columnName,
	columnOf,
	INTEGER,
	type Table,
	tableName,
	valueOfId,
	valueOfVersion,
} from './table.ts'
import type { KeyPart } from './text-cache.ts'

/** What a model's statements are about. */
export interface Subject {
	readonly table: Table
	readonly columns: Columns
	readonly key: Column
	readonly dialect: Dialect
}

/** Its text depends on nothing but which fields are given. */
export function insertStatement(subject: Subject, values: Values, plan: Plan): Statement {
	const { gone } = subject.columns
	const fields = Object.keys(values).filter(
		(field) => values[field] !== undefined && !(values[field] === null && gone.has(field)),
	)
	const given = fields.map((field) => columnOf(subject.columns, field))
	const bound = given.map((column) => subject.dialect.bind(values[column.name] ?? null, column))
	const places = unusualPlaces(subject, given, values)
	let text = places === undefined ? plan.inserts.get(fields) : insertText(subject, given, plan, places)
	if (text === undefined) {
		text = insertText(subject, given, plan)
		plan.inserts.keep(fields, text)
	}
	return { text, values: bound, writes: true, joins: subject.table.hasTriggers === false }
}

/** The placeholders, where one of the values needs another than its column's. */
function unusualPlaces({ dialect }: Subject, given: readonly Column[], values: Values): string[] | undefined {
	if (dialect.placeholderOf === undefined) return undefined
	let places: string[] | undefined
	for (const [at, column] of given.entries()) {
		const place = dialect.placeholderOf(values[column.name] ?? null, column)
		if (place === undefined) continue
		places ??= usualPlaces(dialect, given)
		places[at] = place
	}
	return places
}

function usualPlaces(dialect: Dialect, given: readonly Column[]): string[] {
	return given.map((column, at) => dialect.placeholder(at + 1, column))
}

function insertText(
	{ table, dialect }: Subject,
	given: readonly Column[],
	plan: Plan,
	places: readonly string[] = usualPlaces(dialect, given),
): string {
	const names = given.map(({ name }) => dialect.quote(name)).join(', ')
	const what = given.length === 0 ? dialect.insertNothing : ` (${names}) values (${places.join(', ')})`
	return `insert into ${changed(dialect, table)}${what}${dialect.returning.insert ? plan.returning : ''}`
}

/** The version goes up whatever `changes` say of it. */
export function updateStatement(
	subject: Subject,
	id: string,
	changes: Changes,
	plan: Plan,
	guard: Guard,
): Statement {
	const { columns, dialect } = subject
	const given: Given[] = []
	const steps: KeyPart[] = []
	let isUsual = true
	for (const field of Object.keys(changes)) {
		const value = changes[field]
		if (value === undefined || field === plan.version?.name) continue
		// A record is replaced by what remains of it.
		if ((value === null || value === DEFAULT) && columns.gone.has(field)) continue
		if (value === DEFAULT) steps.push(DEFAULT)
		steps.push(field)
		const column = columnOf(columns, field)
		given.push({ column, value })
		if (value !== DEFAULT && dialect.placeholderOf?.(value, column) !== undefined) isUsual = false
	}
	const version = guardVersion(plan, guard)
	const isPlain = isUsual && guard.where === undefined && dialect.keyIs === undefined && version !== null
	if (!isPlain) return writeUpdate(subject, id, given, plan, guard)
	if (version !== undefined) steps.push(VERSIONED)
	const text = plan.updates.get(steps)
	if (text !== undefined)
		return { text, values: updateValues(subject, id, given, plan, version), writes: true }
	const statement = writeUpdate(subject, id, given, plan, guard)
	plan.updates.keep(steps, statement.text)
	return statement
}

/** What is said of one column by an update. */
interface Given {
	readonly column: Column
	readonly value: Value | typeof DEFAULT
}

/** The step of an update that asks for a version. */
const VERSIONED = Symbol('versioned')

/** In the order of the placeholders that `writeUpdate` writes where there is no condition. */
function updateValues(
	{ key, dialect }: Subject,
	id: string,
	given: readonly Given[],
	plan: Plan,
	version: Value | undefined,
): unknown[] {
	const values: unknown[] = []
	for (const { column, value } of given) if (value !== DEFAULT) values.push(dialect.bind(value, column))
	values.push(dialect.bind(valueOfId(id, key), key))
	if (version !== undefined && plan.version !== undefined) values.push(dialect.bind(version, plan.version))
	return values
}

function writeUpdate(
	subject: Subject,
	id: string,
	given: readonly Given[],
	plan: Plan,
	guard: Guard,
): Statement {
	const { table, dialect } = subject
	const sql = new Sql(dialect)
	sql.add(`update ${changed(dialect, table)}`)
	let between = ' set '
	for (const { column, value } of given) {
		sql.add(`${between}${dialect.quote(column.name)} = `)
		if (value === DEFAULT) sql.add(dialect.defaultOf(column))
		else sql.value(value, column)
		between = ', '
	}
	if (plan.version !== undefined) {
		const name = dialect.quote(plan.version.name)
		sql.add(`${between}${name} = ${columnName(dialect, plan.version, dialect.returningAlias)} + 1`)
	}
	sql.add(' where ')
	writeGuarded(sql, subject, id, plan, guard, dialect.returningAlias)
	if (dialect.returning.update) sql.add(plan.returning)
	return sql.statement(true)
}

export function deleteStatement(subject: Subject, id: string, plan: Plan, guard: Guard): Statement {
	const { table, dialect } = subject
	const sql = new Sql(dialect)
	sql.add(`delete from ${changed(dialect, table)} where `)
	writeGuarded(sql, subject, id, plan, guard, dialect.returningAlias)
	if (dialect.returning.delete) sql.add(plan.returning)
	return sql.statement(true)
}

/** Reads the record that is about to be deleted, and keeps others from changing it before. */
export function lockStatement(subject: Subject, id: string, plan: Plan, guard: Guard): Statement {
	const sql = new Sql(subject.dialect)
	sql.add(plan.head)
	writeGuarded(sql, subject, id, plan, guard, ALIAS)
	sql.add(' for update')
	return sql.statement(true)
}

/** Writes which record is meant: the one with the id, within the guard. */
export function writeGuarded(
	sql: Sql,
	{ columns, key }: Subject,
	id: string,
	plan: Plan,
	guard: Guard,
	alias: string,
): void {
	const { where } = guard
	if (sql.dialect.keyIs !== undefined) sql.dialect.keyIs(sql, key, alias, id)
	else sql.add(`${columnName(sql.dialect, key, alias)} = `).value(valueOfId(id, key), key)
	const value = guardVersion(plan, guard)
	if (value === null) sql.add(' and 1 = 0')
	else if (value !== undefined && plan.version !== undefined)
		sql.add(` and ${columnName(sql.dialect, plan.version, alias)} = `).value(value, plan.version)
	if (where !== undefined) {
		sql.add(' and ')
		writeCondition(sql, where, columns, alias)
	}
}

/** The version that is asked for; `undefined` for any, null for what no version can be. */
function guardVersion(plan: Plan, { version }: Guard): Value | undefined {
	if (version === undefined) return undefined
	if (plan.version === undefined) throw new TypeError('a version is given, but the selection has none')
	return valueOfVersion(version, plan.version) ?? null
}

/** The table of a change, under the alias by which `returning` knows it. */
function changed(dialect: Dialect, table: Table): string {
	const name = tableName(dialect, table)
	return dialect.returningAlias === '' ? name : `${name} as ${dialect.returningAlias}`
}

/** Reads the record's version, if the selection has one; within the condition, whatever the version is. */
export function presenceStatement(subject: Subject, id: string, plan: Plan, guard: Guard): Statement {
	const sql = new Sql(subject.dialect)
	const what = plan.version === undefined ? '1' : subject.dialect.exact(plan.version, ALIAS)
	sql.add(`select ${what} from ${tableName(subject.dialect, subject.table)} ${ALIAS} where `)
	writeGuarded(sql, subject, id, plan, { where: guard.where, version: undefined }, ALIAS)
	return sql.statement(false)
}

/** Whether a stored version is the one that was asked for. */
export function isVersion(stored: unknown, asked: string): boolean {
	return INTEGER.test(asked) && BigInt(String(stored)) === BigInt(asked)
}
