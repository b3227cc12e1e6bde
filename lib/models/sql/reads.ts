/**
 * `Reads`: reads single records by id. A read without a condition has its text ready; reads that wait at the same time are
 * gathered into one statement, if their selection and their condition are the same.
 */
import type { Condition, Found } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { BatchQueue, Pending, type TakeBatch } from './batch-queue.ts'
import { writeCondition } from './condition.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import type { Plan } from './plan.ts'
import type { Runner, Timeout } from './runner.ts'
import { ALIAS, valueOfId } from './table.ts'
import { type Subject, writeGuarded } from './writes.ts'

export class Reads {
	readonly #subject: Subject
	/** Called each time: it may evict others. */
	readonly #plan: () => Plan
	readonly #runner: Runner
	/** The queues in which reads wait, by the condition's text and values. */
	readonly #gathered = new Map<string, GatheredReads<Found>>()

	constructor(subject: Subject, plan: () => Plan, runner: Runner) {
		this.#subject = subject
		this.#plan = plan
		this.#runner = runner
	}

	/** Reads a record, alone or together with others. */
	gathered(id: string, where: Condition | undefined): Promise<Found | undefined> {
		const scope = where === undefined ? '' : this.#scopeOf(where)
		if (scope === undefined) return this.alone(id, where)
		let gathered = this.#gathered.get(scope)
		if (gathered === undefined) {
			gathered = this.#gather(scope, where)
			this.#gathered.set(scope, gathered)
		}
		return gathered.read(id)
	}

	/** Reads a record by a statement of its own. */
	async alone(id: string, where: Condition | undefined): Promise<Found | undefined> {
		const plan = this.#plan()
		const { rows } = await this.#runner.run(this.#one(id, where, plan))
		const [row] = rows
		return row === undefined ? undefined : plan.shape.found(row)
	}

	#gather(scope: string, where: Condition | undefined): GatheredReads<Found> {
		return new GatheredReads(
			{
				one: (id) => this.alone(id, where),
				many: (ids) => this.#many(ids, where),
				looselyCompared: this.#subject.key.type === 'text' && this.#subject.dialect.keyIs === undefined,
				idle: () => this.#gathered.delete(scope),
			},
			this.#runner.timeout,
		)
	}

	async #many(ids: readonly string[], where: Condition | undefined): Promise<Map<string, Found>> {
		const { dialect, key, columns } = this.#subject
		const { head, shape, gathered } = this.#plan()
		const sql = new Sql(dialect)
		dialect.keyIn(sql, key, ALIAS, ids)
		if (where !== undefined) {
			sql.add(' and ')
			writeCondition(sql, where, columns, ALIAS)
		}
		const condition = [sql.text]
		const known = gathered.get(condition)
		sql.text = known ?? `${head}${sql.text}`
		// Not of conditions: there may be many, and long ones.
		if (known === undefined && where === undefined) gathered.keep(condition, sql.text)
		const { rows } = await this.#runner.run(sql.statement(false))
		return new Map(rows.map((row) => [shape.id(row), shape.found(row)]))
	}

	#one(id: string, where: Condition | undefined, plan: Plan): Statement {
		const { key, dialect } = this.#subject
		if (where === undefined && dialect.keyIs === undefined) {
			return { text: plan.byId, values: [dialect.bind(valueOfId(id, key), key)], writes: false }
		}
		const sql = new Sql(dialect)
		sql.add(plan.head)
		writeGuarded(sql, this.#subject, id, plan, { where, version: undefined }, ALIAS)
		return sql.statement(false)
	}

	/**
	 * A text that only equal conditions share, as reads that are gathered have the same rights. `undefined` where values
	 * can't be compared for certain.
	 */
	#scopeOf(where: Condition): string | undefined {
		const sql = new Sql(this.#subject.dialect)
		writeCondition(sql, where, this.#subject.columns, ALIAS)
		const parts = [sql.text]
		for (const value of sql.values) {
			if (value !== null && (typeof value === 'object' || typeof value === 'function')) return undefined
			parts.push(typeof value, String(value))
		}
		return JSON.stringify(parts)
	}
}

const MOST_IDS = 100

/** How records are read. */
export interface Reader<T> {
	one(id: string): Promise<T | undefined>
	/** The records that exist, by their ids. */
	many(ids: readonly string[]): Promise<ReadonlyMap<string, T>>
	/** Whether an id can find a record whose own id is written in another way: those that `many` misses are read alone. */
	readonly looselyCompared: boolean
	/** Called when nothing waits any more. */
	idle(): void
}

type Read<T> = Pending<string, T | undefined>

/** Reads of one statement and one scope. */
export class GatheredReads<T> {
	readonly #reader: Reader<T>
	readonly #timeout: Timeout
	readonly #queue: BatchQueue<Read<T>>

	constructor(reader: Reader<T>, timeout: Timeout) {
		this.#reader = reader
		this.#timeout = timeout
		this.#queue = new BatchQueue(MOST_IDS, {
			begin: (read) => timeout.begin(read),
			send: (take) => this.#send(take),
			idle: () => reader.idle(),
		})
	}

	read(id: string): Promise<T | undefined> {
		return new Promise((resolve, reject) => {
			this.#queue.add(new Pending(id, resolve, reject))
		})
	}

	#send(take: TakeBatch<Read<T>>): Promise<void> {
		const batch = take()
		const [first] = batch
		return batch.length === 1 && first !== undefined ? this.#alone(first) : this.#together(batch)
	}

	async #alone(read: Read<T>): Promise<void> {
		if (read.isOver) return
		try {
			this.#answer(read, await this.#reader.one(read.input))
		} catch (error) {
			this.#refuse(read, error)
		}
	}

	async #together(batch: readonly Read<T>[]): Promise<void> {
		if (batch.length === 0) return
		const ids = [...new Set(batch.map(({ input }) => input))]
		let records: ReadonlyMap<string, T>
		try {
			records = await this.#reader.many(ids)
		} catch (error) {
			// That is not about one id: reading each alone would add a hundred statements.
			if (error instanceof ModelError && (error.kind === 'unavailable' || error.kind === 'busy')) {
				for (const read of batch) this.#refuse(read, error)
				return
			}
			await Promise.all(batch.map((read) => this.#alone(read)))
			return
		}
		const missed: Read<T>[] = []
		for (const read of batch) {
			const record = records.get(read.input)
			if (record === undefined && this.#reader.looselyCompared) missed.push(read)
			else this.#answer(read, record)
		}
		await Promise.all(missed.map((read) => this.#alone(read)))
	}

	#answer(read: Read<T>, record: T | undefined): void {
		this.#timeout.end(read)
		read.resolve(record)
	}

	#refuse(read: Read<T>, error: unknown): void {
		this.#timeout.end(read)
		read.reject(error)
	}
}
