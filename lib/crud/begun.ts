/**
 * `begun`: wraps the promise that an operation or `transaction()` returns in a request. A rejection that the handler's method
 * doesn't await is logged. Unhandled, it would end the process, and any client could cause that.
 */
import type { Exchange } from '../exchange/exchange.ts'

/** How often to check whether the request has been answered: until then, the method may still await the promise. */
const INTERVAL_MS = 100

/** @param exchange the operation's request; outside of a request, the promise is returned as it is */
export function begun<T>(exchange: Exchange | undefined, name: string, promise: Promise<T>): Promise<T> {
	if (exchange === undefined) return promise
	const own = new Begun<T>((resolve) => resolve(promise))
	const report = (error: unknown): void => {
		if (own.isAwaited()) return
		if (exchange.isReplied) exchange.log('error', `${name} has failed, and was not awaited: await it`, error)
		else setTimeout(report, INTERVAL_MS, error).unref()
	}
	Promise.prototype.then.call(own, undefined, report)
	return own
}

class Begun<T> extends Promise<T> {
	/** What `then` returns is a plain promise. */
	static override readonly [Symbol.species] = Promise
	/** Private, so that JSON.stringify sees an empty object: `jsonText` looks into the values that have one. */
	#isAwaited = false

	isAwaited(): boolean {
		return this.#isAwaited
	}

	// biome-ignore lint/suspicious/noThenProperty: of a promise
	override then<A = T, B = never>(
		onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
		onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		this.#isAwaited = true
		return super.then(onFulfilled, onRejected)
	}
}
