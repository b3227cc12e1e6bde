/**
 * How a dialect writes statements for several records: the inserts of `many.ts`, and concurrent updates of `writes.ts`. `S` is
 * `Sql`, as in `totals-dialect.ts`.
 */
import type { Value } from '../model.ts'
import type { Column } from './table.ts'

/** See `Dialect.rows`. */
export interface InsertedRows<S> {
	/** Maximum number of placeholders in a statement. */
	readonly maxValues: number
	/** Whether a row may have `default` instead of a value. */
	readonly hasDefaults: boolean
	/**
	 * Whether `returning` may have the rows in any order: then they are sorted by the key, which must be a serial number.
	 * @default they are in the order in which they were given
	 */
	readonly isUnordered?: boolean
	/**
	 * Writes the rows, after the list of columns, in another way than ` values (…), (…)`; false if it can't. `lists` has the
	 * values of all rows for each column; `also` has SQL that follows them in each row.
	 */
	write?(sql: S, columns: readonly Column[], lists: readonly Value[][], also: readonly string[]): boolean
}

/** See `Dialect.updateAll`. In `set` and `where`, `v.c1` is the first of the values. */
export interface UpdateOfAll {
	/** With its alias. */
	readonly table: string
	readonly set: string
	readonly where: string
	/** The columns of the values. */
	readonly columns: readonly Column[]
	readonly keys: readonly Column[]
	/** The number of the key's first value. */
	readonly keyAt: number
	readonly returning: string
}
