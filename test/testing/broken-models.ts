/** Models that each violate one promise, for the test of the model contract. */
import { MemoryModel, type MemoryModelOptions } from '../../lib/models/memory/memory-model.ts'
import {
	type Absent,
	type Changes,
	type Condition,
	type Created,
	type Found,
	type Guard,
	type Listed,
	type ListQuery,
	type Model,
	NOW,
	type Selection,
	type Values,
} from '../../lib/models/model.ts'
import { ModelError } from '../../lib/models/model-error.ts'
import { CONTRACT_OPTIONS } from './memory-for-contract.ts'

/** A model that asks another one; what breaks overrides a method. */
export class Passing implements Model {
	readonly inner: Model

	constructor(inner: Model = new MemoryModel('contract', CONTRACT_OPTIONS)) {
		this.inner = inner
	}

	get name() {
		return this.inner.name
	}

	get fields() {
		return this.inner.fields
	}

	get key() {
		return this.inner.key
	}

	get readOnly() {
		return this.inner.readOnly
	}

	list(query: ListQuery): Promise<Listed> {
		return this.inner.list(query)
	}

	count(where: Condition | undefined): Promise<number> {
		return this.inner.count(where)
	}

	read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		return this.inner.read(id, selection, where)
	}

	create(values: Values, selection: Selection): Promise<Created> {
		return this.inner.create(values, selection)
	}

	update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.inner.update(id, changes, selection, guard)
	}

	delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.inner.delete(id, selection, guard)
	}

	transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this.inner.transaction(work)
	}
}

/** Sets all times to one long ago. */
export class Timing extends Passing {
	readonly setsNow = true

	override update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		const timed = changes.at === NOW ? { ...changes, at: '2001-01-01T00:00:00.000Z' } : changes
		return super.update(id, timed, selection, guard)
	}
}

/** Lists what it is asked for after `asked` has changed the question. */
export class ListingOther extends Passing {
	readonly #asked: (query: ListQuery) => ListQuery

	constructor(asked: (query: ListQuery) => ListQuery) {
		super()
		this.#asked = asked
	}

	override list(query: ListQuery): Promise<Listed> {
		return super.list(this.#asked(query))
	}
}

/** Answers a list after `answered` has changed it. */
export class AnsweringOther extends Passing {
	readonly #answered: (listed: Listed, query: ListQuery) => Listed

	constructor(answered: (listed: Listed, query: ListQuery) => Listed) {
		super()
		this.#answered = answered
	}

	override async list(query: ListQuery): Promise<Listed> {
		return this.#answered(await super.list(query), query)
	}
}

/** Changes the JSON of every answer. */
export class Rewriting extends Passing {
	readonly #rewrite: (json: string) => string

	constructor(rewrite: (json: string) => string) {
		super()
		this.#rewrite = rewrite
	}

