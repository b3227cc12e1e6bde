/** One soak: puts two server processes under load, samples them, and closes them. It always cleans up after itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { buildServer } from './build.ts'
import { census } from './census.ts'
import { Connections } from './load/ask.ts'
import { Findings } from './load/findings.ts'
import { Latencies } from './load/latencies.ts'
import { Ledger } from './load/ledger.ts'
import { pace } from './load/pace.ts'
import type { Load } from './load/visit.ts'
import { machineTicks } from './machine.ts'
import { Member } from './member.ts'
import type { SoakOptions } from './options.ts'
import type { Ending, Moment, Rest, Run } from './record.ts'
import { enter, type Premises } from './services.ts'

/** The maximum number of concurrent visits to records. */
const SHELVES = 96

/** What a soak needs beside its options. */
export interface Circumstances {
	/** The TypeScript file of the server's program. */
	readonly server: string
	readonly title: string
	/** Aborts it, with an error. */
	readonly signal: AbortSignal
	/** Called a few times per second with the results so far. */
	onProgress(moments: readonly Moment[], findings: Findings, seconds: number): void
}

/** The minimum number of rests in a run; a long run has a rest per this many minutes. */
const FEWEST_RESTS = 6
const REST_MINUTES = 2
const REST_MS = 500

type Pair = readonly [Member, Member]

/** @throws Error if a service is missing, a server ends early, or the soak is aborted */
export async function soak(options: SoakOptions, circumstances: Circumstances): Promise<Run> {
	const premises = await enter()
	const members: Member[] = []
	try {
		const built = await buildServer(circumstances.server)
		try {
			for (const name of ['A', 'B'])
				members.push(await Member.start(name, built.program, premises.assignment))
			const [one, other] = members
			if (one === undefined || other === undefined) throw new Error('there are two') // by the loop above
			return await run(options, circumstances, premises, [one, other])
		} finally {
			await Promise.all(members.map((member) => member.kill()))
			built.remove()
		}
	} finally {
		await premises.leave()
	}
}

async function run(
	options: SoakOptions,
	circumstances: Circumstances,
	premises: Premises,
	members: Pair,
): Promise<Run> {
	const seconds = options.minutes * 60
	const load: Load = {
		connections: new Connections(),
		findings: new Findings(),
		latencies: new Latencies(),
		ledger: new Ledger(SHELVES),
		secret: premises.assignment.secret,
	}
	const { findings, ledger } = load
	const watch = new AbortController()
	const ticks = machineTicks()
	const moments: Moment[] = []
	const watching = sample(load, members, seconds, moments, circumstances, watch.signal)
	// Both are awaited below; until then their rejections would be unhandled.
	watching.catch(() => {})
	const { rate } = options
	// The load ends, too, if a server ends.
	const signal = AbortSignal.any([circumstances.signal, watch.signal])
	const rests: Rest[] = []
	const working = work(load, members, options, signal, rests)
	working.catch(() => {})
	try {
		await Promise.race([working, watching])
		await working
	} finally {
		watch.abort()
		load.connections.close()
	}
	await watching
	if (circumstances.signal.aborted) throw new Error('the soak was stopped: nothing is judged')
	const now = machineTicks()
	const endings = await Promise.all(members.map(close))
	const references = await premises.payments()
	return {
		...{ title: circumstances.title, seconds, rate, moments, rests, endings },
		...{
			requests: findings.requests,
			checks: findings.checks,
			wrong: findings.wrong,
			findings: findings.kept,
		},
		checksByKind: Object.fromEntries(findings.kinds),
		balance: ledger.balance(await premises.records()),
		payments: {
			answered: ledger.payments.size,
			rows: references.length,
			twice: references.length - new Set(references).size,
		},
		stolen: (now.stolen - ticks.stolen) / Math.max(1, now.all - ticks.all),
		crashes: ledger.crashes,
	}
}

/** The load, in parts with a rest after each. */
async function work(
	load: Load,
	members: Pair,
	options: SoakOptions,
	signal: AbortSignal,
	rests: Rest[],
): Promise<void> {
	const { rate, seed, minutes } = options
	const count = Math.max(FEWEST_RESTS, Math.floor(minutes / REST_MINUTES))
	const seconds = (minutes * 60) / count
	const begun = performance.now()
	for (let from = 0; rests.length < count && !signal.aborted; ) {
		from += await pace(load, members, { rate, seconds, seed, from, signal })
		// Streams and single-use connections end only after the last responses.
		await sleep(REST_MS)
		const at = (performance.now() - begun) / 1_000
		const files = await Promise.all(members.map((member) => member.snapshot()))
		rests.push({ at, objects: files.map(census) })
	}
}

async function close(member: Member): Promise<Ending> {
	return { name: member.name, ...(await member.close()) }
}

/** Takes samples until it is aborted: sixty in a run, with intervals of 1 to 10 s. */
async function sample(
	{ findings, latencies }: Load,
	members: Pair,
	seconds: number,
	moments: Moment[],
	{ onProgress }: Circumstances,
	signal: AbortSignal,
): Promise<void> {
	const interval = Math.min(10, Math.max(1, seconds / 60))
	const begun = performance.now()
	const elapsed = () => (performance.now() - begun) / 1_000
	let [at, requests] = [0, 0]
	while (!signal.aborted) {
		const next = at + interval
		while (elapsed() < next && !signal.aborted) {
			await sleep(Math.min(250, Math.max(1, (next - elapsed()) * 1_000)))
			onProgress(moments, findings, elapsed())
		}
		if (signal.aborted) return
		const now = elapsed()
		const rate = (findings.requests - requests) / (now - at)
		;[at, requests] = [now, findings.requests]
		const latency = latencies.take()
		// One after the other, as a garbage collection blocks its server, and should not block both at once.
		const servers = []
		for (const member of members) servers.push(await member.sample())
		moments.push({ at: now, rate, latency, servers })
	}
}
