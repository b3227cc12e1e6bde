/** Measures one workload over HTTP: all its servers are up, and take turns. */
import { type Child, startChild } from './child.ts'
import type { Expected } from './connection.ts'
import type { Pin } from './cores.ts'
import { Loader } from './load.ts'
import type { Options } from './options.ts'
import { REFERENCE } from './peers.ts'
import { type Latency, quantile, type Result, type Round, summarize } from './results.ts'
import { verify } from './verify.ts'
import type { Prepared, Workload } from './workloads.ts'

/** Tells whoever waits what is being done. */
export type Progress = (text: string) => void

/** A server that is up, and what its answers look like. */
interface Running {
	readonly peer: string
	readonly child: Child
	readonly port: number
	readonly expected: Expected
}

/**
 * Starts every peer, refuses to go on unless their answers are the same, warms them up, and gives them
 * load in turns (A B C A B C …); afterwards each gets half the load that it could bear, for p50 and p99.
 */
export async function measure(
	workload: Workload,
	options: Options,
	pin: Pin,
	progress: Progress,
): Promise<Result> {
	const prepared = workload.prepare()
	const children = new Map(options.peers.map(({ name }) => [name, startChild(pin, 'servers/run.js', [name])]))
	try {
		const running = await startAll(workload, prepared, children, progress)
		for (const server of running) {
			progress(`${workload.name}: warming up ${server.peer}`)
			await load(server, prepared, options, (loader) => loader.run(options.warmupSeconds))
		}
		const rounds = await takeTurns(workload, prepared, running, options, progress)
		const latency = await halfLoad(workload, prepared, running, rounds, options, progress)
		return { workload: workload.name, unit: 'µs', reference: REFERENCE, rounds, latency }
	} finally {
		await Promise.all([...children.values()].map((child) => child.stop()))
	}
}

async function startAll(
	workload: Workload,
	prepared: Prepared,
	children: ReadonlyMap<string, Child>,
	progress: Progress,
): Promise<Running[]> {
	const ports = new Map<string, number>()
	for (const [peer, child] of children) {
		progress(`${workload.name}: starting ${peer}`)
		const { port } = await child.ask<{ port: number }>(prepared.app)
		ports.set(peer, port)
	}
	progress(`${workload.name}: comparing answers`)
	const expected = await verify(workload, prepared, ports)
	return [...children].map(([peer, child]) => ({
		peer,
		child,
		port: ports.get(peer) as number, // both were set above
		expected: expected.get(peer) as Expected, // for every peer
	}))
}

async function takeTurns(
	workload: Workload,
	prepared: Prepared,
	running: readonly Running[],
	options: Options,
	progress: Progress,
): Promise<Map<string, Round[]>> {
	const rounds = new Map(running.map(({ peer }): [string, Round[]] => [peer, []]))
	for (let turn = 1; turn <= options.rounds; turn++) {
		for (const server of running) {
			const round = await oneRound(server, prepared, options)
			rounds.get(server.peer)?.push(round)
			const { cost, rate = 0 } = round
			const figures = `${cost.toFixed(1)} µs CPU a request, ${rate.toFixed(0)} requests/s`
			progress(`${workload.name}: round ${turn} of ${options.rounds}, ${server.peer}: ${figures}`)
		}
	}
	return rounds
}

function oneRound(server: Running, prepared: Prepared, options: Options): Promise<Round> {
	return load(server, prepared, options, async (loader) => {
		const before = await cpuMicroseconds(server.child)
		const { responses, seconds } = await loader.run(options.seconds)
		const used = (await cpuMicroseconds(server.child)) - before
		return { cost: used / responses, rate: responses / seconds, busy: used / 1e6 / seconds }
	})
}

async function halfLoad(
	workload: Workload,
	prepared: Prepared,
	running: readonly Running[],
	rounds: ReadonlyMap<string, readonly Round[]>,
	options: Options,
	progress: Progress,
): Promise<Map<string, Latency>> {
	const latency = new Map<string, Latency>()
	for (const server of running) {
		progress(`${workload.name}: half the load, ${server.peer}`)
		const rates = rounds.get(server.peer)?.map(({ rate = 0 }) => rate) ?? []
		const half = summarize(rates).median / 2
		const times = await load(server, prepared, options, (loader) => loader.pace(half, options.seconds))
		const sorted = times.toSorted((a, b) => a - b)
		latency.set(server.peer, { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) })
	}
	return latency
}

/** Opens connections, uses them, and closes them: no server has any while another one is measured. */
async function load<T>(
	{ port, expected }: Running,
	{ requests }: Prepared,
	{ connections }: Options,
	use: (loader: Loader) => Promise<T>,
): Promise<T> {
	const loader = await Loader.open({ port, requests, expected, connections })
	try {
		return await use(loader)
	} finally {
		loader.close()
	}
}

/** User and system time of the server's process, all threads: its garbage collection is its cost. */
async function cpuMicroseconds(child: Child): Promise<number> {
	const { cpu } = await child.ask<{ cpu: NodeJS.CpuUsage }>('cpu')
	return cpu.user + cpu.system
}
