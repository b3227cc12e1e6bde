/**
 * How a dialect writes related records into the JSON of a record: `Embedding`, and what it is given. `related.ts` calls it.
 */
import type { Bytes } from '../../base/time.ts'
import type { Condition, Model } from '../model.ts'
import type { Column } from './table.ts'

/** A selected column and its key in the JSON. */
export interface Selected {
	readonly column: Column
	readonly as: string
}

/** A sort term of a list. */
export interface OrderColumn {
	readonly column: Column
	readonly descending: boolean
	/** The alias of the joined table that has the column; `undefined` for the list's own table. */
	readonly joined?: string
}

/** A key of a record's JSON for related records, and SQL for their JSON: a text, never null. */
export interface Member {
	readonly as: string
	readonly sql: string
}

/** The related records of a selection, as SQL. */
export interface Embedded {
	readonly members: readonly Member[]
	/** The bound values of the members' placeholders, which are the first ones of the statement. */
	readonly values: readonly unknown[]
	/** The columns of all related records. */
	readonly columns: readonly Column[]
	/** The lists among them; the index is their number in marks (see `related.ts`). */
	readonly lists: readonly EmbeddedList[]
	/** Those that may be read separately, numbered in the same way. */
	readonly apart: readonly EmbeddedApart[]
}

/** Related records of which the large ones are read separately. */
export interface EmbeddedApart {
	readonly model: Model
	readonly selected: readonly Selected[]
	readonly where: Condition | undefined
	/** SQL for the content of a record's mark: its size and its key. */
	mark(alias: string): string
	/** The factor by which this size may exceed the real one. */
	readonly factor: number
}

/** SQL for the condition that a record is large, and for the mark in place of its own members and the brace before them. */
export interface LargeSql {
	readonly condition: string
	readonly mark: string
}

/** A list of related records within a record. */
export interface EmbeddedList {
	readonly order: readonly OrderColumn[]
	/** See `Related`. */
	cursor(next: string): string
}

/**
 * The parts of a list of related records. A part that is a function may have placeholders: it is called each time that it
 * is written, in the order of the text.
 */
export interface EmbeddedParts {
	/** A related record's JSON. */
	record(): string
	/** ` from … where … order by …`, without a limit. */
	source(): string
	/** The same in any order. */
	unsorted(): string
	/** The alias of the related records' table in all of them. */
	readonly alias: string
	readonly order: readonly OrderColumn[]
	/** 1 or more. */
	readonly limit: number
	readonly total: EmbeddedTotal | undefined
	/** The list's number in marks. */
	readonly number: number
}

/** The number of related records that match. */
export interface EmbeddedTotal {
	/** SQL for a text: the number, or `5,"more":true`. */
	sql(): string
	/** The largest number that is written. */
	readonly max: number
}

/** Writes related records into the JSON of a record. */
export interface Embedding {
	/** SQL for the JSON of a record as one text, never null; bytes may be written as a mark (see `related.ts`). */
	record(selected: readonly Selected[], alias: string, members: readonly Member[], large?: LargeSql): string
	/**
	 * SQL for an estimate of a record's size in bytes, without reading its values, and the factor by which it may exceed the
	 * real size; `undefined` if all values are small.
	 */
	size?(
		selected: readonly Selected[],
		alias: string,
	): { readonly sql: string; readonly factor: number } | undefined
	/** SQL for a JSON array of these columns, as text. Needed for `size`. */
	key?(columns: readonly Column[], alias: string): string
	/** SQL for `{"data":[…],"meta":{…}}`, a subselect that reads at most `limit + 1` records. */
	list(parts: EmbeddedParts): string
	/** Converts the sort values that `list` has written to those of `Listed.next`. */
	next?(values: string, order: readonly OrderColumn[]): string
}

/** The members of large records, by the text of their marks. */
export type ReadApart = ReadonlyMap<string, string>

/** Thrown for marks of large records that haven't been read. */
export class Unread extends Error {
	/** The texts of the marks, by their numbers. */
	readonly marks: ReadonlyMap<number, ReadonlySet<string>>
	/** The size of all copies, at least. */
	readonly bytes: Bytes

	constructor(marks: ReadonlyMap<number, ReadonlySet<string>>, bytes: Bytes) {
		super('large records must be read')
		this.marks = marks
		this.bytes = bytes
	}
}
