/**
 * `exchange/` holds the state of one request and its answer, and the types of its server (`app.ts`) and its mount.
 * `transport/` creates an `Exchange` for each request, the steps of `pipeline/` write it, `reply/` reads it, and handlers
 * see it through their view. It calls `request/` to decode query and body.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type Acl, type Authenticator, Credentials, type User } from '../auth/authenticator.ts'
import type { Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Method } from '../base/http.ts'
import { logSafely } from '../base/logger.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import { decodeQuery, type Fields } from '../request/body/form.ts'
import { Body, type BodySource } from '../request/body.ts'
import { type Incoming, traceOf } from '../request/incoming.ts'
import { Request, type RequestSource } from '../request/request.ts'
import { loggedPath } from '../request/url.ts'
import type { Action } from './action.ts'
import type { App } from './app.ts'
import type { Watched } from './watched.ts'

/** A header of the answer: its name as sent, and its value or values. */
export type HeaderLine = readonly [name: string, value: string | readonly string[]]

const NO_PARAMS: readonly string[] = []
/** Request ids accepted from clients. Ids go into headers and log lines, so any other id is replaced by a new one. */
const SAFE_ID = /^[\w.~:@/+=-]{1,128}$/

/** What emits `close` when the client disconnects: node's response, its socket, or its HTTP/2 stream. */
export interface Closable {
	readonly destroyed?: boolean | undefined
	once(event: 'close', call: () => void): unknown
	off(event: 'close', call: () => void): unknown
}

/**
 * Who may send an `Idempotency-Key`: `'user'`, known users only (anonymous requests with a key are refused);
 * `'anyone'`; or `'off'`: the header has no effect, and methods may read it themselves.
 */
export type IdempotencyKeys = 'user' | 'anyone' | 'off'

type TimeoutCode = 'request_timeout' | 'unavailable'

/** A function called around methods. */
export interface Hook {
	/** Its name in messages: `Blog.before()`. */
	readonly name: string
	/** `given` is the value for `after`, the error for `onError`. */
	readonly run: (view: object, given: unknown) => unknown
}

/** The hooks of a mount, in calling order. */
export interface Hooks {
	readonly before: readonly Hook[]
	readonly after: readonly Hook[]
	readonly onError: readonly Hook[]
}

/** What determines the route of a request. */
export interface RouteFacts {
	readonly action: Action | undefined
	/** The custom route that matched, as declared: `GET|POST custom/%s`. */
	readonly customRoute: string | undefined
	readonly params: readonly unknown[]
}

/** What a request needs to know about its mount. */
export interface MountFacts {
	/** The handler path's segments, decoded. */
	readonly path: readonly string[]
	/** Class name of the handler, for messages and descriptions. */
	readonly name: string
	/** Its name in logs, events and traces: its class name, or its path if many handlers share the class. */
	readonly label: string
	/** The template of a request's route, from the server's root: `/blog/article/{id}`. */
	readonly routeOf: (routed: RouteFacts) => string | undefined
	/** Whether answers get the envelope. */
	readonly wrap: boolean
	/** Changes the bodies of errors, except problem details; `undefined` if they stay as they are. */
	readonly errorBody: ((body: object, error: RestError) => object) | undefined
	/** Whether its requests log nothing. */
	readonly silent: boolean
	readonly authenticator: Authenticator | undefined
	readonly acl: Acl | undefined
	readonly idempotencyKeys: IdempotencyKeys
	/** The lines of `Deprecation`, `Sunset` and `Link` for every answer; alternating names and values. */
	readonly deprecation: readonly string[] | undefined
	/** The hooks of server and handler; `undefined` when there are none. */
	readonly hooks: Hooks | undefined
	/** The `this` of a request's methods and hooks. */
	readonly view: (exchange: Exchange) => object
}

/** An exchange after routing: its URL and method have led to an action. */
export type Routed = Exchange & { readonly mount: MountFacts; readonly action: Action }

export class Exchange implements Due, RequestSource, BodySource, RouteFacts {
	readonly app: App
	readonly incoming: Incoming

	// Routing: written by steps 1 to 6 of `answer`.
	/** The method served, after X-HTTP-Method-Override. */
	method: Method = 'GET'
	queryText = ''
	/** The host of an absolute-form target. */
	authority: string | undefined = undefined
	mount: MountFacts | undefined = undefined
	action: Action | undefined = undefined
	params: readonly (string | number)[] = NO_PARAMS
	/** The custom route that matched, as declared. */
	customRoute: string | undefined = undefined

