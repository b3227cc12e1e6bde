/** Ends a server without losing a request that it has accepted. */
import { Server as HttpServer, type Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { App } from '../app.ts'
import { Exchange } from '../exchange.ts'
import type { Milliseconds } from '../time.ts'
import { closing } from './listener.ts'

/** An idle connection may have a request under way to us: it is left alone for so long. */
const QUIET: Milliseconds = 100
/** How often idle connections are looked for after that. */
const LOOK: Milliseconds = 25
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
 * stay idle are closed. After `grace` whoever is still waiting is answered 503.
 */
export async function drain(
	app: App,
	server: Server,
	connections: ReadonlySet<Socket>,
	grace: Milliseconds,
): Promise<void> {
	app.phase = 'draining'
	// One turn of the loop, so that connections which were made before this call are accepted.
	await setImmediate()
	const closed = stopListening(server)
	const waiting = new AbortController()
	void closeIdle(server, connections, waiting.signal)
	if ((await Promise.race([closed, graceOver(grace, waiting.signal)])) === 'over') {
		app.phase = 'closed'
		for (const item of app.deadlines.values()) {
			if (item instanceof Exchange) item.cancel(closing())
		}
		await Promise.race([closed, setTimeout(FLUSH)])
		for (const socket of connections) socket.destroy()
		await closed
	}
	waiting.abort()
	app.phase = 'closed'
	app.deadlines.stop()
	// http's own close, which fails as nothing listens any more, stops its timer over connections.
	HttpServer.prototype.close.call(server, () => {})
}

/**
 * net's close rather than http's, which would at once destroy idle connections, and with them requests
 * that have arrived and haven't been read.
 */
function stopListening(server: Server): Promise<'closed'> {
	return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve('closed')))
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
	signal: AbortSignal,
): Promise<void> {
	for (let wait = QUIET; !signal.aborted; wait = LOOK) {
		await setTimeout(wait, undefined, { ref: false })
		const all = [...connections]
		// node doesn't count those as idle on which nothing has come yet.
		for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
		// But it does those whose answer is on its way still: they would be cut within it.
		if (!all.some((socket) => socket.writableLength > 0)) server.closeIdleConnections()
	}
}
