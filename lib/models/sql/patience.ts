/**
 * `Patience`: how long a model waits for its driver, and what it makes of the driver's silence. Drivers may
 * wait for ever, for a connection of their pool or for an answer that is lost.
 */

import { Deadlines, type Due } from '../../base/deadlines.ts'
import { type Clock, type Milliseconds, type Seconds, steadyClock } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Driver } from './driver.ts'

/** What silence means: nothing was done, or nobody knows. */
type Silence = 'unavailable' | 'outcome_unknown'

export class Patience {
	readonly #deadlines: Deadlines
	readonly #most: Milliseconds

	/** `timeoutSeconds` has been checked by `model-options.ts`. */
	constructor(timeoutSeconds: Seconds, clock: Clock = steadyClock) {
		const milliseconds = timeoutSeconds * 1000
		this.#deadlines = new Deadlines(clock, milliseconds)
		// A deadline is noticed up to an eighth of it late: so nobody waits longer than was said.
		this.#most = milliseconds - Math.min(500, milliseconds / 8)
	}

	/** How many answers are being waited for. */
	get waiting(): number {
		return this.#deadlines.size
	}

	/** Looks after an item that begins to wait now. */
	begin(item: Due): void {
		item.due = this.#deadlines.clock() + this.#most
		this.#deadlines.add(item)
	}

	end(item: Due): void {
		this.#deadlines.delete(item)
	}

	/**
	 * The same answer, or after the time a ModelError; what the driver says then is nobody's business any more.
	 *
	 * @param meant what the driver's error means, or a promise that rejects by it; by default itself
	 */
	wait<T>(answer: Promise<T>, silence: Silence, meant: (error: unknown) => unknown = itself): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false
			let meanwhile = silence
			const expire = (): void => {
				isLate = true
				reject(new ModelError(meanwhile))
			}
			// The driver's own time, which is shorter, may end in the same turn of a process that was held up: it knows more.
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
					const told = meant(error)
					if (!(told instanceof Promise)) {
						fail(told)
						return
					}
					// It takes a look at the database to say what it means, within the same time. Nothing was done.
					meanwhile = 'unavailable'
					told.catch(fail)
				},
			)
		})
	}

	/**
	 * Runs a transaction; the driver's beginning and its end are waited for, not what `work` does between. As
	 * long as nothing was committed, nothing was done: what `work` didn't know of a change it then does.
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
				// The caller has been told that nothing was done, and so nothing may be.
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

function itself(error: unknown): unknown {
	return error
}

/** What an error means once its transaction was given up. */
function undone(error: unknown): unknown {
	if (!(error instanceof ModelError) || error.kind !== 'outcome_unknown') return error
	return new ModelError('unavailable', error.fields, error)
}
