/** Options of a `CrudClient`, and of its calls that return a record. */
import type { Detail } from '../wire/codes.ts'
import type { Id } from './address.ts'
import type { Include, Selection } from './query-types.ts'
import type { FieldPath, NoRelations } from './record-types.ts'
import type { CallOptions, SendOptions } from './settings.ts'

/** Options of a `CrudClient`. */
export interface CrudClientOptions extends SendOptions {
	/** The field that identifies a record, or the fields that do so together, in the server's order. @default 'id' */
	readonly key?: string | readonly string[]
}

/** The id of a record (a list if its key has several fields: `[7, 'herb']`), or the record itself. */
export type RecordOrId<T> = Id | readonly Id[] | Readonly<Partial<T>>

/** A record for `updateMany`: its key, the fields to change and, optionally, the version that it must still have. */
export type Changed<T, Input> = Readonly<Partial<Omit<T, keyof Input>>> & Readonly<Partial<Input>>

/** Options of calls that return a record. */
export interface RecordOptions<
	T,
	R = NoRelations,
	F extends FieldPath<T, R> = FieldPath<T, R>,
	I extends Include<T, R> = Include<T, R>,
> extends CallOptions,
		Selection<T, R, F, I> {}

/** Options of `create`, `createMany`, `updateMany` and `upsert`. */
export interface CreateOptions<
	T,
	R = NoRelations,
	F extends FieldPath<T, R> = FieldPath<T, R>,
	I extends Include<T, R> = Include<T, R>,
> extends RecordOptions<T, R, F, I> {
	/**
	 * 1 to 255 characters of printable ASCII, new for each call. A server that stores keys executes the
	 * call only once per key, so it can be retried like a read.
	 *
	 * @default none: the call is attempted once
	 */
	readonly idempotencyKey?: string | undefined
}

/** The progress of an export or import. */
export interface Progress {
	/** Records read, or sent, so far. */
	readonly records: number
	/** The number of all records, if known: for an export with `count: true` in its query. */
	readonly total?: number | undefined
}

/** Options of `export`. */
export interface ExportOptions extends CallOptions {
	/** Called after each chunk of the response. */
	readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Options of `import`. */
export interface ImportOptions extends CallOptions {
	/** `'check'` reports problems and stores nothing. @default the records are stored */
	readonly mode?: 'check' | undefined
	/** Called while an iterable's records are sent; in browsers and with `sign`, while they are collected. Not for files. */
	readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** An iterable of records, or a file of type `text/csv` (the default) or `application/x-ndjson`. */
export type ImportSource<Input> = Iterable<Input> | AsyncIterable<Input> | Blob

/** The result of an import. */
export interface Imported {
	readonly records: number
	/** The problems that a check has found; `17.title` is a field in line 17. */
	readonly problems?: readonly Detail[]
	/** Set if there may be more problems than those that a check lists. */
	readonly more?: true
}

/** Options of `update`, `replace` and `delete`. */
export interface ChangeOptions<
	T,
	R = NoRelations,
	F extends FieldPath<T, R> = FieldPath<T, R>,
	I extends Include<T, R> = Include<T, R>,
> extends RecordOptions<T, R, F, I> {
	/**
	 * An ETag (`"7"`) to change only this version of the record, or `*` to change only an existing record.
	 * @default the ETag of the given record
	 */
	readonly ifMatch?: string | undefined
}
