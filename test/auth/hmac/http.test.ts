/** Signed requests over sockets: when bodies are read, streams, body parsers in front, HTTP/2, and attacks. */
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import * as assert from 'uvu/assert'
import {
	anyOf,
	createServer,
	HmacAuthenticator,
	MemoryCache,
	newToken,
	RestHandler,
	TokenAuthenticator,
} from '../../../lib/index.ts'
import { growth } from '../../helpers/cost.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, listening, until } from '../../helpers/listening.ts'
import { ask, connected, type RawResponse } from '../../helpers/raw.ts'
import { stopwatch } from '../../helpers/stalls.ts'
import { NOW, type Outline, SECRET, type SignedRequest, signed } from './signed-request.ts'

const clock = (): number => NOW * 1_000
const KEYS = { k1: SECRET }
const authenticator = (): HmacAuthenticator =>
	new HmacAuthenticator(undefined, undefined, 300, { keys: KEYS, clock })

const calls: string[] = []

class Api extends RestHandler {
	override access = { '*': 'user' } as const
	override readonly authenticator = authenticator()

	get_x() {
		calls.push('x')
		return this.user
	}
	post_x() {
		calls.push('x')
		return this.getRawPostData()
	}
}

/** Authenticates in its methods, without a declaration. */
class Asks extends RestHandler {
	override streaming = ['post_stream', 'post_late', 'post_catching', 'post_unread']
	private readonly auth = authenticator()

	async post_x() {
		await this.requireAuth(this.auth)
		return this.body
	}
	async post_stream(size?: string) {
		await this.requireAuth(this.auth)
		let text = ''
		try {
			for await (const chunk of this.request.stream) {
				text += String(chunk)
				if (text.length === Number(size)) return 'enough'
			}
		} catch (error) {
			calls.push(`broken off after ${text.length}`)
			throw error
		}
		calls.push('ended')
		return text.length
	}
	async post_catching() {
		await this.requireAuth(this.auth)
		let size = 0
		try {
			for await (const chunk of this.request.stream) size += (chunk as Buffer).length
		} catch {}
		return size
	}
	async post_unread() {
		await this.requireAuth(this.auth)
		return 'nothing was read'
	}
	async post_late() {
		for await (const _ of this.request.stream) break
		await this.requireAuth(this.auth)
	}
}

function textOf({ method, url, headers, body }: SignedRequest, framing = 'length'): string {
	const lines = headers.map(([name, value]) => `${name}: ${value}`)
	const text = body === undefined ? '' : String(body)
	if (text !== '')
		lines.push(framing === 'length' ? `Content-Length: ${text.length}` : 'Transfer-Encoding: chunked')
	const sent = framing === 'chunked' ? chunksOf(text) : text
	return `${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${sent}`
}

function chunksOf(text: string): string {
	const chunks = text.match(/.{1,1000}/g) ?? []
	return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`
}

const said = (answer: RawResponse): string => `${answer.status} ${answer.body.toString()}`
const post = (more: Outline = {}): SignedRequest =>
	signed({ method: 'POST', headers: [['Content-Type', 'application/json']], body: '{"a":1}', ...more })

describe('hmac over HTTP: the body', (test) => {
	for (const framing of ['length', 'chunked']) {
		for (const size of [10, 200_000]) {
			test(`of ${size} bytes by ${framing} is verified before any code of the handler runs`, () =>
				listening({ a: new Api() }, {}, async ({ port, log }) => {
					calls.length = 0
					const request = post({ body: 'a'.repeat(size) })
					assert.match(said(await ask(port, textOf(request, framing))), /^200 /)
					assert.equal(calls.splice(0), ['x'])
					const other = post({ body: 'a'.repeat(size) })
					const changed = { ...other, body: `b${'a'.repeat(size - 1)}` }
					assert.match(said(await ask(port, textOf(changed, framing))), /^401 .*"Unauthorized"/)
					assert.equal(calls, [])
					assert.is(String(log.lines.at(-1)?.fields.err), "Error: the body doesn't match its Content-Digest")
				}))
		}
	}

	test('is not read when the headers are refused, and no 100 Continue is sent', () =>
		listening({ a: new Api() }, {}, async ({ port }) => {
			const bad = post({ secret: Buffer.alloc(32) })
			const noDigest = post({ digest: 'md5' })
			for (const { headers } of [bad, noDigest]) {
				const head = [...headers, ['Expect', '100-continue']].map(([name, value]) => `${name}: ${value}\r\n`)
				await connected(port, async (client) => {
					await client.send(`POST /a/x HTTP/1.1\r\n${head.join('')}Content-Length: 7\r\n\r\n`)
					assert.is((await client.response('POST')).status, 401)
				})
			}
			const good = [...post().headers, ['Expect', '100-continue']].map(
				([name, value]) => `${name}: ${value}\r\n`,
			)
			await connected(port, async (client) => {
				await client.send(`POST /a/x HTTP/1.1\r\n${good.join('')}Content-Length: 7\r\n\r\n`)
				assert.is((await client.response('POST')).status, 100)
				await client.send('{"a":1}')
				assert.is((await client.response('POST')).status, 200)
			})
		}))

	test('header lines that node would drop are seen', () =>
		listening({ a: new Api() }, {}, async ({ port }) => {
			const request = post()
			const again = { ...request, headers: [...request.headers, ['Content-Type', 'text/plain'] as const] }
			assert.is((await ask(port, textOf(again))).status, 400)
			assert.is((await ask(port, textOf(request))).status, 200)
		}))

	test('an absolute target is verified by its path and authority', () =>
		listening({ a: new Api() }, { hosts: '*' }, async ({ port }) => {
			const request = signed({ host: 'example.org', url: '/a/x?b' })
			const absolute = (authority: string) =>
				ask(port, textOf({ ...request, url: `http://${authority}/a/x?b` }))
			assert.is((await absolute('example.com')).status, 401)
			assert.is((await absolute('EXAMPLE.org:80')).status, 200)
		}))
})

