import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { createServer, RestHandler } from '../../lib/index.ts'
import { TickBatcher } from '../../lib/transport/tick-batcher.ts'
import { describe } from '../helpers/describe.ts'

describe('ticks', (test) => {
	test('a single request is served at once, except one in 32', () => {
		const turns = new TickBatcher()
		const deferred: number[] = []
		for (let count = 1; count <= 64; count++) {
			if (!turns.defers(count)) continue
			deferred.push(count)
			turns.end()
		}
		assert.equal(deferred, [32, 64])
	})

	test('after a tick with several requests, they are deferred until one is alone again', () => {
		const turns = new TickBatcher()
		for (let count = 1; count < 32; count++) turns.defers(count)
		assert.equal([turns.defers(32), turns.defers(33), turns.defers(34)], [true, true, true])
		for (let count = 1; count <= 3; count++) turns.end()
		assert.is(turns.defers(35), true)
		turns.end()
		assert.is(turns.defers(36), false)
	})

	test('the last of the deferred requests is known, also if one comes in between', () => {
		const turns = new TickBatcher()
		for (let count = 1; count < 32; count++) turns.defers(count)
		for (let count = 32; count <= 34; count++) turns.defers(count)
		assert.equal(
			[turns.end(), turns.defers(35), turns.end(), turns.end(), turns.end()],
			[false, true, false, false, true],
		)
	})
})

describe('requests of one tick', (test) => {
	test('each method runs in the async context of its request', async () => {
		const trace = new AsyncLocalStorage<string>()
		class Traced extends RestHandler {
			get_span(id: string) {
				return [id, trace.getStore()]
			}
			post_span(id: string) {
				return [id, trace.getStore(), this.body]
			}
		}
		const { handler } = createServer({ api: new Traced() })
		const server = createHttpServer((request, response) => {
			trace.run(request.url ?? '', () => handler(request, response))
		})
		await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
		const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
		try {
			const paths = Array.from({ length: 200 }, (_, index) => `/api/span/${index}`)
			const answers = await Promise.all(
				paths.map(async (path, index) => {
					const init =
						index % 2 === 0
							? {}
							: {
									method: 'POST',
									body: `{"n":${index}}`,
									headers: { 'content-type': 'application/json' },
								}
					return (await (await fetch(url + path, init)).json()) as { data: unknown }
				}),
			)
			answers.forEach(({ data }, index) => {
				const rest = index % 2 === 0 ? [] : [{ n: index }]
				assert.equal(data, [String(index), `/api/span/${index}`, ...rest])
			})
		} finally {
			server.closeAllConnections()
			server.close()
		}
	})
})
