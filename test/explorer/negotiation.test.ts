/** Which clients get a page, and which still get JSON. */
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, reply } from '../../lib/index.ts'
import { prefersHtml } from '../../lib/request/accept.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening } from '../helpers/listening.ts'
import { dataIn, NAVIGATION, open } from './page-of.ts'

class Things extends RestHandler {
	get_thing(id: string) {
		if (id === '0') return this.error('No such thing', 404)
		this.header('ETag', '"7"')
		this.header('Set-Cookie', ['a=1', 'sid=COOKIE=; HttpOnly; Path=/'])
		this.header('Cache-Control', 'max-age=60')
		return { id }
	}
	get_tongue() {
		this.header('Vary', 'Accept-Language')
		return 'sage'
	}
	get_own() {
		return reply(Buffer.from('<p>mine</p>'), { headers: { 'Content-Type': 'text/html' } })
	}
	get_bytes() {
		return Buffer.from('abc')
	}
	get_file() {
		return reply({ a: 1 }, { headers: { 'Content-Disposition': 'attachment; filename=a.json' } })
	}
	get_stream() {
		return Readable.from([Buffer.from('abc')], { objectMode: false })
	}
	get_elsewhere() {
		return reply(null, { status: 302, headers: { Location: '/things/thing/1' } })
	}
	get_unchanged() {
		this.status(304)
	}
	get_crash() {
		throw new Error('the vault is open')
	}
	post_thing() {
		return 'made'
	}
}

const options = { explorer: true, logger: new Log() }
const server = createServer({ things: new Things() }, options)

describe('explorer: who gets a page', (test) => {
	const table: [string | undefined, boolean][] = [
		[NAVIGATION, true],
		['text/html', true],
		['TEXT/HTML', true],
		['text/html;q=0.5', true],
		['text/html, application/json;q=0.9', true],
		['text/html;q=0.4, application/json;q=0.5', false],
		['text/html, application/json', false],
		['text/html, */*', false],
		['text/html;q=0', false],
		['text/html;q=2', false],
		['text/htmlx', false],
		['text/*', false],
		['*/*', false],
		['application/json', false],
		['application/json, text/plain, */*', false],
		['', false],
		[undefined, false],
	]
	for (const [accept, expected] of table) {
		test(`${accept} → ${expected ? 'a page' : 'JSON'}`, async () => {
			assert.is(prefersHtml(accept), expected)
			const headers = accept === undefined ? {} : { Accept: accept }
			const { headers: sent } = await server.inject({ url: '/things/thing/5', headers })
			const type = expected ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8'
			assert.is(sent['content-type'], type)
			assert.is(sent.vary, 'Accept')
		})
	}

	test('without the option every client gets JSON, and nothing varies', async () => {
		const plain = createServer({ things: new Things() })
		const { headers } = await open(plain, '/things/thing/5')
		assert.is(headers['content-type'], 'application/json; charset=utf-8')
		assert.is(headers.vary, undefined)
	})

	test('the option is true or false', () => {
		const wrong = { explorer: 'yes' } as unknown as { explorer: boolean }
		assert.throws(() => createServer({}, wrong), /^createServer: explorer must be true or false, got "yes"$/)
	})

	const untouched: [string, number, string | undefined][] = [
		['own', 200, 'text/html'],
		['bytes', 200, 'application/octet-stream'],
		['file', 200, 'application/json; charset=utf-8'],
		['stream', 200, 'application/octet-stream'],
		['unchanged', 304, undefined],
		['elsewhere', 302, 'application/json; charset=utf-8'],
	]
	for (const [name, status, type] of untouched) {
		test(`responses that are not plain JSON are sent unchanged: ${name}`, async () => {
			const as = await server.inject({ url: `/things/${name}` })
			const reply = await open(server, `/things/${name}`)
			assert.equal([reply.status, reply.headers['content-type']], [status, type])
			assert.is(reply.text(), as.text())
			assert.equal(reply.headers, as.headers)
		})
	}

	const statuses: [string, string, number][] = [
		['a record', '/things/thing/5', 200],
		['a refusal', '/things/thing/0', 404],
		['no such path', '/nothing', 404],
		['a malformed path', '/things/%', 400],
		['another host in disguise', '//example.org/things', 404],
		['a crash', '/things/crash', 500],
	]
	for (const [name, url, status] of statuses) {
		test(`a page has the status of its response: ${name}`, async () => {
			const reply = await open(server, url)
			assert.is(reply.status, status)
			assert.match(String(reply.headers['content-type']), /^text\/html/)
			assert.is(dataIn(reply).answer?.status, status)
			assert.not.match(reply.text(), 'the vault')
		})
	}

	test('other methods are answered with JSON', async () => {
		const reply = await open(server, '/things/thing', {}, 'POST')
		assert.is(reply.text(), '{"success":true,"data":"made"}')
		assert.is(reply.headers.vary, undefined)
	})

	test('problems are pages too, and problem documents for clients that prefer them', async () => {
		const problem = { Accept: 'application/problem+json' }
		const told = await server.inject({ url: '/nothing', headers: problem })
		assert.is(told.headers['content-type'], 'application/problem+json; charset=utf-8')
		const both = { Accept: 'text/html, application/problem+json;q=0.5' }
		const page = await open(server, '/nothing', both)
		assert.match(String(page.headers['content-type']), /^text\/html/)
		assert.match(dataIn(page).answer?.body ?? '', '"type":"about:blank"')
	})
})

