/** `Driver`: the interface to the user's own database driver. One small file per product implements it. */

import type { Bytes } from '../../base/time.ts'

/** A statement and the values of its placeholders, ready to be bound. */
export interface Statement {
	readonly text: string
	readonly values: readonly unknown[]
	/** Whether it changes anything, so that its outcome is unknown after a lost connection. */
	readonly writes: boolean
	/**
	 * Whether it may share a transaction with others of its text. Locks are then held until all are done; if one fails, the
	 * driver runs each again alone.
	 */
	readonly joins?: boolean
	/**
	 * Limit for results of many rows that may be large: as soon as the rows before the last one exceed it, the query fails
	 * with ModelError `too_large`.
	 */
	readonly maxBytes?: Bytes | undefined
}

/** The result of a statement. */
export interface Rows {
	/** Rows as arrays, in the order of the select list. */
	readonly rows: readonly (readonly unknown[])[]
	/** Rows that a change has matched, also those which already had the values. */
	readonly affected: number
	/** The key that the database has generated for an insert without `returning`, as decimal digits. */
	readonly insertId?: string | undefined
}

/**
 * Runs statements, prepared and reused by their text. Rejects with the driver's own errors, which the dialect translates.
 */
export interface Driver {
	/** Runs a statement; the driver that a transaction's work gets, on its connection. */
	query(statement: Statement): Promise<Rows>
	/**
	 * Runs `work` on one connection between begin and commit; rolls back when it rejects. On the driver that `work` gets, it
	 * is a savepoint.
	 */
	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T>
	/** Replaces all connections: they lead to a server that is read-only since a failover. */
	renew?(): void
}
