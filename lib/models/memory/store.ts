/** `Store`: fields, key and constraints of a `MemoryModel`. `Layer`: its records, or the changes of a transaction. */
import { randomUUID } from 'node:crypto'
import type { Field } from '../model.ts'
import type { DeclaredField } from './declared.ts'
import { type IndexedBy, RowIndex } from './row-index.ts'
import { comparisonOf, partitionPoint, type Row, type RowOrder, type Stored } from './stored.ts'

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint'])

/** A field, and where a row has its value. */
export interface FieldAt {
	readonly index: number
	readonly field: DeclaredField
}

export interface Unique {
	readonly names: readonly string[]
	readonly fields: readonly FieldAt[]
}

/** A foreign key. */
export interface Reference extends Unique {
	readonly store: Store
}

export class Store {
	readonly name: string
	readonly fields: readonly DeclaredField[]
	/** The fields without their defaults, as `Model.fields`. */
	readonly publicFields: readonly Field[]
	/** Empty if the records can only be listed. */
	readonly keys: readonly DeclaredField[]
	readonly keyIndexes: readonly number[]
	readonly uniques: readonly Unique[]
	readonly references: Reference[] = []
	readonly referrers: { readonly from: Store; readonly reference: Reference }[] = []
	readonly layer: Layer
	#lockOrder: string | undefined
	readonly #indexes: ReadonlyMap<string, number>
	#serial = 0n
	#rows = 0

	constructor(
		name: string,
		fields: readonly DeclaredField[],
		key: readonly string[],
		uniques: readonly (readonly string[])[],
	) {
		this.name = name
		this.fields = fields
		this.publicFields = fields.map(({ initial: _, ...field }) => Object.freeze(field))
		this.#indexes = new Map(fields.map((field, index) => [field.name, index]))
		this.keys = key.map((each) => this.field(each))
		this.keyIndexes = key.map((each) => this.indexOf(each))
		this.uniques = uniques.map((names) => ({ names, fields: this.fieldsAt(names) }))
		const terms = this.keys.map(({ type }, at) => ({
			index: this.keyIndexes[at] ?? 0,
			compare: comparisonOf(type),
		}))
		this.layer = new Layer((a, b) => {
			for (const { index, compare } of terms) {
				const order = compare(a[index] ?? null, b[index] ?? null)
				if (order !== 0) return order
			}
			// Without a key, rows stay in the order in which they were stored.
			return key.length === 0 ? -1 : 0
		})
	}

	/**
	 * Transactions lock stores in the order of these texts, so that they can't deadlock. Generated on first use, because
	 * Workers allow no random values while a program starts.
	 */
	get lockOrder(): string {
		this.#lockOrder ??= randomUUID()
		return this.#lockOrder
	}

	has(name: string): boolean {
		return this.#indexes.has(name)
	}

	/** @throws TypeError when there is no such field */
	indexOf(name: string): number {
		const index = this.#indexes.get(name)
		if (index === undefined) throw new TypeError(`${this.name} has no field ${name}`)
		return index
	}

	/** @throws TypeError when there is no such field */
	field(name: string): DeclaredField {
		return this.fields[this.indexOf(name)] as DeclaredField // `indexOf` throws for an unknown name
	}

	/** @throws TypeError when there is no such field */
	fieldsAt(names: readonly string[]): FieldAt[] {
		return names.map((name) => ({ index: this.indexOf(name), field: this.field(name) }))
	}

	/** @throws TypeError when there is no such field, or the types differ from those of the key that they refer to */
	refer(names: readonly string[], store: Store): void {
		const fields = this.fieldsAt(names)
		const own = fields.map(({ field }) => field.type)
		const other = store.keys.map(({ type }) => type)
		if (own.length !== other.length || !own.every((type, at) => isSameType(type, other[at]))) {
			throw new TypeError(
				`${this.name}: ${names.join(', ')} is ${own.join(', ')}, but the key that it refers to is ${other.join(', ') || 'none'}`,
			)
		}
		const reference = { names, fields, store }
		this.references.push(reference)
		store.referrers.push({ from: this, reference })
	}

	/** An id for a row without a key. */
	rowId(): string {
		this.#rows += 1
		return `row ${this.#rows}`
	}

	/** The next serial number; as in a database, it is used up even if its record is rolled back. */
	serial(): bigint {
		this.#serial += 1n
		return this.#serial
	}

	/** Continues serial numbers above a key that was given. */
	skipTo(key: Stored): void {
		if (typeof key !== 'number' && typeof key !== 'bigint') return
		const number = BigInt(key)
		if (number > this.#serial) this.#serial = number
	}
}

function isSameType(own: string, other: string | undefined): boolean {
	return own === other || (NUMBERS.has(own) && other !== undefined && NUMBERS.has(other))
}

/** The layers of a transaction. */
export type Layers = ReadonlyMap<Store, Layer>

/** Maximum number of cached sorted copies: each has a reference to every row. */
const MAX_ORDERS = 8

/** Maximum number of indexes of a layer: each has a reference to every row, and is updated by each change. */
const MAX_INDEXES = 16

/** Records, and the index of the unique constraints. A transaction has a layer on top of this one with only its changes. */
export class Layer {
	readonly #below: Layer | undefined
	/** Within a transaction, the layers of all its stores, this one included. */
	readonly transaction: Layers | undefined
	readonly #order: RowOrder
	/** Changed rows by id; `undefined` for a deleted row of the layer below. */
	readonly #rows = new Map<string, Row | undefined>()
	/** The index of unique constraints: ids by constraint and values. */
	readonly #entries = new Map<string, string | undefined>()
	/** All rows by key; `undefined` if they must be merged again. */
	#sorted: Row[] | undefined

