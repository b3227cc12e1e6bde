/** One trial of SIGTERM under load: keep-alive connections, and a program that must end. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { withApp } from '../../acceptance/running.ts'
import { until } from '../../helpers/listening.ts'
import { RawClient, type RawResponse, requestText } from '../../helpers/raw.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'

const REQUESTS = [
	requestText('GET /blog/api/ping'),
	requestText(
		'POST /blog/api/echo',
		['Content-Type: application/json'],
		JSON.stringify({ a: 'b'.repeat(500) }),
	),
	requestText('GET /blog/api/article'),
]

/** How long the app keeps an idle connection open while closing; `QUIET` of `lib/server/close.ts`, milliseconds. */
const QUIET = 250
/** For `endUnderLoad`: well below that, and far above the app's polling of idle connections. */
export const THINK = 150

/**
 * Ends the app under load, of clients that ask at once when they have an answer, or think for up to `think` milliseconds. Fails when a request that was sent has got no answer, or the app doesn't end. These clients
 * ask again before the app closes idle connections: where they are held up for longer than it leaves these alone,
 * they send into what it has closed meanwhile, and has never accepted. That trial says nothing, and is made again.
 */
export async function endUnderLoad(connections: number, think = 0): Promise<void> {
	let failure: unknown
	await inTimesOf(QUIET, async () => {
		try {
			await trial(connections, think)
		} catch (error) {
			if (error instanceof Unanswered) throw error
			failure = error
		}
	})
	if (failure !== undefined) throw failure
}

/** A request was closed without a byte of a response. */
class Unanswered extends Error {}

function trial(connections: number, think: number): Promise<void> {
	return withApp('memory', async (port, { child, ended }) => {
		const clients = Array.from({ length: connections }, () => new RawClient(port))
		const served = clients.map(() => 0)
		const load = Promise.all(
			clients.map((client, at) => askOn(client, think, () => (served[at] = (served[at] ?? 0) + 1))),
		)
		// A connection that the app has not accepted yet has nothing to lose.
		const all = until(() => served.every((count) => count > 0), 'each connection is served')
		await Promise.race([all, load])
		await sleep(100 + Math.random() * 150)
		const took = stopwatch()
		child.kill('SIGTERM')
		await load
		assert.is(await ended, 0)
		await all
		// The grace period is ten seconds.
		assert.ok(took() < 5_000, 'the app has ended soon')
	})
}

async function answerTo(client: RawClient): Promise<RawResponse> {
	try {
		return await client.response()
	} catch (error) {
		if (client.ended && client.unread.length === 0)
			throw new Unanswered('a request has no answer', { cause: error })
		throw error
	}
}

/** Sends requests until a response says that it is the last, with pauses of up to `think`; calls `answered` for each. */
async function askOn(client: RawClient, think: number, answered: () => void): Promise<void> {
	try {
		for (let count = 0; ; count++) {
			await client.send(REQUESTS[count % REQUESTS.length] ?? '')
			const { status, headers } = await answerTo(client)
			assert.is(status, 200)
			answered()
			if (headers.connection === 'close') return
			if (think > 0) await sleep(Math.random() * think)
		}
	} finally {
		client.close()
	}
}
