/** `Reads`: reads records by id; concurrent reads with the same selection and condition become one statement. */
import { AsyncResource } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { Condition, Found } from '../model.ts'
import { MAX_PAGE_BYTES, ModelError } from '../model-error.ts'
import { type StoreUsage, usageOf } from '../usage.ts'
import { withApart } from './apart.ts'
import { BatchQueue, Pending, type TakeBatch } from './batch-queue.ts'
import { writeCondition } from './condition.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import type { LiveTable } from './live-table.ts'
import type { Plan } from './plan.ts'
import type { Runner, Timeout } from './runner.ts'
import { ALIAS, type Column, valuesOfId } from './table.ts'
import { writeGuarded } from './writes.ts'

export class Reads {
	readonly #live: LiveTable
	/** Called for each read, because the plan may have been evicted. */
	readonly #plan: () => Plan
	readonly #runner: Runner
	readonly #usage: StoreUsage
	/** Batched reads, by the text and values of their condition. */
	readonly #gathered = new Map<string, GatheredReads<Found>>()

	constructor(live: LiveTable, plan: () => Plan, runner: Runner) {
		this.#live = live
		this.#plan = plan
		this.#runner = runner
		this.#usage = usageOf(runner.driver)
	}

	/** Reads a record, batched with concurrent reads. */
	gathered(id: string, where: Condition | undefined): Promise<Found | undefined> {
		this.#usage.reads++
		const scope = where === undefined ? '' : this.#scopeOf(where)
		if (scope === undefined) return this.alone(id, where)
		let gathered = this.#gathered.get(scope)
		if (gathered === undefined) {
			gathered = this.#gather(scope, where)
			this.#gathered.set(scope, gathered)
		}
		return gathered.read(id)
	}

	/** Reads a record with a statement of its own. */
	async alone(id: string, where: Condition | undefined): Promise<Found | undefined> {
		const plan = this.#plan()
		this.#usage.readStatements++
		const { rows } = await this.#runner.run(this.#one(id, where, plan))
		const [row] = rows
		return row === undefined ? undefined : this.#found(row, plan)
	}

	#found(row: readonly unknown[], { embedded, selectedRow }: Plan): Promise<Found> {
		const of = { runner: this.#runner, dialect: this.#live.subject.dialect, maxBytes: MAX_PAGE_BYTES }
		return withApart(embedded, of, (apart) => selectedRow.found(row, apart))
	}

	#gather(scope: string, where: Condition | undefined): GatheredReads<Found> {
		const live = this.#live
		return new GatheredReads(
			{
				table: live.opened.name,
				one: (id) => this.alone(id, where),
				many: (ids) => this.#many(ids, where),
				get looselyCompared() {
					const { keys, dialect } = live.subject
					return dialect.keyIs === undefined && keys.some(({ type }) => type === 'text')
				},
				idle: () => this.#gathered.delete(scope),
			},
			this.#runner.timeout,
		)
	}

	async #many(ids: readonly string[], where: Condition | undefined): Promise<Map<string, Found>> {
		const { dialect, keys, columns } = this.#live.subject
		const plan = this.#plan()
		const { head, values, selectedRow, gathered } = plan
		const sql = new Sql(dialect, [...values])
		dialect.keyIn?.(sql, keys, ALIAS, ids)
		if (where !== undefined) {
			sql.add(' and ')
			writeCondition(sql, where, columns, ALIAS)
		}
		const condition = [sql.text]
		const known = gathered.get(condition)
		sql.text = known ?? `${head}${sql.text}`
		// Texts with a condition aren't cached: there may be many of them, and long ones.
		if (known === undefined && where === undefined) gathered.keep(condition, sql.text)
		this.#usage.readStatements++
		const { rows } = await this.#runner.run(sql.statement(false))
		if (plan.embedded === undefined)
			return new Map(rows.map((row) => [selectedRow.id(row), selectedRow.found(row)]))
		const found = new Map<string, Found>()
		for (const row of rows) found.set(selectedRow.id(row), await this.#found(row, plan))
		return found
	}

	#one(id: string, where: Condition | undefined, plan: Plan): Statement {
		const { keys, dialect } = this.#live.subject
		if (where === undefined && dialect.keyIs === undefined) {
			const values = valuesOfId(id, keys).map((value, at) => dialect.bind(value, keys[at] as Column))
			const all = plan.values.length === 0 ? values : [...plan.values, ...values]
			return { text: plan.byId, values: all, writes: false }
		}
		const sql = new Sql(dialect, [...plan.values])
		sql.add(plan.head)
		writeGuarded(sql, this.#live.subject, id, plan, { where, version: undefined }, ALIAS)
		return sql.statement(false)
	}

	/**
	 * A string that is the same only for equal conditions: reads with different access rights must not share a batch.
	 * `undefined` if a value can't be compared reliably; the read is then sent alone.
	 */
	#scopeOf(where: Condition): string | undefined {
		const sql = new Sql(this.#live.subject.dialect)
		writeCondition(sql, where, this.#live.subject.columns, ALIAS)
		const parts = [sql.text]
		for (const value of sql.values) {
			if (value !== null && (typeof value === 'object' || typeof value === 'function')) return undefined
			parts.push(typeof value, String(value))
		}
		return JSON.stringify(parts)
	}
}

