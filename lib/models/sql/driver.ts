/** `Driver`: what an SQL model asks of the user's own database driver. One small file per product implements it. */

import type { Bytes } from '../../base/time.ts'

/** A statement and the values of its placeholders, ready to be bound. */
export interface Statement {
	readonly text: string
	readonly values: readonly unknown[]
	/** Whether it changes anything: a lost connection then leaves the outcome open. */
	readonly writes: boolean
	/**
	 * Whether it may share a transaction with others of its text. Locks are then held until all are done; where one
	 * fails, the driver runs each again alone.
	 */
	readonly joins?: boolean
	/**
	 * Where rows are many, and each may be large: as soon as those before the last one have more bytes, no more are
	 * kept, and the query fails by ModelError `too_large`. Left out for all others.
	 */
	readonly maxBytes?: Bytes | undefined
}

/** What a statement answers. */
export interface Rows {
	/** Rows as arrays, in the order of the select list. */
	readonly rows: readonly (readonly unknown[])[]
	/** Rows that a change has met (matched, also where they already had the values). */
	readonly affected: number
	/** The key that an insert without `returning` has generated, as decimal digits. */
	readonly insertId?: string | undefined
}

/**
 * Runs statements, prepared and reused by their text. Rejects with the driver's own errors; the dialect
 * knows what they mean.
 */
export interface Driver {
	/** Runs one statement. */
	query(statement: Statement): Promise<Rows>
	/**
	 * Runs `work` on one connection between begin and commit; rolls back when it rejects. Of the driver that is
	 * handed to `work`, it is a savepoint.
	 */
	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T>
	/** Told that its connections lead to a server that only reads: another is the primary now, and they are made anew. */
	renew?(): void
}
