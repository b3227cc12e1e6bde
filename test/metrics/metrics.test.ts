/** The option `metrics`: what the page contains, and who may read it. */
import { on, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	createServer,
	MemoryCache,
	MemoryModel,
	RestHandler,
	type Server,
	type ServerOptions,
} from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'

class Blog extends RestHandler {
	readonly begun: string[] = []

	get_article(id: string) {
		return id
	}

	get_status(code: string) {
		return this.error('as asked', Number(code))
	}

	async get_slow() {
		this.begun.push('slow')
		await once(this.request.signal, 'abort')
	}

	get_large() {
		return Buffer.alloc(30_000_000)
	}

	get_stream() {
		return Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false })
	}

	get_cut() {
		return Readable.from(cut())
	}
}

async function* cut() {
	yield Buffer.alloc(10)
	await new Promise((resolve) => setImmediate(resolve))
	throw new Error('cut off')
}

const QUIET: ServerOptions = {
	metrics: true,
	logRequests: false,
	logger: { info() {}, warn() {}, error() {} },
}

/** The samples of a page, by name and labels. */
async function scraped(server: Server, headers: Record<string, string> = {}): Promise<Map<string, number>> {
	const page = await server.inject({ url: '/metrics', headers })
	assert.is(page.status, 200)
	const samples = page.text().matchAll(/^([a-z].*) (\S+)$/gm)
	return new Map([...samples].map(([, name = '', value]) => [name, Number(value)]))
}

/** What a socket receives, up to the length of the body; of a stream, what comes first. */
async function answerOn(socket: Socket): Promise<string> {
	let text = ''
	for await (const [chunk] of on(socket, 'data')) {
		text += String(chunk)
		const [head = '', body = ''] = text.split('\r\n\r\n')
		const [, length = 0] = /^content-length: (\d+)$/im.exec(head) ?? []
		if (Buffer.byteLength(body) >= Number(length)) break
	}
	return text
}

/** `GET /blog/article/{id} 200`, with how many there were. */
async function counts(server: Server): Promise<Record<string, number>> {
	const found: [string, number][] = []
	for (const [name, value] of await scraped(server)) {
		const [, method, route, status] =
			/^http_server_request_duration_seconds_count\{method="(.*)",route="(.*)",status="(.*)"\}$/.exec(name) ??
			[]
		if (method !== undefined) found.push([`${method} ${route} ${status}`, value])
	}
	return Object.fromEntries(found)
}

async function active(server: Server): Promise<number | undefined> {
	return (await scraped(server)).get('http_server_active_requests')
}

