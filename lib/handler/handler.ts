/**
 * `RestHandler`, the class that users extend: its members are what a method finds as `this`, declarations are its fields, and
 * hooks are for subclasses to override. `mount/` compiles it, `controller.ts` mounts it, `view.ts` makes the `this` of a
 * request; what a member needs it asks of the exchange.
 */
import type { File } from 'node:buffer'
import type { Acl, Authenticator, User } from '../auth/authenticator.ts'
import { RestError } from '../base/error.ts'
import type { Cache } from '../cache/cache.ts'
import type { AccessRules, CustomRoutes, Docs, RateLimits, Specs, Streaming } from '../exchange/action.ts'
import type { Exchange, IdempotencyKeys } from '../exchange/exchange.ts'
import { requireUser } from '../pipeline/credentials.ts'
import { CustomReply, setHeader, setStatus } from '../reply/head.ts'
import { decodeAnyAsJson } from '../request/body/decode-body.ts'
import type { Request } from '../request/request.ts'
import type { KnownKeys } from '../validate/inferred.ts'
import {
	type CompiledSpec,
	type Params,
	type ReadOptions,
	readParams,
	readParamsAsync,
	type Spec,
} from '../validate/validate.ts'
import type { Refused } from '../wire/codes.ts'
import type { Deprecated } from './mount/deprecated.ts'
import { exchangeOf, outsideRequest } from './view.ts'

/** What `before` may answer beside nothing: a `reply()` in the method's stead. */
export type BeforeAnswer = CustomReply<unknown> | Refused | undefined

/** What `onError` may answer beside nothing: the error that is sent instead. */
export type ErrorAnswer = RestError | Refused | undefined

/** What `RestHandler` has for subclasses to override. Where they don't, nothing is called. */
export class HandlerHooks {
	/** Called once before the first request, and awaited; the place to open what the handler holds. */
	init(): void | Promise<void> {}

	/**
	 * Called once behind the last answer, when the server has closed (the last one, of several that have mounted this
	 * handler); the place to close what `init` has opened. The handler is frozen by then. What it throws is logged.
	 */
	dispose(): void | Promise<void> {}

	/**
	 * Called for each request that a method answers, when its credentials, limits and access have been judged, and
	 * before a byte of its body is read. What it throws, or records by `this.error()`, is the answer, and so is a
	 * `reply()` that it returns: the method isn't called then. What it sets on `this`, the method finds there.
	 *
	 * @throws TypeError, as a 500, for anything else that is returned
	 */
	before(): BeforeAnswer | void | Promise<BeforeAnswer> | Promise<void> {}

	/**
	 * Called with what the method has returned (of a `reply()`, the value in it), unless that was an error. What it
	 * returns is answered instead; `undefined` leaves it as it is. It may set headers and status.
	 */
	after(_value: unknown): unknown {
		return undefined
	}

	/**
	 * Called with what would be answered as an error: a `RestError`, or whatever else was thrown, which would be a
	 * 500. A `RestError` that it returns, throws, or records by `this.error()` is answered instead.
	 */
	onError(_error: unknown): ErrorAnswer | void | Promise<ErrorAnswer> | Promise<void> {}
}

export type { Refused }

/** What can be mounted: a handler, its class, or a function that makes one for each request. */
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
 * In a method, `this` is a view: what is set on it belongs to the request, the rest is the frozen handler's.
 */
export class RestHandler extends HandlerHooks {
	/** Every answer tells when this class ends: `{ since: '2026-01-31', sunset: '2026-12-31' }`. Not inherited. @default none */
	declare static readonly deprecated?: Deprecated

	/** Whether answers are in the envelope `{"success":true,"data":…}`. @default true */
	readonly wrap: boolean = true
	/** Leaves the logger alone, for unit tests. @default false */
	readonly suppressOutput: boolean = false
	/** Further routes: `{ 'GET|POST custom/%s/page/%d': 'page' }`. A subclass's field replaces its parent's. */
	readonly customRoutes: CustomRoutes = {}
	/** Who may call which method, checked before the body is read. @default everybody may call every one */
	readonly access: AccessRules = {}
	/** How many requests one user, else one address, may send, by method name. @default any number */
	readonly rateLimits: RateLimits = {}
	/** Whose requests are run once for an Idempotency-Key: a `'user'`'s, `'anyone'`'s, or nobody's (`'off'`). @default 'user' */
	readonly idempotencyKeys: IdempotencyKeys | (string & {}) = 'user'
	/** What `getParams()` without argument checks, by method name. */
	readonly specs: Specs = {}
	/** What is told of a method, and what it answers, by its name. @default what is known without */
	readonly docs: Docs = {}
	/** Methods that read their body as a stream. */
	readonly streaming: Streaming = []
	/** Tells who is calling. @default the server's `authenticator` */
	readonly authenticator?: Authenticator
	/** Tells what a user may do. @default the server's `acl` */
	readonly acl?: Acl

