/**
 * `RowIndex`: the rows of a layer by the values of some fields, updated by each change. Made by `store.ts`, so
 * that links are followed, and rows with given values found, without reading all records.
 */
import { partitionPoint, type Row, type RowOrder, type Stored } from './stored.ts'

/** The key of an index. */
export interface IndexedBy {
	/** Identifies the fields. */
	readonly name: string
	/** A text of a record's values; `undefined` if one of them is null, which equals nothing. */
	keyOf(values: readonly Stored[]): string | undefined
}

export class RowIndex {
	readonly #by: IndexedBy
	readonly #order: RowOrder
	readonly #rows = new Map<string, Row[]>()

	/** @param rows in their order */
	constructor(by: IndexedBy, order: RowOrder, rows: Iterable<Row>) {
		this.#by = by
		this.#order = order
		for (const row of rows) {
			const key = by.keyOf(row.values)
			if (key === undefined) continue
			const found = this.#rows.get(key)
			if (found === undefined) this.#rows.set(key, [row])
			else found.push(row)
		}
	}

	/** In the order of the primary key. */
	get(key: string): readonly Row[] {
		return this.#rows.get(key) ?? []
	}

	/** Replaces a row by another one with the same id; `undefined` for none. */
	replace(old: Row | undefined, row: Row | undefined): void {
		if (old !== undefined) this.#splice(old, undefined)
		if (row !== undefined) this.#splice(undefined, row)
	}

	#splice(old: Row | undefined, row: Row | undefined): void {
		const values = (old ?? row)?.values ?? []
		const key = this.#by.keyOf(values)
		if (key === undefined) return
		const rows = this.#rows.get(key) ?? []
		const place = partitionPoint(rows.length, (at) => this.#order(rows[at]?.values ?? [], values) < 0)
		rows.splice(place, old === undefined ? 0 : 1, ...(row === undefined ? [] : [row]))
		if (rows.length === 0) this.#rows.delete(key)
		else this.#rows.set(key, rows)
	}
}
