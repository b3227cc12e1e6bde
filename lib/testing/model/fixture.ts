/** The fixture of the model contract's cases: a model over an empty table, and helpers that call it. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type {
	Absent,
	Changes,
	Condition,
	Field,
	Found,
	Guard,
	Listed,
	ListQuery,
	Model,
	Order,
	Selection,
	Value,
	Values,
} from '../../models/model.ts'
import { ModelError, type ModelErrorKind } from '../../models/model-error.ts'
import type { Case } from '../case.ts'
import { type ContractField, type Feature, FIELDS, type MakeRelatedModels } from './fields.ts'

/** Creates a model over an empty table. */
export type MakeModel = () => Model | Promise<Model>

type KeyKind = 'text' | 'uuid' | 'bigint' | 'several'

/** How to create the models under test, and what they don't support. */
export interface ModelContractOptions {
	/** Creates a model over an empty table with the fields of `MODEL_FIELDS`, except those of skipped features. */
	readonly make: MakeModel
	/**
	 * Create models over empty tables with a key `id` of another type, and `title`, a text that isn't nullable and has no
	 * default. `text` ids have up to 200 characters and no default; `uuid` and `bigint` ids are generated unless given.
	 * `several` has a key of three fields without defaults, in this order: `day`, a date; `tag`, a text of up to 200
	 * characters; `id`, an integer.
	 *
	 * @default their cases are omitted
	 */
	readonly keys?: { readonly [Type in KeyKind]?: MakeModel }
	/**
	 * Creates models over empty tables that refer to each other, if the model implements `references` and `joins`: see
	 * `RelatedModels`.
	 *
	 * @default their cases are omitted
	 */
	readonly relations?: MakeRelatedModels
	/** Features that the store doesn't support; their fields and cases are omitted. @default none */
	readonly skip?: readonly Feature[]
	/** Called with each model after its case, passed or failed. @default nothing */
	readonly close?: (model: Model) => void | Promise<void>
}

/** A case for any model. */
export interface ModelTest {
	readonly name: string
	readonly needs?: readonly Feature[]
	readonly key?: KeyKind
	run(fixture: ModelFixture): Promise<void>
}

/** A list's query. In `order`, `-` marks descending fields, and `id` is appended if missing. */
export interface ListOptions extends Partial<Omit<ListQuery, 'selection' | 'order'>> {
	readonly fields?: readonly string[]
	readonly order?: readonly string[]
}

type JsonRecord = Readonly<Record<string, unknown>>

const NO_GUARD: Guard = { where: undefined, version: undefined }

/** Makes cases of functions, by name. */
export function tests<Fixture = ModelFixture>(
	functions: Readonly<Record<string, (fixture: Fixture) => Promise<void>>>,
): { name: string; run(fixture: Fixture): Promise<void> }[] {
	return Object.entries(functions).map(([name, run]) => ({ name, run }))
}

/** Makes cases that need features, or a key of another type. */
export function testsFor(
	what: readonly Feature[] | NonNullable<ModelTest['key']>,
	functions: Readonly<Record<string, ModelTest['run']>>,
): ModelTest[] {
	const more = typeof what === 'string' ? { key: what } : { needs: what }
	return tests(functions).map((test) => ({ ...test, ...more }))
}

/** Converts a model test into a test case for the runner; `undefined` if the options omit it. */
export function toModelCase(test: ModelTest, options: ModelContractOptions): Case | undefined {
	const { skip = [], keys = {}, close } = options
	const make = test.key === undefined ? options.make : keys[test.key]
	if (make === undefined || test.needs?.some((feature) => skip.includes(feature)) === true) return undefined
	return {
		name: test.name,
		async run() {
			const model = await make()
			try {
				await test.run(new ModelFixture(model, skip))
			} finally {
				await close?.(model)
			}
		},
	}
}

export class ModelFixture {
	readonly model: Model
	/** The table's fields. */
	readonly fields: readonly ContractField[]
	readonly #selections = new Map<string, Selection>()

	constructor(model: Model, skip: readonly Feature[]) {
		this.model = model
		this.fields = FIELDS.filter(({ needs }) => needs === undefined || !skip.includes(needs))
	}

	has(name: string): boolean {
		return this.fields.some((field) => field.name === name)
	}

	/** A selection of fields by their own names. The same arguments give the same object. */
	select(fields: readonly string[], version?: string): Selection {
		const key = `${fields.join()} ${version}`
		const selection = this.#selections.get(key) ?? { fields, names: fields, version }
		this.#selections.set(key, selection)
		return selection
	}

	/** Creates a record, by default with a title, and returns its id. */
	async add(values: Values = {}): Promise<string> {
		const { id } = await this.model.create({ title: 'a title', ...values }, this.select(['id']))
		return id
	}

	/** Creates records one after the other. */
	async addAll(records: readonly Values[]): Promise<string[]> {
		const ids: string[] = []
		for (const values of records) ids.push(await this.add(values))
		return ids
	}

	/** Fields of a record. @throws AssertionError if there is no such record */
	async read(id: string, fields: readonly string[]): Promise<JsonRecord> {
		const found = await this.model.read(id, this.select(fields), undefined)
		ok(found !== undefined, `there is no record ${id}`)
		return parsed(found)
	}

