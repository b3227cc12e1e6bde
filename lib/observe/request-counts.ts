/**
 * `RequestCounts`: how many requests a server has answered, by route, method and status, and how long they took; for the
 * page of `metrics/`. `Count` follows one request, if nothing but its count is needed: see `watch.ts`. There is at most one
 * series for each route, method and status of the server, whatever clients send.
 */
import { isMethod } from '../base/http.ts'
import { type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Outcome, Watched } from '../exchange/watched.ts'

/** Upper bounds of the buckets, those of OpenTelemetry's `http.server.request.duration`. */
export const BOUNDS: readonly Seconds[] = [
	...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
]

/**
 * How many requests that end in one tick are counted together, with one reading of the clock, and code that is in the
 * processor's caches. The time of each is added to those that have ended before it.
 */
const MAX_TOGETHER = 16
/** The average time from which requests are counted one by one. */
const LONG: Milliseconds = 0.1

/** The requests with the same route, method and status. */
export class RequestSeries {
	/** `/article/{id}`; empty if no action was found. */
	readonly route: string
	/** `_OTHER`, OpenTelemetry's name, for all methods that aren't served. */
	readonly method: string
	/** `undefined` if the reply was not sent completely. */
	readonly status: number | undefined
	/** How many took at most each bound, but longer than the one before; at the end, how many took longer than all. */
	readonly buckets: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0)
	sum: Seconds = 0

	constructor(route: string, method: string, status: number | undefined) {
		this.route = route
		this.method = method
		this.status = status
	}

	add(duration: Milliseconds): void {
		const seconds = duration / 1_000
		let at = 0
		while (at < BOUNDS.length && seconds > (BOUNDS[at] as Seconds)) at++
		this.buckets[at] = (this.buckets[at] ?? 0) + 1
		this.sum += seconds
	}
}

export class RequestCounts {
	/** Requests that were begun and not ended. */
	active = 0
	/** Series by their route: a few each, one for each method and status. */
	readonly #byRoute = new Map<string, RequestSeries[]>()
	/** Requests that have ended in one tick and aren't counted yet. */
	readonly #ended: Count[] = []
	/** Whether a request is being served that was deferred to the end of its tick. */
	#isDeferred = false
	#together = MAX_TOGETHER
	/** When the clock was last read. */
	#readAt: Milliseconds = 0

	/** Called for a request when its watch begins. */
	begin(): void {
		this.active++
	}

	/** Called once for each request that was begun. @param status of the reply; `undefined` if it wasn't sent completely */
	end(exchange: Exchange, status: number | undefined, duration: Milliseconds): void {
		this.active--
		this.#seriesOf(exchange.route ?? '', methodOf(exchange), status).add(duration)
	}

	/** Counts a request that has ended; while a deferred one is being served, together with others: see {@link MAX_TOGETHER}. */
	endCount(count: Count): void {
		this.#ended.push(count)
		if (!this.#isDeferred || this.#ended.length >= this.#together) this.countEnded()
	}

	/** Called before a deferred request is served. */
	beginDeferred(): void {
		this.#isDeferred = true
	}

	/** Called after it. @param isLast whether it was the last of its tick */
	endDeferred(isLast: boolean): void {
		this.#isDeferred = false
		if (isLast) this.countEnded()
	}

	/** Counts all requests that have ended: called before the counts are read. */
	countEnded(): void {
		const [first] = this.#ended
		if (first === undefined) return
		const now = steadyClock()
		const took = now - Math.max(this.#readAt, first.startedAt)
		this.#together = took < LONG * this.#ended.length ? MAX_TOGETHER : 1
		this.#readAt = now
		for (const count of this.#ended.splice(0)) count.add(now)
	}

	*series(): Iterable<RequestSeries> {
		for (const all of this.#byRoute.values()) yield* all
	}

	#seriesOf(route: string, method: string, status: number | undefined): RequestSeries {
		const known = this.#byRoute.get(route) ?? []
		for (const series of known) if (series.status === status && series.method === method) return series
		const series = new RequestSeries(route, method, status)
		this.#byRoute.set(route, [...known, series])
		return series
	}
}

/** The method served; if no handler was found, the one that was sent. */
function methodOf(exchange: Exchange): string {
	if (exchange.mount !== undefined) return exchange.method
	const sent = exchange.incoming.method ?? ''
	return isMethod(sent) ? sent : '_OTHER'
}

/** Counts one request. Doesn't listen for the end of its connection, which costs more than the rest of a `Watch`. */
export class Count implements Watched {
	readonly startedAt: Milliseconds
	readonly #exchange: Exchange
	readonly #counts: RequestCounts
	#status: number | undefined = undefined
	#hasEnded = false

	/** @param earlier the watch of a request of the same tick, whose start is reused: the clock is half of the cost */
	constructor(exchange: Exchange, counts: RequestCounts, earlier: Watched | undefined) {
		this.#exchange = exchange
		this.#counts = counts
		this.startedAt = earlier instanceof Count ? earlier.startedAt : steadyClock()
		counts.begin()
	}

	// Getters: fields would be written for each request.
	get isTraced(): boolean {
		return false
	}

	get isLazy(): boolean {
		return true
	}

	run<T>(answer: () => T): T {
		return answer()
	}

	step(): void {}

	failed(): void {}

	answered({ status }: Outcome): void {
		this.#status = status
	}

	end(isWhole: boolean): void {
		if (this.#hasEnded) return
		this.#hasEnded = true
		if (!isWhole) this.#status = undefined
		this.#counts.endCount(this)
	}

	/** Adds the request to its series. */
	add(now: Milliseconds): void {
		this.#counts.end(this.#exchange, this.#status, now - this.startedAt)
	}
}
