/**
 * Blank lines in the place of a request (RFC 9112 §2.2). node's parser skips them without a word, and each puts the end of
 * an idle connection off: they are given the time of headers. `Server` has its connections looked after.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import type { Peer } from '../request/incoming.ts'
import { restsOf } from './drain-upload.ts'
import { checkingInterval } from './node-http.ts'

/** The times that hold. */
interface IdleTimes {
	readonly headersTimeout: Milliseconds
	readonly keepAliveTimeout: Milliseconds
}

/** node waits so much longer than it tells clients in `Keep-Alive`; some versions don't. */
const KEEP_ALIVE_BUFFER: Milliseconds = 1_000

/** What was seen of a connection between two requests. */
interface Sight {
	/** `bytesWritten`: another number tells that a request has been answered meanwhile. */
	readonly written: number
	/** Since when it is idle. */
	readonly idle: Milliseconds
	/** `bytesRead`, when it was looked at last. */
	read: number
	/** When the first and the last of the bytes that came without a long pause were seen. */
	first: Milliseconds
	last: Milliseconds
}

/** Ends connections that blank lines keep, by 408, as those whose headers take too long. */
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
				// What comes is the rest of a body, which has a time of its own.
				if (rests.has(socket)) sights.delete(socket)
				else if (isLate(sight, read, now, times)) server.emit('clientError', timedOut(), socket)
			}
		}
	}
	let timer: NodeJS.Timeout | undefined
	server.on('listening', () => {
		// Behind what sockets have received while the process was held up.
		timer = setInterval(() => setImmediate(look), checkingInterval(times.headersTimeout)).unref()
	})
	server.on('close', () => clearInterval(timer))
}

/** Whether node waits for the next request: it has set the time for that, which is none while it has one. */
function isIdle({ timeout, writableLength }: Socket, { keepAliveTimeout }: IdleTimes): boolean {
	if (timeout === undefined || writableLength > 0) return false
	return timeout >= keepAliveTimeout && timeout <= keepAliveTimeout + KEEP_ALIVE_BUFFER
}

/**
 * Whether what has come while no request began takes too long: for the time of headers, as long as it goes on coming; and
 * now and then, for longer than an idle connection is kept. One blank line behind a request, which old clients send, is none of these.
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
	return Object.assign(new Error('Blank lines came in the place of a request'), {
		code: 'ERR_HTTP_REQUEST_TIMEOUT',
	})
}
