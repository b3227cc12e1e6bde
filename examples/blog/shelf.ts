/** `Shelf`: records in memory, by id. What it keeps is gone when the program ends. */

/** A page of records, and how many there are on all pages. */
export interface Page<T> {
	readonly records: readonly T[]
	readonly total: number
}

/** Some of a record's fields. Those that `getParams` finds absent are no keys at all. */
export type Changes<T> = { readonly [Name in keyof T as Exclude<Name, 'id'>]?: T[Name] | undefined }

export class Shelf<T extends { readonly id: number }> {
	/** By id as a URL writes it: `1e1` and `01` are then no names of the records 10 and 1. */
	readonly #records: Map<string, T>
	#lastId = 0

	constructor(records: readonly T[]) {
		this.#records = new Map(records.map((record) => [String(record.id), record]))
		for (const { id } of records) this.#lastId = Math.max(this.#lastId, id)
	}

	get(id: number | string): T | undefined {
		return this.#records.get(String(id))
	}

	/** The records that fit, the newest first. */
	page(limit: number, offset: number, fits: (record: T) => boolean = () => true): Page<T> {
		const fitting = [...this.#records.values()].filter(fits).reverse()
		return { records: fitting.slice(offset, offset + limit), total: fitting.length }
	}

	/** Keeps a new record under the next id. */
	add(record: Omit<T, 'id'>): T {
		this.#lastId++
		return this.#keep({ id: this.#lastId, ...record } as T) // Omit gives up that the rest is a T
	}

	/** Puts changed fields in place of the old ones. */
	change(record: T, fields: Changes<T>): T {
		return this.#keep({ ...record, ...fields })
	}

	remove(record: T): void {
		this.#records.delete(String(record.id))
	}

	#keep(record: T): T {
		this.#records.set(String(record.id), record)
		return record
	}
}
