/**
 * The oracle: what must be in the database, according to the responses. Only one visit at a time uses a shelf, so its
 * content is always known.
 */
import type { Row } from '../services.ts'

export interface Shelf {
	readonly number: number
	/** By id, as in the last response. */
	readonly records: Map<number, Row>
}

/** How the database differs from the responses. */
export interface Balance {
	readonly rows: number
	readonly creates: number
	readonly deletes: number
	/** Answered with 201, never deleted, but missing. */
	readonly lost: number
	/** Present, without a response that says so. */
	readonly unknown: number
	/** Present with other values than in the response. */
	readonly changed: number
}

export class Ledger {
	readonly #free: Shelf[] = []
	readonly #waiting: ((shelf: Shelf) => void)[] = []
	readonly #all: Shelf[] = []
	#creates = 0
	#deletes = 0
	/** References of payments that were answered with 201. */
	readonly payments = new Set<string>()
	/** Requests that were meant to fail with 500. */
	crashes = 0

	constructor(shelves: number) {
		for (let number = 1; number <= shelves; number++) {
			const shelf = { number, records: new Map<number, Row>() }
			this.#all.push(shelf)
			this.#free.push(shelf)
		}
	}

	/** Runs `use` with a shelf that no other visit uses; waits if all are taken. */
	async withShelf(use: (shelf: Shelf) => Promise<void>): Promise<void> {
		// The one that has been free the longest, so that all are used equally.
		const shelf = this.#free.shift() ?? (await new Promise<Shelf>((resolve) => this.#waiting.push(resolve)))
		try {
			await use(shelf)
		} finally {
			const next = this.#waiting.shift()
			if (next === undefined) this.#free.push(shelf)
			else next(shelf)
		}
	}

	created(shelf: Shelf, row: Row): void {
		this.#creates++
		shelf.records.set(row.id, row)
	}

	changed(shelf: Shelf, row: Row): void {
		shelf.records.set(row.id, row)
	}

	deleted(shelf: Shelf, id: number): void {
		this.#deletes++
		shelf.records.delete(id)
	}

	/** Compares with the rows of the table, after all visits have ended. */
	balance(rows: readonly Row[]): Balance {
		const found = new Map(rows.map((row) => [row.id, row]))
		const known = this.#all.flatMap(({ records }) => [...records.values()])
		let lost = 0
		let changed = 0
		for (const row of known) {
			const there = found.get(row.id)
			if (there === undefined) lost++
			else if (!isSame(row, there)) changed++
			found.delete(row.id)
		}
		return {
			rows: rows.length,
			creates: this.#creates,
			deletes: this.#deletes,
			lost,
			unknown: found.size,
			changed,
		}
	}
}

function isSame(one: Row, other: Row): boolean {
	return (['id', 'shelf', 'title', 'rank', 'note', 'revision'] as const).every(
		(name) => one[name] === other[name],
	)
}
