/** `server.on('request')` and `server.on('error')`. */
import { once } from 'node:events'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import {
	createServer,
	type FailedRequest,
	RestError,
	RestHandler,
	type ServedRequest,
	type Server,
} from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening, until } from '../helpers/listening.ts'

const CAUSE = new Error('secret')

class Blog extends RestHandler {
	get_article(id: string) {
		return id
	}

	get_broken() {
		throw CAUSE
	}

	get_busy() {
		throw new RestError('unavailable', 'Later')
	}

	get_conflict() {
		throw new RestError('conflict')
	}

	get_unmade() {
		throw new RestError(501, 'Not yet')
	}

	get_cut() {
		return Readable.from(cut())
	}

	async get_slow() {
		await once(this.request.signal, 'abort')
	}

	async get_late() {
		await new Promise(() => {})
	}
}

async function* cut() {
	yield Buffer.alloc(10)
	await new Promise((resolve) => setImmediate(resolve))
	throw CAUSE
}

class Quiet extends Blog {
	override suppressOutput = true
}

/** What was told of by a server. */
function heard(server: Server): { readonly requests: ServedRequest[]; readonly errors: FailedRequest[] } {
	const requests: ServedRequest[] = []
	const errors: FailedRequest[] = []
	server
		.on('request', (served) => void requests.push(served))
		.on('error', (failed) => void errors.push(failed))
	return { requests, errors }
}

