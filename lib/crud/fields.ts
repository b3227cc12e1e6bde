/**
 * `CrudField`: a field of a model under the name by which clients know it; and `Selections`, the sets of fields that are
 * answered.
 */
import { nearest } from '../base/options.ts'
import type { Field, Model, Selection } from '../models/model.ts'
import type { Columns } from './options.ts'

export interface CrudField {
	/** What clients call it. */
	readonly name: string
	/** What the model calls it, and what it holds. */
	readonly field: Field
}

export type FieldMap = ReadonlyMap<string, CrudField>

/**
 * The fields of a model by clients' names, in the model's order.
 *
 * @throws TypeError for an unknown column, and for two fields of one name
 */
export function crudFields(owner: string, model: Model, columns: Columns | undefined): FieldMap {
	const renamed = renamedColumns(owner, model, columns)
	const fields = new Map<string, CrudField>()
	for (const field of model.fields) {
		const name = renamed.get(field.name) ?? field.name
		const taken = fields.get(name)
		if (taken !== undefined)
			throw new TypeError(
				`${owner}: columns calls both ${taken.field.name} and ${field.name} ${name}: give one of them another name`,
			)
		fields.set(name, { name, field })
	}
	return fields
}

/** Clients' names by the model's. */
function renamedColumns(owner: string, model: Model, columns: Columns = {}): ReadonlyMap<string, string> {
	if (columns === 'camelCase') return new Map(model.fields.map(({ name }) => [name, camelCase(name)]))
	const known = model.fields.map(({ name }) => name)
	const renamed = new Map<string, string>()
	for (const [name, column] of Object.entries(columns)) {
		if (!known.includes(column))
			throw new TypeError(
				`${owner}: columns.${name}: ${model.name} has no column ${column}${nearest(column, known)}`,
			)
		if (renamed.has(column))
			throw new TypeError(`${owner}: columns gives ${column} two names, ${renamed.get(column)} and ${name}`)
		renamed.set(column, name)
	}
	return renamed
}

/** Leading underscores are kept. */
function camelCase(name: string): string {
	return name.replace(/(?<=[^_])_+(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Most selections that are kept, and most that are remembered after one use: clients can name any number. */
const MAX_KEPT = 100

/** The selections of one handler: one object for each set of fields, so that models can prepare statements for it. */
export class Selections {
	/** All visible fields. */
	readonly all: Selection
	readonly #visible: readonly CrudField[]
	readonly #version: string | undefined
	/** Other selections by their names, least recently used first. */
	readonly #others = new Map<string, Selection>()
	/** Keys of those used once: a selection is kept from its second use on. */
	readonly #usedOnce = new Set<string>()

	constructor(visible: readonly CrudField[], version: CrudField | undefined) {
		this.#visible = visible
		this.#version = version?.field.name
		this.all = this.#selection(visible)
	}

	/** The visible fields that are named, in the order of `visible`. */
	of(names: ReadonlySet<string>): Selection {
		const chosen = this.#visible.filter(({ name }) => names.has(name))
		if (chosen.length === this.#visible.length) return this.all
		const key = JSON.stringify(chosen.map(({ name }) => name))
		return this.#kept(key, () => this.#selection(chosen))
	}

	/** A selection with more fields after its own; the selection itself where it has them all. */
	wider(selection: Selection, needed: readonly CrudField[]): Selection {
		const more = needed.filter(({ name }) => !selection.names.includes(name))
		if (more.length === 0) return selection
		const key = JSON.stringify([selection.names, more.map(({ name }) => name)])
		return this.#kept(key, () =>
			Object.freeze({
				...selection,
				fields: [...selection.fields, ...more.map(({ field }) => field.name)],
				names: [...selection.names, ...more.map(({ name }) => name)],
			}),
		)
	}

	#kept(key: string, make: () => Selection): Selection {
		const known = this.#others.get(key)
		const selection = known ?? make()
		if (known !== undefined) this.#others.delete(key)
		else if (!this.#usedOnce.delete(key)) {
			this.#usedOnce.add(key)
			dropOldest(this.#usedOnce)
			return selection
		}
		this.#others.set(key, selection)
		dropOldest(this.#others)
		return selection
	}

	#selection(fields: readonly CrudField[]): Selection {
		return Object.freeze({
			fields: fields.map(({ field }) => field.name),
			names: fields.map(({ name }) => name),
			version: this.#version,
		})
	}
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
	const [oldest] = kept.size > MAX_KEPT ? kept.keys() : []
	if (oldest !== undefined) kept.delete(oldest)
}
