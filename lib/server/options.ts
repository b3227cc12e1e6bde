/** The options of `createServer`, with their bounds and defaults. */
import type { Acl, Authenticator } from '../auth/authenticator.ts'
import { consoleLogger, type Logger } from '../base/logger.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Cache } from '../cache/cache.ts'
import { MemoryCache } from '../cache/memory-cache.ts'
import { type Cors, type CorsOptions, corsPolicy } from '../cors/cors.ts'
import { checkChallenge } from '../handler/mount/compile.ts'
import { checkHooks, type ServerHooks } from '../handler/mount/compile-hooks.ts'
import { type HealthOptions, type HealthSettings, healthSettings } from '../health/options.ts'
import { type Observing, observingOf } from '../observe/watch.ts'
import { type OpenApiInfo, type OpenApiOptions, openApiInfo } from '../openapi/options.ts'
import type { Compression } from '../reply/compression/compression.ts'
import { type CompressionOptions, compressionOf } from '../reply/compression/options.ts'
import { type Hosts, hostsOf } from '../transport/hosts.ts'
import type { TrustProxy } from '../transport/proxies.ts'
import { requestIdOf } from '../transport/request-id.ts'
import type { Validator } from '../validate/validator.ts'

/** What {@link createServer} is told. Sizes are bytes, times milliseconds, whole numbers from 1 up. */
export interface ServerOptions {
	/** A path before every handler path: `'v1'`. @default '' */
	readonly base?: string
	/** What handlers find as `this.cache`. @default a MemoryCache of 100,000 entries and 256 MiB */
	readonly cache?: Cache
	/** Tells who is calling, for handlers that have no authenticator of their own. @default none */
	readonly authenticator?: Authenticator
	/** Tells what a user may do, for handlers that have no acl of their own. @default none */
	readonly acl?: Acl
	/** Called for every handler, before the handler's own `before`: `(view) => …`. @default none */
	readonly before?: ServerHooks['before']
	/** Called for every handler, behind the handler's own `after`: `(view, value) => …`. @default none */
	readonly after?: ServerHooks['after']
	/** Called for every handler, behind the handler's own `onError`: `(view, error) => …`. @default none */
	readonly onError?: ServerHooks['onError']
	/** Checks the lists of rules of `getParams` and `specs` instead of ours. @default ruleValidator */
	readonly validator?: Validator
	/** Where errors go whose cause a client must not read. @default the console */
	readonly logger?: Logger
	/** Whether each request is a line in the log, with level `info`. @default true where a `logger` is given */
	readonly logRequests?: boolean
	/** Tells in each answer how long its steps took, in `Server-Timing`: whoever asks may read it. @default false */
	readonly serverTiming?: boolean
	/** Answers at `/live` and `/ready` below a path, for load balancers: `{ path: 'health' }`. @default none */
	readonly health?: HealthOptions
	/** Most bytes of a body that isn't streamed. @default 1_048_576 (1 MiB) */
	readonly maxBody?: Bytes
	/** For the headers of a request, from its first byte, and for blank lines before it; then 408. @default 15_000 */
	readonly headersTimeout?: Milliseconds
	/** For the body of a request, also where nobody reads it; then 408, or the connection ends. @default 60_000 */
	readonly bodyTimeout?: Milliseconds
	/** For a method, to the first byte of its answer; then 503, and `request.signal` is aborted. @default 30_000 */
	readonly handlerTimeout?: Milliseconds
	/** For a client that takes nothing of an answer; then its connection is destroyed. @default 60_000 */
	readonly sendTimeout?: Milliseconds
	/** For a connection without a request: longer than a proxy in front keeps it (nginx 60 s). @default 72_000 */
	readonly keepAliveTimeout?: Milliseconds
	/** For requests that are being answered when `close()` is called; then 503. @default 10_000 */
	readonly graceTimeout?: Milliseconds
	/**
	 * Proxies in front: how many, or their addresses and CIDR ranges, whose X-Forwarded-* headers count.
	 * `true` is refused: every client could then write its own address. @default none
	 */
	readonly trustProxy?: TrustProxy
	/**
	 * Names that a request's Host may have, whatever its port, others being answered 421: `['api.example.com']`,
	 * `'*.example.com'` for all below a name, `'*'` for any. With `trustProxy` it is X-Forwarded-Host that counts, where it
	 * is sent. @default on a loopback address `localhost`, `*.localhost`, `127.0.0.0/8` and `[::1]`, against DNS rebinding;
	 * any on other addresses, with `trustProxy`, and in `handler`, `fetch` and `inject`
	 */
	readonly hosts?: '*' | readonly string[]
	/**
	 * Whether pages of other sites may send POST, PUT, PATCH and DELETE, as far as browsers tell (`Sec-Fetch-Site`).
	 * With `false` they are answered 403, but for origins that `cors` names. @default true
	 */
	readonly crossSiteWrites?: boolean
	/**
	 * Header in which a request's id comes in, if a proxy has given it one, and goes out: `'X-Request-Id'`.
	 * With it error answers have `requestId` too. @default none; `request.id` is then made when it is asked for
	 */
	readonly requestId?: string
	/** Describes the API at `/openapi.json`, below `base`, for whoever asks. @default false */
	readonly openapi?: boolean | OpenApiOptions
	/** Answers JSON as a page to whoever prefers `text/html`: browsers. @default false */
	readonly explorer?: boolean
	/** Pages of which other origins may read answers: `{ origins: ['https://app.example.com'] }`. @default none */
	readonly cors?: CorsOptions
	/** Compresses answers for clients that take it, where no proxy in front does: `{ threshold: 1_024 }`. @default false */
	readonly compression?: boolean | CompressionOptions
}

