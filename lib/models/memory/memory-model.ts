/**
 * `MemoryModel`: records in memory, for tests, prototypes and examples. `LayerModel` implements `Model` over a layer of
 * records: the model's own, or that of a transaction on top of it.
 */
import { flag, listOf, numberIn, optionsOf, or, text, unchecked } from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'
import type {
	Absent,
	Changes,
	Condition,
	Created,
	Field,
	FieldType,
	Found,
	Guard,
	Listed,
	ListQuery,
	Model,
	Reference,
	Selection,
	Totaled,
	TotalsQuery,
	Upsert,
	Upserted,
	Values,
	Within,
} from '../model.ts'
import { ModelError } from '../model-error.ts'
import { TimeZones } from '../totals/time-zone.ts'
import { filterOf } from './condition.ts'
import { fieldsOf, type MemoryField } from './declared.ts'
import { writerOf } from './json.ts'
import { RECORDS, recordsOf, type Source } from './links.ts'
import { list } from './list.ts'
import { insertAll, uniquesOf, upsertRow } from './many.ts'
import { lockedAll, Mutex } from './mutex.ts'
import { type Layer, Store } from './store.ts'
import type { Row, Stored } from './stored.ts'
import { totals } from './totals.ts'
import { change, insert, remove } from './write.ts'

/** Changes run one at a time. */
class LayerModel implements Model {
	readonly name: string
	readonly fields: readonly Field[]
	readonly key: readonly string[]
	readonly readOnly: boolean
	readonly setsNow = true
	/** @internal */
	readonly [RECORDS]: Source
	readonly #source: Source
	readonly #store: Store
	readonly #layer: Layer
	readonly #writers = new WeakMap<Selection, (values: readonly Stored[]) => string>()

	readonly #zones = new TimeZones()
	readonly #mutex: Mutex
	readonly #timeoutSeconds: Seconds
	#hasEnded = false

	constructor(name: string, store: Store, layer: Layer, readOnly: boolean, timeoutSeconds: Seconds) {
		this.name = name
		this.fields = store.publicFields
		this.key = store.keys.map(({ name }) => name)
		this.readOnly = readOnly || store.keys.length === 0
		this.#store = store
		this.#layer = layer
		const records = { store, layer }
		this.#source = { ...records, asked: records }
		this[RECORDS] = this.#source
		this.#mutex = new Mutex(timeoutSeconds)
		this.#timeoutSeconds = timeoutSeconds
	}

