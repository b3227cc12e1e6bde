/** node:http: our own server, and the listener for servers of others. Each request becomes an exchange for `serve`. */
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

/** Settings of node's server. */
export interface HttpSettings {
	readonly headersTimeout: Milliseconds
	readonly keepAliveTimeout: Milliseconds
	/** Whether only loopback names are served when it listens on loopback. */
	readonly isLoopbackGuarded: boolean
}

/** A listener for node's `http`, `https` and `http2` servers, Express, and the like. */
export type Listener = (request: Incoming, response: Outgoing, next?: (error?: unknown) => void) => void

/** Our server. `service` must be its own: its hosts are set by the address it listens on. */
export function httpServer(service: Service, settings: HttpSettings): HttpServer {
	const server = createServer({
		headersTimeout: settings.headersTimeout,
		// node's timeout for a whole request can't differ by route: we time the body ourselves.
		requestTimeout: 0,
		keepAliveTimeout: settings.keepAliveTimeout,
		connectionsCheckingInterval: checkingInterval(settings.headersTimeout),
		// Above node's default, so that we see what is a little too long, and tell 414 from 431.
		maxHeaderSize: 32_768,
		// `Vetting` checks it: node would answer without a body.
		requireHostHeader: false,
	})
	server.maxHeadersCount = MAX_HEADER_LINES + 1
	// Against DNS rebinding, where a page's own host name resolves to this machine. Browsers can't reach a Unix socket.
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

/** How often connections are checked for headers that take too long. */
export function checkingInterval(headersTimeout: Milliseconds): Milliseconds {
	return Math.max(50, Math.min(1_000, headersTimeout / 4))
}

/** A listener for servers of others; passes what no mount serves to `next`, if there is one. */
export function listenerOf(service: Service): Listener {
	// Another server has node's default limit: at that number, lines may have been dropped already.
	const ours: Service = { ...service, vetting: new Vetting(MAX_HEADER_LINES - 1) }
	return (request, response, next) => {
		if (next !== undefined && !isOurs(ours, request)) next()
		else serveHttp(ours, request, response)
	}
}

/**
 * Whether a request's path leads to a mount, health or the explorer's map. All others are for `next`, where a path that
 * we would refuse (`//`, a malformed escape) may be valid.
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

/** Serves one request. `awaitsContinue`: the client waits for `100 Continue` before it sends its body. */
function serveHttp(service: Service, incoming: Incoming, response: Outgoing, awaitsContinue = false): void {
	const exchange = new Exchange(service.app, incoming)
	exchange.connection = response.stream ?? response
	if (isBehind(response) && incoming.socket !== null) {
		if (!service.app.pipelines.register(incoming.socket, response)) return
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
	// setImmediate and nextTick keep the async context of each request, with its tracer's span.
	else if (awaitsContinue) serve(service, exchange, response, send)
	else if (service.batcher.defers(exchange)) setImmediate(serveDeferred, service, exchange, response)
	// node parses a body from the same packet one tick later.
	else if (incoming.headers['content-length'] !== undefined)
		process.nextTick(serve, service, exchange, response, send)
	else serve(service, exchange, response, send)
}

function serveDeferred(service: Service, exchange: Exchange, response: Outgoing): void {
	service.batcher.end()
	serve(service, exchange, response, send)
}

/** Whether a request is pipelined behind an unfinished answer, or came after the last of its connection. */
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

/** Tells the watch when the answer is written, or is known never to be. */
function watchResponse(watch: Watch, exchange: Exchange, response: Outgoing): void {
	const left = (): void => watch.end(false)
	// Before node's own listener, which detaches the connection.
	response.prependOnceListener('finish', () => {
		watch.end(!isCut(exchange, response))
		exchange.connection?.off('close', left)
	})
	response.once('close', left)
	// A pipelined response doesn't emit `close` when the client leaves.
	if (exchange.connection !== response) exchange.connection?.once('close', left)
}

/** Whether `finish` lies: HTTP/2 emits it for every stream, and a destroyed socket for bytes that it dropped. */
function isCut({ incoming }: Exchange, { stream, writableEnded }: Outgoing): boolean {
	if (stream !== undefined) return !writableEnded || stream.aborted === true
	return incoming.socket?.destroyed === true
}

/** The socket as seen by one pipelined request: its response emits no `close` before it has the connection. */
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

	/** Calls back once, unless the answer is written first: a connection may live for days. */
	once(event: 'close', call: () => void): void {
		// One listener per pending request is no leak: no warning.
		this.#socket.setMaxListeners(0)
		this.#socket.once(event, call)
		this.#response.once(event, () => this.off(event, call))
	}

	off(event: 'close', call: () => void): void {
		this.#socket.off(event, call)
	}
}
