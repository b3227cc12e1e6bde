/** Measures the cost of finding one of many custom routes, without HTTP, compared with find-my-way. */
import { appWith, type Shape } from './app.ts'
import { type Child, startChild } from './child.ts'
import type { Pin } from './cores.ts'
import type { Progress } from './measure.ts'
import type { Result, Round } from './results.ts'
import { SIZES } from './workloads.ts'

/** Our search alone; our search including the parsing of the path, which find-my-way does too; find-my-way's two modes. */
const ENGINES = ['verbena match', 'verbena', 'find-my-way', 'find-my-way compiled'] as const

/** One table of routes in one engine, in its own process. */
interface Case {
	readonly engine: string
	readonly size: number
	readonly child: Child
}

/** Returns one result per table size, for one shape of route. Rounds of all sizes and engines take turns. */
export async function measureMatch(
	shape: Shape,
	engines: readonly string[],
	rounds: number,
	pin: Pin,
	progress: Progress,
): Promise<Result[]> {
	const cases = SIZES.flatMap((size) =>
		engines.map((engine) => ({ engine, size, child: startChild(pin, 'micro/match.js', [engine]) })),
	)
	try {
		for (const { child, size } of cases) await child.ask(appWith(size, shape).routes)
		const found = new Map(cases.map((one): [Case, Round[]] => [one, []]))
		for (let turn = 1; turn <= rounds; turn++) {
			for (const [{ engine, size, child }, costs] of found) {
				const { nanoseconds } = await child.ask<{ nanoseconds: number }>('run')
				costs.push({ cost: nanoseconds })
				progress(
					`match-${shape}-${size}: round ${turn} of ${rounds}, ${engine}: ${nanoseconds.toFixed(0)} ns`,
				)
			}
		}
		return SIZES.map((size) => resultOf(shape, size, found))
	} finally {
		await Promise.all(cases.map(({ child }) => child.stop()))
	}
}

/** The engines to measure: if verbena isn't among the peers, only find-my-way's. */
export function enginesWith(verbena: boolean): string[] {
	return ENGINES.filter((engine) => verbena || !engine.startsWith('verbena'))
}

function resultOf(shape: Shape, size: number, found: ReadonlyMap<Case, readonly Round[]>): Result {
	const ofSize = [...found].filter(([one]) => one.size === size)
	return {
		workload: `match-${shape}-${size}`,
		unit: 'ns',
		reference: 'find-my-way',
		rounds: new Map(ofSize.map(([{ engine }, rounds]) => [engine, rounds])),
		latency: new Map(),
	}
}
