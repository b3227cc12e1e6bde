/**
 * `SqlModel`: a table or view of an SQL database as a `Model`. What differs between databases is in its
 * `Dialect`, what differs between their drivers in its `Driver`; `lib/adapters/` brings both.
 */
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
	Selection,
	Value,
	Values,
} from '../crud/model.ts'
import { ModelError } from '../crud/model-error.ts'
import type { Seconds } from '../time.ts'
import { Asking } from './asking.ts'
import { writeCondition } from './condition.ts'
import { type Dialect, type ListParts, Sql } from './dialect.ts'
import type { Driver, Statement } from './driver.ts'
import { idOf } from './key.ts'
import { writeAfter } from './keyset.ts'
import { TIMEOUT_SECONDS } from './model-options.ts'
import { ALIAS, columnOf, columnsOf, tableName } from './name.ts'
import { Patience } from './patience.ts'
import { type Plan, planOf } from './plan.ts'
import { Reads } from './reads.ts'
import type { Table } from './table.ts'
import { deleteOf, insertOf, lockOf, presenceOf, type Subject, updateOf } from './writes.ts'

export class SqlModel implements Model {
	readonly name: string
	readonly fields: readonly Field[]
	readonly key: string
	readonly readOnly: boolean
	readonly #subject: Subject
	readonly #asking: Asking
	readonly #isWithin: boolean
	/** What was written for a selection; a model within a transaction has its parent's plans. */
	readonly #plans: WeakMap<Selection, Plan>
	readonly #reads = new WeakMap<Selection, Reads>()

	/** `timeoutSeconds` is how long the driver is waited for; it has been checked. @hidden */
	constructor(table: Table, driver: Driver, dialect: Dialect, timeoutSeconds?: Seconds)
	/** @internal */
	constructor(table: Table, asking: Asking, dialect: Dialect, plans: WeakMap<Selection, Plan>)
	constructor(
		table: Table,
		driver: Driver | Asking,
		dialect: Dialect,
		option: Seconds | WeakMap<Selection, Plan> = TIMEOUT_SECONDS,
	) {
		const columns = columnsOf(table)
		this.name = table.name
		this.fields = table.columns
		this.key = table.key
		this.readOnly = table.isView
		this.#subject = { table, columns, key: columnOf(columns, table.key), dialect }
		this.#isWithin = driver instanceof Asking
		this.#plans = option instanceof WeakMap ? option : new WeakMap()
		const timeoutSeconds = option instanceof WeakMap ? TIMEOUT_SECONDS : option
		this.#asking =
			driver instanceof Asking ? driver : new Asking(driver, dialect, table, new Patience(timeoutSeconds))
	}

	async list(query: ListQuery): Promise<Listed> {
		const { table, columns, dialect } = this.#subject
		const { where, after } = query
		const order = query.order.map(({ field, descending }) => ({
			column: columnOf(columns, field),
			descending,
		}))
		const parts: ListParts = {
			table,
			selected: this.#plan(query.selection).selected,
			order,
			limit: query.limit,
			offset: query.offset,
			where: where && ((sql) => writeCondition(sql, where, columns, ALIAS)),
			after: after && ((sql) => writeAfter(sql, order, after, ALIAS)),
			total: query.total,
		}
		const sql = new Sql(dialect)
		dialect.list(sql, parts)
		const rows = await this.#asking.ask(sql.statement(false))
		try {
			return dialect.listed(rows, parts)
		} catch (error) {
			// V8's: a text too long. Only where records come one by one, and are put together here.
			throw error instanceof RangeError ? new ModelError('too_large', [], error) : error
		}
	}

	async count(where: Condition | undefined): Promise<number> {
		const { table, columns, dialect } = this.#subject
		const sql = new Sql(dialect)
		sql.add(`select count(*) from ${tableName(dialect, table)} ${ALIAS}`)
		if (where !== undefined) {
			sql.add(' where ')
			writeCondition(sql, where, columns, ALIAS)
		}
		const { rows } = await this.#asking.ask(sql.statement(false))
		return Number(rows[0]?.[0])
	}

	read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		const reads = this.#readsOf(selection)
		// Within a transaction there is one connection, and nobody else who waits.
		if (this.#isWithin || !this.#subject.dialect.gathers) return reads.alone(id, where)
		return reads.gathered(id, where)
	}

	async create(values: Values, selection: Selection): Promise<Created> {
		this.#mustBeWritable()
		const { key, dialect } = this.#subject
		// SQLite would take null for a key, MySQL, in some of its modes, the empty text.
		if (!key.hasDefault && !key.generated && (values[key.name] ?? null) === null)
			throw new ModelError('not_null', [key.name])
		const plan = this.#plan(selection)
		if (!dialect.returning.insert) return this.#insertAndRead(values, plan)
		const { rows } = await this.#asking.ask(insertOf(this.#subject, values, plan))
		const [row] = rows
		if (row === undefined) throw new TypeError(`an insert into ${this.name} has answered no record`)
		const { json, version } = plan.returned.found(row)
		return { json, version, id: plan.returned.id(row) }
	}

