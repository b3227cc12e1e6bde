/** node:http: our own server, and the listener for others' servers. Each request becomes an exchange, which `serving.ts` serves. */
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Milliseconds } from '../base/time.ts'
import { type Closable, Exchange } from '../exchange/exchange.ts'
import { isMapBehind } from '../explorer/explorer.ts'
import type { Watch } from '../observe/watch.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'
import { isLoopback, loopbackHosts, MAX_HEADER_LINES, Vetting } from './admission.ts'
import { answerClientError, answerConnect } from './client-error.ts'
import { type Outgoing, send } from './send.ts'
import { refuse, type Service, serve, unexpected, watchOf } from './serving.ts'

/** What node is told. */
export interface HttpSettings {
	readonly headersTimeout: Milliseconds
	readonly keepAliveTimeout: Milliseconds
	/** Whether loopback names alone are served where it listens on loopback. */
	readonly isLoopbackGuarded: boolean
}

/** A listener for node's `http`, `https` and `http2` servers, for Express, and for what is made like them. */
export type Listener = (request: Incoming, response: Outgoing, next?: (error?: unknown) => void) => void

/** The server; `service` is its own, as the hosts that it serves depend on where it listens. */
export function httpServer(service: Service, settings: HttpSettings): HttpServer {
	const server = createServer({
		headersTimeout: settings.headersTimeout,
		// node's time for a whole request can't differ by route: the body's is kept by us.
		requestTimeout: 0,
		keepAliveTimeout: settings.keepAliveTimeout,
		connectionsCheckingInterval: checkingInterval(settings.headersTimeout),
		// Over node's default, so that what is a little too long reaches us and is told apart (414, 431).
		maxHeaderSize: 32_768,
		// Checked by us, as node answers without a body.
		requireHostHeader: false,
	})
	server.maxHeadersCount = MAX_HEADER_LINES + 1
	// Against DNS rebinding: a page's own name, turned to this machine's address. Browsers can't reach a Unix socket.
	server.on('listening', () => {
		const address = server.address()
		if (settings.isLoopbackGuarded && address !== null && typeof address === 'object')
			service.hosts = isLoopback(address.address) ? loopbackHosts() : undefined
	})
	server.on('request', (request, response) => serveHttp(service, request, response))
	server.on('checkContinue', (request, response) => serveHttp(service, request, response, true))
	server.on('checkExpectation', (request, response) => refuseExpectation(service, request, response))
	server.on('connect', (request: IncomingMessage, socket: Socket) =>
		answerConnect(service.app, request, socket),
	)
	server.on('clientError', (error, socket) =>
		answerClientError(service.app, service.batcher, error, socket as Socket),
	)
	return server
}

/** How often connections are looked at for headers that take too long. */
export function checkingInterval(headersTimeout: Milliseconds): Milliseconds {
	return Math.max(50, Math.min(1_000, headersTimeout / 4))
}

/** A listener for servers of others; what no mount serves goes to `next`, where there is one. */
export function listenerOf(service: Service): Listener {
	// Another server has node's own limit, at which lines have been dropped already.
	const ours: Service = { ...service, vetting: new Vetting(MAX_HEADER_LINES - 1) }
	return (request, response, next) => {
		if (next !== undefined && !isOurs(ours, request)) next()
		else serveHttp(ours, request, response)
	}
}

/**
 * Whether a request's path leads to a mount, to health, or to the map: what doesn't is left to whoever stands behind us.
 * A path that we would refuse (`//`, a malformed escape) may be right there.
 */
function isOurs({ app, mounts, health }: Service, incoming: Incoming): boolean {
	if (health?.isProbe(incoming) === true) return true
	const { url = '' } = incoming
	try {
		const { segments } = parseTarget(url)
		if (segments.length === 0 && app.explorer && isMapBehind(incoming)) return true
		return mounts.find(segments) !== undefined
	} catch {
		return mounts.find(url.split('/').slice(1)) !== undefined
	}
}

