/**
 * Two workers of node:cluster on one port: it and their pids are sent when both listen. At a message that is the pid of one,
 * that one closes; at any other both do.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, RestHandler } from '../../../lib/index.ts'

/** Resolved when a worker has started to close. */
const told: { promise: Promise<void>; resolve: () => void } = deferred()

class Now extends RestHandler {
	async get_closing() {
		await told.promise
		return process.pid
	}

	get_now() {
		return process.pid
	}
}

if (cluster.isPrimary) {
	const workers = [cluster.fork(), cluster.fork()]
	const [[address]] = await Promise.all([
		once(cluster, 'listening').then(([, found]) => [found]),
		...workers.map((worker) => once(worker, 'listening')),
	])
	process.on('message', (message) => {
		const one = workers.find(({ process }) => process.pid === message)
		for (const worker of one === undefined ? workers : [one]) if (worker.isConnected()) worker.send('end')
		if (one === undefined) process.disconnect?.()
	})
	process.send?.([address.port, ...workers.map(({ process }) => process.pid)])
} else {
	const server = createServer({ '': new Now() }, { health: { path: 'health' } })
	process.once('message', async () => {
		const closed = server.close()
		told.resolve()
		await closed
		cluster.worker?.disconnect()
	})
	await server.listen()
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
	let resolve = (): void => {}
	const promise = new Promise<void>((done) => {
		resolve = done
	})
	return { promise, resolve }
}
