/**
 * Blank lines where a request line should be (RFC 9112 §2.2). node's parser skips them silently, and each extends the
 * keep-alive timeout, so that a client could hold a connection open for ever: they get `headersTimeout`. For `Server`.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import type { Peer } from '../request/incoming.ts'
import { restsOf } from './drain-upload.ts'
import { checkingInterval } from './node-http.ts'

/** The server's timeouts. */
interface IdleTimes {
	readonly headersTimeout: Milliseconds
	readonly keepAliveTimeout: Milliseconds
}

/** Some versions of node wait this much longer than the `Keep-Alive` header says. */
const KEEP_ALIVE_BUFFER: Milliseconds = 1_000

/** What was observed of a connection between two requests. */
interface Sight {
	/** `bytesWritten`: when it differs, a request has been answered in between. */
	readonly written: number
	/** When it became idle. */
	readonly idle: Milliseconds
	/** `bytesRead` at the last look. */
	read: number
	/** When the first and the last bytes were seen that came without a long pause. */
	first: Milliseconds
	last: Milliseconds
}

/** Ends connections that blank lines keep open, with 408, like those whose headers take too long. */
export function endBlankLines(
	server: Server,
	{ deadlines }: App,
	connections: ReadonlySet<Socket>,
	times: IdleTimes,
): void {
	const sights = new WeakMap<Socket, Sight>()
	const look = (): void => {
		const now = deadlines.clock()
		let rests: ReadonlySet<Peer> | undefined
		for (const socket of connections) {
			if (!isIdle(socket, times)) continue
			const { bytesRead: read, bytesWritten: written } = socket
			const sight = sights.get(socket)
			if (sight === undefined || sight.written !== written) {
				sights.set(socket, { written, idle: now, read, first: now, last: Number.NEGATIVE_INFINITY })
			} else if (sight.read !== read) {
				rests ??= restsOf(deadlines)
				// The bytes are the rest of a body, which has its own timeout.
				if (rests.has(socket)) sights.delete(socket)
				else if (isLate(sight, read, now, times)) server.emit('clientError', timedOut(), socket)
			}
		}
	}
	let timer: NodeJS.Timeout | undefined
	server.on('listening', () => {
		// setImmediate: after an event-loop stall, received bytes are read first.
		timer = setInterval(() => setImmediate(look), checkingInterval(times.headersTimeout)).unref()
	})
	server.on('close', () => clearInterval(timer))
}

/** Whether node waits for the next request: only then has the socket the keep-alive timeout. */
function isIdle({ timeout, writableLength }: Socket, { keepAliveTimeout }: IdleTimes): boolean {
	if (timeout === undefined || writableLength > 0) return false
	return timeout >= keepAliveTimeout && timeout <= keepAliveTimeout + KEEP_ALIVE_BUFFER
}

/**
 * Whether blank lines have come for too long: for `headersTimeout` without a long pause, or now and then for longer than
 * an idle connection may last. One blank line after a request, which old clients send, is allowed.
 */
function isLate(sight: Sight, read: number, now: Milliseconds, times: IdleTimes): boolean {
	const { headersTimeout, keepAliveTimeout } = times
	if (now - sight.last > headersTimeout) sight.first = now
	sight.last = now
	sight.read = read
	if (now - sight.first >= headersTimeout) return true
	return now - sight.idle >= keepAliveTimeout + KEEP_ALIVE_BUFFER + headersTimeout
}

function timedOut(): Error {
	return Object.assign(new Error('Blank lines came instead of a request'), {
		code: 'ERR_HTTP_REQUEST_TIMEOUT',
	})
}
