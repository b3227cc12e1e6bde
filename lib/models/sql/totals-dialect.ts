/**
 * `TotalsDialect`: how a dialect writes totals, and the parts of a statement that it is given. `S` is `Sql`: a parameter,
 * because the file of `Sql` imports this one.
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
	/** Writes a select of one row whose values `write` needs; returns false if it needs none. */
	probe?(sql: S, parts: TotalsParts<S>): boolean
	/** Writes the statement. `probed` is the row of `probe`. */
	write(sql: S, parts: TotalsParts<S>, probed: readonly unknown[]): void
	/**
	 * Reads the statement's rows; `undefined` if records have changed so that `probed` is wrong: then both are run again.
	 *
	 * @default each is the JSON of a group; null if all of it is too large
	 */
	read?(rows: Rows, parts: TotalsParts<S>, probed: readonly unknown[]): Totaled | undefined
}
