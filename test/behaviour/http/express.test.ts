/** `server.handler` in Express 5. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, type ServerOptions } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { ask, connected, requestText } from '../../helpers/raw.ts'

class Blog extends RestHandler {
	override streaming = ['post_upload']

	get_about() {
		return { url: this.request.url, query: this.query }
	}

	post_echo() {
		return { body: this.body ?? 'none' }
	}

	post_body() {
		return [this.body === undefined ? 'none' : this.body]
	}

	post_checked() {
		return this.getParams({ title: ['required', 'string'], age: ['integer'] })
	}

	post_raw() {
		return this.getRawPostData()
	}

	async post_upload() {
		let size = 0
		for await (const chunk of this.request.stream) size += (chunk as Buffer).length
		return size
	}

	get_boom() {
		throw new Error('secret')
	}
}

const JSON_TYPE = 'Content-Type: application/json'

async function inside(
	build: (app: Express, handler: ReturnType<typeof createServer>['handler']) => void,
	use: (port: number) => Promise<void>,
	options: ServerOptions = {},
): Promise<void> {
	const app = express()
	build(app, createServer({ 'blog/api': Blog }, { logger: new Log(), ...options }).handler)
	app.use((_request, response) => {
		response.status(418).send('of Express')
	})
	const server = createHttpServer(app)
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	try {
		await use((server.address() as AddressInfo).port)
	} finally {
		server.closeAllConnections()
		await new Promise((resolve) => server.close(resolve))
	}
}

describe('inside Express', (test) => {
	test('it serves its own paths, and passes others to the next middleware', () =>
		inside(
			(app, handler) => app.use(handler),
			async (port) => {
				const answer = await ask(port, requestText('GET /blog/api/about?a=1'))
				assert.equal(answer.json(), {
					success: true,
					data: { url: '/blog/api/about?a=1', query: { a: '1' } },
				})
				assert.is((await ask(port, requestText('GET /blog/api/nowhere'))).status, 404)
				for (const path of ['/', '/blog', '/shop', '//shop', '/shop//x', '/shop/%ff', '/a#b', '/a\\b']) {
					assert.is((await ask(port, requestText(`GET ${path}`))).status, 418, path)
				}
			},
		))

	test('it refuses malformed requests below its own paths', () =>
		inside(
			(app, handler) => app.use(handler),
			async (port) => {
				assert.is((await ask(port, requestText('GET /blog/api/%ff'))).status, 400)
				assert.is((await ask(port, requestText('GET /blog/api//about'))).status, 404)
			},
		))

	test('mounted under a path, it routes by the rest and reports the full path', () =>
		inside(
			(app, handler) => app.use('/v1', handler),
			async (port) => {
				const answer = await ask(port, requestText('GET /v1/blog/api/about'))
				assert.equal(answer.json(), { success: true, data: { url: '/v1/blog/api/about', query: {} } })
				assert.is((await ask(port, requestText('GET /blog/api/about'))).status, 418)
			},
		))

	test('behind express.json() and express.urlencoded() it uses the parsed body', () =>
		inside(
			(app, handler) => app.use(express.json(), express.urlencoded(), handler),
			async (port) => {
				const echo = async (type: string, body: string) =>
					(await ask(port, requestText('POST /blog/api/echo', [`Content-Type: ${type}`], body))).json()
				assert.equal(await echo('application/json', '{"a":[1]}'), {
					success: true,
					data: { body: { a: [1] } },
				})
				assert.equal(await echo('application/x-www-form-urlencoded', 'a=1&b=2'), {
					success: true,
					data: { body: { a: '1', b: '2' } },
				})
				const none = await ask(port, requestText('POST /blog/api/echo'))
				assert.equal(none.json(), { success: true, data: { body: 'none' } })
			},
		))

	test('form fields parsed by Express are text, and converted by the rules', () =>
		inside(
			(app, handler) => app.use(express.json(), express.urlencoded(), handler),
			async (port) => {
				const type = 'Content-Type: application/x-www-form-urlencoded'
				const answer = await ask(port, requestText('POST /blog/api/checked', [type], 'title=a&age=7'))
				assert.equal(answer.json(), { success: true, data: { title: 'a', age: 7 } })
				const wrong = await ask(port, requestText('POST /blog/api/checked', [JSON_TYPE], '{"age":"7"}'))
				assert.is(wrong.status, 422)
			},
		))

	test('behind express.raw() and express.text() it decodes the body they read', () =>
		inside(
			(app, handler) => app.use(express.raw({ type: 'application/json' }), express.text(), handler),
			async (port) => {
				const answer = await ask(port, requestText('POST /blog/api/echo', [JSON_TYPE], '{"a":1}'))
				assert.equal(answer.json(), { success: true, data: { body: { a: 1 } } })
				const raw = await ask(port, requestText('POST /blog/api/raw', [JSON_TYPE], '[1]'))
				assert.equal(raw.json(), { success: true, data: '[1]' })
				const text = await ask(port, requestText('POST /blog/api/raw', ['Content-Type: text/plain'], 'hello'))
				assert.equal(text.json(), { success: true, data: 'hello' })
				const wrong = await ask(
					port,
					requestText('POST /blog/api/echo', ['Content-Type: text/plain'], 'hello'),
				)
				assert.is(wrong.status, 415)
			},
		))

	test('a body parsed by express.json() gets our checks: reserved keys and depth', () =>
		inside(
			(app, handler) => app.use(express.json(), handler),
			async (port) => {
				const sent = async (body: string) =>
					(await ask(port, requestText('POST /blog/api/echo', [JSON_TYPE], body))).status
				assert.is(await sent('{"__proto__":{"admin":true}}'), 400)
				assert.is(await sent('{"a":[{"constructor":{"prototype":{}}}]}'), 400)
				assert.is(await sent(`${'['.repeat(9_000)}${']'.repeat(9_000)}`), 400)
				assert.is(await sent(`${'['.repeat(64)}${']'.repeat(64)}`), 200)
			},
		))

	test('a streaming method behind express.json() is refused at once, and the log says why', () => {
		const log = new Log()
		return inside(
			(app, handler) => app.use(express.json(), handler),
			async (port) => {
				assert.is((await ask(port, requestText('POST /blog/api/upload', [JSON_TYPE], '{"a":1}'))).status, 500)
				assert.match(String(log.lines[0]?.fields.err), /something in front has read the body/)
				// express.json() leaves the stream of other types, of no body, and of an empty one.
				for (const [lines, body] of [
					[[], 'abc'],
					[[JSON_TYPE], ''],
					[[JSON_TYPE, 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
				] as const) {
					const text = requestText('POST /blog/api/upload', lines, lines.length > 1 ? '' : body)
					const answer = await ask(port, lines.length > 1 ? text + body : text)
					assert.equal(answer.json(), { success: true, data: lines.length === 0 ? 3 : 0 })
				}
			},
			{ logger: log, handlerTimeoutSeconds: 5, logRequests: false },
		)
	})

	test('null, accepted by express.json() with strict off, is a body like any other', () =>
		inside(
			(app, handler) => app.use(express.json({ strict: false }), handler),
			async (port) => {
				const answer = await ask(port, requestText('POST /blog/api/body', [JSON_TYPE], 'null'))
				assert.equal(answer.json(), { success: true, data: [null] })
				const checked = await ask(port, requestText('POST /blog/api/checked', [JSON_TYPE], 'null'))
				assert.is(checked.status, 422)
				const none = await ask(port, requestText('POST /blog/api/body'))
				assert.equal(none.json(), { success: true, data: ['none'] })
			},
		))

	test('asking for the raw bytes of a body parsed by express.json() is 500, and the log says why', () => {
		const logger = new Log()
		return inside(
			(app, handler) => app.use(express.json(), handler),
			async (port) => {
				assert.is((await ask(port, requestText('POST /blog/api/raw', [JSON_TYPE], '[1]'))).status, 500)
				assert.match(String(logger.lines[0]?.fields.err), 'mount Verbena before it')
			},
			{ logger },
		)
	})

	test('in front of express.json() it reads and streams bodies itself', () =>
		inside(
			(app, handler) => app.use(handler, express.json()),
			async (port) => {
				const answer = await ask(port, requestText('POST /blog/api/echo', [JSON_TYPE], '{"a":1}'))
				assert.equal(answer.json(), { success: true, data: { body: { a: 1 } } })
				const malformed = await ask(port, requestText('POST /blog/api/echo', [JSON_TYPE], '{'))
				assert.is(malformed.status, 400)
				assert.is((malformed.json() as { success: boolean }).success, false)
				const upload = await ask(port, requestText('POST /blog/api/upload', [], 'a'.repeat(100_000)))
				assert.equal(upload.json(), { success: true, data: 100_000 })
			},
		))

	test('an error is answered by Verbena, and not passed to Express', () =>
		inside(
			(app, handler) => app.use(handler),
			async (port) => {
				const answer = await ask(port, requestText('GET /blog/api/boom'))
				assert.is(answer.status, 500)
				assert.not.match(answer.body.toString(), 'secret')
			},
		))

	test('two Host headers are refused, and a large body is refused early', () =>
		inside(
			(app, handler) => app.use(handler),
			(port) =>
				connected(port, async (client) => {
					await client.send(requestText('GET /blog/api/about', ['Host: b']))
					assert.is((await client.response()).status, 400)
					const large = ['Content-Length: 2000000', JSON_TYPE]
					assert.is((await ask(port, requestText('POST /blog/api/echo', large))).status, 413)
				}),
		))

	test('1,000 header lines are refused, as node silently drops any further ones', () =>
		inside(
			(app, handler) => app.use(handler),
			async (port) => {
				const lines = (count: number) => Array.from({ length: count }, (_, at) => `a${at}: 1`)
				assert.is((await ask(port, requestText('GET /blog/api/about', lines(998)))).status, 200)
				assert.is((await ask(port, requestText('GET /blog/api/about', lines(999)))).status, 431)
				assert.is((await ask(port, requestText('GET /blog/api/about', lines(3_000)))).status, 431)
			},
		))
})
