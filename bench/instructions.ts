/**
 * `node --import tsx bench/instructions.ts small-get node,verbena`: the instructions that each server executes per request
 * outside of the kernel, counted by valgrind (Debian's package). They don't depend on what else the machine does, so
 * differences of one percent can be seen where times scatter by thirty; what an instruction costs, they don't say. Ratios are
 * to the first peer. Needs `results/dist`, which `npm run bench` has built, and the tables of the workload, if it has any.
 */
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startChild } from './child.ts'
import { Loader } from './load.ts'
import type { Peer } from './peers.ts'
import { verify } from './verify.ts'
import type { Prepared, Workload } from './workload.ts'
import { WORKLOADS } from './workloads.ts'

/** Requests of a short and a long run. Only the difference is counted: neither the start, nor code that isn't compiled yet. */
const [SHORT, LONG] = [40_000, 120_000]
/** Few: valgrind runs one thread at a time, fifty times slower than the processor. */
const CONNECTIONS = 8

const [name = 'small-get', peers] = process.argv.slice(2)
const workload = WORKLOADS.find((one) => one.name === name)
if (workload === undefined) throw new RangeError(`there is no workload ${name}`)
const chosen = workload.peers.filter((peer) => peers === undefined || peers.split(',').includes(peer.name))
if (chosen.length === 0) throw new RangeError(`${name} has no peer ${peers}`)
const prepared = await workload.prepare()
const counts = await Promise.all(chosen.map((peer) => perRequest(workload, prepared, peer)))
for (const [at, { name }] of chosen.entries()) {
	const [first = 0, own = 0] = [counts[0], counts[at]]
	console.log(`${name.padEnd(10)} ${Math.round(own)} instructions a request, ${(own / first).toFixed(3)}`)
}

async function perRequest(workload: Workload, prepared: Prepared, peer: Peer): Promise<number> {
	const short = await served(workload, prepared, peer, SHORT)
	const long = await served(workload, prepared, peer, LONG)
	return (long.instructions - short.instructions) / (long.responses - short.responses)
}

/** A server from its start to its end, which answers at least `least` requests. */
async function served(
	workload: Workload,
	prepared: Prepared,
	{ name: peer, server }: Peer,
	least: number,
): Promise<{ instructions: number; responses: number }> {
	const log = fileURLToPath(new URL(`results/instructions-${process.pid}-${peer}`, import.meta.url))
	const counting = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null']
	const pin = ['valgrind', ...counting, `--log-file=${log}`]
	const child = startChild(pin, 'servers/run.js', [server])
	let responses = 0
	try {
		const { port } = await child.ask<{ port: number }>(prepared.app)
		const requests = (await prepared.series[0]?.requests(port)) ?? []
		const [expected] = await verify(workload, [{ peer, port, requests }])
		if (expected === undefined) throw new Error(`${peer} has not answered`)
		const loader = await Loader.open({ port, requests, expected, connections: CONNECTIONS })
		while (responses < least) responses += (await loader.run(1)).responses
		loader.close()
	} finally {
		await child.stop()
	}
	const text = readFileSync(log, 'utf8')
	rmSync(log)
	const total = /I +refs: +([\d,]+)/.exec(text)?.[1]
	if (total === undefined) throw new Error(`valgrind has counted nothing: ${text}`)
	return { instructions: Number(total.replaceAll(',', '')), responses }
}
