/** Closing a server: running requests, late requests, and which of them get a 503. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { Deadlines } from '../../lib/base/deadlines.ts'
import { createServer, RestHandler, type Server, type ServerOptions } from '../../lib/index.ts'
import { connectionsOf, drain } from '../../lib/server/close.ts'
import { describe } from '../helpers/describe.ts'
import { appOf } from '../helpers/exchange.ts'
import { Log, until } from '../helpers/listening.ts'
import { connected, RawClient, requestText } from '../helpers/raw.ts'
import { stopwatch } from '../helpers/stalls.ts'

class Site extends RestHandler {
	override streaming = ['post_upload']
	readonly reasons: unknown[] = []
	readonly held: (() => void)[] = []

	get_now() {
		return 'now'
	}

	async get_after(time: string) {
		await sleep(Number(time), undefined, { ref: false })
		return time
	}

	/** Answers when the function it puts into `held` is called. */
	async get_held() {
		const { signal } = this.request
		signal.addEventListener('abort', () => this.reasons.push(signal.reason))
		await new Promise<void>((resolve) => {
			this.held.push(resolve)
		})
	}
	async *get_records(time: string) {
		for (let at = 0; at < 5; at++) {
			await sleep(Number(time))
			yield at
		}
	}

	/** Yields its first record, and no more before the function it puts into `held` is called. */
	async *get_half() {
		yield 0
		await new Promise<void>((resolve) => {
			this.held.push(resolve)
		})
	}

	get_large() {
		return Buffer.alloc(20 * 1_048_576)
	}

	post_body() {
		return this.getRawPostData()
	}

	async post_upload() {
		for await (const _ of this.request.stream);
	}
}

interface Closing {
	readonly server: Server
	readonly site: Site
	readonly port: number
	/** A new connection, closed after the test. */
	connect(): RawClient
	/** Waits until the server has received so many requests in all. */
	requests(count: number): Promise<void>
	/** Calls `close`, and returns after how many milliseconds, without stalls, it had resolved. */
	close(): Promise<number>
}

/** Timeouts that end a connection are long, so that a test which waits for one of them is noticed. */
const LONG: ServerOptions = {
	graceTimeoutSeconds: 60,
	keepAliveTimeoutSeconds: 60,
	headersTimeoutSeconds: 60,
}

/** The bound of a close that waits for no such timeout: far below them, and far above a busy machine's delays; milliseconds. */
const SOON = 10_000

async function closing(use: (given: Closing) => Promise<void>, options: ServerOptions = {}): Promise<void> {
	const site = new Site()
	const server = createServer({ '': site }, { logger: new Log(), ...LONG, ...options })
	const clients: RawClient[] = []
	try {
		const { port } = await server.listen()
		const connect = (): RawClient => {
			const client = new RawClient(port)
			clients.push(client)
			return client
		}
		const close = async (): Promise<number> => {
			const took = stopwatch()
			await server.close()
			return took()
		}
		let came = 0
		server.server.on('request', () => came++)
		const requests = (count: number) => until(() => came === count, `${count} requests`)
		await use({ server, site, port, connect, requests, close })
	} finally {
		for (const client of clients) client.close()
		await server.close()
	}
}

