/** What each case of the model contract plays on: a model over an empty table, and short ways to ask it. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type {
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
import { type ContractField, type Feature, FIELDS } from './fields.ts'

/** Makes a model over an empty table. */
export type MakeModel = () => Model | Promise<Model>

/** How the models that are tried are made, and what they can't do. */
export interface ModelContractOptions {
	/** A model over an empty table with the fields of `MODEL_FIELDS`, but for those that are skipped. */
	readonly make: MakeModel
	/**
	 * Models over empty tables with another type of key, which has the name `id`, and a `title`: a text that
	 * isn't null and has no default. `text` ids, of up to 200 characters, are given; `uuid` and `bigint` ids are
	 * made, unless they are given.
	 *
	 * @default their cases are left out
	 */
	readonly keys?: { readonly [Type in 'text' | 'uuid' | 'bigint']?: MakeModel }
	/** What the store can't hold or do: its fields and cases are left out. @default nothing */
	readonly skip?: readonly Feature[]
	/** Called with each model after its case, whether it passed or not. @default nothing */
	readonly close?: (model: Model) => void | Promise<void>
}

/** A case before it is known which model it is for. */
export interface ModelScene {
	readonly name: string
	readonly needs?: readonly Feature[]
	readonly key?: 'text' | 'uuid' | 'bigint'
	play(stage: ModelStage): Promise<void>
}

/**
 * A list as it is asked for in a case: by names of fields, `-` before one that descends; `id` at the end goes
 * without saying.
 */
export interface Asked {
	readonly fields?: readonly string[]
	readonly where?: Condition | undefined
	readonly order?: readonly string[]
	readonly limit?: number
	readonly offset?: number
	readonly after?: readonly Value[] | undefined
	readonly total?: boolean
	readonly maxBytes?: number
}

/** A parsed record. */
export type Wire = Readonly<Record<string, unknown>>

export const NO_GUARD: Guard = { where: undefined, version: undefined }

/** Makes a case of a scene; `undefined` for one that the options leave out. */
export function toModelCase(scene: ModelScene, options: ModelContractOptions): Case | undefined {
	const { skip = [], keys = {}, close } = options
	const make = scene.key === undefined ? options.make : keys[scene.key]
	if (make === undefined || scene.needs?.some((feature) => skip.includes(feature)) === true) return undefined
	return {
		name: scene.name,
		async run() {
			const model = await make()
			try {
				await scene.play(new ModelStage(model, skip))
			} finally {
				await close?.(model)
			}
		},
	}
}

/** A model, and what a case does with it. */
export class ModelStage {
	readonly model: Model
	/** The fields that the table has. */
	readonly fields: readonly ContractField[]
	readonly #selections = new Map<string, Selection>()

	constructor(model: Model, skip: readonly Feature[]) {
		this.model = model
		this.fields = FIELDS.filter(({ needs }) => needs === undefined || !skip.includes(needs))
	}

	has(name: string): boolean {
		return this.fields.some((field) => field.name === name)
	}

	/** A selection of fields by their own names. The same names give the same object. */
	select(fields: readonly string[], version?: string): Selection {
		const known = `${fields.join()} ${version}`
		const selection = this.#selections.get(known) ?? { fields, names: fields, version }
		this.#selections.set(known, selection)
		return selection
	}

	/** Creates a record, with a title if it has none, and answers its id. */
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

	/** Reads fields of a record. @throws AssertionError when there is no such record */
	async read(id: string, fields: readonly string[], where?: Condition): Promise<Wire> {
		const found = await this.model.read(id, this.select(fields), where)
		ok(found !== undefined, `there is no record ${id}`)
		return parsed(found)
	}

	/** One field of a record. */
	async value(id: string, field: string): Promise<unknown> {
		return (await this.read(id, [field]))[field]
	}

	ask(asked: Asked = {}): Promise<Listed> {
		return this.model.list({
			selection: this.select(asked.fields ?? ['title']),
			where: asked.where,
			order: orderOf(asked.order ?? []),
			limit: asked.limit ?? 100,
			offset: asked.offset ?? 0,
			after: asked.after,
			total: asked.total ?? false,
			maxBytes: asked.maxBytes,
		} satisfies ListQuery)
	}

	/** The records of a list. */
	async list(asked: Asked = {}): Promise<Wire[]> {
		return recordsOf(await this.ask(asked))
	}

	/** One field of each record of a list; the title where none is named. */
	async column(asked: Asked = {}, field = 'title'): Promise<unknown[]> {
		const records = await this.list({ ...asked, fields: [field] })
		return records.map((record) => record[field])
	}

	/** The values behind which the next page begins, as a handler makes them of `next`. */
	after({ next }: Listed, order: readonly string[]): readonly Value[] | undefined {
		if (next === undefined) return undefined
		const values: unknown = JSON.parse(next)
		const terms = orderOf(order)
		ok(
			Array.isArray(values) && values.length === terms.length,
			`next has not one value for each term: ${next}`,
		)
		return terms.map(({ field }, at) => operandOf(values[at], this.#field(field)))
	}

	/** Asserts that the store refuses, in which way, and that it names the fields or none. */
	async refuses(
		work: () => Promise<unknown>,
		kind: ModelErrorKind,
		fields: readonly string[],
		message?: string,
	): Promise<void> {
		await rejects(
			work,
			(error: unknown) => {
				ok(error instanceof ModelError, `${message ?? kind}: ${String(error)} is no ModelError`)
				strictEqual(error.kind, kind, message)
				if (error.fields.length > 0) deepStrictEqual(error.fields, fields, message)
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

/** The record of an answer. @throws AssertionError when there is none, or it isn't JSON */
export function parsed(found: Found | 'missing' | 'stale'): Wire {
	ok(typeof found === 'object', `the record is ${String(found)}`)
	return objectOf(parse(found.json))
}

export function recordsOf({ json }: Listed): Wire[] {
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

function objectOf(value: unknown): Wire {
	ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'a record is an object')
	// It was just seen to be one; its members are unknown.
	return value as Wire
}

/** The terms of an order that ends with the key. */
function orderOf(names: readonly string[]): Order[] {
	const last = names.at(-1) ?? ''
	const all =
		last.endsWith('id') && last.length <= 3 ? names : [...names, last.startsWith('-') ? '-id' : 'id']
	return all.map((name) => ({ field: name.replace(/^-/, ''), descending: name.startsWith('-') }))
}

/** A value of `next`, as what it is compared with. */
function operandOf(json: unknown, { name, type }: Field): Value {
	if (json === null) return null
	const wanted = type === 'boolean' ? 'boolean' : type === 'integer' ? 'number' : 'string'
	if (type === 'float' && typeof json === 'number') return json
	ok(typeof json === wanted, `next has ${name} as a ${typeof json}, not as a ${wanted}`)
	if (type === 'float') return Number(json)
	if (type === 'bigint') {
		const number = Number(json)
		return Number.isSafeInteger(number) ? number : BigInt(String(json))
	}
	// A boolean, number or string: it has just been seen.
	return json as Value
}
