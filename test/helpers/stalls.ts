/**
 * Time on a machine that stalls: other programs may halve its speed, or stop this process for seconds. So durations are
 * measured with a stopwatch that doesn't count stalls, or the test is repeated with longer times.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** Of a turn of the event loop at most this much counts, in milliseconds: the rest was a stall. */
const LONGEST_TURN = 50
const TICK = 10

/** If timers of 5 ms take this long on average, in milliseconds, the machine is busy with other work. */
const SLOW_TURN = 20

/** The time factors of the attempts: 1, 4 and 16 times the requested time. */
const LONGER = 4
const LONGEST = LONGER * LONGER

/**
 * Starts a clock that leaves out stalls of this process; calling the result stops it, and returns milliseconds. As that is never
 * more than the elapsed time, use it for upper bounds only.
 */
export function stopwatch(): () => number {
	let sum = 0
	let last = performance.now()
	const look = (): number => {
		const now = performance.now()
		sum += Math.min(now - last, LONGEST_TURN)
		last = now
		return sum
	}
	const timer = setInterval(look, TICK).unref()
	return () => {
		clearInterval(timer)
		return look()
	}
}

/** Calls `late` once the stopwatch has reached `time`, at the earliest; returns a function that cancels it. */
export function alarm(time: number, late: () => void): () => void {
	let sum = 0
	let last = performance.now()
	const timer = setInterval(() => {
		const now = performance.now()
		sum += Math.min(now - last, LONGEST_TURN)
		last = now
		if (sum < time) return
		clearInterval(timer)
		late()
	}, TICK)
	return () => clearInterval(timer)
}

/** What has been observed since `watchStalls`. */
export interface Stalls {
	/** Whether this process stalled for longer than the time, or was slow throughout. */
	seen(): Promise<boolean>
	/** Stops watching. */
	stop(): void
}

/** Watches for stalls of more than `time` milliseconds. The machine's other processes, such as databases, stall as well. */
export function watchStalls(time: number): Stalls {
	const delay = monitorEventLoopDelay({ resolution: 5 })
	delay.enable()
	return {
		async seen() {
			// A stall is recorded only in the turn after it.
			await setTimeout(10)
			return delay.mean / 1e6 > SLOW_TURN || delay.max / 1e6 > time
		},
		stop: () => delay.disable(),
	}
}

/**
 * Runs `work`, which should use timeouts of about `time` milliseconds. If it fails and this process was slow, or stalled for
 * more than a tenth of that, it is run again with longer times, at most twice. Any other failure is final.
 */
export async function inTimesOf(time: number, work: (time: number) => Promise<void>): Promise<void> {
	for (let longer = 1; ; longer *= LONGER) {
		const stalls = watchStalls((time * longer) / 10)
		try {
			await work(time * longer)
			return
		} catch (error) {
			if (longer >= LONGEST || !(await stalls.seen())) throw error
		} finally {
			stalls.stop()
		}
	}
}
