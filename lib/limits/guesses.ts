/**
 * Limits guesses at credentials. A request takes a guess before its credentials are checked and releases it afterwards; bad
 * credentials are counted before the release. So an address never has more requests in progress, over all processes, than
 * guesses left; other requests wait. Called by `pipeline/enforce-limits.ts`.
 *
 * Taken and released guesses have separate counters, because a cache can't decrement. Released guesses are read first, then
 * bad ones. In the other order, the first could include guesses released after the bad ones were read, and too many requests
 * would be allowed.
 *
 * Both counters restart each minute (the previous minute's are still read), so that guesses of a killed process are
 * released, and counters of inactive addresses don't fill the cache.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { bestEffort, type Cache, type JsonValue } from '../cache/cache.ts'
import { type Counter, countFixed, type LimitResult, peekFixed, stricter } from './counters.ts'

export interface Guess {
	/** Releases the guess: the credentials are good or absent, or the request was answered otherwise. Idempotent. */
	release(): void
	/** Counts bad credentials, and releases the guess. */
	spend(): Promise<LimitResult>
}

/** The result if bad guesses and guesses in progress have reached the limit. */
export interface Refused extends LimitResult {
	readonly isAllowed: false
}

/** How long a request waits for others from its address, and how many may wait. */
const MAX_WAIT_MS: Milliseconds = 10_000
const MAX_WAITING = 1_000
/** Other processes don't notify this one of released guesses: it polls at this interval, this many times in a row. */
const POLL_MS: Milliseconds = 50
const MAX_POLLS = 5
/** How long counters of guesses in progress are used; they are read for as long again. */
const EPOCH_SECONDS: Seconds = 60

/** The requests of one address in this process. */
interface Queue {
	/** Requests that are taking a guess. */
	taking: number
	/** Requests that have one. */
	inProgress: number
	waiting: number
	/** Resolves when the last waiting request has stopped waiting. */
	last: Promise<void>
	/** Wakes the first waiting request. */
	wake: (() => void) | undefined
}

export class Guesses {
	readonly #queues = new Map<string, Queue>()

	/**
	 * Takes a guess; waits while other guesses in progress may be released.
	 *
	 * @param counters the address's own counter first
	 * @param isOver whether the request has been answered meanwhile
	 */
	async take(
		cache: Cache,
		counters: readonly [Counter, ...Counter[]],
		clock: () => Milliseconds,
		isOver: () => boolean,
	): Promise<Guess | Refused> {
		const { key } = counters[0]
		const queue = this.#queues.get(key) ?? {
			taking: 0,
			inProgress: 0,
			waiting: 0,
			last: Promise.resolve(),
			wake: undefined,
		}
		this.#queues.set(key, queue)
		queue.taking++
		try {
			if (queue.waiting === 0) {
				const taken = await tryOnce(cache, counters, queue, clock())
				if (taken !== 'busy') return this.#tracked(taken, queue, key)
			}
			if (queue.waiting >= MAX_WAITING) return BUSY
			return this.#tracked(
				await waitInQueue(queue, () => tryOnce(cache, counters, queue, clock()), isOver),
				queue,
				key,
			)
		} finally {
			queue.taking--
			this.#clear(key, queue)
		}
	}

	#tracked(taken: Guess | Refused, queue: Queue, key: string): Guess | Refused {
		if ('isAllowed' in taken) return taken
		queue.inProgress++
		let isReleased = false
		const release = (): void => {
			if (isReleased) return
			isReleased = true
			queue.inProgress--
			taken.release()
			queue.wake?.()
			this.#clear(key, queue)
		}
		return {
			release,
			async spend() {
				try {
					return await taken.spend()
				} finally {
					release()
				}
			},
		}
	}

	#clear(key: string, { taking, inProgress }: Queue): void {
		if (taking === 0 && inProgress === 0) this.#queues.delete(key)
	}
}

const BUSY: Refused = { isAllowed: false, remaining: 0, resetSeconds: 1 }

