/**
 * `createServer`: what a program starts and stops. `Server` checks its options (`options.ts`), mounts handlers through a
 * `Controller`, and makes the `Service` that `transport/` serves: on a node:http server of its own (`listen.ts`, `close.ts`),
 * inside another server by `handler`, or without a socket by `fetch` and `inject`.
 */
import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { Deadlines } from '../base/deadlines.ts'
import { entriesOf } from '../base/options.ts'
import { inMilliseconds, type Milliseconds, steadyClock } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { Pipelines } from '../exchange/pipelines.ts'
import { loadPages } from '../explorer/explorer.ts'
import { Controller } from '../handler/controller.ts'
import { Disposals } from '../handler/disposals.ts'
import type { Mountable } from '../handler/handler.ts'
import { Health } from '../health/health.ts'
import type { ServerEvents, ServerListener } from '../observe/events.ts'
import { Observers } from '../observe/watch.ts'
import { mountOpenApi } from '../openapi/openapi.ts'
import { MountTree } from '../routing/routing.ts'
import { MAX_HEADER_LINES, Vetting } from '../transport/admission.ts'
import { endBlankLines } from '../transport/blank-lines.ts'
import { type FetchOptions, serveFetch } from '../transport/fetch.ts'
import { type InjectedReply, type InjectedRequest, inject } from '../transport/inject.ts'
import { type HttpSettings, httpServer, type Listener, listenerOf } from '../transport/node-http.ts'
import { proxiesOf } from '../transport/proxies.ts'
import type { Service } from '../transport/serving.ts'
import { TickBatcher } from '../transport/tick-batcher.ts'
import { connectionsOf, drain, endServing, finishPending } from './close.ts'
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
 * Makes a server of handlers. Nothing listens before `listen()`.
 *
 *     const { url } = await createServer({ 'blog/api': new Blog() }).listen(3000)
 *
 * @throws TypeError for a handler, a declaration or an option that can't be served, naming it as it was typed
 */
export function createServer(handlers: Handlers, options: ServerOptions = {}): Server {
	return new Server(handlers, settingsOf(options))
}

/** A server of handlers: made by {@link createServer}. */
export class Server {
	/** Mounts further handlers: `controller.service('blog/api', new Blog())`. */
	readonly controller: Controller
	/**
	 * Serves requests of another server: `http.createServer(handler)`, `app.use(handler)`. Behind a
	 * router, `next` is called for paths that no handler has.
	 */
	readonly handler: Listener
	/**
	 * Answers a request of the Fetch standard, for hosts that have no node:http: `{ fetch: server.fetch }`, and for tests.
	 * Both bodies are streamed; aborting `request.signal` is leaving. Rejects then, and with a TypeError where the body
	 * has been read before; the body of an answer fails where a connection would be cut.
	 */
	readonly fetch: (request: Request, options?: FetchOptions) => Promise<Response>
	readonly #service: Service
	readonly #graceTimeout: Milliseconds
	readonly #trustsAddresses: boolean
	readonly #httpSettings: HttpSettings
	/** node's server with its connections; made when it is first needed. */
	#http: { readonly server: HttpServer; readonly connections: ReadonlySet<Socket> } | undefined
	readonly #disposals = new Disposals()
	#closing: Promise<void> | undefined

	/** By {@link createServer}. @hidden */
	constructor(handlers: Handlers, settings: Settings) {
		const app = appOf(settings)
		const mounts = new MountTree()
		const health = settings.health && new Health(app, mounts, settings.base, settings.health)
		const options = { ...settings, observer: health, disposals: this.#disposals }
		this.controller = new Controller(app, mounts, settings.base, options)
		const observers = new Observers(settings.logger, settings)
		const { compression, crossSiteWrites } = settings
		const hosts = settings.hosts === '*' ? undefined : settings.hosts
		this.#service = {
			app,
			mounts,
			vetting: new Vetting(MAX_HEADER_LINES),
			batcher: new TickBatcher(),
			observers,
			health,
			compression,
			hosts,
			crossSiteWrites,
		}
		this.#graceTimeout = inMilliseconds(settings.graceTimeoutSeconds)
		const example = "{ 'blog/api': new Blog() }"
		try {
			for (const [path, handler] of entriesOf('handlers', handlers, example)) {
				// `service` checks its argument.
				this.controller.service(path, handler as Mountable)
			}
			if (settings.openapi !== undefined) {
				// The server's `after` would change the description, which clients could not read then.
				const own = new Controller(app, mounts, settings.base, { ...options, after: undefined })
				mountOpenApi(own, mounts, settings.openapi)
			}
			if (settings.explorer) loadPages()
		} catch (error) {
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
	 * node's server, for what only it can do: TLS contexts, WebSocket upgrades. Made when it is first asked for: hosts that
	 * call `fetch`, such as workerd, have none.
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
	 * Sets the handlers up and listens. Port 0 takes a free one. Only this machine can connect by
	 * default: pass `'0.0.0.0'`, or `'::'`, to be reached by others. A proxy on this machine can be given the path of a Unix
	 * socket, and systemd hands over a descriptor: `listen({ path: '/run/app.sock' })`, `listen({ fd: 3 })`.
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
	 * Stops listening, and waits for the requests that are being answered: up to `graceTimeoutSeconds`, after
	 * which they are answered 503. Requests that still come on open connections are served, and close them. Then handlers
	 * are disposed of, for which there is as much time again: it resolves also where that fails.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#close()
		return this.#closing
	}

	async #close(): Promise<void> {
		const { app, health } = this.#service
		if (health !== undefined) await health.leave()
		const end = app.deadlines.clock() + this.#graceTimeout
		if (this.#http !== undefined) await drain(app, this.#http.server, this.#http.connections, end)
		endServing(app)
		await finishPending(app, end)
		await this.#disposals.run(app, this.#graceTimeout)
	}

	/** `await using server = createServer(…)`: closes it. */
	[Symbol.asyncDispose](): Promise<void> {
		return this.close()
	}

	/**
	 * Calls a function with each `request` that is over, or with each that ends in an `error`: a status from 500 up,
	 * or an answer that is cut off. What it throws goes to the logger.
	 *
	 *     server.on('request', ({ method, url, status }) => console.log(method, url, status))
	 *
	 * @throws TypeError for an event that there isn't
	 */
	on<Name extends keyof ServerEvents>(event: Name, listener: ServerListener<Name>): this {
		this.#service.observers.events.add(event, listener, false)
		return this
	}

	/** The same, for the next one alone. */
	once<Name extends keyof ServerEvents>(event: Name, listener: ServerListener<Name>): this {
		this.#service.observers.events.add(event, listener, true)
		return this
	}

	/** Calls a listener no more. */
	off<Name extends keyof ServerEvents>(event: Name, listener: ServerListener<Name>): this {
		this.#service.observers.events.remove(event, listener)
		return this
	}

	/** Answers a request without a socket, on the same path as any other; only node's parser is left out. */
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
		validator: settings.validator,
		deadlines: new Deadlines(steadyClock, Math.min(bodyTimeout, handlerTimeout)),
		pipelines: new Pipelines(),
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