	// The caller: written by `credentials.ts`, or by the method.
	user: User | null = null
	/** Set when the request must run only once. */
	idempotencyKey: string | undefined = undefined

	// The answer: written by the method, its hooks, and errors.
	/** The request's `this`, kept when hooks share it with the method. */
	view: object | undefined = undefined
	/** Status set by the method; 0 for the default. */
	status = 0
	/** Headers set by the method, by lower-case name. */
	headerLines: Map<string, HeaderLine> | undefined = undefined
	/** `RateLimit` headers, sent with every answer, errors included: alternating names and values. */
	rateLimitLines: readonly string[] | undefined = undefined
	/** The error recorded by `this.error()`, or thrown by a check that wasn't awaited. */
	failure: RestError | undefined = undefined
	/** Whether it is unknown if the method took effect. */
	isOutcomeUnknown = false
	/** Set when a change is stored, or a step fails after the method: a retry with the same key must not run it again. */
	isDone = false
	/** Set once the answer is being sent: later calls of `this.status()` and the like only log. */
	isReplied = false

	// The deadline, Infinity while none is set: the first step that waits sets one. See `base/deadlines.ts`.
	due: Milliseconds = Number.POSITIVE_INFINITY
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	isWaiting = false
	timeoutCode: TimeoutCode = 'unavailable'
	/** Releases what the request holds when it is cancelled. */
	onCancel: (() => void) | undefined = undefined

	// The connection: written by `transport/`.
	/** Sends an error instead of the pending answer; set while an answer is awaited or streamed. */
	interrupt: ((error: RestError) => void) | undefined = undefined
	/** Set when the connection must close after the answer. */
	isLast = false
	/** Set when the rest of the request can't or must not be read. */
	isUnreadable = false
	connection: Closable | undefined = undefined
	/** Records how many bytes of the answer's body are unsent, once it waits: see `UnsentAnswers.counter`. */
	countUnsent: ((body: Bytes | undefined) => void) | undefined = undefined
	/** Sends `100 Continue`, once, if the client waits for it. */
	sendContinue: (() => void) | undefined = undefined
	/** Set when the request is logged, traced, timed or counted. */
	watch: Watched | undefined = undefined

	#body: Body | undefined = undefined
	#query: Fields | undefined = undefined
	#request: Request | undefined = undefined
	#id: string | undefined = undefined
	#abort: AbortController | undefined = undefined
	#credentials: Credentials | undefined = undefined
	#checks: Promise<unknown>[] | undefined = undefined

	constructor(app: App, incoming: Incoming) {
		this.app = app
		this.incoming = incoming
	}

	get headers(): IncomingHttpHeaders {
		return this.incoming.headers
	}

	/** Whether this is real HTTP/2, which alone has pseudo-headers: node reports 2 for `HTTP/2.0` on a request line, too. */
	get isHttp2(): boolean {
		return this.incoming.httpVersionMajor === 2 && this.incoming.headers[':method'] !== undefined
	}

	get body(): Body {
		this.#body ??= new Body(this)
		return this.#body
	}

	/** The results of authenticators for this request. */
	get credentials(): Credentials {
		this.#credentials ??= new Credentials()
		return this.#credentials
	}

	/** The decoded query, with all values of each name. */
	query(): Fields {
		this.#query ??= decodeQuery(this.queryText)
		return this.#query
	}

	/** The query or a form's fields, with lists for repeated names. */
	withLists(source: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
		return source === this.#query?.last ? this.#query.lists() : this.body.withLists(source)
	}

	/** Requires a body that matches its Content-Digest. The 401 has the authenticator's challenge, else `challenge`. */
	requireDigest(challenge: Readonly<Record<string, string>>): void {
		this.body.requireDigest(this.mount?.authenticator?.challenge ?? challenge)
	}

	/** The template of the route, as the description has it; `undefined` if there is no action. */
	get route(): string | undefined {
		return this.mount?.routeOf(this)
	}

	get request(): Request {
		this.#request ??= new Request(this)
		return this.#request
	}

	target(): string {
		const { originalUrl, url } = this.incoming
		return typeof originalUrl === 'string' ? originalUrl : (url ?? '/')
	}

	ip(): string {
		return this.app.proxies.address(this.incoming)
	}

