/**
 * What a store counts for the option `metrics`. Attached to the store's `source`, where models and drivers write it and
 * `metrics/` reads it.
 */
import { attached } from '../base/attached.ts'

/** The state of a connection pool at the moment. */
export interface PoolUsage {
	/** The pool itself: several drivers may use the same one. */
	readonly pool: object
	/** What kind of database it leads to: `postgresql`. */
	readonly system: string
	/** Statements and transactions of this driver that wait for a connection. */
	readonly waiting: number
	/** Connections that are used, by anyone. */
	readonly inUse: number
	/** Most connections that there may be. */
	readonly max: number
}

/** The counts of a store. */
export interface StoreUsage {
	/** Reads of a record by id that could be gathered. */
	reads: number
	/** Statements that these reads were sent in. */
	readStatements: number
	/** @default it has no pool whose state is known */
	pool: (() => PoolUsage | undefined) | undefined
	/** What counts for its replicas: sources, as a model's. */
	readonly replicas: object[]
}

const USAGE: unique symbol = Symbol('verbena.usage')

/** The counts of a store, created on first use. @param source a model's `source` */
export function usageOf(source: object): StoreUsage {
	return attached(source, USAGE, () => ({ reads: 0, readStatements: 0, pool: undefined, replicas: [] }))
}
