/** Responses to cross-origin requests, over a socket. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type ClientHttp2Stream, connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import express from 'express'
import * as assert from 'uvu/assert'
import { createServer, type Handlers } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { ask, connected, requestText } from '../helpers/raw.ts'
import {
	ALLOWED,
	APP,
	Api,
	CORS,
	corsOf,
	EVIL,
	EXPOSED,
	type Headers,
	linesOf,
	OTHER,
	onSite,
	preflight,
	VARY,
} from './site.ts'

describe('cors: answers', (test) => {
	const requests: [line: string, status: number, vary?: string, headers?: Headers, body?: string][] = [
		['GET /article/5', 200],
		['HEAD /article/5', 200],
		['GET /nothing', 404, 'Accept, Origin'],
		['GET /%zz', 400, 'Accept, Origin'],
		['PATCH /article/5', 405, 'Accept, Origin'],
		['TRACE /article/5', 501, 'Accept, Origin'],
		['OPTIONS /article/5', 204],
		['OPTIONS *', 204],
		['GET /secret', 401, 'Accept, Origin'],
		['GET /article/5', 401, 'Accept, Origin', { Authorization: 'Bearer wrong' }],
		['GET /broken', 500, 'Accept, Origin'],
		['GET /unavailable', 503, 'Accept, Origin'],
		['POST /form', 413, 'Accept, Origin', { 'Content-Type': 'text/plain' }, 'x'.repeat(101)],
		['POST /form', 415, 'Accept, Origin', { 'Content-Type': 'text/plain' }, 'a=1'],
		['GET /article/5', 417, 'Accept, Origin', { Expect: 'a-miracle' }],
		['GET /article/5', 400, 'Accept, Origin', { Host: 'again' }],
		[`GET /${'a'.repeat(16_400)}`, 414, 'Accept, Origin'],
		['GET /bytes', 200],
		['GET /numbers', 200],
		['GET /unchanged', 304],
		['GET /varied', 200, 'Accept-Language, Cookie, Origin'],
		['GET /two', 200, 'Accept, Origin, Cookie'],
		['GET /known', 200, 'origin'],
		['GET /star', 200, '*'],
		['GET /empty', 200, 'Origin'],
	]
	for (const [line, status, vary = 'Origin', headers = {}, body] of requests) {
		test(`${line.slice(0, 40)} is ${status}, and readable by its origin only`, () =>
			onSite(
				async (send) => {
					const answer = await send(line, { Origin: APP, ...headers }, body)
					assert.is(answer.status, status)
					assert.equal(corsOf(answer), { ...ALLOWED, vary })
					for (const origin of [EVIL, undefined]) {
						const other = await send(
							line,
							{ ...(origin === undefined ? {} : { Origin: origin }), ...headers },
							body,
						)
						assert.is(other.status, status)
						assert.equal(corsOf(other), { vary })
					}
				},
				CORS,
				{ maxBody: 100 },
			))
	}

	test('each listed origin is answered with its own name', () =>
		onSite(async (send) => {
			for (const origin of [APP, OTHER])
				assert.is(corsOf(await send('GET /article/5', { Origin: origin }))['allow-origin'], origin)
		}))

	const refused = [
		...['null', '*', '', `${APP}/`, `${APP}:443`, APP.toUpperCase(), 'http://app.example.com'],
		...[
			`${APP}, ${EVIL}`,
			`${APP} ${EVIL}`,
			`${APP}.evil.example`,
			'https://xapp.example.com',
			'app.example.com',
		],
	]
	for (const origin of refused) {
		test(`${JSON.stringify(origin)} is not listed, and is served without CORS headers`, () =>
			onSite(async (send) => {
				const answer = await send('GET /article/5', { Origin: origin })
				assert.is(answer.status, 200)
				assert.equal(corsOf(answer), VARY)
			}))
	}

	test('a 429 is readable, with the time of its reset', () =>
		onSite(async (send) => {
			await send('GET /limited', { Origin: APP })
			const answer = await send('GET /limited', { Origin: APP })
			assert.is(answer.status, 429)
			assert.ok(Number(answer.headers['retry-after']) > 0)
			assert.equal(corsOf(answer), { ...ALLOWED, vary: 'Accept, Origin' })
		}))

	test('timeouts of a method and of a body are readable', () =>
		onSite(
			async (send) => {
				const late = await send('GET /slow', { Origin: APP })
				assert.is(late.status, 503)
				assert.equal(corsOf(late), { ...ALLOWED, vary: 'Accept, Origin' })
				const cut = await send('POST /form', { Origin: APP, 'Content-Length': '10' })
				assert.is(cut.status, 408)
				assert.equal(corsOf(cut), { ...ALLOWED, vary: 'Accept, Origin' })
			},
			CORS,
			{ handlerTimeoutSeconds: 0.02, bodyTimeoutSeconds: 0.02 },
		))

	test('a 503 during close is readable', () => {
		const api = new Api()
		return listening({ '': api }, { cors: CORS, graceTimeoutSeconds: 0.05 }, ({ port, server }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /slow', [`Origin: ${APP}`]))
				await until(() => api.calls.includes('slow'), 'the request has come')
				const answering = client.response()
				const closed = server.close()
				const answer = await answering
				assert.is(answer.status, 503)
				assert.equal(corsOf(answer), { ...ALLOWED, vary: 'Accept, Origin' })
				await closed
			}),
		)
	})

	test('a method may open its reply to all origins, and expose more headers', () =>
		onSite(async (send) => {
			assert.equal(corsOf(await send('GET /everybody', { Origin: APP })), {
				'allow-origin': '*',
				'expose-headers': `X-Own, ${EXPOSED}`,
				vary: 'Origin',
			})
			assert.equal(corsOf(await send('GET /everybody', { Origin: EVIL })), {
				...{ 'allow-origin': '*', 'expose-headers': 'X-Own' },
				vary: 'Origin',
			})
		}))

	test('credentials, own headers and the request id are exposed', () =>
		onSite(
			async (send) => {
				assert.equal(corsOf(await send('GET /article/5', { Origin: APP })), {
					'allow-origin': APP,
					'allow-credentials': 'true',
					'expose-headers': `${EXPOSED}, x-request-id, X-Own`,
					vary: 'Origin',
				})
				assert.equal(corsOf(await send('GET /article/5', { Origin: EVIL })), VARY)
			},
			{ ...CORS, credentials: true, exposedHeaders: ['X-Own', 'etag', 'X-Own'] },
			{ requestId: 'X-Request-Id' },
		))

	test("'*' allows all origins, is sent as such, and adds no Vary", () =>
		onSite(
			async (send) => {
				for (const headers of [{ Origin: EVIL }, { Origin: 'null' }, {}]) {
					const answer = await send('GET /article/5', headers)
					assert.equal(corsOf(answer), { 'allow-origin': '*', 'expose-headers': EXPOSED })
				}
				assert.is(corsOf(await send('GET /nothing')).vary, 'Accept')
			},
			{ origins: '*' },
		))

	test('without the option no CORS header is sent', () =>
		listening({ '': new Api() }, {}, async ({ port }) => {
			for (const headers of [{ Origin: APP }, preflight(APP, 'PUT')]) {
				const lines = linesOf(headers)
				for (const line of ['GET /article/5', 'OPTIONS /article/5', 'OPTIONS *'])
					assert.equal(corsOf(await ask(port, requestText(line, lines))), {})
			}
		}))

	test('a replay for an Idempotency-Key has the headers of the repeating origin', () =>
		onSite(async (send, api) => {
			const key = { 'Idempotency-Key': '"k"' }
			const first = await send('POST /article', { Origin: APP, ...key })
			const again = await send('POST /article', { Origin: OTHER, ...key })
			const refused = await send('POST /article', { Origin: EVIL, ...key })
			assert.equal(api.calls, ['post'])
			assert.equal(corsOf(first), { ...ALLOWED, ...VARY })
			assert.equal(corsOf(again), { ...ALLOWED, 'allow-origin': OTHER, ...VARY })
			assert.equal(corsOf(refused), VARY)
			assert.equal(
				[again, refused].map(({ headers }) => headers.location),
				['/article/5', '/article/5'],
			)
		}))
})

describe('cors: a function of origins', (test) => {
	function asked(origins: (origin: string) => boolean): {
		allows(origin: string): Promise<boolean>
		said(): string
	} {
		const { ask, lines } = asking({ '': new Api() }, { cors: { origins } })
		return {
			allows: async (origin) => {
				const { headers } = await ask('/article/5', { headers: { Origin: origin } })
				assert.is(headers.vary, 'Origin')
				const allowed = headers['access-control-allow-origin']
				assert.ok(allowed === undefined || allowed === origin)
				return allowed === origin
			},
			said: () => lines.map(({ message, fields }) => `${message}: ${String(fields.err)}`).join('\n'),
		}
	}

	test('decides whether an origin is allowed', async () => {
		const { allows } = asked((origin) => new URL(origin).hostname.endsWith('.example.com'))
		assert.is(await allows(APP), true)
		assert.is(await allows('http://localhost:5173'), false)
		assert.is(await allows(EVIL), false)
	})

	// By `new URL()`, which would fail: whoever likes could fill the log.
	const UNREAD = ['https://[', 'https://a:99999', 'https://a|b', 'https://%', 'https://1.2.3.4.5']

	test('is not called for a malformed origin', async () => {
		const seen: string[] = []
		const { allows } = asked((origin) => seen.push(origin) > 0)
		for (const origin of [
			'null',
			'',
			'*',
			`${APP}/`,
			`${APP}, ${EVIL}`,
			'https://a b',
			'https://é',
			'x',
			...UNREAD,
		])
			assert.is(await allows(origin), false)
		assert.equal(seen, [])
		assert.is(await allows('capacitor://localhost'), true)
	})

	test('that throws refuses the origin, and is logged', async () => {
		const { allows, said } = asked((origin) => {
			throw new Error(`no list for ${origin.length}`)
		})
		assert.is(await allows(APP), false)
		assert.match(said(), 'cors.origins failed: the origin was refused: Error: no list for 23')
	})

	test('that returns a promise refuses the origin, also where the promise rejects', async () => {
		const answers = [
			async () => true,
			() => Promise.reject(new Error('later')),
			() => 1,
			() => 'yes',
			() => {},
		]
		for (const answer of answers) {
			const { allows, said } = asked(answer as () => boolean)
			assert.is(await allows(APP), false)
			assert.match(said(), 'cors.origins must return a boolean, not a promise')
		}
	})

	test('whose logger fails does not prevent the response', async () => {
		const logger = {
			info() {},
			warn() {},
			error() {
				throw new Error('full')
			},
		}
		const origins = () => {
			throw new Error('no list')
		}
		const { ask } = asking({ '': new Api() }, { cors: { origins }, logger })
		assert.is((await ask('/article/5', { headers: { Origin: APP } })).status, 200)
	})
})

/** The head of an answer over HTTP/2; rejects where the stream ends without one, of which `once` would not hear. */
function headOf(stream: ClientHttp2Stream): Promise<Readonly<Record<string, unknown>>> {
	return new Promise((resolve, reject) => {
		stream.on('response', resolve).on('error', reject)
		stream.on('close', () => reject(new Error(`no answer: ${stream.rstCode}`)))
	})
}