	host(): string {
		const forwarded = this.app.proxies.forwarded?.(this.incoming, 'x-forwarded-host')
		// HTTP/2's :authority takes precedence over Host (RFC 9113 §8.3.1).
		const pseudo = this.headers[':authority']
		const named = typeof pseudo === 'string' ? pseudo : this.headers.host
		return this.authority ?? forwarded ?? named ?? ''
	}

	protocol(): 'http' | 'https' {
		const forwarded = this.app.proxies.forwarded?.(this.incoming, 'x-forwarded-proto')
		if (forwarded !== undefined) return forwarded.toLowerCase() === 'https' ? 'https' : 'http'
		return this.incoming.socket?.encrypted === true ? 'https' : 'http'
	}

	id(): string {
		if (this.#id === undefined) {
			const name = this.app.requestId
			const sent = name === undefined ? undefined : this.headers[name]
			this.#id = typeof sent === 'string' && SAFE_ID.test(sent) ? sent : crypto.randomUUID()
		}
		return this.#id
	}

	signal(): AbortSignal {
		if (this.#abort === undefined) {
			const abort = new AbortController()
			this.#abort = abort
			if (this.due === Number.NEGATIVE_INFINITY) abort.abort(tooLate())
			else if (this.connection?.destroyed === true) abort.abort(gone())
			else this.connection?.once('close', () => this.isReplied || abort.abort(gone()))
		}
		return this.#abort.signal
	}

	get isAborted(): boolean {
		return this.#abort?.signal.aborted === true
	}

	/** @throws TypeError if neither the handler nor the server declares an acl */
	acl(): Acl {
		const acl = this.mount?.acl
		if (acl !== undefined) return acl
		throw new TypeError(
			'this.can() and this.requireAcl() need an acl: declare it on the handler or the server',
		)
	}

	/** Registers a check that must pass before an answer is sent: its refusal wins even if the method doesn't await it. */
	addCheck(check: Promise<unknown>): void {
		// `pendingChecks` reports the refusal; it must not become an unhandled rejection.
		check.catch(() => {})
		this.#checks ??= []
		this.#checks.push(check)
	}

	/** All checks that the method began, awaited or not; `undefined` when there are none. */
	pendingChecks(): Promise<unknown> | undefined {
		// If a streamed body doesn't match its signed digest, or wasn't read to its end, the request is refused.
		const unverified = this.#body?.unverified
		if (unverified !== undefined) return Promise.reject(unverified)
		return this.#checks === undefined ? undefined : Promise.all(this.#checks)
	}

	/** Sets the deadline to `time` from now, and the error code for when it passes. */
	setDeadline(time: Milliseconds, code: TimeoutCode): void {
		this.timeoutCode = code
		this.due = time === Number.POSITIVE_INFINITY ? time : this.app.deadlines.clock() + time
	}

	/** Sets the deadline of the method: its time to the first byte of the answer. */
	setHandlerDeadline(): void {
		this.setDeadline(this.action?.streaming?.handlerTimeout ?? this.app.handlerTimeout, 'unavailable')
	}

	/** Aborts the signal when the client has disconnected during the answer. */
	abort(): void {
		this.#abort?.abort(gone())
	}

	expire(): void {
		// If the body came too slowly, its rest isn't read.
		this.isUnreadable = this.timeoutCode === 'request_timeout'
		this.cancel(this.timeoutCode === 'unavailable' ? tooLate() : new RestError('request_timeout'))
	}

	/** Answers with an error instead of the pending answer, and aborts the signal. */
	cancel(error: RestError): void {
		this.due = Number.NEGATIVE_INFINITY
		this.#body?.destroyStream(error)
		this.interrupt?.(error)
		this.#abort?.abort(error)
		this.onCancel?.()
	}

	/** Logs, unless the handler is `silent`. */
	log(level: 'info' | 'warn' | 'error', message: string, error?: unknown): void {
		if (this.mount?.silent === true) return
		const fields = {
			requestId: this.id(),
			method: this.method,
			url: loggedPath(this.target()),
			handler: this.mount?.label,
			action: this.action?.name,
			...traceOf(this.headers.traceparent),
			...(error === undefined ? undefined : { err: error }),
		}
		logSafely(this.app.logger, level, fields, message)
	}
}

/** The reason of `request.signal` when the client disconnects. */
function gone(): DOMException {
	return new DOMException('The client is gone', 'AbortError')
}

function tooLate(): RestError {
	return new RestError('unavailable', 'The answer took too long')
}
