/**
 * Guesses at credentials: each request takes one before its credentials are looked at, and gives it back where they
 * were good. What is taken and not given back never exceeds the limit, in however many processes; so no more requests
 * of an address are under way at once than it has guesses left, and the others wait for them.
 *
 * Taken and given back are two counters, as a cache can't count down. What was given back is read first: read later, it
 * could hold what others have given back after this one was taken, and let in too many.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Cache } from '../cache/cache.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../time.ts'
import { type Level, type Taken, tighter } from './count.ts'
import { lookFixed, takeFixed } from './fixed-window.ts'
import { inform } from './inform.ts'

/** A guess that was taken: one of the two is called once. */
export interface Guess {
	/** The credentials were good, or there were none. Nobody waits for it. */
	giveBack(): void
	/** They were bad: answers what is left. */
	keep(): Promise<Taken>
}

/** As many guesses were bad, or are under way, as there may be. */
export interface Refused extends Taken {
	readonly isAllowed: false
}

/** So long a request waits for others of its address, and so many may. */
const LONGEST: Milliseconds = 10_000
const MOST_WAITING = 1_000
/** Other processes don't tell when they give back: they are asked so often, and so many times in a row. */
const ASK_AGAIN: Milliseconds = 50
const MOST_ASKED = 5

/** The requests of one address in this process. */
interface Line {
	/** Those that are taking a guess. */
	asking: number
	/** Those that have one. */
	underWay: number
	waiting: number
	/** Settled when nobody waits any more. */
	last: Promise<void>
	/** Wakes the first of those who wait. */
	wake: (() => void) | undefined
}

/** The guesses at one limit. */
export class Guesses {
	readonly #lines = new Map<string, Line>()

	/**
	 * Takes a guess; waits where others are under way whose guesses may be given back.
	 *
	 * @param levels the address first
	 * @param isOver whether the request was answered meanwhile
	 */
	async take(
		cache: Cache,
		levels: readonly [Level, ...Level[]],
		clock: () => Milliseconds,
		isOver: () => boolean,
	): Promise<Guess | Refused> {
		const { key } = levels[0]
		const line = this.#lines.get(key) ?? {
			asking: 0,
			underWay: 0,
			waiting: 0,
			last: Promise.resolve(),
			wake: undefined,
		}
		this.#lines.set(key, line)
		line.asking++
		try {
			if (line.waiting === 0) {
				const taken = await tryOnce(cache, levels, clock())
				if (taken !== 'busy') return this.#counted(taken, line, key)
			}
			if (line.waiting >= MOST_WAITING) return BUSY
			return this.#counted(await inLine(line, () => tryOnce(cache, levels, clock()), isOver), line, key)
		} finally {
			line.asking--
			this.#clear(key, line)
		}
	}

	#counted(taken: Guess | Refused, line: Line, key: string): Guess | Refused {
		if ('isAllowed' in taken) return taken
		line.underWay++
		const done = (): void => {
			line.underWay--
			line.wake?.()
			this.#clear(key, line)
		}
		return {
			giveBack() {
				taken.giveBack()
				done()
			},
			async keep() {
				try {
					return await taken.keep()
				} finally {
					done()
				}
			},
		}
	}

	#clear(key: string, { asking, underWay }: Line): void {
		if (asking === 0 && underWay === 0) this.#lines.delete(key)
	}
}

const BUSY: Refused = { isAllowed: false, remaining: 0, resetSeconds: 1 }

/** One after another: who is first tries again whenever a guess was given back. */
async function inLine(
	line: Line,
	attempt: () => Promise<Guess | Refused | 'busy'>,
	isOver: () => boolean,
): Promise<Guess | Refused> {
	const until = steadyClock() + LONGEST
	const before = line.last
	let leave = (): void => {}
	line.last = new Promise((resolve) => {
		leave = resolve
	})
	line.waiting++
	try {
		await before
		for (let asked = 0; asked < MOST_ASKED; asked++) {
			if (isOver() || steadyClock() >= until) return BUSY
			const taken = await attempt()
			if (taken !== 'busy') return taken
			// What is under way here will be told of.
			if (line.underWay > 0) asked = 0
			await Promise.race([pause(ASK_AGAIN), new Promise<void>((resolve) => (line.wake = resolve))])
		}
		return BUSY
	} finally {
		line.wake = undefined
		line.waiting--
		leave()
	}
}

/** Takes a guess at all levels, or at none. */
async function tryOnce(
	cache: Cache,
	levels: readonly Level[],
	now: Milliseconds,
): Promise<Guess | Refused | 'busy'> {
	const found = await Promise.all(levels.map((level) => look(cache, level, now)))
	for (const { bad } of found) if (!bad.isAllowed) return { ...bad, isAllowed: false }
	const taken = await Promise.allSettled(found.map((level) => take(cache, level)))
	const failed = taken.find((one) => one.status === 'rejected')
	const isFree = taken.every((one, at) => one.status === 'fulfilled' && one.value <= (found[at]?.most ?? 0))
	const giveBack = async (): Promise<void> => {
		const back = found.filter((_, at) => taken[at]?.status === 'fulfilled')
		await Promise.all(
			back.map(({ backKey, windowSeconds }) =>
				inform(async () => void (await cache.increment(backKey, windowSeconds))),
			),
		)
	}
	if (!isFree) {
		await giveBack()
		if (failed !== undefined) throw failed.reason
		return 'busy'
	}
	return {
		giveBack: () => void giveBack(),
		async keep() {
			const [own, ...wider] = await Promise.all(
				levels.map((level) => takeFixed(cache, level.key, level, now)),
			)
			return wider.reduce(tighter, own ?? BUSY)
		},
	}
}

interface Looked {
	/** What the guesses that were bad leave. */
	readonly bad: Taken
	/** What was given back, and the limit: how far may be counted. */
	readonly most: number
	readonly takenKey: string
	readonly backKey: string
	readonly windowSeconds: Seconds
}

async function look(cache: Cache, level: Level, now: Milliseconds): Promise<Looked> {
	const { key, limit, windowSeconds } = level
	// Both counters begin anew together: one that outlived the other would be wrong.
	const epoch = Math.floor(now / (windowSeconds * 1_000))
	const backKey = `${key}:back:${epoch}`
	const [bad, back = 0] = await Promise.all([lookFixed(cache, key, level, now), cache.get(backKey)])
	const given = typeof back === 'number' && Number.isSafeInteger(back) && back > 0 ? back : 0
	return { bad, most: limit + given, takenKey: `${key}:taken:${epoch}`, backKey, windowSeconds }
}

async function take(cache: Cache, { takenKey, backKey, windowSeconds }: Looked): Promise<number> {
	const count = await cache.increment(takenKey, windowSeconds)
	// Where there is no room for the second counter, nothing could be given back.
	if (count === 1) await cache.add(backKey, 0, windowSeconds)
	return count
}
