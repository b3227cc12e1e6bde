/**
 * Transactions over several tables of one database: which models can be in the same one, and each model within it. Used by
 * `sql-model.ts`.
 */
import type { Model, Within } from '../model.ts'
import type { Driver } from './driver.ts'
import { areTogether, type LiveTable } from './live-table.ts'
import type { Runner, SessionSetup } from './runner.ts'
import { LIVE } from './subject.ts'

/** The member of a model that returns the model within a transaction. */
export const JOIN: unique symbol = Symbol('verbena.join')
/** The member of a model that has its runner, which knows its transaction and its session. */
export const RUNNER: unique symbol = Symbol('verbena.runner')

/** The members of an SQL model that joint transactions use. */
export interface JointModel extends Model {
	readonly [LIVE]: LiveTable
	readonly [RUNNER]: Runner
	[JOIN](driver: Driver, session?: SessionSetup): Model
}

export function canJoin(model: JointModel, other: Model): other is JointModel {
	if (!isJoint(other) || !areTogether(model[LIVE], other)) return false
	const { session } = other[RUNNER]
	// A transaction has one session: that of the model that begins it.
	const isAlike = session === undefined || session.key === model[RUNNER].session?.key
	return isAlike && transactionOf(model) === transactionOf(other)
}

/** The driver of the model's transaction; `undefined` if it isn't in one. */
function transactionOf({ [RUNNER]: { driver, isInTransaction } }: JointModel): Driver | undefined {
	return isInTransaction ? driver : undefined
}

function isJoint(model: Model): model is JointModel {
	return JOIN in model
}

/** The transaction of `driver`, begun by `model`. */
export function withinOf(model: JointModel, driver: Driver): Within {
	const known = new Map<Model, Model>()
	return {
		connection: driver.connection,
		checkDeferred: () => model[RUNNER].within(driver).checkDeferred(),
		of(other) {
			const before = known.get(other)
			if (before !== undefined) return before
			// Also for models that `transactionWith` wasn't given: outside, they would wait for a second connection.
			const inner = canJoin(model, other) ? other[JOIN](driver, model[RUNNER].session) : other
			known.set(other, inner)
			return inner
		},
	}
}
