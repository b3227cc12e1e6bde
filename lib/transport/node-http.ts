/**
 * node:http: our own server, and the listener for other servers. Makes an exchange for each request and calls `serve`.
 */
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Closable, Exchange } from '../exchange/exchange.ts'
import { isMapBehindRouter } from '../explorer/explorer.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'
import { isLoopback, loopbackHosts, MAX_HEADER_LINES, Vetting } from './admission.ts'
import { answerClientError, answerConnect } from './client-error.ts'
import { type IdleTimes, nodeTimeouts } from './idle-connections.ts'
import { type Outgoing, watchResponse } from './outgoing.ts'
import { send } from './send.ts'
import {
	expectationError,
	isContinue,
	isUnlisted,
	refuse,
	type Service,
	serve,
	startWatch,
} from './serving.ts'
import { limitPending } from './slow-reader.ts'

export interface HttpSettings extends IdleTimes {
	/** Whether a server that listens on loopback serves only loopback names. */
	readonly isLoopbackGuarded: boolean
}

/** A listener for node's `http`, `https` and `http2` servers, Express, and the like. */
export type Listener = (request: Incoming, response: Outgoing, next?: (error?: unknown) => void) => void

/** Creates our server. `service` must not be shared: its `hosts` depend on the address that the server listens on. */
export function httpServer(service: Service, settings: HttpSettings): HttpServer {
	const server = createServer({
		...nodeTimeouts(settings),
		// Above node's default, so that we can tell a long target (414) from long headers (431).
		maxHeaderSize: 32_768,
		// `Vetting` checks Host instead: node's own 400 has no body.
		requireHostHeader: false,
	})
	server.maxHeadersCount = MAX_HEADER_LINES + 1
	// Against DNS rebinding, where a page's own host name resolves to this machine. A Unix socket needs no guard:
	// browsers can't reach it.
	server.on('listening', () => {
		const address = server.address()
		if (settings.isLoopbackGuarded && address !== null && typeof address === 'object')
			service.hosts = isLoopback(address.address) ? loopbackHosts() : undefined
	})
	server.on('request', (request, response) => serveHttp(service, request, response))
	// node's own test for the header is looser.
	server.on('checkContinue', (request, response) =>
		isContinue(request.headers.expect)
			? serveHttp(service, request, response, true)
			: refuseExpectation(service, request, response),
	)
	server.on('checkExpectation', (request, response) => refuseExpectation(service, request, response))
	server.on('connect', (request: IncomingMessage, socket: Socket) =>
		answerConnect(service.app, service.batcher, request, socket),
	)
	server.on('clientError', (error, socket) =>
		answerClientError(service.app, service.batcher, error, socket as Socket),
	)
	return server
}

/** A listener for other servers; calls `next`, if there is one, for paths that nothing is mounted at. */
export function listenerOf(service: Service): Listener {
	// Other servers have node's default limit: at that number of lines, node may already have dropped some.
	const ownService: Service = { ...service, vetting: new Vetting(MAX_HEADER_LINES - 1) }
	return (request, response, next) => {
		if (next !== undefined && !isMounted(ownService, request)) next()
		else serveHttp(ownService, request, response)
	}
}

/**
 * Whether a request's path leads to a mount, health, metrics or the explorer's map. Any other path goes to `next`, where a path
 * that we would refuse (`//`, a malformed escape) may be valid.
 */
function isMounted({ app, mounts, unlisted }: Service, incoming: Incoming): boolean {
	if (isUnlisted(unlisted, incoming)) return true
	const { url = '' } = incoming
	try {
		const { segments } = parseTarget(url)
		if (segments.length === 0 && app.explorer && isMapBehindRouter(incoming)) return true
		return mounts.find(segments) !== undefined
	} catch {
		return mounts.find(url.split('/').slice(1)) !== undefined
	}
}

/** Serves one request. `awaitsContinue`: the client waits for `100 Continue` before it sends its body. */
function serveHttp(service: Service, incoming: Incoming, response: Outgoing, awaitsContinue = false): void {
	const exchange = new Exchange(service.app, incoming)
	exchange.connection = response.stream ?? response
	if (isPipelined(response) && incoming.socket !== null) {
		if (!service.app.pipelines.register(incoming.socket, response)) return
		// Only node:http queues responses, and its requests have a net.Socket.
		exchange.connection = new PipelinedConnection(incoming.socket as Socket, response)
		limitPending(exchange, response)
		if (service.app.pipelines.isEnding(incoming.socket)) return
	}
	if (isUpgrade(incoming) && incoming.socket !== null) {
		// node's parser takes the rest of the packet for another protocol and drops it: where the next request begins is unknown.
		exchange.isLast = true
		service.app.pipelines.addPending(incoming.socket, response)
		service.app.pipelines.markEnding(incoming.socket)
	}
	if (awaitsContinue) {
		exchange.sendContinue = () => {
			exchange.sendContinue = undefined
			response.writeContinue()
		}
	}
	const watch = startWatch(service, exchange, service.batcher.deferred[0]?.watch)
	if (watch?.isLazy === false) watchResponse(watch, exchange, response)
	const refusal = service.vetting.check(incoming)
	if (refusal !== undefined) refuse(exchange, refusal, response, send)
	// setImmediate and nextTick keep the async context of each request, which holds its tracer's span.
	else if (awaitsContinue) serve(service, exchange, response, send)
	else if (service.batcher.defers(exchange)) setImmediate(serveDeferred, service, exchange, response)
	// node parses a body from the same packet one tick later.
	else if (Number(incoming.headers['content-length']) > 0)
		process.nextTick(serve, service, exchange, response, send)
	else serve(service, exchange, response, send)
}

function serveDeferred(service: Service, exchange: Exchange, response: Outgoing): void {
	const { batcher, observers } = service
	const isLast = batcher.end()
	observers.counts?.beginDeferred()
	try {
		serve(service, exchange, response, send)
	} finally {
		observers.counts?.endDeferred(isLast)
	}
}

/** Whether node's parser takes a request for the last in HTTP/1.1. */
function isUpgrade({ headers }: Incoming): boolean {
	return headers.upgrade !== undefined && /\bupgrade\b/i.test(headers.connection ?? '')
}

/** Whether an earlier answer is unfinished, or was the last of the connection. */
function isPipelined({ socket }: Outgoing): boolean {
	return socket === null || socket?.writableEnded === true
}

function refuseExpectation(service: Service, incoming: Incoming, response: Outgoing): void {
	const exchange = new Exchange(service.app, incoming)
	const watch = startWatch(service, exchange)
	if (watch?.isLazy === false) watchResponse(watch, exchange, response)
	refuse(exchange, expectationError(), response, send)
}

/** The socket of a pipelined request: its response emits no `close` while an earlier answer is being written. */
class PipelinedConnection implements Closable {
	readonly #socket: Socket
	readonly #response: Outgoing

	constructor(socket: Socket, response: Outgoing) {
		this.#socket = socket
		this.#response = response
	}

	get destroyed(): boolean {
		return this.#socket.destroyed
	}

	/** Also removes the listener when the response is closed: a connection may live for days. */
	once(event: 'close', call: () => void): void {
		// One listener per pending request isn't a leak: turns node's warning off.
		this.#socket.setMaxListeners(0)
		this.#socket.once(event, call)
		this.#response.once(event, () => this.off(event, call))
	}

	off(event: 'close', call: () => void): void {
		this.#socket.off(event, call)
	}
}
