/** `server.handler` in an HTTP/2 server of node, with and without TLS. */
import { once } from 'node:events'
import {
	type ClientHttp2Session,
	connect,
	constants,
	createServer as createHttp2Server,
	createSecureServer,
} from 'node:http2'
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, type ServerOptions } from '../../../lib/index.ts'
import { selfSigned } from '../../helpers/certificate.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, until } from '../../helpers/listening.ts'

class Site extends RestHandler {
	override streaming = ['post_upload', 'post_first', 'post_ignore']
	override access = { post_vault: 'user' }
	override authenticator = { authenticate: () => null }
	readonly events: string[] = []
	/** Called when the client of `get_gone` has disconnected. */
	readonly left: (() => void)[] = []

	get_about() {
		const { host, protocol, ip, url, method } = this.request
		return { host, protocol, ip, url, method }
	}

	get_cookies() {
		this.header('Set-Cookie', ['a=1', 'b=2', 'c=3'])
		this.header('X-One', 'one')
		return 'set'
	}

	/** Headers that HTTP/2 forbids. */
	get_hop() {
		this.header('Proxy-Connection', 'keep-alive')
		return 'hop'
	}

	get_twice() {
		this.header('ETag', ['"a"', '"b"'])
		return 'twice'
	}

	get_large() {
		return Buffer.alloc(8 * 1_048_576, 'a')
	}

	post_body() {
		this.events.push('body')
		return this.body
	}

	post_vault() {
		return 'vault'
	}

	async post_upload() {
		let size = 0
		for await (const chunk of this.request.stream) size += (chunk as Buffer).length
		this.events.push('upload')
		return size
	}

	async post_first() {
		for await (const _ of this.request.stream) return 'first'
		return 'none'
	}

	post_ignore() {
		return 'ignored'
	}

	async *get_endless() {
		try {
			for (;;) yield 'a'.repeat(1_000)
		} finally {
			this.events.push('closed')
		}
	}

	async *get_broken() {
		yield 'a'.repeat(20_000)
		await sleep(10)
		throw new Error('cursor lost')
	}

	async *get_records() {
		yield 1
		yield 2
	}

	async get_wait() {
		const { signal } = this.request
		this.events.push('waiting')
		signal.addEventListener('abort', () => this.events.push('aborted'))
		await new Promise((resolve) => signal.addEventListener('abort', resolve))
		this.events.push(`from ${this.request.ip || 'nobody'}`)
	}

	async get_gone() {
		this.events.push('begun')
		await new Promise<void>((resolve) => {
			this.left.push(resolve)
		})
		const { signal } = this.request
		this.events.push(`aborted ${signal.aborted}`)
	}

	get_never() {
		return new Promise(() => {})
	}
}

interface Answer {
	readonly status: number
	readonly headers: Readonly<Record<string, unknown>>
	readonly body: Buffer
}

interface Given {
	readonly session: ClientHttp2Session
	readonly site: Site
	readonly log: Log
	readonly port: number
	ask(headers: Record<string, string>, body?: Buffer): Promise<Answer>
}

async function over(
	kind: 'h2c' | 'TLS',
	use: (given: Given) => Promise<void>,
	options: ServerOptions = {},
): Promise<void> {
	const site = new Site()
	const log = new Log()
	const { handler } = createServer({ '': site }, { logger: log, logRequests: false, ...options })
	const http2 = kind === 'TLS' ? createSecureServer(selfSigned(), handler) : createHttp2Server(handler)
	http2.on('stream', (stream) => stream.on('close', () => site.left[0]?.()))
	const sockets: Socket[] = []
	http2.on('connection', (socket: Socket) => sockets.push(socket))
	await new Promise<void>((resolve) => http2.listen(0, '127.0.0.1', resolve))
	const { port } = http2.address() as AddressInfo
	const session = connect(`${kind === 'TLS' ? 'https' : 'http'}://127.0.0.1:${port}`, {
		rejectUnauthorized: false,
	})
	session.on('error', () => {})
	try {
		await use({ session, site, log, port, ask: (headers, body) => ask(session, headers, body) })
	} finally {
		session.destroy()
		// A session with a pending write keeps its socket, and so the server, open.
		for (const socket of sockets) socket.destroy()
		await new Promise((resolve) => http2.close(resolve))
	}
}

function ask(session: ClientHttp2Session, headers: Record<string, string>, body?: Buffer): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const stream = session.request(headers, { endStream: body === undefined })
		const chunks: Buffer[] = []
		let answer: Record<string, unknown> = {}
		stream.on('response', (head) => {
			answer = head
		})
		stream.on('data', (chunk: Buffer) => chunks.push(chunk))
		stream.on('end', () =>
			resolve({ status: Number(answer[':status']), headers: answer, body: Buffer.concat(chunks) }),
		)
		stream.on('error', reject)
		stream.on('close', () => reject(new Error(`the stream was closed: ${stream.rstCode}`)))
		if (body !== undefined) stream.end(body)
	})
}

