/**
 * `Turn`: a mutex for the transactions of one connection. Nested ones run one after the other, and statements outside of the
 * open one wait: they would become part of it, and be rolled back with it. Used by the drivers.
 */
import { NoConnection } from './pool.ts'

export class Turn {
	/** Resolves when the open transaction has ended. */
	#open: Promise<void> | undefined

	get isTaken(): boolean {
		return this.#open !== undefined
	}

	/**
	 * Calls `work` when no transaction is open.
	 *
	 * @param isGivenUp whether the caller has timed out while this waited: then `work` isn't called, because the caller may have
	 *   been told that nothing was changed
	 */
	after<T>(work: () => Promise<T>, isGivenUp?: () => boolean): Promise<T> {
		return this.#open === undefined ? work() : this.#later(work, isGivenUp)
	}

	async #later<T>(work: () => Promise<T>, isGivenUp?: () => boolean): Promise<T> {
		while (this.#open !== undefined) await this.#open
		if (isGivenUp?.() === true) throw new NoConnection()
		return work()
	}

	/** Calls `work`, a transaction, when no other one is open. */
	async take<T>(work: () => Promise<T>): Promise<T> {
		while (this.#open !== undefined) await this.#open
		let end = (): void => {}
		this.#open = new Promise((resolve) => {
			end = resolve
		})
		try {
			return await work()
		} finally {
			this.#open = undefined
			end()
		}
	}
}
