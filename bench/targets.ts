/** All targets, and whether a run has reached them. */
import { RELATED_TARGETS } from './crud/related/targets.ts'
import { CRUD_TARGETS } from './crud/targets.ts'
import { type Result, type Summary, summarize } from './results.ts'
import { compared, type Target } from './target.ts'
import { SHAPES } from './workloads.ts'

/** A target with its measurement. */
export interface Verdict {
	readonly target: Target
	readonly measured: Summary
	readonly kept: boolean
}

/**
 * Without a database they are judged by the server's CPU time: requests per second also depend on what else the
 * machine does.
 */
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
	...['get', 'post'].map(
		(method): Target => ({
			text: `a signed ${method.toUpperCase()}, more than an open one`,
			workloads: [`signed-${method}`],
			bound: 25,
			kind: 'at most',
			unit: ' µs',
			values: (results) =>
				pairs(
					costsOf(results, `signed-${method}`, 'verbena signed'),
					costsOf(results, `signed-${method}`, 'verbena open'),
					subtract,
				),
		}),
	),
	...CRUD_TARGETS,
	...RELATED_TARGETS,
]

/** Judges the targets that were measured, by their medians. */
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
