/**
 * Creates several records, in as few statements as the database allows: one if it returns the inserted rows. Called by
 * `sql-model.ts`; `upsert.ts` also uses `writeRow`.
 */
import { type Created, type Model, NOW, type Selection, type Value, type Values } from '../model.ts'
import { errorAt, isAboutRecord, ModelError } from '../model-error.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import type { Plan } from './plan.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { type Column, columnOf, missingKey } from './table.ts'
import { boundTime, changedTable } from './writes.ts'

/** The model that is written to. */
export interface Target {
	readonly subject: Subject
	readonly plan: Plan
	readonly selection: Selection
	readonly runner: Runner
	/** The model in a transaction. */
	within(runner: Runner): Model
}

export async function createMany(to: Target, values: readonly Values[]): Promise<readonly Created[]> {
	try {
		const created = await createTogether(to, values)
		if (created !== undefined) return created
	} catch (error) {
		if (!isAboutRecord(error)) throw error
	}
	// The database doesn't say which record an error is about.
	return createEach(to, values)
}

/** In as few statements as possible; `undefined` if that can't be done. */
async function createTogether(
	to: Target,
	values: readonly Values[],
): Promise<readonly Created[] | undefined> {
	const { subject, plan, runner } = to
	const { dialect, table } = subject
	if (values.length < 2 || dialect.rereads === true || !dialect.returning.insert) return undefined
	const statements = insertStatements(subject, values, plan)
	if (statements === undefined) return undefined
	const insert = async (on: Runner): Promise<readonly Created[]> => {
		const created: Created[] = []
		for (const statement of statements) {
			const { rows } = await on.run(statement)
			const { found, id } = plan.returnedRow
			const some: Created[] = []
			for (const row of rows) {
				const { json, version } = found(row)
				some.push({ id: id(row), json, version })
			}
			if (dialect.rows?.isUnordered === true) some.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
			for (const one of some) created.push(one)
		}
		// A trigger has skipped some. Without a transaction, because the trigger is new, the others are stored.
		if (created.length !== values.length) throw new ModelError(on === runner ? 'outcome_unknown' : 'refused')
		return created
	}
	const mayBeSkipped = dialect.skipsSilently && table.hasTriggers !== false
	const isAtomic = statements.length === 1 && !runner.isInTransaction && !mayBeSkipped
	return isAtomic ? insert(runner) : runner.transaction(insert)
}

function insertStatements(
	subject: Subject,
	values: readonly Values[],
	plan: Plan,
): readonly Statement[] | undefined {
	const { rows } = subject.dialect
	if (rows === undefined || values.some((one) => missingKey(subject.keys, one) !== undefined))
		return undefined
	const given = rowsOf(subject, values)
	const { length } = given.fields
	if (length === 0 || !(given.lists !== undefined || rows.hasDefaults)) return undefined
	if (rows.isUnordered === true && !isCounted(subject, given.fields)) return undefined
	const perStatement = Math.max(1, Math.floor(rows.maxValues / length))
	if (values.length <= perStatement) return [rowsStatement(subject, given, plan)]
	const statements: Statement[] = []
	for (let from = 0; from < values.length; from += perStatement) {
		const part = <T>(list: readonly T[]) => list.slice(from, from + perStatement)
		const some = { fields: given.fields, records: part(values), lists: given.lists?.map(part) }
		statements.push(rowsStatement(subject, some, plan))
	}
	return statements
}

interface Rows {
	/** The fields that any of the records has a value for. */
	readonly fields: readonly string[]
	readonly records: readonly Values[]
	/** For each field the values of all records; `undefined` if a record has none for one. */
	readonly lists: readonly Values[string][][] | undefined
}

function rowsOf(subject: Subject, records: readonly Values[]): Rows {
	const [first = {}] = records
	const alike = listsOf(subject, givenFields(subject, first), records)
	if (alike !== undefined) return alike
	const given = records.map((one) => givenFields(subject, one))
	const fields = [...new Set(given.flat())]
	if (!given.every(({ length }) => length === fields.length)) return { fields, records, lists: undefined }
	return { fields, records, lists: fields.map((field) => records.map((one) => one[field] ?? null)) }
}

/** The fast path, in one pass; `undefined` unless each record has the same fields in the same order. */
function listsOf(
	{ columns }: Subject,
	fields: readonly string[],
	records: readonly Values[],
): Rows | undefined {
	const lists = fields.map((): Values[string][] => [])
	for (const record of records) {
		const names = Object.keys(record)
		if (names.length !== fields.length) return undefined
		for (const [at, list] of lists.entries()) {
			const name = names[at] ?? ''
			const value = record[name]
			const isAbsent = value === undefined || (value === null && columns.gone.has(name))
			if (isAbsent || name !== fields[at]) return undefined
			list.push(value)
		}
	}
	return { fields, records, lists }
}

/** Whether the key is a serial number. */
function isCounted({ keys }: Subject, fields: readonly string[]): boolean {
	const [key, ...others] = keys
	const isNumber = key?.type === 'integer' || key?.type === 'bigint'
	return others.length === 0 && isNumber && key.hasDefault && !fields.includes(key.name)
}

/** One by one. Succeeds if a conflicting record has disappeared since. */
function createEach(to: Target, values: readonly Values[]): Promise<readonly Created[]> {
	return to.runner.transaction(async (runner) => {
		const model = to.within(runner)
		const created: Created[] = []
		for (const [index, one] of values.entries()) {
			try {
				created.push(await model.create(one, to.selection))
			} catch (error) {
				throw errorAt(error, index)
			}
		}
		return created
	})
}

/** The fields of a new record that have a value; null for a column that is gone counts as none. */
export function givenFields({ columns }: Subject, values: Values): readonly string[] {
	return Object.keys(values).filter((field) => {
		const value = values[field]
		return value !== undefined && (value !== null || !columns.gone.has(field))
	})
}

/** Inserts several records, all of which fit into one statement. */
function rowsStatement(subject: Subject, { fields, records, lists }: Rows, plan: Plan): Statement {
	const { table, dialect, columns } = subject
	const all = fields.map((field) => columnOf(columns, field))
	const isTime = ({ name }: Column, at: number): boolean =>
		dialect.nowFor !== undefined &&
		(lists?.[at]?.every((value) => value === NOW) ?? records.every((row) => row[name] === NOW))
	const isTimes = all.map(isTime)
	const times = all.filter((_, at) => isTimes[at])
	const given = all.filter((_, at) => !isTimes[at])
	const also = times.map((column) => dialect.nowFor?.(column) ?? '')
	const names = [...given, ...times].map(({ name }) => dialect.quote(name)).join(', ')
	const sql = new Sql(dialect)
	sql.add(`insert into ${changedTable(dialect, table)} (${names})`)
	const values = lists?.filter((_, at) => !isTimes[at])
	if (
		values === undefined ||
		values.length === 0 ||
		!values.every(hasValues) ||
		dialect.rows?.write?.(sql, given, values, also) !== true
	) {
		let before = ' values ('
		for (const row of records) {
			sql.add(before)
			writeRow(sql, given, row, also)
			before = '), ('
		}
		sql.add(')')
	}
	return sql.add(plan.returning).statement(true)
}

/** Whether none of the values is `NOW`. */
function hasValues(list: Values[string][]): list is Value[] {
	return !list.includes(NOW)
}

/** @param also expressions that follow the columns' values */
export function writeRow(sql: Sql, given: readonly Column[], row: Values, also: readonly string[]): void {
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