describe('hmac over HTTP: streams', (test) => {
	const url = '/a/stream'
	for (const framing of ['length', 'chunked']) {
		test(`a stream by ${framing} is verified as it flows, and fails at its end when altered`, () =>
			listening({ a: new Asks() }, {}, async ({ port, log }) => {
				calls.length = 0
				const body = 'a'.repeat(300_000)
				assert.match(said(await ask(port, textOf(post({ url, body }), framing))), /^200 .*300000/)
				const changed = { ...post({ url, body }), body: `${body.slice(1)}b` }
				const answer = await ask(port, textOf(changed, framing))
				assert.match(said(answer), /^401 .*"Unauthorized"/)
				assert.is(answer.headers['www-authenticate'], 'Signature realm="api"')
				assert.is(calls[0], 'ended')
				assert.match(String(calls[1]), /^broken off after \d+$/)
				assert.is(String(log.lines.at(-1)?.fields.err), "Error: the body doesn't match its Content-Digest")
			}))
	}

	test('streaming methods with a declared hmac authenticator are refused at mount, also through anyOf and on the server', () => {
		class Streams extends RestHandler {
			override streaming = ['post_x']
			post_x() {}
		}
		class Signed extends Streams {
			override readonly authenticator = authenticator()
		}
		class Either extends Streams {
			override readonly authenticator = anyOf(
				new TokenAuthenticator({ tokens: () => undefined }),
				authenticator(),
			)
		}
		const refusal =
			/^\w+\.streaming names post_x, and the declared authenticator verifies bodies before a method runs: take/
		assert.throws(() => createServer({ a: new Signed() }), refusal)
		assert.throws(() => createServer({ a: new Either() }), refusal)
		assert.throws(() => createServer({ a: new Streams() }, { authenticator: authenticator() }), refusal)
		createServer({ a: new Streams() }, { authenticator: new TokenAuthenticator({ tokens: () => undefined }) })
	})

	test('a method that stops reading early, or catches the refusal, is answered 401: what it read was not verified', () =>
		listening({ a: new Asks() }, {}, async ({ port, log }) => {
			const whole = post({ url: '/a/stream/5', body: 'abcde' })
			assert.is((await ask(port, textOf(whole))).status, 401)
			assert.match(String(log.lines.at(-1)?.fields.err), 'has not read the body to its end')
			const caught = post({ url: '/a/catching', body: 'abcde' })
			assert.match(said(await ask(port, textOf(caught))), /^200 .*5/)
			const forged = { ...post({ url: '/a/catching', body: 'abcde' }), body: 'evil!' }
			assert.is((await ask(port, textOf(forged))).status, 401)
			const unread = post({ url: '/a/unread', body: 'abcde' })
			assert.match(said(await ask(port, textOf(unread))), /^200 .*nothing was read/)
		}))

	test('a method may authenticate before it reads, but not afterwards', () =>
		listening({ a: new Asks() }, {}, async ({ port, log }) => {
			const body = 'abcde'
			assert.match(said(await ask(port, textOf(post({ url, body })))), /^200 .*5/)
			const changed = { ...post({ url, body }), body: 'abcdf' }
			const answer = await ask(port, textOf(changed))
			assert.is(answer.status, 401)
			assert.is(answer.headers['www-authenticate'], 'Signature realm="api"')
			assert.is((await ask(port, textOf(post({ url: '/a/late', body })))).status, 500)
			assert.match(String(log.lines.at(-1)?.fields.err), 'authenticate the caller before using it')
		}))
})

