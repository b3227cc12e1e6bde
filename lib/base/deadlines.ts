/**
 * Deadlines of the requests that are being waited for. One coarse timer looks after all of them:
 * a timer a request would cost more than a small answer does.
 */
import type { Clock, Milliseconds } from './time.ts'

/** Something that must be done by a time. */
export interface Due {
	/** The clock's reading from which on it is late; `Infinity` for never. */
	due: Milliseconds
	/** Called once, when it is late; it isn't looked after any more. */
	expire(): void
	/** Its neighbours in the list, and whether it is in it; kept by {@link Deadlines}. */
	earlier?: Due | undefined
	later?: Due | undefined
	waiting?: boolean
}

/** How late a deadline may be noticed at most. */
const COARSEST: Milliseconds = 500

/** Holds what is due; `expire` is called at most 500 ms late (an eighth of the shortest time, if that is less). */
export class Deadlines {
	readonly clock: Clock
	/** How often it is looked for what is late. */
	readonly period: Milliseconds
	/** A list through the items themselves: a Set costs a waiting request ten times as much. */
	#first: Due | undefined
	#last: Due | undefined
	#size = 0
	#timer: NodeJS.Timeout | undefined
	/** When it was looked for late ones last, or its timer was started. */
	#looked: Milliseconds = 0
	readonly #keepsAlive: boolean

	/**
	 * `shortest` is the shortest time that anything will be given. With `keepsAlive` the program doesn't end while
	 * something is waited for; without, a deadline alone keeps nothing running.
	 */
	constructor(clock: Clock, shortest: Milliseconds, { keepsAlive = false } = {}) {
		this.#keepsAlive = keepsAlive
		this.clock = clock
		this.period = Math.max(5, Math.min(COARSEST, shortest / 8))
	}

	/** How many are being waited for. */
	get size(): number {
		return this.#size
	}

	/** Looks after an item; adding it again changes nothing. */
	add(item: Due): void {
		if (item.waiting === true) return
		item.waiting = true
		item.earlier = this.#last
		item.later = undefined
		if (this.#last === undefined) this.#first = item
		else this.#last.later = item
		this.#last = item
		this.#size++
		if (this.#timer === undefined) this.#start()
		if (this.#keepsAlive && this.#size === 1) this.#timer?.ref()
	}

	delete(item: Due): void {
		if (item.waiting !== true) return
		item.waiting = false
		const { earlier, later } = item
		if (earlier === undefined) this.#first = later
		else earlier.later = later
		if (later === undefined) this.#last = earlier
		else later.earlier = earlier
		item.earlier = undefined
		item.later = undefined
		this.#size--
		if (this.#keepsAlive && this.#size === 0) this.#timer?.unref()
	}

	/** Those being waited for, oldest first. */
	values(): Due[] {
		const items: Due[] = []
		for (let item = this.#first; item !== undefined; item = item.later) items.push(item)
		return items
	}

	/** Expires an item, if it is late. */
	expireIfLate(item: Due): void {
		if (item.waiting !== true || item.due > this.clock()) return
		this.delete(item)
		item.expire()
	}

	/** Expires what is late; stops its timer when nothing is left. */
	sweep(): void {
		const now = this.clock()
		for (const item of this.values()) {
			// Another's expiry may have ended it.
			if (item.due > now || item.waiting !== true) continue
			this.delete(item)
			item.expire()
		}
		if (this.#size === 0) this.stop()
	}

	/**
	 * Timers come before what sockets have received: where this process was held up, an answer or a request that has
	 * arrived meanwhile is read first, and isn't late.
	 */
	#look(): void {
		const now = this.clock()
		const wasHeldUp = now - this.#looked > 2 * this.period
		this.#looked = now
		if (wasHeldUp) setImmediate(() => this.sweep())
		else this.sweep()
	}

	#start(): void {
		this.#looked = this.clock()
		this.#timer = setInterval(() => this.#look(), this.period).unref()
	}

	stop(): void {
		clearInterval(this.#timer)
		this.#timer = undefined
	}
}
