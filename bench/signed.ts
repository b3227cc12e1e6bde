/** Measures what a request costs that is signed, against the same one that is open. Without sockets. */
import { startChild } from './child.ts'
import type { Pin } from './cores.ts'
import type { Progress } from './measure.ts'
import type { Result, Round } from './results.ts'

const KINDS = ['verbena open', 'verbena signed'] as const
const METHODS = ['GET', 'POST'] as const

/** One result a method; open and signed take turns, each in a process of its own. */
export async function measureSigned(rounds: number, pin: Pin, progress: Progress): Promise<Result[]> {
	const cases = METHODS.flatMap((method) =>
		KINDS.map((peer) => ({
			...{ method, peer, found: [] as Round[] },
			child: startChild(pin, 'micro/signed.js', [peer.split(' ')[1] ?? '', method]),
		})),
	)
	try {
		for (const { child } of cases) await child.ask('prepare')
		for (let turn = 1; turn <= rounds; turn++) {
			for (const { method, peer, found, child } of cases) {
				const { microseconds } = await child.ask<{ microseconds: number }>('run')
				found.push({ cost: microseconds })
				progress(`signed: round ${turn} of ${rounds}, ${method} ${peer}: ${microseconds.toFixed(1)} µs`)
			}
		}
		return METHODS.map((method) => ({
			...{ workload: `signed-${method.toLowerCase()}`, unit: 'µs', reference: KINDS[0] },
			rounds: new Map(cases.filter((one) => one.method === method).map(({ peer, found }) => [peer, found])),
			latency: new Map(),
		}))
	} finally {
		await Promise.all(cases.map(({ child }) => child.stop()))
	}
}
