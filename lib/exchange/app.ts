/** `App`: the settings and the shared parts of one server, resolved before the first request. */
import type { Authenticator } from '../auth/authenticator.ts'
import type { Deadlines } from '../base/deadlines.ts'
import type { Logger } from '../base/logger.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Cache } from '../cache/cache.ts'
import type { Cors } from '../cors/cors.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Validator } from '../validate/validator.ts'
import type { Pipelines } from './pipelines.ts'

/** What every step of a request may read. */
export interface App {
	readonly cache: Cache
	readonly logger: Logger
	/** The server's own, of handlers that have none themselves. */
	readonly authenticator: Authenticator | undefined
	/** Checks lists of rules; `undefined` for ours. */
	readonly validator: Validator | undefined
	readonly deadlines: Deadlines
	readonly pipelines: Pipelines
	readonly maxBody: Bytes
	readonly bodyTimeout: Milliseconds
	readonly handlerTimeout: Milliseconds
	readonly sendTimeout: Milliseconds
	/** Name of the header, in lower case, that carries request ids; `undefined` where none does. */
	readonly requestId: string | undefined
	readonly proxies: Proxies
	/** Which other origins may read answers; `undefined` where the browsers' own rule is left as it is. */
	readonly cors: Cors | undefined
	/** Whether browsers get pages. */
	readonly explorer: boolean
	/** `open`; `draining` while answers close their connections; `closed` once the grace time is over. */
	phase: 'open' | 'draining' | 'closed'
}

/** Tells which of a request's facts a trusted proxy may have written. */
export interface Proxies {
	/** The client's address. */
	address(incoming: Incoming): string
	/** What the nearest trusted proxy says in a forwarded header; not there where no proxy is trusted. */
	readonly forwarded: ((incoming: Incoming, header: ForwardedHeader) => string | undefined) | undefined
}

export type ForwardedHeader = 'x-forwarded-host' | 'x-forwarded-proto'
