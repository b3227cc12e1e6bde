/** `Driver`: the interface to the user's own database driver. One small file per driver implements it. */

import type { Bytes } from '../../base/time.ts'
import type { Replicas } from '../replicas.ts'

/** A statement and the values of its placeholders, ready to be bound. */
export interface Statement {
	readonly text: string
	readonly values: readonly unknown[]
	/** Whether it changes anything; if so, its outcome is unknown after the connection was lost. */
	readonly writes: boolean
	/**
	 * Whether it may share a transaction with other statements that have the same text. Locks are then held until all of
	 * them are done; if one fails, the driver runs each of them again on its own.
	 */
	readonly joins?: boolean
	/** With `joins`: the id of the record that the statement locks. Joined statements are run in the order of these texts. */
	readonly locks?: string
	/**
	 * With `locks`: the text of one statement that replaces several for different records, if there is one. It takes an array
	 * for each value, locks the records in the order of the arrays, and the last column of a row is the number, from 1, of the
	 * statement that the row is for.
	 */
	readonly ofAll?: (() => string | undefined) | undefined
	/**
	 * Maximum size of the result, for statements that may return many large rows. The query fails with ModelError
	 * `too_large` as soon as the rows before the latest one exceed it.
	 */
	readonly maxBytes?: Bytes | undefined
	/** With `maxBytes`: whether the rows are those of several lists, whose index is the last column. */
	readonly isOfLists?: boolean
}

/** The result of a statement. */
export interface Rows {
	/** Rows as arrays, in the order of the select list. */
	readonly rows: readonly (readonly unknown[])[]
	/** How many rows a change has matched, including those that already had the new values. */
	readonly affected: number
	/** The key that the database has generated for an insert without `returning`, as decimal digits. */
	readonly insertId?: string | undefined
}

/** The statement that sets up a transaction has failed; `cause` is its error. */
export class SetupError extends Error {
	override readonly name = 'SetupError'

	constructor(cause: unknown) {
		super('the transaction could not be set up', { cause })
	}
}

/** Runs a statement after another one that sets up the transaction of both. @throws SetupError if the first one failed */
export async function runBehind(inner: Driver, setup: Statement, statement: Statement): Promise<Rows> {
	await inner.query(setup).catch((error) => {
		throw new SetupError(error)
	})
	return inner.query(statement)
}

/** Runs statements; prepared ones are found by text. Rejects with the driver's errors, which the dialect translates. */
export interface Driver {
	/**
	 * Runs a statement. The driver that a transaction's work gets runs it on the transaction's connection.
	 *
	 * @param isGivenUp whether the caller has timed out. A driver that makes a statement wait for a transaction (see
	 *   {@link isTaken}), or for a nested one, must call this afterwards, and must not run the statement if it returns true
	 */
	query(statement: Statement, isGivenUp?: () => boolean): Promise<Rows>
	/**
	 * For a driver whose models share one connection: whether a statement would have to wait now, because a transaction is
	 * open. A statement that times out while it waits was not sent. @default no statement waits for another one's transaction
	 */
	readonly isTaken?: boolean
	/**
	 * Runs `work` in a transaction on one connection, and rolls back if `work` rejects. Called on the driver that `work`
	 * gets, it makes a savepoint.
	 */
	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T>
	/**
	 * For a transaction's driver: the connection of the user's own library, made by `lend` so that it can't be used after
	 * the transaction. @default there is no SQL by hand
	 */
	readonly connection?: unknown
	/**
	 * Runs a statement in a transaction of its own, after another one that sets the transaction up; both are sent at once.
	 * Rejects with a {@link SetupError} if the first one failed: then the other one was not run. @default a transaction of both
	 */
	queryAfter?(setup: Statement, statement: Statement): Promise<Rows>
	/** The replicas of its database, set when that is opened. @default none */
	replicas?: Replicas | undefined
	/** Replaces all connections, because they lead to a server that became read-only in a failover. */
	renew?(): void
}
