/**
 * `Texts`: texts of statements, or their parts, by what they depend on. To write one anew for each request costs
 * less than what comes of it: a driver knows a prepared statement by its text, and a new string has to be hashed
 * first. Clients choose fields, orders and conditions: what is asked for once isn't kept, and of the rest as much as
 * there is room for.
 */
import type { Bytes } from '../../base/time.ts'
import type { Kept, Room } from './room.ts'

/** What a text depends on, in order: names of fields, symbols for what is no field, numbers. */
export type Step = string | symbol | number | bigint

/** How many that were asked for once are remembered, each as a number. */
const MOST_ONCE = 100
/** A place, its map, and what holds them. */
const BYTES_OF_A_STEP: Bytes = 300

export class Texts<T = string> {
	readonly #room: Room
	readonly #root = new Place<T>(undefined, '')
	/** Hashes of steps that were asked for once, the oldest first. */
	readonly #once = new Set<number>()

	constructor(room: Room) {
		this.#room = room
	}

	/** What was kept for the same steps. */
	get(steps: readonly Step[]): T | undefined {
		let place: Place<T> | undefined = this.#root
		for (const step of steps) {
			place = place.next?.get(step)
			if (place === undefined) return undefined
		}
		if (place.value !== undefined) this.#room.touch(place)
		return place.value
	}

	/** Keeps a text from the second time on; of anything else `bytes` says what it takes. */
	keep(steps: readonly Step[], value: T, bytes: Bytes = typeof value === 'string' ? value.length : 0): void {
		if (!this.#isAskedAgain(steps)) return
		let place = this.#root
		let all = bytes
		for (const step of steps) {
			all += BYTES_OF_A_STEP + (typeof step === 'string' ? step.length : 0)
			place = place.to(step)
		}
		if (place.value !== undefined) return
		place.value = value
		place.bytes = all
		if (!this.#room.add(place)) place.drop()
	}

	#isAskedAgain(steps: readonly Step[]): boolean {
		const hash = hashOf(steps)
		if (this.#once.delete(hash)) return true
		this.#once.add(hash)
		if (this.#once.size > MOST_ONCE) for (const oldest of this.#once) return !this.#once.delete(oldest)
		return false
	}
}

/** A way of steps, and what is kept at its end. */
class Place<T> implements Kept {
	value: T | undefined = undefined
	bytes: Bytes = 0
	older: Kept | undefined = undefined
	newer: Kept | undefined = undefined
	next: Map<Step, Place<T>> | undefined = undefined
	readonly #before: Place<T> | undefined
	readonly #step: Step

	constructor(before: Place<T> | undefined, step: Step) {
		this.#before = before
		this.#step = step
	}

	to(step: Step): Place<T> {
		this.next ??= new Map()
		let place = this.next.get(step)
		if (place === undefined) {
			place = new Place<T>(this, step)
			this.next.set(step, place)
		}
		return place
	}

	/** With the way to it, as far as nothing else is on it. */
	drop(): void {
		this.value = undefined
		this.#prune()
	}

	#prune(): void {
		if (this.value !== undefined || (this.next?.size ?? 0) > 0) return
		if (this.#before === undefined) return
		this.#before.next?.delete(this.#step)
		this.#before.#prune()
	}
}

/** FNV-1a over the steps. Two that share one are only kept a little early. */
function hashOf(steps: readonly Step[]): number {
	let hash = 0x811c9dc5
	for (const step of steps) {
		const text = typeof step === 'string' ? step : String(step)
		for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
		hash = Math.imul(hash ^ 0x1f, 0x01000193)
	}
	return hash
}