/** The options, all there and checked; `undefined` where none is the default. */
export interface Settings extends Observing {
	readonly base: string
	readonly cache: Cache
	readonly authenticator: Authenticator | undefined
	readonly acl: Acl | undefined
	readonly before: ServerHooks['before']
	readonly after: ServerHooks['after']
	readonly onError: ServerHooks['onError']
	readonly validator: Validator | undefined
	readonly logger: Logger
	readonly trustProxy: TrustProxy | undefined
	readonly hosts: Hosts | '*' | undefined
	readonly crossSiteWrites: boolean
	readonly requestId: string | undefined
	readonly openapi: OpenApiInfo | undefined
	readonly explorer: boolean
	readonly health: HealthSettings | undefined
	readonly cors: Cors | undefined
	readonly compression: Compression | undefined
	readonly limits: Limits
}

/** All that is a number. */
export interface Limits {
	readonly maxBody: Bytes
	readonly headersTimeout: Milliseconds
	readonly bodyTimeout: Milliseconds
	readonly handlerTimeout: Milliseconds
	readonly sendTimeout: Milliseconds
	readonly keepAliveTimeout: Milliseconds
	readonly graceTimeout: Milliseconds
}

const LIMITS: Limits = {
	maxBody: 1_048_576,
	headersTimeout: 15_000,
	bodyTimeout: 60_000,
	handlerTimeout: 30_000,
	sendTimeout: 60_000,
	keepAliveTimeout: 72_000,
	graceTimeout: 10_000,
}

const OTHERS = [
	...['base', 'cache', 'authenticator', 'acl', 'validator', 'logger', 'trustProxy', 'requestId'],
	...['before', 'after', 'onError', 'logRequests', 'serverTiming', 'health', 'openapi', 'explorer', 'cors'],
	...['compression', 'hosts', 'crossSiteWrites'],
]

/** node's timers take no more: about 24 days. */
const LONGEST: Milliseconds = 2_147_483_647

/** Limits that may be `Infinity`. Without the others connections, or `close()`, could be held for ever. */
const OPEN_ENDED: readonly (keyof Limits)[] = ['maxBody', 'bodyTimeout', 'handlerTimeout', 'sendTimeout']