describe('hmac over HTTP: parsers in front', (test) => {
	const behind = async (
		parser: RequestHandler,
		handler: RestHandler,
		use: (port: number, log: Log) => Promise<void>,
	): Promise<void> => {
		const log = new Log()
		const app = express()
			.use(parser)
			.use('/mount', createServer({ a: handler }, { logger: log, logRequests: false }).handler)
		const server = createHttpServer(app)
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		try {
			await use((server.address() as AddressInfo).port, log)
		} finally {
			server.closeAllConnections()
			server.close()
		}
	}
	const url = '/mount/a/x'

	for (const handler of [Api, Asks]) {
		test(`${handler.name}: behind express.json() the bytes are gone: 500, and the log says why`, () =>
			behind(express.json(), new handler(), async (port, log) => {
				assert.is((await ask(port, textOf(post({ url })))).status, 500)
				assert.match(
					String(log.lines.at(-1)?.fields.err),
					'a parser in front has taken the bytes of the body',
				)
			}))

		test(`${handler.name}: behind express.raw() the bytes are verified, and so is the full path`, () =>
			behind(express.raw({ type: '*/*' }), new handler(), async (port) => {
				assert.is((await ask(port, textOf(post({ url })))).status, 200)
				assert.is((await ask(port, textOf({ ...post({ url }), body: '{"a":2}' }))).status, 401)
				assert.is((await ask(port, textOf({ ...post({ url: '/a/x' }), url }))).status, 401)
			}))
	}

	test('without a body parsers in front make no difference', () =>
		behind(express.json(), new Api(), async (port) => {
			assert.is((await ask(port, textOf(signed({ url })))).status, 200)
			assert.is((await ask(port, textOf(signed({ url, method: 'POST' })))).status, 200)
		}))
})

