/** Measures how long a new process takes until it listens. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { commandOf, environment } from './child.ts'
import type { Pin } from './cores.ts'
import type { Progress } from './measure.ts'
import { REFERENCE } from './peers.ts'
import type { Result, Round } from './results.ts'

/** Fewer rounds show nothing: the time to start a process varies by more than the difference. */
const LEAST_ROUNDS = 21

/** Starts each peer's `micro/start-<peer>.js` in turns, each time in a new process. */
export async function measureStartup(
	peers: readonly string[],
	rounds: number,
	pin: Pin,
	progress: Progress,
): Promise<Result> {
	const found = new Map(peers.map((peer): [string, Round[]] => [peer, []]))
	for (const peer of peers) await start(pin, peer) // reads the files into the system's cache
	const total = Math.max(rounds, LEAST_ROUNDS)
	for (let turn = 1; turn <= total; turn++) {
		for (const [peer, costs] of found) {
			const cost = await start(pin, peer)
			costs.push({ cost })
			progress(`startup: round ${turn} of ${total}, ${peer}: ${cost.toFixed(1)} ms`)
		}
	}
	return { workload: 'startup', unit: 'ms', reference: REFERENCE, rounds: found, latency: new Map() }
}

/** Milliseconds from starting the process until it reports that it listens. */
async function start(pin: Pin, peer: string): Promise<number> {
	const [program, ...words] = commandOf(pin, `micro/start-${peer}.js`)
	const begin = performance.now()
	const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() })
	const gone = once(child, 'exit')
	const first = await Promise.race([once(child.stdout, 'data'), gone])
	const end = performance.now()
	child.kill()
	await gone
	if (!Buffer.isBuffer(first[0])) throw new Error(`micro/start-${peer}.js has ended before it listened`)
	return end - begin
}
