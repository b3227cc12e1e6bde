/**
 * `server.handler` in Fastify 5: in a scope without Fastify's parsers, so that Verbena reads bodies; and behind these parsers,
 * whose result it uses.
 */
import type { AddressInfo } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import * as assert from 'uvu/assert'
import { createServer, type Listener, RestHandler } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { ask, connected, requestText } from '../../helpers/raw.ts'

class Blog extends RestHandler {
	override streaming = ['post_upload']

	get_about() {
		return this.request.url
	}

	post_echo() {
		return this.body
	}

	async post_upload() {
		let size = 0
		for await (const chunk of this.request.stream) size += (chunk as Buffer).length
		return size
	}

	async *get_records() {
		yield 1
		yield 2
	}
}

const JSON_TYPE = 'Content-Type: application/json'

/** Verbena as a plugin: it reads the bodies itself. */
function plugin(handler: Listener) {
	return async (scope: FastifyInstance): Promise<void> => {
		scope.removeAllContentTypeParsers()
		scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
		scope.all('/*', (request, reply) => {
			reply.hijack()
			handler(request.raw, reply.raw)
		})
	}
}

/** Verbena behind Fastify's own parsers. */
function parsed(handler: Listener) {
	return async (scope: FastifyInstance): Promise<void> => {
		scope.all('/*', (request, reply) => {
			reply.hijack()
			handler(Object.assign(request.raw, { body: request.body }), reply.raw)
		})
	}
}

async function inside(
	make: (handler: Listener) => (scope: FastifyInstance) => Promise<void>,
	use: (port: number) => Promise<void>,
): Promise<void> {
	const app = fastify()
	const { handler } = createServer({ 'blog/api': Blog }, { logger: new Log() })
	app.get('/health', () => 'of Fastify')
	app.post('/json', (request) => request.body)
	await app.register(make(handler), { prefix: '/blog' })
	await app.listen({ port: 0, host: '127.0.0.1' })
	try {
		await use((app.server.address() as AddressInfo).port)
	} finally {
		app.server.closeAllConnections()
		await app.close()
	}
}

describe('inside Fastify', (test) => {
	test('it serves its prefix, and Fastify the rest', () =>
		inside(plugin, async (port) => {
			const answer = await ask(port, requestText('GET /blog/api/about?a=1'))
			assert.equal(answer.json(), { success: true, data: '/blog/api/about?a=1' })
			assert.is((await ask(port, requestText('GET /health'))).body.toString(), 'of Fastify')
			assert.equal((await ask(port, requestText('POST /json', [JSON_TYPE], '[1]'))).json(), [1])
			assert.is((await ask(port, requestText('GET /blog/api/nowhere'))).status, 404)
			assert.is((await ask(port, requestText('HEAD /blog/api/about'), 'HEAD')).status, 200)
		}))

	test('it reads bodies itself, of any type and size', () =>
		inside(plugin, (port) =>
			connected(port, async (client) => {
				await client.send(requestText('POST /blog/api/echo', [JSON_TYPE], '{"a":1}'))
				assert.equal((await client.response()).json(), { success: true, data: { a: 1 } })
				await client.send(requestText('POST /blog/api/echo', [JSON_TYPE], '{'))
				assert.is((await client.response()).status, 400)
				await client.send(requestText('POST /blog/api/echo', ['Content-Type: text/csv'], 'a,b'))
				assert.is((await client.response()).status, 415)
				await client.send(requestText('POST /blog/api/upload', ['Content-Type: a/b'], 'a'.repeat(3_000_000)))
				assert.equal((await client.response()).json(), { success: true, data: 3_000_000 })
				await client.send(requestText('POST /blog/api/echo'))
				assert.equal((await client.response()).json(), { success: true, data: null })
			}),
		))

	test('it streams records', () =>
		inside(plugin, async (port) => {
			const answer = await ask(port, requestText('GET /blog/api/records'))
			assert.equal(answer.json(), { success: true, data: [1, 2] })
		}))

	test('it uses a body that Fastify has parsed', () =>
		inside(parsed, async (port) => {
			const answer = await ask(port, requestText('POST /blog/api/echo', [JSON_TYPE], '{"a":1}'))
			assert.equal(answer.json(), { success: true, data: { a: 1 } })
			const text = await ask(port, requestText('POST /blog/api/echo', ['Content-Type: text/plain'], 'hello'))
			assert.is(text.status, 415)
			assert.equal((await ask(port, requestText('GET /blog/api/about'))).status, 200)
		}))
})
