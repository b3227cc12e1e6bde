/**
 * `RestHandler`, the class that users extend: fields are declarations, hooks are for subclasses to override, and the other
 * members are for methods to use. `mount/` compiles it, `controller.ts` mounts it, and `view.ts` creates the `this` of a
 * request, through which members get the request's exchange.
 */
import type { File } from 'node:buffer'
import type { Acl, Authenticator, User } from '../auth/authenticator.ts'
import { RestError } from '../base/error.ts'
import type { Cache } from '../cache/cache.ts'
import type { AccessRules, CustomRoutes, Docs, RateLimits, Specs, Streaming } from '../exchange/action.ts'
import type { Exchange, IdempotencyKeys } from '../exchange/exchange.ts'
import { requireUser } from '../pipeline/credentials.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { setHeader, setStatus } from '../reply/headers.ts'
import { decodeAnyAsJson } from '../request/body/decode-body.ts'
import type { Request } from '../request/request.ts'
import type { KnownKeys } from '../validate/inferred.ts'
import type { Plan } from '../validate/plan.ts'
import {
	type Params,
	type ReadOptions,
	readParams,
	readParamsAsync,
	type Spec,
} from '../validate/validate.ts'
import type { Refused } from '../wire/codes.ts'
import type { Deprecated } from './mount/deprecated.ts'
import { exchangeOf, outsideRequest } from './view.ts'

/** What `before` may return: nothing, or a `reply()` that is sent instead of calling the method. */
export type BeforeAnswer = CustomReply<unknown> | Refused | undefined

/** What `onError` may return: nothing, or the error that is sent instead. */
export type ErrorAnswer = RestError | Refused | undefined

/** The hooks of `RestHandler`, for subclasses to override; one that isn't overridden is never called. */
export class HandlerHooks {
	/** Called once, and awaited, before the first request: open connections and other resources here. */
	init(): void | Promise<void> {}

	/**
	 * Called once after the last reply, when the server has closed (the last one, if several have mounted this handler):
	 * close here what `init` has opened. The handler is frozen by then. Errors are logged.
	 */
	dispose(): void | Promise<void> {}

	/**
	 * Called for each request to a method, after credentials, limits and access were checked, and before any of the body
	 * is read. If it throws, calls `this.error()`, or returns a `reply()`, that error or reply is sent, and the method
	 * isn't called. The method has the same `this`.
	 *
	 * @throws TypeError if it returns anything else, which is a 500
	 */
	before(): BeforeAnswer | void | Promise<BeforeAnswer> | Promise<void> {}

	/**
	 * Called with the method's return value (for a `reply()`, with the value in it), unless the result is an error. What
	 * `after` returns is sent instead; `undefined` changes nothing. It may set headers and status.
	 */
	after(_value: unknown): unknown {
		return undefined
	}

	/**
	 * Called with the error that would be sent: a `RestError`, or anything else that was thrown, which would be a 500. If
	 * it returns or throws a `RestError`, or calls `this.error()`, that error is sent instead.
	 */
	onError(_error: unknown): ErrorAnswer | void | Promise<ErrorAnswer> | Promise<void> {}
}

export type { Refused }

/** What can be mounted: a handler, its class, or a function that creates a handler for each request. */
export type Mountable = RestHandler | (new () => RestHandler) | (() => RestHandler)

/** Where handlers are mounted: `this.controller`, `server.controller`. */
export interface HandlerController {
	/** Mounts a handler at a path: `service('blog/api', new Blog())`. */
	service(path: string, handler: Mountable): void
}

/**
 * A class whose methods are the API: `get_article(id)` answers `GET <path>/article/<id>`.
 *
 *     class Blog extends RestHandler {
 *       get_article(id: string) { return articles.get(id) ?? this.error('No such article', 404) }
 *     }
 *
 * In a method, `this` is a view: properties set on it belong to the request, all others are those of the shared, frozen
 * handler.
 */
export class RestHandler extends HandlerHooks {
	/** Adds headers of deprecation: `{ since: '2026-01-31', sunset: '2026-12-31' }`. Not inherited. @default none */
	declare static readonly deprecated?: Deprecated

