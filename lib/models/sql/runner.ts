/**
 * `Runner`: runs a model's statements through its driver, within the model's timeout, and translates the driver's errors
 * into `ModelError`s. `Timeout` is how long it waits: drivers themselves may wait for ever, for a connection of their
 * pool or for an answer that is lost.
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
			const answer = this.driver.query(statement)
			return this.timeout.wait(answer, writes ? 'outcome_unknown' : 'unavailable', translate)
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
				error instanceof ModelError && error.kind === 'busy' ? await this.#live.takeChange(error) : undefined
			throw change ?? (await this.#translate(error, true))
		}
	}

	/** The error to throw; a promise that rejects by it where the table has to be read first. */
	#translate(error: unknown, writes: boolean): unknown {
		if (error instanceof ModelError) return error
		if (this.#dialect.isOutdated?.(error) === true) return this.#live.refuse(error, !this.#isInTransaction)
		const failure = this.#dialect.failure(error, this.#live.subject.table)
		if (failure === undefined) return error
		// Of a read, the page is too large; of a write, a value.
		if (failure.kind === 'too_large' && writes)
			return new ModelError('invalid', failure.fields, failure.cause)
		if (failure.kind !== 'outcome_unknown' || writes) return failure
		return new ModelError('unavailable', failure.fields, failure.cause)
	}
}

/** What silence means: nothing was done, or nobody knows. */
type Silence = 'unavailable' | 'outcome_unknown'

export class Timeout {
	readonly #deadlines: Deadlines
	readonly #most: Milliseconds

	/** `timeoutSeconds` was checked by `options.ts`. */
	constructor(timeoutSeconds: Seconds, clock: Clock = steadyClock) {
		const milliseconds = timeoutSeconds * 1000
		this.#deadlines = new Deadlines(clock, milliseconds)
		// A deadline is noticed up to an eighth of the time late: so nobody waits longer than `timeoutSeconds`.
		this.#most = milliseconds - Math.min(500, milliseconds / 8)
	}

	/** How many answers are waited for. */
	get waiting(): number {
		return this.#deadlines.size
	}

	/** Starts the deadline of an item. */
	begin(item: Due): void {
		item.due = this.#deadlines.clock() + this.#most
		this.#deadlines.add(item)
	}

	end(item: Due): void {
		this.#deadlines.delete(item)
	}

	/**
	 * The same answer, or a ModelError after the timeout; what the driver says later is dropped.
	 *
	 * @param translate the error to throw for the driver's, or a promise that rejects by it
	 */
	wait<T>(answer: Promise<T>, silence: Silence, translate: (error: unknown) => unknown = same): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false
			let meanwhile = silence
			const expire = (): void => {
				isLate = true
				reject(new ModelError(meanwhile))
			}
			// The driver's shorter timeout knows more: let it win if both fire in one turn after an event-loop stall.
			const item: Due = { due: 0, expire: () => void setImmediate(expire) }
			const fail = (error: unknown): void => {
				this.end(item)
				reject(error)
			}
			this.begin(item)
			answer.then(
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
					// The table is read first, within the same time; the statement was refused, so nothing was done.
					meanwhile = 'unavailable'
					translated.catch(fail)
				},
			)
		})
	}

	/**
	 * Runs a transaction. The timeout holds for its begin and its end, not for `work`. Until the commit was sent nothing
	 * is done, so an `outcome_unknown` of `work` becomes `unavailable`.
	 */
	transaction<T>(driver: Driver, work: (driver: Driver) => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false
			let failed: { readonly error: unknown } | undefined
			let silence: Silence = 'unavailable'
			const item: Due = {
				due: 0,
				expire: () => {
					isLate = true
					reject(failed === undefined ? new ModelError(silence) : failed.error)
				},
			}
			const between = async (inner: Driver): Promise<T> => {
				// The caller was told that nothing is done, so nothing may be.
				if (isLate) throw new ModelError('unavailable')
				this.end(item)
				try {
					const result = await work(inner)
					silence = 'outcome_unknown'
					return result
				} catch (error) {
					failed = { error: undone(error) }
					throw error
				} finally {
					this.begin(item)
				}
			}
			this.begin(item)
			driver.transaction(between).then(
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

function same(error: unknown): unknown {
	return error
}

/** What an error means once its transaction was rolled back. */
function undone(error: unknown): unknown {
	if (!(error instanceof ModelError) || error.kind !== 'outcome_unknown') return error
	return new ModelError('unavailable', error.fields, error)
}