	/** Where this handler is mounted; on the mount, so one instance can be mounted many times. */
	get controller(): HandlerController {
		throw outsideRequest(this, 'controller')
	}

	/** The server's cache; on the mount. */
	get cache(): Cache {
		throw outsideRequest(this, 'cache')
	}

	get request(): Request {
		return exchangeOf(this, 'request').request
	}
	/** The path segments behind the resource, or a custom route's matches. */
	get params(): readonly (string | number)[] {
		return exchangeOf(this, 'params').params
	}

	/**
	 * The query's parameters, decoded; of a repeated name the last.
	 *
	 * @throws RestError `bad_request` for a malformed escape
	 */
	get query(): Readonly<Record<string, string>> {
		return exchangeOf(this, 'query').query().last
	}

	/** All values of a query parameter, in the order they were sent; none where it is absent. */
	queryAll(name: string): string[] {
		return exchangeOf(this, 'queryAll').query().all(name)
	}

	/**
	 * The decoded body, whatever it is; `undefined` without one. Decoded when it is first asked for.
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
	 * @throws RestError as `body`, and `invalid` when it is no object
	 */
	get post(): Readonly<Record<string, unknown>> {
		return exchangeOf(this, 'post').body.post()
	}

	/** The files of a multipart body, by field. */
	get files(): Readonly<Record<string, readonly File[]>> {
		const body = exchangeOf(this, 'files').body.decoded()
		return body.kind === 'multipart' ? body.files : Object.create(null)
	}

	/** Who is calling; null while nobody is known. */
	get user(): User | null {
		return exchangeOf(this, 'user').user
	}

	set user(user: User | null) {
		exchangeOf(this, 'user').user = user ?? null
	}

	/** Sets the status of a successful answer, 200–599. After the answer it only logs. */
	status(code: number): void {
		setStatus(exchangeOf(this, 'status'), code)
	}

	/**
	 * Sets a header of the answer; a list of values makes so many lines. After the answer it only logs.
	 *
	 * @throws TypeError for a character that no header may hold, and for the headers that frame the answer
	 */
	header(name: string, value: string | number | readonly string[]): void {
		setHeader(exchangeOf(this, 'header'), name, value)
	}

	/**
	 * Records an error, and returns null for the method to return. Once recorded it wins over whatever
	 * is returned or thrown later. After the answer it only logs.
	 *
	 *     return this.error('No such article', 404)
	 *     404 {"success":false,"error":"No such article","code":"not_found"}
	 *
	 * `code` is a status, 400–599, or a wire code, with its status or 400.
	 */
	error(message: string, code: number | string = 400): Refused {
		const exchange = exchangeOf(this, 'error')
		const error = new RestError(code, message)
		if (exchange.replied) exchange.log('warn', 'this.error() was called after the answer', error)
		else exchange.failure ??= error
		// The type is opaque so that a client's types can drop it; nothing reads what is returned.
		return null as unknown as Refused
	}

	/** The value in the envelope, also where `wrap` is false. */
	respond<T>(data: T): CustomReply<T> {
		exchangeOf(this, 'respond')
		return new CustomReply(data, {}, true)
	}

	/**
	 * Checked fields of the body, of a GET or HEAD of the query, or of another source that is given (`this.query`). Text of
	 * a query is turned into the types the rules name. Without argument: what `specs` declares for this method.
	 *
	 *     const { title, age } = this.getParams({ title: ['required', 'string'], age: ['integer', { min: 0 }] })
	 *
	 * @throws RestError `invalid` with one entry in `details` for each problem
	 * @throws TypeError for a rule that doesn't exist, and for a schema that answers a promise
	 */
	getParams(): Record<string, unknown>
	getParams<const S extends Spec>(
		spec: S & KnownKeys<S>,
		source?: Readonly<Record<string, unknown>>,
	): Params<S>
	getParams(spec?: Spec, source?: Readonly<Record<string, unknown>>): unknown {
		const exchange = exchangeOf(this, 'getParams')
		const { from, options } = sourceOf(exchange, source ?? usualSource(exchange))
		const asked = spec === undefined ? declaredSpec(exchange) : (exchange.remembered(spec) ?? spec)
		return readParams(asked, from, options)
	}

