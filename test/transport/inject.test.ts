import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createServer, type InjectedRequest, RestHandler, reply } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening, until } from '../helpers/listening.ts'
import { ask } from '../helpers/raw.ts'

class Site extends RestHandler {
	override streaming = ['post_stream']
	override customRoutes = { 'GET page/%d': 'page' }
	override access = { get_vault: 'user' }
	override authenticator = { authenticate: () => null }
	readonly events: string[] = []

	get_article(id?: string) {
		return { id, query: this.query }
	}

	page(number: number) {
		return number
	}

	get_vault() {
		return 'vault'
	}

	post_echo() {
		return { body: this.body ?? 'none', type: this.request.header('content-type') ?? 'none' }
	}

	put_echo() {
		return this.getRawPostData()
	}

	post_made() {
		return reply(
			{ id: 1 },
			{ status: 201, headers: { Location: '/article/1', 'Set-Cookie': ['a=1', 'b=2'] } },
		)
	}

	async post_stream() {
		let text = ''
		for await (const chunk of this.request.stream) text += String(chunk)
		return text
	}

	get_bytes() {
		return Buffer.from([0, 1, 255])
	}

	get_text() {
		return Readable.from(['of ', 'pieces'], { objectMode: false })
	}

	async *get_records() {
		yield { id: 1 }
		yield { id: 'ä' }
	}

	get_boom() {
		throw new Error('secret')
	}

	async *get_broken() {
		yield 'a'.repeat(20_000)
		throw new Error('cursor lost')
	}

	get_facts() {
		const { ip, host, protocol, headers } = this.request
		return { ip, host, protocol, cookie: headers.cookie ?? '', accept: headers.accept ?? '' }
	}

	/** Yields its first record only after the timeout. */
	async *get_late() {
		const { signal } = this.request
		try {
			await new Promise((resolve) => signal.addEventListener('abort', resolve))
			yield 1
		} finally {
			this.events.push('closed')
		}
	}
}

/** Text bodies only, so that they can be written out for the socket as well. */
const REQUESTS: InjectedRequest[] = [
	{ url: '/article/5?a=1&a=2' },
	{ url: '/article/%C3%A4' },
	{ url: '/article/%ff' },
	{ url: '/article//5' },
	{ url: '/nowhere' },
	{ url: '/page/7' },
	{ url: '/page/seven' },
	{ url: 'http://other.localhost/article/5' },
	{ url: '/vault' },
	{ url: '/boom' },
	{ url: '/bytes' },
	{ url: '/text' },
	{ url: '/records' },
	{ url: '/nowhere', headers: { Accept: 'application/problem+json' } },
	{ method: 'HEAD', url: '/article/5' },
	{ method: 'OPTIONS', url: '/article/5' },
	{ method: 'OPTIONS', url: '*' },
	{ method: 'DELETE', url: '/article/5' },
	{ method: 'TRACE', url: '/article/5' },
	{ method: 'POST', url: '/made' },
	{ method: 'POST', url: '/echo' },
	{ method: 'POST', url: '/echo', headers: { 'Content-Type': 'application/json' }, body: '{"a":"ä"}' },
	{ method: 'POST', url: '/echo', headers: { 'Content-Type': 'application/json' }, body: '{' },
	{ method: 'POST', url: '/echo', headers: { 'Content-Type': 'text/csv' }, body: 'a,b' },
	{ method: 'POST', url: '/echo', body: 'of no type' },
	{
		method: 'POST',
		url: '/echo',
		headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
		body: 'a=1',
	},
	{ method: 'POST', url: '/echo', headers: { 'X-HTTP-Method-Override': 'PUT' }, body: 'raw' },
	{ method: 'POST', url: '/echo', headers: { 'X-HTTP-Method-Override': 'GET' } },
	{ method: 'POST', url: '/stream', body: 'a'.repeat(100_000) },
	{ method: 'PUT', url: '/echo', body: 'a'.repeat(2_000_000) },
]

