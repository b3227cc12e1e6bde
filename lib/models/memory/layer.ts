/**
 * `Layer`: the records of a `MemoryModel`, and the entries of its unique constraints. A transaction works on a
 * layer above, which holds only what it has changed, and lays it down when it commits.
 */
import { placeOf } from './compare.ts'
import type { Row, Stored } from './stored.ts'

/** Orders that are remembered at most: each holds a reference to every row. */
const MAX_ORDERS = 8

type RowOrder = (a: readonly Stored[], b: readonly Stored[]) => number

export class Layer {
	readonly #below: Layer | undefined
	readonly #order: RowOrder
	/** Own rows by id; `undefined` for one of the layer below that is deleted. */
	readonly #rows = new Map<string, Row | undefined>()
	/** Ids by constraint and values. */
	readonly #entries = new Map<string, string | undefined>()
	/** All rows, in the order of the key; `undefined` when it must be put together. */
	#sorted: Row[] | undefined

	/** All rows in other orders, by their names, since the last change. */
	readonly #orders = new Map<string, readonly Row[]>()

	/** `order` is that of the keys. */
	constructor(order: RowOrder, below?: Layer) {
		this.#order = order
		this.#below = below
		this.#sorted = below === undefined ? [] : undefined
	}

	above(): Layer {
		return new Layer(this.#order, this)
	}

	row(id: string): Row | undefined {
		return this.#rows.has(id) ? this.#rows.get(id) : this.#below?.row(id)
	}

	/** Id of the record that has an entry. */
	holder(entry: string): string | undefined {
		return this.#entries.has(entry) ? this.#entries.get(entry) : this.#below?.holder(entry)
	}

	/** All rows, in the order of the key. They are only read, and before anything changes. */
	rows(): readonly Row[] {
		if (this.#below !== undefined && this.#rows.size === 0) return this.#below.rows()
		this.#sorted ??= this.#putTogether()
		return this.#sorted
	}

	/** All rows in another order; `undefined` when it isn't known, and no `compare` is given to make it. */
	sorted(name: string, compare: RowOrder | undefined): readonly Row[] | undefined {
		const known = this.#orders.get(name)
		if (known !== undefined || compare === undefined) return known
		const made = this.rows().toSorted((a, b) => compare(a.values, b.values))
		if (this.#orders.size === MAX_ORDERS) this.#orders.clear()
		this.#orders.set(name, made)
		return made
	}

	put(row: Row): void {
		this.#replace(row.id, row)
	}

	remove(id: string): void {
		this.#replace(id, undefined)
	}

	enter(entry: string, id: string): void {
		this.#entries.set(entry, id)
	}

	leave(entry: string): void {
		if (this.#below === undefined) this.#entries.delete(entry)
		else this.#entries.set(entry, undefined)
	}

	/** Gives all changes to the layer below. */
	layDown(): void {
		const below = this.#below
		if (below === undefined) return
		for (const [id, row] of this.#rows) {
			if (row === undefined) below.remove(id)
			else below.put(row)
		}
		for (const [entry, id] of this.#entries) {
			if (id === undefined) below.leave(entry)
			else below.enter(entry, id)
		}
	}

	#replace(id: string, row: Row | undefined): void {
		this.#orders.clear()
		if (this.#below === undefined) this.#sort(this.#rows.get(id), row)
		else this.#sorted = undefined
		if (row === undefined && this.#below === undefined) this.#rows.delete(id)
		else this.#rows.set(id, row)
	}

	/** Keeps the sorted rows in order: their id tells the key, so that a row of the same id has its place. */
	#sort(old: Row | undefined, row: Row | undefined): void {
		const sorted = this.#sorted ?? []
		const last = sorted.at(-1)
		const values = (old ?? row)?.values ?? []
		// Serial keys come in order: nothing is looked for.
		const isLast = last === undefined || (old === undefined && this.#order(last.values, values) < 0)
		const place = isLast ? sorted.length : placeOf(sorted, values, this.#order)
		sorted.splice(place, old === undefined ? 0 : 1, ...(row === undefined ? [] : [row]))
	}

	#putTogether(): Row[] {
		const below = (this.#below?.rows() ?? []).filter(({ id }) => !this.#rows.has(id))
		const own = [...this.#rows.values()].filter((row) => row !== undefined)
		// Node's sort goes through what is in order already only once.
		return [...below, ...own].sort((a, b) => this.#order(a.values, b.values))
	}
}
