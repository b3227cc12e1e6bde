/**
 * Guesses at credentials: a request takes one before its credentials are checked, and gives it back afterwards; bad ones are
 * counted first. So an address has no more requests in progress at once, over all processes, than it has guesses left; the
 * others wait. Called by `pipeline/rate-limits.ts`.
 *
 * Taken and given back are two counters, as a cache can't count down. What was given back is read first, then the bad ones:
 * in the other order, it could include guesses given back after the bad ones were read, and let in too many.
 *
 * Both counters start anew each minute, beside those of the minute before, so that guesses of a killed process are freed,
 * and counters of addresses that have gone don't fill the cache.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { bestEffort, type Cache, type JsonValue } from '../cache/cache.ts'
import { type Level, lookFixed, type Taken, takeFixed, tighter } from './windows.ts'

/** A guess that was taken. */
export interface Guess {
	/** Called where the credentials were good or absent, or the request was answered otherwise. Idempotent, not awaited. */
	giveBack(): void
	/** Counts bad credentials, and returns what is left. */
	keep(): Promise<Taken>
}

/** Bad guesses plus those in progress have reached the limit. */
export interface Refused extends Taken {
	readonly isAllowed: false
}

/** How long a request waits for others of its address, and how many may wait. */
const LONGEST: Milliseconds = 10_000
const MOST_WAITING = 1_000
/** Other processes don't notify when they give back: poll at this interval, so many times in a row. */
const ASK_AGAIN: Milliseconds = 50
const MOST_ASKED = 5
/** How long counters of guesses in progress are used; they are read for as long again. */
const EPOCH: Seconds = 60

/** The requests of one address in this process. */
interface Queue {
	/** Requests that are taking a guess. */
	asking: number
	/** Requests that have one. */
	underWay: number
	waiting: number
	/** Settled when the last waiting request has stopped waiting. */
	last: Promise<void>
	/** Wakes the first waiting request. */
	wake: (() => void) | undefined
}

/** The guesses at one limit. */
export class Guesses {
	readonly #queues = new Map<string, Queue>()

	/**
	 * Takes a guess; waits while others are in progress that may give theirs back.
	 *
	 * @param levels the address first
	 * @param isOver whether the request has been answered meanwhile
	 */
	async take(
		cache: Cache,
		levels: readonly [Level, ...Level[]],
		clock: () => Milliseconds,
		isOver: () => boolean,
	): Promise<Guess | Refused> {
		const { key } = levels[0]
		const queue = this.#queues.get(key) ?? {
			asking: 0,
			underWay: 0,
			waiting: 0,
			last: Promise.resolve(),
			wake: undefined,
		}
		this.#queues.set(key, queue)
		queue.asking++
		try {
			if (queue.waiting === 0) {
				const taken = await tryOnce(cache, levels, queue, clock())
				if (taken !== 'busy') return this.#counted(taken, queue, key)
			}
			if (queue.waiting >= MOST_WAITING) return BUSY
			return this.#counted(
				await waitInQueue(queue, () => tryOnce(cache, levels, queue, clock()), isOver),
				queue,
				key,
			)
		} finally {
			queue.asking--
			this.#clear(key, queue)
		}
	}

	#counted(taken: Guess | Refused, queue: Queue, key: string): Guess | Refused {
		if ('isAllowed' in taken) return taken
		queue.underWay++
		let isBack = false
		const giveBack = (): void => {
			if (isBack) return
			isBack = true
			queue.underWay--
			taken.giveBack()
			queue.wake?.()
			this.#clear(key, queue)
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

	#clear(key: string, { asking, underWay }: Queue): void {
		if (asking === 0 && underWay === 0) this.#queues.delete(key)
	}
}

const BUSY: Refused = { isAllowed: false, remaining: 0, resetSeconds: 1 }

/** Waits in order: the first one tries again whenever a guess is given back. */
async function waitInQueue(
	queue: Queue,
	attempt: () => Promise<Guess | Refused | 'busy'>,
	isOver: () => boolean,
): Promise<Guess | Refused> {
	const until = steadyClock() + LONGEST
	const before = queue.last
	let leave = (): void => {}
	queue.last = new Promise((resolve) => {
		leave = resolve
	})
	queue.waiting++
	try {
		await before
		for (let asked = 0; asked < MOST_ASKED; asked++) {
			if (isOver() || steadyClock() >= until) return BUSY
			const taken = await attempt()
			if (taken !== 'busy') return taken
			// Requests in progress in this process will wake it.
			if (queue.underWay > 0) asked = 0
			await Promise.race([pause(ASK_AGAIN), new Promise<void>((resolve) => (queue.wake = resolve))])
		}
		return BUSY
	} finally {
		queue.wake = undefined
		queue.waiting--
		leave()
	}
}

/** Takes a guess at all levels, or at none. */
async function tryOnce(
	cache: Cache,
	levels: readonly Level[],
	{ underWay }: Queue,
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

/** An epoch's counters are kept for as long again, for guesses given back late. */
const KEPT: Seconds = 2 * EPOCH

interface Looked {
	readonly bad: Taken
	/** How many more guesses of this minute may be bad. */
	readonly left: number
	/** How many were given back. */
	readonly back: number
	readonly takenKey: string
	readonly backKey: string
}

async function look(cache: Cache, level: Level, now: Milliseconds): Promise<Looked> {
	const { key } = level
	// Both counters start anew together: one that outlived the other would be wrong.
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
	// Makes sure that there is room for the second counter, or nothing could be given back.
	if (count === 1) await cache.add(backKey, 0, KEPT)
	return count
}