/** Requests that `Vetting` refuses, and some that just pass. */
const VETTED: [what: string, request: InjectedRequest, status: number][] = [
	['a Host with a space', { url: '/facts', headers: { Host: 'a b/c@d' } }, 400],
	['an empty Host', { url: '/facts', headers: { Host: '' } }, 400],
	['no Host', { url: '/facts', headers: { Host: [] } }, 400],
	['two Hosts', { url: '/facts', headers: { Host: ['a', 'b'] } }, 400],
	['the same Host twice', { url: '/facts', headers: { Host: 'a', host: 'a' } }, 400],
	['a Host with a port', { url: '/facts', headers: { host: 'a.localhost:80' } }, 200],
	['a long URL', { url: `/article/${'a'.repeat(16_375)}` }, 200],
	['a longer URL', { url: `/article/${'a'.repeat(16_376)}` }, 414],
	['a URL of 17,000 characters', { url: `/${'a'.repeat(16_999)}` }, 414],
	['1,000 header lines', { url: '/article', headers: linesUpTo(1_000) }, 200],
	['1,001 header lines', { url: '/article', headers: linesUpTo(1_001) }, 431],
	['1,001 header lines of one name', { url: '/article', headers: { ...linesUpTo(2), a: ones(999) } }, 431],
	['a coding', { method: 'POST', url: '/echo', headers: { 'Transfer-Encoding': 'gzip, chunked' } }, 501],
	['codings', { method: 'POST', url: '/echo', headers: { 'Transfer-Encoding': ['gzip', 'chunked'] } }, 501],
	['an expectation', { url: '/article', headers: { Expect: 'x' } }, 417],
	['an empty expectation', { url: '/article', headers: { expect: '' } }, 417],
	['100-continue', { url: '/article', headers: { Expect: '100-Continue' } }, 200],
	['100-continue twice', { url: '/article', headers: { Expect: ['100-continue', '100-continue,'] } }, 200],
	['100-continue and another', { url: '/article', headers: { Expect: '100-continue, gold' } }, 417],
	['an expectation that ends like it', { url: '/article', headers: { Expect: 'x-100-continue' } }, 417],
	['an expectation and a wrong Host', { url: '/facts', headers: { Expect: 'x', Host: 'a b' } }, 417],
	['HEAD and a wrong Host', { method: 'HEAD', url: '/facts', headers: { Host: 'a b' } }, 400],
]

/** Headers that only a connection has. */
const OF_THE_WIRE = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

