/** Work in steps, between which other requests are answered: hundreds of tables take seconds to be described. */
import { type Milliseconds, steadyClock } from '../base/time.ts'

/** Others have their turn after so long. */
const TURN: Milliseconds = 5

export class Steps {
	#until = steadyClock() + TURN

	/** What each step makes of its value, in a row. */
	async flatMap<From, To>(values: Iterable<From>, work: (value: From) => readonly To[]): Promise<To[]> {
		const all: To[] = []
		for (const value of values) {
			for (const one of work(value)) all.push(one)
			await this.pause()
		}
		return all
	}

	/** Awaited behind a step: it is others' turn, if they have waited for long enough. */
	async pause(): Promise<void> {
		if (steadyClock() < this.#until) return
		await new Promise(setImmediate)
		this.#until = steadyClock() + TURN
	}
}
