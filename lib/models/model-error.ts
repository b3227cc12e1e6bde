/** `ModelError`: what a store refuses, in words that every store shares. `CrudHandler` turns it into an answer. */
import type { Bytes } from '../base/time.ts'

/**
 * - `unique`, `foreign_key`: it doesn't fit the records that are there: a value is taken, what is referred to is
 *   missing, or others refer to it (409)
 * - `not_null`, `check`, `invalid`: the value can't be stored: null, out of range, too long, malformed (422)
 * - `forbidden`: the store's own rights don't allow it (403)
 * - `refused`: a rule of the store, a trigger, raised an error or skipped the change without one (422)
 * - `too_large`: a page is larger than `maxBytes`, or than one answer can hold (400)
 * - `busy`: serialization failure, deadlock, lock not had in time; may be tried again (503)
 * - `unavailable`: the store couldn't be reached, nothing was done (503)
 * - `outcome_unknown`: the connection was lost or silent while a change was under way (503)
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

/** An error that a rule of the database has raised: `raise exception`, `signal`. */
export interface RaisedError {
	/** By which the option `databaseMessages` knows it: a SQLSTATE such as `P0001`. */
	readonly code: string
	/** Its text; clients see it only where the option says so. */
	readonly message: string
}

/** Most bytes that a page may be allowed: a quarter of a GiB. One text of V8 holds no more than half a GiB. */
export const LARGEST_PAGE: Bytes = 268_435_456

/** Bytes of UTF-8 that a unit of UTF-16 has at most. */
const MOST_OF_A_UNIT = 3

/**
 * Refuses a page that is too large together with its cursor: a list that is sorted by a long text has that in `next`,
 * whatever fields are selected.
 *
 * @throws ModelError `too_large`
 */
export function refuseLarger(json: string, maxBytes: Bytes | undefined, next = ''): void {
	const units = json.length + next.length
	if (maxBytes === undefined || units * MOST_OF_A_UNIT <= maxBytes) return
	if (units > maxBytes || Buffer.byteLength(json) + Buffer.byteLength(next) > maxBytes)
		throw new ModelError('too_large')
}

/** Thrown by models. Its message and cause are for the log; what a client reads is made of kind and fields. */
export class ModelError extends Error {
	override readonly name = 'ModelError' as const
	readonly kind: ModelErrorKind
	/** The fields it is about, by the model's names; empty where the store doesn't say. */
	readonly fields: readonly string[]

	/** What a rule of the database has raised; `undefined` where none has. */
	readonly raised: RaisedError | undefined

	constructor(kind: ModelErrorKind, fields: readonly string[] = [], cause?: unknown, raised?: RaisedError) {
		super(`the store refused: ${kind}`, cause === undefined ? undefined : { cause })
		this.kind = kind
		this.fields = fields
		this.raised = raised
	}
}

/** The cause of `invalid` for a field that a model has told of, and whose column was dropped or renamed since. */
export class GoneField extends Error {
	override readonly name = 'GoneField' as const

	constructor(field: string) {
		super(`the column ${field} is gone`)
	}
}
