/**
 * What the option `metrics` costs a small GET: in each of several processes two servers, with and without it, take turns of
 * 60 ms. Two processes of one build differ by up to a fifth as long as they live, which would hide two percent; two servers of
 * one process don't.
 *
 *     node --import tsx bench/metrics.ts
 *
 * Needs `results/dist`, which `npm run bench` has built. Exits with 1 if the option costs more than 2 %.
 */
import { startChild } from './child.ts'
import { splitCores } from './cores.ts'
import { Loader } from './load.ts'
import { verify } from './verify.ts'
import type { Workload } from './workload.ts'
import { WORKLOADS } from './workloads.ts'

const MAX_COST = 0.02
const STARTS = 7
const PAIRS = 400
const WARM_UP_PAIRS = 50
const TURN_SECONDS = 0.06
const CONNECTIONS = 32

const pin = splitCores()
const [workload] = WORKLOADS.filter(({ name }) => name === 'small-get')
if (workload === undefined) throw new RangeError('there is no workload small-get')
const costs: number[] = []
for (let start = 1; start <= STARTS; start++) {
	const [without, withOption] = await measured(workload)
	costs.push(withOption / without - 1)
	process.stdout.write(
		`${without.toFixed(2)} and ${withOption.toFixed(2)} µs a request, ${percent(withOption / without - 1)}\n`,
	)
}
const median = costs.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Number.NaN
const isKept = median <= MAX_COST
process.stdout.write(
	`${isKept ? '✓' : '✗'} the option metrics: at most ${percent(MAX_COST)} of a small GET, measured ${percent(median)}\n`,
)
process.exit(isKept ? 0 : 1)

function percent(share: number): string {
	return `${(share * 100).toFixed(1)} %`
}

/** µs of CPU a request, without the option and with it, in a new process. */
async function measured(workload: Workload): Promise<[number, number]> {
	const { app, series } = await workload.prepare()
	const child = startChild(pin, 'servers/run.js', ['metrics'])
	try {
		const { port: ports } = await child.ask<{ port: [number, number] }>(app)
		const loaders: Loader[] = []
		for (const port of ports) {
			const requests = (await series[0]?.requests(port)) ?? []
			const [expected] = await verify(workload, [{ peer: 'metrics', port, requests }])
			if (expected === undefined) throw new Error('the server has not answered')
			loaders.push(await Loader.open({ port, requests, expected, connections: CONNECTIONS }))
		}
		const cpu = async (): Promise<number> => {
			const { user, system } = (await child.ask<{ cpu: NodeJS.CpuUsage }>('cpu')).cpu
			return user + system
		}
		const sums = loaders.map((loader) => ({ loader, cpu: 0, responses: 0 }))
		for (let pair = -WARM_UP_PAIRS; pair < PAIRS; pair++) {
			// Each goes first every other time.
			for (const sum of pair % 2 === 0 ? sums : sums.toReversed()) {
				const before = await cpu()
				const { responses } = await sum.loader.run(TURN_SECONDS)
				if (pair < 0) continue
				sum.cpu += (await cpu()) - before
				sum.responses += responses
			}
		}
		const [without = Number.NaN, withOption = Number.NaN] = sums.map((sum) => sum.cpu / sum.responses)
		return [without, withOption]
	} finally {
		await child.stop()
	}
}
