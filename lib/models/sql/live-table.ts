/**
 * `LiveTable`: the current schema of a model's table. When a statement fails because a column was dropped, renamed or
 * changed its type, the schema is reloaded, and the model continues with the columns that remain. Used by `sql-model.ts`.
 */

import { type Clock, type Milliseconds, steadyClock } from '../../base/time.ts'
import type { Model } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import { Plans, planOf } from './plan.ts'
import { LIVE, type Subject } from './subject.ts'
import { columnOf, columnsOf, type Table } from './table.ts'

/** Reads the table's schema from the database, in the same way as when the model was opened. */
export type Reopen = () => Promise<Table>

/** Minimum time between reloads: an error that reloading doesn't fix, such as a trigger's, must not always cause one. */
const MIN_RELOAD_INTERVAL: Milliseconds = 5_000

const TRANSIENT: ReadonlySet<string> = new Set(['unavailable', 'busy', 'outcome_unknown'])

export class LiveTable {
	/** The schema when the model was opened; the model's public properties always show this one. */
	readonly opened: Table
	subject: Subject
	plans: Plans
	readonly #reopen: Reopen | undefined
	readonly #clock: Clock
	#lastReload: Milliseconds = Number.NEGATIVE_INFINITY
	#reload: Promise<void> | undefined
	/** Describes the last change until an error has reported it. */
	#unreported: string | undefined
	/** Whether the last reload found a change, or failed for lack of a connection. */
	#mayHaveChanged = false

	constructor(table: Table, dialect: Dialect, reopen?: Reopen, clock: Clock = steadyClock) {
		this.opened = table
		this.subject = subjectOf(table, dialect, new Set())
		this.plans = plansOf(this.subject)
		this.#reopen = reopen
		this.#clock = clock
	}

	/**
	 * Handles a statement that failed because it doesn't fit the table: reloads the schema. If the schema has changed,
	 * fails with `busy`, so that the request is retried; the first such error describes the change, for the log.
	 *
	 * @param waits whether to wait for the reload; false in a transaction, because the reload may need its connection
	 * @throws ModelError `busy`, or else `error`
	 */
	async handleOutdated(error: unknown, waits: boolean): Promise<never> {
		if (this.#reopen === undefined) throw error
		if (this.#reload === undefined && this.#clock() - this.#lastReload >= MIN_RELOAD_INTERVAL)
			this.#reload = this.#reloadBy(this.#reopen)
		if (!waits)
			throw this.#reload === undefined && !this.#mayHaveChanged ? error : new ModelError('busy', [], error)
		const report = await this.takeChangeReport(error)
		if (report !== undefined) throw report
		throw this.#mayHaveChanged ? new ModelError('busy', [], error) : error
	}

	/** Returns the error that describes a change of the schema; once per change. */
	async takeChangeReport(cause: unknown): Promise<ModelError | undefined> {
		await this.#reload
		const change = this.#unreported
		this.#unreported = undefined
		return change === undefined ? undefined : new ModelError('busy', [], new Error(change, { cause }))
	}

	/** Never rejects. */
	async #reloadBy(reopen: Reopen): Promise<void> {
		try {
			this.#unreported = this.#apply(await reopen())
			this.#mayHaveChanged = this.#unreported !== undefined
			this.#lastReload = this.#clock()
		} catch (error) {
			// If the error isn't transient, the table or its key is gone; the statement's own error shows that.
			this.#mayHaveChanged = this.#isTransient(error)
			if (!this.#mayHaveChanged) this.#lastReload = this.#clock()
		} finally {
			this.#reload = undefined
		}
	}

	/** Whether a reload failed only for lack of a connection; if so, the next statement that fails reloads again. */
	#isTransient(error: unknown): boolean {
		const { dialect, table } = this.subject
		const failure = error instanceof ModelError ? error : dialect.failure(error, table)
		return failure !== undefined && TRANSIENT.has(failure.kind)
	}

	/** Adopts a schema and describes how it differs from the previous one; `undefined` if it doesn't. */
	#apply(table: Table): string | undefined {
		const { subject, opened } = this
		const present = new Map(table.columns.map(({ name, sqlType }) => [name, sqlType]))
		const known = subject.table.columns.map(({ name }) => name)
		const gone = known.filter((name) => !present.has(name))
		const back = opened.columns.filter(({ name }) => present.has(name) && !known.includes(name))
		const retyped = subject.table.columns.filter(
			({ name, sqlType }) => present.has(name) && present.get(name) !== sqlType,
		)
		if (gone.length + back.length + retyped.length === 0) {
			this.subject = { ...subject, table: { ...subject.table, constraints: table.constraints } }
			return undefined
		}
		const absent = opened.columns.filter(({ name }) => !present.has(name)).map(({ name }) => name)
		this.subject = subjectOf(table, subject.dialect, new Set(absent))
		this.plans = plansOf(this.subject)
		const changed = [...retyped, ...back].map(({ name }) => name)
		const parts = [
			gone.length > 0 ? `no longer has ${gone.join(', ')}, which is left out` : '',
			changed.length > 0 ? `has a new definition of ${changed.join(', ')}` : '',
		]
		return `the table ${table.name} was changed: it ${parts.filter((part) => part !== '').join('; it ')}`
	}
}

/** The table of a model; `undefined` unless it is an SQL model. */
export function liveTableOf(model: Model): LiveTable | undefined {
	const live: unknown = Reflect.get(model, LIVE)
	return live instanceof LiveTable ? live : undefined
}

/** Whether two models are tables of one database, over the same pool. */
export function areTogether(live: LiveTable, model: Model): boolean {
	const other = liveTableOf(model)
	// All models of a database share one cache.
	return other !== undefined && other.subject.dialect.lru === live.subject.dialect.lru
}

function subjectOf(table: Table, dialect: Dialect, gone: ReadonlySet<string>): Subject {
	const columns = columnsOf(table, gone)
	return { table, columns, keys: table.key.map((name) => columnOf(columns, name)), dialect }
}

function plansOf({ table, columns, dialect }: Subject): Plans {
	return new Plans(dialect.lru, (selection) => planOf(table, columns, dialect, selection))
}
