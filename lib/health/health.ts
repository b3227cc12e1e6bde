/**
 * Probes for load balancers: `/live` (the process responds) and `/ready` (it should get requests). Their handler is an
 * `UnlistedMount` of `handler/`, which answers before any other step. Created by `Server` if the option `health` is on.
 */
import cluster from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { RestError } from '../base/error.ts'
import { functionLike, listOf, nested, numberIn, or, type Reader, type Readers } from '../base/options.ts'
import { inMilliseconds, type Milliseconds, type Seconds, steadyClock } from '../base/time.ts'
import { CrudHandler } from '../crud/crud-handler.ts'
import { READS } from '../crud/options.ts'
import { FACTS } from '../crud/view.ts'
import type { App } from '../exchange/app.ts'
import type { MountObserver } from '../handler/controller.ts'
import { RestHandler } from '../handler/handler.ts'
import { pagePath, UnlistedMount } from '../handler/unlisted.ts'
import type { MountTree } from '../routing/routing.ts'
import { type HealthCheck, Readiness } from './checks.ts'

/** The option `health`: the path of the probes, and the checks of /ready. */
export interface HealthOptions {
	/** The path of the probes, below `base`: `'health'` for `/health/live` and `/health/ready`. */
	readonly path: string
	/** Readiness checks in addition to those of the cache and of the handlers' models. @default none */
	readonly checks?: readonly HealthCheck[]
	/** The timeout of all checks together, which run concurrently. From 0.001 up. @default 2 */
	readonly timeoutSeconds?: Seconds
	/**
	 * How long `close()` keeps serving while `/ready` already answers 503, so that load balancers notice. It should be
	 * longer than the interval of their probes. From 0 up. @default 0
	 */
	readonly drainDelaySeconds?: Seconds
}

/** The maximum of Node's timers, 24 days. */
const MAX_TIMER: Seconds = 2_147_483

type HealthSettings = Required<HealthOptions>

export const healthOption: Reader<HealthSettings> = nested("{ path: 'health' }", {
	path: pagePath('health'),
	checks: or(
		listOf(
			"an array of functions: [() => pool.query('select 1')]",
			functionLike<HealthCheck>("() => pool.query('select 1')"),
			0,
		),
		[],
	),
	timeoutSeconds: or(numberIn({ from: 0.001, to: MAX_TIMER, unit: 'seconds' }), 2),
	drainDelaySeconds: or(numberIn({ from: 0, to: MAX_TIMER, unit: 'seconds' }), 0),
} satisfies Readers<HealthOptions>)

const NO_STORE = { 'Cache-Control': 'no-store' }
const NOT_READY = Object.freeze(new RestError('unavailable', 'Not ready', { headers: NO_STORE }))

class Probes extends RestHandler {
	private readonly isReady: () => boolean | Promise<boolean>

	constructor(isReady: () => boolean | Promise<boolean>) {
		super()
		this.isReady = isReady
	}

	get_live(): object {
		return this.okIf(true)
	}

	get_ready(): object | Promise<object> {
		const ready = this.isReady()
		return typeof ready === 'boolean' ? this.okIf(ready) : ready.then((isReady) => this.okIf(isReady))
	}

	private okIf(isReady: boolean): object {
		if (!isReady) throw NOT_READY
		for (const [name, value] of Object.entries(NO_STORE)) this.header(name, value)
		return { status: 'ok' }
	}
}

export class Health implements MountObserver {
	readonly #drainDelay: Milliseconds
	readonly page: UnlistedMount
	/** The server's mounts. */
	readonly #mounts: MountTree
	readonly #readiness: Readiness
	/** Whether a store's check includes writing, by source, so that a pool shared by a hundred tables is checked once. */
	readonly #stores = new Map<object, { writes: boolean }>()
	#isDraining = false

	/** @param base the server's option `base` */
	constructor(app: App, mounts: MountTree, base: string, settings: HealthSettings) {
		const { path, checks, timeoutSeconds, drainDelaySeconds } = settings
		const { cache, logger } = app
		this.#drainDelay = inMilliseconds(drainDelaySeconds)
		this.#mounts = mounts
		this.#readiness = new Readiness(logger, steadyClock, inMilliseconds(timeoutSeconds))
		if (cache.check !== undefined) this.#readiness.add('cache', async () => cache.check?.())
		for (const [at, check] of checks.entries())
			this.#readiness.add(check.name === '' ? `checks[${at}]` : check.name, check)
		const handler = new Probes(() => this.#isReady())
		const resources = ['live', 'ready']
		this.page = new UnlistedMount(app, { option: 'health', base, path, handler, resources })
	}

	#isReady(): boolean | Promise<boolean> {
		if (this.#isDraining || this.#mounts.all.some(({ init }) => init !== undefined)) return false
		const ready = this.#readiness.isReady()
		// `close()` may have been called meanwhile.
		return typeof ready === 'boolean' ? ready : ready.then((isReady) => isReady && !this.#isDraining)
	}

	/**
	 * Makes `/ready` answer 503, and resolves after the drain delay. Without a delay, a worker of node:cluster stays ready,
	 * because other workers go on serving its port.
	 */
	async drain(): Promise<void> {
		this.#isDraining = this.#drainDelay > 0 || !cluster.isWorker
		if (this.#drainDelay > 0) await setTimeout(this.#drainDelay)
	}

	/** Adds the check of a mounted handler's model, if it has one. */
	mounted(handler: RestHandler): void {
		if (!(handler instanceof CrudHandler)) return
		const { model } = handler
		if (model.check === undefined) return
		const { source = model } = model
		const { allow } = handler[FACTS].plan
		const writes = [...allow].some((operation) => !READS.includes(operation))
		const existing = this.#stores.get(source)
		if (existing !== undefined) {
			existing.writes ||= writes
			return
		}
		const store = { writes }
		this.#stores.set(source, store)
		this.#readiness.add(model.name, async () => model.check?.(store.writes))
	}
}
