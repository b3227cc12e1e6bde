/**
 * `Slots`: limits how many exports, or imports, of a handler run at once, in total and per caller. Each holds a page in memory,
 * or a file, for as long as its client takes.
 */
import { RestError } from '../../base/error.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { callerOf } from '../../limits/rate-limit.ts'

const MAX_PER_CALLER = 2

export class Slots {
	readonly #what: string
	readonly #max: number
	/** The number of slots of each caller that has any. */
	readonly #callers = new Map<string, number>()
	#taken = 0

	/** @param what the operation, for messages: `exports` */
	constructor(what: string, max: number) {
		this.#what = what
		this.#max = max
	}

	/** Returns a function that gives the slot back. @throws RestError `too_many_requests` or `unavailable` */
	take(exchange: Exchange): () => void {
		const { isUser, share } = callerOf(exchange.user, exchange.ip())
		const caller = `${isUser ? 'user' : 'address'} ${share}`
		const own = this.#callers.get(caller) ?? 0
		const headers = { 'Retry-After': '5' }
		if (own >= MAX_PER_CALLER)
			throw new RestError(
				'too_many_requests',
				`${own} ${this.#what} of yours are running: wait until one has ended`,
				{ headers },
			)
		if (this.#taken >= this.#max)
			throw new RestError('unavailable', `Too many ${this.#what} are running`, { headers })
		this.#callers.set(caller, own + 1)
		this.#taken++
		return () => this.#release(caller)
	}

	#release(caller: string): void {
		const own = (this.#callers.get(caller) ?? 1) - 1
		this.#taken--
		if (own > 0) this.#callers.set(caller, own)
		else this.#callers.delete(caller)
	}
}
