/** `Target`: a promised figure, and how a run measures it. */
import { type By, type Result, ratios } from './results.ts'

/** One promised figure. */
export interface Target {
	readonly text: string
	/** The workloads whose results it needs: `small-get`. */
	readonly workloads: readonly string[]
	readonly bound: number
	readonly kind: 'at least' | 'at most'
	readonly unit: '×' | ' ms' | ' µs'
	/** One value per round; empty if a peer that it needs wasn't measured. */
	values(results: readonly Result[]): number[]
}

/** How many times better Verbena is than another peer, by the server's CPU time or by requests per second. */
export function compared(
	workload: string,
	title: string,
	other: string,
	bound: number,
	by: By = 'cost',
): Target {
	return {
		text: `${title}, ${NAMES[by]} against ${other}`,
		workloads: [workload],
		bound,
		kind: 'at least',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'verbena', other, by)),
	}
}

const NAMES: Readonly<Record<By, string>> = { cost: 'CPU', total: 'CPU with the database', rate: 'requests' }
