/** What is counted, and what comes of it: the words that all limits share. */
import type { Seconds } from '../base/time.ts'

/** What is counted to. */
export interface Count {
	readonly limit: number
	readonly windowSeconds: Seconds
}

/** What is counted under a key of the cache. */
export interface Level extends Count {
	readonly key: string
}

/** What came of counting one request. */
export interface Taken {
	readonly isAllowed: boolean
	/** How many more requests would be served now. */
	readonly remaining: number
	/** Until more are: whole seconds, from 1 to the window's length. */
	readonly resetSeconds: Seconds
}

/** What is refused, or leaves less. */
export function tighter(one: Taken, other: Taken): Taken {
	if (one.isAllowed !== other.isAllowed) return one.isAllowed ? other : one
	return other.remaining < one.remaining ? other : one
}
