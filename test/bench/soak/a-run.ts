/** A made-up correct run, of which each test changes one thing. */
import type { Moment, Rest, Run } from '../../../bench/soak/record.ts'
import type { Sample } from '../../../bench/soak/reports.ts'

const FAULTS = { rejections: 0, exceptions: 0, warnings: 0, first: [] }
const LOGGED = { info: 9_000, warn: 40, expected: 10, unexpected: 0, first: [] }

/** Twenty minutes, a sample each 10 s. */
export function aRun(change: Partial<Run> = {}): Run {
	const closed = { closeMs: 30, sockets: 0, streams: 0, faults: FAULTS, logged: LOGGED }
	return {
		title: 'npm run soak -- --minutes 20 & <more>',
		...{ seconds: 1_200, rate: 100, requests: 120_000, checks: 130_000, wrong: 0, findings: [] },
		moments: moments(() => ({})),
		rests: rests(() => 0),
		endings: ['A', 'B'].map((name) => ({ name, closed, exit: 0 })),
		checksByKind: { read: 130_000 },
		balance: { rows: 60, creates: 100, deletes: 40, lost: 0, unknown: 0, changed: 0 },
		payments: { answered: 50, rows: 50, twice: 0 },
		...{ stolen: 0, crashes: 10 },
		...change,
	}
}

/** @param more what objects take at a minute beyond 8 MB, which go up and down by 2 kB */
export function rests(more: (minute: number) => number): Rest[] {
	return Array.from({ length: 6 }, (_, index) => {
		const minute = (index + 1) * 3.3
		const bytes = 8e6 + (index % 2) * 2e3 + more(minute)
		return { at: minute * 60, objects: [bytes, bytes] }
	})
}

/** @param change what samples at a minute have otherwise */
export function moments(change: (minute: number) => Partial<Sample>): Moment[] {
	return Array.from({ length: 120 }, (_, index) => {
		const at = (index + 1) * 10
		// Up and down by 10 kB, as what is under way at a sample differs.
		const sample: Sample = { ...SAMPLE, heap: 15e6 + (index % 3) * 1e4, ...change(at / 60) }
		return { at, rate: 100, latency: { p50: 2, p99: 20, max: 60 }, servers: [sample, sample] }
	})
}

const SAMPLE: Sample = {
	...{ heap: 15e6, external: 4e6, arrayBuffers: 1e5, rss: 9e7, gcMs: 20, cpu: 0.2, waited: 0.01 },
	loop: { p50: 10, p99: 12, max: 30 },
	wholeLoop: { p50: 10, p99: 12, max: 30 },
	wholeMonitor: { p50: 10, p99: 13, max: 40 },
	...{ sockets: 8, resources: 12, streams: 1, faults: FAULTS, logged: LOGGED },
}
