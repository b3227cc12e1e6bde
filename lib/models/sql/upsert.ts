/**
 * Upserts a record: in one statement if the database has `on conflict … do update` and says which of the two it did.
 * Otherwise looks for the record, changes it or creates one, and starts over if another request was faster. (MariaDB's `on
 * duplicate key update` would change a record with the same values of any unique key.) Called by `sql-model.ts`.
 */
import { setTimeout } from 'node:timers/promises'
import type { Milliseconds } from '../../base/time.ts'
import { idOfKey, isSameFields } from '../key.ts'
import type { Condition, Upsert, Upserted } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { writeCondition } from './condition.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import { givenFields, type Target, writeRow } from './many.ts'
import type { Plan } from './plan.ts'
import type { Subject } from './subject.ts'
import { ALIAS, type Column, columnOf, isGiven, tableName } from './table.ts'
import { type Assignment, assignmentOf, changedTable, writeAssignments } from './writes.ts'

/** Maximum number of attempts while others create and delete the record. */
const MAX_ATTEMPTS = 100
/** Maximum pause between attempts; the first ones are shorter. */
const MAX_PAUSE: Milliseconds = 20
/** Maximum number of conflicts without a record, if the error names no fields, as for an index on an expression. */
const MAX_UNNAMED = 10
/** How long an upsert is retried after deadlocks and lock timeouts, each of which may itself take seconds. */
const MAX_BUSY: Milliseconds = 5_000

export async function upsert(to: Target, given: Upsert): Promise<Upserted> {
	checkUpsert(to.subject, given)
	const { dialect } = to.subject
	if (dialect.isInserted !== undefined && Object.keys(given.changes).length > 0)
		return upsertAtOnce(to, given)
	let unexplained = 0
	const begun = performance.now()
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		try {
			const done = await changeOrCreate(to, given, attempt > 0)
			if (done instanceof ModelError) {
				unexplained += 1
				// The conflicting record was never found: others can hardly have deleted it each time.
				if (unexplained === (done.fields.length === 0 ? MAX_UNNAMED : MAX_ATTEMPTS)) throw done
			} else if (done !== undefined) return done
		} catch (error) {
			// After a deadlock, a transaction is over: only its caller can retry it.
			if (to.runner.isInTransaction || !(error instanceof ModelError) || error.kind !== 'busy') throw error
			if (performance.now() - begun > MAX_BUSY) throw error
		}
		await setTimeout(Math.random() * Math.min(attempt, MAX_PAUSE))
	}
	throw new ModelError('busy')
}

/** @throws TypeError if `on` isn't unique; ModelError `not_null` if a value is missing there */
function checkUpsert({ table, keys }: Subject, { on, values, changes }: Upsert): void {
	if (table.uniques?.some((names) => isSameFields(names, on)) !== true)
		throw new TypeError(`${table.name}: ${on.join(', ')} isn't unique, so it can't be upserted on`)
	for (const name of on) if (!isGiven(values[name])) throw new ModelError('not_null', [name])
	const fixed = [...on, ...keys.map(({ name }) => name)].find((name) => Object.hasOwn(changes, name))
	if (fixed !== undefined) throw new TypeError(`${table.name}: an upsert can't change ${fixed}`)
}

async function upsertAtOnce(to: Target, given: Upsert): Promise<Upserted> {
	const { subject, plan, runner } = to
	const { rows } = await runner.run(upsertStatement(subject, given, plan))
	const [row] = rows
	if (row !== undefined) {
		const { found, id } = plan.returnedRow
		return { ...found(row), id: id(row), isNew: row.at(-1) === '1' }
	}
	// The existing record doesn't match `where`, or a policy has skipped the change.
	throw (await findId(to, given, given.where)) === undefined
		? new ModelError('unique', given.on)
		: new ModelError(runner.session === undefined ? 'refused' : 'forbidden')
}

