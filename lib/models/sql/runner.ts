/**
 * `Runner`: runs a model's statements through its driver with a timeout, and translates the driver's errors into
 * `ModelError`s. `Timeout` is needed because drivers may wait forever for a connection or for a lost response.
 */
import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Clock, type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Dialect } from './dialect.ts'
import type { Driver, Rows, Statement } from './driver.ts'
import type { LiveTable } from './live-table.ts'

export class Runner {
	readonly driver: Driver
	readonly timeout: Timeout
	readonly #dialect: Dialect
	readonly #live: LiveTable
	readonly #isInTransaction: boolean

	constructor(driver: Driver, dialect: Dialect, live: LiveTable, timeout: Timeout, isInTransaction = false) {
		this.driver = driver
		this.#dialect = dialect
		this.#live = live
		this.#isInTransaction = isInTransaction
		this.timeout = timeout
	}

	/** @throws ModelError, or the driver's error if the dialect doesn't know it */
	run(statement: Statement): Promise<Rows> {
		const { writes } = statement
		const translate = (error: unknown) => this.#translate(error, writes)
		try {
			const result = this.driver.query(statement)
			return this.timeout.wait(result, writes ? 'outcome_unknown' : 'unavailable', translate)
		} catch (error) {
			const translated = translate(error)
			return translated instanceof Promise ? translated : Promise.reject(translated)
		}
	}

	/** Runs `work` with a runner whose statements are in one transaction. */
	async transaction<T>(work: (inner: Runner) => Promise<T>): Promise<T> {
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

	/** The runner of a transaction. */
	within(driver: Driver): Runner {
		return new Runner(driver, this.#dialect, this.#live, this.timeout, true)
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
		if (this.#dialect.isOutdated?.(error) === true)
			return this.#live.handleOutdated(error, !this.#isInTransaction)
		const failure = this.#dialect.failure(error, this.#live.subject.table)
		if (failure === undefined) return error
		// `too_large` is about the page in a read, but about a value in a write.
		if (failure.kind === 'too_large' && writes)
			return new ModelError('invalid', failure.fields, failure.cause)
		if (failure.kind !== 'outcome_unknown' || writes) return failure
		return new ModelError('unavailable', failure.fields, failure.cause)
	}
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
	 */
	wait<T>(
		result: Promise<T>,
		kind: TimeoutKind,
		translate: (error: unknown) => unknown = (error) => error,
	): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false
			let timeoutKind = kind
			const expire = (): void => {
				isLate = true
				reject(new ModelError(timeoutKind))
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
			let kind: TimeoutKind = 'unavailable'
			const item: Due = {
				due: 0,
				expire: () => {
					isLate = true
					reject(failed === undefined ? new ModelError(kind) : failed.error)
				},
			}
			const timedWork = async (inner: Driver): Promise<T> => {
				// The caller was already told that nothing was changed, so `work` must not run.
				if (isLate) throw new ModelError('unavailable')
				this.end(item)
				try {
					const result = await work(inner)
					kind = 'outcome_unknown'
					return result
				} catch (error) {
					failed = { error: rolledBack(error) }
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

/** Converts the error of a transaction that was rolled back: an unknown outcome is known now. */
function rolledBack(error: unknown): unknown {
	if (!(error instanceof ModelError) || error.kind !== 'outcome_unknown') return error
	return new ModelError('unavailable', error.fields, error)
}
