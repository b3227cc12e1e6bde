/**
 * `Replicas`: copies of a store that may lag behind it. If a model has some, as its member `replicas`, `CrudHandler` reads
 * from them where stale records are acceptable, and from the model itself otherwise: see `crud/replicas.ts`.
 */
import type { Seconds } from '../base/time.ts'
import type { Model } from './model.ts'

/** The replicas of a store. Models with the same replicas share one object. */
export interface Replicas {
	/**
	 * The replica for a caller's next read; `undefined` if none can be used, or none is known to have the caller's latest
	 * changes.
	 *
	 * @param caller identifies who reads: a user, or an address
	 */
	choose(caller: string): Replica | undefined
	/** Records the time of a change by the caller, which may have been made just now. */
	noteWrite(caller: string): void
	/** The state of each replica now. */
	readonly states: readonly ReplicaState[]
}

/** The state of a replica. */
export interface ReplicaState {
	/** Whether it is read from. */
	readonly isUsed: boolean
	/** It has everything that the store had this many seconds ago; `Infinity` if it lags too far, or its lag is unknown. */
	readonly lagSeconds: Seconds
	/** Why it can't be used; `undefined` if it can. */
	readonly error: unknown
}

/** One replica. */
export interface Replica {
	/** A model that reads from this replica. Its changes and transactions go to the store itself. */
	of(model: Model): Model
}

/** A model that has replicas. */
export interface ReplicatedModel extends Model {
	/** `undefined` if it was opened without any, and within a transaction. */
	readonly replicas: Replicas | undefined
}

/** The replicas of a model; `undefined` for none. */
export function replicasOf(model: Model): Replicas | undefined {
	return 'replicas' in model ? (model as ReplicatedModel).replicas : undefined
}
