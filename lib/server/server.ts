/**
 * `server/` is what a program starts and stops. `createServer` checks the options (`options.ts`), mounts handlers through a
 * `Controller`, and creates the `Service` that `transport/` serves: on a node:http server of its own (`listen.ts`,
 * `close.ts`), inside another server by `handler`, or without a socket by `fetch` and `inject`.
 */
import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { Deadlines } from '../base/deadlines.ts'
import { entriesOf } from '../base/options.ts'
import { inMilliseconds, type Milliseconds, steadyClock } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { Pipelines } from '../exchange/http-pipelining.ts'
import { UnsentAnswers } from '../exchange/unsent-answers.ts'
import { loadPages } from '../explorer/explorer.ts'
import { Controller } from '../handler/controller.ts'
import { Disposals } from '../handler/disposals.ts'
import type { Mountable } from '../handler/handler.ts'
import { Health } from '../health/health.ts'
import { Metrics } from '../metrics/metrics.ts'
import type { ServerEvents, ServerListener } from '../observe/events.ts'
import { Observers } from '../observe/watch.ts'
import { mountOpenApi } from '../openapi/openapi.ts'
import { MountTree } from '../routing/routing.ts'
import { MAX_HEADER_LINES, Vetting } from '../transport/admission.ts'
import { type FetchOptions, serveFetch } from '../transport/fetch.ts'
import { endBlankLines } from '../transport/idle-connections.ts'
import { type InjectedReply, type InjectedRequest, inject } from '../transport/inject.ts'
import { type HttpSettings, httpServer, type Listener, listenerOf } from '../transport/node-http.ts'
import { proxiesOf } from '../transport/proxies.ts'
import type { Service } from '../transport/serving.ts'
import { TickBatcher } from '../transport/tick-batcher.ts'
import { connectionsOf, drain, finishPending } from './close.ts'
import {
	type ListenFd,
	type Listening,
	type ListeningOnPath,
	type ListeningUnnamed,
	type ListenPath,
	listenOptions,
	listenWith,
} from './listen.ts'
import { type ServerOptions, type Settings, settingsOf } from './options.ts'

/** Handlers by handler path: `{ 'blog/api': new Blog() }`. */
export type Handlers = Readonly<Record<string, Mountable>>

export type { Listener }

/**
 * Creates a server from handlers. It listens only after `listen()`.
 *
 *     const { url } = await createServer({ 'blog/api': new Blog() }).listen(3000)
 *
 * @throws TypeError for an invalid handler, declaration or option, naming it as it was typed
 */
export function createServer(handlers: Handlers, options: ServerOptions = {}): Server {
	return new Server(handlers, settingsOf(options))
}

/** A server of handlers, created by {@link createServer}. */
export class Server {
	/** Mounts further handlers: `controller.service('blog/api', new Blog())`. */
	readonly controller: Controller
	/**
	 * Listener for another server: `http.createServer(handler)`, `app.use(handler)`. Behind a router, it calls `next` for
	 * paths that no handler has.
	 */
	readonly handler: Listener
	/**
	 * Answers a Fetch `Request`, for hosts that have no node:http: `{ fetch: server.fetch }`, and for tests. Both bodies
	 * are streamed; aborting `request.signal` disconnects the client. Rejects when the signal is aborted, and with a
	 * TypeError if the request's body has already been read. Where a connection would be cut off, the response's body
	 * fails.
	 */
	readonly fetch: (request: Request, options?: FetchOptions) => Promise<Response>
	readonly #service: Service
	readonly #graceTimeout: Milliseconds
	readonly #trustsAddresses: boolean
	readonly #httpSettings: HttpSettings
	/** node's server with its connections; created on first use. */
	#http: { readonly server: HttpServer; readonly connections: ReadonlySet<Socket> } | undefined
	readonly #disposals = new Disposals()
	readonly #health: Health | undefined
	readonly #metrics: Metrics | undefined
	#closing: Promise<void> | undefined

