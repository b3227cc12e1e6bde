import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { RestHandler, type Server } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { ask, connected, requestText } from '../helpers/raw.ts'

class Site extends RestHandler {
	override streaming = ['post_stream', 'post_refuse']
	override access = { post_vault: 'user' }
	override authenticator = { authenticate: () => null }

	get_now() {
		return 'now'
	}

	post_vault() {
		return 'vault'
	}

	post_body() {
		return this.getRawPostData()
	}

	async post_stream() {
		const { stream } = this.request
		let text = ''
		for await (const chunk of stream) text += String(chunk)
		return { text, same: stream === this.request.stream }
	}

	post_refuse() {
		return this.error('not now', 409)
	}
}

const EXPECT = 'Expect: 100-continue'

describe('Expect', (test) => {
	const REFUSED: [line: string, headers: string[], status: number][] = [
		['POST /vault', ['Content-Length: 5'], 401],
		['POST /nowhere', ['Content-Length: 5'], 404],
		['POST /body', ['Content-Length: 5000'], 413],
		['POST /nowhere', ['Transfer-Encoding: chunked'], 404],
		['PUT /body', ['Content-Length: 5'], 405],
		['POST /refuse', ['Content-Length: 5'], 409],
		['POST /body', ['Content-Length: 5', 'Host: b'], 400],
	]
	for (const [line, headers, status] of REFUSED) {
		test(`${line} (${headers.join(', ')}) is refused ${status} without 100, and the connection ends`, () =>
			listening({ '': Site }, { maxBody: 1_000 }, ({ port }) =>
				connected(port, async (client) => {
					await client.send(requestText(line, [EXPECT, ...headers]))
					const answer = await client.response(undefined, 1_000)
					assert.is(answer.status, status)
					assert.is(answer.headers.connection, 'close')
					// The client may send the body now or not, so the server can't tell it from a next request.
					await client.closed(500)
				}),
			))
	}

	for (const path of ['/body', '/stream']) {
		test(`POST ${path} gets 100 Continue once, when its body is read`, () =>
			listening({ '': Site }, {}, ({ port }) =>
				connected(port, async (client) => {
					await client.send(requestText(`POST ${path}`, [EXPECT, 'Content-Length: 5']))
					assert.is((await client.response()).status, 100)
					await client.send(`hello${requestText('GET /now')}`)
					const expected = path === '/body' ? 'hello' : { text: 'hello', same: true }
					assert.equal((await client.response()).json(), { success: true, data: expected })
					assert.is((await client.response()).status, 200)
				}),
			))
	}

	test('a GET that expects 100 is answered at once, and the connection ends', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /now', [EXPECT]) + requestText('GET /now'))
				const answer = await client.response()
				assert.is(answer.status, 200)
				assert.is(answer.headers.connection, 'close')
				await client.closed(500)
				assert.is(client.unread.length, 0)
			}),
		))

	test('HTTP/1.0 gets no 100 Continue', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const bytes = `POST /body HTTP/1.0\r\nContent-Length: 5\r\n${EXPECT}\r\n\r\nhello`
			assert.is((await ask(port, bytes)).status, 200)
		}))

	test('another expectation → 417', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const answer = await ask(port, requestText('GET /now', ['Expect: gold']))
			assert.is(answer.status, 417)
			assert.equal(answer.json(), {
				success: false,
				error: 'The only expectation served is 100-continue',
				code: 'expectation_failed',
			})
		}))
})

/** Reports what became of its signal. */
class Waiting extends RestHandler {
	readonly reasons: string[] = []
	readonly started: string[] = []
	/** Called when the client of `get_late` has left. */
	readonly left: (() => void)[] = []

	async get_wait() {
		const { signal } = this.request
		signal.addEventListener('abort', () => this.reasons.push((signal.reason as Error).name))
		this.started.push('wait')
		await new Promise((resolve) => {
			setTimeout(resolve, 60_000).unref()
			signal.addEventListener('abort', resolve)
		})
	}

	async get_late() {
		this.started.push('late')
		await new Promise<void>((resolve) => {
			this.left.push(resolve)
		})
		const { signal } = this.request
		this.reasons.push(signal.aborted ? (signal.reason as Error).name : 'not aborted')
	}

	async get_done() {
		const { signal } = this.request
		signal.addEventListener('abort', () => this.reasons.push('done'))
		await new Promise((resolve) => setTimeout(resolve, 10))
		return 'done'
	}
}