const MAX_IDS = 100

/** Runs the statements of {@link GatheredReads}. */
export interface Reader<T> {
	/** The table's name. */
	readonly table: string
	one(id: string): Promise<T | undefined>
	/** The records that exist, by their ids. */
	many(ids: readonly string[]): Promise<ReadonlyMap<string, T>>
	/** Whether an id may match one that is spelled differently; if so, ids that `many` doesn't find are read alone. */
	readonly looselyCompared: boolean
	/** Called when the queue is empty. */
	idle(): void
}

type Read<T> = Pending<string, T | undefined>

/** The message of `verbena:batch`: one object for all events of a batch. */
export interface BatchTrace {
	/** The table's name. */
	readonly table: string
	/** The async context in which each read was begun: `reads[0].runInAsyncScope(() => …)`. */
	readonly reads: readonly AsyncResource[]
}

/**
 * Tells tracers that a statement reads for several requests. They would otherwise attribute it to the one request that
 * happened to send it. Not in the published types, because Node 26 swaps the two type parameters.
 */
const BATCHES: TracingChannel<unknown, BatchTrace> = tracingChannel('verbena:batch')

/** Batches reads that share a statement and a scope. */
export class GatheredReads<T> {
	readonly #reader: Reader<T>
	readonly #timeout: Timeout
	readonly #queue: BatchQueue<Read<T>>

	constructor(reader: Reader<T>, timeout: Timeout) {
		this.#reader = reader
		this.#timeout = timeout
		this.#queue = new BatchQueue(MAX_IDS, {
			begin: (read) => timeout.begin(read),
			send: (take) => this.#send(take),
			idle: () => reader.idle(),
		})
	}

	read(id: string): Promise<T | undefined> {
		return new Promise((resolve, reject) => {
			const read: Read<T> = new Pending(id, resolve, reject)
			if (BATCHES.hasSubscribers) read.context = new AsyncResource('VerbenaRead')
			this.#queue.add(read)
		})
	}

	#send(take: TakeBatch<Read<T>>): Promise<void> {
		const batch = take()
		const reads = BATCHES.hasSubscribers ? batch.flatMap(({ context = [] }) => context) : []
		const [first] = reads
		if (first === undefined) return this.#sendAll(batch)
		const trace = { table: this.#reader.table, reads }
		// In the context that a tracer binds to the batch, by default that of its first read.
		return first.runInAsyncScope(() => BATCHES.tracePromise(() => this.#sendAll(batch), trace))
	}

	#sendAll(batch: readonly Read<T>[]): Promise<void> {
		const [first] = batch
		return batch.length === 1 && first !== undefined ? this.#alone(first) : this.#batch(batch)
	}

	async #alone(read: Read<T>): Promise<void> {
		if (read.hasExpired) return
		try {
			this.#resolve(read, await this.#reader.one(read.input))
		} catch (error) {
			this.#reject(read, error)
		}
	}

	async #batch(batch: readonly Read<T>[]): Promise<void> {
		if (batch.length === 0) return
		const ids = [...new Set(batch.map(({ input }) => input))]
		let records: ReadonlyMap<string, T>
		try {
			records = await this.#reader.many(ids)
		} catch (error) {
			// No single id causes this error, so reading each id alone would only add up to a hundred statements.
			if (error instanceof ModelError && (error.kind === 'unavailable' || error.kind === 'busy')) {
				for (const read of batch) this.#reject(read, error)
				return
			}
			await Promise.all(batch.map((read) => this.#alone(read)))
			return
		}
		const missing: Read<T>[] = []
		for (const read of batch) {
			const record = records.get(read.input)
			if (record === undefined && this.#reader.looselyCompared) missing.push(read)
			else this.#resolve(read, record)
		}
		await Promise.all(missing.map((read) => this.#alone(read)))
	}

	#resolve(read: Read<T>, record: T | undefined): void {
		this.#timeout.end(read)
		read.resolve(record)
	}

	#reject(read: Read<T>, error: unknown): void {
		this.#timeout.end(read)
		read.reject(error)
	}
}
