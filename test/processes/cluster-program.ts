/** Two workers of node:cluster on one port: it and their pids are sent when both listen; at any message both close. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, RestHandler } from '../../lib/index.ts'

class Now extends RestHandler {
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
	process.once('message', () => {
		for (const worker of workers) worker.send('end')
		process.disconnect?.()
	})
	process.send?.([address.port, ...workers.map(({ process }) => process.pid)])
} else {
	const server = createServer({ '': new Now() })
	process.once('message', async () => {
		await server.close()
		cluster.worker?.disconnect()
	})
	await server.listen()
}
