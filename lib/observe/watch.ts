/**
 * Observes requests for the log, listeners, tracers, `Server-Timing` and metrics: a `Watch` follows one request from its head
 * to the last byte of its reply, and is created only if one of these needs it. If only metrics do, a `Count` is created
 * instead. `transport/` creates and ends it, the pipeline reports its steps; it calls the logger, `events.ts` and `trace.ts`.
 */
import { type Logger, logSafely } from '../base/logger.ts'
import { type Milliseconds, steadyClock } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { isFailure, type Outcome, type Step, type Watched } from '../exchange/watched.ts'
import { traceOf } from '../request/incoming.ts'
import { loggedPath } from '../request/url.ts'
import { Events, type RequestFacts, type ServedRequest } from './events.ts'
import { Count, type RequestCounts } from './request-counts.ts'
import { REQUESTS, RequestTrace } from './trace.ts'

export class Observers {
	readonly events: Events
	readonly logger: Logger
	/** Whether each request is logged. @default whether a logger is given */
	readonly logRequests: boolean
	/** Whether replies have a `Server-Timing` header with the duration of each step. */
	readonly serverTiming: boolean
	/** `undefined` without the option `metrics`. */
	readonly counts: RequestCounts | undefined

	constructor(
		logger: Logger,
		{ logRequests, serverTiming }: Pick<Observers, 'logRequests' | 'serverTiming'>,
		counts?: RequestCounts,
	) {
		this.events = new Events(logger)
		this.logger = logger
		this.logRequests = logRequests
		this.serverTiming = serverTiming
		this.counts = counts
	}

	/** Whether anything observes requests at the moment: listeners come and go. */
	get isActive(): boolean {
		return this.counts !== undefined || this.#isWatching
	}

	get #isWatching(): boolean {
		return this.logRequests || this.serverTiming || this.events.entries.length > 0 || REQUESTS.hasSubscribers
	}

	/** Begins to watch a request. Called only while `isActive`. @param earlier the watch of a request of the same tick */
	watch(exchange: Exchange, earlier: Watched | undefined): Watched {
		return this.counts === undefined || this.#isWatching
			? new Watch(exchange, this)
			: new Count(exchange, this.counts, earlier)
	}
}

interface StepTiming {
	readonly name: Step
	readonly duration: Milliseconds
}

export class Watch implements Watched {
	readonly isLazy = false
	readonly #exchange: Exchange
	readonly #observers: Observers
	readonly #startedAt: Milliseconds
	/** Read at the start: a closed connection has no address. */
	readonly #ip: string
	readonly #trace: RequestTrace | undefined
	readonly #timings: StepTiming[] = []
	#step: Step | undefined
	#stepStartedAt: Milliseconds = 0
	#status: number | undefined
	#bytes: number | undefined
	#hasFailed = false
	#hasEnded = false

	constructor(exchange: Exchange, observers: Observers) {
		this.#exchange = exchange
		this.#observers = observers
		this.#startedAt = steadyClock()
		this.#ip = exchange.ip()
		this.#trace = REQUESTS.hasSubscribers ? new RequestTrace(exchange) : undefined
		observers.counts?.begin()
	}

	get isTraced(): boolean {
		return this.#trace !== undefined
	}

	run<T>(answer: () => T): T {
		const trace = this.#trace
		if (trace === undefined) return answer()
		try {
			return REQUESTS.start.runStores(trace, answer)
		} finally {
			REQUESTS.end.publish(trace)
		}
	}

	step(name: Step): void {
		if (!this.#observers.serverTiming) return
		const now = steadyClock()
		this.#endStep(now)
		this.#step = name
		this.#stepStartedAt = now
	}

	failed(error: unknown): void {
		if (this.#hasFailed || this.#hasEnded) return
		this.#hasFailed = true
		const { events } = this.#observers
		if (events.has('error')) events.emit('error', { ...this.#facts(), error })
		if (this.#trace === undefined) return
		this.#trace.error = error
		REQUESTS.error.publish(this.#trace)
	}

	answered(outcome: Outcome): void {
		this.#status = outcome.status
		this.#bytes = lengthOf(outcome)
		if (this.#trace !== undefined) {
			this.#trace.status = this.#status
			this.#trace.bytes = this.#bytes
		}
		if (this.#observers.serverTiming) outcome.headers.push('Server-Timing', this.#timing())
	}

	end(isWhole: boolean): void {
		if (this.#hasEnded) return
		this.#hasEnded = true
		const { logRequests, events, counts } = this.#observers
		counts?.end(this.#exchange, isWhole ? this.#status : undefined, steadyClock() - this.#startedAt)
		const isLogged = logRequests && this.#exchange.mount?.silent !== true
		if (isLogged || events.has('request')) {
			const served = this.#served(isWhole)
			if (isLogged) this.#log(served)
			events.emit('request', served)
		}
		if (this.#trace === undefined) return
		this.#trace.aborted = !isWhole
		// Published for synchronous requests, too: a tracer ends its span here, after the reply is written.
		REQUESTS.asyncStart.publish(this.#trace)
		REQUESTS.asyncEnd.publish(this.#trace)
	}

	#endStep(now: Milliseconds): void {
		if (this.#step !== undefined)
			this.#timings.push({ name: this.#step, duration: now - this.#stepStartedAt })
		this.#step = undefined
	}

	/** The value of `Server-Timing` (W3C Server Timing): `total;dur=12.3, auth;dur=1.2`. */
	#timing(): string {
		const now = steadyClock()
		this.#endStep(now)
		const all = [{ name: 'total', duration: now - this.#startedAt }, ...this.#timings]
		return all.map(({ name, duration }) => `${name};dur=${rounded(duration)}`).join(', ')
	}

	#log(served: ServedRequest): void {
		const { logger } = this.#observers
		const { status = 0, aborted } = served
		const level = this.#hasFailed || isFailure(status) ? 'error' : 'info'
		logSafely(logger, level, served, aborted === true ? 'request aborted' : 'request')
	}

	/** Sets present fields one by one: spreading an object for each would take ten times as long. */
	#served(isWhole: boolean): ServedRequest {
		const { user } = this.#exchange
		const served: Writable<ServedRequest> = Object.assign(this.#facts(), {
			durationMs: rounded(steadyClock() - this.#startedAt),
			ip: this.#ip,
		})
		if (this.#status !== undefined) served.status = this.#status
		if (this.#bytes !== undefined) served.bytes = this.#bytes
		if (user !== null) served.userId = user.id
		if (!isWhole) served.aborted = true
		return served
	}

	#facts(): RequestFacts {
		const { incoming, method, mount, action, headers } = this.#exchange
		const facts: Writable<RequestFacts> = {
			requestId: this.#exchange.id(),
			method: mount === undefined ? (incoming.method ?? '') : method,
			url: loggedPath(this.#exchange.target()),
		}
		if (mount !== undefined) facts.handler = mount.label
		if (action !== undefined) facts.action = action.name
		const { route } = this.#exchange
		if (route !== undefined) facts.route = route
		const trace = traceOf(headers.traceparent)
		if (trace !== undefined) facts.traceId = trace.traceId
		return facts
	}
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Length in bytes; `undefined` for a stream. */
function lengthOf({ body, ascii }: Outcome): number | undefined {
	if (body === null) return 0
	if (typeof body === 'string') return ascii === true ? body.length : Buffer.byteLength(body)
	return body instanceof Uint8Array ? body.byteLength : undefined
}

function rounded(time: Milliseconds): Milliseconds {
	return Math.round(time * 1_000) / 1_000
}
