import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { RestHandler, type Server } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { ask, connected, type RawResponse, requestText } from '../helpers/raw.ts'
import { inTimesOf, stopwatch } from '../helpers/stalls.ts'

class Site extends RestHandler {
	override streaming = ['post_stream']
	readonly calls: string[] = []

	get_now() {
		this.calls.push('now')
		return 'now'
	}

	async get_soon(time: string) {
		await new Promise((resolve) => setTimeout(resolve, Number(time)))
		return `after ${time}`
	}

	async *get_slowly() {
		for (let at = 0; at < 3; at++) {
			await new Promise((resolve) => setTimeout(resolve, 30))
			yield at
		}
	}

	async *get_endless() {
		try {
			for (;;) yield 'a'.repeat(10_000)
		} finally {
			this.calls.push('closed')
		}
	}

	post_body() {
		return this.body
	}

	async post_late() {
		await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
	}

	async post_stream() {
		for await (const _ of this.request.stream);
		return 'read'
	}
}

interface Case {
	name: string
	bytes: string
	status: number
	code: string
}

const CASES: Case[] = [
	{ name: 'what is no HTTP', bytes: '\x16\x03\x01\x02\x00', status: 400, code: 'bad_request' },
	{
		name: 'a line break before a header',
		bytes: 'GET / HTTP/1.1\r\n Host: localhost\r\n\r\n',
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'two lengths',
		bytes: requestText('POST /body', ['Content-Length: 1', 'Content-Length: 2']),
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'length and chunked',
		bytes: requestText('POST /body', ['Content-Length: 1', 'Transfer-Encoding: chunked']),
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'a negative length',
		bytes: requestText('POST /body', ['Content-Length: -1']),
		status: 400,
		code: 'bad_request',
	},
	{ name: 'NUL in a header', bytes: requestText('GET /now', ['A: \0']), status: 400, code: 'bad_request' },
	{
		name: 'HTTP/1.2',
		bytes: 'GET / HTTP/1.2\r\nHost: localhost\r\n\r\n',
		status: 505,
		code: 'version_not_supported',
	},
	{
		name: "HTTP/2's preface",
		bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
		status: 505,
		code: 'version_not_supported',
	},
	{
		name: 'HTTP/1.1 with a line feed alone after it',
		bytes: 'GET /now HTTP/1.1\nHost: localhost\n\n',
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'HTTP/1.1 with a space after it',
		bytes: 'GET /now HTTP/1.1 \r\nHost: localhost\r\n\r\n',
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'a method that nobody knows',
		bytes: requestText('FROB /now'),
		status: 501,
		code: 'not_implemented',
	},
	{ name: 'a method in small letters', bytes: requestText('get /now'), status: 501, code: 'not_implemented' },
	{
		name: 'noise where a method is wanted',
		bytes: '(((( / HTTP/1.1\r\nHost: localhost\r\n\r\n',
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'headers over 32 kB',
		bytes: requestText('GET /now', [`A: ${'a b '.repeat(10_000)}`]),
		status: 431,
		code: 'header_fields_too_large',
	},
	{
		name: 'headers of 100 kB',
		bytes: requestText('GET /now', [`A: ${'a b '.repeat(25_000)}`]),
		status: 431,
		code: 'header_fields_too_large',
	},
	{
		name: 'a target over 32 kB',
		bytes: requestText(`GET /${'a'.repeat(40_000)}`),
		status: 414,
		code: 'uri_too_long',
	},
	{
		name: 'a target of 200 kB',
		bytes: requestText(`GET /${'a'.repeat(200_000)}`),
		status: 414,
		code: 'uri_too_long',
	},
	{
		name: 'CONNECT',
		bytes: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
		status: 501,
		code: 'not_implemented',
	},
	{
		name: 'chunk extensions without end',
		bytes: requestText('POST /body', ['Transfer-Encoding: chunked'], '').concat(
			`1;${'a'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
		),
		status: 413,
		code: 'content_too_large',
	},
	{
		name: 'a chunk without a size',
		bytes: requestText('POST /body', ['Transfer-Encoding: chunked']).concat('x\r\n'),
		status: 400,
		code: 'bad_request',
	},
	{
		name: 'a chunk without a size, in a streamed body',
		bytes: requestText('POST /stream', ['Transfer-Encoding: chunked']).concat('1\r\na\r\nx\r\n'),
		status: 400,
		code: 'bad_request',
	},
]

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

describe('client-error', (test) => {
	for (const { name, bytes, status, code } of CASES) {
		test(`${name} → ${status} in the envelope, and the connection ends`, () =>
			listening({ '': Site }, {}, ({ port }) =>
				connected(port, async (client) => {
					void client.send(bytes)
					checkRefusal(await client.response(), status, code)
					await client.closed(1_000)
					assert.is(client.unread.length, 0)
				}),
			))
	}

	for (const { name, bytes, status } of CASES) {
		test(`${name} → an id in header and body, with the option`, () =>
			listening({ '': Site }, { requestId: 'X-Request-Id' }, async ({ port }) => {
				const { headers, json, status: told } = await ask(port, bytes)
				assert.is(told, status)
				const { requestId } = json() as { requestId?: string }
				assert.match(requestId ?? '', UUID)
				assert.is(headers['x-request-id'], requestId)
			}))
	}

	test('a CONNECT keeps the request id that was sent', () =>
		listening({ '': Site }, { requestId: 'X-Request-Id' }, async ({ port }) => {
			const answer = await ask(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nX-Request-Id: abc-1\r\n\r\n')
			assert.is(answer.headers['x-request-id'], 'abc-1')
			assert.is((answer.json() as { requestId: string }).requestId, 'abc-1')
		}))

	for (const [what, status] of [
		['target', 414],
		['header', 431],
	] as const) {
		test(`a ${what} that is too long is ${status} in pieces too`, () =>
			listening({ '': Site }, {}, ({ port }) =>
				connected(port, async (client) => {
					await client.send(what === 'target' ? 'GET /' : 'GET / HTTP/1.1\r\nHost: localhost\r\nA: ')
					for (let at = 0; at < 50 && !client.ended; at++)
						await client.send('ab cd'.slice(0, what === 'target' ? 2 : 5).repeat(200))
					for (let at = 0; at < 200 && !client.ended && client.unread.length === 0; at++) {
						await client.send(what === 'target' ? 'a'.repeat(1_000) : 'a b '.repeat(250))
						await new Promise(setImmediate)
					}
					assert.is((await client.response()).status, status)
				}),
			))
	}

	test('headers that are not complete in time → 408, also after a request', () =>
		// node's timeout starts with the connection: after a stall, it also answers a complete request with 408.
		inTimesOf(200, (time) =>
			listening({ '': Site }, { headersTimeoutSeconds: time / 1_000 }, ({ port }) =>
				connected(port, async (client) => {
					await client.send(`${requestText('GET /now')}GET /now HTTP/1.1\r\nHo`)
					assert.is((await client.response()).status, 200)
					checkRefusal(await client.response('GET', time * 10), 408, 'request_timeout')
					await client.closed(1_000)
				}),
			),
		))

	test('a connection on which nothing is sent is closed when the timeout for headers is over', () =>
		listening({ '': Site }, { headersTimeoutSeconds: 0.1 }, ({ port }) =>
			connected(port, (client) => client.closed(2_000)),
		))

	test('a client that keeps sending can read its refusal, and is cut off after two seconds', () =>
		listening({ '': Site }, {}, ({ port, server }) =>
			connected(port, async (client) => {
				const start = performance.now()
				const took = stopwatch()
				void client.send('((((')
				const refused = client.response()
				while (client.error === undefined && performance.now() - start < 60_000) {
					await client.send('a'.repeat(1_000))
					await new Promise((resolve) => setTimeout(resolve, 10))
				}
				assert.is((await refused).status, 400)
				assert.ok(performance.now() - start > 1_500, 'listened to for a while')
				assert.ok(took() < 4_000, 'and not for long')
				await until(async () => (await connections(server)) === 0, 'no connections')
			}),
		))

	test('a reset after CONNECT does not end the process', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			await connected(port, async (client) => {
				await client.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
				client.reset()
			})
			await new Promise((resolve) => setTimeout(resolve, 30))
			assert.is((await ask(port, requestText('GET /now'))).status, 200)
		}))

	test('a parse error after an answered request is answered next', () =>
		listening({ '': Site }, {}, ({ port }) => statusesOf(port, `${requestText('GET /now')}((((`, [200, 400])))

	test('a parse error does not replace responses deferred to the end of the tick', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			// One in 32 single requests waits for others of its tick.
			for (let count = 1; count <= 40; count++)
				assert.is((await ask(port, `${requestText('GET /now')}((((`)).status, 200, `request ${count}`)
		}))

	test('a body that breaks off before the end of the tick is answered at once', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const head = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
			const broken = `${requestText('POST /body', head)}zz\r\n`
			for (let count = 1; count <= 40; count++) {
				const took = stopwatch()
				assert.is((await ask(port, broken, 'POST')).status, 400, `request ${count}`)
				assert.ok(took() < 10_000, 'not when the time for a body is over')
			}
		}))

	test('a parse error behind an empty body, too', () =>
		listening({ '': Site }, {}, ({ port }) =>
			statusesOf(port, `${requestText('POST /stream', ['Content-Length: 0'])}((((`, [200]),
		))

	test('several pending responses are all sent before the parse error', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const [a, b, now] = ['/soon/60', '/soon/20', '/now'].map((path) => requestText(`GET ${path}`))
			await statusesOf(port, `${a}((((`, [200])
			await statusesOf(port, `${a}${b}((((`, [200, 200, 400])
			await statusesOf(port, `${a}${b}${now}((((`, [200, 200, 200, 400])
			await statusesOf(port, `${now}${b}((((`, [200, 200, 400])
		}))

	test('a parse error does not break into an answer that is being streamed', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /slowly'))
				await client.bytes(1)
				await client.send('((((')
				assert.equal((await client.response()).json(), { success: true, data: [0, 1, 2] })
				assert.is((await client.response()).status, 400)
				await client.closed(1_000)
			}),
		))

	for (const first of [
		...[requestText('GET /soon/60000'), requestText('GET /now') + requestText('GET /soon/60000')],
		...[requestText('GET /endless'), requestText('POST /late', ['Content-Length: 2'], '{}')],
	]) {
		test(`a CONNECT is not taken for the answer of what is pending: ${JSON.stringify(first)}`, () => {
			const site = new Site()
			return listening({ '': site }, {}, ({ port, server }) =>
				connected(port, async (client) => {
					await client.send(`${first}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`)
					await client.closed()
					assert.not.match(client.unread.toString(), ' 501 ')
					await until(async () => (await connections(server)) === 0, 'no connections')
					if (first.includes('endless'))
						await until(() => site.calls.includes('closed'), 'the end of the source')
				}),
			)
		})
	}

	test('a broken body behind a pending answer is answered after it', () =>
		listening({ '': Site }, {}, ({ port }) =>
			statusesOf(
				port,
				`${requestText('GET /soon/50')}${requestText('POST /body', ['Transfer-Encoding: chunked'])}x\r\n`,
				[200, 400],
			),
		))

	test('bytes after a request with Connection: close are ignored', () => {
		const site = new Site()
		return listening({ '': site }, {}, async ({ port }) => {
			await statusesOf(
				port,
				`${requestText('GET /now', ['Connection: close'])}${requestText('GET /now')}((((`,
				[200],
			)
			assert.equal(site.calls, ['now'])
		})
	})

	for (const path of ['/now', '/soon/50', '/slowly']) {
		test(`a request of ${path} with Upgrade is the last of its connection`, () => {
			const site = new Site()
			return listening({ '': site }, {}, ({ port }) =>
				connected(port, async (client) => {
					const inner = requestText('GET /now')
					const outer = requestText('POST /body', [`Content-Length: ${inner.length}`])
					// node's parser drops what follows the first request in its packet, and would parse the second one's body.
					await client.send(requestText(`GET ${path}`, ['Connection: Upgrade', 'Upgrade: h2c']) + outer)
					await new Promise((resolve) => setTimeout(resolve, 20))
					await client.send(`${inner}((((`)
					const { status, headers } = await client.response()
					assert.is(status, 200)
					assert.is(headers.connection, 'close')
					await client.closed(1_000)
					assert.is(client.unread.length, 0, client.unread.toString())
					assert.is(site.calls.length, path === '/now' ? 1 : 0)
				}),
			)
		})
	}

	test('a request with Upgrade that Connection does not name is not', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /now', ['Upgrade: h2c']) + requestText('GET /now'))
				for (let at = 0; at < 2; at++) assert.is((await client.response()).status, 200)
			}),
		))

	test('a broken body that nobody reads is not answered again, and ends the connection', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('POST /nowhere', ['Transfer-Encoding: chunked']))
				assert.is((await client.response()).status, 404)
				await client.send('x\r\n'.repeat(10))
				await client.closed(1_000)
				assert.is(client.unread.length, 0)
			}),
		))

	test('an unknown Transfer-Encoding → 501, and the connection ends', () =>
		listening({ '': Site }, {}, ({ port }) =>
			statusesOf(port, requestText('POST /body', ['Transfer-Encoding: x-foo']), [501]),
		))

	test('a connection that ends within the headers is answered 400', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send('GET /now HT')
				client.socket.end()
				checkRefusal(await client.response(), 400, 'bad_request')
			}),
		))
})

function checkRefusal({ status, headers, json }: RawResponse, expected: number, code: string): void {
	assert.is(status, expected)
	const body = json() as { success: boolean; error: string; code: string; requestId?: string }
	assert.is(body.success, false)
	assert.is(body.code, code)
	assert.ok(body.error.length > 5)
	assert.is(body.requestId !== undefined, expected >= 500)
	assert.is(headers['x-request-id'], undefined)
	const { date } = headers
	assert.type(date, 'string')
	assert.is(new Date(String(date)).toUTCString(), date)
	assert.ok(Math.abs(Date.parse(String(date)) - Date.now()) < 60_000)
	assert.is(headers['content-type'], 'application/json; charset=utf-8')
	assert.is(headers['x-content-type-options'], 'nosniff')
	assert.is(headers.connection, 'close')
}

/** Sends the bytes at once, and compares the statuses of all answers until the connection ends. */
function statusesOf(port: number, bytes: string, expected: readonly number[]): Promise<void> {
	return connected(port, async (client) => {
		await client.send(bytes)
		const statuses: number[] = []
		while (statuses.length < expected.length) statuses.push((await client.response()).status)
		assert.equal(statuses, expected)
		await client.closed(1_000)
		assert.is(client.unread.length, 0, client.unread.toString())
	})
}

function connections({ server }: Server): Promise<number> {
	return promisify(server.getConnections.bind(server))()
}
