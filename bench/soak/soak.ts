/** One soak: two server processes under load, looked at in turns, closed in order; whatever happens, nothing of it stays. */
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

/** Visits that can be at the records at the same time. */
const SHELVES = 96

/** What a soak is told beside its options. */
export interface Circumstances {
	/** The TypeScript file of the server's program. */
	readonly server: string
	readonly title: string
	/** Ends it early; then it is an error. */
	readonly signal: AbortSignal
	/** Called with what is known, a few times a second. */
	onProgress(moments: readonly Moment[], findings: Findings, seconds: number): void
}

/** The load rests so often in a run, at least; and in a long one each so many minutes. */
const FEWEST_RESTS = 6
const REST_MINUTES = 2
const REST_MS = 500

type Pair = readonly [Member, Member]

/** @throws Error when it could not be done: a service isn't there, a server ends early, it was stopped */
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
	const watching = look(load, members, seconds, moments, circumstances, watch.signal)
	// Both are awaited below; until then nobody would hear of their failure.
	watching.catch(() => {})
	const { rate } = options
	// A server that has ended ends the load, too.
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

/** The load, in parts with a rest behind each. */
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
		// For what comes behind the last answers: ends of streams, of connections of their own.
		await sleep(REST_MS)
		const at = (performance.now() - begun) / 1_000
		const files = await Promise.all(members.map((member) => member.snapshot()))
		rests.push({ at, objects: files.map(census) })
	}
}

async function close(member: Member): Promise<Ending> {
	return { name: member.name, ...(await member.close()) }
}

/** Looks at everything from time to time until it is told not to: sixty times in a run, but each 10 s at least. */
async function look(
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
		// One after the other: a collection holds up its server, and should not hold up both.
		const servers = []
		for (const member of members) servers.push(await member.sample())
		moments.push({ at: now, rate, latency, servers })
	}
}
