/**
 * `Runner`: runs a model's statements through its driver with a timeout, and translates the driver's errors into
 * `ModelError`s. `Timeout` is needed because drivers may wait forever for a connection or for a lost response.
 */
import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Clock, type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { isTransient, ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import { type Driver, type Rows, SetupError, type Statement } from './driver.ts'
import type { LiveTable } from './live-table.ts'

/** Statements that set up a transaction of a session. */
export interface SessionSetup {
	/** Equal only for equal sessions. */
	readonly key: string
	/** For statements that only read. */
	readonly reads: Statement
	readonly writes: Statement
}

export class Runner {
	readonly driver: Driver
	readonly timeout: Timeout
	readonly isInTransaction: boolean
	readonly #dialect: Dialect
	readonly #live: LiveTable
	/** The session that its transactions are set up for. */
	readonly session: SessionSetup | undefined

	/** @param session the session that each transaction, or each statement outside of one, runs in */
	constructor(
		driver: Driver,
		dialect: Dialect,
		live: LiveTable,
		timeout: Timeout,
		isInTransaction = false,
		session?: SessionSetup,
	) {
		this.driver = driver
		this.#dialect = dialect
		this.#live = live
		this.isInTransaction = isInTransaction
		this.session = session
		this.timeout = timeout
	}

	inSession(session: SessionSetup): Runner {
		return new Runner(this.driver, this.#dialect, this.#live, this.timeout, false, session)
	}

	/** The same over another driver, outside of transactions. */
	over(driver: Driver): Runner {
		return new Runner(driver, this.#dialect, this.#live, this.timeout, false, this.session)
	}

	/** @throws ModelError, or the driver's error if the dialect doesn't know it */
	run(statement: Statement): Promise<Rows> {
		const { writes } = statement
		const setup = this.#setupOf(writes)
		if (setup !== undefined) return this.#runAfter(setup, statement)
		const translate = (error: unknown) => this.#translate(error, writes)
		try {
			const kind = writes ? 'outcome_unknown' : 'unavailable'
			const isWaiting = this.driver.isTaken === true
			if (!this.isInTransaction && !isWaiting)
				return this.timeout.wait(this.driver.query(statement), kind, translate)
			let isLate = false
			let isSent = !isWaiting
			const result = this.driver.query(statement, () => {
				isSent = !isLate
				return isLate
			})
			return this.timeout.wait(result, kind, translate, () => {
				isLate = true
				return isSent ? undefined : waitedInVain()
			})
		} catch (error) {
			const translated = translate(error)
			return translated instanceof Promise ? translated : Promise.reject(translated)
		}
	}

	/** Runs `work` with a runner whose statements are in one transaction. */
	transaction<T>(work: (inner: Runner) => Promise<T>): Promise<T> {
		const setup = this.#setupOf(true)
		return this.#transaction(async (inner) => {
			if (setup !== undefined) await inner.#setUp(setup)
			return work(inner)
		})
	}

	/** The statement that sets up a transaction of the session; `undefined` without a session, and within a transaction. */
	#setupOf(writes: boolean): Statement | undefined {
		if (this.session === undefined || this.isInTransaction) return undefined
		return writes ? this.session.writes : this.session.reads
	}

	/** Runs a statement in a transaction of its own, which `setup` begins. */
	async #runAfter(setup: Statement, statement: Statement): Promise<Rows> {
		const { writes } = statement
		const sent = this.driver.queryAfter?.(setup, statement)
		if (sent !== undefined)
			return this.timeout.wait(sent, writes ? 'outcome_unknown' : 'unavailable', (error) =>
				this.#translate(error, writes),
			)
		try {
			return await this.#transaction(async (inner) => {
				// Both are sent at once. After an error of the first one, the database refuses the other one.
				const setUp = inner.#setUp(setup)
				const rows = inner.run(statement)
				rows.catch(() => {})
				await setUp
				return rows
			})
		} catch (error) {
			throw writes ? error : unchanged(error)
		}
	}

	async #setUp(setup: Statement): Promise<void> {
		const translate = (error: unknown) => this.#translate(new SetupError(error), false)
		await this.timeout.wait(this.driver.query(setup), 'unavailable', translate)
	}

	async #transaction<T>(work: (inner: Runner) => Promise<T>): Promise<T> {
		try {
			return await this.timeout.transaction(this.driver, async (driver) => {
				try {
					return await work(this.within(driver))
				} catch (error) {
					throw this.#ofWork(error)
				}
			})
		} catch (error) {
			const change =
				error instanceof ModelError && error.kind === 'busy'
					? await this.#live.takeChangeReport(error)
					: undefined
			throw change ?? (await this.#translate(error, true))
		}
	}

	/** See `Model.check`. */
	async check(writes: boolean): Promise<void> {
		const { takesChanges, takesReads = 'select 1' } = this.#dialect
		const needsChanges = writes && takesChanges !== undefined
		const text = needsChanges ? takesChanges : takesReads
		const { rows } = await this.run({ text, values: [], writes: false })
		if (!needsChanges || rows.length > 0) return
		this.driver.renew?.()
		throw new ModelError('unavailable', [], new Error('the server is read-only: it is a replica now'))
	}

	/** See `Within.checkDeferred`. */
	async checkDeferred(): Promise<void> {
		const { checksDeferred } = this.#dialect
		if (checksDeferred !== undefined) await this.run({ text: checksDeferred, values: [], writes: true })
	}

	/** The runner of a transaction. @param session the transaction's */
	within(driver: Driver, session = this.session): Runner {
		return new Runner(driver, this.#dialect, this.#live, this.timeout, true, session)
	}

	/** Translates an error of the driver; `undefined` for any other. */
	failureOf(error: unknown): ModelError | undefined {
		return error instanceof ModelError ? error : this.#dialect.failure(error, this.#live.subject.table)
	}

	/** Translates an error that SQL by hand got from the driver. It may be about another table, so it names no fields. */
	#ofWork(error: unknown): unknown {
		if (error instanceof ModelError) return error
		const failure = this.#dialect.failure(error, this.#live.subject.table)
		if (failure === undefined) return error
		const kind = failure.kind === 'too_large' ? 'invalid' : failure.kind
		return new ModelError(kind, [], error, failure.raised)
	}

	/** The error to throw, or a promise that rejects with it if the schema has to be reloaded first. */
	#translate(error: unknown, writes: boolean): unknown {
		if (error instanceof ModelError) return error
		if (error instanceof SetupError) return this.#refusedSession(error.cause)
		if (this.#dialect.isOutdated?.(error) === true)
			return this.#live.handleOutdated(error, !this.isInTransaction)
		const failure = this.#dialect.failure(error, this.#live.subject.table)
		if (failure === undefined) return error
		// `too_large` is about the page in a read, but about a value in a write.
		if (failure.kind === 'too_large' && writes)
			return new ModelError('invalid', failure.fields, failure.cause)
		return writes ? failure : unchanged(failure)
	}

	/** The error for a session that the database refuses: the program's fault, unless the database can't be reached. */
	#refusedSession(error: unknown): unknown {
		const failure = this.#dialect.failure(error, this.#live.subject.table)
		if (isTransient(failure)) return unchanged(failure)
		const reason = error instanceof Error ? error.message : String(error)
		return new TypeError(`the database refuses the session: ${reason}`, { cause: error })
	}
}

