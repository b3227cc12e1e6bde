/**
 * `begun`: what a method of a request's view returns for an operation, or `transaction`. If it fails and the method has not awaited
 * it, that is logged; the rejection of a plain promise would end the process, and any caller could cause it.
 */
import type { Exchange } from '../exchange/exchange.ts'

/** How often to look whether the request, during which a method may still await the operation, has been answered. */
const INTERVAL_MS = 100

/** @param exchange the operation's request; without one, the promise is the caller's, as any other */
export function begun<T>(exchange: Exchange | undefined, name: string, promise: Promise<T>): Promise<T> {
	if (exchange === undefined) return promise
	const own = new Begun<T>((resolve) => resolve(promise))
	const report = (error: unknown): void => {
		if (own.isAwaited) return
		if (exchange.isReplied) exchange.log('error', `${name} has failed, and was not awaited: await it`, error)
		else setTimeout(report, INTERVAL_MS, error).unref()
	}
	Promise.prototype.then.call(own, undefined, report)
	return own
}

class Begun<T> extends Promise<T> {
	/** What `then` returns is a plain promise. */
	static override readonly [Symbol.species] = Promise
	isAwaited = false

	// biome-ignore lint/suspicious/noThenProperty: of a promise
	override then<A = T, B = never>(
		onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
		onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		this.isAwaited = true
		return super.then(onFulfilled, onRejected)
	}
}
