/**
 * `LiveTable`: a model's table as it is now. Where a statement fails because a column was dropped, renamed or given
 * another type, the table is looked at again, and the model goes on with what remains. Used by `sql-model.ts`.
 */

import { type Clock, type Milliseconds, steadyClock } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import { Plans, planOf } from './plan.ts'
import { columnOf, columnsOf, type Table } from './table.ts'
import type { Subject } from './writes.ts'

/** Reads the table from the live database, as it was read when the model was opened. */
export type Reopen = () => Promise<Table>

/** Between two looks: a statement may fail for a reason that no look mends, a mistake in a trigger. */
const PAUSE: Milliseconds = 5_000

const UNREACHED: ReadonlySet<string> = new Set(['unavailable', 'busy', 'outcome_unknown'])

export class LiveTable {
	/** As it was opened: what a model has told of itself doesn't change. */
	readonly first: Table
	subject: Subject
	/** What was written for a selection. */
	plans: Plans
	readonly #reopen: Reopen | undefined
	readonly #clock: Clock
	#looked: Milliseconds = Number.NEGATIVE_INFINITY
	#look: Promise<void> | undefined
	/** What has changed, in words, until somebody's error says it. */
	#untold: string | undefined
	/** Whether the last look has found a change, or couldn't be had. */
	#mayHaveChanged = false

	constructor(table: Table, dialect: Dialect, reopen?: Reopen, clock: Clock = steadyClock) {
		this.first = table
		this.subject = subjectOf(table, dialect, new Set())
		this.plans = plansOf(this.subject)
		this.#reopen = reopen
		this.#clock = clock
	}

	/**
	 * What becomes of a statement that didn't fit the table: it may be tried again where the table has changed. The first
	 * to fail tells the log what has.
	 *
	 * @param waits not within a transaction, which holds the connection that a look may need
	 * @throws ModelError `busy`; else the error itself
	 */
	async refuse(error: unknown, waits: boolean): Promise<never> {
		if (this.#reopen === undefined) throw error
		if (this.#look === undefined && this.#clock() - this.#looked >= PAUSE)
			this.#look = this.#lookWith(this.#reopen)
		if (!waits)
			throw this.#look === undefined && !this.#mayHaveChanged ? error : new ModelError('busy', [], error)
		const told = await this.takeChange(error)
		if (told !== undefined) throw told
		throw this.#mayHaveChanged ? new ModelError('busy', [], error) : error
	}

	/** What the log is to be told of a change that was found: once. */
	async takeChange(cause: unknown): Promise<ModelError | undefined> {
		await this.#look
		const change = this.#untold
		this.#untold = undefined
		return change === undefined ? undefined : new ModelError('busy', [], new Error(change, { cause }))
	}

	/** Never rejects. */
	async #lookWith(reopen: Reopen): Promise<void> {
		try {
			this.#untold = this.#adopt(await reopen())
			this.#mayHaveChanged = this.#untold !== undefined
			this.#looked = this.#clock()
		} catch (error) {
			// Else the table is gone, or its key is: the statement's own error says enough.
			this.#mayHaveChanged = this.#isUnreached(error)
			if (!this.#mayHaveChanged) this.#looked = this.#clock()
		} finally {
			this.#look = undefined
		}
	}

	/** Whether there was no connection, or it was lost: the next statement that fails is to look again. */
	#isUnreached(error: unknown): boolean {
		const { dialect, table } = this.subject
		const meant = error instanceof ModelError ? error : dialect.failure(error, table)
		return meant !== undefined && UNREACHED.has(meant.kind)
	}

	/** Says what is other than it was; `undefined` for nothing. */
	#adopt(table: Table): string | undefined {
		const { subject, first } = this
		const present = new Map(table.columns.map(({ name, sqlType }) => [name, sqlType]))
		const known = subject.table.columns.map(({ name }) => name)
		const gone = known.filter((name) => !present.has(name))
		const back = first.columns.filter(({ name }) => present.has(name) && !known.includes(name))
		const other = subject.table.columns.filter(
			({ name, sqlType }) => present.has(name) && present.get(name) !== sqlType,
		)
		if (gone.length + back.length + other.length === 0) return undefined
		const absent = first.columns.filter(({ name }) => !present.has(name)).map(({ name }) => name)
		this.subject = subjectOf(table, subject.dialect, new Set(absent))
		this.plans = plansOf(this.subject)
		const changed = [...other, ...back].map(({ name }) => name)
		const parts = [
			gone.length > 0 ? `has no ${gone.join(', ')} now, which is left out` : '',
			changed.length > 0 ? `has another ${changed.join(', ')}` : '',
		]
		return `the table ${table.name} was changed: it ${parts.filter((part) => part !== '').join('; it ')}`
	}
}

function subjectOf(table: Table, dialect: Dialect, gone: ReadonlySet<string>): Subject {
	const columns = columnsOf(table, gone)
	return { table, columns, key: columnOf(columns, table.key), dialect }
}

function plansOf({ table, columns, dialect }: Subject): Plans {
	return new Plans(dialect.lru, (selection) => planOf(table, columns, dialect, selection))
}
