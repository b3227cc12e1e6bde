/** One trial of SIGTERM under load: keep-alive connections that are never idle, and a program that must end. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { withApp } from '../acceptance/running.ts'
import { RawClient, requestText } from '../helpers/raw.ts'

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
		const load = Promise.all(clients.map(askOn))
		await sleep(100 + Math.random() * 150)
		const start = performance.now()
		child.kill('SIGTERM')
		const answered = await load
		assert.is(await ended, 0)
		assert.ok(performance.now() - start < 3_000, 'the app has ended soon')
		for (const count of answered) assert.ok(count > 0, 'each connection was served')
	})
}

/** Asks until an answer says that it was the last; answers how many there were. */
async function askOn(client: RawClient): Promise<number> {
	try {
		for (let count = 1; ; count++) {
			await client.send(REQUESTS[count % REQUESTS.length] ?? '')
			const { status, headers } = await client.response()
			assert.is(status, 200)
			if (headers.connection === 'close') return count
		}
	} finally {
		client.close()
	}
}
