/**
 * `SqlReplica`: a replica of an SQL database, its state, and the models and drivers that read from it. If a read fails there,
 * but may succeed on another server, it is repeated on the primary. Used by `replicas.ts`.
 */
import type { Clock, Milliseconds } from '../../../base/time.ts'
import type { Model } from '../../model.ts'
import { ModelError } from '../../model-error.ts'
import type { Replica } from '../../replicas.ts'
import { usageOf } from '../../usage.ts'
import { type Driver, type Rows, runBehind, SetupError } from '../driver.ts'
import { NoAnswer, NoConnection } from '../pool.ts'
import { type JointModel, RUNNER } from '../shared-transaction.ts'
import { SqlModel } from '../sql-model.ts'
import { LIVE } from '../subject.ts'

/** How far a server is in the sequence of changes. */
export interface Position<At> {
	/** Whether it accepts changes. */
	readonly isPrimary: boolean
	/** The latest change that it has made or replicated. */
	readonly at: At
}

/** How the servers of a database report their positions. An adapter implements it. */
export interface Replication<At = unknown> {
	/** SQL expressions by name. A replica must have the same values as the primary. */
	readonly same: Readonly<Record<string, string>>
	/** SQL expressions whose values `read` is given. */
	readonly position: readonly string[]
	/** @throws Error if the server can't report its position */
	read(values: readonly unknown[]): Position<At>
	/** Whether a server at `server` has all changes that the primary had at `primary`. */
	hasReached(server: At, primary: At): boolean
	/**
	 * What to do after a read has failed at a replica: `'down'` if the replica can't be used for now, `'again'` if another
	 * server may succeed; `undefined` if the read would fail there as well, or has taken long already.
	 */
	consequenceOf(error: unknown): 'down' | 'again' | undefined
}

/** A replica that takes longer to report its position has no free connection, or doesn't respond. */
const REPORT_TIMEOUT: Milliseconds = 1_000

export class SqlReplica implements Replica {
	/** It has everything that the primary had at this time. */
	freshAt: Milliseconds = Number.NEGATIVE_INFINITY
	/** Number of reads in progress. */
	reading = 0
	/** Why it isn't used; `undefined` if it may be. */
	error: unknown
	readonly #replication: Replication
	readonly #clock: Clock
	/** The replica's drivers by the primary's: each call of `open` has drivers with its own timeout. */
	readonly #drivers = new WeakMap<Driver, Driver>()
	readonly #models = new WeakMap<Model, Model>()
	/** When it was asked for its position; `undefined` if no answer is pending. */
	#askedAt: Milliseconds | undefined

	constructor(replication: Replication, clock: Clock) {
		this.#replication = replication
		this.#clock = clock
	}

	get responds(): boolean {
		const isLate = this.#askedAt !== undefined && this.#clock() - this.#askedAt > REPORT_TIMEOUT
		return this.error === undefined && !isLate
	}

	/** Lets models over the primary's driver read through `own`. */
	add(primary: Driver, own: Driver): void {
		const driver = replicaDriver(this, own, primary)
		this.#drivers.set(primary, driver)
		// Reads are counted for `driver`; `own` has the pool's state.
		usageOf(primary).replicas.push(driver, own)
	}

	of(model: Model): Model {
		const known = this.#models.get(model)
		if (known !== undefined) return known
		const { [LIVE]: live, [RUNNER]: runner } = model as JointModel // only such models have replicas
		const driver = this.#drivers.get(runner.driver)
		if (driver === undefined) throw new TypeError(`${model.name} was opened without these replicas`)
		const own = new SqlModel(live, runner.over(driver), live.subject.dialect)
		this.#models.set(model, own)
		return own
	}

	/**
	 * Updates `freshAt`, unless an update is pending; never rejects.
	 *
	 * @param ask returns the new `freshAt`; rejects if the replica can't be used
	 */
	async learn(ask: () => Promise<Milliseconds>): Promise<void> {
		if (this.#askedAt !== undefined) return
		this.#askedAt = this.#clock()
		try {
			this.freshAt = await ask()
			this.error = undefined
		} catch (error) {
			this.error = error
		} finally {
			this.#askedAt = undefined
		}
	}

	/** Reads from the replica, or from the primary if that may help. */
	async read(own: Driver, primary: Driver, run: (driver: Driver) => Promise<Rows>): Promise<Rows> {
		this.reading++
		try {
			return await run(own)
		} catch (error) {
			const consequence = this.#consequenceOf(error instanceof SetupError ? error.cause : error)
			if (consequence === undefined) throw error
			if (consequence === 'down') this.error = error
		} finally {
			this.reading--
		}
		return run(primary)
	}

	#consequenceOf(error: unknown): 'down' | 'again' | undefined {
		// A page that is too large is so everywhere, and a timeout has used up the caller's time.
		if (error instanceof ModelError || error instanceof NoAnswer) return undefined
		if (!(error instanceof NoConnection)) return this.#replication.consequenceOf(error)
		return error.cause === undefined ? undefined : 'down'
	}
}

/** Sends reads to a replica, and everything else to its primary. */
function replicaDriver(replica: SqlReplica, own: Driver, primary: Driver): Driver {
	const send = (writes: boolean, run: (driver: Driver) => Promise<Rows>) =>
		writes ? run(primary) : replica.read(own, primary, run)
	return {
		query: (statement) => send(statement.writes, (driver) => driver.query(statement)),
		queryAfter: (setup, statement) =>
			send(
				statement.writes,
				(driver) =>
					driver.queryAfter?.(setup, statement) ??
					driver.transaction((inner) => runBehind(inner, setup, statement)),
			),
		transaction: (work) => primary.transaction(work),
		renew: () => primary.renew?.(),
	}
}
