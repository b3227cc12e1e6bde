/**
 * What a handler declares about its methods (access, rate limits, custom routes, specs, streaming, docs), and the
 * `Action` that `handler/mount/` compiles from it: one method that a request can lead to.
 */
import type { Method } from '../base/http.ts'
import type { Bytes, Milliseconds, Seconds } from '../base/time.ts'
import type { CompiledLimit, RateLimit } from '../limits/rate-limit.ts'
import type { Plan } from '../validate/plan.ts'
import type { StandardSchemaV1 } from '../validate/standard-schema.ts'
import type { SpecMemo } from '../validate/validate.ts'

/** Who may call: anyone, any known user, or a user who may use all the resources. */
export interface AccessRule {
	readonly user: boolean
	readonly resources: readonly string[]
}

/** Limits of a method that reads its body itself. */
export interface StreamingLimits {
	/** Maximum Content-Length; a body without Content-Length isn't limited. @default Infinity */
	readonly maxBody: Bytes
	/** Time from the call of the method to the first byte of the answer. @default 600_000 */
	readonly handlerTimeout: Milliseconds
}

/** The method that a request calls, with everything known at mount. */
export interface Action {
	/** The method's name, as the user typed it. */
	readonly name: string
	/** The method itself; called with the view as `this`. */
	readonly run: (this: object, ...params: unknown[]) => unknown
	/** Maximum number of path segments that it takes; `Infinity` for any number. */
	readonly maxParams: number
	readonly access: AccessRule
	/**
	 * Checks what a request asks for, once the caller is known and before the body is read; `exchange` is its `Exchange`.
	 *
	 * @throws RestError, or rejects with one
	 */
	readonly authorize?: ((exchange: object) => Promise<void> | undefined) | undefined
	/** The media types of a PATCH, for `Accept-Patch` (RFC 5789 §3.1); `undefined` if they aren't known. */
	readonly acceptPatch?: string | undefined
	/** Whether it takes an `Idempotency-Key`, as POST and PATCH do anyway. */
	readonly takesKey?: boolean | undefined
	/** How many requests one caller may send; `undefined` for any number. */
	readonly limit: CompiledLimit | undefined
	/** Set when the method is listed in `streaming`. */
	readonly streaming: StreamingLimits | undefined
	/** The spec that `getParams()` uses when it is called without one. */
	readonly spec: Plan | undefined
	/** Its documentation, for `/openapi.json`; requests don't read it. */
	readonly docs: MethodDocs | undefined
	/** Compiled specs that the method has passed to `getParams`. */
	readonly memo: SpecMemo
	/** For `pipeline/answer.ts`: the steps that its requests need, by HTTP method; set by the first request of each. */
	readonly steps: { [M in Method]?: readonly unknown[] }
}

/**
 * Who may call a method: `'anyone'`; `'user'`, any known user; or users who may use all the named resources:
 * `['article:write']`. (The type accepts any string, because TypeScript widens the types of class fields; the value is
 * checked at mount.)
 */
export type Access = 'anyone' | 'user' | (string & {}) | readonly string[]

/** Access by method name; `*` is for all methods not named. */
export interface AccessRules {
	readonly [method: string]: Access | undefined
}

/** A limit as TypeScript infers it from a class field, wider than `RateLimit`; it is checked at mount. */
export type DeclaredLimit = Omit<RateLimit, 'window'> & {
	readonly window?: RateLimit['window'] | (string & {})
}

/**
 * Limits by method name: `{ post_article: { limit: 10, windowSeconds: 60 } }`. `*` is one limit shared by all methods
 * not named.
 */
export interface RateLimits {
	readonly [method: string]: DeclaredLimit | undefined
}

/** Custom routes: `'GET|POST custom/%s/page/%d': 'page'`. */
export interface CustomRoutes {
	readonly [route: string]: string
}

/** What `getParams()` checks, by method name. For exact types, write `satisfies Spec` after a spec. */
export interface Specs {
	readonly [method: string]: DeclaredSpec
}

/** A spec as TypeScript infers it from a class field, wider than `Spec`; it is checked at mount. */
export type DeclaredSpec =
	| readonly string[]
	| StandardSchemaV1
	| { readonly [field: string]: boolean | readonly (string | object)[] | StandardSchemaV1 }

/** Limits of a streaming method, as declared. */
export interface StreamingOptions {
	/** Maximum Content-Length, in bytes. @default Infinity */
	readonly maxBody?: Bytes
	/**
	 * Time from the call of the method to the first byte of the answer; a timeout is noticed up to 0.5 s late.
	 * @default 600 (10 minutes)
	 */
	readonly handlerTimeoutSeconds?: Seconds
}

/** Methods that read their body as a stream, `this.request.stream`: names, or limits by name. */
export type Streaming = readonly string[] | { readonly [method: string]: StreamingOptions }

/** The documentation of a method, for people and programs: the declaration `docs`. */
export interface MethodDocs {
	/** What it does, in a few words. @default derived from its name, or from the operation on records */
	readonly summary?: string
	/** A longer description; may be Markdown. @default none */
	readonly description?: string
	/** The groups in which it is listed: at least one. @default the handler's name and path */
	readonly tags?: readonly string[]
	/** Leaves it out of `/openapi.json` and the explorer's map; it is served all the same. @default false */
	readonly hidden?: boolean
	/**
	 * What it answers, inside the envelope if there is one: a Standard Schema that has a JSON Schema, whose input type
	 * describes the wire format; or the media type of bytes or a stream, `'image/png'`. Answers are not checked against
	 * it. @default any JSON
	 */
	readonly answer?: StandardSchemaV1 | string
	/** Its status on success, 200–399. @default 200; 201 for `create` */
	readonly status?: number
}

/** Documentation by method name. */
export interface Docs {
	readonly [method: string]: MethodDocs
}
