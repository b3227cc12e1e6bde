/**
 * `Exchange`: the state of one request and of the answer to it. `transport/serving.ts` makes one for each request, the steps
 * of `pipeline/answer.ts` write it, and handlers read it through their view.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Acl, Authenticator, User } from '../auth/authenticator.ts'
import { Credentials } from '../auth/credentials.ts'
import type { Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Method } from '../base/http.ts'
import type { Milliseconds } from '../base/time.ts'
import { decodeQuery, type Fields } from '../request/body/form.ts'
import { Body, type BodySource } from '../request/body.ts'
import { type Incoming, traceOf } from '../request/incoming.ts'
import { Request, type RequestSource } from '../request/request.ts'
import { loggedPath } from '../request/url.ts'
import type { CompiledSpec, Spec } from '../validate/validate.ts'
import type { Action } from './action.ts'
import type { App } from './app.ts'
import type { Watched } from './watched.ts'

/** A header of the answer: its name as it is sent, and its value or values. */
export type HeaderLine = readonly [name: string, value: string | readonly string[]]

const NO_PARAMS: readonly string[] = []
/** What a request id may look like when it comes from outside: it goes into headers and log lines. */
const SAFE_ID = /^[\w.~:@/+=-]{1,128}$/

/** What closes when the client leaves: node's response, its socket, or its HTTP/2 stream. */
export interface Closable {
	readonly destroyed?: boolean | undefined
	once(event: 'close', call: () => void): unknown
	off(event: 'close', call: () => void): unknown
}

/**
 * Whose requests with an `Idempotency-Key` are run once: those of a `'user'`, others being refused; those of
 * `'anyone'`; or nobody's, the header being left to the methods (`'off'`).
 */
export type IdempotencyKeys = 'user' | 'anyone' | 'off'

/** A function that is called around methods. */
export interface Hook {
	/** As messages call it: `Blog.before()`. */
	readonly name: string
	/** `given` is the value for `after`, the error for `onError`. */
	readonly run: (view: object, given: unknown) => unknown
}

/** The hooks of a mount, in the order in which they are called. */
export interface Hooks {
	readonly before: readonly Hook[]
	readonly after: readonly Hook[]
	readonly onError: readonly Hook[]
}

/** What a request may ask of the mount that serves it. */
export interface MountFacts {
	/** The handler path's segments, decoded. */
	readonly path: readonly string[]
	/** Class name of the handler, for logs. */
	readonly name: string
	/** Whether answers are in the envelope. */
	readonly wrap: boolean
	/** Whether the logger is left alone. */
	readonly silent: boolean
	readonly authenticator: Authenticator | undefined
	readonly acl: Acl | undefined
	/** For whom an Idempotency-Key is kept. */
	readonly idempotencyKeys: IdempotencyKeys
	/** Header lines by which every answer tells of the handler's end; names and values in turn. */
	readonly deprecation: readonly string[] | undefined
	/** `undefined` where there are none. */
	readonly hooks: Hooks | undefined
	/** Makes the `this` of one request. */
	readonly view: (exchange: Exchange) => object
}

/** An exchange whose URL and method have led to an action. */
export type Routed = Exchange & { readonly mount: MountFacts; readonly action: Action }

export class Exchange implements Due, RequestSource, BodySource {
	readonly app: App
	readonly incoming: Incoming

	// What the request asks for: written by steps 1 to 6 of `answer`.
	/** The method that is served: after X-HTTP-Method-Override. */
	method: Method = 'GET'
	queryText = ''
	/** The host of an absolute-form target. */
	authority: string | undefined = undefined
	mount: MountFacts | undefined = undefined
	action: Action | undefined = undefined
	params: readonly (string | number)[] = NO_PARAMS

	// Who asks: written by credentials, or by the method.
	user: User | null = null
	/** Under which the request is run once. */
	idempotencyKey: string | undefined = undefined

	// The answer, as far as it is known: written by the method, its hooks, and what goes wrong.
	/** The `this` of the request, where more than its method is called on it. */
	view: object | undefined = undefined
	/** Status asked for by the method; 0 for the usual one. */
	status = 0
	/** Headers asked for by the method, by lower-case name. */
	headerLines: Map<string, HeaderLine> | undefined = undefined
	/** Headers that any answer has, also an error's: names and values in turn. */
	standing: readonly string[] | undefined = undefined
	/** The error that `this.error()` recorded, or that an un-awaited check threw. */
	failure: RestError | undefined = undefined
	/** Whether what was answered may have been done, or not. */
	isOutcomeUnknown = false
	/** Set when the method has returned, and something behind it has failed. */
	isDone = false
	/** Set once the answer is decided: later calls only log. */
	replied = false

	// Its time: see `base/deadlines.ts`.
	due: Milliseconds = Number.POSITIVE_INFINITY
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	waiting = false
	/** What is answered when `due` is over. */
	late: 'request_timeout' | 'unavailable' = 'unavailable'
	/** Releases what is held for a request that is late. */
	whenLate: (() => void) | undefined = undefined

	// Its connection: written by `transport/`.
	/** Answers in place of a method that is late, or of a client that has left; set while an answer is awaited. */
	interrupt: ((error: RestError) => void) | undefined = undefined
	/** Set when the connection can't go on after the answer. */
	closes = false
	/** Set when nothing more of the request can or should be taken in. */
	broken = false
	/** What tells when the client is gone. */
	connection: Closable | undefined = undefined
	/** Sends `100 Continue`, once, if the client waits for it. */
	sendContinue: (() => void) | undefined = undefined
	/** Set where the request is logged, traced or timed. */
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

