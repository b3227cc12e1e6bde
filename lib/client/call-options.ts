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

/** The id of a record (of several values, a list: `[7, 'herb']`), or the record itself. */
export type RecordOrId<T> = Id | readonly Id[] | Readonly<Partial<T>>

/** A record of `updateMany`: its key, its version if it must have that, and the fields to change. */
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
	 * 1 to 255 characters of printable ASCII, new for each call. A server that stores keys does it only once,
	 * so the call can be retried like a read.
	 *
	 * @default none: it is attempted once
	 */
	readonly idempotencyKey?: string | undefined
}

/** How far an export or an import is. */
export interface Progress {
	/** The number of records that were read, or sent. */
	readonly records: number
	/** The number of all records, if it is known: of an export, with `count: true` in its query. */
	readonly total?: number | undefined
}

/** Options of `export`. */
export interface ExportOptions extends CallOptions {
	/** Called for each piece that has arrived. */
	readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Options of `import`. */
export interface ImportOptions extends CallOptions {
	/** `'check'` tells what is wrong, and stores nothing. @default it is stored */
	readonly mode?: 'check' | undefined
	/** Called for the records of an iterable, when they are being sent; in browsers, when they have been collected. */
	readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** An iterable of records, or a file whose type is `text/csv`, which is the default, or `application/x-ndjson`. */
export type ImportSource<Input> = Iterable<Input> | AsyncIterable<Input> | Blob

/** What an import is answered with. */
export interface Imported {
	readonly records: number
	/** Of a check: what is wrong, `17.title` in line 17. */
	readonly problems?: readonly Detail[]
	/** Of a check: there may be more problems. */
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