	/** `getParams` for schemas that answer promises. */
	async getParamsAsync<const S extends Spec>(
		spec?: S & KnownKeys<S>,
		source?: Readonly<Record<string, unknown>>,
	): Promise<Params<S>> {
		const exchange = exchangeOf(this, 'getParamsAsync')
		const { from, options } = sourceOf(exchange, source ?? usualSource(exchange))
		const read = await readParamsAsync(spec ?? declaredSpec(exchange), from, options)
		return read as Params<S> // `spec` is what S is of
	}

	/** The body as text, or, with `decode`, as `body` gives it. */
	getPutData(decode?: false): string
	getPutData(decode: true): unknown
	getPutData(decode = false): unknown {
		const exchange = exchangeOf(this, 'getPutData')
		return decode ? exchange.body.decoded().value : exchange.rawBody().toString('utf8')
	}

	/** The body as text, or parsed as JSON, whatever its content type. */
	getRawPostData(decode?: false): string
	getRawPostData(decode: true): unknown
	getRawPostData(decode = false): unknown {
		const exchange = exchangeOf(this, 'getRawPostData')
		const bytes = exchange.rawBody()
		return decode ? decodeAnyAsJson(bytes, exchange.headers['content-type']) : bytes.toString('utf8')
	}

	/** Whether the user may use all the resources; false when nobody is logged in. */
	can(...resources: string[]): boolean {
		const exchange = exchangeOf(this, 'can')
		const acl = exchange.acl()
		const { user } = exchange
		return user !== null && resources.every((resource) => acl.allows(user, resource) === true)
	}

	/** @throws RestError `unauthorized` when nobody is logged in, `forbidden` when the user may not. */
	requireAcl(...resources: string[]): void {
		const exchange = exchangeOf(this, 'requireAcl')
		exchange.acl()
		if (exchange.user === null) throw new RestError('unauthorized')
		if (!this.can(...resources)) throw new RestError('forbidden')
	}

	/**
	 * The user, as the authenticator tells; asked once a request. Without argument, the handler's.
	 *
	 * @throws RestError `unauthorized`, by the promise: also when it isn't awaited, before the answer
	 */
	requireAuth(authenticator?: Authenticator): Promise<User> {
		return requireUser(exchangeOf(this, 'requireAuth'), authenticator)
	}
}

const AS_JSON: ReadOptions = { coerce: false }
const AS_TEXT: ReadOptions = { coerce: true }

/** Fields, and how they are read. */
interface ParamsSource {
	readonly from: Readonly<Record<string, unknown>>
	readonly options: ReadOptions
}

/**
 * The body, or the source that the method has named. Text stands for other kinds in whatever isn't JSON:
 * forms, multipart, the query.
 */
function sourceOf(exchange: Exchange, source: Readonly<Record<string, unknown>> | undefined): ParamsSource {
	const { validator } = exchange.app
	const isBody = source === undefined || exchange.body.isPost(source)
	const from = isBody ? exchange.body.fields() : source
	const coerce = !isBody || exchange.body.isText()
	const ours = coerce ? AS_TEXT : AS_JSON
	const options = validator === undefined ? ours : { coerce, validator }
	return { from: coerce ? exchange.withLists(from) : from, options }
}

/** @throws TypeError when the handler declares no spec for its method */
function declaredSpec({ action }: Exchange): CompiledSpec {
	if (action?.spec !== undefined) return action.spec
	const name = action?.name ?? 'method'
	throw new TypeError(`this.getParams() without argument needs specs: { ${name}: … } on the handler`)
}

/** What is read where no source is named: the query where a body has no meaning (RFC 9110 §9.3.1), else the body. */
function usualSource(exchange: Exchange): Readonly<Record<string, unknown>> | undefined {
	return exchange.method === 'GET' || exchange.method === 'HEAD' ? exchange.query().last : undefined
}
