/** `ModelError`: what a store refuses, in words that every store shares. `CrudHandler` turns it into an answer. */

/**
 * - `unique`, `foreign_key`: it doesn't fit the records that are there: a value is taken, what is referred to is
 *   missing, or others refer to it (409)
 * - `not_null`, `check`, `invalid`: the value can't be stored: null, out of range, too long, malformed (422)
 * - `too_large`: what was asked for is more than one answer can hold (400)
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
	| 'too_large'
	| 'busy'
	| 'unavailable'
	| 'outcome_unknown'

/** Thrown by models. Its message and cause are for the log; what a client reads is made of kind and fields. */
export class ModelError extends Error {
	override readonly name = 'ModelError' as const
	readonly kind: ModelErrorKind
	/** The fields it is about, by the model's names; empty where the store doesn't say. */
	readonly fields: readonly string[]

	constructor(kind: ModelErrorKind, fields: readonly string[] = [], cause?: unknown) {
		super(`the store refused: ${kind}`, cause === undefined ? undefined : { cause })
		this.kind = kind
		this.fields = fields
	}
}
