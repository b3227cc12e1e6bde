/** `RestHandler`: the class that users extend; its members are what a method finds as `this`. */
import type { File } from 'node:buffer'
import type { Acl, Authenticator, User } from '../auth/authenticator.ts'
import { RestError } from '../base/error.ts'
import type { Cache } from '../cache/cache.ts'
import type {
	AccessRules,
	CustomRoutes,
	Docs,
	RateLimits,
	Specs,
	Streaming,
} from '../exchange/declarations.ts'
import type { IdempotencyKeys } from '../exchange/exchange.ts'
import { requireUser } from '../pipeline/credentials.ts'
import { CustomReply, setHeader, setStatus } from '../reply/head.ts'
import { decodeAnyAsJson } from '../request/body/decode-body.ts'
import type { Request } from '../request/request.ts'
import type { KnownKeys } from '../validate/inferred.ts'
import { type Params, readParams, readParamsAsync, type Spec } from '../validate/validate.ts'
import type { Refused } from '../wire/codes.ts'
import { HandlerHooks } from './handler-hooks.ts'
import type { Deprecated } from './mount/deprecated.ts'
import { declaredSpec, sourceOf, usualSource } from './params-source.ts'
import { exchangeOf, outsideRequest } from './view.ts'

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
