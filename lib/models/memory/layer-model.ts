/**
 * `LayerModel`: a model over a layer of records, those of a `MemoryModel` itself or those of a transaction
 * above them. Changes take turns; each is made at once.
 */
import type { Seconds } from '../../base/time.ts'
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
	Values,
} from '../model.ts'
import { ModelError } from '../model-error.ts'
import { filterOf } from './condition.ts'
import { writerOf } from './json.ts'
import type { Layer } from './layer.ts'
import { list } from './list.ts'
import type { Store } from './store.ts'
import type { Row, Stored } from './stored.ts'
import { Turns } from './turns.ts'
import { change, insert, remove } from './write.ts'

export class LayerModel implements Model {
	readonly name: string
	readonly fields: readonly Field[]
	readonly key: string
	readonly readOnly: boolean
	readonly #store: Store
	readonly #layer: Layer
	readonly #writers = new WeakMap<Selection, (values: readonly Stored[]) => string>()

	readonly #turns: Turns
	readonly #timeoutSeconds: Seconds
	#hasEnded = false

	constructor(name: string, store: Store, layer: Layer, readOnly: boolean, timeoutSeconds: Seconds) {
		this.name = name
		this.fields = store.facts
		this.key = store.key.name
		this.readOnly = readOnly
		this.#store = store
		this.#layer = layer
		this.#turns = new Turns(timeoutSeconds)
		this.#timeoutSeconds = timeoutSeconds
	}

	async list(query: ListQuery): Promise<Listed> {
		this.#checkOpen()
		return list(query, this.#store, this.#layer, this.#writer(query.selection))
	}

	async count(where: Condition | undefined): Promise<number> {
		this.#checkOpen()
		const rows = this.#layer.rows()
		if (where === undefined) return rows.length
		const fits = filterOf(where, this.#store)
		return rows.reduce((count, { values }) => (fits(values) ? count + 1 : count), 0)
	}

	async read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		this.#checkOpen()
		const row = this.#layer.row(id)
		if (row === undefined || !filterOf(where, this.#store)(row.values)) return undefined
		return this.#found(row, selection)
	}

	create(values: Values, selection: Selection): Promise<Created> {
		return this.#change(() => {
			const row = insert(values, this.#store, this.#layer)
			return { id: row.id, ...this.#found(row, selection) }
		})
	}

	update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.#change(() => {
			const row = this.#guarded(id, selection, guard)
			if (typeof row === 'string') return row
			return this.#found(change(row, changes, selection.version, this.#store, this.#layer), selection)
		})
	}

	delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent> {
		return this.#change(() => {
			const row = this.#guarded(id, selection, guard)
			if (typeof row === 'string') return row
			remove(row, this.#store, this.#layer)
			return this.#found(row, selection)
		})
	}

	/**
	 * Others don't see what `work` does before it has ended. Within a transaction: what fails is undone, what
	 * succeeds counts when all around it does.
	 */
	async transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this.#turns.take(async () => {
			this.#checkOpen()
			const layer = this.#layer.above()
			const within = new LayerModel(this.name, this.#store, layer, this.readOnly, this.#timeoutSeconds)
			try {
				const result = await work(within)
				layer.layDown()
				return result
			} finally {
				within.#hasEnded = true
			}
		})
	}

	/**
	 * Stores a programmer's rows, before anyone has the model.
	 *
	 * @throws TypeError that names the row that doesn't fit
	 */
	protected fill(rows: readonly Readonly<Record<string, unknown>>[]): void {
		for (const [index, row] of rows.entries()) {
			try {
				// The values are looked at one by one: what is no `Value` is refused, or has a form.
				insert(row as Values, this.#store, this.#layer)
			} catch (cause) {
				throw new TypeError(`${this.#store.name}: rows[${index}] doesn't fit: ${reasonOf(cause)}`, { cause })
			}
		}
	}

	async #change<T>(work: () => T): Promise<T> {
		if (this.readOnly) throw new TypeError(`${this.#store.name} can only be read`)
		return this.#turns.take(() => {
			this.#checkOpen()
			return work()
		})
	}

	#checkOpen(): void {
		if (this.#hasEnded) {
			throw new TypeError(`${this.#store.name}: this transaction has ended, use the model itself`)
		}
	}

	#guarded(id: string, selection: Selection, guard: Guard): Row | Absent {
		const row = this.#layer.row(id)
		if (row === undefined || !filterOf(guard.where, this.#store)(row.values)) return 'missing'
		if (guard.version !== undefined && guard.version !== this.#version(row, selection)) return 'stale'
		return row
	}

	#found(row: Row, selection: Selection): Found {
		return { json: this.#writer(selection)(row.values), version: this.#version(row, selection) }
	}

	#version({ values }: Row, { version }: Selection): string | undefined {
		if (version === undefined) return undefined
		const value = values[this.#store.indexOf(version)] ?? null
		return value === null ? undefined : String(value)
	}

	#writer(selection: Selection): (values: readonly Stored[]) => string {
		const known = this.#writers.get(selection)
		if (known !== undefined) return known
		const writer = writerOf(selection, this.#store)
		this.#writers.set(selection, writer)
		return writer
	}
}

function reasonOf(error: unknown): string {
	if (error instanceof ModelError) return `${error.kind} (${error.fields.join(', ')})`
	return error instanceof Error ? error.message : String(error)
}
