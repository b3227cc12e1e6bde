/** The options of `createServer`, with their bounds and defaults. */
import type { Acl, Authenticator } from '../auth/authenticator.ts'
import { consoleLogger, type Logger } from '../base/logger.ts'
import {
	flag,
	functionLike,
	numberIn,
	optional,
	optionsOf,
	or,
	type Range,
	refusal,
	text,
	wholeNumber,
	withMethods,
} from '../base/options.ts'
import type { Bytes, Seconds } from '../base/time.ts'
import type { Cache } from '../cache/cache.ts'
import { MemoryCache } from '../cache/memory-cache.ts'
import { type Cors, type CorsOptions, corsOption } from '../cors/cors.ts'
import { aclIn, authenticatorIn } from '../handler/mount/compile.ts'
import type { ServerHooks } from '../handler/mount/compile-hooks.ts'
import { type HealthOptions, healthOption } from '../health/health.ts'
import { type MetricsOptions, metricsOption } from '../metrics/metrics.ts'
import { type OpenApiOptions, openApiInfo } from '../openapi/options.ts'
import { type CompressionOptions, compressionOption } from '../reply/compression/negotiate.ts'
import { hostsOf } from '../transport/admission.ts'
import type { TrustProxy } from '../transport/proxies.ts'
import type { Validator } from '../validate/validator.ts'

/** Options of {@link createServer}. Sizes are whole numbers of bytes from 1 up, times are seconds from 0.001 up. */
export interface ServerOptions {
	/** A path before every handler path: `'v1'`. @default '' */
	readonly base?: string
	/** `this.cache` of all handlers. @default a MemoryCache of 100,000 entries and 256 MiB */
	readonly cache?: Cache
	/** Identifies the caller, for handlers without their own authenticator. @default none */
	readonly authenticator?: Authenticator
	/** Decides what a user may do, for handlers without their own acl. @default none */
	readonly acl?: Acl
	/** Called for every handler, before the handler's own `before`: `(view) => …`. @default none */
	readonly before?: ServerHooks['before']
	/** Called for every handler, after the handler's own `after`: `(view, value) => …`. @default none */
	readonly after?: ServerHooks['after']
	/** Called for every handler, after the handler's own `onError`: `(view, error) => …`. @default none */
	readonly onError?: ServerHooks['onError']
	/**
	 * Validates values against the rules of `getParams` and `specs`, in place of the built-in validator.
	 * @default ruleValidator
	 */
	readonly validator?: Validator
	/** Logs requests, and errors whose cause a client must not read. @default the console */
	readonly logger?: Logger
	/** Whether each request is logged, at level `info`. @default true if a `logger` is given */
	readonly logRequests?: boolean
	/** Whether each response has `Server-Timing`, the duration of each step; any client can read it. @default false */
	readonly serverTiming?: boolean
	/** Answers at `/live` and `/ready` below a path, for load balancers: `{ path: 'health' }`. @default none */
	readonly health?: HealthOptions
	/** Serves metrics for Prometheus at `/metrics`, except to requests that a proxy has forwarded. @default false */
	readonly metrics?: boolean | MetricsOptions
	/** Maximum size of a body that isn't streamed. @default 1_048_576 (1 MiB) */
	readonly maxBody?: Bytes
	/**
	 * Maximum size of all responses that their clients haven't read yet: if it is exceeded, the address with the most bytes
	 * has its connections cut off, longest waiting first. @default 268_435_456 (256 MiB)
	 */
	readonly maxUnsentBytes?: Bytes
	/** Time for a request's headers, from the first byte, and for blank lines before it; then 408. @default 15 */
	readonly headersTimeoutSeconds?: Seconds
	/** Time for a request's body, even if it isn't read; then 408, or the connection is closed. @default 60 */
	readonly bodyTimeoutSeconds?: Seconds
	/** Time for a method, to the first byte of its response; then 503, and `request.signal` is aborted. @default 30 */
	readonly handlerTimeoutSeconds?: Seconds
	/** Time for which a client may read nothing of a response; then its connection is destroyed. @default 60 */
	readonly sendTimeoutSeconds?: Seconds
	/** Time for which a connection may be idle: longer than a proxy in front keeps it (nginx 60 s). @default 72 */
	readonly keepAliveTimeoutSeconds?: Seconds
	/** Time for requests in progress when `close()` is called; then 503. @default 10 */
	readonly graceTimeoutSeconds?: Seconds
	/**
	 * Proxies in front: how many, or their addresses and CIDR ranges, whose X-Forwarded-* headers count.
	 * `true` is refused: any client could then forge its address. @default none
	 */
	readonly trustProxy?: TrustProxy
	/**
	 * Names that a request's Host may have, with any port; others get 421: `['api.example.com']`, `'*.example.com'` for all
	 * subdomains, `'*'` for any name. With `trustProxy`, X-Forwarded-Host is used if it is sent.
	 * @default on a loopback address `localhost`, `*.localhost`, `127.0.0.0/8` and `[::1]`, against DNS rebinding; any on
	 * other addresses, with `trustProxy`, and in `handler`, `fetch` and `inject`
	 */
	readonly hosts?: '*' | readonly string[]
	/**
	 * Whether pages of other sites may send POST, PUT, PATCH and DELETE, as far as browsers tell (`Sec-Fetch-Site`, or
	 * else `Origin`).
	 * With `false` they get 403, except for origins that `cors` names. @default true
	 */
	readonly crossSiteWrites?: boolean
	/**
	 * Header for request ids: `'X-Request-Id'`. An id from a proxy in front is kept, and each response has one; error
	 * responses also have `requestId`. @default none; `request.id` is then generated on first use
	 */
	readonly requestId?: string
	/** Describes the API at `/openapi.json`, below `base`; public unless it has `access`. @default false */
	readonly openapi?: boolean | OpenApiOptions
	/** Sends JSON as a page to clients that prefer `text/html`: browsers. @default false */
	readonly explorer?: boolean
	/** Other origins whose pages may read responses: `{ origins: ['https://app.example.com'] }`. @default none */
	readonly cors?: CorsOptions
	/** Compresses responses for clients that accept it, if no proxy in front does: `{ threshold: 1_024 }`. @default false */
	readonly compression?: boolean | CompressionOptions
}

