/** One line per request, where a logger is given. */
import { once } from 'node:events'
import { createServer as createHttpServer, request } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { createServer, RestError, RestHandler, reply, type ServerOptions } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening, type Site, until } from '../helpers/listening.ts'
import { ask, RawClient, requestText } from '../helpers/raw.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

/** How often a method that waits was called. */
const entered = { count: 0 }

class Blog extends RestHandler {
	override authenticator = {
		authenticate: async (request: { header(name: string): string | undefined }) =>
			request.header('authorization') === undefined ? null : { id: 'ada' },
	}
	override customRoutes = { 'GET files/%s': 'file' }

	get_article(id: string) {
		return { id, title: 'Ä' }
	}

	put_article() {
		return this.body
	}

	post_article() {
		return this.body
	}

	get_nothing() {
		this.status(204)
	}

	get_broken() {
		throw new TypeError('secret')
	}

	get_busy() {
		throw new RestError('unavailable')
	}

	get_bytes() {
		return Buffer.alloc(1_000)
	}

	get_large() {
		return Buffer.alloc(64 * 1_048_576)
	}

	async *get_stream() {
		yield 1
		yield 2
	}

	get_cut() {
		return Readable.from(cut())
	}

	async get_slow() {
		entered.count++
		await once(this.request.signal, 'abort')
	}

	file() {
		return reply('x', { status: 201 })
	}
}

async function* cut() {
	yield Buffer.alloc(10)
	await new Promise((resolve) => setImmediate(resolve))
	throw new Error('the disk is gone')
}

class Quiet extends RestHandler {
	override suppressOutput = true

	get_hello() {
		return 'Hello'
	}
}

const LOGGED: ServerOptions = { logRequests: true }

/** The lines of requests, once there are as many. */
async function linesOf({ log }: Pick<Site, 'log'>, count = 1): Promise<Log['lines']> {
	const lines = () => log.lines.filter(({ message }) => /^request/.test(message))
	await until(() => lines().length >= count, `${count} lines`)
	return lines()
}

function rest(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const { requestId, durationMs, ...others } = fields
	assert.is(typeof requestId, 'string')
	assert.ok(typeof durationMs === 'number' && durationMs > 0, String(durationMs))
	return others
}