/** A frame (RFC 9113 §4.1). node's client can't send a reset without ending the body first. */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
	const head = Buffer.alloc(9)
	head.writeUIntBE(payload.length, 0, 3)
	head.writeUIntBE((type << 8) | flags, 3, 2)
	head.writeUInt32BE(stream, 5)
	return Buffer.concat([head, payload])
}

/** A session's begin, with a request whose body has only begun. */
function openedPost(path: string, body: string): Buffer {
	const fields = { ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'localhost' }
	const lines = Object.entries({ ...fields, 'content-type': 'application/x-www-form-urlencoded' })
	// Literals without indexing (RFC 7541 §6.2.2).
	const texts = lines.map(
		(line) => `\0${line.map((text) => String.fromCharCode(text.length) + text).join('')}`,
	)
	const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
	const headers = frame(1, 4, 1, Buffer.from(texts.join('')))
	return Buffer.concat([preface, frame(4, 0, 0), headers, frame(0, 0, 1, Buffer.from(body))])
}

const json = ({ body }: Answer): unknown => JSON.parse(body.toString())

for (const kind of ['h2c', 'TLS'] as const) {
	describe(`HTTP/2 over ${kind}`, (test) => {
		test("the request has the client's address, the method, the URL and the body", () =>
			over(kind, async ({ ask }) => {
				const answer = await ask({ ':path': '/about?a=1', ':authority': 'a.example' })
				const protocol = kind === 'TLS' ? 'https' : 'http'
				const data = { host: 'a.example', protocol, ip: '127.0.0.1', url: '/about?a=1', method: 'GET' }
				assert.equal(json(answer), { success: true, data })
				assert.is(answer.headers['x-content-type-options'], 'nosniff')
				assert.is(answer.headers.connection, undefined)
			}))

		test('sends repeated headers as separate lines', () =>
			over(kind, async ({ ask }) => {
				const { headers } = await ask({ ':path': '/cookies' })
				assert.equal(headers['set-cookie'], ['a=1', 'b=2', 'c=3'])
				assert.is(headers['x-one'], 'one')
			}))

		test('reads bodies of all kinds', () =>
			over(kind, async ({ ask }) => {
				const post = { ':method': 'POST', ':path': '/body', 'content-type': 'application/json' }
				assert.equal(json(await ask(post, Buffer.from('{"a":1}'))), { success: true, data: { a: 1 } })
				assert.equal(json(await ask(post)), { success: true, data: null })
				const upload = { ':method': 'POST', ':path': '/upload' }
				assert.equal(json(await ask(upload, Buffer.alloc(3_000_000))), { success: true, data: 3_000_000 })
			}))

		test('HEAD, 404 and 405 are answered as over HTTP/1.1', () =>
			over(kind, async ({ ask }) => {
				const head = await ask({ ':method': 'HEAD', ':path': '/about' })
				assert.equal([head.status, head.body.length], [200, 0])
				assert.is((await ask({ ':path': '/nowhere' })).status, 404)
				const wrong = await ask({ ':method': 'PUT', ':path': '/about' })
				assert.equal([wrong.status, wrong.headers.allow], [405, 'GET, HEAD, OPTIONS'])
			}))
	})
}