describe('inject', (test) => {
	for (const request of REQUESTS) {
		const { method = 'GET', url, headers, body = '' } = request
		const what = `${method} ${url} ${JSON.stringify(headers ?? {})} ${String(body).slice(0, 20)}`
		test(`answers as over a socket: ${what}`, () =>
			listening({ '': Site }, {}, async ({ port, server }) => {
				const injected = await server.inject(request)
				const sent = await ask(port, textOf(request), method)
				assert.is(injected.status, sent.status)
				assert.equal(withoutId(injected.body.toString()), withoutId(sent.body.toString()))
				const { lines, rest } = linesOf(injected.headers)
				assert.equal(lines, linesOf(sent.headers).lines)
				assert.is(rest, 0, 'nothing of the wire')
			}))
	}

	for (const [what, request, status] of VETTED) {
		test(`${what} → ${status}, as over a socket`, () =>
			listening({ '': Site }, {}, async ({ port, server }) => {
				const injected = await server.inject(request)
				const sent = await ask(port, textOf(request), request.method)
				assert.is(injected.status, status)
				assert.is(sent.status, status)
				assert.equal(withoutId(injected.body.toString()), withoutId(sent.body.toString()))
				assert.equal(linesOf(injected.headers).lines, linesOf(sent.headers).lines)
			}))
	}

	test('a refused request reaches no handler, also when the server is closed', async () => {
		const server = site()
		await server.close()
		assert.is((await server.inject({ url: '/article', headers: { Host: 'a b' } })).status, 400)
		assert.is((await server.inject({ url: '/article' })).status, 503)
		const head = await server.inject({ method: 'HEAD', url: '/article' })
		assert.equal([head.status, head.text()], [503, ''])
	})

	test('a header given in two cases is sent as two lines', async () => {
		const answer = await site().inject({ url: '/facts', headers: { Accept: 'a/b', accept: 'c/d' } })
		assert.is((answer.json() as { data: { accept: string } }).data.accept, 'a/b, c/d')
	})

	const BODIES: [name: string, body: unknown, echoed: unknown][] = [
		['an object', { a: 1 }, { body: { a: 1 }, type: 'application/json' }],
		['a list', [1, 'ä'], { body: [1, 'ä'], type: 'application/json' }],
		['a number', 5, { body: 5, type: 'application/json' }],
		['null', null, { body: 'none', type: 'application/json' }],
		['nothing', undefined, { body: 'none', type: 'none' }],
	]
	for (const [name, body, echoed] of BODIES) {
		test(`${name} is sent as JSON, unless it is undefined`, async () => {
			const answer = await site().inject({ method: 'POST', url: '/echo', body })
			assert.equal(answer.json(), { success: true, data: echoed })
		})
	}

	for (const [name, body] of [
		['text', 'ab'],
		['a Buffer', Buffer.from('ab')],
		['a Uint8Array', new Uint8Array([97, 98])],
	] as const) {
		test(`${name} is sent unchanged`, async () => {
			const answer = await site().inject({ method: 'PUT', url: '/echo', body })
			assert.equal(answer.json(), { success: true, data: 'ab' })
		})
	}

	test('a given content type is used for the body', async () => {
		const headers = { 'content-type': 'application/problem+json' }
		const answer = await site().inject({ method: 'POST', url: '/echo', headers, body: { a: 1 } })
		assert.equal(answer.json(), { success: true, data: { body: { a: 1 }, type: 'application/problem+json' } })
	})

	test('by default the address is 127.0.0.1 and the host localhost', async () => {
		const facts = { ip: '127.0.0.1', host: 'localhost', protocol: 'http', cookie: '', accept: '' }
		assert.equal((await site().inject({ url: '/facts' })).json(), { success: true, data: facts })
		const headers = { Host: 'a.example', Cookie: ['a=1', 'b=2'], Accept: ['a/b', 'c/d'] }
		const other = await site().inject({ url: '/facts', headers, remoteAddress: '::1' })
		const said = { ip: '::1', host: 'a.example', protocol: 'http', cookie: 'a=1; b=2', accept: 'a/b, c/d' }
		assert.equal(other.json(), { success: true, data: said })
	})

	test('returns headers by lower-case name, and repeated ones as a list', async () => {
		const { headers } = await site().inject({ method: 'POST', url: '/made' })
		assert.is(headers.location, '/article/1')
		assert.equal(headers['set-cookie'], ['a=1', 'b=2'])
		assert.is(Object.getPrototypeOf(headers), null)
	})

	test('returns the body as bytes, text and JSON', async () => {
		const answer = await site().inject({ url: '/records' })
		assert.equal(answer.json(), { success: true, data: [{ id: 1 }, { id: 'ä' }] })
		assert.is(answer.text(), '{"success":true,"data":[{"id":1},{"id":"ä"}]}')
		assert.equal((await site().inject({ url: '/bytes' })).body, Buffer.from([0, 1, 255]))
	})

	test('rejects where a connection would be cut off', async () => {
		try {
			await site().inject({ url: '/broken' })
		} catch (error) {
			assert.is((error as Error).message, 'cursor lost')
			return
		}
		assert.unreachable()
	})

	test('answers 503 when the timeout is over, and closes a late stream', async () => {
		const handler = new Site()
		const server = createServer({ '': handler }, { handlerTimeoutSeconds: 0.04, logger: new Log() })
		assert.is((await server.inject({ url: '/late' })).status, 503)
		await until(() => handler.events.length === 1, 'the end of the source')
	})

	test('waits for init', async () => {
		class Slow extends Site {
			override async init() {
				await sleep(20)
			}
		}
		const server = createServer({ '': new Slow() })
		assert.is((await server.inject({ url: '/article' })).status, 200)
	})

	test('each of a thousand concurrent requests gets its own answer', async () => {
		const server = site()
		const ids = Array.from({ length: 1_000 }, (_, id) => id)
		const answers = await Promise.all(ids.map((id) => server.inject({ url: `/article/${id}` })))
		for (const [id, answer] of answers.entries()) {
			assert.equal(answer.json(), { success: true, data: { id: String(id), query: {} } })
		}
	})
})

/** That many lines in all, two of which any request over a socket has. */
function linesUpTo(count: number): Record<string, string> {
	const others = ones(count - 2).map((value, at) => [`a${at}`, value])
	return { Host: 'localhost', Connection: 'close', ...Object.fromEntries(others) }
}

function ones(count: number): string[] {
	return Array.from({ length: count }, () => '1')
}

function site() {
	return createServer({ '': Site }, { logger: new Log() })
}

function textOf({ method = 'GET', url, headers = {}, body = '' }: InjectedRequest): Buffer {
	const bytes = Buffer.from(String(body))
	const lines = Object.entries(headers).flatMap(([name, value]) =>
		[value].flat().map((one) => `${name}: ${one}`),
	)
	if (bytes.length > 0) lines.push(`Content-Length: ${bytes.length}`)
	if (!('Host' in headers || 'host' in headers)) lines.unshift('Host: localhost')
	if (!('Connection' in headers)) lines.push('Connection: close')
	const head = [`${method} ${url} HTTP/1.1`, ...lines]
	return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes])
}

function withoutId(text: string): string {
	return text.replace(/"requestId":"[^"]+"/, '"requestId":""')
}

/** The common headers, and how many only the connection has. */
function linesOf(headers: Readonly<Record<string, string | readonly string[]>>) {
	const all = Object.entries(headers).map(
		([name, value]) => [name, String(value).replaceAll(', ', ',')] as const,
	)
	const lines = Object.fromEntries(all.filter(([name]) => !OF_THE_WIRE.has(name)))
	return { lines, rest: all.length - Object.keys(lines).length }
}
