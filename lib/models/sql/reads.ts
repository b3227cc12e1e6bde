/**
 * `Reads`: single records by id. Those without a condition have their text ready; those that wait together are
 * gathered, only with others of the same selection and the same condition.
 */
import type { Condition, Found } from '../model.ts'
import type { Asking } from './asking.ts'
import { writeCondition } from './condition.ts'
import { Sql } from './dialect.ts'
import type { Statement } from './driver.ts'
import { Gather } from './gather.ts'
import { valueOfId } from './key.ts'
import { ALIAS } from './name.ts'
import type { Plan } from './plan.ts'
import { type Subject, writeGuarded } from './writes.ts'

export class Reads {
	readonly #subject: Subject
	/** Asked each time: it may make room for others. */
	readonly #plan: () => Plan
	readonly #asking: Asking
	/** The queues in which someone waits, by the condition's text and values. */
	readonly #queues = new Map<string, Gather<Found>>()

	constructor(subject: Subject, plan: () => Plan, asking: Asking) {
		this.#subject = subject
		this.#plan = plan
		this.#asking = asking
	}

	/** Answers as soon as it can, alone or with others. */
	gathered(id: string, where: Condition | undefined): Promise<Found | undefined> {
		const scope = where === undefined ? '' : this.#scopeOf(where)
		if (scope === undefined) return this.alone(id, where)
		let queue = this.#queues.get(scope)
		if (queue === undefined) {
			queue = this.#queue(scope, where)
			this.#queues.set(scope, queue)
		}
		return queue.read(id)
	}

	/** Asks for this one record. */
	async alone(id: string, where: Condition | undefined): Promise<Found | undefined> {
		const plan = this.#plan()
		const { rows } = await this.#asking.ask(this.#one(id, where, plan))
		const [row] = rows
		return row === undefined ? undefined : plan.shape.found(row)
	}

	#queue(scope: string, where: Condition | undefined): Gather<Found> {
		return new Gather(
			{
				one: (id) => this.alone(id, where),
				many: (ids) => this.#many(ids, where),
				looselyCompared: this.#subject.key.type === 'text' && this.#subject.dialect.keyIs === undefined,
				idle: () => this.#queues.delete(scope),
			},
			this.#asking.patience,
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
		// Of conditions there may be many, and long ones.
		if (known === undefined && where === undefined) gathered.keep(condition, sql.text)
		const { rows } = await this.#asking.ask(sql.statement(false))
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
	 * A text that only equal conditions share: whoever is answered together has the same rights. `undefined`
	 * where values can't be told apart for certain.
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
