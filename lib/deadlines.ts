/**
 * Deadlines of the requests that are being waited for. One coarse timer looks after all of them:
 * a timer a request would cost more than a small answer does.
 */
import type { Clock, Milliseconds } from './time.ts'

/** Something that must be done by a time. */
export interface Due {
	/** The clock's reading from which on it is late; `Infinity` for never. */
	due: Milliseconds
	/** Called once, when it is late; it isn't looked after any more. */
	expire(): void
}

/** How late a deadline may be noticed at most. */
const COARSEST: Milliseconds = 500

/** Holds what is due; `expire` is called at most 500 ms late (an eighth of the shortest time, if that is less). */
export class Deadlines {
	readonly clock: Clock
	readonly #period: Milliseconds
	readonly #waiting = new Set<Due>()
	#timer: NodeJS.Timeout | undefined

	/** `shortest` is the shortest time that anything will be given. */
	constructor(clock: Clock, shortest: Milliseconds) {
		this.clock = clock
		this.#period = Math.max(5, Math.min(COARSEST, shortest / 8))
	}

	/** How many are being waited for. */
	get size(): number {
		return this.#waiting.size
	}

	add(item: Due): void {
		this.#waiting.add(item)
		// Unref'd: a deadline alone must not keep the program alive.
		this.#timer ??= setInterval(() => this.sweep(), this.#period).unref()
	}

	delete(item: Due): void {
		this.#waiting.delete(item)
	}

	/** Those being waited for, oldest first. */
	values(): Iterable<Due> {
		return this.#waiting.values()
	}

	/** Expires what is late; stops its timer when nothing is left. */
	sweep(): void {
		const now = this.clock()
		for (const item of this.#waiting) {
			if (item.due > now) continue
			this.#waiting.delete(item)
			item.expire()
		}
		if (this.#waiting.size === 0) this.stop()
	}

	stop(): void {
		clearInterval(this.#timer)
		this.#timer = undefined
	}
}