	/** All rows in other orders, by name; cleared by each change. */
	readonly #orders = new Map<string, readonly Row[]>()

	/** Indexes by name. Those of a transaction's layer have only its own rows. */
	readonly #indexes = new Map<string, RowIndex>()

	/** `order` compares rows by key. */
	constructor(order: RowOrder, below?: Layer, transaction?: Layers) {
		this.transaction = transaction
		this.#order = order
		this.#below = below
		this.#sorted = below === undefined ? [] : undefined
	}

	above(transaction: Layers): Layer {
		return new Layer(this.#order, this, transaction)
	}

	/** The records of another store as this layer's transaction sees them. */
	of(store: Store): Layer {
		return this.transaction?.get(store) ?? this.#below?.of(store) ?? store.layer
	}

	row(id: string): Row | undefined {
		return this.#rows.has(id) ? this.#rows.get(id) : this.#below?.row(id)
	}

	/** Id of the record with this entry in the index. */
	holder(entry: string): string | undefined {
		return this.#entries.has(entry) ? this.#entries.get(entry) : this.#below?.holder(entry)
	}

	/** The number of rows; in a transaction an upper bound, because rows that it has changed or deleted count twice. */
	get size(): number {
		return this.#rows.size + (this.#below?.size ?? 0)
	}

	/** All rows by key. The array is valid until the next change. */
	rows(): readonly Row[] {
		if (this.#below !== undefined && this.#rows.size === 0) return this.#below.rows()
		this.#sorted ??= this.#merge()
		return this.#sorted
	}

	/** All rows in another order; `undefined` if it isn't cached and there is no `compare` to sort by. */
	sorted(name: string, compare: RowOrder | undefined): readonly Row[] | undefined {
		// Without changes of its own, the layer below may still change: it isn't locked.
		if (this.#below !== undefined && this.#rows.size === 0) return this.#below.sorted(name, compare)
		const cached = this.#orders.get(name)
		if (cached !== undefined || compare === undefined) return cached
		const sorted = this.rows().toSorted((a, b) => compare(a.values, b.values))
		if (this.#orders.size === MAX_ORDERS) this.#orders.clear()
		this.#orders.set(name, sorted)
		return sorted
	}

	/** The rows with this key in an index, in the order of their primary key. The array is valid until the next change. */
	rowsWith(key: string, by: IndexedBy): readonly Row[] {
		if (this.#below === undefined) return this.#index(by).get(key)
		const below = this.#below.rowsWith(key, by)
		if (this.#rows.size === 0) return below
		const own = this.#index(by).get(key)
		const kept = below.filter(({ id }) => !this.#rows.has(id))
		return own.length === 0 ? kept : this.inOrder([...kept, ...own])
	}

	/** Sorts rows by their primary key. */
	inOrder(rows: Row[]): Row[] {
		return rows.sort((a, b) => this.#order(a.values, b.values))
	}

	/** Stores a row, or deletes it if `row` is `undefined`. */
	put(id: string, row: Row | undefined): void {
		this.#orders.clear()
		const old = this.#rows.get(id)
		for (const index of this.#indexes.values()) index.replace(old, row)
		if (this.#below === undefined) this.#sort(old, row)
		else this.#sorted = undefined
		if (row === undefined && this.#below === undefined) this.#rows.delete(id)
		else this.#rows.set(id, row)
	}

	/** Adds an entry to the index, or deletes it if `id` is `undefined`. */
	enter(entry: string, id: string | undefined): void {
		if (id === undefined && this.#below === undefined) this.#entries.delete(entry)
		else this.#entries.set(entry, id)
	}

	/** Applies all changes to the layer below. */
	commit(): void {
		for (const [id, row] of this.#rows) this.#below?.put(id, row)
		for (const [entry, id] of this.#entries) this.#below?.enter(entry, id)
	}

	#index(by: IndexedBy): RowIndex {
		const known = this.#indexes.get(by.name)
		if (known !== undefined) return known
		const own = [...this.#rows.values()].filter((row) => row !== undefined)
		const index = new RowIndex(by, this.#order, this.#below === undefined ? this.rows() : this.inOrder(own))
		const [oldest] = this.#indexes.keys()
		if (this.#indexes.size === MAX_INDEXES && oldest !== undefined) this.#indexes.delete(oldest)
		this.#indexes.set(by.name, index)
		return index
	}

	/** Updates `#sorted`. A row with the same id has the same key, and so the same position. */
	#sort(old: Row | undefined, row: Row | undefined): void {
		const sorted = this.#sorted ?? []
		const last = sorted.at(-1)
		const values = (old ?? row)?.values ?? []
		// Serial keys arrive in order, so they need no search.
		const isLast = last === undefined || (old === undefined && this.#order(last.values, values) < 0)
		const place = isLast
			? sorted.length
			: partitionPoint(sorted.length, (at) => this.#order(sorted[at]?.values ?? [], values) < 0)
		sorted.splice(place, old === undefined ? 0 : 1, ...(row === undefined ? [] : [row]))
	}

	#merge(): Row[] {
		const below = (this.#below?.rows() ?? []).filter(({ id }) => !this.#rows.has(id))
		const own = [...this.#rows.values()].filter((row) => row !== undefined)
		// Sorting two sorted runs takes a single pass.
		return this.inOrder([...below, ...own])
	}
}