describe('metrics of requests', (test) => {
	test('are counted by route, method and status', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		for (const url of ['/blog/article/1', '/blog/article/2?a=1', '/blog/status/404', '/blog/status/409'])
			await server.inject({ url })
		await server.inject({ method: 'HEAD', url: '/blog/article/1' })
		const headers = { 'X-HTTP-Method-Override': 'DELETE' }
		await server.inject({ method: 'POST', url: '/blog/article/1', headers })
		assert.equal(await counts(server), {
			'GET /blog/article/{id} 200': 2,
			'GET /blog/status/{code} 404': 1,
			'GET /blog/status/{code} 409': 1,
			'HEAD /blog/article/{id} 200': 1,
			'DELETE  405': 1,
		})
	})

	test('unknown paths and methods are one series each, whatever clients send', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		for (let at = 0; at < 50; at++) {
			await server.inject({ url: `/${at}/${at}` })
			await server.inject({ url: `/blog/${at}` })
			await server.inject({ method: `BREW${at}`, url: '/blog/article/1' })
		}
		assert.equal(await counts(server), { 'GET  404': 100, '_OTHER  501': 50 })
	})

	test('are the same with other observers, and with none', async () => {
		for (const observed of [false, true]) {
			const server = createServer({ blog: new Blog() }, { ...QUIET, serverTiming: observed })
			if (observed) server.on('request', () => {})
			await listeningOn(server, async (url) => {
				for (const path of ['article/1', 'stream', 'status/500'])
					await (await fetch(`${url}/blog/${path}`)).text()
				await fetch(`${url}/blog/cut`)
					.then((reply) => reply.text())
					.catch(() => {})
				await until(async () => (await active(server)) === 0, 'all have ended')
				assert.equal(await counts(server), {
					'GET /blog/article/{id} 200': 1,
					'GET /blog/stream 200': 1,
					'GET /blog/status/{code} 500': 1,
					'GET /blog/cut aborted': 1,
				})
			})
		}
	})

	test('a request is active until its reply was read, or its client has disconnected; then it is aborted', async () => {
		const blog = new Blog()
		await listening({ blog }, { metrics: true }, async ({ server, port }) => {
			const slow = connect(port, '127.0.0.1').on('error', () => {})
			slow.write('GET /blog/slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
			await until(() => blog.begun.length === 1, 'it has begun')
			const unread = connect(port, '127.0.0.1').on('error', () => {})
			unread.pause()
			unread.write('GET /blog/large HTTP/1.1\r\nHost: localhost\r\n\r\n')
			await until(async () => (await active(server)) === 2, 'both are active')
			slow.destroy()
			unread.destroy()
			await until(async () => (await active(server)) === 0, 'both have ended')
			assert.equal(await counts(server), { 'GET /blog/slow aborted': 1, 'GET /blog/large aborted': 1 })
		})
	})

	test('pipelined requests are counted, each once', () =>
		listening({ blog: new Blog() }, { metrics: true }, async ({ server, port }) => {
			const socket = connect(port, '127.0.0.1')
			const one = 'GET /blog/article/1 HTTP/1.1\r\nHost: localhost\r\n\r\n'
			socket.write(one.repeat(20))
			socket.resume()
			await until(async () => (await counts(server))['GET /blog/article/{id} 200'] === 20, 'all are counted')
			assert.is(await active(server), 0)
			socket.destroy()
		}))

	test('requests of one tick are counted, each once, also by a scrape of the same tick', () =>
		listening({ blog: new Blog() }, { metrics: true }, async ({ server, port }) => {
			const sockets = await Promise.all(
				Array.from({ length: 40 }, async () => {
					const socket = connect(port, '127.0.0.1')
					await once(socket, 'connect')
					return socket
				}),
			)
			const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
			const paths = ['/blog/article/1', '/blog/status/409', '/blog/stream', '/metrics']
			for (let round = 1; round <= 5; round++) {
				const answered = sockets.map(answerOn)
				for (const [at, socket] of sockets.entries()) socket.write(ask(paths[at % paths.length] ?? ''))
				const pages = await Promise.all(answered)
				for (const text of pages.filter((_, at) => at % paths.length === 3)) {
					const all = [...text.matchAll(/_count\{.*\} (\d+)$|^http_server_active_requests (\d+)$/gm)]
					const begun = all.reduce((sum, [, count, active]) => sum + Number(count ?? active), 0)
					assert.ok(begun >= (round - 1) * 30 && begun <= round * 30, String(begun))
				}
			}
			await until(async () => (await active(server)) === 0, 'all have ended')
			assert.equal(await counts(server), {
				'GET /blog/article/{id} 200': 50,
				'GET /blog/status/{code} 409': 50,
				'GET /blog/stream 200': 50,
			})
			for (const socket of sockets) socket.destroy()
		}))

	test('by fetch(): a reply whose body is cancelled is aborted', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		await (await server.fetch(new Request('http://localhost/blog/article/1'))).text()
		await (await server.fetch(new Request('http://localhost/blog/stream'))).body?.cancel()
		assert.equal(await counts(server), { 'GET /blog/article/{id} 200': 1, 'GET /blog/stream aborted': 1 })
	})

	test('durations are in the buckets up to theirs, and in the sum', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		await server.inject({ url: '/blog/article/1' })
		const samples = await scraped(server)
		const labels = 'method="GET",route="/blog/article/{id}",status="200"'
		const of = (part: string) => samples.get(`http_server_request_duration_seconds_${part}`)
		const sum = of(`sum{${labels}}`) ?? Number.NaN
		assert.ok(sum > 0)
		for (const bound of ['0.005', '0.075', '1.0', '10.0', '+Inf'])
			assert.is(
				of(`bucket{${labels},le="${bound}"}`),
				sum > Number(bound.replace('+Inf', 'Infinity')) ? 0 : 1,
			)
	})

	test('two servers of a process count apart', async () => {
		const [one, other] = [
			createServer({ blog: new Blog() }, QUIET),
			createServer({ blog: new Blog() }, QUIET),
		]
		await one.inject({ url: '/blog/article/1' })
		assert.equal([await counts(one), await counts(other)], [{ 'GET /blog/article/{id} 200': 1 }, {}])
	})
})

