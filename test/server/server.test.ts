import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer, request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, Server } from '../../lib/index.ts'
import { selfSigned } from '../helpers/certificate.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening } from '../helpers/listening.ts'
import { freePorts } from '../helpers/program.ts'
import { ask, connected, RawClient, requestText } from '../helpers/raw.ts'

class Site extends RestHandler {
	get_about() {
		const { protocol, host, url } = this.request
		return { protocol, host, url }
	}

	post_body() {
		return this.body
	}

	async get_after(time: string) {
		await sleep(Number(time), undefined, { ref: false })
		return time
	}
}

class Failing extends RestHandler {
	get_a() {}
	override async init() {
		throw new Error('no database')
	}
}

async function refusal(promise: Promise<unknown>): Promise<NodeJS.ErrnoException> {
	try {
		await promise
	} catch (error) {
		return error as NodeJS.ErrnoException
	}
	return assert.unreachable('it was not refused') as never
}

describe('createServer', (test) => {
	test('creates a server that does not listen yet', () => {
		const server = createServer({ 'blog/api': Site })
		assert.instance(server, Server)
		assert.not(server.server.listening)
	})

	test('refuses a value that is not a handler, naming its path', () => {
		assert.throws(() => createServer({ blog: {} as RestHandler }), /"blog" must be a RestHandler/)
	})

	test('serves handlers that are mounted later', async () => {
		const server = createServer({})
		assert.is((await server.inject({ url: '/late/about' })).status, 404)
		server.controller.service('late', new Site())
		assert.is((await server.inject({ url: '/late/about' })).status, 200)
	})
})

describe('listen', (test) => {
	test('uses a free port, on loopback only', () =>
		listening({ '': Site }, {}, async ({ url, port, server }) => {
			assert.is(url, `http://127.0.0.1:${port}`)
			assert.is((server.server.address() as AddressInfo).address, '127.0.0.1')
			assert.is((await fetch(`${url}/about`)).status, 200)
		}))

	const HOSTS: [host: string, url: RegExp][] = [
		['localhost', /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/],
		['0.0.0.0', /^http:\/\/localhost:\d+$/],
		['::', /^http:\/\/localhost:\d+$/],
		['::1', /^http:\/\/\[::1\]:\d+$/],
	]
	for (const [host, expected] of HOSTS) {
		test(`on ${host} returns a URL that can be fetched`, async () => {
			const server = createServer({ '': Site }, { logger: new Log() })
			try {
				const { url, port } = await server.listen(0, host)
				assert.match(url, expected)
				assert.match(url, String(port))
				assert.is((await fetch(`${url}/about`)).status, 200)
			} finally {
				await server.close()
			}
		})
	}

	test('uses the given port', async () => {
		// Outside of the ephemeral ports: another connection could take it before we listen.
		const [port = 0] = await freePorts(1)
		const server = createServer({ '': Site })
		try {
			assert.equal(await server.listen(port), { url: `http://127.0.0.1:${port}`, port })
		} finally {
			await server.close()
		}
	})

	test('rejects when the port is in use, and can be retried', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const server = createServer({ '': Site })
			try {
				assert.is((await refusal(server.listen(port))).code, 'EADDRINUSE')
				assert.is.not((await server.listen(0)).port, port)
			} finally {
				await server.close()
			}
		}))

	test('rejects an invalid port, and a second call', () =>
		listening({ '': Site }, {}, async ({ server }) => {
			const other = createServer({ '': Site })
			assert.is((await refusal(other.listen(70_000))).code, 'ERR_SOCKET_BAD_PORT')
			assert.is((await refusal(server.listen())).code, 'ERR_SERVER_ALREADY_LISTEN')
		}))

	test("rejects when a handler's init fails", async () => {
		const server = createServer({ '': new Failing() })
		assert.is((await refusal(server.listen())).message, 'no database')
		assert.not(server.server.listening)
		await server.close()
	})

	test('waits for the init of handlers', async () => {
		const events: string[] = []
		class Slow extends Site {
			override async init() {
				await sleep(20)
				events.push('init')
			}
		}
		await listening({ '': new Slow() }, {}, async () => {
			assert.equal(events, ['init'])
		})
	})
})

