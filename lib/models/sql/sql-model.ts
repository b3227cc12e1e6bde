/**
 * `SqlModel`: a table or view of an SQL database as a `Model`. Its `Dialect` has what differs between databases, its
 * `Driver` what differs between drivers; the folders next to this one implement both.
 */
import type { Seconds } from '../../base/time.ts'
import type {
	Absent,
	Changes,
	Condition,
	Created,
	Field,
	Found,
	Guard,
	Listed,
	ListQuery,
	Model,
	Reference,
	Selection,
	Upsert,
	Upserted,
	Values,
	Within,
} from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Replicas } from '../replicas.ts'
import { whyAbsent } from './absent.ts'
import type { Dialect } from './dialect.ts'
import type { Driver, Statement } from './driver.ts'
import { Reads } from './gathered-reads.ts'
import { Lists } from './lists.ts'
import { areTogether, LiveTable, liveTableOf, type Reopen, referencesTo } from './live-table.ts'
import { createMany, type Target } from './many.ts'
import { TIMEOUT_SECONDS } from './options.ts'
import type { Plan } from './plan.ts'
import { Runner, type SessionSetup, Timeout } from './runner.ts'
import { canJoin, JOIN, RUNNER, withinOf } from './shared-transaction.ts'
import { LIVE, type Subject } from './subject.ts'
import { idFrom, isGiven, missingKey, readOnlyText, type Table, valuesOfId } from './table.ts'
import { totalsOf } from './totals.ts'
import { upsert } from './upsert.ts'
import {
	deleteStatement,
	insertStatement,
	type Locking,
	lockStatement,
	locksFirst,
	UNGUARDED,
	updateStatement,
} from './writes.ts'

/** A table or view of an SQL database as a `Model`, built from a `Dialect` and a `Driver`. */
export class SqlModel implements Model {
	readonly name: string
	readonly fields: readonly Field[]
	readonly key: readonly string[]
	readonly readOnly: boolean
	readonly readOnlyReason: string | undefined
	readonly setsNow = true
	/** @internal */
	readonly [LIVE]: LiveTable
	/** Those of the driver. */
	readonly replicas: Replicas | undefined
	/** Only if the dialect has them. */
	readonly totals?: NonNullable<Model['totals']>
	/** @internal */
	readonly [RUNNER]: Runner
	readonly #lists: Lists
	readonly #reads = new WeakMap<Selection, Reads>()

	/** `timeoutSeconds` is not checked here. `reopen` reloads the table's schema after it was changed. @hidden */
	constructor(table: Table, driver: Driver, dialect: Dialect, timeoutSeconds?: Seconds, reopen?: Reopen)
	/** @internal */
	constructor(live: LiveTable, runner: Runner, dialect: Dialect)
	constructor(
		table: Table | LiveTable,
		driver: Driver | Runner,
		dialect: Dialect,
		timeoutSeconds: Seconds = TIMEOUT_SECONDS,
		reopen?: Reopen,
	) {
		const live = table instanceof LiveTable ? table : new LiveTable(table, dialect, reopen)
		const { name, columns, key, isView, isWritable = !isView, readOnlyReason } = live.opened
		this.name = name
		this.fields = columns
		this.key = key
		this.readOnly = !isWritable || key.length === 0
		this.readOnlyReason = readOnlyReason
		this[LIVE] = live
		const runner =
			driver instanceof Runner ? driver : new Runner(driver, dialect, live, new Timeout(timeoutSeconds))
		this[RUNNER] = runner
		this.replicas = runner.driver.replicas
		this.#lists = new Lists(live, runner)
		const totals = totalsOf(live, runner)
		if (totals !== undefined) this.totals = totals
	}

	/** @throws RangeError unless `limit` and `offset` are whole numbers from 0 to 2^53 - 1 */
	async list(query: ListQuery): Promise<Listed> {
		return this.#lists.one(query)
	}

	/** @throws RangeError as `list` does */
	listEach(query: ListQuery, conditions: readonly Condition[]): Promise<readonly Listed[]> {
		return this.#lists.each(query, conditions)
	}

	async count(where: Condition | undefined): Promise<number> {
		return this.#lists.count(where)
	}

	read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		const reads = this.#readsOf(selection)
		// A transaction has one connection, so batching gains nothing.
		if (this[RUNNER].isInTransaction || this.#subject.dialect.keyIn === undefined)
			return reads.alone(id, where)
		return reads.gathered(id, where)
	}