	/** Whether replies are in the envelope `{"success":true,"data":…}`. @default true */
	readonly wrap: boolean = true
	/** Whether nothing is logged, for unit tests. @default false */
	readonly suppressOutput: boolean = false
	/** More routes: `{ 'GET|POST custom/%s/page/%d': 'page' }`. A subclass's field replaces its parent's. */
	readonly customRoutes: CustomRoutes = {}
	/** Who may call which method, checked before the body is read. @default anyone may call any method */
	readonly access: AccessRules = {}
	/** How many requests one user (for anonymous requests, one address) may send, by method name. @default any number */
	readonly rateLimits: RateLimits = {}
	/**
	 * Which Idempotency-Keys are honoured: those of authenticated users (`'user'`), all (`'anyone'`), or none (`'off'`).
	 * @default 'user'
	 */
	readonly idempotencyKeys: IdempotencyKeys | (string & {}) = 'user'
	/** Specs for `getParams()` without argument, by method name. */
	readonly specs: Specs = {}
	/** Descriptions of methods and their replies, by method name. @default inferred where possible */
	readonly docs: Docs = {}
	/** Methods that read their body as a stream. */
	readonly streaming: Streaming = []
	/** Identifies the caller. @default the server's `authenticator` */
	readonly authenticator?: Authenticator
	/** Decides what a user may do. @default the server's `acl` */
	readonly acl?: Acl

	/** Where this handler is mounted; set by the mount, so one instance can be mounted many times. */
	get controller(): HandlerController {
		throw outsideRequest(this, 'controller')
	}

	/** The server's cache; set by the mount. */
	get cache(): Cache {
		throw outsideRequest(this, 'cache')
	}

	get request(): Request {
		return exchangeOf(this, 'request').request
	}
	/** The path segments after the resource, or the values of a custom route's placeholders. */
	get params(): readonly (string | number)[] {
		return exchangeOf(this, 'params').params
	}

	/**
	 * The query's parameters, decoded; the last value of a repeated name.
	 *
	 * @throws RestError `bad_request` for a malformed escape
	 */
	get query(): Readonly<Record<string, string>> {
		return exchangeOf(this, 'query').query().last
	}

	/** All values of a query parameter, in the order they were sent. */
	queryAll(name: string): string[] {
		return exchangeOf(this, 'queryAll').query().all(name)
	}

	/**
	 * The decoded body; `undefined` without one. Decoded on first access.
	 *
	 * @throws RestError `bad_request` when it is malformed, `unsupported_media_type` for a type that
	 *   isn't JSON, a form or multipart
	 */
	get body(): unknown {
		return exchangeOf(this, 'body').body.decoded().value
	}

	/**
	 * The body's fields, as an object without prototype; empty without a body.
	 *
	 * @throws RestError as `body`, and `invalid` when it isn't an object
	 */
	get post(): Readonly<Record<string, unknown>> {
		return exchangeOf(this, 'post').body.post()
	}

	/** The files of a multipart body, by field. */
	get files(): Readonly<Record<string, readonly File[]>> {
		const body = exchangeOf(this, 'files').body.decoded()
		return body.kind === 'multipart' ? body.files : Object.create(null)
	}

	/** The authenticated user; null if there is none. */
	get user(): User | null {
		return exchangeOf(this, 'user').user
	}

	set user(user: User | null) {
		exchangeOf(this, 'user').user = user ?? null
	}

	/** Sets the status of a successful reply, 200–599. Called after the reply, it only logs a warning. */
	status(code: number): void {
		setStatus(exchangeOf(this, 'status'), code)
	}

	/**
	 * Sets a header of the reply; a list of values makes several lines. Called after the reply, it only logs a warning.
	 *
	 * @throws TypeError for a character that headers must not contain, and for the headers that frame the reply
	 */
	header(name: string, value: string | number | readonly string[]): void {
		setHeader(exchangeOf(this, 'header'), name, value)
	}

	/**
	 * Records an error, and returns null for the method to return. The first error recorded is sent, whatever is returned
	 * or thrown later. Called after the reply, it only logs a warning.
	 *
	 *     return this.error('No such article', 404)
	 *     404 {"success":false,"error":"No such article","code":"not_found"}
	 *
	 * `code` is a status, 400–599, or an error code. The status of an error code that isn't one of ours is 400.
	 */
	error(message: string, code: number | string = 400): Refused {
		const exchange = exchangeOf(this, 'error')
		const error = new RestError(code, message)
		if (exchange.isReplied) exchange.log('warn', 'this.error() was called after the answer', error)
		else exchange.failure ??= error
		// The type is opaque so that a client's types can drop it; nothing reads the value.
		return null as unknown as Refused
	}

	/** A reply with the value in the envelope, even if `wrap` is false. */
	respond<T>(data: T): CustomReply<T> {
		exchangeOf(this, 'respond')
		return new CustomReply(data, {}, true)
	}