	override async list(query: ListQuery): Promise<Listed> {
		const listed = await super.list(query)
		return { ...listed, json: this.#rewrite(listed.json) }
	}

	override async read(id: string, selection: Selection, where: Condition | undefined) {
		const found = await super.read(id, selection, where)
		return found && { ...found, json: this.#rewrite(found.json) }
	}

	override async create(values: Values, selection: Selection): Promise<Created> {
		const created = await super.create(values, selection)
		return { ...created, json: this.#rewrite(created.json) }
	}
}

/** Changes every condition. */
export class Misreading extends Passing {
	readonly #condition: (where: Condition) => Condition

	constructor(condition: (where: Condition) => Condition) {
		super()
		this.#condition = condition
	}

	override list(query: ListQuery): Promise<Listed> {
		return super.list({ ...query, where: this.#changed(query.where) })
	}

	override count(where: Condition | undefined): Promise<number> {
		return super.count(this.#changed(where))
	}

	override read(id: string, selection: Selection, where: Condition | undefined) {
		return super.read(id, selection, this.#changed(where))
	}

	#changed(where: Condition | undefined): Condition | undefined {
		return where && everywhere(where, this.#condition)
	}
}

/** A condition, all of whose parts have been changed. */
export function everywhere(where: Condition, change: (where: Condition) => Condition): Condition {
	if (where.op === 'not') return change({ op: 'not', term: everywhere(where.term, change) })
	if (where.op !== 'and' && where.op !== 'or') return change(where)
	return change({ op: where.op, terms: where.terms.map((term) => everywhere(term, change)) })
}

/** Changes the values that it is given to store. */
export class Storing extends Passing {
	readonly #stored: (values: Changes) => Changes

	constructor(stored: (values: Changes) => Changes) {
		super()
		this.#stored = stored
	}

	override create(values: Values, selection: Selection): Promise<Created> {
		// No test makes it hold DEFAULT, which only updates have.
		return super.create(this.#stored(values) as Values, selection)
	}

	override update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		return super.update(id, this.#stored(changes), selection, guard)
	}
}

/** Changes the guard of every change. */
export class Unguarded extends Passing {
	readonly #guard: (guard: Guard) => Guard

	constructor(guard: (guard: Guard) => Guard) {
		super()
		this.#guard = guard
	}

	override update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		return super.update(id, changes, selection, this.#guard(guard))
	}

	override delete(id: string, selection: Selection, guard: Guard) {
		return super.delete(id, selection, this.#guard(guard))
	}
}

/** Answers other errors. */
export class Failing extends Passing {
	readonly #failure: (error: ModelError) => unknown

	constructor(failure: (error: ModelError) => unknown) {
		super()
		this.#failure = failure
	}

	override create(values: Values, selection: Selection): Promise<Created> {
		return super.create(values, selection).catch((error: unknown) => {
			throw error instanceof ModelError ? this.#failure(error) : error
		})
	}
}

/** Puts null into all fields that an update doesn't name, as a replacement would. */
export class Replacing extends Passing {
	override update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		return super.update(id, { note: null, order: null, ...changes }, selection, guard)
	}
}

/** Looks whether a record is the one, and changes it a turn later. */
export class InTwoSteps extends Passing {
	override async update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		const found = await super.read(id, selection, guard.where)
		if (found === undefined) return 'missing'
		if (guard.version !== undefined && guard.version !== found.version) return 'stale'
		await new Promise(setImmediate)
		return super.update(id, changes, selection, { where: undefined, version: undefined })
	}
}

/** Takes an update for one of no record when it changes nothing, as drivers that count changed rows do. */
export class CountingChanged extends Passing {
	override async update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		const everything = this.fields.map(({ name }) => name).filter((name) => name !== 'version')
		const all = { fields: everything, names: everything, version: undefined }
		const before = await super.read(id, all, undefined)
		const updated = await super.update(id, changes, selection, guard)
		const after = await super.read(id, all, undefined)
		return before?.json === after?.json && selection.version === undefined ? 'missing' : updated
	}
}

/** Answers what a change has made of a record where it should answer what was. */
export class AnsweringOld extends Passing {
	override async update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		const before = await super.read(id, selection, undefined)
		const updated = await super.update(id, changes, selection, guard)
		return typeof updated === 'object' && before !== undefined ? before : updated
	}
}

/** A transaction that is none: what it has done before it fails stays. */
export class Untransacted extends Passing {
	override transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return work(this.inner)
	}
}

/** A lock that holds nobody up. */
export class Unlocked extends Untransacted {
	override transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return work(new Unlocked(this.inner))
	}

	lock(id: string, selection: Selection, where: Condition | undefined) {
		return this.inner.read(id, selection, where)
	}
}

/** A transaction that undoes only what it has created. */
export class Undoing extends Passing {
	override async transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		const made: string[] = []
		const { inner } = this
		const noting = new (class extends Passing {
			override async create(values: Values, selection: Selection): Promise<Created> {
				const created = await super.create(values, selection)
				made.push(created.id)
				return created
			}
		})(inner)
		try {
			return await work(noting)
		} catch (error) {
			const selection = { fields: [], names: [], version: undefined }
			for (const id of made) await inner.delete(id, selection, { where: undefined, version: undefined })
			throw error
		}
	}
}

/** Gathers reads, and answers those that come while a query is under way from that one. */
export class Joining extends Passing {
	readonly #underWay = new Map<string, Promise<Found | undefined>>()

	override async read(id: string, selection: Selection, where: Condition | undefined) {
		const key = JSON.stringify([id, selection.names])
		const known = this.#underWay.get(key)
		if (known !== undefined) return known
		const asked = super.read(id, selection, where).then(async (found) => {
			await new Promise(setImmediate)
			this.#underWay.delete(key)
			return found
		})
		this.#underWay.set(key, asked)
		return asked
	}
}

/** Remembers records by their id, and forgets them by no change. */
export class Remembering extends Passing {
	readonly #known = new Map<string, Found | undefined>()

	override async read(id: string, selection: Selection, where: Condition | undefined) {
		const key = `${id} ${selection.names.join()} ${JSON.stringify(where)}`
		if (!this.#known.has(key)) this.#known.set(key, await super.read(id, selection, where))
		return this.#known.get(key)
	}
}

/** A model whose options differ from those that the contract asks for. */
export function declared(change: Partial<MemoryModelOptions>): Model {
	return new MemoryModel('contract', { ...CONTRACT_OPTIONS, ...change })
}

/** The same fields, one of them changed. */
export function withField(name: string, change: object): Model {
	const { fields } = CONTRACT_OPTIONS
	const field = fields[name]
	return declared({
		fields: { ...fields, [name]: { ...(typeof field === 'object' ? field : {}), ...change } as never },
	})
}

/** Values, each changed by its own. */
export function eachValue(change: (value: Changes[string], name: string) => Changes[string]) {
	return (values: Changes): Changes =>
		Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))
}
