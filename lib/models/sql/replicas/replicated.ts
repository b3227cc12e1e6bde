/** `Replicated`: a primary and its replicas, where a database is opened. Called by the adapters' `model.ts`. */
import { isPlain, listOf, numberIn, optionsOf, or, unchecked } from '../../../base/options.ts'
import type { Seconds } from '../../../base/time.ts'

/**
 * The pool of a primary, and those of its replicas:
 *
 *     PostgresModel.open({ write: pool, read: [replica] }, 'article')
 *
 * All are of the same library, with the same settings but for the address.
 */
export interface Replicated<Database> {
	/** Where changes go, and the reads that must see them. */
	readonly write: Database
	/** A pool for each replica. A replica that can't be reached, or lags too far, isn't used until it recovers. */
	readonly read: readonly Database[]
	/**
	 * How long after a change its user reads from the primary, and by how much a replica may lag to be used. From 1 to 3,600.
	 *
	 * @default 5
	 */
	readonly staleSeconds?: Seconds
}

/** The options with their defaults. */
export type Pools<Database> = Required<Replicated<Database>>

const STALE_SECONDS: Seconds = 5

/**
 * Reads a primary with replicas; `undefined` for a database on its own.
 *
 * @throws TypeError without replicas, for a pool that is given twice, and for unknown options; RangeError for
 *   `staleSeconds` out of range
 */
export function readPools<Database extends object>(
	owner: string,
	given: Database | Replicated<Database>,
): Pools<Database> | undefined {
	if (!isReplicated(given)) return undefined
	const pools: Pools<Database> = optionsOf(owner, given, {
		write: unchecked<Database>,
		read: listOf('a list of pools, one for each replica', unchecked<Database>),
		staleSeconds: or(numberIn({ from: 1, to: 3_600 }), STALE_SECONDS),
	})
	const all = [pools.write, ...pools.read]
	if (new Set(all).size < all.length)
		throw new TypeError(`${owner}: write and read must have different pools, one for each server`)
	return pools
}

/** A driver's own database isn't a plain object, or has neither of these members. */
function isReplicated<Database extends object>(
	given: Database | Replicated<Database>,
): given is Replicated<Database> {
	return isPlain(given) && ('write' in given || 'read' in given)
}