	/** Called by {@link createServer}. @hidden */
	constructor(handlers: Handlers, settings: Settings) {
		const app = appOf(settings)
		const mounts = new MountTree()
		const health = settings.health && new Health(app, mounts, settings.base, settings.health)
		const metrics = settings.metrics && new Metrics(app, settings.base, settings.metrics)
		if (health !== undefined) metrics?.page.checkOther(health.page)
		const observers = [health, metrics].filter((one) => one !== undefined)
		const options = { ...settings, observers, disposals: this.#disposals }
		this.controller = new Controller(app, mounts, settings.base, options)
		const { compression, crossSiteWrites } = settings
		const hosts = settings.hosts === '*' ? undefined : settings.hosts
		this.#service = {
			app,
			mounts,
			vetting: new Vetting(MAX_HEADER_LINES),
			batcher: new TickBatcher(),
			observers: new Observers(settings.logger, settings, metrics?.counts),
			unlisted: observers.map(({ page }) => page),
			compression,
			hosts,
			crossSiteWrites,
		}
		this.#health = health
		this.#metrics = metrics
		this.#graceTimeout = inMilliseconds(settings.graceTimeoutSeconds)
		const example = "{ 'blog/api': new Blog() }"
		try {
			for (const [path, handler] of entriesOf('handlers', handlers, example)) {
				// `service` checks its argument.
				this.controller.service(path, handler as Mountable)
			}
			if (settings.openapi !== undefined) {
				// Without the server's `after`, which could change the description so that clients can't read it.
				const own = new Controller(app, mounts, settings.base, { ...options, after: undefined })
				mountOpenApi(own, mounts, settings.openapi)
			}
			if (settings.explorer) loadPages()
		} catch (error) {
			metrics?.stop()
			this.#disposals.release()
			throw error
		}
		this.#httpSettings = {
			headersTimeout: inMilliseconds(settings.headersTimeoutSeconds),
			keepAliveTimeout: inMilliseconds(settings.keepAliveTimeoutSeconds),
			isLoopbackGuarded: settings.hosts === undefined && settings.trustProxy === undefined,
		}
		this.#trustsAddresses = Array.isArray(settings.trustProxy) && settings.trustProxy.length > 0
		this.handler = listenerOf(this.#service)
		this.fetch = (request, options) => serveFetch(this.#service, request, options)
	}

	/**
	 * node's server, for what only that can do: TLS contexts, WebSocket upgrades. Created on first use: hosts that call
	 * `fetch`, such as workerd, have none.
	 */
	get server(): HttpServer {
		if (this.#http === undefined) {
			const server = httpServer({ ...this.#service }, this.#httpSettings)
			const connections = connectionsOf(server)
			endBlankLines(server, this.#service.app, connections, this.#httpSettings)
			this.#http = { server, connections }
		}
		return this.#http.server
	}

	/**
	 * Runs the handlers' `init` and listens. Port 0 takes a free one. By default only this machine can connect: pass
	 * `'0.0.0.0'` or `'::'` for others. It also listens on a Unix socket, `listen({ path: '/run/app.sock' })`, and on a
	 * descriptor, such as systemd's: `listen({ fd: 3 })`.
	 *
	 * Rejects when the port or the path is taken, when a handler's `init` fails, and after `close()`.
	 */
	listen(port?: number, host?: string): Promise<Listening>
	listen(at: ListenPath): Promise<ListeningOnPath>
	listen(at: ListenFd): Promise<Listening | ListeningOnPath | ListeningUnnamed>
	async listen(
		at: number | ListenPath | ListenFd = 0,
		host = '127.0.0.1',
	): Promise<Listening | ListeningOnPath | ListeningUnnamed> {
		const options = listenOptions(at, host)
		await this.controller.ready()
		if (this.#closing !== undefined) throw new Error('the server has been closed: make a new one')
		const listening = await listenWith(this.server, options, this.#trustsAddresses)
		if (this.#closing !== undefined) {
			this.server.close()
			throw new Error('the server was closed before it listened')
		}
		return listening
	}

	/**
	 * Stops listening, and waits up to `graceTimeoutSeconds` for pending requests; then they are answered 503. Requests
	 * that still arrive on open connections are served, and the connections closed. Then handlers are disposed of, within
	 * the same time again. The promise resolves even if a handler fails.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#close()
		return this.#closing
	}

	async #close(): Promise<void> {
		const { app } = this.#service
		if (this.#health !== undefined) await this.#health.drain()
		const end = app.deadlines.clock() + this.#graceTimeout
		if (this.#http !== undefined) await drain(app, this.#http.server, this.#http.connections, end)
		await finishPending(app, end)
		await this.#disposals.run(app, this.#graceTimeout)
		this.#metrics?.stop()
	}

	/** `await using server = createServer(…)`: closes it. */
	[Symbol.asyncDispose](): Promise<void> {
		return this.close()
	}

	/**
	 * Adds a listener for `request`, emitted at the end of each request, or for `error`, emitted when one fails: with a status
	 * from 500 up, or with an answer that is cut off. Errors of the listener are logged.
	 *
	 *     server.on('request', ({ method, url, status }) => console.log(method, url, status))
	 *
	 * @throws TypeError for an unknown event
	 */
	on<Name extends keyof ServerEvents>(event: Name, listener: ServerListener<Name>): this {
		this.#service.observers.events.add(event, listener, false)
		return this
	}

	/** Adds a listener for the next event only. */
	once<Name extends keyof ServerEvents>(event: Name, listener: ServerListener<Name>): this {
		this.#service.observers.events.add(event, listener, true)
		return this
	}

	/** Removes a listener. */
	off<Name extends keyof ServerEvents>(event: Name, listener: ServerListener<Name>): this {
		this.#service.observers.events.remove(event, listener)
		return this
	}

	/** Answers a request without a socket, in the same way as any other; only node's parser is skipped. */
	inject(request: InjectedRequest): Promise<InjectedReply> {
		return inject(this.#service, request)
	}
}

function appOf(settings: Settings): App {
	const bodyTimeout = inMilliseconds(settings.bodyTimeoutSeconds)
	const handlerTimeout = inMilliseconds(settings.handlerTimeoutSeconds)
	return {
		cache: settings.cache,
		logger: settings.logger,
		authenticator: settings.authenticator,
		acl: settings.acl,
		validator: settings.validator,
		deadlines: new Deadlines(steadyClock, Math.min(bodyTimeout, handlerTimeout)),
		pipelines: new Pipelines(),
		unsent: new UnsentAnswers(settings.maxUnsentBytes),
		maxBody: settings.maxBody,
		bodyTimeout,
		handlerTimeout,
		sendTimeout: inMilliseconds(settings.sendTimeoutSeconds),
		requestId: settings.requestId,
		proxies: proxiesOf(settings.trustProxy),
		cors: settings.cors,
		explorer: settings.explorer,
		phase: 'open',
	}
}
