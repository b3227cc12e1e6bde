/** Options of the calls of a `CrudClient` that return a record. */
import type { Include, Selection } from './query-types.ts'
import type { FieldPath, NoRelations } from './record-types.ts'
import type { CallOptions } from './settings.ts'

/** Options of calls that return a record. */
export interface RecordOptions<
	T,
	R = NoRelations,
	F extends FieldPath<T, R> = FieldPath<T, R>,
	I extends Include<T, R> = Include<T, R>,
> extends CallOptions,
		Selection<T, R, F, I> {}

/** Options of `create`. */
export interface CreateOptions<
	T,
	R = NoRelations,
	F extends FieldPath<T, R> = FieldPath<T, R>,
	I extends Include<T, R> = Include<T, R>,
> extends RecordOptions<T, R, F, I> {
	/**
	 * 1 to 255 characters of printable ASCII, new for each record. A server that stores keys creates the record only once,
	 * so the call can be retried like a read.
	 *
	 * @default none: a create is attempted once
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