describe('hmac over HTTP/2', (test) => {
	test(':authority is signed, and a body is recognised whatever its framing', async () => {
		const { handler } = createServer({ a: new Api(), b: new Asks() }, { logger: new Log() })
		const server = createHttp2Server((request, response) => handler(request, response))
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
		const session = connect(`http://${host}`)
		const send = (request: SignedRequest, body: SignedRequest['body'] = request.body): Promise<unknown> =>
			new Promise((resolve, reject) => {
				const headers: Record<string, string> = { ':method': request.method, ':path': request.url }
				for (const [name, value] of request.headers) if (name !== 'Host') headers[name.toLowerCase()] = value
				const stream = session.request(headers, { endStream: body === undefined })
				stream.on('response', (answer: IncomingHttpHeaders & { ':status'?: number }) =>
					resolve(answer[':status']),
				)
				// A cancelled one has no error.
				stream.on('close', () => reject(new Error('the stream was closed without an answer')))
				stream.on('error', reject).resume()
				if (body !== undefined) stream.end(body)
			})
		try {
			assert.is(await send(signed({ host })), 200)
			assert.is(await send(signed({ host: 'localhost' })), 401)
			assert.is(await send(post({ host })), 200)
			assert.is(await send(post({ host, url: '/b/stream' })), 200)
			assert.is(await send(post({ host }), '{"a":2}'), 401)
			assert.is(await send(post({ host, url: '/b/stream' }), '{"a":2}'), 401)
			assert.is(await send(signed({ host, method: 'POST' })), 200)
			assert.is(await send(signed({ host, method: 'POST' }), 'more'), 401)
			assert.is(await send(signed({ host }), 'more'), 401)
		} finally {
			// After a failed test its stream may never end, and the server waits for its sessions.
			session.destroy()
			server.close()
		}
	})

	test('without a length, a body is recognised also when a method authenticates late', async () => {
		const calls: unknown[] = []
		class Later extends RestHandler {
			async post_x() {
				await this.requireAuth(authenticator())
				calls.push(this.request.rawBody.toString())
				return 'let in'
			}
			delete_x() {
				return this.post_x()
			}
		}
		const { handler } = createServer({ a: new Later() }, { logger: new Log() })
		const server = createHttp2Server((request, response) => handler(request, response))
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
		const session = connect(`http://${host}`)
		const send = ({ method, url, headers }: SignedRequest, body: SignedRequest['body']): Promise<unknown> =>
			new Promise((resolve, reject) => {
				const sent: Record<string, string> = { ':method': method, ':path': url }
				for (const [name, value] of headers) if (name !== 'Host') sent[name.toLowerCase()] = value
				const stream = session.request(sent, { endStream: body === undefined })
				stream.on('response', (answer: IncomingHttpHeaders & { ':status'?: number }) =>
					resolve(answer[':status']),
				)
				// A cancelled one has no error.
				stream.on('close', () => reject(new Error('the stream was closed without an answer')))
				stream.on('error', reject).resume()
				if (body !== undefined) stream.end(body)
			})
		try {
			for (const method of ['POST', 'DELETE']) {
				const bare = () => signed({ host, method })
				assert.is(await send(bare(), undefined), 200)
				const forged = bare()
				const typed = { ...forged, headers: [...forged.headers, ['Content-Type', 'text/plain'] as const] }
				assert.is(await send(typed, 'evil'), 401)
				const honest = post({ host, method })
				assert.is(await send(honest, honest.body), 200)
				assert.is(await send(post({ host, method }), '{"a":2}'), 401)
			}
			assert.equal(calls, ['', '{"a":1}', '', '{"a":1}'])
		} finally {
			// After a failed test its stream may never end, and the server waits for its sessions.
			session.destroy()
			server.close()
		}
	})

	test('a request cut off within its body during the key lookup is not run', async () => {
		let ran = 0
		let lookedUp = (_user: null): void => {}
		class Slow extends RestHandler {
			override readonly authenticator = {
				authenticate: () =>
					new Promise<null>((resolve) => {
						lookedUp = resolve
					}),
			}
			post_x() {
				ran++
			}
		}
		const log = new Log()
		const { handler } = createServer({ a: new Slow() }, { logger: log, logRequests: false })
		let isCutOff = false
		const server = createHttp2Server((request, response) => {
			request.once('aborted', () => {
				isCutOff = true
			})
			handler(request, response)
			stream.write('ab')
			stream.close(8)
		})
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
		const stream = session.request({ ':method': 'POST', ':path': '/a/x', 'content-type': 'text/plain' })
		stream.on('error', () => {})
		try {
			await until(() => isCutOff, 'the end of it')
			lookedUp(null)
			for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
			assert.is(ran, 0)
		} finally {
			// After a failed test its stream may never end, and the server waits for its sessions.
			session.destroy()
			server.close()
		}
	})
})

describe('hmac over HTTP: combined with other features', (test) => {
	test('of several authenticators, all refusals look the same, also one found with the body', async () => {
		const { token, digest } = newToken()
		const tokens = new TokenAuthenticator({ tokens: { [digest]: { id: 'ada' } } })
		class Both extends Api {
			override readonly authenticator = anyOf(tokens, authenticator()) as HmacAuthenticator
		}
		await listening({ a: new Both() }, {}, async ({ port }) => {
			assert.match(said(await ask(port, textOf(post()))), /^200 /)
			const bearer = textOf({
				...signed(),
				headers: [
					['Host', 'localhost'],
					['Authorization', `Bearer ${token}`],
				],
			})
			assert.match(said(await ask(port, bearer)), /^200 .*"ada"/)
			const refused = [
				{ ...signed(), headers: [['Host', 'localhost'] as const] },
				post({ secret: Buffer.alloc(32) }),
				{ ...post(), body: '{"a":2}' },
				{ ...post(), body: undefined },
			]
			const answers = await Promise.all(refused.map((request) => ask(port, textOf(request))))
			const bytes = answers.map(({ status, headers, body }) => {
				const { date: _date, ...others } = headers
				return JSON.stringify([status, others, body.toString()])
			})
			assert.is(new Set(bytes).size, 1, bytes.join('\n'))
			assert.match(String(answers[0]?.headers['www-authenticate']), /^Bearer .*, Signature realm="api"$/)
		})
	})

	for (const handler of [Api, Asks]) {
		test(`${handler.name}: a cache that never responds is 503 after the method's timeout`, () => {
			class Silent extends MemoryCache {
				override add(): boolean {
					return new Promise(() => {}) as unknown as boolean // as a cache over a network would
				}
			}
			const options = { cache: new Silent({ max: 1 }), handlerTimeoutSeconds: 0.06 }
			return listening({ a: new handler() }, options, async ({ port }) => {
				const took = stopwatch()
				assert.is((await ask(port, textOf(post()))).status, 503)
				assert.ok(took() < 1_000)
			})
		})
	}

	test('the id of a refused request is logged with the reason', () =>
		listening({ a: new Api() }, { requestId: 'X-Request-Id' }, async ({ port, log }) => {
			const request = signed({ secret: Buffer.alloc(32), headers: [['X-Request-Id', 'id-1']] })
			await ask(port, textOf(request))
			await until(() => log.lines.length > 0, 'a line')
			const [line] = log.lines
			assert.equal(
				[line?.level, line?.message, line?.fields.requestId, String(line?.fields.err)],
				[
					'warn',
					'credentials were refused',
					'id-1',
					'Error: the signature is not that of key "k1" for this request',
				],
			)
		}))
})