/** Waits in order: the first request tries again whenever a guess is released. */
async function waitInQueue(
	queue: Queue,
	attempt: () => Promise<Guess | Refused | 'busy'>,
	isOver: () => boolean,
): Promise<Guess | Refused> {
	const until = steadyClock() + MAX_WAIT_MS
	const before = queue.last
	let endWait = (): void => {}
	queue.last = new Promise((resolve) => {
		endWait = resolve
	})
	queue.waiting++
	try {
		await before
		for (let polls = 0; polls < MAX_POLLS; polls++) {
			if (isOver() || steadyClock() >= until) return BUSY
			const taken = await attempt()
			if (taken !== 'busy') return taken
			// Requests in progress in this process will wake this one, so polls don't count.
			if (queue.inProgress > 0) polls = 0
			await Promise.race([pause(POLL_MS), new Promise<void>((resolve) => (queue.wake = resolve))])
		}
		return BUSY
	} finally {
		queue.wake = undefined
		queue.waiting--
		endWait()
	}
}

/** Takes a guess of each counter, or none. */
async function tryOnce(
	cache: Cache,
	counters: readonly Counter[],
	{ inProgress }: Queue,
	now: Milliseconds,
): Promise<Guess | Refused | 'busy'> {
	const found = await Promise.all(counters.map((counter) => read(cache, counter, now)))
	for (const { bad } of found) if (!bad.isAllowed) return { ...bad, isAllowed: false }
	if (found.some(({ left }) => inProgress >= left)) return 'busy'
	const taken = await Promise.allSettled(found.map((counts) => take(cache, counts)))
	const failed = taken.find((one) => one.status === 'rejected')
	const isAllowed = found.every(({ left, released }, at) => {
		const one = taken[at]
		return one?.status === 'fulfilled' && one.value - released <= left
	})
	const release = async (): Promise<void> => {
		const counted = found.filter((_, at) => taken[at]?.status === 'fulfilled')
		await Promise.all(
			counted.map(({ releasedKey }) =>
				bestEffort(async () => void (await cache.increment(releasedKey, TTL_SECONDS))),
			),
		)
	}
	if (!isAllowed) {
		await release()
		if (failed !== undefined) throw failed.reason
		return 'busy'
	}
	return {
		release: () => void release(),
		async spend() {
			const [own, ...wider] = await Promise.all(
				counters.map((counter) => countFixed(cache, counter.key, counter, now)),
			)
			return wider.reduce(stricter, own ?? BUSY)
		},
	}
}

/** Counters are kept for another epoch, for guesses released late. */
const TTL_SECONDS: Seconds = 2 * EPOCH_SECONDS

interface GuessCounts {
	readonly bad: LimitResult
	/** How many more guesses may be taken in this epoch. */
	readonly left: number
	/** Guesses released in this epoch. */
	readonly released: number
	readonly takenKey: string
	readonly releasedKey: string
}

async function read(cache: Cache, counter: Counter, now: Milliseconds): Promise<GuessCounts> {
	const { key } = counter
	// Both counters restart together: one that outlived the other would be wrong.
	const epoch = Math.floor(now / (EPOCH_SECONDS * 1_000))
	const releasedKey = `${key}:back:${epoch}`
	const takenKey = `${key}:taken:${epoch}`
	const [released, releasedBefore, takenBefore, bad] = await Promise.all([
		cache.get(releasedKey),
		cache.get(`${key}:back:${epoch - 1}`),
		cache.get(`${key}:taken:${epoch - 1}`),
		peekFixed(cache, key, counter, now),
	])
	const stillTaken = Math.max(0, countOf(takenBefore) - countOf(releasedBefore))
	return { bad, left: bad.remaining + 1 - stillTaken, released: countOf(released), takenKey, releasedKey }
}

function countOf(value: JsonValue | undefined): number {
	return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

async function take(cache: Cache, { takenKey, releasedKey }: GuessCounts): Promise<number> {
	const count = await cache.increment(takenKey, TTL_SECONDS)
	// Reserves room for the second counter, without which the guess couldn't be released.
	if (count === 1) await cache.add(releasedKey, 0, TTL_SECONDS)
	return count
}
