/** Statements that change records. Their texts depend on which fields are given, and are cached for each combination. */
import { timeOfDay } from '../../base/time.ts'
import { type Changes, type Condition, DEFAULT, type Guard, NOW, type Value, type Values } from '../model.ts'
import { writeCondition } from './condition.ts'
import { type Dialect, Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import type { Plan } from './plan.ts'
import type { Subject } from './subject.ts'
import {
	ALIAS,
	type Column,
	columnName,
	columnOf,
	INTEGER,
	type Table,
	tableName,
	valueOfVersion,
	valuesOfId,
} from './table.ts'
import type { KeyPart } from './text-cache.ts'

export function insertStatement(subject: Subject, values: Values, plan: Plan): Statement {
	const { gone } = subject.columns
	const { dialect } = subject
	const fields: string[] = []
	const timed: string[] = []
	for (const [field, value] of Object.entries(values)) {
		if (value === undefined || (value === null && gone.has(field))) continue
		if (value === NOW && dialect.nowFor !== undefined) timed.push(field)
		else fields.push(field)
	}
	const given = fields.map((field) => columnOf(subject.columns, field))
	const toStore = ({ name }: Column) => boundTime(values[name] ?? null)
	const custom =
		dialect.placeholderOf && given.map((column) => dialect.placeholderOf?.(toStore(column), column))
	const isCacheable = custom === undefined || custom.every((placeholder) => placeholder === undefined)
	const key = timed.length === 0 ? fields : [...fields, NOW, ...timed]
	let text = isCacheable ? plan.inserts.get(key) : undefined
	if (text === undefined) {
		const times = timed.map((field) => columnOf(subject.columns, field))
		text = insertText(subject, given, times, plan, custom)
		if (isCacheable) plan.inserts.keep(key, text)
	}
	const bound = given.map((column) => dialect.bind(toStore(column), column))
	return { text, values: bound, writes: true, joins: subject.table.hasTriggers === false }
}

/** The value to bind for `NOW`, where the database's time isn't used; all others as they are. */
export function boundTime(value: Value | typeof NOW): Value {
	return value === NOW ? new Date(timeOfDay()).toISOString() : value
}

/**
 * @param times the columns that are set to the database's time
 * @param custom the placeholders of values that need another one than their column's
 */
function insertText(
	{ table, dialect }: Subject,
	given: readonly Column[],
	times: readonly Column[],
	plan: Plan,
	custom: readonly (string | undefined)[] = [],
): string {
	const names = [...given, ...times].map(({ name }) => dialect.quote(name))
	const placeholders = given.map((column, at) => custom[at] ?? dialect.placeholder(at + 1, column))
	const all = [...placeholders, ...times.map((column) => dialect.nowFor?.(column))].join(', ')
	const row = names.length === 0 ? dialect.insertNothing : ` (${names.join(', ')}) values (${all})`
	return `insert into ${changedTable(dialect, table)}${row}${dialect.returning.insert ? plan.returning : ''}`
}

/** The version is incremented, whatever `changes` has for it. */
export function updateStatement(
	subject: Subject,
	id: string,
	changes: Changes,
	plan: Plan,
	guard: Guard,
): Statement {
	const { columns, dialect } = subject
	const assignments: Assignment[] = []
	const cacheKey: KeyPart[] = []
	let isCacheable = guard.where === undefined && dialect.keyIs === undefined
	for (const field of Object.keys(changes)) {
		const value = changes[field]
		if (value === undefined || field === plan.version?.name) continue
		// Ignored, so that a whole record can still be replaced after the column was dropped.
		if ((value === null || value === DEFAULT) && columns.gone.has(field)) continue
		const column = columnOf(columns, field)
		const assignment = assignmentOf(column, value, dialect)
		if (assignment.value === undefined) cacheKey.push(value === NOW ? NOW : DEFAULT)
		cacheKey.push(field)
		assignments.push(assignment)
		const bound = assignment.value
		if (bound !== undefined && dialect.placeholderOf?.(bound, column) !== undefined) isCacheable = false
	}
	const version = guardVersion(plan, guard)
	if (!isCacheable || version === null) return writeUpdate(subject, id, assignments, plan, guard)
	if (version !== undefined) cacheKey.push(VERSIONED)
	const ofAll = ofAllUpdates(subject, id, assignments, plan, guard, cacheKey)
	const joins = subject.table.hasTriggers === false
	const known = plan.updates.get(cacheKey)
	if (known !== undefined) {
		const values = updateValues(subject, id, assignments, plan, version)
		return { text: known, values, writes: true, joins, locks: id, ofAll }
	}
	const { text, values } = writeUpdate(subject, id, assignments, plan, guard)
	plan.updates.keep(cacheKey, text)
	return { text, values, writes: true, joins, locks: id, ofAll }
}

/** A value for a column, or SQL for it. */
export interface Assignment {
	readonly column: Column
	readonly value?: Value
	readonly sql?: string | undefined
}

/** Part of the cache key of an update that is guarded by a version. */
const VERSIONED = Symbol('versioned')

/** Part of the cache key of the text for several updates. */
const OF_ALL = Symbol('of all')

/** See `Statement.ofAll`. Not for views: their rows can't always be locked. */
function ofAllUpdates(
	{ table, columns, keys, dialect }: Subject,
	id: string,
	assignments: readonly Assignment[],
	plan: Plan,
	guard: Guard,
	ofOne: readonly KeyPart[],
): Statement['ofAll'] {
	if (dialect.updateAll === undefined || table.isView) return undefined
	return () => {
		const cacheKey = [...ofOne, OF_ALL]
		const known = plan.updates.get(cacheKey)
		if (known !== undefined) return known
		const set = new RowSql(dialect)
		writeAssignments(set, assignments, plan)
		const where = new RowSql(dialect, set.columns.length)
		writeGuarded(where, { table, columns, keys, dialect }, id, plan, guard, dialect.returningAlias)
		const text = dialect.updateAll?.({
			...{ table: changedTable(dialect, table), set: set.text, where: where.text },
			...{ columns: [...set.columns, ...where.columns], keys, keyAt: set.columns.length + 1 },
			returning: plan.returning,
		})
		if (text !== undefined) plan.updates.keep(cacheKey, text)
		return text
	}
}

/** Writes `v.c1` for the first value: see `UpdateOfAll`. */
class RowSql extends Sql {
	readonly columns: Column[] = []
	readonly #before: number

	/** @param before how many values there are before its own */
	constructor(dialect: Dialect, before = 0) {
		super(dialect)
		this.#before = before
	}

	override value(_value: Value, column: Column): this {
		return this.add(`v.c${this.#before + this.columns.push(column)}`)
	}
}

/** The values in the order of the placeholders that `writeUpdate` writes if the guard has no condition. */
function updateValues(
	{ keys, dialect }: Subject,
	id: string,
	assignments: readonly Assignment[],
	plan: Plan,
	version: Value | undefined,
): unknown[] {
	const values: unknown[] = []
	for (const { column, value } of assignments)
		if (value !== undefined) values.push(dialect.bind(value, column))
	for (const [at, value] of valuesOfId(id, keys).entries())
		values.push(dialect.bind(value, keys[at] as Column))
	if (version !== undefined && plan.version !== undefined) values.push(dialect.bind(version, plan.version))
	return values
}

function writeUpdate(
	subject: Subject,
	id: string,
	assignments: readonly Assignment[],
	plan: Plan,
	guard: Guard,
): Statement {
	const { table, dialect } = subject
	const sql = new Sql(dialect)
	sql.add(`update ${changedTable(dialect, table)}`)
	writeAssignments(sql, assignments, plan)
	sql.add(' where ')
	writeGuarded(sql, subject, id, plan, guard, dialect.returningAlias)
	if (dialect.returning.update) sql.add(plan.returning)
	return sql.statement(true)
}

/** What sets a column to a value, its default, or the time. */
export function assignmentOf(column: Column, value: Changes[string], dialect: Dialect): Assignment {
	if (value === DEFAULT) return { column, sql: dialect.defaultOf(column) }
	if (value === NOW && dialect.nowFor !== undefined) return { column, sql: dialect.nowFor(column) }
	return { column, value: boundTime(value) }
}

/** Writes ` set …`, which increments the version, too. */
export function writeAssignments(sql: Sql, assignments: readonly Assignment[], plan: Plan): void {
	const { dialect } = sql
	let between = ' set '
	for (const { column, value, sql: expression = '' } of assignments) {
		sql.add(`${between}${dialect.quote(column.name)} = `)
		if (value === undefined) sql.add(expression)
		else sql.value(value, column)
		between = ', '
	}
	if (plan.version !== undefined) {
		const name = dialect.quote(plan.version.name)
		sql.add(`${between}${name} = ${columnName(dialect, plan.version, dialect.returningAlias)} + 1`)
	}
}

export function deleteStatement(subject: Subject, id: string, plan: Plan, guard: Guard): Statement {
	const { table, dialect } = subject
	const sql = new Sql(dialect)
	sql.add(`delete from ${changedTable(dialect, table)} where `)
	writeGuarded(sql, subject, id, plan, guard, dialect.returningAlias)
	if (dialect.returning.delete) sql.add(plan.returning)
	return sql.statement(true)
}

/** What a record that is locked must match, and whether it is then deleted. */
export interface Locking extends Guard {
	readonly deletes?: boolean
}

/** The guard of a change to a record that is locked, and was found to fit. */
export const UNGUARDED: Guard = { where: undefined, version: undefined }

/** Whether a record is locked before a change, because the change itself can't check the condition. */
export function locksFirst({ dialect }: Subject, { where }: Guard): boolean {
	return dialect.checksLinksFirst === true && hasLinks(where)
}

/** Reads and locks a record that is about to be changed or deleted. Rows of views can't always be locked. */
export function lockStatement(subject: Subject, id: string, plan: Plan, guard: Locking): Statement {
	const { locked = '', lockedToDelete = locked } = subject.dialect
	const sql = new Sql(subject.dialect)
	sql.add(plan.head)
	writeGuarded(sql, subject, id, plan, guard, ALIAS)
	if (!subject.table.isView) sql.add(guard.deletes === true ? lockedToDelete : locked)
	return sql.statement(true)
}

/** Writes the condition that a record has the id and fits the guard. */
export function writeGuarded(
	sql: Sql,
	{ table, columns, keys }: Subject,
	id: string,
	plan: Plan,
	guard: Guard,
	alias: string,
): void {
	const { where } = guard
	writeId(sql, keys, alias, id)
	const value = guardVersion(plan, guard)
	if (value === null) sql.add(' and 1 = 0')
	else if (value !== undefined && plan.version !== undefined)
		sql.add(` and ${columnName(sql.dialect, plan.version, alias)} = `).value(value, plan.version)
	if (where === undefined) return
	sql.add(' and ')
	if (alias !== '' || !hasLinks(where)) {
		writeCondition(sql, where, columns, alias)
		return
	}
	// Links need an alias, which the changed table doesn't have.
	writeId(sql.add(`exists (select 1 from ${tableName(sql.dialect, table)} ${ALIAS} where `), keys, ALIAS, id)
	writeCondition(sql.add(' and '), where, columns, ALIAS)
	sql.add(')')
}

/** Writes the condition that a record has the id. */
function writeId(sql: Sql, keys: readonly Column[], alias: string, id: string): void {
	let between = ''
	for (const [at, value] of valuesOfId(id, keys).entries()) {
		const key = keys[at] as Column // there is a value for each
		sql.add(between)
		if (sql.dialect.keyIs !== undefined && typeof value === 'string')
			sql.dialect.keyIs(sql, key, alias, value)
		else sql.add(`${columnName(sql.dialect, key, alias)} = `).value(value, key)
		between = ' and '
	}
}

/** The version that the guard requires; `undefined` for any version, null for one that no record can have. */
function guardVersion(plan: Plan, { version }: Guard): Value | undefined {
	if (version === undefined) return undefined
	if (plan.version === undefined) throw new TypeError('a version is given, but the selection has none')
	return valueOfVersion(version, plan.version) ?? null
}

/** The table's name in a change, with the alias that `returning` uses. */
export function changedTable(dialect: Dialect, table: Table): string {
	const name = tableName(dialect, table)
	return dialect.returningAlias === '' ? name : `${name} as ${dialect.returningAlias}`
}

/** Reads the version of the record that fits the guard's condition; 1 if the selection has no version. */
export function presenceStatement(subject: Subject, id: string, plan: Plan, guard: Guard): Statement {
	const sql = new Sql(subject.dialect)
	const column = plan.version === undefined ? '1' : subject.dialect.exact(plan.version, ALIAS)
	sql.add(`select ${column} from ${tableName(subject.dialect, subject.table)} ${ALIAS} where `)
	writeGuarded(sql, subject, id, plan, { where: guard.where, version: undefined }, ALIAS)
	return sql.statement(false)
}

export function isVersion(stored: unknown, required: string): boolean {
	return INTEGER.test(required) && BigInt(String(stored)) === BigInt(required)
}

/** Whether a condition has links, so that it selects from other tables. */
function hasLinks(condition: Condition | undefined): boolean {
	switch (condition?.op) {
		case 'some':
		case 'count':
			return true
		case 'and':
		case 'or':
			return condition.terms.some(hasLinks)
		case 'not':
			return hasLinks(condition.term)
		default:
			return false
	}
}