describe('hmac: attacks', (test) => {
	const good = `sig=("@method" "@authority" "@path" "@query");created=${NOW};keyid="k1";nonce="n"`
	const signature = `sig=:${'A'.repeat(43)}=:`
	const repeated = (unit: string, size: number): string =>
		unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
	/** Of about the given size: Signature-Input, Signature, and the path. */
	const shapes: [string, (size: number) => [string, string, string?]][] = [
		['open brackets', (size) => [repeated('(', size), signature]],
		['an inner list without end', (size) => [`sig=(${repeated('"a" ', size)}`, signature]],
		['spaces', (size) => [`sig=(${repeated(' ', size)}x`, signature]],
		['tabs between members', (size) => [`a${repeated('\t', size)}x`, signature]],
		['many labels', (size) => [labels(size, '=()'), labels(size, '=::')]],
		['many labels alike', (size) => [repeated('sig=(),', size), signature]],
		['many parameters', (size) => [`${good}${repeated(';a', size)}`, signature]],
		['parameters alike, with values', (size) => [`${good}${repeated(';a="\\\\"', size)}"`, signature]],
		['a long string', (size) => [`${good};x="${repeated('\\"', size)}"`, signature]],
		['a string without end', (size) => [`${good};x="${repeated('\\\\', size)}`, signature]],
		['a long name', (size) => [repeated('a', size), signature]],
		['a long number', (size) => [`${good};x=${repeated('1', size)}`, signature]],
		['a long display string', (size) => [`${good};x=%"${repeated('%c3%bc', size)}"`, signature]],
		['long base64', (size) => [good, `sig=:${repeated('AAAA', size - (size % 4))}:`]],
		['colons', (size) => [good, repeated(':', size)]],
		['many components', (size) => [good.replace('"@query"', `"@query" ${names(size)}`), signature]],
		[
			'parameters of the query',
			(size) => [good.replace('"@query"', `"@query" ${params()}`), signature, `/a/x?${repeated('a&', size)}`],
		],
	]
	const labels = (size: number, value: string): string =>
		Array.from({ length: size / 10 }, (_, at) => `s${at}${value}`).join(',')
	const names = (size: number): string => Array.from({ length: size / 8 }, (_, at) => `"x${at}"`).join(' ')
	const params = (): string => Array.from({ length: 60 }, (_, at) => `"@query-param";name="a${at}"`).join(' ')

	const server = createServer({ a: new Api() }, { logger: new Log() })

	const refused = async ([input, bytes, url = '/a/x']: [string, string, string?]): Promise<void> => {
		const { status } = await server.inject({ url, headers: { 'Signature-Input': input, Signature: bytes } })
		assert.is(status, 401)
	}

	for (const [what, make] of shapes) {
		test(`16 kB of ${what} are refused as fast as any 16 kB`, async () => {
			// A URL has at most 16,384 characters. Everything else is also sent at eight times the size.
			const short = make(16_000)
			const large = make(short[2] === undefined ? 128_000 : 16_000)
			const { small, ratio } = await growth(
				() => refused(short),
				() => refused(large),
			)
			assert.ok(small < 100, `${small} ms`)
			// Quadratic time would be 64 times as long.
			assert.ok(ratio < 30, `${ratio} times`)
		})
	}
})
