/** The reported figures of a histogram of nanoseconds. */
import type { Histogram } from 'node:perf_hooks'
import type { LoopDelay } from '../reports.ts'

const NANOSECONDS = 1e6

export function delayOf(histogram: Histogram): LoopDelay {
	return {
		p50: histogram.percentile(50) / NANOSECONDS,
		p99: histogram.percentile(99) / NANOSECONDS,
		max: histogram.max / NANOSECONDS,
	}
}
