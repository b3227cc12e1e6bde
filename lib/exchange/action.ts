/**
 * What a handler declares about its methods (access, rate limits, custom routes, specs, streaming, docs), and the `Action`
 * that `handler/mount/` compiles from it: one method that a request can lead to.
 */
import type { Bytes, Milliseconds, Seconds } from '../base/time.ts'
import type { CompiledLimit, RateLimit } from '../limits/rate-limit.ts'
import type { StandardSchemaV1 } from '../validate/standard-schema.ts'
import type { CompiledSpec, SpecMemo } from '../validate/validate.ts'

/** Who may call: nobody needs to be known, somebody must be, or somebody who may use all the resources. */
export interface AccessRule {
	readonly user: boolean
	readonly resources: readonly string[]
}

/** Limits of a method that reads its body itself. */
export interface StreamingLimits {
	/** Most bytes the client may send. @default Infinity */
	readonly maxBody: Bytes
	/** From the call of the method to the first byte of the answer. @default 600_000 */
	readonly handlerTimeout: Milliseconds
}

/** What is called for a request, with everything known at mount. */
export interface Action {
	/** The method's name, as the user typed it. */
	readonly name: string
	/** The method itself; called with the view as `this`. */
	readonly run: (this: object, ...params: unknown[]) => unknown
	/** Most path segments it is given; `Infinity` for a method that takes any number. */
	readonly maxParams: number
	readonly access: AccessRule
	/** How many requests one caller may send; `undefined` for any number. */
	readonly limit: CompiledLimit | undefined
	/** Set when the method is named in `streaming`. */
	readonly streaming: StreamingLimits | undefined
	/** What `getParams()` without argument checks. */
	readonly spec: CompiledSpec | undefined
	/** What was told of it to people; nothing that a request needs. */
	readonly docs: MethodDocs | undefined
	/** Specs that the method has passed to `getParams` before. */
	readonly memo: SpecMemo
}

/**
 * Who may call a method: `'anyone'`; `'user'`, whoever is known; or everybody who may use all the named
 * resources: `['article:write']`. (A plain string is accepted by the type, as TypeScript widens what a
 * class field is given; it is checked at mount.)
 */
export type Access = 'anyone' | 'user' | (string & {}) | readonly string[]

/** Access by method name; `*` stands for the methods that aren't named. */
export interface AccessRules {
	readonly [method: string]: Access | undefined
}

/** A limit as TypeScript infers it from a class field, wider than `RateLimit`; it is checked at mount. */
export type DeclaredLimit = Omit<RateLimit, 'window'> & {
	readonly window?: RateLimit['window'] | (string & {})
}

/**
 * Limits by method name: `{ post_article: { limit: 10, windowSeconds: 60 } }`. `*` is one limit that all the
 * methods share which aren't named.
 */
export interface RateLimits {
	readonly [method: string]: DeclaredLimit | undefined
}

/** Custom routes: `'GET|POST custom/%s/page/%d': 'page'`. */
export interface CustomRoutes {
	readonly [route: string]: string
}

/** What `getParams()` checks, by method name. Annotate `satisfies` a `Spec` for exact types. */
export interface Specs {
	readonly [method: string]: DeclaredSpec
}

/** A spec as TypeScript infers it from a class field, wider than `Spec`; it is checked at mount. */
export type DeclaredSpec =
	| readonly string[]
	| StandardSchemaV1
	| { readonly [field: string]: boolean | readonly (string | object)[] | StandardSchemaV1 }

/** Limits of one streaming method. */
export interface StreamingOptions {
	/** Most bytes the client may send, where it says how many in Content-Length. @default Infinity */
	readonly maxBody?: Bytes
	/** From the call of the method to the first byte of the answer; noticed up to 0.5 s late. @default 600 (10 minutes) */
	readonly handlerTimeoutSeconds?: Seconds
}

/** Methods that read their body as a stream, `this.request.stream`: names, or limits by name. */
export type Streaming = readonly string[] | { readonly [method: string]: StreamingOptions }

/** What is told of a method to people, and to programs what it answers: the declaration `docs`. */
export interface MethodDocs {
	/** What it does, in a few words. @default made of its name; of an operation on records, what it does to them */
	readonly summary?: string
	/** The same at length; may be Markdown. @default none */
	readonly description?: string
	/** Under what it is listed: at least one. @default the handler's name and path */
	readonly tags?: readonly string[]
	/** Leaves it out of `/openapi.json` and of the explorer's map. It is served all the same, to whoever may call it. @default false */
	readonly hidden?: boolean
	/**
	 * What it answers, as `data` or bare: a Standard Schema that has a JSON Schema, of which what goes over the wire is
	 * the input. Or the media type of bytes or a stream: `'image/png'`. Nothing is checked by it. @default any JSON
	 */
	readonly answer?: StandardSchemaV1 | string
	/** The status of its success, 200–399. @default 200; 201 of `create` */
	readonly status?: number
}

/** What is told of methods, by their names. */
export interface Docs {
	readonly [method: string]: MethodDocs
}