	/** What the request carries behind its head. */
	get body(): Body {
		this.#body ??= new Body(this)
		return this.#body
	}

	/** What authenticators have said of this request. */
	get credentials(): Credentials {
		this.#credentials ??= new Credentials()
		return this.#credentials
	}

	/** The decoded query, all values of each name. */
	query(): Fields {
		this.#query ??= decodeQuery(this.queryText)
		return this.#query
	}

	/** The query, or a form's fields, with all values of the names that came more than once. */
	withLists(source: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
		return source === this.#query?.last ? this.#query.lists() : this.body.withLists(source)
	}

	rawBody(): Buffer {
		return this.body.raw()
	}

	stream(): Readable {
		return this.body.stream()
	}

	/** Every 401 has the challenge of the authenticator that is declared, also one that comes with the body. */
	requireDigest(challenge: Readonly<Record<string, string>>): void {
		this.body.requireDigest(this.mount?.authenticator?.challenge ?? challenge)
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
		// HTTP/2's :authority comes before Host, which must not be used beside it (RFC 9113 §8.3.1).
		const pseudo = this.headers[':authority']
		const named = typeof pseudo === 'string' ? pseudo : this.headers.host
		return this.authority ?? forwarded ?? named ?? ''
	}

	protocol(): 'http' | 'https' {
		const forwarded = this.app.proxies.forwarded?.(this.incoming, 'x-forwarded-proto')
		if (forwarded !== undefined) return forwarded.toLowerCase() === 'https' ? 'https' : 'http'
		return this.incoming.socket?.encrypted === true ? 'https' : 'http'
	}

	// The global crypto, which node loads when it is first used: the module costs every start some milliseconds.
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
			else this.connection?.once('close', () => this.replied || abort.abort(gone()))
		}
		return this.#abort.signal
	}

	/** Whether whoever makes the answer was told to stop. */
	get isAborted(): boolean {
		return this.#abort?.signal.aborted === true
	}

	/** A spec that the method has passed before, compiled. */
	remembered(spec: Spec): CompiledSpec | undefined {
		return this.action?.memo.compiled(spec, this.app.validator)
	}

	/** @throws TypeError when neither the handler nor the server declares one */
	acl(): Acl {
		const acl = this.mount?.acl
		if (acl !== undefined) return acl
		throw new TypeError(
			'this.can() and this.requireAcl() need an acl: declare it on the handler or the server',
		)
	}

	/**
	 * Remembers a check that must hold before anything is answered: left un-awaited by the method, its
	 * refusal still wins.
	 */
	addCheck(check: Promise<unknown>): void {
		// `checked` finds the refusal; it must not end the process as an unhandled rejection.
		check.catch(() => {})
		this.#checks ??= []
		this.#checks.push(check)
	}

	/** All checks that the method has begun, awaited or not; `undefined` when there are none. */
	checked(): Promise<unknown> | undefined {
		// A body that flowed and isn't, or may not be, what was signed: whatever the method has made of it.
		const unverified = this.#body?.unverified
		if (unverified !== undefined) return Promise.reject(unverified)
		return this.#checks === undefined ? undefined : Promise.all(this.#checks)
	}

	/** Waits from now on at most `time` for what comes next. */
	allow(time: Milliseconds, late: 'request_timeout' | 'unavailable'): void {
		this.late = late
		this.due = time === Number.POSITIVE_INFINITY ? time : this.app.deadlines.clock() + time
	}

	/** Gives what is called from now on the time that a method has to the first byte of its answer. */
	allowMethod(): void {
		this.allow(this.action?.streaming?.handlerTimeout ?? this.app.handlerTimeout, 'unavailable')
	}

	/** The client has left within the answer: the signal tells what makes it. */
	abandon(): void {
		this.#abort?.abort(gone())
	}

	/** Its time is over. */
	expire(): void {
		// Who has sent nothing for so long won't miss the rest being taken in.
		this.broken = this.late === 'request_timeout'
		this.cancel(this.late === 'unavailable' ? tooLate() : new RestError('request_timeout'))
	}

	/** Answers an error in place of what is still being worked on, and tells the worker by its signal. */
	cancel(error: RestError): void {
		this.due = Number.NEGATIVE_INFINITY
		this.#body?.cut(error)
		this.interrupt?.(error)
		this.#abort?.abort(error)
		this.whenLate?.()
	}

	/** Logs, unless the handler asked for silence. */
	log(level: 'info' | 'warn' | 'error', message: string, error?: unknown): void {
		if (this.mount?.silent === true) return
		const fields = {
			requestId: this.id(),
			method: this.method,
			url: loggedPath(this.target()),
			handler: this.mount?.name,
			action: this.action?.name,
			...traceOf(this.headers.traceparent),
			...(error === undefined ? undefined : { err: error }),
		}
		this.app.logger[level](fields, message)
	}
}

/** What `request.signal` is aborted with when the client leaves. */
function gone(): DOMException {
	return new DOMException('The client is gone', 'AbortError')
}

function tooLate(): RestError {
	return new RestError('unavailable', 'The answer took too long')
}
