/** Options of a `CrudClient`, and of its calls that return a record. */
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