	/**
	 * Validated fields of the body (of the query for GET and HEAD), or of the given source, such as `this.query`. Texts of a
	 * query are converted to the types in the rules. Without arguments, the spec is the one in `specs` for this method.
	 *
	 *     const { title, age } = this.getParams({ title: ['required', 'string'], age: ['integer', { min: 0 }] })
	 *
	 * @throws RestError `invalid` with one entry in `details` for each problem
	 * @throws TypeError for an unknown rule, and for a schema that returns a promise
	 */
	getParams(): Record<string, unknown>
	getParams<const S extends Spec>(
		spec: S & KnownKeys<S>,
		source?: Readonly<Record<string, unknown>>,
	): Params<S>
	getParams(spec?: Spec, source?: Readonly<Record<string, unknown>>): unknown {
		const exchange = exchangeOf(this, 'getParams')
		const { from, options } = sourceOf(exchange, source)
		const compiled = spec && exchange.action?.memo.compiled(spec, exchange.app.validator)
		return readParams(spec === undefined ? declaredSpec(exchange) : (compiled ?? spec), from, options)
	}

	/** `getParams` for asynchronous schemas. */
	async getParamsAsync<const S extends Spec>(
		spec?: S & KnownKeys<S>,
		source?: Readonly<Record<string, unknown>>,
	): Promise<Params<S>> {
		const exchange = exchangeOf(this, 'getParamsAsync')
		const { from, options } = sourceOf(exchange, source)
		const read = await readParamsAsync(spec ?? declaredSpec(exchange), from, options)
		return read as Params<S> // read by `spec`
	}

	/** The body as text, or, with `decode`, decoded like `body`. */
	getPutData(decode?: false): string
	getPutData(decode: true): unknown
	getPutData(decode = false): unknown {
		const exchange = exchangeOf(this, 'getPutData')
		return decode ? exchange.body.decoded().value : exchange.body.raw().toString('utf8')
	}

	/** The body as text, or, with `decode`, parsed as JSON whatever its content type. */
	getRawPostData(decode?: false): string
	getRawPostData(decode: true): unknown
	getRawPostData(decode = false): unknown {
		const exchange = exchangeOf(this, 'getRawPostData')
		const bytes = exchange.body.raw()
		return decode ? decodeAnyAsJson(bytes, exchange.headers['content-type']) : bytes.toString('utf8')
	}

	/** Whether the user may access all these resources; false when nobody is logged in. */
	can(...resources: string[]): boolean {
		const exchange = exchangeOf(this, 'can')
		const acl = exchange.acl()
		const { user } = exchange
		return user !== null && resources.every((resource) => acl.allows(user, resource) === true)
	}

	/** @throws RestError `unauthorized` when nobody is logged in, `forbidden` when the user may not access them. */
	requireAcl(...resources: string[]): void {
		const exchange = exchangeOf(this, 'requireAcl')
		exchange.acl()
		if (exchange.user === null) throw new RestError('unauthorized')
		if (!this.can(...resources)) throw new RestError('forbidden')
	}

	/**
	 * Authenticates the user, by default with the handler's authenticator. Each authenticator runs once per request.
	 *
	 * @throws RestError `unauthorized`, as a rejection; it is sent even if the promise isn't awaited
	 */
	requireAuth(authenticator?: Authenticator): Promise<User> {
		const exchange = exchangeOf(this, 'requireAuth')
		return requireUser(exchange, authenticator ?? exchange.mount?.authenticator)
	}
}

const AS_JSON: ReadOptions = { coerce: false }
const AS_TEXT: ReadOptions = { coerce: true }

interface ParamsSource {
	readonly from: Readonly<Record<string, unknown>>
	readonly options: ReadOptions
}

/**
 * The given source, or else the query for methods whose body has no meaning (RFC 9110 §9.3.1), or else the body. Except in
 * JSON, all values are texts.
 */
function sourceOf(exchange: Exchange, given: Readonly<Record<string, unknown>> | undefined): ParamsSource {
	const { app, method } = exchange
	const { validator } = app
	const source = given ?? (method === 'GET' || method === 'HEAD' ? exchange.query().last : undefined)
	const isBody = source === undefined || exchange.body.isPost(source)
	const from = isBody ? exchange.body.fields() : source
	const coerce = !isBody || exchange.body.isText()
	const defaults = coerce ? AS_TEXT : AS_JSON
	const options = validator === undefined ? defaults : { coerce, validator }
	return { from: coerce ? exchange.withLists(from) : from, options }
}

/** @throws TypeError when the handler declares no spec for its method */
function declaredSpec({ action }: Exchange): Plan {
	if (action?.spec !== undefined) return action.spec
	const name = action?.name ?? 'method'
	throw new TypeError(`this.getParams() without argument needs specs: { ${name}: … } on the handler`)
}
