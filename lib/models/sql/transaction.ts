/**
 * A transaction on one connection, for drivers. `runTransaction` begins, commits and rolls back; `within` only provides
 * the `Driver` in between, for database objects that have transactions of their own. Nested transactions are savepoints.
 */
import type { Driver, Rows, Statement } from './driver.ts'
import { type Lending, lend, transactionEnded } from './lend.ts'
import { NoConnection } from './pool.ts'
import { Turn } from './turn.ts'

/** The connection of a transaction. */
export interface Session {
	/** Runs a statement on its connection. */
	run(statement: Statement): Promise<Rows>
	/** Sends `begin`, `savepoint …` and the like. */
	control(text: string): unknown
	/**
	 * How much of the transaction is usable after an error:
	 *
	 * - `everything`
	 * - `savepoint`: what was done before the last savepoint (PostgreSQL refuses all statements after a failed one)
	 * - `nothing`: the connection is lost, or the server has rolled back
	 */
	leaves(error: unknown): 'everything' | 'savepoint' | 'nothing'
	/** The connection of the user's own library, for SQL by hand. @default none */
	readonly connection?: object
	/**
	 * A statement that fails if the transaction can't be committed any more; sent after SQL by hand, whose errors may have gone
	 * unnoticed. Only needed if the server would roll back at the commit without an error.
	 */
	readonly probe?: string
	/** Whether an error only says that an earlier one has aborted the transaction. @default none does */
	isAborted?(error: unknown): boolean
}

/** Runs `work` between begin and commit, and rolls back after an error; `rollbackFailed` gets that rollback's error. */
export async function runTransaction<T>(
	session: Session,
	work: (driver: Driver) => Promise<T>,
	rollbackFailed: (error: unknown) => void,
	begin = 'begin',
): Promise<T> {
	try {
		await session.control(begin)
	} catch (error) {
		throw session.leaves(error) === 'nothing' ? new NoConnection(error) : error
	}
	try {
		const result = await within(session, work)
		await session.control('commit')
		return result
	} catch (error) {
		try {
			await session.control('rollback')
		} catch (failed) {
			rollbackFailed(failed)
		}
		throw error
	}
}

/**
 * Runs `work` in a transaction that has begun. If the server can't commit after an error, rejects with that error even
 * if `work` has caught it: PostgreSQL would silently roll back at the commit.
 */
export function within<T>(session: Session, work: (driver: Driver) => Promise<T>): Promise<T> {
	return new TransactionDriver(session).finish(work)
}

class TransactionDriver implements Driver {
	/** The error after which this transaction or savepoint can't be committed. */
	#failure: { readonly error: unknown; readonly leavesNothing: boolean } | undefined
	#hasEnded = false
	/** Whether there may have been SQL by hand. */
	#isByHand = false
	/** The last error, including those of SQL by hand, but not those that only say that an earlier one has aborted. */
	#last: { readonly error: unknown } | undefined
	readonly #session: Session
	readonly #outer: TransactionDriver | undefined
	readonly #depth: number
	readonly #turn = new Turn()
	/** The result of the statement sent last, which is the last one of a connection to settle. */
	#sent: Promise<unknown> | undefined

	constructor(session: Session, outer?: TransactionDriver) {
		this.#session = session
		this.#outer = outer
		this.#depth = outer === undefined ? 1 : outer.#depth + 1
	}

	async finish<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		try {
			const result = await work(this)
			// Waits for operations that `work` hasn't awaited, because they may still fail.
			await this.#turn.after(async () => {
				this.#hasEnded = true
			})
			await this.#sent?.catch(() => {})
			if (this.#isByHand) await this.#probe()
			if (this.#failure !== undefined) throw this.#failure.error
			return result
		} finally {
			this.#hasEnded = true
		}
	}

	get connection(): unknown {
		const { connection } = this.#session
		if (connection === undefined) return undefined
		const lending: Lending = {
			begin: () => {
				this.#assertUsable()
				this.#isByHand = true
			},
			failed: (error) => {
				this.#reasonOf(error)
				// After other errors, the user may have gone back to a savepoint by hand.
				if (this.#session.leaves(error) === 'nothing') this.#recordFailure(error)
			},
		}
		return lend(connection, lending)
	}

	async #probe(): Promise<void> {
		const { probe } = this.#session
		if (probe === undefined || this.#failure !== undefined) return
		try {
			await this.#session.control(probe)
		} catch (error) {
			throw this.#reasonOf(error)
		}
	}

	query(statement: Statement, isGivenUp?: () => boolean): Promise<Rows> {
		return this.#turn.after(() => this.#query(statement), isGivenUp)
	}

	async #query(statement: Statement): Promise<Rows> {
		this.#assertUsable()
		try {
			const result = this.#session.run(statement)
			this.#sent = result
			return await result
		} catch (error) {
			throw this.#recordFailure(this.#reasonOf(error))
		}
	}

	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		return this.#turn.take(() => this.#nested(work))
	}

	async #nested<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		const name = `verbena_${this.#depth}`
		const inner = new TransactionDriver(this.#session, this)
		await this.#control(`savepoint ${name}`)
		let result: T
		try {
			result = await inner.finish(work)
		} catch (error) {
			if (inner.#failure?.leavesNothing === true) this.#failure ??= inner.#failure
			else
				await this.#control(`rollback to savepoint ${name}`).catch((failed) => {
					this.#failure ??= { error: failed, leavesNothing: false }
				})
			throw error
		}
		await this.#control(`release savepoint ${name}`)
		return result
	}

	async #control(text: string): Promise<void> {
		this.#assertUsable()
		try {
			await this.#session.control(text)
		} catch (error) {
			throw this.#recordFailure(this.#reasonOf(error))
		}
	}

	/** What has aborted the transaction: an earlier error, which may have been caught. */
	#reasonOf(error: unknown): unknown {
		if (this.#session.isAborted?.(error) !== true) this.#last = { error }
		return this.#last?.error ?? error
	}

	#recordFailure(error: unknown): unknown {
		const left = this.#session.leaves(error)
		if (left !== 'everything') this.#failure ??= { error, leavesNothing: left === 'nothing' }
		return error
	}

	#assertUsable(): void {
		// After the outer transaction, the connection may be in another caller's.
		if (this.#outer !== undefined) this.#outer.#assertUsable()
		if (this.#hasEnded) throw transactionEnded()
		if (this.#failure?.leavesNothing === true) throw this.#failure.error
	}
}