	async list(query: ListQuery): Promise<Listed> {
		this.#checkOpen()
		return list(query, this.#source, this.#writer(query.selection))
	}

	async count(where: Condition | undefined): Promise<number> {
		this.#checkOpen()
		const rows = this.#layer.rows()
		if (where === undefined) return rows.length
		const fits = filterOf(where, this.#source)
		return rows.reduce((count, { values }) => (fits(values) ? count + 1 : count), 0)
	}

	async totals(query: TotalsQuery): Promise<Totaled> {
		this.#checkOpen()
		return totals(query, this.#source, this.#zones)
	}

	async read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined> {
		this.#checkOpen()
		const row = this.#layer.row(id)
		if (row === undefined || !filterOf(where, this.#source)(row.values)) return undefined
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

	get unique(): readonly (readonly string[])[] {
		return uniquesOf(this.#store)
	}

	createMany(values: readonly Values[], selection: Selection): Promise<readonly Created[]> {
		return this.#change(() =>
			insertAll(values, this.#store, this.#layer).map((row) => ({
				id: row.id,
				...this.#found(row, selection),
			})),
		)
	}

	upsert(given: Upsert, selection: Selection): Promise<Upserted> {
		return this.#change(() => {
			const fits = filterOf(given.where, this.#source)
			const { row, isNew } = upsertRow(given, selection.version, this.#store, this.#layer, fits)
			return { id: row.id, ...this.#found(row, selection), isNew }
		})
	}

	/** Runs `work` on a layer of its own, committed to the one below if `work` succeeds. Transactions can be nested. */
	transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return this.transactionWith([], (within) => work(within.of(this)))
	}

	transactsWith(other: Model): boolean {
		const records = recordsOf(other)
		return records !== undefined && records.layer.transaction === this.#layer.transaction
	}

	/** The layers are committed in one turn, so that others see all changes or none. */
	transactionWith<T>(others: readonly Model[], work: (within: Within) => Promise<T>): Promise<T> {
		const named = [this, ...others.filter(isLayerModel)]
		const models = [...new Map(named.map((model) => [model.#store, model])).values()]
		const ordered = models.toSorted((a, b) => (a.#store.lockOrder < b.#store.lockOrder ? -1 : 1))
		return lockedAll(
			ordered.map((model) => model.#mutex),
			async () => {
				const layers = new Map<Store, Layer>()
				const inner = new Map<Store, LayerModel>()
				for (const model of models) {
					model.#checkOpen()
					layers.set(model.#store, model.#layer.above(layers))
				}
				for (const model of models) inner.set(model.#store, model.#above(layers))
				const of = (model: Model): Model => {
					const store = recordsOf(model)?.store
					return (store && inner.get(store)) ?? model
				}
				try {
					const result = await work({ of, connection: undefined })
					for (const layer of layers.values()) layer.commit()
					return result
				} finally {
					for (const model of inner.values()) model.#hasEnded = true
				}
			},
		)
	}

	#above(layers: ReadonlyMap<Store, Layer>): LayerModel {
		const layer = layers.get(this.#store) ?? this.#layer
		return layerModel(this.name, this.#store, layer, this.readOnly, this.#timeoutSeconds)
	}

	references(other: Model): readonly Reference[] {
		const target = recordsOf(other)?.store
		return this.#store.references
			.filter(({ store }) => store === target)
			.map(({ fields, store }) => ({
				fields: fields.map(({ name }) => name),
				to: store.keys.map(({ name }) => name),
			}))
	}

	joins(other: Model): boolean {
		return recordsOf(other) !== undefined
	}

	async #change<T>(work: () => T): Promise<T> {
		if (this.readOnly) throw new TypeError(`${this.#store.name} can only be read`)
		return this.#mutex.run(() => {
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
		if (row === undefined || !filterOf(guard.where, this.#source)(row.values)) return 'missing'
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
		let writer = this.#writers.get(selection)
		if (writer === undefined) {
			writer = writerOf(selection, this.#store)
			this.#writers.set(selection, writer)
		}
		return writer
	}
}

// Not methods: bundlers rename a class that refers to itself, and messages show the class's name.
function layerModel(...args: ConstructorParameters<typeof LayerModel>): LayerModel {
	return new LayerModel(...args)
}

function isLayerModel(model: Model): model is LayerModel {
	return model instanceof LayerModel
}

function reasonOf(error: unknown): string {
	if (error instanceof ModelError) return `${error.kind} (${error.fields.join(', ')})`
	return error instanceof Error ? error.message : String(error)
}

/** The fields, constraints and first records of a `MemoryModel`. */
export interface MemoryModelOptions {
	/** The fields by name, each a type, or an object with `type` and more: `{ type: 'text', maxLength: 200 }`. */
	readonly fields: Readonly<Record<string, FieldType | MemoryField>>
	/**
	 * The key field, or several that identify a record together; `[]` if none does: then the records can only be listed. A
	 * new record gets the next number (`integer`, `bigint`) or a random uuid as its key unless one is given; any other key,
	 * and one of several fields, must always be given.
	 */
	readonly key: string | readonly string[]
	/**
	 * Unique constraints, each a list of fields: `[['email'], ['author', 'slug']]`.
	 *
	 * @default none
	 */
	readonly unique?: readonly (readonly string[])[]
	/**
	 * Foreign keys: a field, or a list of them, with the key of another model, or of this one (`'itself'`).
	 *
	 * @default none
	 */
	readonly references?: readonly {
		readonly field: string | readonly string[]
		readonly model: MemoryModel | 'itself'
	}[]
	/** The first records. Timestamps and dates may be a Date, `json` any value that JSON can represent. @default none */
	readonly rows?: readonly Readonly<Record<string, unknown>>[]
	/** Whether records can't be changed, as in a view. @default false */
	readonly readOnly?: boolean
	/** How long a change waits for an open transaction. @default 5 */
	readonly timeoutSeconds?: Seconds
}

/**
 * Records in memory, without a limit, and lost when the process ends.
 *
 *     const articles = new MemoryModel('article', {
 *       fields: { id: 'integer', title: { type: 'text', maxLength: 200 } },
 *       key: 'id',
 *       rows: [{ title: 'First' }],
 *     })
 *
 * Texts are compared by code point, so case counts. Changes run one at a time. While a transaction is open, other changes
 * wait, including those that its `work` makes on the model itself instead of the model that it is passed.
 *
 * @throws TypeError for wrong options: an unknown type, a key that isn't a field, rows that don't fit
 * @throws RangeError when `timeoutSeconds` isn't above 0
 */
export class MemoryModel extends LayerModel {
	readonly #store: Store

	constructor(name: string, options: MemoryModelOptions) {
		const place = `MemoryModel '${name}'`
		const { fields, key, unique, references, rows, readOnly, timeoutSeconds } = optionsOf(place, options, {
			fields: unchecked<MemoryModelOptions['fields']>,
			key: unchecked<string | readonly string[]>,
			unique: or(listOf("a list of lists: [['email']]", listOf('a list of fields', text), 0), []),
			references: or(
				listOf('a list', unchecked<NonNullable<MemoryModelOptions['references']>[number]>, 0),
				[],
			),
			rows: or(listOf('a list of records', unchecked<Readonly<Record<string, unknown>>>, 0), []),
			readOnly: or(flag, false),
			timeoutSeconds: or(numberIn({ above: 0, to: 86_400 }), 5),
		})
		const keys = typeof key === 'string' ? [key] : key
		const store = new Store(place, fieldsOf(place, fields, keys), keys, unique)
		super(name, store, store.layer, readOnly, timeoutSeconds)
		this.#store = store
		for (const { field, model } of references) {
			if (model !== 'itself' && !isMemoryModel(model)) {
				throw new TypeError(`${place}: references of ${field} need model: a MemoryModel, or 'itself'`)
			}
			store.refer(typeof field === 'string' ? [field] : field, model === 'itself' ? store : model.#store)
		}
		for (const [index, row] of rows.entries()) {
			try {
				// `insert` checks that each value is a `Value`.
				insert(row as Values, store, store.layer)
			} catch (cause) {
				throw new TypeError(`${place}: rows[${index}] doesn't fit: ${reasonOf(cause)}`, { cause })
			}
		}
	}
}

// Not a method: bundlers rename a class that refers to itself, and messages show the class's name.
function isMemoryModel(model: unknown): model is MemoryModel {
	return model instanceof MemoryModel
}
