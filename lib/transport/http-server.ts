/** node's server, with its times and bounds, whose requests a `Service` answers. Made by `Server`. */
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Milliseconds } from '../base/time.ts'
import { answerClientError, answerConnect } from './client-error.ts'
import { isLoopback, loopbackHosts } from './hosts.ts'
import { refuseExpectation, type Service, serve } from './serving.ts'
import { MAX_HEADER_LINES, type Vetting } from './vet.ts'

/** What node is told. */
export interface HttpSettings {
	readonly headersTimeout: Milliseconds
	readonly keepAliveTimeout: Milliseconds
	/** Whether loopback names alone are served where it listens on loopback. */
	readonly isLoopbackGuarded: boolean
}

/** The server; `service` is its own, as the hosts that it serves depend on where it listens. */
export function httpServer(service: Service, vetting: Vetting, settings: HttpSettings): HttpServer {
	const server = createServer({
		headersTimeout: settings.headersTimeout,
		// node's time for a whole request can't differ by route: the body's is kept by us.
		requestTimeout: 0,
		keepAliveTimeout: settings.keepAliveTimeout,
		connectionsCheckingInterval: lookEvery(settings.headersTimeout),
		// Over node's default, so that what is a little too long reaches us and is told apart (414, 431).
		maxHeaderSize: 32_768,
		// Checked by us, as node answers without a body.
		requireHostHeader: false,
	})
	server.maxHeadersCount = MAX_HEADER_LINES + 1
	// A page whose name was turned to this machine's address would be let in by it. A socket's file is out of reach for browsers.
	server.on('listening', () => {
		const address = server.address()
		if (settings.isLoopbackGuarded && address !== null && typeof address === 'object')
			service.hosts = isLoopback(address.address) ? loopbackHosts() : undefined
	})
	server.on('request', (request, response) => serve(service, vetting, request, response))
	server.on('checkContinue', (request, response) => serve(service, vetting, request, response, true))
	server.on('checkExpectation', (request, response) => refuseExpectation(service, request, response))
	server.on('connect', (request: IncomingMessage, socket: Socket) =>
		answerConnect(service.app, request, socket),
	)
	server.on('clientError', (error, socket) =>
		answerClientError(service.app, service.turns, error, socket as Socket),
	)
	return server
}

/** How often connections are looked at for headers that take too long. */
export function lookEvery(headersTimeout: Milliseconds): Milliseconds {
	return Math.max(50, Math.min(1_000, headersTimeout / 4))
}
