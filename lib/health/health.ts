/**
 * The probes of load balancers: `/live` says that the process answers, `/ready` that requests should be sent to it. They
 * are a handler like any other, mounted in a tree of its own: `transport/serving.ts` asks `Health` before all else, and
 * what is a probe goes through the pipeline with that tree. So a probe needs no credentials and no known host, is not
 * logged, compressed or shown as a page, and is in no description. `Server` makes it where the option `health` is on.
 */
import cluster from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { RestError } from '../base/error.ts'
import { ROUTE_METHODS } from '../base/http.ts'
import {
	functionLike,
	listOf,
	nested,
	numberIn,
	or,
	type Reader,
	type Readers,
	refusal,
} from '../base/options.ts'
import { inMilliseconds, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { CrudHandler } from '../crud/crud-handler.ts'
import { FACTS } from '../crud/view.ts'
import type { App } from '../exchange/app.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { Controller, type MountObserver } from '../handler/controller.ts'
import { RestHandler } from '../handler/handler.ts'
import { answer } from '../pipeline/answer.ts'
import { answerPreflight, isPreflight } from '../pipeline/preflight.ts'
import type { Reply } from '../reply/headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'
import { type Mount, MountTree, parsePath } from '../routing/routing.ts'
import { type HealthCheck, Readiness } from './checks.ts'

/** The option `health`: the path of the probes, and what /ready checks. */
export interface HealthOptions {
	/** Where the probes are, below `base`: with `'health'` at `/health/live` and `/health/ready`. */
	readonly path: string
	/** What must hold for the server to be ready, beside its cache and its handlers' models. @default none */
	readonly checks?: readonly HealthCheck[]
	/** For all checks, which run at once; one that hasn't ended by then has failed. From 0.001 up. @default 2 */
	readonly timeoutSeconds?: Seconds
	/**
	 * How long `close()` goes on serving while `/ready` answers 503 already, so that a load balancer sees it first: longer
	 * than the time between two of its probes. From 0 up. @default 0
	 */
	readonly drainDelaySeconds?: Seconds
}

/** node's timers take no more than 24 days. */
const LONGEST: Seconds = 2_147_483

type HealthSettings = Required<HealthOptions>

/** Reads the option `health`. */
export const healthOption: Reader<HealthSettings> = nested("{ path: 'health' }", {
	path(where, value) {
		if (typeof value !== 'string') throw refusal(where, "a path: 'health'", value)
		if (parsePath(where, value).length > 0) return value
		throw new TypeError(`${where} must have a segment at least, such as 'health': every handler is below ''`)
	},
	checks: or(
		listOf(
			"an array of functions: [() => pool.query('select 1')]",
			functionLike<HealthCheck>("() => pool.query('select 1')"),
			0,
		),
		[],
	),
	timeoutSeconds: or(numberIn({ from: 0.001, to: LONGEST, unit: 'seconds' }), 2),
	drainDelaySeconds: or(numberIn({ from: 0, to: LONGEST, unit: 'seconds' }), 0),
} satisfies Readers<HealthOptions>)

/** Most URLs don't end so, and need no further look. */
const PROBE = /\/(?:live|ready)\/?(?:\?|$)/

/** No cache in between may answer in our place. */
const UNSTORED = { 'Cache-Control': 'no-store' }
const NOT_READY = Object.freeze(new RestError('unavailable', 'Not ready', { headers: UNSTORED }))

/** The two probes. */
class Probes extends RestHandler {
	private readonly isReady: () => boolean | Promise<boolean>

	constructor(isReady: () => boolean | Promise<boolean>) {
		super()
		this.isReady = isReady
	}

	get_live(): object {
		return this.ok()
	}

	get_ready(): object | Promise<object> {
		const ready = this.isReady()
		return typeof ready === 'boolean' ? this.told(ready) : ready.then((isReady) => this.told(isReady))
	}

	private told(isReady: boolean): object {
		if (!isReady) throw NOT_READY
		return this.ok()
	}

	private ok(): object {
		for (const [name, value] of Object.entries(UNSTORED)) this.header(name, value)
		return { status: 'ok' }
	}
}

/** Whether a store is asked about reading alone, or about writing as well. */
interface StoreCheck {
	writes: boolean
}

export class Health implements MountObserver {
	readonly #drainDelay: Milliseconds
	readonly #path: string
	readonly #segments: readonly string[]
	/** Those of the server, beside which the probes are mounted. */
	readonly #mounts: MountTree
	readonly #own = new MountTree()
	readonly #readiness: Readiness
	/** By source, so that a hundred tables of one pool are asked about once. */
	readonly #stores = new Map<object, StoreCheck>()
	#isLeaving = false

	/** @param base the server's */
	constructor(app: App, mounts: MountTree, base: string, settings: HealthSettings) {
		const { path, checks, timeoutSeconds, drainDelaySeconds } = settings
		const { cache, logger } = app
		this.#drainDelay = inMilliseconds(drainDelaySeconds)
		this.#path = path
		this.#segments = [...parsePath('base', base), ...parsePath('health.path', path)]
		this.#mounts = mounts
		this.#readiness = new Readiness(logger, steadyClock, inMilliseconds(timeoutSeconds))
		if (cache.check !== undefined) this.#readiness.add('cache', async () => cache.check?.())
		for (const [at, check] of checks.entries())
			this.#readiness.add(check.name === '' ? `checks[${at}]` : check.name, check)
		const controller = new Controller(app, this.#own, base, { authenticator: undefined, acl: undefined })
		controller.service(path, new Probes(() => this.#isReady()))
	}

	/** The answer to a probe; `undefined` for every other request. */
	answer(exchange: Exchange): Reply | Promise<Reply> | undefined {
		if (!this.isProbe(exchange.incoming)) return undefined
		// As where nothing is mounted: a page that sends another method than GET reads its 405, not a failed preflight.
		if (exchange.incoming.method === 'OPTIONS' && isPreflight(exchange))
			return answerPreflight(exchange, undefined, [])
		const reply = answer(exchange, this.#own)
		// The checks have a time of their own, whatever `handlerTimeoutSeconds` is.
		exchange.due = Number.POSITIVE_INFINITY
		return reply
	}

	isProbe({ url = '' }: Pick<Incoming, 'url'>): boolean {
		if (!PROBE.test(url)) return false
		const own = this.#segments
		try {
			const { segments } = parseTarget(url)
			const last = segments.at(-1)
			if (segments.length !== own.length + 1 || (last !== 'live' && last !== 'ready')) return false
			return own.every((segment, at) => segment === segments[at])
		} catch {
			// The pipeline refuses it.
			return false
		}
	}

	/** A round of checks may be overtaken by `close()`. */
	#isReady(): boolean | Promise<boolean> {
		if (this.#isLeaving || this.#mounts.all.some(({ setUp }) => setUp !== undefined)) return false
		const ready = this.#readiness.ask()
		return typeof ready === 'boolean' ? ready : ready.then((isReady) => isReady && !this.#isLeaving)
	}

	/**
	 * From now on `/ready` answers 503. Resolves once load balancers have had the time to see it. A worker of node:cluster
	 * without a delay stays ready: others go on serving its port, and it must not answer for them.
	 */
	async leave(): Promise<void> {
		this.#isLeaving = this.#drainDelay > 0 || !cluster.isWorker
		if (this.#drainDelay > 0) await setTimeout(this.#drainDelay)
	}

	/**
	 * Refuses a handler that would take requests away from the probes, or they from it.
	 *
	 * @throws TypeError that names both
	 */
	check(typed: string, mount: Mount): void {
		const own = this.#segments
		const { path } = mount
		if (own.every((segment, at) => segment === path[at]))
			throw this.#collision(typed, path.length === own.length ? 'is that of' : 'is below that of')
		// Above it, the longer path wins, as everywhere; but not silently over an action that the handler has named itself.
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
			`the handler path ${JSON.stringify(typed)} ${how} the option health, ${JSON.stringify(this.#path)}: change one of them`,
		)
	}

	/** From now on the model of a mounted handler is checked, where it can be. */
	mounted(handler: RestHandler): void {
		if (!(handler instanceof CrudHandler)) return
		const { model } = handler
		if (model.check === undefined) return
		const { source = model } = model
		const { allow } = handler[FACTS].plan
		const writes = [...allow].some((operation) => operation !== 'list' && operation !== 'read')
		const known = this.#stores.get(source)
		if (known !== undefined) {
			known.writes ||= writes
			return
		}
		const store = { writes }
		this.#stores.set(source, store)
		this.#readiness.add(model.name, async () => model.check?.(store.writes))
	}
}
