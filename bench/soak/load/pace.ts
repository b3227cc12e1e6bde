/** The open loop: visits begin at a steady rate, whether or not earlier ones have ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../../random.ts'
import { drawKind } from '../kinds.ts'
import type { Member } from '../member.ts'
import { type Load, Visit, WrongAnswer } from './visit.ts'

export interface PaceOptions {
	/** Requests per second. */
	readonly rate: number
	readonly seconds: number
	readonly seed: number
	/** Number of the first visit. */
	readonly from: number
	/** Ends it early. */
	readonly signal: AbortSignal
}

/** Maximum number of concurrent visits. Beyond it the servers are overloaded, and measurements say nothing about the library. */
const MAX_VISITS = 1_000
/** Time for pending visits to end after the last one has begun; longer than the timeout of a request. */
const END_TIMEOUT_MS = 60_000

/** Resolves with the number of visits when all have ended. @throws Error if the servers don't keep up with the rate */
export async function pace(
	load: Load,
	members: readonly [Member, Member],
	options: PaceOptions,
): Promise<number> {
	const { rate, seconds, seed, from, signal } = options
	const kinds = seeded(seed + from)
	const underWay = new Set<Promise<void>>()
	const begun = performance.now()
	/** When the next visit is due, in milliseconds since `begun`: the same in every run. */
	let due = 0
	let number = from
	for (; due < seconds * 1_000 && !signal.aborted; number++) {
		const early = begun + due - performance.now()
		if (early > 0) await sleep(early)
		const kind = drawKind(kinds)
		// Each visit has its own random numbers, as the order in which concurrent visits continue varies.
		const random = seeded(seed * 1_000_003 + number)
		const visit = new Visit(kind.name, number, load, random, members, begun + due)
		const over = kind
			.visit(visit)
			.catch((error: unknown) => failed(visit, error))
			.finally(() => underWay.delete(over))
		underWay.add(over)
		if (underWay.size > MAX_VISITS)
			throw new Error(`${MAX_VISITS} visits are under way: the servers don't keep up with --rate ${rate}`)
		due += (kind.requests / rate) * 1_000
	}
	const late = sleep(END_TIMEOUT_MS, 'late', { ref: false })
	if ((await Promise.race([Promise.all(underWay), late])) === 'late')
		throw new Error(
			`${underWay.size} visits have not ended ${END_TIMEOUT_MS / 1_000} s after the last one began`,
		)
	return number - from
}

/** A wrong answer has been recorded already; any other error is a bug of the soak, and is recorded here. */
function failed(visit: Visit, error: unknown): void {
	if (error instanceof WrongAnswer) return
	const got = error instanceof Error ? (error.stack ?? error.message) : String(error)
	visit.load.findings.add({
		kind: visit.kind,
		server: visit.here.name,
		problems: ['the visit has failed'],
		got,
	})
}
