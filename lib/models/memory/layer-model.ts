/** `LayerModel`: implements `Model` over a layer of records, that of a `MemoryModel` or of a transaction on top of it. */
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
	Reference,
	Selection,
	Totaled,
	TotalsQuery,
	Upsert,
	Upserted,
	Values,
	Within,
} from '../model.ts'
import { TimeZones } from '../totals/time-zone.ts'
import { filterOf, matching } from './condition.ts'
import { writerOf } from './json.ts'
import { RECORDS, recordsOf, type Source } from './links.ts'
import { list } from './list.ts'
import { lockedAll, Mutex } from './mutex.ts'
import type { Layer, Store } from './store.ts'
import type { Row, Stored } from './stored.ts'
import { totals } from './totals.ts'
import { change, insert, insertAll, remove, uniquesOf, upsertRow } from './write.ts'

/** The state of a transaction, shared by all of its models. */
interface TransactionState {
	isOver: boolean
}

/** Changes run one at a time. */
export class LayerModel implements Model {
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
	/** For a model that has joined a transaction: locks the model outside, once, until the transaction's end. */
	#lock: (() => Promise<void>) | undefined
	/** For a model within a transaction: the model outside. */
	#outer: LayerModel | undefined
	#state: TransactionState | undefined

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
		return matching(where, this.#source).length
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
		const models = inLockOrder(new Map(named.map((model) => [model.#store, model])))
		return lockedAll(
			models.map((model) => model.#mutex),
			async () => {
				for (const model of models) await model.#lock?.()
				const state = { isOver: false }
				const layers = new Map<Store, Layer>()
				const inner = new Map<Store, LayerModel>()
				const enter = (model: LayerModel): LayerModel => {
					const layer = model.#layer.above(layers)
					const entered = model.#above(layer, state)
					layers.set(model.#store, layer)
					inner.set(model.#store, entered)
					return entered
				}
				for (const model of models) model.#checkOpen()
				for (const model of models) enter(model)
				let end = () => {}
				const ended = new Promise<void>((resolve) => {
					end = resolve
				})
				const of = (model: Model): Model => {
					if (!isLayerModel(model)) return model
					const known = inner.get(model.#store)
					if (known !== undefined || model.#layer.transaction !== this.#layer.transaction)
						return known ?? model
					const joined = enter(model)
					joined.#lock = lockOnce(() => model.#lockUntil(ended))
					return joined
				}
				try {
					const result = await work({ of, connection: undefined })
					// Waits for operations within the transaction that `work` hasn't awaited.
					await lockedAll(
						inLockOrder(inner).map((model) => model.#mutex),
						async () => {
							for (const model of inner.values()) model.#checkOpen()
							for (const layer of layers.values()) layer.commit()
							state.isOver = true
						},
					)
					return result
				} finally {
					state.isOver = true
					end()
				}
			},
		)
	}

	async #lockUntil(ended: Promise<void>): Promise<void> {
		await this.#lock?.()
		await this.#mutex.heldUntil(ended)
	}

	#above(layer: Layer, state: TransactionState): LayerModel {
		const model = layerModel(this.name, this.#store, layer, this.readOnly, this.#timeoutSeconds)
		model.#outer = this
		model.#state = state
		return model
	}

	references(other: Model): readonly Reference[] {
		const target = recordsOf(other)?.store
		return this.#store.references
			.filter(({ store }) => store === target)
			.map(({ names, store }) => ({ fields: names, to: store.keys.map(({ name }) => name) }))
	}

	joins(other: Model): boolean {
		return recordsOf(other) !== undefined
	}

	async #change<T>(work: () => T): Promise<T> {
		if (this.readOnly) throw new TypeError(`${this.#store.name} can only be read`)
		await this.#lock?.()
		return this.#mutex.run(() => {
			this.#checkOpen()
			return work()
		})
	}

	#checkOpen(): void {
		if (this.#outer !== undefined) this.#outer.#checkOpen()
		if (this.#state?.isOver === true) {
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

/** The order in which all transactions lock. */
function inLockOrder(models: ReadonlyMap<Store, LayerModel>): readonly LayerModel[] {
	const ordered = [...models].sort(([a], [b]) => (a.lockOrder < b.lockOrder ? -1 : 1))
	return ordered.map(([, model]) => model)
}

/** Calls `lock` once; again after a failure, because the model may be free by then. */
function lockOnce(lock: () => Promise<void>): () => Promise<void> {
	let locked: Promise<void> | undefined
	return () => {
		locked ??= lock().catch((error: unknown) => {
			locked = undefined
			throw error
		})
		return locked
	}
}
