/**
 * `Runner`: runs a model's statements through its driver with a timeout, and translates the driver's errors into
 * `ModelError`s. `Timeout` implements the former: drivers may wait forever for a connection or for a lost response.
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

	/** @throws ModelError, or the driver's error where the dialect doesn't know it */
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
			return await this.timeout.transaction(this.driver, (driver) =>
				work(new Runner(driver, this.#dialect, this.#live, this.timeout, true)),
			)
		} catch (error) {
			const change =
				error instanceof ModelError && error.kind === 'busy'
					? await this.#live.takeChangeReport(error)
					: undefined
			throw change ?? (await this.#translate(error, true))
		}
	}

	/** The error to throw, or a promise that rejects with it if the schema has to be reloaded first. */
	#translate(error: unknown, writes: boolean): unknown {
		if (error instanceof ModelError) return error
		if (this.#dialect.isOutdated?.(error) === true)
			return this.#live.handleOutdated(error, !this.#isInTransaction)
		const failure = this.#dialect.failure(error, this.#live.subject.table)
		if (failure === undefined) return error
		// For a read, the page is too large; for a write, a value.
		if (failure.kind === 'too_large' && writes)
			return new ModelError('invalid', failure.fields, failure.cause)
		if (failure.kind !== 'outcome_unknown' || writes) return failure
		return new ModelError('unavailable', failure.fields, failure.cause)
	}
}

/** What a timeout means: nothing was done, or nobody knows. */
type TimeoutKind = 'unavailable' | 'outcome_unknown'

export class Timeout {
	readonly #deadlines: Deadlines
	readonly #milliseconds: Milliseconds

	/** `timeoutSeconds` was checked by `options.ts`. */
	constructor(timeoutSeconds: Seconds, clock: Clock = steadyClock) {
		const milliseconds = timeoutSeconds * 1000
		this.#deadlines = new Deadlines(clock, milliseconds)
		// Deadlines are noticed up to an eighth of the time late, and nobody should wait longer than `timeoutSeconds`.
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
			// The driver's shorter timeout has the better error: it wins if both fire in one turn after a stall.
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
					// The schema is reloaded within the same timeout; the statement has failed, so nothing was done.
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
				// The caller already has the error that nothing was done.
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

/** The error of a transaction that was rolled back: its outcome is known. */
function rolledBack(error: unknown): unknown {
	if (!(error instanceof ModelError) || error.kind !== 'outcome_unknown') return error
	return new ModelError('unavailable', error.fields, error)
}