/** Serves one request. `awaitsContinue` when the client waits for `100 Continue` before it sends its body. */
function serveHttp(service: Service, incoming: Incoming, response: Outgoing, awaitsContinue = false): void {
	const exchange = new Exchange(service.app, incoming)
	exchange.connection = response.stream ?? response
	if (isBehind(response) && incoming.socket !== null) {
		if (!service.app.pipelines.enter(incoming.socket, response)) return
		// Only node:http queues responses, and its requests have a net.Socket.
		exchange.connection = new Departure(incoming.socket as Socket, response)
	}
	if (awaitsContinue) {
		exchange.sendContinue = () => {
			exchange.sendContinue = undefined
			response.writeContinue()
		}
	}
	const watch = watchOf(service, exchange)
	if (watch !== undefined) watchResponse(watch, exchange, response)
	const refusal = service.vetting.check(incoming)
	if (refusal !== undefined) refuse(exchange, refusal, response, send)
	// setImmediate and nextTick keep the caller's async context for each: a tracer's span belongs to its request.
	else if (awaitsContinue) serve(service, exchange, response, send)
	else if (service.batcher.defers(exchange)) setImmediate(serveDeferred, service, exchange, response)
	// node has the body that came with the headers one tick later.
	else if (incoming.headers['content-length'] !== undefined)
		process.nextTick(serve, service, exchange, response, send)
	else serve(service, exchange, response, send)
}

function serveDeferred(service: Service, exchange: Exchange, response: Outgoing): void {
	service.batcher.end()
	serve(service, exchange, response, send)
}

/** Whether a request came before its predecessor's answer was written, or after the last of its connection. */
function isBehind({ socket }: Outgoing): boolean {
	return socket === null || socket?.writableEnded === true
}

/** Refuses an expectation other than `100-continue`. */
function refuseExpectation(service: Service, incoming: Incoming, response: Outgoing): void {
	const exchange = new Exchange(service.app, incoming)
	const watch = watchOf(service, exchange)
	if (watch !== undefined) watchResponse(watch, exchange, response)
	refuse(exchange, unexpected(), response, send)
}

/** Tells the watch when the answer is written, or never will be. */
function watchResponse(watch: Watch, exchange: Exchange, response: Outgoing): void {
	const left = (): void => watch.end(false)
	// Before node's own listener, which takes the connection away.
	response.prependOnceListener('finish', () => {
		watch.end(!isCut(exchange, response))
		exchange.connection?.off('close', left)
	})
	response.once('close', left)
	// A response that waits for its turn isn't told that the client has left.
	if (exchange.connection !== response) exchange.connection?.once('close', left)
}

/** Whether it has only seemed to end: HTTP/2 says `finish` of every stream, and a socket of bytes that it has dropped. */
function isCut({ incoming }: Exchange, { stream, writableEnded }: Outgoing): boolean {
	if (stream !== undefined) return !writableEnded || stream.aborted === true
	return incoming.socket?.destroyed === true
}

/**
 * The socket, as far as it concerns one of the requests that are under way on it: a pipelined response isn't told that the
 * client has left before it has the connection.
 */
class Departure implements Closable {
	readonly #socket: Socket
	readonly #response: Outgoing

	constructor(socket: Socket, response: Outgoing) {
		this.#socket = socket
		this.#response = response
	}

	get destroyed(): boolean {
		return this.#socket.destroyed
	}

	/** Calls back once, unless the answer has been written before: a connection may live on for days. */
	once(event: 'close', call: () => void): void {
		// As many wait as there are requests under way, which is no leak to be warned of.
		this.#socket.setMaxListeners(0)
		this.#socket.once(event, call)
		this.#response.once(event, () => this.off(event, call))
	}

	off(event: 'close', call: () => void): void {
		this.#socket.off(event, call)
	}
}
