/** `CrudField`: a model's field with its name for clients; and `Selections`, the sets of fields that queries select. */
import { nearest } from '../base/options.ts'
import type { Field, Model, Order, Related, Selection } from '../models/model.ts'
import type { Columns } from './options.ts'

export interface CrudField {
	/** Its name for clients. */
	readonly name: string
	/** The model's field, with the model's name. */
	readonly field: Field
}

export type FieldMap = ReadonlyMap<string, CrudField>

export function namesOf(fields: readonly CrudField[]): string[] {
	return fields.map(({ name }) => name)
}

/**
 * The fields of a model by clients' names, in the model's order.
 *
 * @throws TypeError for an unknown column, and if two fields get the same name
 */
export function crudFields(owner: string, model: Model, columns: Columns | undefined): FieldMap {
	const renamed = renamedColumns(owner, model, columns)
	const fields = new Map<string, CrudField>()
	for (const field of model.fields) {
		const name = renamed.get(field.name) ?? field.name
		const other = fields.get(name)
		if (other !== undefined)
			throw new TypeError(
				`${owner}: columns calls both ${other.field.name} and ${field.name} ${name}: give one of them another name`,
			)
		fields.set(name, { name, field })
	}
	return fields
}

/** The names for clients by the model's names. */
function renamedColumns(owner: string, model: Model, columns: Columns = {}): ReadonlyMap<string, string> {
	if (columns === 'camelCase') return new Map(model.fields.map(({ name }) => [name, camelCase(name)]))
	const columnNames = model.fields.map(({ name }) => name)
	const renamed = new Map<string, string>()
	for (const [name, column] of Object.entries(columns)) {
		if (!columnNames.includes(column))
			throw new TypeError(
				`${owner}: columns.${name}: ${model.name} has no column ${column}${nearest(column, columnNames)}`,
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

/** No fields, where only the existence of a record matters. */
export const NOTHING: Selection = Object.freeze({ fields: [], names: [], version: undefined })

/**
 * Maximum number of cached values, and of keys remembered after one use: clients can ask for any combination of
 * fields.
 */
const MAX_CACHED = 100

/** LRU cache whose keys clients choose: a value is only kept when its key is used a second time. */
class RepeatCache<T extends object> {
	/** Least recently used first. */
	readonly #values = new Map<string, T>()
	readonly #usedOnce = new Set<string>()
	#newest: string | undefined

	find(key: string): T | undefined {
		const value = this.#values.get(key)
		// Reordering an entry for each request costs more than finding it.
		if (value !== undefined && key !== this.#newest) {
			this.#values.delete(key)
			this.#add(key, value)
		}
		return value
	}

	/** Keeps a value that `find` didn't have, if it is the second one for this key. */
	keep(key: string, value: T): void {
		if (this.#usedOnce.delete(key)) {
			this.#add(key, value)
			dropOldest(this.#values)
			return
		}
		this.#usedOnce.add(key)
		dropOldest(this.#usedOnce)
	}

	#add(key: string, value: T): void {
		this.#values.set(key, value)
		this.#newest = key
	}
}

/** A list's order, and the stamp of its cursors if the list has no conditions. */
export interface Sorted {
	readonly order: readonly Order[]
	readonly stamp: string
}

/** The selections of a handler's records: one object for each set of fields, so that models can prepare statements for it. */
export class Selections {
	readonly all: Selection
	readonly #visible: readonly CrudField[]
	readonly #version: string | undefined
	readonly #cache = new RepeatCache<Selection>()
	/** The parsed parameters `fields` and `include`, cached for `parse-include.ts`. */
	readonly requests = new RepeatCache<object>()
	/** The parsed parameter `sort`, cached for `list-query.ts`. */
	readonly orders = new RepeatCache<Sorted>()

	constructor(visible: readonly CrudField[], version: CrudField | undefined) {
		this.#visible = visible
		this.#version = version?.field.name
		this.all = this.#selection(visible)
	}

	/** The named fields, in the order of `visible`. */
	of(names: ReadonlySet<string>): Selection {
		const chosen = this.#visible.filter(({ name }) => names.has(name))
		if (chosen.length === this.#visible.length) return this.all
		const key = JSON.stringify(chosen.map(({ name }) => name))
		return this.#cached(key, () => this.#selection(chosen))
	}

	/** A selection extended by more fields; the same selection if it already has them all. */
	extended(selection: Selection, needed: readonly CrudField[]): Selection {
		const more = needed.filter(({ name }) => !selection.names.includes(name))
		if (more.length === 0) return selection
		const make = () =>
			Object.freeze({
				...selection,
				fields: [...selection.fields, ...more.map(({ field }) => field.name)],
				names: [...selection.names, ...more.map(({ name }) => name)],
			})
		// Not cached with related records: those of other requests have the same names, but other conditions.
		if (selection.related !== undefined) return make()
		return this.#cached(JSON.stringify([selection.names, more.map(({ name }) => name)]), make)
	}

	/** A selection with related records; cached by `key`, which must be different for other related records. */
	related(selection: Selection, key: string, make: () => readonly Related[]): Selection {
		return this.#cached(JSON.stringify([selection.names, key]), () =>
			Object.freeze({ ...selection, related: make() }),
		)
	}

	#cached(key: string, make: () => Selection): Selection {
		const known = this.#cache.find(key)
		if (known !== undefined) return known
		const selection = make()
		this.#cache.keep(key, selection)
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

/** Drops the first entry of a cache that has too many. */
export function dropOldest(entries: Map<string, unknown> | Set<string>): void {
	const [oldest] = entries.size > MAX_CACHED ? entries.keys() : []
	if (oldest !== undefined) entries.delete(oldest)
}