	async update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent> {
		this.#mustBeWritable()
		const plan = this.#plan(selection)
		if (!this.#subject.dialect.returning.update) return this.#updateAndRead(id, changes, plan, guard)
		const { rows } = await this.#asking.ask(updateOf(this.#subject, id, changes, plan, guard))
		const [row] = rows
		return row === undefined ? this.#absent(id, plan, guard) : plan.returned.found(row)
	}

	async delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent> {
		this.#mustBeWritable()
		const plan = this.#plan(selection)
		if (!this.#subject.dialect.returning.delete) return this.#readAndDelete(id, plan, guard)
		const { rows } = await this.#asking.ask(deleteOf(this.#subject, id, plan, guard))
		const [row] = rows
		return row === undefined ? this.#absent(id, plan, guard) : plan.returned.found(row)
	}

	transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this.#asking.transaction((asking) => work(within(asking, this.#subject, this.#plans)))
	}

	async check(): Promise<void> {
		await this.#asking.ask(SIGN_OF_LIFE)
	}

	get source(): object {
		return this.#asking.driver
	}

	/** In one transaction: a record that is made but can't be read must not be told as not made. */
	#insertAndRead(values: Values, plan: Plan): Promise<Created> {
		return this.#atOnce(async (asking) => {
			const { insertId } = await asking.ask(insertOf(this.#subject, values, plan))
			const given = values[this.key]
			const id = given === undefined || given === null ? insertId : idOf(given)
			if (id === undefined)
				throw new TypeError(`the database doesn't tell the key that it has made for ${this.name}`)
			const found = await new Reads(this.#subject, plan, asking).alone(id, undefined)
			if (found === undefined) throw new TypeError(`a record just written into ${this.name} isn't there`)
			return { ...found, id }
		})
	}

	/** In one transaction: what another changes or deletes at once is not taken for what this change has made. */
	async #updateAndRead(id: string, changes: Changes, plan: Plan, guard: Guard): Promise<Found | Absent> {
		const found = await this.#atOnce(async (asking) => {
			const { affected } = await asking.ask(updateOf(this.#subject, id, changes, plan, guard))
			if (affected === 0) return undefined
			const key = changes[this.key]
			const reads = new Reads(this.#subject, plan, asking)
			return reads.alone(isGiven(key) ? idOf(key) : id, undefined)
		})
		return found ?? this.#absent(id, plan, guard)
	}

	async #readAndDelete(id: string, plan: Plan, guard: Guard): Promise<Found | Absent> {
		const found = await this.#atOnce(async (asking) => {
			const { rows } = await asking.ask(lockOf(this.#subject, id, plan, guard))
			const [row] = rows
			if (row === undefined) return undefined
			await asking.ask(deleteOf(this.#subject, id, plan, { where: undefined, version: undefined }))
			return plan.shape.found(row)
		})
		return found ?? this.#absent(id, plan, guard)
	}

	/** In one transaction: the one under way, whose work may ask for several things at once, or a new one. */
	#atOnce<T>(work: (asking: Asking) => Promise<T>): Promise<T> {
		return this.#isWithin ? work(this.#asking) : this.#asking.transaction(work)
	}

	/** Why no record was met: only a version that differs makes it stale. */
	async #absent(id: string, plan: Plan, guard: Guard): Promise<Absent> {
		if (guard.version === undefined) return 'missing'
		const { rows } = await this.#asking.ask(presenceOf(this.#subject, id, plan, guard))
		return rows.length === 0 ? 'missing' : 'stale'
	}

	#plan(selection: Selection): Plan {
		let plan = this.#plans.get(selection)
		if (plan === undefined) {
			const { table, columns, dialect } = this.#subject
			plan = planOf(table, columns, dialect, selection)
			this.#plans.set(selection, plan)
		}
		return plan
	}

	#readsOf(selection: Selection): Reads {
		let reads = this.#reads.get(selection)
		if (reads === undefined) {
			reads = new Reads(this.#subject, this.#plan(selection), this.#asking)
			this.#reads.set(selection, reads)
		}
		return reads
	}

	#mustBeWritable(): void {
		if (this.readOnly) throw new TypeError(`${this.name} is a view: its records can only be read`)
	}
}

/** Every dialect knows it, and no table is touched. */
const SIGN_OF_LIFE: Statement = { text: 'select 1', values: [], writes: false }

function isGiven(value: Value | symbol | undefined): value is NonNullable<Value> {
	return value !== undefined && value !== null && typeof value !== 'symbol'
}

// Not within the class: one that names itself is called something else where it is bundled.
function within(asking: Asking, { table, dialect }: Subject, plans: WeakMap<Selection, Plan>): SqlModel {
	return new SqlModel(table, asking, dialect, plans)
}
