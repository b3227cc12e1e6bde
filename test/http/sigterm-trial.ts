/** One trial of SIGTERM under load: keep-alive connections that are never idle, and a program that must end. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { withApp } from '../acceptance/running.ts'
import { until } from '../helpers/listening.ts'
import { RawClient, requestText } from '../helpers/raw.ts'
import { stopwatch } from '../helpers/stalls.ts'

const REQUESTS = [
	requestText('GET /blog/api/ping'),
	requestText(
		'POST /blog/api/echo',
		['Content-Type: application/json'],
		JSON.stringify({ a: 'b'.repeat(500) }),
	),
	requestText('GET /blog/api/article'),
]

/** Ends the app under load. Fails when a request that was sent has got no answer, or the app doesn't end. */
export function endUnderLoad(connections: number): Promise<void> {
	return withApp('memory', async (port, { child, ended }) => {
		const clients = Array.from({ length: connections }, () => new RawClient(port))
		const served = clients.map(() => 0)
		const load = Promise.all(
			clients.map((client, at) => askOn(client, () => (served[at] = (served[at] ?? 0) + 1))),
		)
		// Whose connection the app has not accepted yet has nothing to lose.
		const all = until(() => served.every((count) => count > 0), 'each connection is served')
		await Promise.race([all, load])
		await sleep(100 + Math.random() * 150)
		const took = stopwatch()
		child.kill('SIGTERM')
		await load
		assert.is(await ended, 0)
		await all
		// Ten seconds are what it gives those whom it waits for.
		assert.ok(took() < 5_000, 'the app has ended soon')
	})
}

/** Asks until an answer says that it was the last; `answered` is called for each. */
async function askOn(client: RawClient, answered: () => void): Promise<void> {
	try {
		for (let count = 0; ; count++) {
			await client.send(REQUESTS[count % REQUESTS.length] ?? '')
			const { status, headers } = await client.response()
			assert.is(status, 200)
			answered()
			if (headers.connection === 'close') return
		}
	} finally {
		client.close()
	}
}
