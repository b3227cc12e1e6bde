/**
 * `Texts`: texts of statements by what they depend on. To write one anew for each request costs less than what
 * comes of it: a driver knows a prepared statement by its text, and a new string has to be hashed first.
 */

/** What a text depends on, in order: names of fields, symbols for what is no field, numbers. */
export type Step = string | symbol | number | bigint

/** Clients choose which fields they give, and so how many texts there are: what is beyond isn't kept. */
const MOST_STEPS = 2_000

export class Texts {
	readonly #root = new Place()
	#steps = 0

	/** The text that was kept for the same steps. */
	get(steps: readonly Step[]): string | undefined {
		let place: Place | undefined = this.#root
		for (const step of steps) {
			place = place.next.get(step)
			if (place === undefined) return undefined
		}
		return place.text
	}

	/** Keeps a text, where there is room. */
	keep(steps: readonly Step[], text: string): void {
		if (this.#steps + steps.length > MOST_STEPS) return
		let place = this.#root
		for (const step of steps) {
			let next = place.next.get(step)
			if (next === undefined) {
				next = new Place()
				place.next.set(step, next)
				this.#steps++
			}
			place = next
		}
		place.text = text
	}
}

class Place {
	text: string | undefined
	readonly next = new Map<Step, Place>()
}
