/**
 * `Health`: what the option `health` serves, before any other step and to whoever asks. `/live` says that the
 * process answers; `/ready` that it should be sent requests.
 */
import cluster from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { RestError } from '../base/error.ts'
import { ROUTE_METHODS } from '../base/http.ts'
import type { Logger } from '../base/logger.ts'
import * as option from '../base/options.ts'
import { inMilliseconds, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import type { Cache } from '../cache/cache.ts'
import { CrudHandler } from '../crud/crud-handler.ts'
import { FACTS } from '../crud/view.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { RestHandler } from '../handler/handler.ts'
import { answerPreflight, isPreflight } from '../pipeline/preflight.ts'
import { sealError } from '../reply/error-reply.ts'
import { JSON_TYPE, type Reply, textual } from '../reply/headers.ts'
import { sealOptions } from '../reply/reply.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'
import { type Mount, type MountTree, parsePath } from '../routing/mount.ts'
import { type HealthCheck, Readiness } from './readiness.ts'

/** The option `health`: where load balancers ask, and what must be well. */
export interface HealthOptions {
	/** Where it is asked, below `base`: of `'health'`, at `/health/live` and `/health/ready`. */
	readonly path: string
	/** What must be well for the server to be ready, beside its cache and its handlers' models. @default none */
	readonly checks?: readonly HealthCheck[]
	/** For all checks, which are made at once; what hasn't answered then has failed. From 0.001 up. @default 2 */
	readonly timeoutSeconds?: Seconds
	/**
	 * How long `close()` goes on serving as before while it isn't ready any more, for a load balancer to see it. Longer
	 * than the time between two of its probes. From 0 up. @default 0
	 */
	readonly drainDelaySeconds?: Seconds
}

/** node's timers take no more than 24 days. */
const LONGEST: Seconds = 2_147_483

export type HealthSettings = Required<HealthOptions>

/** Reads the option `health`. */
export const healthOption: option.Reader<HealthSettings> = option.nested("{ path: 'health' }", {
	path(where, value) {
		if (typeof value !== 'string') throw option.refusal(where, "a path: 'health'", value)
		if (parsePath(where, value).length > 0) return value
		throw new TypeError(`${where} must have a segment at least, such as 'health': every handler is below ''`)
	},
	checks: option.or(
		option.listOf(
			"an array of functions: [() => pool.query('select 1')]",
			option.functionLike<HealthCheck>("() => pool.query('select 1')"),
			0,
		),
		[],
	),
	timeoutSeconds: option.or(option.numberIn({ from: 0.001, to: LONGEST, unit: 'seconds' }), 2),
	drainDelaySeconds: option.or(option.numberIn({ from: 0, to: LONGEST, unit: 'seconds' }), 0),
} satisfies option.Readers<HealthOptions>)

type Probe = 'live' | 'ready'

/** What most URLs don't end with, and need no further look. */
const ENDS_SO = /\/(?:live|ready)\/?(?:\?|$)/

const WELL = '{"success":true,"data":{"status":"ok"}}'
/** No cache in between may answer for us. */
const UNSTORED = ['Cache-Control', 'no-store'] as const

/** Whose health it is. */
interface Patient {
	readonly cache: Cache
	readonly logger: Logger
	readonly mounts: MountTree
	/** The server's. */
	readonly base: string
}

/** What is asked of a store. */
interface Asked {
	/** Whether one of its handlers changes records. */
	writes: boolean
}

export class Health {
	readonly #drainDelay: Milliseconds
	readonly #path: string
	readonly #segments: readonly string[]
	readonly #mounts: MountTree
	readonly #readiness: Readiness
	/** What is asked already: a hundred tables of one pool are asked about once. */
	readonly #asked = new Map<object, Asked>()
	#isLeaving = false

	constructor(settings: HealthSettings, { cache, logger, mounts, base }: Patient) {
		this.#drainDelay = inMilliseconds(settings.drainDelaySeconds)
		this.#path = settings.path
		this.#segments = [...parsePath('base', base), ...parsePath('health.path', settings.path)]
		this.#mounts = mounts
		this.#readiness = new Readiness(logger, steadyClock, inMilliseconds(settings.timeoutSeconds))
		if (cache.check !== undefined) this.#readiness.add('cache', async () => cache.check?.())
		for (const [at, check] of settings.checks.entries())
			this.#readiness.add(check.name === '' ? `checks[${at}]` : check.name, check)
	}

	/**
	 * Refuses a handler that would take requests away from health, or health from it.
	 *
	 * @param typed the handler path as it was typed
	 * @throws TypeError that names both
	 */
	refuseCollision(typed: string, mount: Mount): void {
		const own = this.#segments
		const { path } = mount
		if (own.every((segment, at) => segment === path[at]))
			throw this.#collision(typed, path.length === own.length ? 'is that of' : 'is below that of')
		// Above it, the longer path wins, as everywhere; but not in silence over what a handler has named itself.
		if (!path.every((segment, at) => segment === own[at])) return
		for (const probe of ['live', 'ready']) {
			const rest = [...own.slice(path.length), probe]
			for (const method of ROUTE_METHODS) {
				const action = mount.routes?.match(method, rest)?.value ?? mount.table.find(method, rest, 0)
				if (action !== undefined) throw this.#collision(typed, `has ${action.name}, which is below that of`)
			}
		}
	}

	#collision(typed: string, how: string): TypeError {
		return new TypeError(
			`the handler path ${JSON.stringify(typed)} ${how} the option health, ${JSON.stringify(this.#path)}: give one of them another`,
		)
	}

	/** A handler is mounted: its model, if it can be asked, must be well from now on. */
	watch(handler: RestHandler): void {
		if (!(handler instanceof CrudHandler)) return
		const { model } = handler
		if (model.check === undefined) return
		const { source = model } = model
		const { allow } = handler[FACTS].plan
		const writes = [...allow].some((operation) => operation !== 'list' && operation !== 'read')
		const known = this.#asked.get(source)
		if (known !== undefined) {
			known.writes ||= writes
			return
		}
		const asked = { writes }
		this.#asked.set(source, asked)
		this.#readiness.add(model.name, async () => model.check?.(asked.writes))
	}

	/**
	 * From now on it isn't ready. Resolves once whoever looks for that may have seen it. Of a worker of node:cluster that has
	 * no delay the port goes on being served by others: it must not say for all of them that they leave.
	 */
	async leave(): Promise<void> {
		this.#isLeaving = this.#drainDelay > 0 || !cluster.isWorker
		if (this.#drainDelay > 0) await setTimeout(this.#drainDelay)
	}

	/** Which probe a request is, if it is one. */
	probeOf({ url = '' }: Pick<Incoming, 'url'>): Probe | undefined {
		if (!ENDS_SO.test(url)) return undefined
		const segments = segmentsOf(url)
		const own = this.#segments
		if (segments?.length !== own.length + 1 || !own.every((segment, at) => segment === segments[at]))
			return undefined
		const last = segments.at(-1)
		return last === 'live' || last === 'ready' ? last : undefined
	}

	/** The answer to a probe; `undefined` for every other request. */
	answer(exchange: Exchange): Reply | Promise<Reply> | undefined {
		const probe = this.probeOf(exchange.incoming)
		if (probe === undefined) return undefined
		const { method } = exchange.incoming
		if (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS')
			return sealError(exchange, WRONG_METHOD)
		exchange.method = method
		// Of no handler: what the page may not send is let through to its 405, which it can read.
		if (isPreflight(exchange)) return answerPreflight(exchange, undefined, [])
		if (method === 'OPTIONS') return sealOptions(exchange, ['GET'])
		if (probe === 'live') return well(exchange)
		if (this.#isLeaving || this.#mounts.all.some(({ setUp }) => setUp !== undefined))
			return sealError(exchange, NOT_READY)
		const ready = this.#readiness.ask()
		return typeof ready === 'boolean' ? told(exchange, ready) : this.#later(exchange, ready)
	}

	async #later(exchange: Exchange, ready: Promise<boolean>): Promise<Reply> {
		const isReady = await ready
		return told(exchange, isReady && !this.#isLeaving)
	}
}

const NOT_READY = new RestError('unavailable', 'Not ready', {
	headers: { [UNSTORED[0]]: UNSTORED[1] },
})
const WRONG_METHOD = new RestError('method_not_allowed', undefined, {
	headers: { Allow: 'GET, HEAD, OPTIONS' },
})

function told(exchange: Exchange, isReady: boolean): Reply {
	return isReady ? well(exchange) : sealError(exchange, NOT_READY)
}

function well(exchange: Exchange): Reply {
	exchange.headerLines = new Map([['cache-control', UNSTORED]])
	return textual(exchange, 200, JSON_TYPE, WELL)
}

/** What can't be split is refused by the step that does it. */
function segmentsOf(url: string): readonly string[] | undefined {
	try {
		return parseTarget(url).segments
	} catch {
		return undefined
	}
}
