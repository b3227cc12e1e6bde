/**
 * Graceful shutdown: closes a server without losing a request that it has accepted. `Server.close()` calls `drain` if it
 * listens, then `finishPending`.
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

/** How long an idle connection stays open at first: a request may be on its way, for about a round trip. */
const IDLE_GRACE_MS: Milliseconds = 250
/** How often idle connections are closed after that. */
const CHECK_MS: Milliseconds = 25
/** Maximum number of connections that a kernel queues for node; any beyond it have arrived after `close()`. */
const BACKLOG = 512
/**
 * Maximum time for a cluster worker to accept queued connections. They are handed over one by one: several hundred in
 * this time, on a busy machine.
 */
const MAX_HANDOVER_MS: Milliseconds = 2_000
/** Maximum that one turn of the event loop adds to the time for accepting: a suspended process accepts nothing. */
const MAX_TURN_MS: Milliseconds = 100
/** Time for writing the last answers after the grace period. */
const FLUSH_MS: Milliseconds = 250

/** The open connections of a server: node has no public list. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
	const connections = new Set<Socket>()
	server.on('connection', (socket) => {
		connections.add(socket)
		socket.once('close', () => connections.delete(socket))
	})
	return connections
}

/**
 * Stops listening and waits until all connections are closed: each answer closes its own, and idle ones are closed. At
 * `end`, by the deadlines' clock, pending requests are answered 503.
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
	// Half of the time is for accepting, so that the last connections have the other half for their answers.
	await acceptQueued(server, clock, cluster.isWorker ? Math.min(grace / 2, MAX_HANDOVER_MS) : grace / 2, end)
	const closed = stopListening(server)
	const done = new AbortController()
	void closeIdle(server, connections, Math.min(grace / 2, IDLE_GRACE_MS), done.signal)
	// The timer keeps the process alive: a paused connection doesn't, and `close()` would never resolve.
	const over = setTimeout(end - clock(), 'over' as const, { signal: done.signal }).catch(
		() => 'aborted' as const,
	)
	if ((await Promise.race([closed, over])) === 'over') {
		app.phase = 'closed'
		cancelAll(app)
		await Promise.race([closed, setTimeout(FLUSH_MS)])
		for (const socket of connections) socket.destroy()
		await closed
	}
	done.abort()
	// Stops the timer with which node:http checks connections. The error of `close` is ignored: the server no longer
	// listens.
	HttpServer.prototype.close.call(server, () => {})
}

/**
 * Waits for methods that still run: for another server's connections, for `inject`, or for clients that have
 * disconnected. New requests are answered 503. At `end`, pending requests are also answered 503, and their
 * `request.signal` is aborted.
 */
export async function finishPending(app: App, end: Milliseconds): Promise<void> {
	app.phase = 'closed'
	const { deadlines } = app
	const isRequest = (item: Due): boolean => !(item instanceof UnreadRest)
	while (deadlines.values().some(isRequest) && deadlines.clock() < end) await setTimeout(CHECK_MS)
	cancelAll(app)
	deadlines.sweep()
}

function cancelAll({ deadlines }: App): void {
	for (const item of deadlines.values()) if (item instanceof Exchange) item.cancel(closingError())
}

/**
 * Accepts connections that the kernel has queued: the kernel resets them when a server stops listening, whatever they
 * have sent. Node accepts one per turn of the event loop, so a few turns without one mean that the queue is empty. In a
 * worker of node:cluster the primary process hands connections over one by one, and loses its queue when the last
 * worker stops: there the queue counts as empty after a longer time without one.
 */
async function acceptQueued(
	server: Server,
	clock: Clock,
	time: Milliseconds,
	end: Milliseconds,
): Promise<void> {
	let idleTurns = 0
	let accepted = 0
	const onConnection = (): void => {
		idleTurns = 0
		accepted++
	}
	server.on('connection', onConnection)
	const [nextTurn, maxIdleTurns, maxAccepted] = cluster.isWorker
		? [() => setTimeout(CHECK_MS), IDLE_GRACE_MS / CHECK_MS, Number.POSITIVE_INFINITY]
		: [setImmediate, 3, BACKLOG]
	let remaining = time
	// The first turn may be the rest of the one that called `close()`.
	for (
		let last = clock();
		idleTurns < maxIdleTurns && accepted < maxAccepted && remaining > 0 && last < end;
		idleTurns++
	) {
		await nextTurn()
		const now = clock()
		remaining -= Math.min(now - last, MAX_TURN_MS)
		last = now
	}
	server.off('connection', onConnection)
}

/**
 * Calls net's close: http's would destroy idle connections at once, and with them requests that have arrived but
 * haven't been read. Bun's server doesn't extend net's; its own close leaves idle connections open.
 */
function stopListening(server: Server): Promise<'closed'> {
	const { prototype }: { prototype: NetServer } = server instanceof NetServer ? NetServer : HttpServer
	return new Promise((resolve) => prototype.close.call(server, () => resolve('closed')))
}

async function closeIdle(
	server: Server,
	connections: ReadonlySet<Socket>,
	firstWait: Milliseconds,
	signal: AbortSignal,
): Promise<void> {
	for (let wait = firstWait; !signal.aborted; wait = CHECK_MS) {
		await setTimeout(wait, undefined, { ref: false })
		// Node runs timers before it reads sockets: a request that arrived during a stall is read first.
		await setImmediate()
		const all = [...connections]
		// node doesn't count connections that have sent no byte as idle. (In Bun, `bytesRead` is 0 for all.)
		if (server instanceof NetServer) for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
		// node counts a connection as idle even while its answer is being written: closing it would cut the answer off.
		if (!all.some((socket) => socket.writableLength > 0)) server.closeIdleConnections()
	}
}