describe('explorer: headers', (test) => {
	test('a page allows only its own script and style', async () => {
		const one = await open(server, '/things/thing/5')
		const two = await open(server, '/things/thing/5')
		const policy = String(one.headers['content-security-policy'])
		const [, nonce = ''] = /script-src 'nonce-([^']+)'/.exec(policy) ?? []
		assert.is(Buffer.from(nonce, 'base64').length, 18)
		assert.is(
			policy,
			`default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
		)
		assert.not.match(String(two.headers['content-security-policy']), nonce)
		assert.is(one.text().split(`nonce="${nonce}"`).length, 3)
		assert.not.match(
			one.text(),
			/<script(?! nonce=| type="application\/json")|\son\w+=|\sstyle=|https?:\/\/(?!\[)/,
		)
	})

	test('it is not cached or framed, and sends no referrer', async () => {
		const { headers } = await open(server, '/things/thing/5')
		assert.is(headers['cache-control'], 'no-store')
		assert.is(headers.vary, 'Accept')
		assert.is(headers['x-content-type-options'], 'nosniff')
		assert.is(headers['referrer-policy'], 'no-referrer')
		assert.is(headers['cross-origin-opener-policy'], 'same-origin')
		assert.is(headers['cross-origin-resource-policy'], 'same-origin')
	})

	test('the headers of the JSON are shown, not sent; cookies are', async () => {
		const reply = await open(server, '/things/thing/5')
		assert.is(reply.headers.etag, undefined)
		assert.equal(reply.headers['set-cookie'], ['a=1', 'sid=COOKIE=; HttpOnly; Path=/'])
		assert.not.match(reply.text(), 'COOKIE')
		const shown = new Map(dataIn(reply).answer?.headers)
		assert.is(shown.get('ETag'), '"7"')
		assert.is(shown.get('Set-Cookie'), 'sid=…; HttpOnly; Path=/')
		assert.is(shown.get('Cache-Control'), 'max-age=60')
		assert.is(shown.get('Content-Type'), 'application/json; charset=utf-8')
	})

	test('Content-Length is that of the page', async () => {
		const reply = await open(server, '/things/thing/5')
		assert.is(reply.headers['content-length'], String(reply.body.length))
	})

	test("JSON varies by Accept in addition to the method's own Vary", async () => {
		const { headers } = await server.inject({ url: '/things/tongue' })
		assert.is(headers.vary, 'Accept-Language, Accept')
		assert.is((await open(server, '/things/tongue')).headers.vary, 'Accept-Language, Accept')
	})

	test('HEAD has the headers of a page, and no body', async () => {
		const { status, headers, body } = await open(server, '/things/thing/5', {}, 'HEAD')
		assert.is(status, 200)
		assert.is(headers['content-type'], 'text/html; charset=utf-8')
		assert.is(headers['cache-control'], 'no-store')
		assert.match(String(headers['content-security-policy']), "default-src 'none'")
		assert.is(body.length, 0)
		assert.is((await open(server, '/', {}, 'HEAD')).status, 200)
	})

	test('a 401 keeps its challenge, a 405 its Allow', async () => {
		class Locked extends RestHandler {
			override authenticator = { authenticate: async () => null }
			override access = { get_open: 'anyone', '*': 'user' } as const
			get_open() {}
			post_closed() {}
		}
		const locked = createServer({ locked: new Locked() }, options)
		const refused = await open(locked, '/locked/closed')
		assert.is(refused.status, 405)
		assert.is(refused.headers.allow, 'POST, OPTIONS')
		class Closed extends RestHandler {
			override authenticator = { authenticate: async () => null }
			override access = { '*': 'user' } as const
			get_it() {}
		}
		const closed = await open(createServer({ closed: new Closed() }, options), '/closed/it')
		assert.is(closed.status, 401)
		assert.is(closed.headers['www-authenticate'], 'Bearer')
	})

	test('a page is the same over a socket and by inject', () =>
		listening({ things: new Things() }, { explorer: true }, async ({ url }) => {
			const answer = await fetch(`${url}/things/thing/5`, { headers: { Accept: NAVIGATION } })
			assert.is(answer.status, 200)
			assert.is(answer.headers.get('content-length'), String(Buffer.byteLength(await answer.text())))
			const head = await fetch(`${url}/things/thing/5`, { method: 'HEAD', headers: { Accept: NAVIGATION } })
			assert.is(head.headers.get('content-type'), 'text/html; charset=utf-8')
		}))
})
