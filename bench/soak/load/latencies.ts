/** Latencies since they were last taken. */
import { createHistogram } from 'node:perf_hooks'

/** In milliseconds. */
export interface Latency {
	readonly p50: number
	readonly p99: number
	readonly max: number
}

const MICROSECONDS = 1_000

export class Latencies {
	readonly #window = createHistogram()

	record(ms: number): void {
		this.#window.record(Math.max(1, Math.round(ms * MICROSECONDS)))
	}

	/** Returns the latencies so far, and resets them. */
	take(): Latency {
		const latency = {
			p50: this.#window.percentile(50) / MICROSECONDS,
			p99: this.#window.percentile(99) / MICROSECONDS,
			max: this.#window.max / MICROSECONDS,
		}
		this.#window.reset()
		return latency
	}
}
