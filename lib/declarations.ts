/** The types of what a handler declares about its methods: access, rate limits, custom routes, specs, streaming. */
import type { RateLimit } from './limit/rate-limit.ts'
import type { Bytes, Milliseconds } from './time.ts'
import type { StandardSchemaV1 } from './validate/standard-schema.ts'

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
	/** From the call of the method to the first byte of the answer; noticed up to 500 late. @default 600_000 (10 minutes) */
	readonly handlerTimeout?: Milliseconds
}

/** Methods that read their body as a stream, `this.request.stream`: names, or limits by name. */
export type Streaming = readonly string[] | { readonly [method: string]: StreamingOptions }
