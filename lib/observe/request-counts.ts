/**
 * `RequestCounts`: how many requests a server has answered, by route, method and status, and how long they took; for the
 * page of `metrics/`. `Count` follows one request, if nothing but its count is needed: see `watch.ts`. There are only as many
 * series as routes × methods × statuses, and all of these are the server's: what clients send makes none.
 */
import { isMethod } from '../base/http.ts'
import { type Clock, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Outcome, Watched } from '../exchange/watched.ts'

/** Upper bounds of the buckets, those of OpenTelemetry's `http.server.request.duration`. */
export const BOUNDS: readonly Seconds[] = [
	...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
]

/** The requests with the same route, method and status. */
export class RequestSeries {
	/** `/article/{id}`; empty if no action was found. */
	readonly route: string
	/** `_OTHER`, as OpenTelemetry has it, for all that aren't served. */
	readonly method: string
	/** `200`; `aborted` if the reply was not sent completely. */
	readonly status: string
	/** How many there are up to each bound, and not up to the one before; last, those above all bounds. */
	readonly buckets: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0)
	sum: Seconds = 0

	constructor(route: string, method: string, status: number) {
		this.route = route
		this.method = method
		this.status = status === ABORTED ? 'aborted' : String(status)
	}

	add(duration: Milliseconds): void {
		const seconds = duration / 1_000
		let at = 0
		while (at < BOUNDS.length && seconds > (BOUNDS[at] as Seconds)) at++
		this.buckets[at] = (this.buckets[at] ?? 0) + 1
		this.sum += seconds
	}
}

/** In place of a status. */
const ABORTED = 0

/** Series by status, by method, by route. */
type Routes = Map<string, Map<string, Map<number, RequestSeries>>>

export class RequestCounts {
	/** Requests that were begun and not ended. */
	active = 0
	readonly #routes: Routes = new Map()

	/** Called for a request when its watch begins. */
	begin(): void {
		this.active++
	}

	/** Called once for each request that was begun. @param status of the reply; `undefined` if it wasn't sent completely */
	end(exchange: Exchange, status: number | undefined, duration: Milliseconds): void {
		this.active--
		const route = exchange.route ?? ''
		const method = methodOf(exchange)
		const code = status ?? ABORTED
		const series = this.#routes.get(route)?.get(method)?.get(code) ?? this.#add(route, method, code)
		series.add(duration)
	}

	*series(): Iterable<RequestSeries> {
		for (const methods of this.#routes.values())
			for (const statuses of methods.values()) yield* statuses.values()
	}

	#add(route: string, method: string, status: number): RequestSeries {
		const methods = this.#routes.get(route) ?? new Map()
		const statuses = methods.get(method) ?? new Map()
		const series = new RequestSeries(route, method, status)
		this.#routes.set(route, methods.set(method, statuses.set(status, series)))
		return series
	}
}

/** The method served; if no handler was found, the one that was sent. */
function methodOf(exchange: Exchange): string {
	if (exchange.mount !== undefined) return exchange.method
	const sent = exchange.incoming.method ?? ''
	return isMethod(sent) ? sent : '_OTHER'
}

/** Counts one request, without listening for the end of its connection, which costs more than all else of a `Watch`. */
export class Count implements Watched {
	readonly isTraced = false
	readonly isLazy = true
	readonly #exchange: Exchange
	readonly #counts: RequestCounts
	readonly #clock: Clock
	readonly #startedAt: Milliseconds
	#status: number | undefined = undefined
	#hasEnded = false

	constructor(exchange: Exchange, counts: RequestCounts, clock: Clock = steadyClock) {
		this.#exchange = exchange
		this.#counts = counts
		this.#clock = clock
		this.#startedAt = clock()
		counts.begin()
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
		this.#counts.end(this.#exchange, isWhole ? this.#status : undefined, this.#clock() - this.#startedAt)
	}
}