	/** `model.update`, by default with the id selected and without a guard. */
	update(
		id: string,
		changes: Changes,
		selection: Selection = this.select(['id']),
		guard: Partial<Guard> = {},
	): Promise<Found | Absent> {
		return this.model.update(id, changes, selection, { ...NO_GUARD, ...guard })
	}

	/** `model.delete`, with the defaults of `update`. */
	delete(
		id: string,
		selection: Selection = this.select(['id']),
		guard: Partial<Guard> = {},
	): Promise<Found | Absent> {
		return this.model.delete(id, selection, { ...NO_GUARD, ...guard })
	}

	/** Runs `work` in a transaction, with a fixture over its model. */
	transaction<T>(work: (within: ModelFixture) => Promise<T>): Promise<T> {
		return this.model.transaction((model) => work(new ModelFixture(model, [])))
	}

	async value(id: string, field: string): Promise<unknown> {
		return (await this.read(id, [field]))[field]
	}

	/** Asserts that a condition finds the records with these titles, by `list` and `count`. */
	async finds(where: Condition, titles: readonly string[], message?: string): Promise<void> {
		const found = (await this.column({ where })).map(String)
		deepStrictEqual(found.toSorted(), titles.toSorted(), message)
		strictEqual(await this.model.count(where), titles.length, message)
	}

	query(
		{ fields = ['title'], order = [], ...options }: ListOptions = {},
		selection?: Selection,
	): Promise<Listed> {
		return this.model.list({
			...{ where: undefined, limit: 100, offset: 0, after: undefined, total: false, ...options },
			selection: selection ?? this.select(fields),
			order: orderOf(order),
		})
	}

	async list(options: ListOptions = {}): Promise<JsonRecord[]> {
		return recordsOf(await this.query(options))
	}

	async column(options: ListOptions = {}, field = 'title'): Promise<unknown[]> {
		const records = await this.list({ ...options, fields: [field] })
		return records.map((record) => record[field])
	}

	/** The cursor of the next page, parsed from `next` as a handler does. */
	after({ next }: Listed, order: readonly string[]): readonly Value[] | undefined {
		if (next === undefined) return undefined
		const values: unknown = JSON.parse(next)
		const terms = orderOf(order)
		ok(
			Array.isArray(values) && values.length === terms.length,
			`next doesn't have one value for each term: ${next}`,
		)
		return terms.map(({ field }, at) => operandOf(values[at], this.#field(field)))
	}

	/** Asserts an error of this kind that names these fields or none. */
	async refuses(
		work: () => Promise<unknown>,
		kind: ModelErrorKind,
		fields: readonly string[],
		message?: string,
	): Promise<void> {
		await rejects(
			work,
			(error: unknown) => {
				ok(error instanceof ModelError, `${message ?? kind}: ${String(error)} is not a ModelError`)
				strictEqual(error.kind, kind, message)
				if (error.fields.length > 0) deepStrictEqual(error.fields.toSorted(), fields.toSorted(), message)
				return true
			},
			message,
		)
	}

	#field(name: string): Field {
		const field = this.model.fields.find((each) => each.name === name)
		ok(field !== undefined, `the model has no field ${name}`)
		return field
	}
}

export function not(term: Condition): Condition {
	return { op: 'not', term }
}

/** Parses the record in a result. @throws AssertionError if the result has no record, or it isn't JSON */
export function parsed(found: Found | Absent | undefined): JsonRecord {
	ok(typeof found === 'object', `the record is ${String(found)}`)
	return objectOf(parse(found.json))
}

export function recordsOf({ json }: Listed): JsonRecord[] {
	const records = parse(json)
	ok(Array.isArray(records), 'a list is an array')
	return records.map(objectOf)
}

function parse(json: string): unknown {
	strictEqual(typeof json, 'string', 'json is a text')
	try {
		return JSON.parse(json)
	} catch (error) {
		ok(false, `${String(error)}: ${json.slice(0, 200)}`)
	}
}

function objectOf(value: unknown): JsonRecord {
	ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'a record is an object')
	return value as JsonRecord // an object, whose members are unknown
}

/** The terms of an order, with the key appended if missing. */
function orderOf(names: readonly string[]): Order[] {
	const last = names.at(-1) ?? ''
	const all =
		last.endsWith('id') && last.length <= 3 ? names : [...names, last.startsWith('-') ? '-id' : 'id']
	return all.map((name) => ({ field: name.replace(/^-/, ''), descending: name.startsWith('-') }))
}

/** Converts a value of `next` to the field's type. */
export function operandOf(json: unknown, { name, type }: Field): Value {
	if (json === null) return null
	const wanted = type === 'boolean' ? 'boolean' : type === 'integer' ? 'number' : 'string'
	if (type === 'float' && typeof json === 'number') return json
	ok(typeof json === wanted, `next has ${name} as a ${typeof json}, not as a ${wanted}`)
	if (type === 'float') return Number(json)
	if (type === 'bigint') {
		const number = Number(json)
		return Number.isSafeInteger(number) ? number : BigInt(String(json))
	}
	return json as Value // a boolean, number or string
}
