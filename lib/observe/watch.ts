/**
 * Observing requests, for the log, listeners, tracers and `Server-Timing`: a `Watch` follows one request from its head to the
 * last byte of its reply, and is made only where one of these wants it. `transport/` makes it and ends it, the pipeline
 * reports its steps; it calls the logger, `events.ts` and `trace.ts`.
 */
import type { Logger } from '../base/logger.ts'
import { type Clock, type Milliseconds, steadyClock } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { isFailure, type Outcome, type Step, type Watched } from '../exchange/watched.ts'
import { traceOf } from '../request/incoming.ts'
import { loggedPath } from '../request/url.ts'
import { Events, type RequestFacts, type ServedRequest } from './events.ts'
import { REQUESTS, RequestTrace } from './trace.ts'

/** The options, checked and complete. */
interface Observing {
	/** Whether each request is logged. @default whether a logger is given */
	readonly logRequests: boolean
	/** Whether replies have `Server-Timing`, with how long each step took. */
	readonly serverTiming: boolean
}

/** What observes the requests of one server. */
export class Watching {
	readonly events: Events
	readonly logger: Logger
	readonly logs: boolean
	readonly times: boolean
	readonly #always: boolean

	constructor(logger: Logger, { logRequests, serverTiming }: Observing) {
		this.events = new Events(logger)
		this.logger = logger
		this.logs = logRequests
		this.times = serverTiming
		this.#always = logRequests || serverTiming
	}

	/** Whether anything observes now: listeners come and go. */
	get isOn(): boolean {
		return this.#always || this.events.entries.length > 0 || REQUESTS.hasSubscribers
	}
}

/** How long a step took. */
interface Lap {
	readonly name: Step
	readonly time: Milliseconds
}

export class Watch implements Watched {
	readonly #exchange: Exchange
	readonly #watching: Watching
	readonly #clock: Clock
	readonly #begun: Milliseconds
	/** Read at once: a closed connection doesn't know its address any more. */
	readonly #ip: string
	readonly #trace: RequestTrace | undefined
	#laps: Lap[] = []
	#step: Step | undefined
	#stepBegun: Milliseconds = 0
	#status: number | undefined
	#bytes: number | undefined
	#hasFailed = false
	#isOver = false

	constructor(exchange: Exchange, watching: Watching, clock: Clock = steadyClock) {
		this.#exchange = exchange
		this.#watching = watching
		this.#clock = clock
		this.#begun = clock()
		this.#ip = exchange.ip()
		this.#trace = REQUESTS.hasSubscribers ? new RequestTrace(exchange) : undefined
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
		if (!this.#watching.times) return
		const now = this.#clock()
		this.#lap(now)
		this.#step = name
		this.#stepBegun = now
	}

	failed(error: unknown): void {
		if (this.#hasFailed || this.#isOver) return
		this.#hasFailed = true
		const { events } = this.#watching
		if (events.has('error')) events.emit('error', { ...this.#facts(), error })
		if (this.#trace === undefined) return
		this.#trace.error = error
		REQUESTS.error.publish(this.#trace)
	}

	answered(outcome: Outcome): void {
		this.#status = outcome.status
		// An early refusal doesn't look at the method; Node sends no body for HEAD.
		this.#bytes = this.#exchange.incoming.method === 'HEAD' ? 0 : lengthOf(outcome)
		if (this.#trace !== undefined) {
			this.#trace.status = this.#status
			this.#trace.bytes = this.#bytes
		}
		if (this.#watching.times) outcome.headers.push('Server-Timing', this.#timing())
	}

	/** Ends the request; `isWhole` where its reply was sent completely. */
	end(isWhole: boolean): void {
		if (this.#isOver) return
		this.#isOver = true
		const { logs, events } = this.#watching
		const isLogged = logs && this.#exchange.mount?.silent !== true
		if (isLogged || events.has('request')) {
			const served = this.#served(isWhole)
			if (isLogged) this.#log(served)
			events.emit('request', served)
		}
		if (this.#trace === undefined) return
		this.#trace.aborted = !isWhole
		// Published once the reply is written, for synchronous requests too: here a span ends.
		REQUESTS.asyncStart.publish(this.#trace)
		REQUESTS.asyncEnd.publish(this.#trace)
	}

	#lap(now: Milliseconds): void {
		if (this.#step !== undefined) this.#laps.push({ name: this.#step, time: now - this.#stepBegun })
		this.#step = undefined
	}

	/** As in W3C Server Timing: `total;dur=12.3, auth;dur=1.2`. */
	#timing(): string {
		const now = this.#clock()
		this.#lap(now)
		const all = [{ name: 'total', time: now - this.#begun }, ...this.#laps]
		return all.map(({ name, time }) => `${name};dur=${rounded(time)}`).join(', ')
	}

	#log(served: ServedRequest): void {
		const { logger } = this.#watching
		const { status = 0, aborted } = served
		const level = this.#hasFailed || isFailure(status) ? 'error' : 'info'
		// In an event of the response, an error of the logger would end the process.
		try {
			logger[level](served, aborted === true ? 'request aborted' : 'request')
		} catch {}
	}

	/** Leaves out empty fields, one by one: spreading an object for each takes ten times as long. */
	#served(isWhole: boolean): ServedRequest {
		const { user } = this.#exchange
		const served: Writable<ServedRequest> = Object.assign(this.#facts(), {
			durationMs: rounded(this.#clock() - this.#begun),
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
		if (mount !== undefined) facts.handler = mount.name
		if (action !== undefined) facts.action = action.name
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

/** To the microsecond. */
function rounded(time: Milliseconds): Milliseconds {
	return Math.round(time * 1_000) / 1_000
}