/** Listens with a server that was made already. */
async function listeningOn(server: Server, use: (url: string) => Promise<void>): Promise<void> {
	const { url } = await server.listen()
	await use(url)
	await server.close()
}

describe('the page of metrics', (test) => {
	const notes = new MemoryModel('note', { key: 'id', fields: { id: 'integer' } })

	test('is in text for Prometheus, or in OpenMetrics if Accept names it', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		const scraper =
			'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
		const table: [string | undefined, 'text/plain' | 'application/openmetrics-text'][] = [
			[undefined, 'text/plain'],
			['*/*', 'text/plain'],
			['text/html,*/*;q=0.8', 'text/plain'],
			['text/plain;version=0.0.4;q=1,application/openmetrics-text;q=0.5', 'text/plain'],
			['application/openmetrics-text;q=0', 'text/plain'],
			[scraper, 'application/openmetrics-text'],
		]
		for (const [accept, expected] of table) {
			const page = await server.inject({ url: '/metrics', headers: accept === undefined ? {} : { accept } })
			const isOpen = expected !== 'text/plain'
			const version = isOpen ? '1.0.0' : '0.0.4'
			assert.is(page.headers['content-type'], `${expected}; version=${version}; charset=utf-8`)
			assert.is(page.headers['cache-control'], 'no-store')
			assert.is(page.text().endsWith('\n# EOF\n'), isOpen)
			assert.is(/^# TYPE process_cpu_seconds counter$/m.test(page.text()), isOpen)
			assert.match(page.text(), /^process_cpu_seconds_total \d/m)
		}
	})

	test('has the process, the event loop and the cache', async () => {
		const cache = new MemoryCache({ max: 10 })
		cache.set('key', 'value', 60)
		const samples = await scraped(
			createServer({ note: new CrudHandler(notes, { visible: 'all' }) }, { ...QUIET, cache }),
		)
		const of = (name: string) => samples.get(name) ?? Number.NaN
		assert.ok(of('process_resident_memory_bytes') > 1_000_000)
		assert.ok(of('nodejs_heap_size_used_bytes') > 1_000_000)
		assert.ok(of('process_cpu_seconds_total') > 0)
		assert.ok(Math.abs(of('process_start_time_seconds') - (Date.now() / 1_000 - process.uptime())) < 60)
		assert.ok(of('nodejs_eventloop_lag_p99_seconds') >= 0)
		assert.equal([of('verbena_cache_entries'), of('verbena_cache_bytes')], [1, 2 * (3 + 7)])
	})

	test('is not counted, logged or observed, and needs no credentials', async () => {
		const lines: object[] = []
		const logger = { info: (line: object) => void lines.push(line), warn() {}, error() {} }
		const authenticator = {
			authenticate: () => {
				throw new Error('no credentials are asked for')
			},
		}
		const server = createServer({ blog: new Blog() }, { metrics: true, logger, authenticator })
		server.on('request', () => void lines.push({}))
		for (const method of ['GET', 'HEAD', 'POST']) await server.inject({ method, url: '/metrics' })
		assert.equal([await counts(server), await active(server), lines], [{}, 0, []])
	})

	test('answers GET and HEAD', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		assert.is((await server.inject({ method: 'HEAD', url: '/metrics' })).status, 200)
		assert.is((await server.inject({ url: '/metrics/?a=1' })).status, 200)
		const { status, headers, text } = await server.inject({ method: 'POST', url: '/metrics' })
		assert.equal([status, headers.allow], [405, 'GET, HEAD, OPTIONS'])
		assert.match(text(), '{"success":false,"error":"Method Not Allowed"')
		assert.is((await server.inject({ url: '/metrics/more' })).status, 404)
	})

	test('is not there for requests that a proxy has forwarded', async () => {
		const server = createServer({ blog: new Blog() }, QUIET)
		for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'])
			assert.is(
				(await server.inject({ url: '/metrics', headers: { [name]: '192.0.2.1' } })).status,
				404,
				name,
			)
	})

	test('with a token, is for those who have it, through proxies too', async () => {
		const token = 'a-secret-of-scrapers'
		const server = createServer({ blog: new Blog() }, { ...QUIET, metrics: { path: 'internal/m', token } })
		const challenge = 'Bearer realm="metrics"'
		const invalid = `${challenge}, error="invalid_token"`
		const table: [string | undefined, number, string | undefined][] = [
			[undefined, 401, challenge],
			['Bearer wrong', 401, invalid],
			[`Basic ${token}`, 401, challenge],
			[`Bearer ${token}x`, 401, invalid],
			[`Bearer ${token}`, 200, undefined],
		]
		for (const [authorization, expected, challenged] of table) {
			const headers = { Via: '1.1 proxy', ...(authorization === undefined ? {} : { authorization }) }
			const { status, headers: sent } = await server.inject({ url: '/internal/m', headers })
			assert.equal([status, sent['www-authenticate']], [expected, challenged])
		}
		assert.is((await server.inject({ url: '/metrics' })).status, 404)
	})

	test('is below base, and found by a router in front', async () => {
		const server = createServer({ blog: new Blog() }, { ...QUIET, base: 'v1' })
		assert.is((await server.inject({ url: '/v1/metrics' })).status, 200)
		let passed = 0
		const incoming = { url: '/elsewhere', headers: {} }
		server.handler(incoming as never, {} as never, () => passed++)
		server.handler(
			{ ...incoming, url: '/v1/metrics', headers: { via: '1.1 proxy' } } as never,
			{} as never,
			() => passed++,
		)
		assert.is(passed, 2)
	})

	test('is off by default', async () => {
		for (const metrics of [undefined, false]) {
			const server = createServer(
				{ blog: new Blog() },
				{ logRequests: false, ...(metrics === false ? { metrics } : {}) },
			)
			assert.is((await server.inject({ url: '/metrics' })).status, 404)
		}
	})

	const refusals: [object, object, string][] = [
		[
			{},
			{ metrics: 'yes' },
			'createServer: metrics must be true, false or an object: { path, token }, got "yes"',
		],
		[{}, { metrics: { pth: 'm' } }, 'createServer: metrics has no option pth: did you mean path?'],
		[
			{},
			{ metrics: { path: '' } },
			"createServer: metrics.path must have at least one segment, such as 'metrics'",
		],
		[
			{},
			{ metrics: { token: 'short' } },
			'createServer: metrics.token must be a text of 16 or more characters',
		],
		[
			{ metrics: new Blog() },
			{},
			'the handler path "metrics" is that of the option metrics, "metrics": change one',
		],
		[{ 'metrics/v2': new Blog() }, {}, 'the handler path "metrics/v2" is below that of the option metrics'],
		[
			{
				'': new (class extends RestHandler {
					get_metrics() {}
				})(),
			},
			{},
			'the handler path "" has get_metrics, which is below that of the option metrics, "metrics": change one of them',
		],
		[
			{},
			{ metrics: { path: 'health/live' }, health: { path: 'health' } },
			'the options metrics and health both answer "health/live": change the path of one',
		],
	]
	for (const [handlers, options, expected] of refusals)
		test(`refuses ${JSON.stringify(Object.keys(handlers))} with ${JSON.stringify(options)}`, () => {
			const message = messageOf(() =>
				createServer({ blog: new Blog(), ...handlers }, { metrics: true, ...options }),
			)
			assert.ok(message.includes(expected), message)
		})
})
