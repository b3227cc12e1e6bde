/**
 * Time on a machine that stalls: other programs halve its speed, or stop this one for seconds. What a test says of
 * time is then measured by a clock that stands still with this process, or tried again with longer times.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** The longest turn of the event loop that counts: anything beyond was a stall. */
const LONGEST_TURN = 50
const TICK = 10

/** When turns of 5 ms are this late on average, the machine is busy with other work. */
const SLOW_TURN = 20

/** The time factors of the attempts: 1, 4 and 16 times the requested time. */
const LONGER = 4
const LONGEST = LONGER * LONGER

/**
 * Starts a clock that counts the milliseconds in which this process could go on. Its reading, which stops it, is at
 * most what the wall's clock says: for upper bounds only.
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

/** Watches for stalls of more than `time` milliseconds; other processes of this machine had them, too. */
export function watchStalls(time: number): Stalls {
	const delay = monitorEventLoopDelay({ resolution: 5 })
	delay.enable()
	return {
		async seen() {
			// A stall is noticed in the turn after it.
			await setTimeout(10)
			return delay.mean / 1e6 > SLOW_TURN || delay.max / 1e6 > time
		},
		stop: () => delay.disable(),
	}
}

/**
 * Runs `work`, whose times are to be of the order of `time` milliseconds. Where it fails, and this process was held up
 * for a good part of that, it is run again with longer times, twice at most. What fails without a stall has failed.
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
