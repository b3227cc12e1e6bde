/** `Mutex`: a `MemoryModel` runs one change or transaction at a time, in order of arrival. */

import type { Seconds } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'

export class Mutex {
	readonly #timeoutSeconds: Seconds
	readonly #waiting = new Set<() => void>()
	#isHeld = false

	constructor(timeoutSeconds: Seconds) {
		this.#timeoutSeconds = timeoutSeconds
	}

	/**
	 * Runs `work` when all earlier work has ended; at once if there is none.
	 *
	 * @throws ModelError `busy` if it can't begin within the timeout, for example because a transaction's work waits for a
	 * change of the model itself: a deadlock
	 */
	async run<T>(work: () => T | Promise<T>): Promise<T> {
		if (this.#isHeld) await this.#acquire()
		this.#isHeld = true
		try {
			return await work()
		} finally {
			this.#release()
		}
	}

	/** Resolves when all earlier work has ended; later work begins after `end`. @throws ModelError as `run` */
	heldUntil(end: Promise<void>): Promise<void> {
		return new Promise((resolve, reject) => {
			this.run(() => {
				resolve()
				return end
			}).catch(reject)
		})
	}

	/** A released lock goes to the first waiting caller without becoming free, so that a newcomer can't overtake. */
	#acquire(): Promise<void> {
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

	#release(): void {
		const [begin] = this.#waiting
		if (begin === undefined) {
			this.#isHeld = false
			return
		}
		this.#waiting.delete(begin)
		begin()
	}
}

/** Runs `work` when all earlier work of all mutexes has ended. They are always locked in the same order by everyone. */
export function lockedAll<T>(mutexes: readonly Mutex[], work: () => Promise<T>): Promise<T> {
	const [first, ...others] = mutexes
	return first === undefined ? work() : first.run(() => lockedAll(others, work))
}
