/**
 * Guesses at credentials: each request takes one before its credentials are looked at, and gives it back once they have
 * been; bad ones are counted before. So no more requests of an address are under way at once, in however many processes,
 * than it has guesses left, and the others wait for them.
 *
 * Taken and given back are two counters, as a cache can't count down. What was given back is read first, and bad ones
 * next: read later, it could hold what others have given back after these were read, and let in too many.
 *
 * Both begin anew each minute, beside those of the minute before, so that what a process has taken that was killed is
 * free again, and counters of those who have gone don't fill the cache.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { bestEffort, type Cache, type JsonValue } from '../cache/cache.ts'
import { type Level, lookFixed, type Taken, takeFixed, tighter } from './windows.ts'

/** A guess that was taken. */
export interface Guess {
	/** The credentials were good, or there were none, or nobody is told any more. Nobody waits for it; twice is as once. */
	giveBack(): void
	/** They were bad: counts that, and answers what is left. */
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
/** How long counters of what is under way are counted on; as long again they are looked at. */
const EPOCH: Seconds = 60

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
				const taken = await tryOnce(cache, levels, line, clock())
				if (taken !== 'busy') return this.#counted(taken, line, key)
			}
			if (line.waiting >= MOST_WAITING) return BUSY
			return this.#counted(await inLine(line, () => tryOnce(cache, levels, line, clock()), isOver), line, key)
		} finally {
			line.asking--
			this.#clear(key, line)
		}
	}

	#counted(taken: Guess | Refused, line: Line, key: string): Guess | Refused {
		if ('isAllowed' in taken) return taken
		line.underWay++
		let isBack = false
		const giveBack = (): void => {
			if (isBack) return
			isBack = true
			line.underWay--
			taken.giveBack()
			line.wake?.()
			this.#clear(key, line)
		}
		return {
			giveBack,
			async keep() {
				try {
					return await taken.keep()
				} finally {
					giveBack()
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
	{ underWay }: Line,
	now: Milliseconds,
): Promise<Guess | Refused | 'busy'> {
	const found = await Promise.all(levels.map((level) => look(cache, level, now)))
	for (const { bad } of found) if (!bad.isAllowed) return { ...bad, isAllowed: false }
	if (found.some(({ left }) => underWay >= left)) return 'busy'
	const taken = await Promise.allSettled(found.map((level) => take(cache, level)))
	const failed = taken.find((one) => one.status === 'rejected')
	const isFree = found.every(({ left, back }, at) => {
		const one = taken[at]
		return one?.status === 'fulfilled' && one.value - back <= left
	})
	const giveBack = async (): Promise<void> => {
		const owed = found.filter((_, at) => taken[at]?.status === 'fulfilled')
		await Promise.all(
			owed.map(({ backKey }) => bestEffort(async () => void (await cache.increment(backKey, KEPT)))),
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

/** Of an epoch, also what is given back a while behind it. */
const KEPT: Seconds = 2 * EPOCH

interface Looked {
	readonly bad: Taken
	/** How many more may be bad, of those that were taken in this minute. */
	readonly left: number
	/** How many were given back. */
	readonly back: number
	readonly takenKey: string
	readonly backKey: string
}

async function look(cache: Cache, level: Level, now: Milliseconds): Promise<Looked> {
	const { key } = level
	// Both counters begin anew together: one that outlived the other would be wrong.
	const epoch = Math.floor(now / (EPOCH * 1_000))
	const backKey = `${key}:back:${epoch}`
	const takenKey = `${key}:taken:${epoch}`
	const [back, backBefore, takenBefore, bad] = await Promise.all([
		cache.get(backKey),
		cache.get(`${key}:back:${epoch - 1}`),
		cache.get(`${key}:taken:${epoch - 1}`),
		lookFixed(cache, key, level, now),
	])
	const stillTaken = Math.max(0, counted(takenBefore) - counted(backBefore))
	return { bad, left: bad.remaining + 1 - stillTaken, back: counted(back), takenKey, backKey }
}

function counted(held: JsonValue | undefined): number {
	return typeof held === 'number' && Number.isSafeInteger(held) && held > 0 ? held : 0
}

async function take(cache: Cache, { takenKey, backKey }: Looked): Promise<number> {
	const count = await cache.increment(takenKey, KEPT)
	// Where there is no room for the second counter, nothing could be given back.
	if (count === 1) await cache.add(backKey, 0, KEPT)
	return count
}
