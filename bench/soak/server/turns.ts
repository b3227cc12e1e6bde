/**
 * Turns of the event loop over a whole run, without the collections of the samples. `monitorEventLoopDelay` can't leave
 * them out: it takes the time in which it is disabled for a delay, unless it forgets all that was before.
 */
import { createHistogram } from 'node:perf_hooks'
import type { LoopDelay } from '../reports.ts'
import { delayOf } from './delay.ts'

/** As the interval of the monitors. */
const TURN_MS = 10
const NANOSECONDS = 1e6

export class Turns {
	readonly #turns = createHistogram()
	readonly #timer: NodeJS.Timeout
	#at = performance.now()

	constructor() {
		this.#timer = setInterval(() => this.#turn(), TURN_MS).unref()
	}

	/** What is done here is in no turn. */
	apart<T>(work: () => T): T {
		// As much of this turn as has gone by is one of its own.
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
