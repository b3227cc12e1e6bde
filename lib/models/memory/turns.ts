/** `Turns`: one change or transaction of a `MemoryModel` at a time, in the order they came. */

import type { Seconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'

export class Turns {
	readonly #timeoutSeconds: Seconds
	readonly #waiting = new Set<() => void>()
	#isTaken = false

	/** `timeoutSeconds` is how long a turn is waited for. */
	constructor(timeoutSeconds: Seconds) {
		this.#timeoutSeconds = timeoutSeconds
	}

	/**
	 * Runs `work` when all that came before it are through; at once where there are none.
	 *
	 * @throws ModelError `busy` when its turn doesn't come in time: where a transaction's work waits for itself
	 */
	async take<T>(work: () => T | Promise<T>): Promise<T> {
		if (this.#isTaken) await this.#turn()
		this.#isTaken = true
		try {
			return await work()
		} finally {
			this.#next()
		}
	}

	/** The turn is handed on while it is taken, so that nobody who comes in between gets before those who wait. */
	#turn(): Promise<void> {
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
			this.#isTaken = false
			return
		}
		this.#waiting.delete(begin)
		begin()
	}
}
