/**
 * `Exchange`: the state of one request and of the answer that is being made. Handlers see it through
 * their view; the steps in `pipeline/answer.ts` write it.
 */
import type { Acl, Authenticator, User } from '../auth/authenticator.ts'
import type { Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Milliseconds } from '../base/time.ts'
import { Content } from '../request/content.ts'
import type { Incoming } from '../request/incoming.ts'
import { Request, type RequestSource } from '../request/request.ts'
import { traceOf } from '../request/traceparent.ts'
import { loggedPath } from '../request/url.ts'
import type { CompiledSpec, Spec } from '../validate/validate.ts'
import type { App } from './app.ts'
import { gone, tooLate } from './cut-short.ts'
import type { MountFacts } from './mount-facts.ts'
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

export class Exchange extends Content implements Due, RequestSource {
	readonly app: App
	authority: string | undefined = undefined
	mount: MountFacts | undefined = undefined
	params: readonly (string | number)[] = NO_PARAMS
	/** The `this` of the request, where more than its method is called on it. */
	view: object | undefined = undefined
	user: User | null = null
	/** Status asked for by the method; 0 for the usual one. */
	status = 0
	/** Headers asked for by the method, by lower-case name. */
	headerLines: Map<string, HeaderLine> | undefined = undefined
	/** Headers that any answer has, also an error's: names and values in turn. */
	standing: readonly string[] | undefined = undefined
	/** Under which the request is run once. */
	idempotencyKey: string | undefined = undefined
	/** Whether what was answered may have been done, or not. */
	isOutcomeUnknown = false
	/** Set when the method has returned, and something behind it has failed. */
	isDone = false
	/** The error that `this.error()` recorded, or that an un-awaited check threw. */
	failure: RestError | undefined = undefined
	/** Set once the answer is decided: later calls only log. */
	replied = false
	due: Milliseconds = Number.POSITIVE_INFINITY
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	waiting = false
	/** What is answered when `due` is over. */
	late: 'request_timeout' | 'unavailable' = 'unavailable'
	/** Lets go of what is held for whoever is late. */
	whenLate: (() => void) | undefined = undefined
	/** Answers in place of whoever is late or gone; set by the listener while somebody is waited for. */
	interrupt: ((error: RestError) => void) | undefined = undefined
	/** Set when the connection can't go on after the answer. */
	closes = false
	/** Set when nothing more of the request can or should be taken in. */
	broken = false
	/** What tells when the client is gone; set by the listener. */
	connection: Closable | undefined = undefined
	/** Set where somebody wants to know how the request goes. */
	watch: Watched | undefined = undefined
	#request: Request | undefined = undefined
	#id: string | undefined = undefined
	#abort: AbortController | undefined = undefined
	#asked: Map<Authenticator, Promise<User | null>> | undefined = undefined
	#checks: Promise<unknown>[] | undefined = undefined

	constructor(app: App, incoming: Incoming) {
		super(incoming)
		this.app = app
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
		const forwarded = this.app.proxies.forwarded(this.incoming, 'x-forwarded-host')
		// HTTP/2's :authority comes before Host, which must not be used beside it (RFC 9113 §8.3.1).
		const pseudo = this.headers[':authority']
		const named = typeof pseudo === 'string' ? pseudo : this.headers.host
		return this.authority ?? forwarded ?? named ?? ''
	}

	protocol(): 'http' | 'https' {
		const forwarded = this.app.proxies.forwarded(this.incoming, 'x-forwarded-proto')
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

	/** Every 401 has the challenge of the authenticator that is declared, also one that comes with the body. */
	override requireDigest(challenge: Readonly<Record<string, string>>): void {
		super.requireDigest(this.mount?.authenticator?.challenge ?? challenge)
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

	/** Asks an authenticator who is calling: once a request, however often and wherever it is called. */
	ask(authenticator: Authenticator): Promise<User | null> {
		this.#asked ??= new Map()
		let answer = this.#asked.get(authenticator)
		if (answer === undefined) {
			answer = (async () => userOf(await authenticator.authenticate(this.request)))()
			this.#asked.set(authenticator, answer)
		}
		return answer
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
		if (this.unverified !== undefined) return Promise.reject(this.unverified)
		return this.#checks === undefined ? undefined : Promise.all(this.#checks)
	}

	/** The user, or the refusal of whoever sent no credentials. */
	async requireUser(authenticator: Authenticator): Promise<User> {
		const user = await this.ask(authenticator)
		if (user === null) {
			throw new RestError('unauthorized', undefined, { headers: authenticator.challenge ?? {} })
		}
		this.user = user
		return user
	}

	/** Waits from now on at most `time` for what comes next. */
	allow(time: Milliseconds, late: 'request_timeout' | 'unavailable'): void {
		this.late = late
		this.due = time === Number.POSITIVE_INFINITY ? time : this.app.deadlines.clock() + time
	}

	/** The client has left within the answer: whoever is making it is told by the signal. */
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
		this.cutStream(error)
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

/** What is no user would pass for one: `users.get(key)` answers undefined for a wrong key. */
function userOf(answer: User | null): User | null {
	if (answer === null || typeof answer?.id === 'string') return answer
	throw new TypeError("authenticate() must answer a user, { id: '…' }, or null for no credentials")
}