describe('close', (test) => {
	test('resolves at once without connections', () =>
		closing(async ({ close }) => {
			assert.ok((await close()) < SOON)
		}))

	test('resolves soon with idle clients, and with some that have sent nothing yet', () =>
		closing(async ({ connect, close }) => {
			const idle = connect()
			await idle.send(requestText('GET /now'))
			await idle.response()
			const silent = connect()
			await until(() => silent.socket.readyState === 'open', 'the connection')
			const taken = await close()
			assert.ok(taken < SOON, `${taken} ms`)
			await idle.closed(SOON)
			await silent.closed(SOON)
		}))

	test('waits for running requests, whose responses say Connection: close', () =>
		closing(async ({ connect, close, port, site }) => {
			const client = connect()
			await client.send(requestText('GET /held'))
			await until(() => site.held.length === 1, 'the method runs')
			const closed = close()
			// Longer than idle connections are kept open.
			await sleep(300)
			site.held[0]?.()
			const answer = await client.response()
			assert.is(answer.status, 200)
			assert.is(answer.headers.connection, 'close')
			await client.closed(SOON)
			assert.ok((await closed) < SOON)
			const late = new RawClient(port)
			await late.closed()
			assert.is(late.error, 'ECONNREFUSED')
		}))

	test('waits for an upload, and for a stream', () =>
		closing(async ({ connect, requests, close }) => {
			const upload = connect()
			await upload.send(`${requestText('POST /body', ['Content-Length: 4'])}ab`)
			const stream = connect()
			await stream.send(requestText('GET /records/50'))
			await requests(2)
			await stream.bytes(1)
			const closed = close()
			await sleep(200)
			await upload.send('cd')
			assert.is((await upload.response()).status, 200)
			assert.equal((await stream.response()).json(), { success: true, data: [0, 1, 2, 3, 4] })
			assert.ok((await closed) < SOON)
		}))

	test('waits for a reader who has not received all of a response', () =>
		closing(async ({ connect, requests, close }) => {
			const client = connect()
			client.socket.pause()
			await client.send(requestText('GET /large'))
			await requests(1)
			const closed = close()
			await sleep(300)
			client.socket.resume()
			assert.is((await client.response()).body.length, 20 * 1_048_576)
			assert.ok((await closed) < SOON)
		}))

	test('serves a request that arrives on an open connection, then closes it', () =>
		closing(async ({ connect, requests, close, site }) => {
			const [idle, partly, other] = [connect(), connect(), connect()]
			await idle.send(requestText('GET /now'))
			await idle.response()
			await partly.send('GET /now HTTP/1.1\r\n')
			await other.send(requestText('GET /held'))
			await requests(2)
			const closed = close()
			// At once, as idle connections are kept open for only a quarter of a second.
			await idle.send(requestText('GET /now'))
			const answer = await idle.response()
			assert.is(answer.status, 200)
			assert.is(answer.headers.connection, 'close')
			await idle.closed(SOON)
			await sleep(400)
			await partly.send('Host: localhost\r\n\r\n')
			assert.is((await partly.response()).status, 200)
			site.held[0]?.()
			assert.is((await other.response()).status, 200)
			assert.ok((await closed) < SOON)
		}))

	test('keeps idle connections open long enough for requests in transit', () =>
		closing(async ({ connect, close }) => {
			const idle = connect()
			await idle.send(requestText('GET /now'))
			await idle.response()
			const closed = close()
			// After many polls for idle connections, and before the first of them is closed: by the same clock.
			await sleep(150)
			await idle.send(requestText('GET /now'))
			assert.is((await idle.response()).status, 200)
			await closed
		}))

	test('reads what has arrived before closing idle connections, even after an event-loop stall', () =>
		closing(async ({ connect, close }) => {
			const idle = connect()
			await idle.send(requestText('GET /now'))
			await idle.response()
			const closed = close()
			await sleep(100)
			// The kernel has it at once; the process reads it only after the idle connections' time is over.
			const sent = idle.send(requestText('GET /now'))
			for (const end = performance.now() + 400; performance.now() < end; );
			await sent
			assert.is((await idle.response()).status, 200)
			await closed
		}))

	test('answers all requests of an accepted pipeline', () =>
		closing(async ({ connect, requests, close }) => {
			const client = connect()
			const paths = ['/after/200', '/now', '/after/50', '/now']
			await client.send(paths.map((path) => requestText(`GET ${path}`)).join(''))
			await requests(paths.length)
			const closed = close()
			for (const _ of paths) assert.is((await client.response()).status, 200)
			assert.ok((await closed) < SOON)
		}))

	test('accepts queued connections, however long each request takes', () =>
		closing(async ({ server, connect, close }) => {
			const clients = Array.from({ length: 50 }, connect)
			const sent = clients.map((client) => client.send(requestText('GET /now')))
			// One per turn, as on a busy machine.
			server.server.on('connection', () => {
				for (const end = performance.now() + 15; performance.now() < end; );
			})
			const closed = close()
			await Promise.all(sent)
			const answers = await Promise.all(clients.map((client) => client.response()))
			assert.ok(answers.every(({ status }) => status === 200))
			await closed
		}))

	test('answers 503 to waiting requests when the grace period is over', () =>
		closing(
			async ({ connect, requests, close, site }) => {
				const [waiting, uploading, streaming] = [connect(), connect(), connect()]
				await waiting.send(requestText('GET /held'))
				await uploading.send(`${requestText('POST /upload', ['Content-Length: 10'])}ab`)
				await streaming.send(requestText('GET /half'))
				await requests(3)
				await until(() => site.held.length === 2, 'method and stream wait')
				const start = performance.now()
				const closed = close()
				const answer = await waiting.response()
				assert.is(answer.status, 503)
				assert.is(answer.headers['retry-after'], '1')
				assert.is(answer.headers.connection, 'close')
				assert.equal((answer.json() as { error: string }).error, 'The server is closing')
				assert.is((await uploading.response()).status, 503)
				const taken = await closed
				assert.ok(performance.now() - start > 190)
				assert.ok(taken < SOON, `${taken} ms`)
				assert.is((site.reasons[0] as Error).message, 'The server is closing')
				await streaming.closed(SOON)
				assert.not.match(streaming.unread.toString(), '\r\n0\r\n')
			},
			{ graceTimeoutSeconds: 0.2 },
		))

	test('cuts off requests that outlast the grace period', () =>
		closing(
			async ({ server, connect, requests, close }) => {
				let refusals = 0
				server.server.on('connect', () => refusals++)
				const client = connect()
				client.socket.pause()
				await client.send(requestText('GET /large'))
				const refused = connect()
				await refused.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
				await requests(1)
				await until(() => refusals === 1, 'the refusal')
				assert.ok((await close()) < SOON)
			},
			{ graceTimeoutSeconds: 0.1 },
		))

	test('twice has the same effect as once', () =>
		closing(async ({ server, connect, requests }) => {
			await connect().send(requestText('GET /after/100'))
			await requests(1)
			const first = server.close()
			assert.is(server.close(), first)
			await first
			await server.close()
		}))

	test('before listen resolves at once, and makes listen reject', async () => {
		const server = createServer({ '': Site })
		await server.close()
		await rejects(server.listen(), 'the server has been closed: make a new one')
	})

	test('while listen is starting prevents listening', async () => {
		const server = createServer({ '': Site })
		const listening = server.listen()
		const closed = server.close()
		await rejects(listening, 'closed')
		await closed
		assert.not(server.server.listening)
	})

	test('leaves nothing that keeps the process alive', () =>
		closing(async ({ server, connect, port }) => {
			await connected(port, async (client) => {
				await client.send(requestText('GET /now'))
				await client.response()
			})
			void connect
			await server.close()
			await until(
				() => !process.getActiveResourcesInfo().some((name) => /TCPServer|TCPSocket/.test(name)),
				'no sockets',
			)
		}))

	test('waits for requests served through another server, and answers 503 when the grace period is over', async () => {
		const site = new Site()
		const server = createServer({ '': site }, { logger: new Log(), graceTimeoutSeconds: 0.2 })
		const other = createHttpServer(server.handler).listen(0, '127.0.0.1')
		await once(other, 'listening')
		const { port } = other.address() as AddressInfo
		const client = new RawClient(port)
		try {
			await client.send(requestText('GET /held'))
			await until(() => site.held.length > 0, 'the method runs')
			const answer = client.response()
			const fetched = server.fetch(new Request('http://a/held'))
			await server.close()
			assert.equal([(await answer).status, (await fetched).status], [503, 503])
		} finally {
			client.close()
			other.close()
		}
	})

	test('takes no longer than the grace period, even with constant new connections', async () => {
		let now = 0
		const grace = 60_000
		const app = appOf({ deadlines: new Deadlines(() => now, 1_000) })
		const server = createHttpServer().listen(0, '127.0.0.1')
		await once(server, 'listening')
		const { port } = server.address() as AddressInfo
		const connections = connectionsOf(server)
		const client = new RawClient(port)
		try {
			await client.send('GET /now HTTP/1.1\r\n')
			await until(() => [...connections].some(({ bytesRead }) => bytesRead > 0), 'half a request')
			server.on('connection', () => {
				now += grace
			})
			const late = new RawClient(port)
			let isOver = false
			const drained = drain(app, server, connections, grace).then(() => {
				isOver = true
			})
			// Far below the grace period, of which nothing is left.
			await until(() => isOver, 'the end')
			await drained
			late.close()
		} finally {
			client.close()
			server.close()
		}
	})

	test('a method in another server keeps its own timeout during the grace period', async () => {
		const site = new Site()
		const options = { logger: new Log(), graceTimeoutSeconds: 20, handlerTimeoutSeconds: 0.2 }
		const server = createServer({ '': site }, options)
		const other = createHttpServer(server.handler).listen(0, '127.0.0.1')
		await once(other, 'listening')
		const { port } = other.address() as AddressInfo
		const client = new RawClient(port)
		try {
			await client.send(requestText('GET /held'))
			await until(() => site.held.length > 0, 'the method runs')
			const answer = client.response()
			await server.close()
			assert.match(((await answer).json() as { error: string }).error, 'took too long')
		} finally {
			client.close()
			other.close()
		}
	})

	test('makes inject and handler answer 503', () =>
		closing(async ({ server }) => {
			await server.close()
			const answer = await server.inject({ url: '/now' })
			assert.is(answer.status, 503)
			assert.is(answer.headers['retry-after'], '1')
		}))
})

async function rejects(promise: Promise<unknown>, message: string): Promise<void> {
	try {
		await promise
	} catch (error) {
		assert.match((error as Error).message, message)
		return
	}
	assert.unreachable('it was not refused')
}