describe('cors: with other features', (test) => {
	test('in Express it applies to our paths only', async () => {
		const app = express()
		app.use('/api', createServer({ v1: new Api() }, { cors: CORS }).handler)
		app.use((_request, response) => {
			response.status(418).send('Express itself')
		})
		const server = createHttpServer(app).listen(0, '127.0.0.1')
		await once(server, 'listening')
		try {
			const { port } = server.address() as AddressInfo
			const asked = linesOf(preflight(APP, 'PUT', 'authorization'))
			const before = await ask(port, requestText('OPTIONS /api/v1/article/5', asked))
			assert.equal([before.status, corsOf(before)['allow-headers']], [204, 'authorization'])
			const answer = await ask(port, requestText('GET /api/v1/article/5', [`Origin: ${APP}`]))
			assert.equal(corsOf(answer), { ...ALLOWED, ...VARY })
			const foreign = await ask(port, requestText('OPTIONS /api/v2/article/5', asked))
			assert.equal([foreign.status, corsOf(foreign)], [418, {}])
		} finally {
			server.closeAllConnections()
			server.close()
		}
	})

	test('it works over HTTP/2', async () => {
		const { handler } = createServer({ '': new Api() }, { cors: CORS })
		const server = createHttp2Server(handler).listen(0, '127.0.0.1')
		await once(server, 'listening')
		const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
		try {
			const asked = {
				...{ ':path': '/article/5', origin: APP },
				'access-control-request-method': 'PUT',
				'access-control-request-headers': 'authorization',
			}
			const before = session.request({ ...asked, ':method': 'OPTIONS' })
			const preflight = await headOf(before)
			assert.is(preflight[':status'], 204)
			assert.is(preflight['access-control-allow-methods'], 'GET, HEAD, PUT, DELETE, OPTIONS')
			const answer = await headOf(session.request(asked))
			assert.equal([answer['access-control-allow-origin'], answer.vary], [APP, 'Origin'])
		} finally {
			session.destroy()
			server.close()
		}
	})

	test('with the explorer, pages too vary by Origin, and by Accept once', () =>
		onSite(
			async (send) => {
				const page = await send('GET /article/5', { Origin: APP, Accept: 'text/html' })
				assert.match(page.headers['content-type'] ?? '', 'text/html')
				assert.equal(corsOf(page), { ...ALLOWED, vary: 'Origin, Accept' })
				const json = await send('GET /article/5', { Origin: APP })
				assert.equal(corsOf(json), { ...ALLOWED, vary: 'Origin, Accept' })
				const none = await send('GET /nothing', { Accept: 'text/html' })
				assert.equal(corsOf(none), { vary: 'Accept, Origin' })
				const asked = await send('OPTIONS /article/5', preflight(APP, 'PUT'))
				assert.is(asked.status, 204)
			},
			CORS,
			{ explorer: true },
		))

	test('the description of the API is readable', async () => {
		const { ask } = asking({ v1: new Api() }, { cors: CORS, openapi: true })
		const { status, headers } = await ask('/openapi.json', { headers: { Origin: APP } })
		assert.equal([status, headers['access-control-allow-origin']], [200, APP])
	})

	test('inject answers as the socket does', async () => {
		const { ask } = asking({ '': new Api() } satisfies Handlers, { cors: CORS })
		const { status, headers } = await ask('/nothing', { headers: { Origin: APP } })
		assert.equal([status, headers.vary, headers['access-control-allow-origin']], [404, 'Accept, Origin', APP])
	})
})