describe('request log', (test) => {
	test('each request is a line at info, without its query', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, Authorization: 'Bearer x' }
			await (await fetch(`${site.url}/blog/article/5?token=secret`, { headers })).text()
			const [line] = await linesOf(site)
			assert.is(line?.level, 'info')
			assert.is(line?.message, 'request')
			assert.equal(rest(line?.fields ?? {}), {
				method: 'GET',
				url: '/blog/article/5',
				handler: 'Blog',
				action: 'get_article',
				route: '/blog/article/{id}',
				traceId: TRACE,
				status: 200,
				bytes: '{"success":true,"data":{"id":"5","title":"Ä"}}'.length + 1,
				ip: '127.0.0.1',
				userId: 'ada',
			})
		}))

	test('the id is the one sent, and the ip comes from a trusted proxy', () =>
		listening({ blog: new Blog() }, { ...LOGGED, requestId: 'X-Request-Id', trustProxy: 1 }, async (site) => {
			const headers = { 'X-Request-Id': 'abc-1', 'X-Forwarded-For': '203.0.113.9' }
			await (await fetch(`${site.url}/blog/nothing`, { headers })).text()
			const [line] = await linesOf(site)
			assert.equal([line?.fields.requestId, line?.fields.ip], ['abc-1', '203.0.113.9'])
		}))

	const CALLS: [call: string, level: string, fields: Record<string, unknown>][] = [
		['GET /nowhere', 'info', { method: 'GET', url: '/nowhere', status: 404, bytes: 56 }],
		[
			'POST /blog/nothing',
			'info',
			{ method: 'POST', url: '/blog/nothing', handler: 'Blog', status: 405, bytes: 74 },
		],
		['TRACE /blog/nothing', 'info', { method: 'TRACE', url: '/blog/nothing', status: 501 }],
		['GET /blog/nothing', 'info', { handler: 'Blog', action: 'get_nothing', status: 204, bytes: 0 }],
		['HEAD /blog/article/1', 'info', { method: 'HEAD', action: 'get_article', status: 200, bytes: 0 }],
		['GET /blog/broken', 'error', { action: 'get_broken', status: 500 }],
		['GET /blog/busy', 'error', { action: 'get_busy', status: 503 }],
		['GET /blog/bytes', 'info', { action: 'get_bytes', status: 200, bytes: 1_000 }],
		['GET /blog/stream', 'info', { action: 'get_stream', status: 200, bytes: undefined }],
		['GET /blog/files/a', 'info', { action: 'file', status: 201 }],
		['OPTIONS /blog/article/1', 'info', { method: 'OPTIONS', status: 204, action: undefined }],
		['GET /blog/%zz', 'info', { url: '/blog/%zz', status: 400, handler: undefined }],
		['GET http://127.0.0.1/blog/nothing?x', 'info', { url: '/blog/nothing', status: 204 }],
	]
	for (const [call, level, expected] of CALLS) {
		test(`${call}: ${level}, ${JSON.stringify(expected)}`, () =>
			listening({ blog: new Blog() }, LOGGED, async (site) => {
				const client = new RawClient(site.port)
				client.socket.write(`${call} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
				const [line] = await linesOf(site)
				client.socket.destroy()
				assert.equal([line?.level, line?.message], [level, 'request'])
				for (const [name, value] of Object.entries(expected))
					if (name !== 'bytes' || value !== undefined) assert.is(line?.fields[name], value, name)
				if ('bytes' in expected) assert.is(line?.fields.bytes, expected.bytes)
			}))
	}

	test('requests refused before routing are logged too', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const client = new RawClient(site.port)
			client.socket.write('GET /blog/nothing HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n')
			const [line] = await linesOf(site)
			client.socket.destroy()
			assert.equal([line?.fields.status, line?.fields.method], [400, 'GET'])
			const expecting = new RawClient(site.port)
			expecting.socket.write('GET /blog/nothing HTTP/1.1\r\nHost: localhost\r\nExpect: cookies\r\n\r\n')
			assert.is((await linesOf(site, 2))[1]?.fields.status, 417)
			expecting.socket.destroy()
		}))

	test('the method is that of X-HTTP-Method-Override', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const headers = { 'X-HTTP-Method-Override': 'PUT', 'Content-Type': 'application/json' }
			await fetch(`${site.url}/blog/article`, { method: 'POST', headers, body: '{}' })
			const [line] = await linesOf(site)
			assert.equal([line?.fields.method, line?.fields.action], ['PUT', 'put_article'])
		}))

	test('a client that leaves before the response is logged as aborted, without status', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const before = entered.count
			const asked = request(`${site.url}/blog/slow`).end()
			asked.on('error', () => {})
			await until(() => entered.count > before, 'it has begun')
			asked.destroy()
			const [line] = await linesOf(site)
			assert.equal(
				[line?.message, line?.fields.aborted, line?.fields.status, line?.fields.ip],
				['request aborted', true, undefined, '127.0.0.1'],
			)
		}))

	test('a client that leaves during the response is logged as aborted, with its status', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const client = new RawClient(site.port)
			client.socket.write('GET /blog/large HTTP/1.1\r\nHost: localhost\r\n\r\n')
			await once(client.socket, 'data')
			client.socket.resetAndDestroy()
			const [line] = await linesOf(site)
			assert.equal([line?.message, line?.fields.aborted, line?.fields.status], ['request aborted', true, 200])
			assert.is(line?.level, 'info')
		}))

	test('a client that leaves once it has read the answer, with its body unsent, is not aborted', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			for (const header of ['X-A: b', 'Expect: 100-continue']) {
				const client = new RawClient(site.port)
				await client.send(requestText('POST /nowhere', [header, 'Content-Length: 2000000']))
				assert.is((await client.response()).status, 404)
				client.close()
			}
			const lines = await linesOf(site, 2)
			assert.equal(
				lines.map(({ message, fields }) => [message, fields.status]),
				[
					['request', 404],
					['request', 404],
				],
			)
		}))

	test('a response that is cut off is aborted, at error', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			await fetch(`${site.url}/blog/cut`)
				.then((response) => response.text())
				.catch(() => {})
			const [line] = await linesOf(site)
			assert.equal([line?.level, line?.message], ['error', 'request aborted'])
			assert.equal([line?.fields.aborted, line?.fields.status], [true, 200])
		}))

	test('each pipelined request is logged, also when its client has left', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const client = new RawClient(site.port)
			const ask = (path: string) => `GET /blog/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
			client.socket.write(ask('article/1') + ask('slow') + ask('article/2'))
			const [first] = await linesOf(site)
			assert.is(first?.fields.url, '/blog/article/1')
			client.socket.destroy()
			const lines = await linesOf(site, 3)
			assert.equal(lines.map(({ fields }) => [fields.url, fields.aborted]).sort(), [
				['/blog/article/1', undefined],
				['/blog/article/2', true],
				['/blog/slow', true],
			])
		}))

	test('HTTP/2: complete responses and client resets are logged', async () => {
		const log = new Log()
		const { handler } = createServer({ blog: new Blog() }, { logger: log })
		const server = createHttp2Server({}, handler).listen(0, '127.0.0.1')
		await once(server, 'listening')
		const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
		try {
			const whole = session.request({ ':path': '/blog/article/1' })
			whole.resume()
			await once(whole, 'end')
			const head = session.request({ ':path': '/blog/article/1', ':method': 'HEAD' })
			head.resume()
			await once(head, 'close')
			const before = entered.count
			const slow = session.request({ ':path': '/blog/slow' })
			await until(() => entered.count > before, 'it has begun')
			slow.close(8)
			const lines = await linesOf({ log }, 3)
			assert.equal(
				lines.map(({ message, fields }) => [message, fields.status]),
				[
					['request', 200],
					['request', 200],
					['request aborted', undefined],
				],
			)
		} finally {
			session.destroy()
			server.close()
		}
	})

	test('inject and handler mode are logged as well', async () => {
		const log = new Log()
		const api = createServer({ blog: new Blog() }, { logger: log })
		await api.inject({ url: '/blog/nothing', remoteAddress: '10.0.0.9' })
		await api.inject({ url: '/blog/cut' }).catch(() => {})
		const other = createHttpServer(api.handler).listen(0, '127.0.0.1')
		await once(other, 'listening')
		await fetch(`http://127.0.0.1:${(other.address() as AddressInfo).port}/blog/nothing`)
		const lines = await linesOf({ log }, 3)
		other.close()
		assert.equal(
			lines.map(({ fields }) => [fields.ip, fields.status, fields.aborted]),
			[
				['10.0.0.9', 204, undefined],
				['127.0.0.1', 200, true],
				['127.0.0.1', 204, undefined],
			],
		)
	})

	test('handlers with suppressOutput are not logged', () =>
		listening({ blog: new Blog(), quiet: new Quiet() }, LOGGED, async (site) => {
			await (await fetch(`${site.url}/quiet/hello`)).text()
			await (await fetch(`${site.url}/blog/nothing`)).text()
			const lines = await linesOf(site)
			assert.equal(
				lines.map(({ fields }) => fields.url),
				['/blog/nothing'],
			)
		}))

	test('no line has a secret of the target: no query, fragment or userinfo', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const targets = [
				'/blog/broken?t=secret',
				'/blog/article/1#t=secret',
				'http://u:secret@h/blog/article/1',
			]
			for (const target of targets) {
				await ask(site.port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
			}
			await linesOf(site, targets.length)
			assert.equal(
				site.log.lines.map(({ fields, message }) => [message, fields.url]),
				[
					['get_broken failed', '/blog/broken'],
					['request', '/blog/broken'],
					['request', '/blog/article/1'],
					['request', '/blog/article/1'],
				],
			)
		}))

	test('lines of errors have the trace id, too', () =>
		listening({ blog: new Blog() }, LOGGED, async (site) => {
			const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }
			await (await fetch(`${site.url}/blog/broken`, { headers })).text()
			await linesOf(site)
			assert.equal(
				site.log.lines.map(({ message, fields }) => [message, fields.traceId]),
				[
					['get_broken failed', TRACE],
					['request', TRACE],
				],
			)
		}))

	test('a logger that throws affects no request', async () => {
		const fail = () => {
			throw new Error('the disk is full')
		}
		const options = { logger: { info: fail, warn: fail, error: fail } }
		await listening({ blog: new Blog() }, { ...options, ...LOGGED }, async ({ url }) => {
			for (const status of [204, 204]) assert.is((await fetch(`${url}/blog/nothing`)).status, status)
		})
	})

	test('logging is on where a logger is given, and off with logRequests: false', async () => {
		for (const [options, count] of [
			[{}, 1],
			[{ logRequests: false }, 0],
			[{ logRequests: true }, 1],
		] as const) {
			const log = new Log()
			await createServer({ blog: new Blog() }, { logger: log, ...options }).inject({ url: '/blog/nothing' })
			assert.is(log.lines.length, count)
		}
	})

	test('without a logger nothing is written to the console, unless asked for', async () => {
		const written: unknown[][] = []
		const { info } = console
		console.info = (...parts: unknown[]) => void written.push(parts)
		try {
			await createServer({ blog: new Blog() }).inject({ url: '/blog/nothing' })
			assert.is(written.length, 0)
			await createServer({ blog: new Blog() }, { logRequests: true }).inject({ url: '/blog/nothing' })
			assert.is(written.length, 1)
			assert.is(written[0]?.[0], 'request')
		} finally {
			console.info = info
		}
	})
})
