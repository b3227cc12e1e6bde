/** The open loop: visits begin at a steady rate, whether or not earlier ones are over. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../../random.ts'
import { drawKind } from '../kinds.ts'
import type { Member } from '../member.ts'
import { type Load, Visit, WrongAnswer } from './visit.ts'

export interface PaceOptions {
	/** Requests a second. */
	readonly rate: number
	readonly seconds: number
	readonly seed: number
	/** Number of the first visit. */
	readonly from: number
	/** Ends it early. */
	readonly signal: AbortSignal
}

/** With so many under way the servers don't keep up, and nothing that is measured is about the library. */
const MOST_UNDER_WAY = 1_000
/** What has begun may take so long behind the end; longer than a request may. */
const PATIENCE_MS = 60_000

/** Resolves when all visits are over, with how many there were. @throws Error where the servers don't keep up with the rate */
export async function pace(
	load: Load,
	members: readonly [Member, Member],
	options: PaceOptions,
): Promise<number> {
	const { rate, seconds, seed, from, signal } = options
	const kinds = seeded(seed + from)
	const underWay = new Set<Promise<void>>()
	const begun = performance.now()
	/** Milliseconds since then: the same in every run. */
	let due = 0
	let number = from
	for (; due < seconds * 1_000 && !signal.aborted; number++) {
		const early = begun + due - performance.now()
		if (early > 0) await sleep(early)
		const kind = drawKind(kinds)
		// Each has numbers of its own, whichever of those that are under way goes on first.
		const random = seeded(seed * 1_000_003 + number)
		const visit = new Visit(kind.name, number, load, random, members, begun + due)
		const over = kind
			.visit(visit)
			.catch((error: unknown) => failed(visit, error))
			.finally(() => underWay.delete(over))
		underWay.add(over)
		if (underWay.size > MOST_UNDER_WAY)
			throw new Error(`${MOST_UNDER_WAY} visits are under way: the servers don't keep up with --rate ${rate}`)
		due += (kind.requests / rate) * 1_000
	}
	const late = sleep(PATIENCE_MS, 'late', { ref: false })
	if ((await Promise.race([Promise.all(underWay), late])) === 'late')
		throw new Error(
			`${underWay.size} visits have not ended ${PATIENCE_MS / 1_000} s after the last one began`,
		)
	return number - from
}

/** A wrong answer has been noted; anything else is a mistake of the soak's own, and must be seen, too. */
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
