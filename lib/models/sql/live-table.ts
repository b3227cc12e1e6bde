/**
 * `LiveTable`: the current schema of a model's table. When a statement fails because a column was dropped, renamed or
 * changed its type, the schema is reloaded, and the model continues with the columns that remain.
 * `referencesTo`: its foreign keys. Used by `sql-model.ts`.
 */

import { type Clock, type Milliseconds, steadyClock } from '../../base/time.ts'
import type { Model, Reference } from '../model.ts'
import { isTransient, ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import { Plans, planOf } from './plan.ts'
import { LIVE, type Subject } from './subject.ts'
import { type Base, columnOf, columnsOf, type Table, type Target } from './table.ts'

/** Reads the table's schema from the database, in the same way as when the model was opened. */
export type Reopen = () => Promise<Table>

/** Minimum time between reloads: an error that reloading doesn't fix, such as a trigger's, must not always cause one. */
const MIN_RELOAD_INTERVAL: Milliseconds = 5_000

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
	/** The tables that statements about this one may also use, and the tables whose statements may use this one. */
	readonly #linked = new Set<LiveTable>()
	readonly #linkedBy = new Set<LiveTable>()

	constructor(table: Table, dialect: Dialect, reopen?: Reopen, clock: Clock = steadyClock) {
		this.opened = table
		this.subject = subjectOf(table, dialect, new Set())
		this.plans = plansOf(this.subject)
		this.#reopen = reopen
		this.#clock = clock
	}

	/** Lets statements about this table have links to another one, and to the tables linked to that. */
	link(other: LiveTable): void {
		this.#linked.add(other)
		other.#linkedBy.add(this)
	}

	#reach(next: (table: LiveTable) => Iterable<LiveTable>): Set<LiveTable> {
		const reached = new Set<LiveTable>([this])
		// The loop also visits the tables that it adds.
		for (const table of reached) for (const other of next(table)) reached.add(other)
		return reached
	}

	/**
	 * Handles a statement that failed because it doesn't fit its tables: reloads their schemas. If one has changed,
	 * fails with `busy`, so that the request is retried; the first such error describes the change, for the log.
	 *
	 * @param waits whether to wait for the reload; false in a transaction, because the reload may need its connection
	 * @throws ModelError `busy`, or else `error`
	 */
	async handleOutdated(error: unknown, waits: boolean): Promise<never> {
		const tables = [...this.#reach((table) => table.#linked)]
		for (const table of tables) table.#startReload()
		if (waits) {
			const report = await this.takeChangeReport(error)
			if (report !== undefined) throw report
		}
		const isBusy = tables.some((table) => table.#reload !== undefined || table.#mayHaveChanged)
		throw isBusy ? new ModelError('busy', [], error) : error
	}

	#startReload(): void {
		if (this.#reopen === undefined || this.#reload !== undefined) return
		if (this.#clock() - this.#lastReload >= MIN_RELOAD_INTERVAL) this.#reload = this.#reloadBy(this.#reopen)
	}

	/** Returns the error that describes changes of the schemas; once per change. */
	async takeChangeReport(cause: unknown): Promise<ModelError | undefined> {
		const changes: string[] = []
		for (const table of this.#reach((one) => one.#linked)) {
			await table.#reload
			if (table.#unreported !== undefined) changes.push(table.#unreported)
			table.#unreported = undefined
		}
		const error = new Error(changes.join('; '), { cause })
		return changes.length === 0 ? undefined : new ModelError('busy', [], error)
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
		return isTransient(error instanceof ModelError ? error : dialect.failure(error, table))
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
		// Their texts may have columns of this table.
		for (const table of this.#reach((one) => one.#linkedBy)) table.plans = plansOf(table.subject)
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

function subjectOf(table: Table, dialect: Dialect, gone: ReadonlySet<string>): Subject {
	const columns = columnsOf(table, gone)
	return { table, columns, keys: table.key.map((name) => columnOf(columns, name)), dialect }
}

function plansOf({ table, columns, dialect }: Subject): Plans {
	return new Plans(dialect.lru, (selection) => planOf(table, columns, dialect, selection))
}
