/** `Mutex`: a `MemoryModel` runs one change or transaction at a time, in order of arrival. */

import type { Seconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'

export class Mutex {
	readonly #timeoutSeconds: Seconds
	readonly #waiting = new Set<() => void>()
	#isHeld = false

	/** `timeoutSeconds` is how long `run` waits for the lock. */
	constructor(timeoutSeconds: Seconds) {
		this.#timeoutSeconds = timeoutSeconds
	}

	/**
	 * Runs `work` when all earlier work has ended; at once if there is none.
	 *
	 * @throws ModelError `busy` after the timeout: a transaction whose work waits for the model itself deadlocks
	 */
	async run<T>(work: () => T | Promise<T>): Promise<T> {
		if (this.#isHeld) await this.#lock()
		this.#isHeld = true
		try {
			return await work()
		} finally {
			this.#next()
		}
	}

	/** The lock is handed over while it is held, so that a newcomer can't overtake those who wait. */
	#lock(): Promise<void> {
		return new Promise((resolve, reject) => {
			const begin = (): void => {
				clearTimeout(timer)
				resolve()
			}
			const timer = setTimeout(() => {
				this.#waiting.delete(begin)
				reject(new ModelError('busy'))
			}, this.#timeoutSeconds * 1_000)
			this.#waiting.add(begin)
		})
	}

	#next(): void {
		const [begin] = this.#waiting
		if (begin === undefined) {
			this.#isHeld = false
			return
		}
		this.#waiting.delete(begin)
		begin()
	}
}