describe('events of a server', (test) => {
	test('request: has the request, the user and the result', () =>
		listening({ blog: new Blog() }, {}, async ({ server, url, log }) => {
			const { requests, errors } = heard(server)
			await (await fetch(`${url}/blog/article/5?a=1`)).text()
			await until(() => requests.length === 1, 'it is told')
			const { requestId, durationMs, ...others } = (requests[0] ?? {}) as ServedRequest
			assert.match(requestId, /^[\da-f-]{36}$/)
			assert.ok(durationMs > 0)
			assert.equal(others, {
				...{ method: 'GET', url: '/blog/article/5', handler: 'Blog', action: 'get_article' },
				...{ route: '/blog/article/{id}', status: 200, bytes: 27, ip: '127.0.0.1' },
			})
			assert.equal(errors, [])
			assert.equal(log.lines, [])
		}))

	const FAILURES: [path: string, status: number, error: string | undefined][] = [
		['broken', 500, 'Error: secret'],
		['busy', 503, 'RestError: Later'],
		['cut', 200, 'Error: secret'],
		['late', 503, 'RestError: The answer took too long'],
		['conflict', 409, undefined],
		['unmade', 501, undefined],
		['nowhere', 404, undefined],
	]
	/** For the one that is late alone: the others would be so where they are held up. */
	const SHORT = { handlerTimeoutSeconds: 0.05 }
	for (const [path, status, error] of FAILURES) {
		test(`${path} is ${status}, and ${error === undefined ? 'no error' : `the error ${error}`}`, () =>
			listening({ blog: new Blog() }, path === 'late' ? SHORT : {}, async ({ server, url }) => {
				const { requests, errors } = heard(server)
				await fetch(`${url}/blog/${path}`)
					.then((response) => response.text())
					.catch(() => {})
				await until(() => requests.length === 1, 'it is told')
				assert.is(requests[0]?.status, status)
				assert.equal(
					errors.map((failed) => [failed.url, String(failed.error)]),
					error === undefined ? [] : [[`/blog/${path}`, error]],
				)
				if (error !== undefined) assert.is(errors[0]?.requestId, requests[0]?.requestId)
			}))
	}

	test('an error nobody listens for has no effect', () =>
		listening({ blog: new Blog() }, {}, async ({ server, url }) => {
			server.on('request', () => {})
			assert.is((await fetch(`${url}/blog/broken`)).status, 500)
			assert.is((await fetch(`${url}/blog/article/1`)).status, 200)
		}))

	test('errors of a handler with suppressOutput are emitted too', async () => {
		const server = createServer({ quiet: new Quiet() }, { logger: new Log() })
		const { requests, errors } = heard(server)
		await server.inject({ url: '/quiet/broken' })
		assert.equal([requests.length, errors.length], [1, 1])
	})

	test('a client that disconnects is reported once', () =>
		listening({ blog: new Blog() }, {}, async ({ server, url, log }) => {
			const { requests } = heard(server)
			const asked = request(`${url}/blog/slow`).end()
			asked.on('error', () => {})
			const [socket] = await once(server.server, 'connection')
			await until(() => socket.bytesRead > 0, 'it has come')
			asked.destroy()
			await until(() => requests.length > 0, 'it is told')
			await (await fetch(`${url}/blog/article/1`)).text()
			await until(() => requests.length > 1, 'the next is told')
			assert.equal(
				requests.map(({ aborted, status }) => [aborted, status]),
				[
					[true, undefined],
					[undefined, 200],
				],
			)
			assert.equal(log.messages, [])
		}))

	test('an error thrown or rejected by a listener is logged, and the others are called', async () => {
		const log = new Log()
		const server = createServer({ blog: new Blog() }, { logger: log, logRequests: false })
		const called: string[] = []
		server
			.on('request', () => {
				throw new Error('sync')
			})
			.on('request', async () => {
				throw new Error('async')
			})
			.on('request', () => ({
				// biome-ignore lint/suspicious/noThenProperty: query builders are such
				then: (_: unknown, refuse: (error: Error) => void) => refuse(new Error('then')),
			}))
			.on('request', () => void called.push('last'))
		assert.is((await server.inject({ url: '/blog/article/1' })).status, 200)
		await new Promise((resolve) => setImmediate(resolve))
		assert.equal(called, ['last'])
		assert.equal(
			log.lines.map(({ message, fields }) => [message, fields.event, String(fields.err)]),
			[
				['a listener of the server has failed', 'request', 'Error: sync'],
				['a listener of the server has failed', 'request', 'Error: then'],
				['a listener of the server has failed', 'request', 'Error: async'],
			],
		)
	})

	test('once() listens for one event, and off() removes a listener', async () => {
		const server = createServer({ blog: new Blog() })
		const called: string[] = []
		const first = (): void => void called.push('first')
		server.once('request', () => void called.push('once')).on('request', first)
		await server.inject({ url: '/blog/article/1' })
		await server.inject({ url: '/blog/article/1' })
		assert.equal(called, ['once', 'first', 'first'])
		server.off('request', first).off('request', first)
		await server.inject({ url: '/blog/article/1' })
		assert.is(called.length, 3)
	})

	test('a listener removed during an event is not called, and a nested event calls once() listeners once', async () => {
		const server = createServer({ blog: new Blog() }, { logger: new Log(), logRequests: false })
		const called: string[] = []
		const removed = (): void => void called.push('removed')
		const inner: Promise<unknown>[] = []
		let isWithin = false
		server
			.on('error', () => {
				server.off('error', removed)
				if (isWithin) return
				isWithin = true
				inner.push(server.inject({ url: '/blog/broken' }))
			})
			.on('error', removed)
			.once('error', () => void called.push('once'))
		await server.inject({ url: '/blog/broken' })
		await Promise.all(inner)
		assert.equal(called, ['once'])
	})

	test('unknown events, and listeners that are not functions, are refused', () => {
		const server = createServer({})
		// Whatever the types say: most users write JavaScript.
		const on = server.on.bind(server) as (event: string, listener: unknown) => unknown
		assert.match(
			messageOf(() => on('close', () => {})),
			'a server has no event "close": there are request, error',
		)
		assert.match(
			messageOf(() => on('request', undefined)),
			'a listener must be a function, got undefined',
		)
	})

	test('types: the payload depends on the event', () => {
		const use = (server: Server) => {
			server.on('request', ({ status, durationMs }) => [status?.toFixed(), durationMs.toFixed()])
			server.on('error', ({ error, url }) => [error, url.length])
			// @ts-expect-error the event `request` has no error
			server.on('request', ({ error }) => error)
			// @ts-expect-error there is no such event
			server.on('close', () => {})
			// @ts-expect-error what was thrown is unknown
			server.on('error', ({ error }) => error.message)
		}
		assert.type(use, 'function')
	})
})
