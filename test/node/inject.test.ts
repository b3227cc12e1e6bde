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

	async *get_late() {
		try {
			await sleep(150)
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
	{ url: 'http://other.example/article/5' },
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

/** What only a connection has. */
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

	const BODIES: [name: string, body: unknown, echoed: unknown][] = [
		['an object', { a: 1 }, { body: { a: 1 }, type: 'application/json' }],
		['a list', [1, 'ä'], { body: [1, 'ä'], type: 'application/json' }],
		['a number', 5, { body: 5, type: 'application/json' }],
		['null', null, { body: 'none', type: 'application/json' }],
		['nothing', undefined, { body: 'none', type: 'none' }],
	]
	for (const [name, body, echoed] of BODIES) {
		test(`${name} is sent as JSON, if it is anything`, async () => {
			const answer = await site().inject({ method: 'POST', url: '/echo', body })
			assert.equal(answer.json(), { success: true, data: echoed })
		})
	}

	for (const [name, body] of [
		['text', 'ab'],
		['a Buffer', Buffer.from('ab')],
		['a Uint8Array', new Uint8Array([97, 98])],
	] as const) {
		test(`${name} is sent as it is`, async () => {
			const answer = await site().inject({ method: 'PUT', url: '/echo', body })
			assert.equal(answer.json(), { success: true, data: 'ab' })
		})
	}

	test('a body takes the content type that is given', async () => {
		const headers = { 'content-type': 'application/problem+json' }
		const answer = await site().inject({ method: 'POST', url: '/echo', headers, body: { a: 1 } })
		assert.equal(answer.json(), { success: true, data: { body: { a: 1 }, type: 'application/problem+json' } })
	})

	test('tells who asks: 127.0.0.1 for localhost, if nothing else is said', async () => {
		const facts = { ip: '127.0.0.1', host: 'localhost', protocol: 'http', cookie: '', accept: '' }
		assert.equal((await site().inject({ url: '/facts' })).json(), { success: true, data: facts })
		const headers = { Host: 'a.example', Cookie: ['a=1', 'b=2'], Accept: ['a/b', 'c/d'] }
		const other = await site().inject({ url: '/facts', headers, remoteAddress: '::1' })
		const said = { ip: '::1', host: 'a.example', protocol: 'http', cookie: 'a=1; b=2', accept: 'a/b, c/d' }
		assert.equal(other.json(), { success: true, data: said })
	})

	test('gives headers by lower-case name, and repeated ones as a list', async () => {
		const { headers } = await site().inject({ method: 'POST', url: '/made' })
		assert.is(headers.location, '/article/1')
		assert.equal(headers['set-cookie'], ['a=1', 'b=2'])
		assert.is(Object.getPrototypeOf(headers), null)
	})

	test('gives the body as bytes, text and JSON', async () => {
		const answer = await site().inject({ url: '/records' })
		assert.equal(answer.json(), { success: true, data: [{ id: 1 }, { id: 'ä' }] })
		assert.is(answer.text(), '{"success":true,"data":[{"id":1},{"id":"ä"}]}')
		assert.equal((await site().inject({ url: '/bytes' })).body, Buffer.from([0, 1, 255]))
	})

	test('rejects where a connection would be cut', async () => {
		try {
			await site().inject({ url: '/broken' })
		} catch (error) {
			assert.is((error as Error).message, 'cursor lost')
			return
		}
		assert.unreachable()
	})

	test('answers 503 when the time is over, and closes what comes later', async () => {
		const handler = new Site()
		const server = createServer({ '': handler }, { handlerTimeout: 40, logger: new Log() })
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

	test('a thousand at once are answered each by itself', async () => {
		const server = site()
		const ids = Array.from({ length: 1_000 }, (_, id) => id)
		const answers = await Promise.all(ids.map((id) => server.inject({ url: `/article/${id}` })))
		for (const [id, answer] of answers.entries()) {
			assert.equal(answer.json(), { success: true, data: { id: String(id), query: {} } })
		}
	})
})

function site() {
	return createServer({ '': Site }, { logger: new Log() })
}

function textOf({ method = 'GET', url, headers = {}, body = '' }: InjectedRequest): Buffer {
	const bytes = Buffer.from(String(body))
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
	if (bytes.length > 0) lines.push(`Content-Length: ${bytes.length}`)
	const head = [`${method} ${url} HTTP/1.1`, 'Host: localhost', ...lines, 'Connection: close']
	return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes])
}

function withoutId(text: string): string {
	return text.replace(/"requestId":"[^"]+"/, '"requestId":""')
}

/** Headers that both have, and how many there are that only a connection should have. */
function linesOf(headers: Readonly<Record<string, string | readonly string[]>>) {
	const all = Object.entries(headers).map(
		([name, value]) => [name, String(value).replaceAll(', ', ',')] as const,
	)
	const lines = Object.fromEntries(all.filter(([name]) => !OF_THE_WIRE.has(name)))
	return { lines, rest: all.length - Object.keys(lines).length }
}
