/** One after another: what this process does for one caller, so that it doesn't get in its own way. */
import type { Milliseconds } from '../base/time.ts'

/** Whoever was before is waited for so long: a store that doesn't answer one must not hold up all. */
const LONGEST: Milliseconds = 1_000

/** Work under a key waits for what came before it under the same key. */
export class Turn {
	readonly #last = new Map<string, Promise<unknown>>()

	async take<T>(key: string, work: () => Promise<T>): Promise<T> {
		const before = this.#last.get(key)
		const mine = before === undefined ? work() : ended(before).then(work)
		this.#last.set(key, mine)
		try {
			return await mine
		} finally {
			if (this.#last.get(key) === mine) this.#last.delete(key)
		}
	}
}

/** Resolves when a promise has settled, or its time is over. */
function ended(promise: Promise<unknown>): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, LONGEST)
		const done = (): void => {
			clearTimeout(timer)
			resolve()
		}
		promise.then(done, done)
	})
}
