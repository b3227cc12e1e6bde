/** A server process's measurements of itself: memory after a full garbage collection, event loop delay, open resources. */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { writeHeapSnapshot } from 'node:v8'
import { waitedMs } from '../machine.ts'
import type { Sample } from '../reports.ts'
import { delayOf } from './delay.ts'
import { Turns } from './turns.ts'

/** Figures that are counted elsewhere. */
type Counted = Pick<Sample, 'streams' | 'faults' | 'logged'>

const SOCKETS = /^(?:TCP|TLS)/

export class Gauges {
	readonly #collect: () => void
	readonly #window = monitorEventLoopDelay({ resolution: 10 })
	/** Never disabled, so it includes the garbage collections for samples. */
	readonly #whole = monitorEventLoopDelay({ resolution: 10 })
	readonly #turns = new Turns()
	#cpu = process.cpuUsage()
	#since = performance.now()

	/** @param collect `gc`, which is there with `--expose-gc` */
	constructor(collect: () => void) {
		this.#collect = collect
		this.#window.enable()
		this.#whole.enable()
	}

	sample(counted: Counted): Sample {
		this.#window.disable()
		const loop = delayOf(this.#window)
		const cpu = this.#cpuShare()
		const memory = this.#turns.apart(() => this.#memory())
		// `reset` also forgets the time of the last turn, so that the collection doesn't count as a delay in the next window.
		this.#window.reset()
		this.#window.enable()
		return {
			...memory,
			...{ loop, cpu, wholeLoop: this.#turns.delay },
			waited: waitedMs() / performance.now(),
			wholeMonitor: delayOf(this.#whole),
			sockets: openSockets(),
			resources: process.getActiveResourcesInfo().length,
			...counted,
		}
	}

	/** Writes a heap snapshot into a file beside the program, for `census`. It blocks the process for a second or two. */
	snapshot(): string {
		this.#window.disable()
		const file = this.#turns.apart(() => {
			this.#collect()
			return writeHeapSnapshot(join(import.meta.dirname, `${process.pid}.heapsnapshot`))
		})
		this.#window.reset()
		this.#window.enable()
		return file
	}

	#memory(): Pick<Sample, 'heap' | 'external' | 'arrayBuffers' | 'rss' | 'gcMs'> {
		const begun = performance.now()
		this.#collect()
		const { heapUsed: heap, external, arrayBuffers, rss } = process.memoryUsage()
		return { heap, external, arrayBuffers, rss, gcMs: performance.now() - begun }
	}

	/** Stops measuring. The monitors don't keep the process alive, but they cost time. */
	stop(): void {
		this.#window.disable()
		this.#whole.disable()
		this.#turns.stop()
	}

	#cpuShare(): number {
		const { user, system } = process.cpuUsage(this.#cpu)
		const now = performance.now()
		const share = (user + system) / 1_000 / (now - this.#since)
		this.#cpu = process.cpuUsage()
		this.#since = now
		return share
	}
}

/** The number of sockets, including listening ones; the channel to the parent is a pipe, and not counted. */
export function openSockets(): number {
	return process.getActiveResourcesInfo().filter((name) => SOCKETS.test(name)).length
}