describe('request.signal', (test) => {
	test('is aborted when the client is gone', () => leave(requestText('GET /wait'), ['AbortError']))

	test('is aborted when first read after the client has gone', () =>
		leave(requestText('GET /late'), ['AbortError']))

	test('is aborted for every pipelined request', () =>
		leave(requestText('GET /wait').repeat(3), ['AbortError', 'AbortError', 'AbortError']))

	test('of pipelined requests leaves no listener on a connection that stays open', () => {
		const warnings: string[] = []
		const note = (warning: Error): void => {
			warnings.push(warning.message)
		}
		process.on('warning', note)
		return listening({ '': Waiting }, {}, async ({ port, server }) => {
			const sockets: Socket[] = []
			server.server.on('connection', (socket) => sockets.push(socket))
			await connected(port, async (client) => {
				await client.send(requestText('GET /done').repeat(2))
				for (let at = 0; at < 2; at++) await client.response()
				const before = sockets[0]?.listenerCount('close')
				await client.send(requestText('GET /done').repeat(30))
				for (let at = 0; at < 30; at++) assert.is((await client.response()).status, 200)
				await until(() => sockets[0]?.listenerCount('close') === before, 'no listener is left')
			})
			assert.equal(warnings, [])
		}).finally(() => process.off('warning', note))
	})

	test('is aborted with the error sent to the client, when the timeout is over', () => {
		const handler = new Waiting()
		return listening({ '': handler }, { handlerTimeoutSeconds: 0.1 }, async ({ port }) => {
			const answer = await ask(port, requestText('GET /wait'))
			assert.is(answer.status, 503)
			assert.equal(handler.reasons, ['RestError'])
		})
	})

	test('is not aborted when the connection ends after its response', () => {
		const handler = new Waiting()
		return listening({ '': handler }, {}, async ({ port, server }) => {
			assert.is((await ask(port, requestText('GET /done'))).status, 200)
			await until(async () => (await connectionsOf(server)) === 0, 'the end of the connection')
			assert.equal(handler.reasons, [])
		})
	})

	function leave(bytes: string, reasons: string[]): Promise<void> {
		const handler = new Waiting()
		return listening({ '': handler }, {}, async ({ port, server }) => {
			server.server.on('connection', (socket) => socket.on('close', () => handler.left[0]?.()))
			await connected(port, async (client) => {
				await client.send(bytes)
				await until(() => handler.started.length === reasons.length, 'the requests')
			})
			await until(() => handler.reasons.length === reasons.length, 'the signals')
			assert.equal(handler.reasons, reasons)
		})
	}
})

describe('setting up', (test) => {
	class Slow extends RestHandler {
		override async init() {
			await new Promise((resolve) => setTimeout(resolve, 30))
		}

		get_now() {
			return 'now'
		}
	}

	class Failing extends RestHandler {
		override async init() {
			throw new Error('no database')
		}

		get_now() {
			return 'now'
		}
	}

	test('a request waits for a handler that is mounted while the server listens', () =>
		listening({ '': Site }, {}, async ({ port, server }) => {
			server.controller.service('slow', new Slow())
			assert.equal((await ask(port, requestText('GET /slow/now'))).json(), { success: true, data: 'now' })
		}))

	test('a handler whose init fails answers every request with 500, and is logged', () =>
		listening({ '': Site }, {}, async ({ port, server, log }) => {
			server.controller.service('failing', new Failing())
			const answer = await ask(port, requestText('GET /failing/now'))
			assert.is(answer.status, 500)
			assert.not.match(answer.body.toString(), 'database')
			assert.match(String(log.lines[0]?.fields.err), 'no database')
		}))
})

function connectionsOf({ server }: Server): Promise<number> {
	return promisify(server.getConnections.bind(server))()
}

class Broken extends RestHandler {
	async *get_lines() {
		yield 'one\n'
		yield 'two\n'
		throw new Error('the source is gone')
	}

	async *get_whole() {
		yield 'one\n'
	}
}

describe('HTTP/1.0', (test) => {
	/** How a connection ends after a request by HTTP/1.0. */
	const endOf = (port: number, path: string): Promise<string> =>
		new Promise((resolve) => {
			const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.0\r\n\r\n`))
			socket.on('data', () => {})
			socket.on('end', () => resolve('end'))
			socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
		})

	test('a cut answer, whose end would be that of the connection, ends with a reset', () =>
		listening({ '': Broken }, {}, async ({ port }) => {
			assert.is(await endOf(port, '/lines'), 'ECONNRESET')
			assert.is(await endOf(port, '/whole'), 'end')
		}))
})
