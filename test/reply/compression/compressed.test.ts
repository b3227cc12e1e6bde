/** Compressed responses: over sockets, and everywhere else requests come from. */
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { brotliDecompressSync, constants, createGunzip, gunzipSync } from 'node:zlib'
import express from 'express'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, reply, type ServerOptions } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, listening, until } from '../../helpers/listening.ts'
import { run } from '../../helpers/program.ts'
import { ask, connected, type RawResponse, requestText } from '../../helpers/raw.ts'

const LIST = Array.from({ length: 40 }, (_, id) => ({ id, title: `the title of article ${id}, größer` }))
const TEXT = JSON.stringify({ success: true, data: LIST })
const LONG = 'a line of text, and one more\n'.repeat(10_000)

class Site extends RestHandler {
	readonly closed: string[] = []
	/** What the feed waits for. */
	readonly waiting: (() => void)[] = []

	get_list() {
		return LIST
	}
	async get_long() {
		return reply(Buffer.from(LONG), { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
	}
	get_small() {
		return 'small'
	}
	get_big_error() {
		return this.error('x'.repeat(3_000))
	}
	get_bytes(type: string, subtype: string) {
		return reply(Buffer.alloc(5_000, 'a'), { headers: { 'Content-Type': `${type}/${subtype}` } })
	}
	/** With the header that the path names. */
	get_with(name: string, value: string) {
		return reply(LIST, { headers: { [name]: value } })
	}
	get_lines() {
		return reply(LIST, { headers: { 'Cache-Control': ['private', 'no-transform'] } })
	}
	get_part() {
		return reply(LIST, { status: 206 })
	}
	get_status(code: string) {
		this.status(Number(code))
		return LIST
	}
	post_list() {
		return reply(LIST, { status: 201 })
	}
	async *get_feed() {
		try {
			for (let id = 1; id <= 3; id++) {
				yield { id }
				await new Promise<void>((resolve) => this.waiting.push(resolve))
			}
		} finally {
			this.closed.push('feed')
		}
	}
	async *get_endless() {
		try {
			for (let id = 0; ; id++) yield { id, text: crypto.randomUUID() }
		} finally {
			this.closed.push('endless')
		}
	}
	get_stream() {
		this.header('Content-Type', 'text/csv')
		return Readable.from([Buffer.from('id,title\n'), Buffer.from('1,a\n')], { objectMode: false })
	}
	async *get_broken() {
		yield 'a'.repeat(20_000)
		await new Promise(setImmediate)
		throw new Error('cursor lost')
	}
}

const ON: ServerOptions = { compression: true }

function get(path: string, encodings?: string, ...headers: string[]): string {
	return requestText(`GET ${path}`, [
		...(encodings === undefined ? [] : [`Accept-Encoding: ${encodings}`]),
		...headers,
	])
}

function plain({ headers, body }: RawResponse): string {
	const coding = headers['content-encoding']
	if (coding === 'br') return brotliDecompressSync(body).toString()
	return coding === 'gzip' ? gunzipSync(body).toString() : body.toString()
}

describe('compression', (test) => {
	for (const coding of ['br', 'gzip']) {
		test(`${coding} of a complete body: small ones inline, larger ones in the thread pool`, () =>
			listening({ '': Site }, ON, async ({ port }) => {
				for (const [path, text] of [
					['/list', TEXT],
					['/long', LONG],
				] as const) {
					const answer = await ask(port, get(path, coding))
					assert.is(answer.headers['content-encoding'], coding)
					assert.is(answer.headers.vary, 'Accept-Encoding')
					assert.is(Number(answer.headers['content-length']), answer.body.length)
					assert.ok(answer.body.length < text.length / 2)
					assert.is(plain(answer), text)
				}
			}))
	}

	test('16 MiB at once are compressed in the thread pool; more is sent as it is, where it counts as unsent', async () => {
		class Big extends RestHandler {
			get_big(mebibytes: string) {
				return 'a'.repeat(Number(mebibytes) * 1_048_576)
			}
		}
		const server = createServer({ '': Big }, ON)
		const codingOf = async (path: string) => {
			const { headers } = await server.inject({ url: path, headers: { 'Accept-Encoding': 'gzip' } })
			assert.is(headers.vary, 'Accept-Encoding')
			return headers['content-encoding']
		}
		const all = (count: number, path: string) =>
			Promise.all(Array.from({ length: count }, () => codingOf(path)))
		assert.equal(await all(7, '/big/3'), [...Array(5).fill('gzip'), undefined, undefined])
		assert.equal(await all(2, '/big/17'), ['gzip', undefined], 'one may be larger')
		assert.is(await codingOf('/big/3'), 'gzip')
	})

	test('an uncompressed response has Vary where it could have been compressed', () =>
		listening({ '': Site }, ON, async ({ port }) => {
			for (const encodings of [undefined, 'identity', 'deflate', 'br;q=0, gzip;q=0']) {
				const { headers, body } = await ask(port, get('/list', encodings))
				assert.equal([headers['content-encoding'], headers.vary], [undefined, 'Accept-Encoding'])
				assert.is(body.toString(), TEXT)
			}
		}))

	test('a short body is not compressed, and has no Vary; the threshold is an option', async () => {
		await listening({ '': Site }, ON, async ({ port }) => {
			const { headers, body } = await ask(port, get('/small', 'gzip'))
			assert.equal([headers['content-encoding'], headers.vary], [undefined, undefined])
			assert.is(body.toString(), '{"success":true,"data":"small"}')
		})
		await listening(
			{ '': Site },
			{ compression: { threshold: 0, encodings: ['gzip'] } },
			async ({ port }) => {
				const answer = await ask(port, get('/small', 'br, gzip'))
				assert.is(answer.headers['content-encoding'], 'gzip')
				assert.is(plain(answer), '{"success":true,"data":"small"}')
			},
		)
		// '{"success":true,"data":"small"}' has 31 bytes.
		for (const [threshold, coding] of [
			[31, 'gzip'],
			[32, undefined],
		] as const) {
			const compression = { threshold, encodings: ['gzip'] } as const
			await listening({ '': Site }, { compression }, async ({ port }) => {
				assert.is((await ask(port, get('/small', 'gzip'))).headers['content-encoding'], coding)
			})
		}
		await listening({ '': Site }, { compression: { threshold: 1_000_000 } }, async ({ port }) => {
			assert.is((await ask(port, get('/long', 'gzip'))).headers['content-encoding'], undefined)
			assert.is((await ask(port, get('/stream', 'gzip'))).headers['content-encoding'], 'gzip')
		})
	})

	test('is off by default', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const { headers, body } = await ask(port, get('/list', 'gzip, br', 'If-None-Match: "a;br"'))
			assert.equal([headers['content-encoding'], headers.vary], [undefined, undefined])
			assert.is(body.toString(), TEXT)
		}))

	test('a HEAD has the headers of its GET, without the unknown length', () =>
		listening({ '': Site }, ON, async ({ port }) => {
			for (const path of ['/list', '/long', '/small', '/stream', '/with/ETag/"a"']) {
				for (const encodings of ['br', 'identity']) {
					const asked = get(path, encodings)
					const { date: _, ...given } = (await ask(port, asked)).headers
					const head = await ask(port, asked.replace('GET', 'HEAD'), 'HEAD')
					if (given['content-encoding'] !== undefined) Reflect.deleteProperty(given, 'content-length')
					Reflect.deleteProperty(given, 'transfer-encoding')
					const { date: __, ...had } = head.headers
					assert.equal({ ...had }, { ...given }, `${path} ${encodings}`)
				}
			}
		}))

	const types: [type: string, isCompressed: boolean][] = [
		['text/html', true],
		['text/csv', true],
		['text/event-stream', true],
		['application/xml', true],
		['application/ld+json', true],
		['image/svg+xml', true],
		['application/wasm', true],
		['image/png', false],
		['video/mp4', false],
		['application/zip', false],
		['application/octet-stream', false],
		['application/jsonwebtoken', false],
		['font/woff2', false],
	]
	for (const [type, isCompressed] of types) {
		test(`${type} is ${isCompressed ? 'compressed' : 'left as it is'}`, () =>
			listening({ '': Site }, ON, async ({ port }) => {
				const { headers } = await ask(port, get(`/bytes/${type}`, 'gzip'))
				assert.is(headers['content-encoding'], isCompressed ? 'gzip' : undefined)
				assert.is(headers.vary, isCompressed ? 'Accept-Encoding' : undefined)
			}))
	}

	for (const [name, value] of [
		['Content-Encoding', 'aes128gcm'],
		['Cache-Control', 'private, no-transform'],
		['Accept-Ranges', 'bytes'],
		['Content-Digest', 'sha-256=:a:'],
		['Content-Range', 'bytes 0-1'],
	] as const) {
		test(`a response with ${name}: ${value} is not compressed`, () =>
			listening({ '': Site }, ON, async ({ port }) => {
				const { headers, body } = await ask(port, get(`/with/${name}/${encodeURIComponent(value)}`, 'gzip'))
				assert.is(headers[name.toLowerCase()], value)
				assert.is(headers.vary, undefined)
				assert.is(body.toString(), TEXT)
			}))
	}

	test('no-transform is found in any Cache-Control line', () =>
		listening({ '': Site }, ON, async ({ port }) => {
			const { headers, body } = await ask(port, get('/lines', 'gzip'))
			assert.equal([headers['cache-control'], headers.vary], ['private, no-transform', undefined])
			assert.is(body.toString(), TEXT)
		}))

	test('ranges and responses without content are not compressed; errors and other methods are', () =>
		listening({ '': Site }, ON, async ({ port }) => {
			for (const path of ['/part', '/status/204', '/status/205']) {
				const { headers } = await ask(port, get(path, 'gzip'))
				assert.equal([headers['content-encoding'], headers.vary], [undefined, undefined], path)
			}
			const created = await ask(port, requestText('POST /list', ['Accept-Encoding: gzip']))
			assert.equal([created.status, plain(created)], [201, TEXT])
			assert.is(created.headers['content-encoding'], 'gzip')
			const error = await ask(port, get('/big_error', 'br'))
			assert.is(error.headers['content-encoding'], 'br')
			assert.is(error.headers.vary, 'Accept, Accept-Encoding')
			assert.is((JSON.parse(plain(error)) as { success: boolean }).success, false)
		}))

	test('Vary also keeps the names set by others', async () => {
		const options: ServerOptions = {
			...ON,
			explorer: true,
			openapi: true,
			cors: { origins: ['https://a.example'] },
		}
		await listening({ '': Site }, options, async ({ port }) => {
			const origin = 'Origin: https://a.example'
			const list = await ask(port, get('/list', 'gzip', origin))
			assert.is(list.headers.vary, 'Origin, Accept, Accept-Encoding')
			assert.is(plain(list), TEXT)
			const own = await ask(port, get('/with/Vary/X-A', 'gzip'))
			assert.is(own.headers.vary, 'X-A, Origin, Accept, Accept-Encoding')
			assert.is((await ask(port, get('/with/Vary/*', 'gzip'))).headers.vary, '*')
			const page = await ask(port, get('/list', 'br', 'Accept: text/html'))
			assert.is(page.headers['content-type'], 'text/html; charset=utf-8')
			assert.is(page.headers['content-encoding'], 'br')
			assert.match(plain(page), '<!doctype html>')
			const description = await ask(port, get('/openapi.json', 'gzip'))
			assert.is((JSON.parse(plain(description)) as { openapi: string }).openapi, '3.1.1')
		})
	})

	// node's types are those of the oldest that is served.
	const unzstd: unknown = Reflect.get(zlib, 'zstdDecompressSync')
	test('zstd, where Node has it, comes after br and before gzip', () =>
		listening({ '': Site }, ON, async ({ port }) => {
			for (const [path, text] of [
				['/list', TEXT],
				['/long', LONG],
				['/stream', 'id,title\n1,a\n'],
			] as const) {
				const { headers, body } = await ask(port, get(path, 'gzip, zstd'))
				assert.is(headers['content-encoding'], typeof unzstd === 'function' ? 'zstd' : 'gzip')
				if (typeof unzstd === 'function') assert.is(String(unzstd(body)), text)
				assert.is((await ask(port, get(path, 'gzip, zstd, br'))).headers['content-encoding'], 'br')
			}
		}))

	test('curl can decode it', async () => {
		await listening({ '': Site }, ON, async ({ url }) => {
			for (const path of ['/list', '/long', '/stream']) {
				const asked = (...args: string[]) => run({ program: 'curl', args: ['-s', ...args, url + path] })
				const [zipped, bare] = [await asked('--compressed'), await asked()]
				assert.is(zipped.code, 0, zipped.output)
				assert.is(zipped.output, bare.output)
			}
		})
	})
})