	async lock(
		id: string,
		selection: Selection,
		where?: Condition,
		deletes = false,
	): Promise<Found | undefined> {
		const plan = this[LIVE].plans.of(selection)
		const lock = () => this.#lockedRow(id, plan, { ...UNGUARDED, where, deletes }, this[RUNNER])
		const found = await lock()
		if (found !== undefined || !(this[RUNNER].session !== undefined || this.#subject.table.hasPolicies))
			return found
		// Locks also need the policies of updates: a record that those exclude is only read.
		const unlocked = await this.read(id, selection, where)
		return unlocked && ((await lock()) ?? unlocked)
	}

	readWritten(id: string, selection: Selection): Promise<Found | undefined> {
		return this.#written(id, this[LIVE].plans.of(selection), this[RUNNER])
	}

	async create(values: Values, selection: Selection): Promise<Created> {
		this.#mustBeWritable()
		const { dialect, keys } = this.#subject
		const missing = missingKey(keys, values)
		if (missing !== undefined) throw new ModelError('not_null', [missing])
		const plan = this.#planOfChange(selection)
		if (!dialect.returning.insert || dialect.rereads) return this.#insertAndRead(values, plan)
		const { rows } = await this[RUNNER].run(insertStatement(this.#subject, values, plan))
		// No error but no row: a trigger returned null, so the database skipped the insert.
		if (rows[0] === undefined) throw new ModelError('refused')
		return { ...plan.returnedRow.found(rows[0]), id: plan.returnedRow.id(rows[0]) }
	}

	async update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent> {
		this.#mustBeWritable()
		const plan = this.#planOfChange(selection)
		const { returning, rereads } = this.#subject.dialect
		if (!returning.update || rereads) return this.#updateAndRead(id, changes, plan, guard)
		return this.#changed(() => updateStatement(this.#subject, id, changes, plan, guard), id, plan, guard)
	}

	async delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent> {
		this.#mustBeWritable()
		const plan = this.#planOfChange(selection)
		const { returning, rereads } = this.#subject.dialect
		if (!returning.delete || locksFirst(this.#subject, guard)) return this.#readAndDelete(id, plan, guard)
		if (rereads) return this.#deleteAndRead(id, plan, guard)
		const write = () => deleteStatement(this.#subject, id, plan, guard)
		return this.#changed(write, id, plan, { ...guard, deletes: true })
	}

	get unique(): readonly (readonly string[])[] {
		return this[LIVE].opened.uniques ?? []
	}

	async createMany(values: readonly Values[], selection: Selection): Promise<readonly Created[]> {
		return createMany(this.#target(selection), values)
	}

	async upsert(given: Upsert, selection: Selection): Promise<Upserted> {
		return upsert(this.#target(selection), given)
	}

	#target(selection: Selection): Target {
		this.#mustBeWritable()
		return {
			...{ subject: this.#subject, plan: this.#planOfChange(selection), selection },
			runner: this[RUNNER],
			within: (runner) => (runner === this[RUNNER] ? this : modelBy(runner, this[LIVE])),
		}
	}

	transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this[RUNNER].transaction((runner) => work(modelBy(runner, this[LIVE])))
	}

	transactsWith(other: Model): boolean {
		return canJoin(this, other)
	}

	transactionWith<T>(_others: readonly Model[], work: (within: Within) => Promise<T>): Promise<T> {
		return this[RUNNER].transaction(({ driver }) => work(withinOf(this, driver)))
	}

	/** @internal */
	[JOIN](driver: Driver, session?: SessionSetup): Model {
		return modelBy(this[RUNNER].within(driver, session), this[LIVE])
	}

	failureOf(error: unknown): ModelError | undefined {
		return this[RUNNER].failureOf(error)
	}

	check(writes = false): Promise<void> {
		return this[RUNNER].check(writes)
	}

	references(other: Model): readonly Reference[] {
		const live = liveTableOf(other)
		return live !== undefined && areTogether(this[LIVE], other) ? referencesTo(this[LIVE], live) : []
	}

	joins(other: Model): boolean {
		const live = liveTableOf(other)
		if (live === undefined || !areTogether(this[LIVE], other)) return false
		this[LIVE].link(live)
		return true
	}

	embeds(other: Model): boolean {
		return this.#subject.dialect.embedding !== undefined && this.joins(other)
	}

	get source(): object {
		return this[RUNNER].driver
	}

	/** In a transaction, so that a record isn't stored if reading it fails. */
	#insertAndRead(values: Values, plan: Plan): Promise<Created> {
		return this.#inTransaction(async (runner) => {
			const { insertId, affected } = await runner.run(insertStatement(this.#subject, values, plan))
			if (affected === 0 && this.#subject.dialect.rereads) throw new ModelError('refused')
			const id = idFrom(this.#subject, (name) => (isGiven(values[name]) ? values[name] : insertId))
			const found = await new Reads(this[LIVE], () => plan, runner).alone(id, undefined)
			if (found !== undefined) return { ...found, id }
			throw this.#notInView() ?? new TypeError(`a record just written to ${this.name} can't be read`)
		})
	}

	/** In a transaction: its row lock prevents a concurrent change between the update and the read. */
	async #updateAndRead(id: string, changes: Changes, plan: Plan, guard: Guard): Promise<Found | Absent> {
		const found = await this.#inTransaction(async (runner) => {
			const isLocked = locksFirst(this.#subject, guard)
			if (isLocked && (await this.#lockedRow(id, plan, guard, runner)) === undefined) return undefined
			const { affected } = await runner.run(
				updateStatement(this.#subject, id, changes, plan, isLocked ? UNGUARDED : guard),
			)
			if (affected === 0) return undefined
			const before = valuesOfId(id, this.#subject.keys)
			const now = idFrom(this.#subject, (name, at) => (isGiven(changes[name]) ? changes[name] : before[at]))
			const found = await this.#written(now, plan, runner)
			const error = found === undefined ? this.#notInView() : undefined
			if (error !== undefined) throw error
			return found
		})
		return found ?? whyAbsent(this[RUNNER], this.#subject, id, plan, guard)
	}

	/** Reads a record just written; in a transaction by locking it, because the snapshot may lack others' changes before it. */
	async #written(id: string, plan: Plan, runner: Runner): Promise<Found | undefined> {
		if (!this[RUNNER].isInTransaction || this.#subject.dialect.readsSnapshots !== true)
			return new Reads(this[LIVE], () => plan, runner).alone(id, undefined)
		return this.#lockedRow(id, plan, UNGUARDED, runner)
	}

	async #lockedRow(id: string, plan: Plan, guard: Locking, runner: Runner): Promise<Found | undefined> {
		const { rows } = await runner.run(lockStatement(this.#subject, id, plan, guard))
		return rows[0] && plan.selectedRow.found(rows[0])
	}

	/** Runs a change and returns the record that it returns. */
	async #changed(write: () => Statement, id: string, plan: Plan, guard: Locking): Promise<Found | Absent> {
		const change = async (runner: Runner): Promise<Found | undefined> => {
			const { rows } = await runner.run(write())
			return rows[0] && plan.returnedRow.found(rows[0])
		}
		return (await change(this[RUNNER])) ?? whyAbsent(this[RUNNER], this.#subject, id, plan, guard, change)
	}

	/** The error for a record that isn't in the view after a change; the transaction rolls it back. */
	#notInView(): ModelError | undefined {
		return this.#subject.table.isView ? new ModelError('check') : undefined
	}

	async #readAndDelete(id: string, plan: Plan, guard: Guard): Promise<Found | Absent> {
		const found = await this.#inTransaction(async (runner) => {
			const found = await this.#lockedRow(id, plan, { ...guard, deletes: true }, runner)
			if (found !== undefined) await runner.run(deleteStatement(this.#subject, id, plan, UNGUARDED))
			return found
		})
		return found ?? whyAbsent(this[RUNNER], this.#subject, id, plan, guard)
	}

	/** @throws ModelError `refused` if the record is still there: a trigger of the view hasn't deleted it */
	async #deleteAndRead(id: string, plan: Plan, guard: Guard): Promise<Found | Absent> {
		const found = await this.#inTransaction(async (runner) => {
			const { rows } = await runner.run(deleteStatement(this.#subject, id, plan, guard))
			if (rows[0] === undefined) return undefined
			if ((await new Reads(this[LIVE], () => plan, runner).alone(id, undefined)) !== undefined)
				throw new ModelError('refused')
			return plan.returnedRow.found(rows[0])
		})
		return found ?? whyAbsent(this[RUNNER], this.#subject, id, plan, guard)
	}

	/** Runs `work` in the current transaction or in a new one; for a view in a savepoint, because `work` may undo a change. */
	#inTransaction<T>(work: (runner: Runner) => Promise<T>): Promise<T> {
		return this[RUNNER].isInTransaction && !this.#subject.table.isView
			? work(this[RUNNER])
			: this[RUNNER].transaction(work)
	}

	get #subject(): Subject {
		return this[LIVE].subject
	}

	/** @throws TypeError if the selection has related records */
	#planOfChange(selection: Selection): Plan {
		const plan = this[LIVE].plans.of(selection)
		if (plan.embedded === undefined) return plan
		throw new TypeError(`a change of ${this.name} returns no related records: read the record after it`)
	}

	#readsOf(selection: Selection): Reads {
		let reads = this.#reads.get(selection)
		if (reads === undefined) {
			reads = new Reads(this[LIVE], () => this[LIVE].plans.of(selection), this[RUNNER])
			this.#reads.set(selection, reads)
		}
		return reads
	}

	#mustBeWritable(): void {
		if (this.readOnly) throw new TypeError(readOnlyText(this[LIVE].opened))
	}
}

// Not a method: bundlers rename a class that refers to itself, and messages show the class's name.
function modelBy(runner: Runner, live: LiveTable): SqlModel {
	return new SqlModel(live, runner, live.subject.dialect)
}
