/** Timeouts for slow clients, slow methods and slow readers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { RestHandler, type Server } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { ask, connected, requestText } from '../../helpers/raw.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'

const LATE = { success: false, error: 'The answer took too long', code: 'unavailable' }

class Site extends RestHandler {
	override streaming = {
		post_upload: { handlerTimeoutSeconds: 60 },
		post_brief: { handlerTimeoutSeconds: 0.4 },
		post_quick: { handlerTimeoutSeconds: 0.1 },
	}
	readonly closed: string[] = []

	get_now() {
		return 'now'
	}

	async get_after(time: string) {
		await sleep(Number(time), undefined, { ref: false })
		return time
	}

	get_never() {
		return new Promise(() => {})
	}

	post_body() {
		return this.body
	}

	async post_upload() {
		let size = 0
		for await (const chunk of this.request.stream) size += (chunk as Buffer).length
		return size
	}

	post_brief() {
		return this.post_upload()
	}

	async post_quick() {
		await sleep(60_000, undefined, { ref: false })
	}

	get_large() {
		return Buffer.alloc(30 * 1_048_576)
	}

	async *get_drip(time: string) {
		try {
			for (let at = 0; at < 4; at++) {
				await sleep(Number(time))
				yield at
			}
		} finally {
			this.closed.push('drip')
		}
	}

	async *get_flood() {
		try {
			for (;;) yield 'a'.repeat(10_000)
		} finally {
			this.closed.push('flood')
		}
	}

	async get_first() {
		return this.silence()
	}

	private async *silence() {
		await sleep(60_000, undefined, { ref: false })
		yield 1
	}
}

describe('timeouts', (test) => {
	test('a body that does not arrive in time → 408, and the connection is closed', () =>
		listening({ '': Site }, { bodyTimeoutSeconds: 0.1 }, ({ port }) =>
			connected(port, async (client) => {
				const start = performance.now()
				const took = stopwatch()
				await client.send(`${requestText('POST /body', ['Content-Length: 10'])}abc`)
				const answer = await client.response()
				assert.is(answer.status, 408)
				assert.is(answer.headers.connection, 'close')
				assert.is((answer.json() as { code: string }).code, 'request_timeout')
				assert.ok(performance.now() - start >= 95)
				const taken = took()
				assert.ok(taken < 1_500, `${taken} ms`)
				await client.closed(1_000)
			}),
		))

	test("the body's timeout starts with its request, not with the connection", () =>
		listening({ '': Site }, { bodyTimeoutSeconds: 0.15 }, ({ port }) =>
			connected(port, async (client) => {
				for (let round = 0; round < 3; round++) {
					await sleep(100)
					await client.send(requestText('POST /body', ['Content-Type: application/json'], '[]'))
					assert.is((await client.response()).status, 200)
				}
			}),
		))

	test('a method that takes too long → 503 with Retry-After', () =>
		listening({ '': Site }, { handlerTimeoutSeconds: 0.1 }, async ({ port }) => {
			const answer = await ask(port, requestText('GET /after/60000'))
			assert.is(answer.status, 503)
			assert.is(answer.headers['retry-after'], '1')
			const { requestId, ...body } = answer.json() as Record<string, unknown>
			assert.equal(body, LATE)
			assert.type(requestId, 'string')
		}))

	test("the method's timeout starts when the body has arrived", () =>
		listening({ '': Site }, { handlerTimeoutSeconds: 0.1, bodyTimeoutSeconds: 60 }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('POST /body', ['Content-Type: application/json', 'Content-Length: 2']))
				// Longer than the method's timeout; this method answers in the turn in which its body arrives.
				await sleep(250)
				assert.is(client.unread.length, 0)
				await client.send('[]')
				assert.is((await client.response()).status, 200)
			}),
		))

	test('a stream whose first record takes too long → 503', () =>
		listening({ '': Site }, { handlerTimeoutSeconds: 0.1 }, async ({ port }) => {
			assert.is((await ask(port, requestText('GET /first'))).status, 503)
		}))

	test('a method that never returns delays no other request', () =>
		listening({ '': Site }, { handlerTimeoutSeconds: 0.2 }, async ({ port, server }) => {
			const never = Promise.all(Array.from({ length: 20 }, () => ask(port, requestText('GET /never'))))
			assert.is((await ask(port, requestText('GET /now'))).status, 200)
			for (const { status } of await never) assert.is(status, 503)
			assert.is((await server.inject({ url: '/never' })).status, 503)
		}))

	test('a streaming method has its own timeout', () =>
		listening({ '': Site }, { handlerTimeoutSeconds: 0.1, bodyTimeoutSeconds: 0.1 }, async ({ port }) => {
			await connected(port, async (client) => {
				await client.send(`${requestText('POST /upload', ['Content-Length: 4'])}ab`)
				await sleep(250)
				await client.send('cd')
				assert.equal((await client.response()).json(), { success: true, data: 4 })
			})
			await connected(port, async (client) => {
				await client.send(`${requestText('POST /brief', ['Content-Length: 4'])}ab`)
				assert.is((await client.response()).status, 503)
			})
		}))

	test("a streaming method's timeout may be shorter than the others'", () =>
		listening({ '': Site }, { handlerTimeoutSeconds: 50, bodyTimeoutSeconds: 50 }, async ({ port }) => {
			const took = stopwatch()
			assert.is((await ask(port, requestText('POST /quick', [], 'a'))).status, 503)
			assert.ok(took() < 25_000, 'long before the time of the others is over')
		}))

	test('a client that reads nothing of a response is cut off after sendTimeoutSeconds', () =>
		listening({ '': Site }, { sendTimeoutSeconds: 0.15 }, ({ port, server }) =>
			cutOff(server, port, requestText('GET /large')),
		))

	test('a client that reads nothing of a pipelined response is cut off after sendTimeoutSeconds', () =>
		listening({ '': Site }, { sendTimeoutSeconds: 0.15 }, ({ port, server }) =>
			cutOff(server, port, requestText('GET /after/30') + requestText('GET /large')),
		))

	test('a client that reads nothing of a stream is cut off, and the source is closed', () => {
		const site = new Site()
		return listening({ '': site }, { sendTimeoutSeconds: 0.15 }, ({ port, server }) =>
			connected(port, async (client) => {
				client.socket.pause()
				await client.send(requestText('GET /flood'))
				await until(() => site.closed.length === 1, 'the end of the source')
				await until(async () => (await openOf(server)) === 0, 'the end of the connection')
			}),
		)
	})

	test('a slow reader gets all of a response', () =>
		inTimesOf(1_000, (time) =>
			listening({ '': Site }, { sendTimeoutSeconds: time / 1_000 }, ({ port }) =>
				connected(port, async (client) => {
					await client.send(requestText('GET /large'))
					for (let round = 1; round <= 6; round++) {
						await client.bytes(round * 4 * 1_048_576)
						client.socket.pause()
						await sleep(time / 4)
						client.socket.resume()
					}
					assert.is((await client.response()).body.length, 30 * 1_048_576)
				}),
			),
		))

	test('sendTimeoutSeconds does not apply to a slow source', () =>
		listening({ '': Site }, { sendTimeoutSeconds: 0.05 }, async ({ port, log }) => {
			const answer = await ask(port, requestText('GET /drip/120'))
			assert.equal(answer.json(), { success: true, data: [0, 1, 2, 3] })
			assert.equal(log.messages, [])
		}))

	test('sendTimeoutSeconds of one response does not cut off the next pipelined method', () =>
		listening({ '': Site }, { sendTimeoutSeconds: 0.06 }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /drip/5') + requestText('GET /after/250'))
				assert.is((await client.response()).status, 200)
				assert.equal((await client.response()).json(), { success: true, data: '250' })
			}),
		))

	test('without sendTimeoutSeconds a reader may take any time', () =>
		listening({ '': Site }, { sendTimeoutSeconds: Number.POSITIVE_INFINITY }, ({ port }) =>
			connected(port, async (client) => {
				client.socket.pause()
				await client.send(requestText('GET /large'))
				await sleep(100)
				client.socket.resume()
				assert.is((await client.response()).status, 200)
			}),
		))

	test('an idle connection is closed after keepAliveTimeoutSeconds', () =>
		listening({ '': Site }, { keepAliveTimeoutSeconds: 0.1 }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /now'))
				assert.is((await client.response()).status, 200)
				// node adds a second, so that a client that respects Keep-Alive is never too late.
				await client.closed(2_500)
			}),
		))
})

/** Sends requests, reads nothing of the responses, and waits until the connection is closed. */
async function cutOff({ server }: Server, port: number, requests: string): Promise<void> {
	let ended = 0
	server.on('connection', (socket) => socket.on('close', () => ended++))
	await connected(port, async (client) => {
		client.socket.pause()
		await client.send(requests)
		await until(() => ended === 1, 'the end of the connection')
	})
}

function openOf({ server }: Server): Promise<number> {
	return promisify(server.getConnections.bind(server))()
}
