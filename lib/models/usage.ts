/**
 * What a store counts for the option `metrics`. Attached to the store's `source`, where models and drivers write it and
 * `metrics/` reads it.
 */
import { attached } from '../base/attached.ts'

/** The state of a connection pool at the moment. */
export interface PoolUsage {
	/** The pool itself: several drivers may use the same one. */
	readonly pool: object
	/** The kind of database: `postgresql`. */
	readonly system: string
	/** Statements and transactions of this driver that wait for a connection. */
	readonly waiting: number
	/** Connections in use, by anyone. */
	readonly inUse: number
	/** Maximum number of connections. */
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
	/** The sources of its replicas, which have counts of their own. */
	readonly replicas: object[]
}

const USAGE: unique symbol = Symbol('verbena.usage')

/** The counts of a store, created on first use. @param source a model's `source` */
export function usageOf(source: object): StoreUsage {
	return attached(source, USAGE, () => ({ reads: 0, readStatements: 0, pool: undefined, replicas: [] }))
}
