/**
 * Transactions over several tables of one database: which models can be in the same one, and each model within it. Used by
 * `sql-model.ts`.
 */
import type { Model, Within } from '../model.ts'
import type { Driver } from './driver.ts'
import { areTogether, type LiveTable } from './live-table.ts'
import type { SessionSetup } from './runner.ts'
import { LIVE } from './subject.ts'

/** The member of a model that returns the model within a transaction. */
export const JOIN: unique symbol = Symbol('verbena.join')
/** The member of a model that has its transaction's driver; `undefined` if it isn't in a transaction. */
export const TRANSACTION: unique symbol = Symbol('verbena.transaction')

/** The member of a model that has its session; `undefined` for none. */
export const SESSION: unique symbol = Symbol('verbena.session')

/** The members of an SQL model that joint transactions use. */
export interface JointModel extends Model {
	readonly [LIVE]: LiveTable
	readonly [TRANSACTION]: Driver | undefined
	readonly [SESSION]: SessionSetup | undefined
	[JOIN](driver: Driver, session?: SessionSetup): Model
}

export function canJoin(model: JointModel, other: Model): other is JointModel {
	return (
		isJoint(other) &&
		areTogether(model[LIVE], other) &&
		model[TRANSACTION] === other[TRANSACTION] &&
		// A transaction has one session: that of the model that begins it.
		(other[SESSION] === undefined || other[SESSION].key === model[SESSION]?.key)
	)
}

function isJoint(model: Model): model is JointModel {
	return JOIN in model
}

/** The transaction of `driver`, begun by `model`. */
export function withinOf(model: JointModel, driver: Driver): Within {
	const known = new Map<Model, Model>()
	return {
		connection: driver.connection,
		of(other) {
			const before = known.get(other)
			if (before !== undefined) return before
			// Also a table that wasn't named, so that nothing waits for a second connection.
			const inner = canJoin(model, other) ? other[JOIN](driver, model[SESSION]) : other
			known.set(other, inner)
			return inner
		},
	}
}