/** Creates a record, or changes the conflicting one if that matches the condition; see `Dialect.isInserted`. */
function upsertStatement(subject: Subject, { values, on, changes, where }: Upsert, plan: Plan): Statement {
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

/**
 * Makes one attempt. Returns `undefined` if another request was faster, and the error if the conflicting record isn't found.
 *
 * @param isRepeated whether an attempt has failed before
 */
async function changeOrCreate(
	to: Target,
	given: Upsert,
	isRepeated: boolean,
): Promise<Upserted | ModelError | undefined> {
	const { subject, runner, selection } = to
	const { isInTransaction } = runner
	const { values, changes, on, where } = given
	const mayLock = subject.dialect.readsSnapshots === true
	// In a transaction, a failed insert keeps the conflicting record locked, so that it can be found.
	if (isRepeated && mayLock && !isInTransaction)
		return runner.transaction((inner) => changeOrCreate({ ...to, runner: inner }, given, true))
	const locks = isRepeated && mayLock
	const id = await findId(to, given, where, locks)
	const target = to.within(runner)
	if (id !== undefined) {
		// Locked, because a snapshot of this transaction lacks what was committed since.
		const read = locks ? (target.lock ?? target.read) : target.read
		const guard = { where: sameAs(given, where), version: undefined }
		const changed =
			Object.keys(changes).length === 0
				? await read.call(target, id, selection, guard.where)
				: await target.update(id, changes, selection, guard)
		return typeof changed === 'object' ? { ...changed, id, isNew: false } : undefined
	}
	try {
		// In a savepoint: PostgreSQL would accept no statement after the error.
		const created = isInTransaction
			? await runner.transaction((inner) => to.within(inner).create(values, selection))
			: await target.create(values, selection)
		return { ...created, isNew: true }
	} catch (error) {
		if (!(error instanceof ModelError) || error.kind !== 'unique') throw error
		if (error.fields.length > 0 && !isSameFields(error.fields, on)) throw error
		const isLocked = isInTransaction && mayLock
		const isWithin = await isInTheWay(to, given, isLocked)
		if (isWithin === false || (isWithin === undefined && isLocked)) throw new ModelError('unique', on, error)
		return isWithin === undefined ? error : undefined
	}
}

/** The condition that a record has the values of an upsert, and matches `where`. */
function sameAs({ on, values }: Upsert, where: Condition | undefined): Condition {
	const terms: Condition[] = on.map((field) => {
		const value = values[field]
		if (!isGiven(value)) throw new ModelError('not_null', [field])
		return { op: 'eq', field, value }
	})
	return { op: 'and', terms: where === undefined ? terms : [...terms, where] }
}

/**
 * Whether the record with the same values matches the condition, in one statement, because it may be deleted in between.
 * `undefined` for no record: then another index may conflict, one on an expression, or that compares or rounds differently.
 */
async function isInTheWay(to: Target, given: Upsert, locks: boolean): Promise<boolean | undefined> {
	const { subject, runner } = to
	if (given.where === undefined)
		return (await findId(to, given, undefined, locks)) === undefined ? undefined : true
	const { dialect, table, columns } = subject
	const sql = new Sql(dialect).add('select case when ')
	writeCondition(sql, given.where, columns, ALIAS)
	sql.add(` then 1 else 0 end from ${tableName(dialect, table)} ${ALIAS} where `)
	writeCondition(sql, sameAs(given, undefined), columns, ALIAS)
	if (locks) sql.add(' for update')
	const { rows } = await runner.run(sql.statement(false))
	const [row] = rows
	return row && Number(row[0]) === 1
}

/** The id of the record that an upsert changes. */
async function findId(
	{ subject, runner }: Target,
	given: Upsert,
	where: Condition | undefined,
	locks = false,
): Promise<string | undefined> {
	const { dialect, table, keys, columns } = subject
	const sql = new Sql(dialect)
	const list = keys.map((key: Column) => dialect.exact(key, ALIAS)).join(', ')
	sql.add(`select ${list} from ${tableName(dialect, table)} ${ALIAS} where `)
	writeCondition(sql, sameAs(given, where), columns, ALIAS)
	if (locks) sql.add(' for update')
	const { rows } = await runner.run(sql.statement(false))
	const [row] = rows
	return row === undefined ? undefined : idOfKey(row, keys)
}
