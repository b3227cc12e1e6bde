/** `ModelError`: the errors of all stores. `CrudHandler` turns them into replies. */
import type { Bytes } from '../base/time.ts'

/**
 * - `unique`, `foreign_key`: conflicts with existing records: a value is taken, a referenced record is missing, or other
 *   records refer to this one (409)
 * - `not_null`, `check`, `invalid`: the value can't be stored: null, out of range, too long, malformed (422)
 * - `forbidden`: the store's user lacks the permission (403)
 * - `refused`: a rule of the store, such as a trigger, raised an error or skipped the change silently (422)
 * - `too_large`: a page is larger than `maxBytes`, or than one reply can hold (400)
 * - `busy`: serialization failure, deadlock or lock timeout; may be retried (503)
 * - `unavailable`: the store couldn't be reached; nothing was changed (503)
 * - `outcome_unknown`: the connection was lost or timed out during a change (503)
 */
export type ModelErrorKind =
	| 'unique'
	| 'foreign_key'
	| 'not_null'
	| 'check'
	| 'invalid'
	| 'forbidden'
	| 'refused'
	| 'too_large'
	| 'busy'
	| 'unavailable'
	| 'outcome_unknown'

/** An error raised by a rule of the database: `raise exception`, `signal`. */
export interface RaisedError {
	/** The key in the option `databaseMessages`: a SQLSTATE such as `P0001`. */
	readonly code: string
	/** The error's text, sent to clients only if `databaseMessages` says so. */
	readonly message: string
}

/** Maximum of `maxBytes`: 256 MiB. A string in V8 can't hold more than 512 MiB. */
export const MAX_PAGE_BYTES: Bytes = 268_435_456

/** Maximum number of UTF-8 bytes for one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

/**
 * Refuses a page that exceeds the limit, counting its cursor. (A cursor holds the values of the sort fields, selected or
 * not.)
 *
 * @throws ModelError `too_large`
 */
export function refuseLarger(json: string, maxBytes: Bytes | undefined, next = ''): void {
	const units = json.length + next.length
	if (maxBytes === undefined || units * MAX_BYTES_PER_UNIT <= maxBytes) return
	if (units > maxBytes || Buffer.byteLength(json) + Buffer.byteLength(next) > maxBytes)
		throw new ModelError('too_large')
}

/** Thrown by models. Message and cause are for the log; the reply is built from `kind` and `fields`. */
export class ModelError extends Error {
	override readonly name = 'ModelError' as const
	readonly kind: ModelErrorKind
	/** The names of the fields concerned; empty if the store doesn't say. */
	readonly fields: readonly string[]
	/** The error that a rule of the database raised, if one did. */
	readonly raised: RaisedError | undefined
	/** Which of several records is concerned; `undefined` if there is only one, or the store doesn't say. */
	readonly index: number | undefined

	/** @param index see the property */
	constructor(
		kind: ModelErrorKind,
		fields: readonly string[] = [],
		cause?: unknown,
		raised?: RaisedError,
		index?: number,
	) {
		super(`the store refused: ${kind}`, cause === undefined ? undefined : { cause })
		this.kind = kind
		this.fields = fields
		this.raised = raised
		this.index = index
	}
}

/** The cause of `invalid` for a field whose column was dropped or renamed after the model was opened. */
export class MissingColumn extends Error {
	override readonly name = 'MissingColumn' as const

	constructor(field: string) {
		super(`the column ${field} is gone`)
	}
}

const ABOUT_RECORDS: ReadonlySet<ModelErrorKind> = new Set<ModelErrorKind>([
	...(['unique', 'foreign_key', 'not_null', 'check', 'invalid', 'refused'] as const),
])

const TRANSIENT: ReadonlySet<ModelErrorKind> = new Set(['unavailable', 'busy', 'outcome_unknown'] as const)

/** Whether an error is about a record, and not about the store. */
export function isAboutRecord(error: unknown): error is ModelError {
	return error instanceof ModelError && ABOUT_RECORDS.has(error.kind)
}

/** Whether an error is about the store's state, and may not occur again. */
export function isTransient(error: unknown): boolean {
	return error instanceof ModelError && TRANSIENT.has(error.kind)
}

/** The error of one record among several; any other error as it is. */
export function errorAt(error: unknown, index: number): unknown {
	if (!isAboutRecord(error)) return error
	return new ModelError(error.kind, error.fields, error.cause ?? error, error.raised, index)
}