describe('compression: streams', (test) => {
	test('the first record arrives before the second is produced', async () => {
		const site = new Site()
		await listening({ '': site }, ON, async ({ port }) => {
			await connected(port, async (client) => {
				const seen: string[] = []
				const zip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
				zip.on('data', (piece: Buffer) => seen.push(piece.toString()))
				await client.send(get('/feed', 'gzip', 'Connection: close'))
				let read = 0
				const takeIn = (): boolean => {
					const bodies = chunksIn(client.unread)
					for (const body of bodies.slice(read)) zip.write(body)
					read = bodies.length
					return true
				}
				await until(() => takeIn() && seen.join('') === '{"success":true,"data":[{"id":1}', 'the first')
				site.waiting.shift()?.()
				await until(() => takeIn() && seen.join('').endsWith(',{"id":2}'), 'the second')
				site.waiting.shift()?.()
				await until(() => takeIn() && seen.join('').endsWith(',{"id":3}'), 'the third')
				site.waiting.shift()?.()
				await until(() => takeIn() && seen.join('').endsWith(']}'), 'the end')
				assert.equal(site.closed, ['feed'])
			})
		})
	})

	test('a client that disconnects closes the source', async () => {
		const site = new Site()
		await listening({ '': site }, ON, async ({ port, log }) => {
			await connected(port, async (client) => {
				await client.send(get('/endless', 'br'))
				const head = (await client.bytes(50_000)).toString('latin1')
				assert.match(head, 'Content-Encoding: br')
			})
			await until(() => site.closed.length === 1, 'the source is closed')
			assert.equal(log.messages, [])
		})
	})

	test('an error after the first byte cuts the connection', () =>
		listening({ '': Site }, ON, async ({ port, log }) => {
			await connected(port, async (client) => {
				await client.send(get('/broken', 'gzip'))
				await client.closed()
				assert.not.match(client.unread.toString('latin1'), '\r\n0\r\n\r\n')
			})
			assert.equal(log.messages, ['error: the answer was cut off'])
		}))

	test('streamed bytes are compressed by their type', () =>
		listening({ '': Site }, ON, async ({ port }) => {
			const answer = await ask(port, get('/stream', 'gzip'))
			assert.is(answer.headers['transfer-encoding'], 'chunked')
			assert.is(plain(answer), 'id,title\n1,a\n')
		}))
})

