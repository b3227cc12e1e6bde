/**
 * Several records at once, and upserts: which statements they are. Called by `sql-model.ts`.
 *
 * Several records are one statement where the database returns the inserted rows. An upsert is one where it has
 * `on conflict … do update` and says which it was; elsewhere it looks for the record, changes it or creates one, and begins
 * again if another one was faster. (`on duplicate key update` of MariaDB would change the record of any unique key.)
 */
import { setTimeout } from 'node:timers/promises'
import type { Milliseconds } from '../../base/time.ts'
import { idOfKey } from '../key.ts'
import type { Condition, Created, Model, Selection, Upsert, Upserted, Values } from '../model.ts'
import { errorAt, isAboutRecord, ModelError } from '../model-error.ts'
import { writeCondition } from './condition.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import { givenFields, rowsStatement, upsertStatement } from './many-writes.ts'
import type { Plan } from './plan.ts'
import type { Runner } from './runner.ts'
import type { Subject } from './subject.ts'
import { ALIAS, type Column, isGiven, missingKey, tableName } from './table.ts'

/** The model that is written to. */
export interface Target {
	readonly subject: Subject
	readonly plan: Plan
	readonly selection: Selection
	readonly runner: Runner
	readonly isInTransaction: boolean
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
	const { subject, plan, runner, isInTransaction } = to
	const { dialect, table } = subject
	if (values.length < 2 || dialect.rereads === true || !dialect.returning.insert) return undefined
	const statements = insertStatements(subject, values, plan)
	if (statements === undefined) return undefined
	const insert = async (on: Runner): Promise<readonly Created[]> => {
		const created: Created[] = []
		for (const statement of statements) {
			const { rows } = await on.run(statement)
			const { found, id } = plan.returnedRow
			const some = rows.map((row) => ({ ...found(row), id: id(row) }))
			if (dialect.rows?.isUnordered === true) some.sort(byCount)
			for (const one of some) created.push(one)
		}
		// A trigger has skipped some. One that is new wasn't expected: outside of a transaction, the others are stored.
		if (created.length !== values.length) throw new ModelError(on === runner ? 'outcome_unknown' : 'refused')
		return created
	}
	const mayBeSkipped = dialect.skipsSilently && table.hasTriggers !== false
	const isAtomic = statements.length === 1 && !isInTransaction && !mayBeSkipped
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
	const given = values.map((one) => givenFields(subject, one))
	const [first = []] = given
	const areSame = given.every(
		(some) => some.length === first.length && some.every((name, at) => name === first[at]),
	)
	const fields = areSame ? first : [...new Set(given.flat())]
	const isAlike = areSame || given.every(({ length }) => length === fields.length)
	if (fields.length === 0 || !(isAlike || rows.hasDefaults)) return undefined
	if (rows.isUnordered === true && !isCounted(subject, fields)) return undefined
	const perStatement = Math.max(1, Math.floor(rows.maxValues / fields.length))
	const statements: Statement[] = []
	for (let from = 0; from < values.length; from += perStatement) {
		const some = values.slice(from, from + perStatement)
		statements.push(rowsStatement(subject, fields, some, isAlike, plan))
	}
	return statements
}

/** Whether the database counts the key up. */
function isCounted({ keys }: Subject, fields: readonly string[]): boolean {
	const [key, ...others] = keys
	const isNumber = key?.type === 'integer' || key?.type === 'bigint'
	return others.length === 0 && isNumber && key.hasDefault && !fields.includes(key.name)
}

function byCount(a: Created, b: Created): number {
	return BigInt(a.id) < BigInt(b.id) ? -1 : 1
}

/** If another record was in the way, and isn't any more, all are created after all. */
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

/** How often an upsert begins again while others create and delete its record. */
const MAX_ATTEMPTS = 100
/** Longest pause before it does so; the first ones are shorter. */
const MAX_PAUSE: Milliseconds = 20
/** How often if the conflict is by no fields that the database names, as in an index on an expression. */
const MAX_UNNAMED = 10
/** How long it begins again after a deadlock or a lock that it didn't get: that may itself have taken seconds. */
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
				// Not even once was that record there: others can hardly have deleted it each time.
				if (unexplained === (done.fields.length === 0 ? MAX_UNNAMED : MAX_ATTEMPTS)) throw done
			} else if (done !== undefined) return done
		} catch (error) {
			// After a deadlock, a transaction is over: only its caller can begin again.
			if (to.isInTransaction || !(error instanceof ModelError) || error.kind !== 'busy') throw error
			if (performance.now() - begun > MAX_BUSY) throw error
		}
		await setTimeout(Math.random() * Math.min(attempt, MAX_PAUSE))
	}
	throw new ModelError('busy')
}

/** @throws TypeError if `on` isn't unique; ModelError `not_null` if a value is missing there */
function checkUpsert({ table, keys }: Subject, { on, values, changes }: Upsert): void {
	if (table.uniques?.some((names) => isSame(names, on)) !== true)
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

/**
 * `undefined` if someone else was faster, or an error if what was in the way isn't found.
 *
 * @param isRepeated whether that has happened before
 */
async function changeOrCreate(
	to: Target,
	given: Upsert,
	isRepeated: boolean,
): Promise<Upserted | ModelError | undefined> {
	const { subject, runner, selection, isInTransaction } = to
	const { values, changes, on, where } = given
	const locks = isRepeated && isInTransaction && subject.dialect.readsSnapshots === true
	const id = await findId(to, given, where, locks)
	const target = to.within(runner)
	if (id !== undefined) {
		// A snapshot of this transaction doesn't have what was committed since.
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
		if (error.fields.length > 0 && !isSame(error.fields, on)) throw error
		const mustLock = isInTransaction && subject.dialect.readsSnapshots === true
		const isWithin = await isInTheWay(to, given, mustLock)
		if (isWithin === false) throw new ModelError('unique', on, error)
		return isWithin === undefined ? error : undefined
	}
}

function isSame(fields: readonly string[], on: readonly string[]): boolean {
	return fields.length === on.length && fields.every((name) => on.includes(name))
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
 * Whether the record with the same values matches the condition, asked at once, as it may be deleted meanwhile; `undefined`
 * for no record. Then another index may be in the way: one on an expression, or that compares or rounds differently.
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
