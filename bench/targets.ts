/** What has been promised, and whether a run has kept it. */
import { type Result, ratios, type Summary, summarize } from './results.ts'
import { SHAPES } from './workloads.ts'

/** One promise. */
export interface Target {
	readonly text: string
	/** `small-get`: the results it needs. */
	readonly workloads: readonly string[]
	readonly bound: number
	readonly kind: 'at least' | 'at most'
	readonly unit: '×' | ' ms'
	/** One value a round, empty when a peer that it needs wasn't measured. */
	values(results: readonly Result[]): number[]
}

/** A target, and what was measured for it. */
export interface Verdict {
	readonly target: Target
	readonly measured: Summary
	readonly kept: boolean
}

const TARGETS: readonly Target[] = [
	compared('small-get', 'small GET', 'node', 0.97),
	compared('small-get', 'small GET', 'fastify', 1.05),
	...['200b', '10kb'].flatMap((size) => [
		compared(`post-${size}`, `validated POST, ${size}`, 'node', 0.92),
		compared(`post-${size}`, `validated POST, ${size}`, 'fastify', 1.15),
	]),
	...SHAPES.map((shape): Target => {
		const [few, many] = [`match-${shape}-10`, `match-${shape}-10000`]
		return {
			text: `cost per match of 10,000 routes against 10, shape ${shape}`,
			workloads: [few, many],
			bound: 1.2,
			kind: 'at most',
			unit: '×',
			values: (results) =>
				pairs(costsOf(results, many, 'verbena match'), costsOf(results, few, 'verbena match'), divide),
		}
	}),
	{
		text: 'import + listen, more than node:http',
		workloads: ['startup'],
		bound: 30,
		kind: 'at most',
		unit: ' ms',
		values: (results) =>
			pairs(costsOf(results, 'startup', 'verbena'), costsOf(results, 'startup', 'node'), subtract),
	},
]

/** Judges by medians, and only what was measured. */
export function judge(results: readonly Result[]): Verdict[] {
	return TARGETS.flatMap((target) => {
		const values = target.values(results)
		if (values.length === 0) return []
		const measured = summarize(values)
		const kept =
			target.kind === 'at least' ? measured.median >= target.bound : measured.median <= target.bound
		return { target, measured, kept }
	})
}

/** Judged by the server's CPU time: requests per second also depend on what else the machine does. */
function compared(workload: string, title: string, other: string, bound: number): Target {
	return {
		text: `${title}, CPU against ${other}`,
		workloads: [workload],
		bound,
		kind: 'at least',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'verbena', other)),
	}
}

function costsOf(results: readonly Result[], workload: string, peer: string): number[] {
	const result = results.find((one) => one.workload === workload)
	return result?.rounds.get(peer)?.map(({ cost }) => cost) ?? []
}

function pairs(
	left: readonly number[],
	right: readonly number[],
	join: (a: number, b: number) => number,
): number[] {
	return left.flatMap((value, index) => {
		const other = right[index]
		return other === undefined ? [] : join(value, other)
	})
}

function divide(a: number, b: number): number {
	return a / b
}

function subtract(a: number, b: number): number {
	return a - b
}
