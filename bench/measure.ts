/** Measures one workload over HTTP: all its servers are running, and take turns. */
import { type Child, startChild } from './child.ts'
import type { Expected } from './connection.ts'
import type { Pin } from './cores.ts'
import { PROCESSES } from './crud/databases.ts'
import { processesMicroseconds } from './crud/processes.ts'
import { Loader } from './load.ts'
import { type Options, peersOf } from './options.ts'
import type { Peer } from './peers.ts'
import { type Latency, quantile, type Result, type Round, summarize } from './results.ts'
import { verify, verifyRefusals } from './verify.ts'
import type { Prepared, Series, Workload } from './workload.ts'

/** Reports what is being done. */
export type Progress = (text: string) => void

/** A running server, the requests to measure it with, and what its responses look like. */
interface Running {
	/** The peer, and the series if there are several: `verbena offset 90,000`. */
	readonly label: string
	readonly child: Child
	readonly port: number
	readonly requests: readonly Buffer[]
	readonly expected: Expected
}

/** A workload whose servers are running. */
interface Stage {
	readonly workload: Workload
	readonly running: readonly Running[]
	readonly options: Options
	readonly connections: number
	readonly progress: Progress
}

/**
 * Measures with new processes as often as `--starts` says, the peers started in the opposite order every other time: of two
 * processes of one program, one may take a fifth more time than the other, from its start to its end.
 *
 * @throws Error if responses differ
 */
export async function measure(
	workload: Workload,
	options: Options,
	pin: Pin,
	progress: Progress,
): Promise<Result> {
	progress(`${workload.name}: preparing`)
	const prepared = await workload.prepare()
	const peers = peersOf(workload, options)
	const results: Result[] = []
	for (let start = 1; start <= options.starts; start++) {
		const order = start % 2 === 1 ? peers : peers.toReversed()
		results.push(await measureOnce(workload, prepared, order, options, pin, progress))
	}
	const [first] = results as [Result] // there is one start at least
	const roundsOf = (label: string) => results.flatMap(({ rounds }) => rounds.get(label) ?? [])
	return { ...first, rounds: new Map([...first.rounds.keys()].map((label) => [label, roundsOf(label)])) }
}

/**
 * Starts every peer, checks that their responses are equal, warms them up, and puts load on them in turns (A B C A B C …).
 * Finally each gets half its maximum load, for p50 and p99.
 */
async function measureOnce(
	workload: Workload,
	prepared: Prepared,
	peers: readonly Peer[],
	options: Options,
	pin: Pin,
	progress: Progress,
): Promise<Result> {
	const children = new Map(
		peers.map(({ name, server }) => [name, startChild(pin, 'servers/run.js', [server])]),
	)
	try {
		const running = await startAll(workload, prepared, children, progress)
		const connections = workload.connections ?? options.connections
		const stage: Stage = { workload, running, options, connections, progress }
		for (const server of running) {
			progress(`${workload.name}: warming up ${server.label}`)
			await load(server, stage, (loader) => loader.run(options.warmupSeconds))
		}
		const rounds = await takeTurns(stage)
		const latency = await halfLoad(stage, rounds)
		const reference = running[0]?.label ?? ''
		return { workload: workload.name, unit: 'µs', reference, rounds, latency }
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
	await verifyRefusals(workload, prepared.refused, ports)
	const running: Running[] = []
	for (const series of prepared.series) running.push(...(await compare(workload, series, children, ports)))
	return running
}

/** Checks that all servers give the same responses to the requests of a series. */
async function compare(
	workload: Workload,
	series: Series,
	children: ReadonlyMap<string, Child>,
	ports: ReadonlyMap<string, number>,
): Promise<Running[]> {
	const contenders = await Promise.all(
		[...ports].map(async ([peer, port]) => ({ peer, port, requests: await series.requests(port) })),
	)
	const expected = await verify(workload, contenders)
	return contenders.map((contender, index) => ({
		...contender,
		label: `${contender.peer} ${series.name}`.trim(),
		child: children.get(contender.peer) as Child, // `ports` has the same peers
		expected: expected[index] as Expected, // one for each contender
	}))
}

async function takeTurns(stage: Stage): Promise<Map<string, Round[]>> {
	const { workload, running, options, progress } = stage
	const rounds = new Map(running.map(({ label }): [string, Round[]] => [label, []]))
	for (let turn = 1; turn <= options.rounds; turn++) {
		for (const server of running) {
			const round = await oneRound(server, stage)
			rounds.get(server.label)?.push(round)
			const { cost, rate = 0 } = round
			const figures = `${cost.toFixed(1)} µs CPU a request, ${rate.toFixed(0)} requests/s`
			progress(`${workload.name}: round ${turn} of ${options.rounds}, ${server.label}: ${figures}`)
		}
	}
	return rounds
}

function oneRound(server: Running, stage: Stage): Promise<Round> {
	const { database } = stage.workload
	const processes = database === undefined ? [] : PROCESSES[database]
	return load(server, stage, async (loader) => {
		const before = await cpuMicroseconds(server.child)
		const databaseBefore = processesMicroseconds(processes)
		const { responses, seconds } = await loader.run(stage.options.seconds)
		const databaseUsed = processesMicroseconds(processes) - databaseBefore
		const used = (await cpuMicroseconds(server.child)) - before
		const round: Round = { cost: used / responses, rate: responses / seconds, busy: used / 1e6 / seconds }
		// 0 means that this machine has no `/proc`.
		return databaseUsed > 0 ? { ...round, databaseCost: databaseUsed / responses } : round
	})
}

async function halfLoad(
	stage: Stage,
	rounds: ReadonlyMap<string, readonly Round[]>,
): Promise<Map<string, Latency>> {
	const { workload, running, options, progress } = stage
	const latency = new Map<string, Latency>()
	for (const server of running) {
		progress(`${workload.name}: half the load, ${server.label}`)
		const rates = rounds.get(server.label)?.map(({ rate = 0 }) => rate) ?? []
		const half = summarize(rates).median / 2
		const times = await load(server, stage, (loader) => loader.pace(half, options.seconds))
		const sorted = times.toSorted((a, b) => a - b)
		latency.set(server.label, { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) })
	}
	return latency
}

/** Opens connections, uses them, and closes them: no server has any while another one is measured. */
async function load<T>(
	{ port, requests, expected }: Running,
	{ connections }: Stage,
	use: (loader: Loader) => Promise<T>,
): Promise<T> {
	const loader = await Loader.open({ port, requests, expected, connections })
	try {
		return await use(loader)
	} finally {
		loader.close()
	}
}

/** User and system time of the server's process over all threads, so that garbage collection counts. */
async function cpuMicroseconds(child: Child): Promise<number> {
	const { cpu } = await child.ask<{ cpu: NodeJS.CpuUsage }>('cpu')
	return cpu.user + cpu.system
}