/** Headers that can't carry request ids: framing, content, credentials. */
const RESERVED =
	/^(?:connection|keep-alive|transfer-encoding|trailer|upgrade|host|te|expect|date|vary|allow|location|accept.*|content-.*|.*cookie|.*authorization|www-authenticate|x-forwarded-.*|x-http-method-override)$/

/** node's timers can run for at most 24 days. */
const TIME: Range = { from: 0.001, to: 2_147_483, unit: 'seconds' }
/** Not `Infinity`, with which a client could keep connections open, or `close()` waiting, for ever. */
const time = numberIn(TIME)
const timeOrInfinity = numberIn({ ...TIME, orInfinity: true })
const size = wholeNumber({ from: 1, to: Number.MAX_SAFE_INTEGER, unit: 'bytes', orInfinity: true })

export type Settings = ReturnType<typeof settingsOf>

/** @throws TypeError for an unknown option or a value of the wrong type, RangeError for a number out of bounds */
export function settingsOf(options: ServerOptions) {
	return optionsOf('createServer', options, {
		base: or(text, ''),
		cache: (where, value) =>
			value === undefined ? new MemoryCache({ max: 100_000, maxBytes: 268_435_456 }) : cache(where, value),
		authenticator: optional(authenticatorIn),
		acl: optional(aclIn),
		before: optional(functionLike<NonNullable<ServerHooks['before']>>('(view) => …')),
		after: optional(functionLike<NonNullable<ServerHooks['after']>>('(view, value) => …')),
		onError: optional(functionLike<NonNullable<ServerHooks['onError']>>('(view, error) => …')),
		validator: optional(withMethods<Validator>('validateList')),
		logger: or(withMethods<Logger>('info', 'warn', 'error'), consoleLogger),
		logRequests: or(flag, options?.logger !== undefined),
		serverTiming: or(flag, false),
		trustProxy: trustIn,
		hosts: hostsOf,
		crossSiteWrites: or(flag, true),
		requestId: optional(requestIdIn),
		openapi: (where, value) => openApiInfo(where, value, options),
		explorer: or(flag, false),
		health: optional(healthOption),
		metrics: metricsOption,
		cors: (where, value): Cors | undefined =>
			corsOption(where, value, options.requestId?.toLowerCase(), options.logger ?? consoleLogger),
		compression: compressionOption,
		maxBody: or(size, 1_048_576),
		maxUnsentBytes: or(size, 268_435_456),
		headersTimeoutSeconds: or(time, 15),
		bodyTimeoutSeconds: or(timeOrInfinity, 60),
		handlerTimeoutSeconds: or(timeOrInfinity, 30),
		sendTimeoutSeconds: or(timeOrInfinity, 60),
		keepAliveTimeoutSeconds: or(time, 72),
		graceTimeoutSeconds: or(time, 10),
	})
}

/** 0 and an empty list are the same as no option; `proxiesOf` checks other values. */
function trustIn(_where: string, value: unknown): TrustProxy | undefined {
	const isNone = value === 0 || (Array.isArray(value) && value.length === 0)
	return isNone ? undefined : (value as TrustProxy | undefined)
}

const cache = withMethods<Cache>('get', 'set', 'delete', 'add', 'increment')

/** The header's name in lower case, as node:http names the headers of a request. */
function requestIdIn(where: string, value: unknown): string {
	const what = "a header's name: 'X-Request-Id'"
	if (typeof value !== 'string' || !/^[!#$%&'*+.^`|~\w-]+$/.test(value)) throw refusal(where, what, value)
	const name = value.toLowerCase()
	if (!RESERVED.test(name)) return name
	throw new TypeError(
		`${where} must be a header of its own, such as 'X-Request-Id': ${value} has another meaning`,
	)
}