describe('HTTP/2', (test) => {
	test('a header forbidden in HTTP/2 is dropped', () =>
		over('h2c', async ({ ask }) => {
			const answer = await ask({ ':path': '/hop' })
			assert.equal([answer.status, answer.headers['proxy-connection']], [200, undefined])
		}))

	test('a single-value header that is repeated is logged, and affects no other request', () =>
		over('h2c', async ({ ask, session, log }) => {
			const stream = session.request({ ':path': '/twice' })
			stream.on('error', () => {})
			await until(() => stream.closed, 'the end of the stream')
			assert.equal(log.messages, ['error: the answer could not be sent over HTTP/2'])
			assert.is((await ask({ ':path': '/about' })).status, 200)
		}))

	test(':authority takes precedence over Host', () =>
		over('h2c', async ({ ask }) => {
			const answer = await ask({ ':path': '/about', ':authority': 'a.example', host: 'b.example' })
			assert.is((json(answer) as { data: { host: string } }).data.host, 'a.example')
		}))

	for (const [path, status] of [
		['/vault', 401],
		['/body', 413],
		['/nowhere', 404],
		['/first', 200],
		['/ignore', 200],
	] as const) {
		test(`${path} is answered ${status} during an upload of 5 MB, and the session stays open`, () =>
			over(
				'h2c',
				async ({ ask, session }) => {
					const head = { ':method': 'POST', ':path': path, 'content-type': 'application/json' }
					const answer = await ask(head, Buffer.alloc(5_000_000, ' '))
					assert.is(answer.status, status)
					assert.is((await ask({ ':path': '/about' })).status, 200)
					assert.not(session.destroyed)
				},
				{ maxBody: 1_000 },
			))
	}

	test('a large response arrives complete, also at a slow reader', () =>
		over('h2c', async ({ ask }) => {
			assert.is((await ask({ ':path': '/large' })).body.length, 8 * 1_048_576)
		}))

	test('a client that reads nothing is cut off after sendTimeoutSeconds, and others are not', () =>
		over(
			'h2c',
			async ({ ask, session }) => {
				const stream = session.request({ ':path': '/large' })
				stream.on('error', () => {})
				await until(() => stream.destroyed || stream.closed, 'the end of the stream')
				assert.is((await ask({ ':path': '/about' })).status, 200)
			},
			{ sendTimeoutSeconds: 0.15 },
		))

	test('above maxUnsentBytes only the stream is cut off, not the session', () =>
		over(
			'h2c',
			async ({ ask, session, log }) => {
				const stream = session.request({ ':path': '/large' })
				stream.on('error', () => {})
				await until(() => stream.destroyed || stream.closed, 'the end of the stream')
				assert.is(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR)
				assert.is((await ask({ ':path': '/about' })).status, 200)
				assert.equal(log.messages, [
					'warn: the answer was cut off: more than maxUnsentBytes were waiting to be read',
				])
			},
			{ maxUnsentBytes: 1_000_000 },
		))

	test('records are streamed, and closed when the client resets', () =>
		over('h2c', async ({ ask, session, site, log }) => {
			assert.equal(json(await ask({ ':path': '/records' })), { success: true, data: [1, 2] })
			const stream = session.request({ ':path': '/endless' })
			stream.on('error', () => {})
			stream.once('data', () => stream.close(8))
			await until(() => site.events.includes('closed'), 'the end of the source')
			assert.equal(log.messages, [])
		}))

	test('an error after the first byte resets the stream', () =>
		over('h2c', async ({ session }) => {
			const stream = session.request({ ':path': '/broken' })
			let failed = false
			stream.on('error', () => {
				failed = true
			})
			stream.resume()
			await until(() => stream.closed, 'the end of the stream')
			assert.ok(failed || stream.rstCode !== 0, `code ${stream.rstCode}`)
		}))

	test('the signal is aborted when the client disconnects, and the address can still be read', () =>
		over('h2c', async ({ session, site }) => {
			const stream = session.request({ ':path': '/wait' })
			stream.on('error', () => {})
			await until(() => site.events.length === 1, 'the request')
			stream.close(8)
			await until(() => site.events.length === 3, 'the end of the method')
			assert.is(site.events[1], 'aborted')
		}))

	test('a signal first read after the client disconnected is aborted', () =>
		over('h2c', async ({ session, site }) => {
			const stream = session.request({ ':path': '/gone' })
			stream.on('error', () => {})
			await until(() => site.events.length === 1, 'the request')
			stream.close(8)
			await until(() => site.events.length === 2, 'the end of the method')
			assert.equal(site.events, ['begun', 'aborted true'])
		}))

	test('a body cut off by a reset without an error is not taken for a complete one', () =>
		over('h2c', async ({ port, site }) => {
			for (const path of ['/body', '/upload']) {
				const socket = connectSocket(port, '127.0.0.1').resume()
				socket.write(openedPost(path, 'a=1'))
				await once(socket, 'data')
				await sleep(30)
				socket.write(frame(3, 0, 1, Buffer.alloc(4))) // RST_STREAM, NO_ERROR
				await sleep(30)
				socket.destroy()
			}
			assert.equal(site.events, [])
		}))

	test('a destroyed session affects no other session', () =>
		over('h2c', async ({ session, site }) => {
			session.request({ ':path': '/wait' }).on('error', () => {})
			session.request({ ':path': '/endless' }).on('error', () => {})
			await until(() => site.events.length === 1, 'the request')
			session.destroy()
			await until(() => site.events.length === 4, 'the end of both')
		}))

	test('a method that takes too long → 503', () =>
		over(
			'h2c',
			async ({ ask }) => {
				assert.is((await ask({ ':path': '/never' })).status, 503)
			},
			{ handlerTimeoutSeconds: 0.05 },
		))

	test('a body that does not arrive in time → 408', () =>
		over(
			'h2c',
			async ({ session }) => {
				const stream = session.request({ ':method': 'POST', ':path': '/body' })
				stream.on('error', () => {})
				stream.write('{')
				const status = await new Promise((resolve, reject) => {
					stream.on('response', (head) => resolve(head[':status']))
					stream.on('close', () => reject(new Error(`no answer: ${stream.rstCode}`)))
				})
				assert.is(status, 408)
			},
			{ bodyTimeoutSeconds: 0.05 },
		))
})