describe('handler', (test) => {
	async function inside(listener: RequestListener, use: (port: number) => Promise<void>): Promise<void> {
		const server = createHttpServer(listener)
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		try {
			await use((server.address() as AddressInfo).port)
		} finally {
			server.closeAllConnections()
			await new Promise((resolve) => server.close(resolve))
		}
	}

	test('serves an http server, and answers 404 where no handler is mounted', () =>
		inside(createServer({ blog: Site }).handler, async (port) => {
			const about = { protocol: 'http', host: 'localhost', url: '/blog/about' }
			assert.equal((await ask(port, requestText('GET /blog/about'))).json(), { success: true, data: about })
			assert.is((await ask(port, requestText('GET /about'))).status, 404)
		}))

	test('keeps connections alive, and sends 100 Continue', () =>
		inside(createServer({ '': Site }).handler, (port) =>
			connected(port, async (client) => {
				const lines = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 2']
				await client.send(requestText('POST /body', lines))
				assert.is((await client.response()).status, 100)
				await client.send(`[]${requestText('GET /about')}`)
				assert.equal((await client.response()).json(), { success: true, data: [] })
				assert.is((await client.response()).status, 200)
			}),
		))

	test('refuses malformed requests that node accepts', () =>
		inside(createServer({ '': Site }).handler, async (port) => {
			assert.is((await ask(port, requestText('GET /about', ['Host: b']))).status, 400)
			assert.is((await ask(port, 'GET /about HTTP/2.0\r\nHost: localhost\r\n\r\n')).status, 505)
			assert.is((await ask(port, requestText(`GET /${'a'.repeat(10_000)}`))).status, 404)
		}))

	test('applies the timeouts of bodies and methods', () => {
		const { handler } = createServer(
			{ '': Site },
			{ bodyTimeoutSeconds: 0.05, handlerTimeoutSeconds: 0.05, logger: new Log() },
		)
		return inside(handler, async (port) => {
			assert.is((await ask(port, requestText('POST /body', ['Content-Length: 2']))).status, 408)
			assert.is((await ask(port, requestText('GET /after/60000'))).status, 503)
		})
	})

	test('answers 503 once its own server is closed', async () => {
		const server = createServer({ '': Site })
		await server.close()
		await inside(server.handler, async (port) => {
			const answer = await ask(port, requestText('GET /about'))
			assert.equal([answer.status, answer.headers.connection], [503, 'close'])
		})
	})

	test('serves an https server, and recognises it as one', async () => {
		const { handler } = createServer({ '': Site })
		const server = createHttpsServer(selfSigned(), handler)
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		try {
			const { port } = server.address() as AddressInfo
			const body = await new Promise<string>((resolve, reject) => {
				const options = { port, host: '127.0.0.1', path: '/about', rejectUnauthorized: false, agent: false }
				const request = requestHttps({ ...options, headers: { Host: 'a.example' } }, (response) => {
					let text = ''
					response.on('data', (chunk) => {
						text += String(chunk)
					})
					response.on('end', () => resolve(text))
				})
				request.on('error', reject).end()
			})
			const about = { protocol: 'https', host: 'a.example', url: '/about' }
			assert.equal(JSON.parse(body), { success: true, data: about })
		} finally {
			server.closeAllConnections()
			await new Promise((resolve) => server.close(resolve))
		}
	})
})

describe('connections', (test) => {
	test('pipelined requests are answered in order', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				const times = ['60', '5', '30', '1']
				await client.send(times.map((time) => requestText(`GET /after/${time}`)).join(''))
				for (const time of times)
					assert.equal((await client.response()).json(), { success: true, data: time })
			}),
		))

	test('a request sent byte by byte is answered', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				const text = requestText('POST /body', ['Content-Type: application/json'], '{"a":[1]}')
				for (const character of text) await client.send(character)
				assert.equal((await client.response()).json(), { success: true, data: { a: [1] } })
			}),
		))

	test('a chunked body is read without its trailers', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const head = requestText('POST /body', ['Content-Type: application/json', 'Transfer-Encoding: chunked'])
			const answer = await ask(port, `${head}2;a=b\r\n[1\r\n1\r\n]\r\n0\r\nX-Trailer: 1\r\n\r\n`)
			assert.equal(answer.json(), { success: true, data: [1] })
		}))

	test('HTTP/1.0 gets its response, and keep-alive if it asks for that', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send('GET /about HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
				assert.is((await client.response()).headers.connection, 'keep-alive')
				await client.send('GET /about HTTP/1.0\r\n\r\n')
				assert.is((await client.response()).headers.connection, 'close')
				await client.closed(500)
			}),
		))

	test('a hundred clients that disconnect within their request affect no other', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const clients = Array.from({ length: 100 }, () => new RawClient(port))
			await Promise.all(
				clients.map((client, at) =>
					client.send(requestText('POST /body', ['Content-Length: 9']).slice(0, 20 + at)),
				),
			)
			for (const [at, client] of clients.entries()) {
				if (at % 2 === 0) client.close()
				else client.reset()
			}
			assert.is((await ask(port, requestText('GET /about'))).status, 200)
		}))
})
