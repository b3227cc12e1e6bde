/**
 * `TotalsDialect`: what a dialect has for totals, and the parts that it writes them of. `S` is `Sql`, whose file has this as a
 * part of `Dialect`.
 */
import type { TimePart, Total, Totaled, TotalsQuery } from '../model.ts'
import type { Span } from '../totals/time-zone.ts'
import type { Rows } from './driver.ts'
import type { Column } from './table.ts'

/** A key of the groups. */
export interface KeyColumn {
	readonly column: Column
	/** The quoted name with the alias of its table. */
	readonly ref: string
	readonly part: TimePart | undefined
}

/** A total of the groups. */
export type TotalColumn =
	| { readonly op: 'count' }
	| { readonly op: Exclude<Total['op'], 'count'>; readonly column: Column; readonly ref: string }

/** The parts of a statement for totals. */
export interface TotalsParts<S> {
	readonly query: TotalsQuery
	readonly keys: readonly KeyColumn[]
	readonly totals: readonly TotalColumn[]
	/** Writes ` from … where …`. */
	source(sql: S): void
	/** The spans of the query's time zone: see `TimeZone`. */
	spans(from: number, to: number): readonly Span[]
}

/** How totals are written; without it, a dialect has none. */
export interface TotalsDialect<S> {
	/** Writes a select that has to be known before, of one row; returns false if nothing has to be. */
	probe?(sql: S, parts: TotalsParts<S>): boolean
	/** Writes the statement. `probed` is the row of `probe`. */
	write(sql: S, parts: TotalsParts<S>, probed: readonly unknown[]): void
	/**
	 * Reads its rows; `undefined` if records have changed so that `probed` is wrong: then it is asked again.
	 *
	 * @default each is the JSON of a group; null if all of it is too large
	 */
	read?(rows: Rows, parts: TotalsParts<S>, probed: readonly unknown[]): Totaled | undefined
}
