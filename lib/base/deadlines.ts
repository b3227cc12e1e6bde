/**
 * `Deadlines`: timeouts of pending requests, checked by one coarse timer. A timer for each request would cost more than a
 * small response. The server has one instance, each `RedisCache` another.
 */
import type { Clock, Milliseconds } from './time.ts'

/** Something that has a deadline. */
export interface Due {
	/** When it expires, by the clock; `Infinity` for never. */
	due: Milliseconds
	/** Called once when it expires, after it was removed. */
	expire(): void
	/** Its neighbours in the list, and whether it is in the list; written by {@link Deadlines}. */
	earlier?: Due | undefined
	later?: Due | undefined
	isWaiting?: boolean
}

/** The longest delay until an expired item is noticed. */
const MAX_PERIOD_MS: Milliseconds = 500

/** Calls `expire` at most 500 ms late, or an eighth of the shortest timeout if that is less. */
export class Deadlines {
	readonly clock: Clock
	/** How often deadlines are checked. */
	readonly period: Milliseconds
	/**
	 * A list linked through the items: adding to a Set costs ten times as much. Not a `RecencyList`, because an item may
	 * also be in one: a caller that waits for a connection.
	 */
	#first: Due | undefined
	#last: Due | undefined
	#size = 0
	#timer: NodeJS.Timeout | undefined
	/** When the timer last fired or was started. */
	#lastCheck: Milliseconds = 0
	readonly #keepsAlive: boolean

	/**
	 * `shortest` is the shortest timeout of any item. With `keepsAlive` the process stays alive while there are items;
	 * otherwise the timer does not keep it running.
	 */
	constructor(clock: Clock, shortest: Milliseconds, { keepsAlive = false } = {}) {
		this.#keepsAlive = keepsAlive
		this.clock = clock
		this.period = Math.max(5, Math.min(MAX_PERIOD_MS, shortest / 8))
	}

	get size(): number {
		return this.#size
	}

	/** Adds an item; adding it again has no effect. */
	add(item: Due): void {
		if (item.isWaiting === true) return
		item.isWaiting = true
		item.earlier = this.#last
		item.later = undefined
		if (this.#last === undefined) this.#first = item
		else this.#last.later = item
		this.#last = item
		this.#size++
		if (this.#timer === undefined) this.#start()
		if (this.#keepsAlive && this.#size === 1) this.#timer?.ref()
	}

	/** Adds an item that expires after a time. */
	after(time: Milliseconds, expire: () => void): Due {
		const item: Due = { due: this.clock() + time, expire }
		this.add(item)
		return item
	}

	delete(item: Due): void {
		if (item.isWaiting !== true) return
		item.isWaiting = false
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

	/** All items, oldest first. */
	values(): Due[] {
		const items: Due[] = []
		for (let item = this.#first; item !== undefined; item = item.later) items.push(item)
		return items
	}

	/** Expires an item if it is due. */
	expireIfLate(item: Due): void {
		if (item.isWaiting !== true || item.due > this.clock()) return
		this.delete(item)
		item.expire()
	}

	/** Expires all items that are due; stops the timer when none is left. */
	sweep(): void {
		const now = this.clock()
		// Expiring one item may delete another.
		for (const item of this.values()) if (item.due <= now) this.expireIfLate(item)
		if (this.#size === 0) this.stop()
	}

	/**
	 * Node runs timers before it reads sockets. After an event-loop stall, data that has already arrived is read first, so
	 * that it does not count as late.
	 */
	#check(): void {
		const now = this.clock()
		const hasStalled = now - this.#lastCheck > 2 * this.period
		this.#lastCheck = now
		if (hasStalled) setImmediate(() => this.sweep())
		else this.sweep()
	}

	#start(): void {
		this.#lastCheck = this.clock()
		this.#timer = setInterval(() => this.#check(), this.period).unref()
	}

	stop(): void {
		clearInterval(this.#timer)
		this.#timer = undefined
	}
}