/** The whole chunks of an answer that may not have ended. */
function chunksIn(bytes: Buffer): Buffer[] {
	const chunks: Buffer[] = []
	let at = bytes.indexOf('\r\n\r\n') + 4
	for (;;) {
		const line = bytes.indexOf('\r\n', at)
		const size = line === -1 ? 0 : Number.parseInt(bytes.toString('latin1', at, line), 16)
		if (size === 0 || bytes.length < line + 4 + size) return chunks
		chunks.push(bytes.subarray(line + 2, line + 2 + size))
		at = line + 4 + size
	}
}

describe('compression: with other features', (test) => {
	test('inject has the bytes that would be sent', async () => {
		const server = createServer({ '': Site }, { ...ON, logger: new Log() })
		for (const [url, text] of [
			['/list', TEXT],
			['/stream', 'id,title\n1,a\n'],
		] as const) {
			const { headers, body } = await server.inject({ url, headers: { 'Accept-Encoding': 'gzip' } })
			assert.is(headers['content-encoding'], 'gzip')
			assert.is(gunzipSync(body).toString(), text)
		}
	})

	test('works over HTTP/2', async () => {
		const http2 = createHttp2Server(createServer({ '': Site }, ON).handler)
		await new Promise<void>((resolve) => http2.listen(0, '127.0.0.1', resolve))
		const session = connect(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`)
		try {
			for (const [path, text] of [
				['/list', TEXT],
				['/long', LONG],
				['/stream', 'id,title\n1,a\n'],
			] as const) {
				const stream = session.request({ ':path': path, 'accept-encoding': 'br' })
				let coding: unknown
				stream.once('response', (headers) => {
					coding = headers['content-encoding']
				})
				const pieces: Buffer[] = []
				for await (const piece of stream) pieces.push(piece as Buffer)
				assert.is(coding, 'br')
				assert.is(brotliDecompressSync(Buffer.concat(pieces)).toString(), text)
			}
		} finally {
			session.destroy()
			http2.close()
		}
	})

	test('works inside Express', async () => {
		const app = express().use('/api', createServer({ '': Site }, ON).handler)
		const server = createHttpServer(app)
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		try {
			const answer = await ask((server.address() as AddressInfo).port, get('/api/list', 'gzip'))
			assert.is(answer.headers['content-encoding'], 'gzip')
			assert.is(plain(answer), TEXT)
		} finally {
			server.closeAllConnections()
			server.close()
		}
	})
})
