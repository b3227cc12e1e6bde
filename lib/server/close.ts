/**
 * Closing a server without losing a request that it has accepted: `Server.close()` calls `drain` where it listens, then
 * `endServing` and `finishPending`.
 */
import cluster from 'node:cluster'
import { Server as HttpServer, type Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Due } from '../base/deadlines.ts'
import type { Clock, Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { Exchange } from '../exchange/exchange.ts'
import { UnreadRest } from '../transport/drain-upload.ts'
import { closingError } from '../transport/serving.ts'

/** How long an idle connection is left open at first: a request may be on its way, for about a round trip. */
const QUIET: Milliseconds = 250
/** How often idle connections are closed after that. */
const LOOK: Milliseconds = 25
/** Most connections that a kernel queues for node; any after these came after the end. */
const BACKLOG = 512
/** Longest time in which a worker of node:cluster is handed the queued connections, one by one: several hundred on a busy machine. */
const HANDED: Milliseconds = 2_000
/** Most that one turn of the event loop counts of this time: a process that was stopped could accept none. */
const LONGEST_TURN: Milliseconds = 100
/** Time for writing the last answers once the grace time is over. */
const FLUSH: Milliseconds = 250

/** The open connections of a server, of which node has no list. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
	const connections = new Set<Socket>()
	server.on('connection', (socket) => {
		connections.add(socket)
		socket.once('close', () => connections.delete(socket))
	})
	return connections
}

/**
 * Stops a server: it accepts no more connections, each answer closes its own, and idle ones are closed. At `end`, by the
 * deadlines' clock, pending requests are answered 503.
 */
export async function drain(
	app: App,
	server: Server,
	connections: ReadonlySet<Socket>,
	end: Milliseconds,
): Promise<void> {
	const { clock } = app.deadlines
	const grace = end - clock()
	app.phase = 'draining'
	// Half of the time is for accepting, so that the last to be accepted have the other half for their answers.
	await acceptQueued(server, clock, cluster.isWorker ? Math.min(grace / 2, HANDED) : grace / 2, end)
	const closed = stopListening(server)
	const waiting = new AbortController()
	void closeIdle(server, connections, Math.min(grace / 2, QUIET), waiting.signal)
	if ((await Promise.race([closed, graceOver(end - clock(), waiting.signal)])) === 'over') {
		app.phase = 'closed'
		for (const item of app.deadlines.values()) {
			if (item instanceof Exchange) item.cancel(closingError())
		}
		await Promise.race([closed, setTimeout(FLUSH)])
		for (const socket of connections) socket.destroy()
		await closed
	}
	waiting.abort()
	// http's own close stops its timer that checks connections; it fails otherwise, as nothing listens any more.
	HttpServer.prototype.close.call(server, () => {})
}

/** From now on every request is answered 503: by `fetch`, `inject` and other servers' connections as well. */
export function endServing(app: App): void {
	app.phase = 'closed'
}

/**
 * Waits for methods that still run: for another server's connections, for `inject`, or for clients that have left. At
 * `end` their `request.signal` is aborted, and the requests are answered 503.
 */
export async function finishPending({ deadlines }: App, end: Milliseconds): Promise<void> {
	const isWaitedFor = (item: Due): boolean => !(item instanceof UnreadRest)
	while (deadlines.values().some(isWaitedFor) && deadlines.clock() < end) await setTimeout(LOOK)
	for (const item of deadlines.values()) {
		if (item instanceof Exchange) item.cancel(closingError())
	}
	deadlines.sweep()
}

/**
 * Accepts connections that the kernel has queued: it resets them when a server stops listening, whatever they have sent.
 * Node accepts one per turn of the event loop, so a few turns without one mean that the queue is empty. A worker of
 * node:cluster is handed connections one by one by another process, whose queue is lost when the last worker stops: there
 * the queue counts as empty after a longer time without one.
 */
async function acceptQueued(
	server: Server,
	clock: Clock,
	time: Milliseconds,
	end: Milliseconds,
): Promise<void> {
	let turns = 0
	let accepted = 0
	const note = (): void => {
		turns = 0
		accepted++
	}
	server.on('connection', note)
	const [turn, enough, most] = cluster.isWorker
		? [() => setTimeout(LOOK), QUIET / LOOK, Number.POSITIVE_INFINITY]
		: [setImmediate, 3, BACKLOG]
	let left = time
	// The first turn may be the rest of the one that called `close()`.
	for (let last = clock(); turns < enough && accepted < most && left > 0 && last < end; turns++) {
		await turn()
		const now = clock()
		left -= Math.min(now - last, LONGEST_TURN)
		last = now
	}
	server.off('connection', note)
}

/**
 * Calls net's close: http's would destroy idle connections at once, and with them requests that have arrived but haven't
 * been read. Bun's server doesn't extend net's, and its close leaves them open.
 */
function stopListening(server: Server): Promise<'closed'> {
	const { prototype }: { prototype: NetServer } = server instanceof NetServer ? NetServer : HttpServer
	return new Promise((resolve) => prototype.close.call(server, () => resolve('closed')))
}

/** The timer keeps the process alive: a paused connection doesn't, and `close()` would never resolve. */
async function graceOver(grace: Milliseconds, signal: AbortSignal): Promise<'over' | 'aborted'> {
	try {
		return await setTimeout(grace, 'over', { signal })
	} catch {
		return 'aborted'
	}
}

async function closeIdle(
	server: Server,
	connections: ReadonlySet<Socket>,
	quiet: Milliseconds,
	signal: AbortSignal,
): Promise<void> {
	for (let wait = quiet; !signal.aborted; wait = LOOK) {
		await setTimeout(wait, undefined, { ref: false })
		// Timers run before sockets are read: this lets a request that arrived during a stall be read first.
		await setImmediate()
		const all = [...connections]
		// node doesn't count connections without a byte as idle. In Bun `bytesRead` is 0 for all.
		if (server instanceof NetServer) for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
		// It does count those whose answer is still being written: closing them would cut it.
		if (!all.some((socket) => socket.writableLength > 0)) server.closeIdleConnections()
	}
}
