/**
 * `Replicas`: copies of a store that may lack its latest changes. A model with the member `replicas` has some;
 * `CrudHandler` reads from them where that may be, and from the model itself otherwise: see `crud/replicas.ts`.
 */
import type { Seconds } from '../base/time.ts'
import type { Model } from './model.ts'

/** Copies of a store; models with the same ones have the same object. */
export interface Replicas {
	/**
	 * The replica that a caller reads from now; `undefined` if there is none that is fit, or that surely has what the caller
	 * has written.
	 *
	 * @param caller identifies who reads: a user, or an address
	 */
	choose(caller: string): Replica | undefined
	/** Notes that the caller may have changed records until now. */
	noteWrite(caller: string): void
	/** The state of each replica now. */
	readonly states: readonly ReplicaState[]
}

/** The state of a replica. */
export interface ReplicaState {
	/** Whether it is read from. */
	readonly isUsed: boolean
	/** It has everything that the store had so many seconds ago; `Infinity` if it lags by more than may be, or doesn't tell. */
	readonly lagSeconds: Seconds
	/** Why it can't be used; `undefined` if it can. */
	readonly error: unknown
}

/** One of the copies. */
export interface Replica {
	/** The model's records as this replica has them. Changes by it, and transactions, are those of the store itself. */
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
