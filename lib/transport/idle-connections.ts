/**
 * How long a connection may wait between two requests: the timeouts of node's server, for `node-http.ts`, and the end of
 * connections that send blank lines instead of a request, for `Server`.
 *
 * node's parser skips blank lines silently (RFC 9112 §2.2), and each extends the keep-alive timeout, so a client could
 * hold a connection open for ever: `headersTimeout` limits this. `server/close.ts` ends idle connections on `close()`.
 */
import type { Server as HttpServer, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import type { Peer } from '../request/incoming.ts'
import { connectionsWithRest } from './drain-upload.ts'

/** Timeouts of a connection that no request is being served on. */
export interface IdleTimes {
	/** For the headers of a request, from its first byte, and for blank lines before it. */
	readonly headersTimeout: Milliseconds
	/** For the first byte of the next request. */
	readonly keepAliveTimeout: Milliseconds
}

/** Some versions of node wait this much longer than the `Keep-Alive` header says. */
const KEEP_ALIVE_BUFFER: Milliseconds = 1_000

/** What was observed of a connection between two requests. */
interface Observation {
	/** `bytesWritten`: if it has changed, a request has been answered since. */
	readonly written: number
	readonly idleSince: Milliseconds
	/** `bytesRead` at the last check. */
	read: number
	/** When the first and the last bytes since the last long pause were seen. */
	first: Milliseconds
	last: Milliseconds
}

/** The timeouts, as node's server takes them. */
export function nodeTimeouts({ headersTimeout, keepAliveTimeout }: IdleTimes): ServerOptions {
	return {
		headersTimeout,
		keepAliveTimeout,
		// node's timeout for a whole request can't differ by route, so it is off: `bodyTimeout` replaces it.
		requestTimeout: 0,
		connectionsCheckingInterval: checkingInterval(headersTimeout),
	}
}

/** How often connections are checked for headers that take too long. */
function checkingInterval(headersTimeout: Milliseconds): Milliseconds {
	return Math.max(50, Math.min(1_000, headersTimeout / 4))
}

/** Ends connections that blank lines keep open. The answer is 408, as for headers that take too long. */
export function endBlankLines(
	server: HttpServer,
	{ deadlines }: App,
	connections: ReadonlySet<Socket>,
	times: IdleTimes,
): void {
	const observations = new WeakMap<Socket, Observation>()
	const check = (): void => {
		const now = deadlines.clock()
		let receivingRest: ReadonlySet<Peer> | undefined
		for (const socket of connections) {
			if (!isIdle(socket, times)) continue
			const { bytesRead: read, bytesWritten: written } = socket
			const observed = observations.get(socket)
			if (observed === undefined || observed.written !== written) {
				const last = Number.NEGATIVE_INFINITY
				observations.set(socket, { written, idleSince: now, read, first: now, last })
			} else if (observed.read !== read) {
				receivingRest ??= connectionsWithRest(deadlines)
				// The new bytes belong to the rest of a body, which has its own timeout.
				if (receivingRest.has(socket)) observations.delete(socket)
				else if (isLate(observed, read, now, times)) server.emit('clientError', timedOut(), socket)
			}
		}
	}
	let timer: NodeJS.Timeout | undefined
	server.on('listening', () => {
		// setImmediate: after an event-loop stall, received bytes are read first.
		timer = setInterval(() => setImmediate(check), checkingInterval(times.headersTimeout)).unref()
	})
	server.on('close', () => clearInterval(timer))
}

/** Whether node waits for the next request: only then is the socket's timeout the keep-alive timeout. */
function isIdle({ timeout, writableLength }: Socket, { keepAliveTimeout }: IdleTimes): boolean {
	if (timeout === undefined || writableLength > 0) return false
	return timeout >= keepAliveTimeout && timeout <= keepAliveTimeout + KEEP_ALIVE_BUFFER
}

/**
 * Records new bytes, and returns whether blank lines have come for too long: without a long pause, for
 * `headersTimeout`; with pauses, for `headersTimeout` longer than a connection may be idle. One blank line after a
 * request, which old clients send, is allowed.
 */
function isLate(observed: Observation, read: number, now: Milliseconds, times: IdleTimes): boolean {
	const { headersTimeout, keepAliveTimeout } = times
	if (now - observed.last > headersTimeout) observed.first = now
	observed.last = now
	observed.read = read
	if (now - observed.first >= headersTimeout) return true
	return now - observed.idleSince >= keepAliveTimeout + KEEP_ALIVE_BUFFER + headersTimeout
}

function timedOut(): Error {
	return Object.assign(new Error('Blank lines came instead of a request'), {
		code: 'ERR_HTTP_REQUEST_TIMEOUT',
	})
}
