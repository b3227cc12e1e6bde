/** `App`: the settings and shared parts of one server, resolved before the first request. `server/server.ts` makes it. */
import type { Acl, Authenticator } from '../auth/authenticator.ts'
import type { Deadlines } from '../base/deadlines.ts'
import type { Logger } from '../base/logger.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Cache } from '../cache/cache.ts'
import type { Cors } from '../cors/cors.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Validator } from '../validate/validator.ts'
import type { Pipelines } from './http-pipelining.ts'
import type { UnsentAnswers } from './unsent-answers.ts'

/** What every step of a request may read. */
export interface App {
	readonly cache: Cache
	readonly logger: Logger
	/** The server's own authenticator, for handlers without one. */
	readonly authenticator: Authenticator | undefined
	/** The server's own acl, for handlers without one. */
	readonly acl: Acl | undefined
	/** Checks specs that are lists of rules; `undefined` for the built-in validator. */
	readonly validator: Validator | undefined
	readonly deadlines: Deadlines
	readonly pipelines: Pipelines
	readonly unsent: UnsentAnswers
	readonly maxBody: Bytes
	readonly bodyTimeout: Milliseconds
	readonly handlerTimeout: Milliseconds
	readonly sendTimeout: Milliseconds
	/** Lower-case name of the header that carries request ids; `undefined` for none. */
	readonly requestId: string | undefined
	readonly proxies: Proxies
	/** Which other origins may read answers; `undefined` for none: no CORS headers are sent. */
	readonly cors: Cors | undefined
	/** Whether browsers get the explorer's pages. */
	readonly explorer: boolean
	/** `open`; `draining`, when answers close their connections; `closed` after the grace period. */
	phase: 'open' | 'draining' | 'closed'
}

/** Facts about a request that a trusted proxy may have stated in headers. */
export interface Proxies {
	address(incoming: Incoming): string
	/** What the nearest trusted proxy says in a forwarded header; `undefined` when no proxy is trusted. */
	readonly forwarded: ((incoming: Incoming, header: ForwardedHeader) => string | undefined) | undefined
}

type ForwardedHeader = 'x-forwarded-host' | 'x-forwarded-proto'
