/** Ends a server without losing a request that it has accepted. */
import cluster from 'node:cluster'
import { Server as HttpServer, type Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Due } from '../base/deadlines.ts'
import type { Clock, Milliseconds } from '../base/time.ts'
import type { App } from '../exchange/app.ts'
import { Exchange } from '../exchange/exchange.ts'
import { UnreadRest } from '../transport/drain-upload.ts'
import { closing } from '../transport/serving.ts'

/** An idle connection may have a request under way to us, for about a round trip: it is left alone for so long. */
const QUIET: Milliseconds = 250
/** How often idle connections are looked for after that. */
const LOOK: Milliseconds = 25
/** So many connections a kernel holds for node that nobody has accepted: what comes behind them came after the end. */
const BACKLOG = 512
/** How long a worker of node:cluster is handed them one by one: several hundred on a busy machine. */
const HANDED: Milliseconds = 2_000
/** A turn of the loop counts for no more of its time: while a process was stopped, nobody could hand it any. */
const LONGEST_TURN: Milliseconds = 100
/** What the last answers are given to be written in, once the grace time is over. */
const FLUSH: Milliseconds = 250

/** The open connections of a server; node tells nobody which they are. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
	const connections = new Set<Socket>()
	server.on('connection', (socket) => {
		connections.add(socket)
		socket.once('close', () => connections.delete(socket))
	})
	return connections
}

/**
 * Stops a server. It accepts no more connections; every answer from here on closes its own; those that
 * stay idle are closed. At `end`, of the deadlines' clock, whoever is still waiting is answered 503.
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
	// The last to be accepted are given as long for their answers.
	await acceptQueued(server, clock, cluster.isWorker ? Math.min(grace / 2, HANDED) : grace / 2, end)
	const closed = stopListening(server)
	const waiting = new AbortController()
	void closeIdle(server, connections, Math.min(grace / 2, QUIET), waiting.signal)
	if ((await Promise.race([closed, graceOver(end - clock(), waiting.signal)])) === 'over') {
		app.phase = 'closed'
		for (const item of app.deadlines.values()) {
			if (item instanceof Exchange) item.cancel(closing())
		}
		await Promise.race([closed, setTimeout(FLUSH)])
		for (const socket of connections) socket.destroy()
		await closed
	}
	waiting.abort()
	// http's own close, which fails as nothing listens any more, stops its timer over connections.
	HttpServer.prototype.close.call(server, () => {})
}

/** From now on whoever comes, by whatever way, is answered 503. */
export function endServing(app: App): void {
	app.phase = 'closed'
}

/**
 * Waits for methods that still run, over another server's connections, by `inject`, or for clients that have left: at
 * `end` they are told to stop, and who waits for them is answered 503.
 */
export async function settle({ deadlines }: App, end: Milliseconds): Promise<void> {
	const isWaitedFor = (item: Due): boolean => !(item instanceof UnreadRest)
	while (deadlines.values().some(isWaitedFor) && deadlines.clock() < end) await setTimeout(LOOK)
	for (const item of deadlines.values()) {
		if (item instanceof Exchange) item.cancel(closing())
	}
	deadlines.sweep()
}

/**
 * Accepts what was connected before the end: the kernel resets those that are still queued when a server stops
 * listening, whatever they have sent. Node accepts one a turn of the loop; turns without one tell that there are
 * no more. A worker of node:cluster is handed connections by another process, one after the other, whose queue is lost
 * when the last worker stops: there it takes a while without one to tell.
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
	// The first turn may be what is left of the one that called `close()`.
	for (let last = clock(); turns < enough && accepted < most && left > 0 && last < end; turns++) {
		await turn()
		const now = clock()
		left -= Math.min(now - last, LONGEST_TURN)
		last = now
	}
	server.off('connection', note)
}

/**
 * net's close rather than http's, which would at once destroy idle connections, and with them requests
 * that have arrived and haven't been read. Bun's server is none of net's, and its close leaves them open.
 */
function stopListening(server: Server): Promise<'closed'> {
	const { prototype }: { prototype: NetServer } = server instanceof NetServer ? NetServer : HttpServer
	return new Promise((resolve) => prototype.close.call(server, () => resolve('closed')))
}

/** Not unref'd: a connection that is paused doesn't keep a program alive, and `close()` would never end. */
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
		// Timers come before what sockets have received: a request that arrived while the process was held up is read first.
		await setImmediate()
		const all = [...connections]
		// node doesn't count those as idle on which nothing has come yet; Bun's sockets say that of all.
		if (server instanceof NetServer) for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
		// But it does those whose answer is on its way still: they would be cut within it.
		if (!all.some((socket) => socket.writableLength > 0)) server.closeIdleConnections()
	}
}
