/** Streamed records: shown up to a limit, then the source is closed. */
import * as assert from 'uvu/assert'
import { createServer, RestHandler, reply } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening, until } from '../helpers/listening.ts'
import { dataIn, NAVIGATION, open } from './page-of.ts'

class Feeds extends RestHandler {
	private readonly closed: string[]
	private readonly begun: string[]
	constructor(closed: string[], begun: string[] = []) {
		super()
		this.closed = closed
		this.begun = begun
	}
	async *get_few() {
		yield { id: 1 }
		yield { id: 2 }
	}
	async *get_many() {
		try {
			for (let id = 0; ; id++) yield { id, text: 'x'.repeat(1_000) }
		} finally {
			this.closed.push('many')
		}
	}
	async *get_endless() {
		const { signal } = this.request
		try {
			this.begun.push('endless')
			yield { id: 1 }
			// Unless the client left while the first record was being sent.
			if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
		} finally {
			this.closed.push('endless')
		}
	}
	async *get_broken() {
		yield { id: 1 }
		await new Promise(setImmediate)
		throw new Error('the source is gone')
	}
	get_long() {
		return 'é'.repeat(1_500_000)
	}
	get_bytes() {
		return reply(Buffer.from('{"é":1}'), { headers: { 'Content-Type': 'application/json' } })
	}
}

function site(log = new Log()) {
	const closed: string[] = []
	return {
		closed,
		log,
		server: createServer({ '': new Feeds(closed) }, { explorer: true, logger: log, logRequests: false }),
	}
}

describe('explorer: streams', (test) => {
	test('a finite stream is shown complete', async () => {
		const { answer } = dataIn(await open(site().server, '/few'))
		assert.is(answer?.body, '{"success":true,"data":[{"id":1},{"id":2}]}')
		assert.is(answer?.note, undefined)
	})

	test('streamed bytes that are JSON are shown', async () => {
		assert.is(dataIn(await open(site().server, '/bytes')).answer?.body, '{"é":1}')
	})

	test('a long stream is truncated with a note, and its source closed', async () => {
		const { server, closed } = site()
		const { answer } = dataIn(await open(server, '/many'))
		assert.is(answer?.body.length, 1_048_576)
		assert.is(answer?.note, 'Too long to show in full: this is the beginning.')
		await until(() => closed.length > 0, 'the source is closed')
		assert.equal(closed, ['many'])
		const text = dataIn(await open(server, '/long')).answer
		assert.is(text?.body.length, 1_048_576)
		assert.is(text?.note, answer?.note)
	})

	test('an endless feed is shown as far as it came, and its source stopped', async () => {
		const { server, closed } = site()
		const { answer } = dataIn(await open(server, '/endless'))
		assert.is(answer?.body, '{"success":true,"data":[{"id":1}')
		assert.is(answer?.note, 'Still streaming: this is what arrived within two seconds.')
		await until(() => closed.length > 0, 'the source is closed')
	})

	test('a broken stream is shown as far as it came, and logged', async () => {
		const { server, log } = site()
		const reply = await open(server, '/broken')
		assert.is(reply.status, 200)
		assert.is(dataIn(reply).answer?.note, 'The answer was cut off here.')
		assert.equal(log.messages, ['error: the answer was cut off'])
		assert.not.match(reply.text(), 'the source is gone')
	})

	test('HEAD reads nothing of it', async () => {
		const { server, closed } = site()
		assert.is((await open(server, '/many', {}, 'HEAD')).status, 200)
		await until(() => closed.length > 0, 'the source is closed')
	})

	test('a client that disconnects leaves no open source', () => {
		const closed: string[] = []
		const begun: string[] = []
		return listening({ '': new Feeds(closed, begun) }, { explorer: true }, async ({ url }) => {
			const leaving = new AbortController()
			const asked = fetch(`${url}/endless`, { headers: { Accept: NAVIGATION }, signal: leaving.signal })
			const left = asked.catch((error: Error) => error.name)
			await until(() => begun.length > 0, 'the source has begun')
			leaving.abort()
			assert.is(await left, 'AbortError')
			await until(() => closed.length > 0, 'the source is closed')
		})
	})

	test("the method's timeout applies to its page", async () => {
		const server = createServer(
			{ '': new Feeds([]) },
			{ explorer: true, handlerTimeoutSeconds: 0.1, logger: new Log() },
		)
		const reply = await open(server, '/endless')
		assert.is(reply.status, 503)
	})
})