/** Turns `outcome_unknown` into `unavailable`, where nothing can have been changed. */
function unchanged(error: unknown): unknown {
	if (!(error instanceof ModelError) || error.kind !== 'outcome_unknown') return error
	return new ModelError('unavailable', error.fields, error.cause)
}

/** What a timeout means: nothing was changed, or that isn't known. */
type TimeoutKind = 'unavailable' | 'outcome_unknown'

export class Timeout {
	readonly #deadlines: Deadlines
	readonly #milliseconds: Milliseconds

	/** `timeoutSeconds` was checked by `options.ts`. */
	constructor(timeoutSeconds: Seconds, clock: Clock = steadyClock) {
		const milliseconds = timeoutSeconds * 1000
		this.#deadlines = new Deadlines(clock, milliseconds)
		// Deadlines may expire late, by up to an eighth of the time. They are set earlier, so that nobody waits longer than
		// `timeoutSeconds`.
		this.#milliseconds = milliseconds - Math.min(500, milliseconds / 8)
	}

	/** The number of pending operations. */
	get waiting(): number {
		return this.#deadlines.size
	}

	/** Starts the deadline of an item. */
	begin(item: Due): void {
		item.due = this.#deadlines.clock() + this.#milliseconds
		this.#deadlines.add(item)
	}

