/** A fetch `Response` that a method returns. */
import {
	get,
	type IncomingHttpHeaders,
	type Server as NodeServer,
	createServer as nodeServer,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { RestHandler, reply } from '../../lib/index.ts'
import { decodedBy } from '../../lib/reply/response.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { connected, requestText } from '../helpers/raw.ts'

/** By zstdCompressSync, which Node 20 doesn't have. */
const ZSTD_HELLO = Buffer.from('28b52ffd200529000068656c6c6f', 'hex')

type Make = (handler: RestHandler) => unknown

function answering(make: Make, options = {}): Asking {
	return asking({ r: classOf(make) }, options)
}

function classOf(make: Make): new () => RestHandler {
	return class Responses extends RestHandler {
		get_a() {
			return make(this)
		}
		async post_a() {
			return make(this)
		}
	}
}

const WITHOUT_BODY: readonly [string, () => Response][] = [
	['new Response(null)', () => new Response(null)],
	['one with a type', () => new Response(null, { status: 404, headers: { 'Content-Type': 'text/plain' } })],
	['Response.redirect()', () => Response.redirect('https://example.org/a', 302)],
]

describe('reply: a fetch Response', (test) => {
	test('is answered with its status, headers and body', async () => {
		const make = (): Response =>
			new Response('<p>é', { status: 418, headers: { 'Content-Type': 'text/html', 'X-A': '1' } })
		for (const line of ['/r/a', 'POST /r/a']) {
			const { status, headers, text } = await answering(make).ask(line)
			assert.equal([status, text()], [418, '<p>é'])
			assert.equal(
				{ ...headers },
				{
					'x-content-type-options': 'nosniff',
					'content-security-policy': 'sandbox',
					'content-type': 'text/html',
					'x-a': '1',
				},
			)
		}
	})

	test('with JSON is sent bare, without a sandbox policy', async () => {
		const { headers, text } = await answering(() => Response.json({ id: 5 })).ask('/r/a')
		assert.equal(
			[
				text(),
				headers['content-type'],
				headers['content-security-policy'],
				headers['x-content-type-options'],
			],
			['{"id":5}', 'application/json', undefined, 'nosniff'],
		)
	})

	test('without a type is sent as application/octet-stream, with a sandbox policy', async () => {
		const { headers } = await answering(() => new Response(new Uint8Array([1, 2]))).ask('/r/a')
		assert.equal(
			[headers['content-type'], headers['content-security-policy']],
			['application/octet-stream', 'sandbox'],
		)
	})

	test('has a line for each cookie, next to those set by the method', async () => {
		const make: Make = (handler) => {
			handler.header('Set-Cookie', 'session=1')
			handler.header('X-A', 'mine')
			const response = new Response('a', { headers: { 'X-A': 'its' } })
			response.headers.append('Set-Cookie', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT')
			response.headers.append('Set-Cookie', 'b=2')
			return response
		}
		const { headers } = await answering(make).ask('/r/a')
		assert.equal(headers['set-cookie'], ['session=1', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'])
		assert.is(headers['x-a'], 'its')
	})

	test('reply() around it replaces status and headers', async () => {
		const make: Make = () =>
			reply(new Response('a', { status: 201, headers: { 'X-A': 'its', 'X-B': 'its' } }), {
				status: 202,
				headers: { 'X-A': 'mine' },
			})
		const { status, headers } = await answering(make).ask('/r/a')
		assert.equal([status, headers['x-a'], headers['x-b']], [202, 'mine', 'its'])
	})

	const foreign = (): Response =>
		new Response('a', {
			headers: {
				'Access-Control-Allow-Origin': '*',
				'Access-Control-Allow-Credentials': 'true',
				'Access-Control-Max-Age': '9',
				'X-Content-Type-Options': 'none',
				'Proxy-Connection': 'keep-alive',
				TE: 'trailers',
				'Proxy-Authenticate': 'Basic',
				'Proxy-Authorization': 'Basic YTpi',
				'Proxy-Authentication-Info': 'a',
				RateLimit: '"x";r=9',
				'RateLimit-Policy': '"x";q=9;w=9',
				'X-A': '1',
			},
		})

	test('loses connection headers, and gets nosniff', async () => {
		const { headers } = await answering(foreign).ask('/r/a')
		assert.equal(
			{ ...headers },
			{
				'x-content-type-options': 'nosniff',
				'content-security-policy': 'sandbox',
				'content-type': 'text/plain;charset=UTF-8',
				'access-control-allow-credentials': 'true',
				'access-control-allow-origin': '*',
				'access-control-max-age': '9',
				ratelimit: '"x";r=9',
				'ratelimit-policy': '"x";q=9;w=9',
				'x-a': '1',
			},
		)
	})

	test("leaves cross-origin headers to the server's policy", async () => {
		const mine = 'https://app.example'
		const options = { cors: { origins: [mine], credentials: true } }
		for (const origin of [mine, 'https://evil.example', undefined]) {
			const asked = origin === undefined ? {} : { headers: { origin } }
			const { headers } = await answering(foreign, options).ask('/r/a', asked)
			assert.is(headers['access-control-allow-origin'], origin === mine ? mine : undefined)
			assert.is(headers['access-control-allow-credentials'], origin === mine ? 'true' : undefined)
			assert.is(headers['access-control-max-age'], undefined)
			assert.is(headers['x-a'], '1')
		}
	})

	test('cross-origin headers set by the method take precedence over the policy', async () => {
		const make: Make = (handler) => {
			handler.header('Access-Control-Allow-Origin', 'https://other.example')
			return reply(foreign(), { headers: { 'Access-Control-Max-Age': '5' } })
		}
		const options = { cors: { origins: ['https://app.example'] } }
		const { headers } = await answering(make, options).ask('/r/a')
		assert.equal(
			[headers['access-control-allow-origin'], headers['access-control-max-age']],
			['https://other.example', '5'],
		)
	})

	test("the request id is this request's", async () => {
		const make = (): Response => new Response('a', { headers: { 'X-Request-Id': 'its' } })
		const options = { requestId: 'X-Request-Id' }
		const { headers } = await answering(make, options).ask('/r/a', { headers: { 'x-request-id': 'mine' } })
		assert.is(headers['x-request-id'], 'mine')
	})

	test("the method's rate-limit headers replace those of the Response", async () => {
		class Limited extends RestHandler {
			override readonly rateLimits = { get_a: { limit: 5, windowSeconds: 60 } }
			get_a() {
				return foreign()
			}
		}
		const { headers } = await asking({ r: new Limited() }, {}).ask('/r/a')
		assert.equal([headers['ratelimit-policy'], headers.ratelimit], ['"get_a";q=5;w=60', '"get_a";r=4;t=60'])
	})

	for (const status of [204, 205, 304]) {
		test(`with status ${status} has no body and no type`, async () => {
			const make = (): Response => new Response(null, { status, headers: { ETag: '"1"' } })
			const { body, ...answer } = await answering(make).ask('/r/a')
			assert.equal([answer.status, body.length, answer.headers.etag], [status, 0, '"1"'])
			assert.is(answer.headers['content-type'], undefined)
		})
	}

	test('a redirect has its Location and no body', async () => {
		const make = (): Response => Response.redirect('https://example.org/a', 303)
		const { status, headers, body } = await answering(make).ask('/r/a')
		assert.equal([status, headers.location, body.length], [303, 'https://example.org/a', 0])
	})

	for (const [what, make] of WITHOUT_BODY) {
		test(`without a body, ${what}: a HEAD has the same lines as a GET`, async () => {
			const { ask } = answering(make)
			const [got, head] = [await ask('/r/a'), await ask('HEAD /r/a')]
			assert.equal({ ...head.headers }, { ...got.headers })
			assert.is(got.headers['content-length'], '0')
			assert.is(got.headers['content-type'], what === 'one with a type' ? 'text/plain' : undefined)
		})
	}

	test('for a HEAD has its body cancelled, and its length sent', async () => {
		let cancelled = 0
		const body = (): ReadableStream =>
			new ReadableStream({
				pull: (controller) => controller.enqueue(new Uint8Array(5)),
				cancel: () => void cancelled++,
			})
		const make = (): Response => new Response(body(), { headers: { 'Content-Length': '5' } })
		const { status, headers, body: sent } = await answering(make).ask('HEAD /r/a')
		assert.equal([status, headers['content-length'], sent.length, cancelled], [200, '5', 0, 1])
	})

	const refused: [string, () => Response, RegExp][] = [
		['Response.error()', () => Response.error(), /^data is a Response without a status/],
		['one that was read', () => readBefore(), /^data is a Response whose body was already read/],
		['one that fails at once', () => new Response(failing()), /^broken$/],
	]
	for (const [what, make, why] of refused) {
		test(`${what} is 500, and the log says why`, async () => {
			const { said, logged } = answering(make)
			assert.match(await said('/r/a'), /^500 \{"success":false/)
			assert.match(logged(), why)
		})
	}

	test('a recorded error takes precedence, and the body is cancelled', async () => {
		let cancelled = 0
		const make: Make = (handler) => {
			handler.error('No', 403)
			return new Response(new ReadableStream({ cancel: () => void cancelled++ }))
		}
		assert.match(await answering(make).said('/r/a'), /^403 /)
		assert.is(cancelled, 1)
	})

	function readBefore(): Response {
		const response = new Response('a')
		void response.text()
		return response
	}

	function failing(): ReadableStream {
		return new ReadableStream({ start: (controller) => controller.error(new Error('broken')) })
	}
})

describe('reply: a fetch Response over a socket', (test) => {
	async function over(make: Make, work: (url: string) => Promise<void>): Promise<void> {
		class Responses extends RestHandler {
			get_a() {
				return make(this)
			}
		}
		await listening({ r: new Responses() }, {}, ({ url }) => work(`${url}/r/a`))
	}

	test("its body is read at the client's pace, and cancelled when the client disconnects", async () => {
		let pulled = 0
		let isCancelled = false
		const body = (): ReadableStream =>
			new ReadableStream({
				pull(controller) {
					pulled++
					controller.enqueue(new Uint8Array(65_536))
				},
				cancel() {
					isCancelled = true
				},
			})
		await over(
			() => new Response(body()),
			async (url) => {
				const asked = get(url)
				await new Promise((resolve) => asked.on('response', (message) => resolve(message.pause())))
				let before = -1
				// It stops by itself: what is pulled is bounded by what the sockets hold.
				await until(() => {
					const isStill = pulled === before
					before = pulled
					return isStill
				}, 'nothing more is pulled')
				assert.ok(pulled < 1_000, `${pulled} pieces of 64 kB were pulled for a reader that takes none`)
				asked.destroy()
				await until(() => isCancelled, 'the body is cancelled')
			},
		)
	})

	test("a feed's head is sent before the first event, and events are sent one by one", async () => {
		let send: (text: string) => void = () => {}
		const body = (): ReadableStream =>
			new ReadableStream({
				start(controller) {
					send = (text) => controller.enqueue(Buffer.from(text))
				},
			})
		const make = (): Response => new Response(body(), { headers: { 'Content-Type': 'text/event-stream' } })
		await over(make, async (url) => {
			const { status, body } = await fetch(url)
			assert.is(status, 200)
			const reader = (body as ReadableStream<Uint8Array>).getReader()
			for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
				send(event)
				const { value } = await reader.read()
				assert.is(Buffer.from(value ?? []).toString(), event)
			}
			await reader.cancel()
		})
	})

	const lengths: [string, number, boolean][] = [
		['as many bytes as it says', 3, true],
		['fewer bytes', 4, false],
		['more bytes', 2, false],
	]
	for (const [what, said, isWhole] of lengths) {
		test(`one of ${what} is ${isWhole ? 'sent with its length' : 'cut off'}`, async () => {
			const make = (): Response => new Response('abc', { headers: { 'Content-Length': `${said}` } })
			await over(make, async (url) => {
				const read = async (): Promise<string> => {
					const response = await fetch(url)
					assert.is(response.headers.get('content-length'), `${said}`)
					return response.text()
				}
				assert.is(await read().catch(() => 'cut off'), isWhole ? 'abc' : 'cut off')
			})
		})
	}

	for (const [what, make] of WITHOUT_BODY) {
		test(`without a body, ${what}, it has Content-Length: 0, and is not chunked`, async () => {
			await listening({ r: classOf(make) }, {}, ({ port }) =>
				connected(port, async (client) => {
					for (const method of ['GET', 'HEAD', 'GET']) {
						await client.send(requestText(`${method} /r/a`))
						const { headers, body } = await client.response(method)
						assert.is(headers['transfer-encoding'], undefined)
						assert.is(headers['content-length'], '0')
						assert.is(body.length, 0)
					}
				}),
			)
		})
	}

	async function upstream(listener: Parameters<typeof nodeServer>[1]): Promise<[NodeServer, string]> {
		const server = nodeServer(listener ?? (() => {}))
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`]
	}

	test('a fetched Response opens nothing to other origins', async () => {
		const [server, url] = await upstream((_, response) => {
			response.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'X-A': '1' }).end('a')
		})
		try {
			await over(
				() => fetch(url),
				async (own) => {
					const { headers } = await fetch(own)
					assert.equal([headers.get('access-control-allow-origin'), headers.get('x-a')], [null, '1'])
				},
			)
		} finally {
			server.closeAllConnections()
			server.close()
		}
	})

	test('a fetched Response is passed on decoded, without its connection headers', async () => {
		const [server, url] = await upstream((_, response) => {
			response.writeHead(203, [
				...[
					'Content-Encoding',
					'gzip',
					'Content-Type',
					'text/plain',
					'Set-Cookie',
					'a=1',
					'Set-Cookie',
					'b=2',
				],
				...['Connection', 'keep-alive, X-Hop', 'X-Hop', 'secret'],
			])
			response.end(gzipSync('hello'))
		})
		try {
			await over(
				() => fetch(url),
				async (ours) => {
					const response = await fetch(ours)
					assert.equal([response.status, await response.text()], [203, 'hello'])
					assert.is(response.headers.get('content-encoding'), null)
					assert.is(response.headers.get('x-hop'), null)
					assert.equal(response.headers.getSetCookie(), ['a=1', 'b=2'])
				},
			)
		} finally {
			server.close()
		}
	})

	// Whether fetch undoes zstd is its version's affair: the client behind reads the same, by the header that is there.
	test('a fetched zstd Response is passed on as received: decoded without the header, or encoded with it', async () => {
		const [server, url] = await upstream((_, response) => {
			response.writeHead(200, { 'Content-Encoding': 'zstd', 'Content-Type': 'text/plain' })
			response.end(ZSTD_HELLO)
		})
		try {
			const isDecoded = (await (await fetch(url)).text()) === 'hello'
			await over(
				() => fetch(url),
				async (ours) => {
					const { headers, bytes } = await new Promise<{
						headers: IncomingHttpHeaders
						bytes: Buffer
					}>((resolve, reject) => {
						get(ours, async (response) => {
							resolve({ headers: response.headers, bytes: Buffer.concat(await response.toArray()) })
						}).on('error', reject)
					})
					assert.is(headers['content-encoding'], isDecoded ? undefined : 'zstd')
					assert.equal(bytes, isDecoded ? Buffer.from('hello') : ZSTD_HELLO)
				},
			)
		} finally {
			server.close()
		}
	})

	for (const [versions, isDecoded] of [
		[{ undici: '6.24.1' }, false],
		[{ undici: '7.10.0' }, false],
		[{ undici: '7.11.0' }, true],
		[{ undici: '8.0.0' }, true],
		[{ bun: '1.2.0' }, true],
		[{}, false],
	] as const)
		test(`fetch of ${JSON.stringify(versions)} ${isDecoded ? 'has' : "hasn't"} decoded zstd`, () => {
			const decoded = decodedBy(versions)
			for (const codings of ['zstd', 'gzip, ZSTD', 'zstd,br']) assert.is(decoded.test(codings), isDecoded)
			for (const codings of ['gzip', 'br , x-gzip']) assert.ok(decoded.test(codings))
			for (const codings of ['', 'zstd, foo', 'gzip-2', 'dcz']) assert.not(decoded.test(codings))
		})

	test('a proxied HEAD does not block a following GET', async () => {
		const [server, url] = await upstream((_, response) =>
			response.writeHead(200, { 'Content-Length': 9 }).end(),
		)
		try {
			await over(
				() => fetch(url, { method: 'HEAD' }),
				async (ours) => assert.is(await (await fetch(ours)).text(), ''),
			)
		} finally {
			server.close()
		}
	})
})