/** @throws TypeError for an option that doesn't exist or is of the wrong kind, RangeError for a number out of bounds */
export function settingsOf(options: ServerOptions): Settings {
	if (typeof options !== 'object' || options === null)
		throw new TypeError('the options of createServer must be an object')
	for (const name of Object.keys(options)) {
		if (!Object.hasOwn(LIMITS, name) && !OTHERS.includes(name)) {
			throw new TypeError(
				`createServer has no option ${name}: there are ${[...OTHERS, ...Object.keys(LIMITS)].join(', ')}`,
			)
		}
	}
	checkMethods('cache', options.cache, ['get', 'set', 'delete', 'add', 'increment'])
	checkMethods('authenticator', options.authenticator, ['authenticate'])
	if (options.authenticator?.challenge !== undefined)
		checkChallenge('authenticator.challenge', options.authenticator.challenge)
	checkMethods('acl', options.acl, ['allows'])
	checkHooks(options)
	checkMethods('validator', options.validator, ['validateList'])
	checkMethods('logger', options.logger, ['info', 'warn', 'error'])
	checkFlag('explorer', options.explorer)
	checkFlag('crossSiteWrites', options.crossSiteWrites)
	return {
		base: options.base ?? '',
		cache: options.cache ?? new MemoryCache({ max: 100_000, maxBytes: 268_435_456 }),
		authenticator: options.authenticator,
		acl: options.acl,
		before: options.before,
		after: options.after,
		onError: options.onError,
		validator: options.validator,
		logger: options.logger ?? consoleLogger,
		trustProxy: options.trustProxy === 0 || isEmpty(options.trustProxy) ? undefined : options.trustProxy,
		hosts: hostsOf(options.hosts),
		crossSiteWrites: options.crossSiteWrites ?? true,
		requestId: requestIdOf(options.requestId),
		openapi: openApiInfo(options.openapi, options),
		explorer: options.explorer ?? false,
		health: healthSettings(options.health),
		...observingOf(options),
		cors: corsPolicy(options.cors, requestIdOf(options.requestId), options.logger ?? consoleLogger),
		compression: compressionOf(options.compression),
		limits: limitsOf(options),
	}
}

function limitsOf(options: ServerOptions): Limits {
	const limits: Record<keyof Limits, number> = { ...LIMITS }
	for (const name of Object.keys(LIMITS) as (keyof Limits)[]) {
		const value = options[name]
		if (value !== undefined) limits[name] = checkLimit(name, value)
	}
	return limits
}

function checkLimit(name: keyof Limits, value: unknown): number {
	const most = name === 'maxBody' ? Number.MAX_SAFE_INTEGER : LONGEST
	const isOpen = OPEN_ENDED.includes(name)
	if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value
	if (value === Number.POSITIVE_INFINITY && isOpen) return value
	const unit = name === 'maxBody' ? 'bytes' : 'milliseconds'
	const found = typeof value === 'number' || value === null ? String(value) : `a ${typeof value}`
	const error = typeof value === 'number' ? RangeError : TypeError
	throw new error(
		`${name} must be a whole number of ${unit} from 1 to ${most}${isOpen ? ', or Infinity' : ''}, got ${found}`,
	)
}

function checkFlag(option: string, value: unknown): void {
	if (value !== undefined && typeof value !== 'boolean')
		throw new TypeError(`${option} must be true or false, got ${JSON.stringify(value)}`)
}

function checkMethods(option: string, value: object | undefined, methods: readonly string[]): void {
	if (value === undefined) return
	const missing = methods.filter(
		(method) =>
			typeof value !== 'object' || value === null || typeof Reflect.get(value, method) !== 'function',
	)
	if (missing.length > 0)
		throw new TypeError(
			`${option} must have the methods ${methods.join(', ')}; it lacks ${missing.join(', ')}`,
		)
}

function isEmpty(list: unknown): boolean {
	return Array.isArray(list) && list.length === 0
}