	end(item: Due): void {
		this.#deadlines.delete(item)
	}

	/**
	 * Settles as `result` does, or rejects with a ModelError after the timeout; a later result is dropped.
	 *
	 * @param translate maps the driver's error to the one to throw, or to a promise that rejects with it
	 * @param expired called after the timeout; may return the error, instead of one of `kind`
	 */
	wait<T>(
		result: Promise<T>,
		kind: TimeoutKind,
		translate: (error: unknown) => unknown = (error) => error,
		expired?: () => ModelError | undefined,
	): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false
			let timeoutKind = kind
			const expire = (): void => {
				isLate = true
				reject(expired?.() ?? new ModelError(timeoutKind))
			}
			// The driver's own timeout is shorter and has a better error. If both fire in the same turn, after a stall, the
			// driver's error must win, so this one waits for another turn.
			const item: Due = { due: 0, expire: () => void setImmediate(expire) }
			const fail = (error: unknown): void => {
				this.end(item)
				reject(error)
			}
			this.begin(item)
			result.then(
				(value) => {
					this.end(item)
					resolve(value)
				},
				(error) => {
					if (isLate) return
					const translated = translate(error)
					if (!(translated instanceof Promise)) {
						fail(translated)
						return
					}
					// The schema is reloaded within the same timeout. The statement has failed, so nothing was changed.
					timeoutKind = 'unavailable'
					translated.catch(fail)
				},
			)
		})
	}

	/**
	 * Runs a transaction. The timeout applies to its begin and its end, not to `work`. Nothing is stored before the commit,
	 * so an `outcome_unknown` of `work` becomes `unavailable`.
	 */
	transaction<T>(driver: Driver, work: (driver: Driver) => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false
			let failed: { readonly error: unknown } | undefined
			let late = driver.isTaken === true ? waitedInVain : () => new ModelError('unavailable')
			const item: Due = {
				due: 0,
				expire: () => {
					isLate = true
					reject(failed === undefined ? late() : failed.error)
				},
			}
			const timedWork = async (inner: Driver): Promise<T> => {
				// The caller was already told that nothing was changed, so `work` must not run.
				if (isLate) throw new ModelError('unavailable')
				this.end(item)
				try {
					const result = await work(inner)
					late = () => new ModelError('outcome_unknown')
					return result
				} catch (error) {
					// It was rolled back: an unknown outcome is known now.
					failed = { error: unchanged(error) }
					throw error
				} finally {
					this.begin(item)
				}
			}
			this.begin(item)
			driver.transaction(timedWork).then(
				(value) => {
					this.end(item)
					resolve(value)
				},
				(error) => {
					this.end(item)
					reject(failed === undefined ? error : failed.error)
				},
			)
		})
	}
}

/** The error of a statement that has only waited: often for the transaction that its own caller has begun. */
function waitedInVain(): ModelError {
	const reason =
		'waited until timeoutSeconds for an open transaction: within transaction(), use what its work is called with'
	return new ModelError('unavailable', [], new Error(reason))
}
