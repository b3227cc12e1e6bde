/**
 * Event loop delay over a whole run, without the garbage collections for samples. `monitorEventLoopDelay` can't leave them out:
 * it counts the time while it is disabled as a delay, unless it is reset.
 */
import { createHistogram } from 'node:perf_hooks'
import type { LoopDelay } from '../reports.ts'
import { delayOf } from './delay.ts'

/** The same interval as that of the monitors. */
const TURN_MS = 10
const NANOSECONDS = 1e6

export class Turns {
	readonly #turns = createHistogram()
	readonly #timer: NodeJS.Timeout
	#at = performance.now()

	constructor() {
		this.#timer = setInterval(() => this.#turn(), TURN_MS).unref()
	}

	/** Runs `work` without counting its time. */
	apart<T>(work: () => T): T {
		// Records the part of this turn before `work`.
		this.#turn()
		try {
			return work()
		} finally {
			this.#at = performance.now()
		}
	}

	get delay(): LoopDelay {
		return delayOf(this.#turns)
	}

	stop(): void {
		clearInterval(this.#timer)
	}

	#turn(): void {
		const now = performance.now()
		this.#turns.record(Math.max(1, Math.round((now - this.#at) * NANOSECONDS)))
		this.#at = now
	}
}
