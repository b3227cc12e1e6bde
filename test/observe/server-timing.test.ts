/** The option `serverTiming`. */
import * as assert from 'uvu/assert'
import { createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

class Open extends RestHandler {
	get_sync() {
		return 1
	}

	async get_async() {
		return 1
	}

	get_own() {
		this.header('Server-Timing', 'db;dur=5')
		return 1
	}

	async *get_stream() {
		yield 1
	}

	get_broken() {
		throw new Error('x')
	}

	post_body() {
		return this.body
	}
}

class Guarded extends Open {
	override access = { post_body: 'user', get_sync: 'anyone' } as const
	override authenticator = {
		authenticate: async (request: { header(name: string): string | undefined }) =>
			request.header('authorization') === undefined ? null : { id: 'ada' },
	}
}

const LIMITS = { '*': { limit: 1_000, windowSeconds: 60 } }

class Around extends Guarded {
	override rateLimits = LIMITS
	override before() {}
}

/** No credentials, but a limit. */
class Counted extends Open {
	override rateLimits = LIMITS
	override after() {}
}

/** The names of the metrics; every one has a duration of its own. */
function metrics(header: string | null): string[] {
	return (header ?? '').split(', ').map((metric) => {
		const [, name = '', duration] = /^(\w+);dur=(\d+(?:\.\d{1,3})?)$/.exec(metric) ?? []
		assert.ok(duration !== undefined, `${JSON.stringify(header)} is no list of metrics`)
		return name
	})
}

describe('Server-Timing', (test) => {
	test('is off by default', () =>
		listening({ open: new Open() }, {}, async ({ url }) => {
			assert.is((await fetch(`${url}/open/sync`)).headers.get('server-timing'), null)
		}))

	const CASES: [call: string, names: string[]][] = [
		['GET /open/sync', ['total', 'handler', 'reply']],
		['GET /open/async', ['total', 'handler', 'reply']],
		['GET /open/stream', ['total', 'handler', 'reply']],
		['GET /open/broken', ['total', 'handler']],
		['POST /open/body', ['total', 'body', 'handler', 'reply']],
		['GET /guarded/sync', ['total', 'auth', 'handler', 'reply']],
		['POST /guarded/body', ['total', 'auth', 'body', 'handler', 'reply']],
		['POST /guarded/body as nobody', ['total', 'auth']],
		['GET /around/sync', ['total', 'auth', 'before', 'handler', 'reply']],
		['POST /around/body', ['total', 'auth', 'before', 'body', 'idempotency', 'handler', 'reply']],
		['GET /counted/sync', ['total', 'auth', 'handler', 'reply']],
		['GET /nowhere', ['total']],
	]
	const HANDLERS = { open: Open, guarded: Guarded, around: Around, counted: Counted }
	for (const [call, names] of CASES) {
		test(`${call}: ${names.join(', ')}`, () =>
			listening(HANDLERS, { serverTiming: true }, async ({ url }) => {
				const [method = '', path, as] = call.split(' ')
				const headers: Record<string, string> = { 'Content-Type': 'application/json' }
				if (path === '/around/body') headers['Idempotency-Key'] = '"k1"'
				if (as === undefined) headers.Authorization = 'Bearer x'
				// Over what comes with the head, so that it is waited for.
				const body = method === 'POST' ? JSON.stringify('x'.repeat(300_000)) : null
				const response = await fetch(`${url}${path}`, { method, headers, body })
				await response.text()
				assert.equal(metrics(response.headers.get('server-timing')), names)
			}))
	}

	test('no step takes longer than the total', async () => {
		const server = createServer({ open: new Open() }, { serverTiming: true })
		const { headers } = await server.inject({ url: '/open/async' })
		const [total = 0, ...steps] = [...String(headers['server-timing']).matchAll(/dur=([\d.]+)/g)].map(
			([, time]) => Number(time),
		)
		assert.is(steps.length, 2)
		assert.ok(steps.reduce((sum, time) => sum + time, 0) <= total + 0.002, String(headers['server-timing']))
	})

	test("is sent in addition to a method's own", async () => {
		const server = createServer({ open: new Open() }, { serverTiming: true })
		const { headers } = await server.inject({ url: '/open/own' })
		const lines = headers['server-timing']
		assert.ok(Array.isArray(lines))
		assert.is(lines[0], 'db;dur=5')
		assert.equal(metrics(lines[1]), ['total', 'handler', 'reply'])
	})

	test('health probes have none', async () => {
		const server = createServer({}, { serverTiming: true, health: { path: 'health' } })
		assert.not('server-timing' in (await server.inject({ url: '/health/live' })).headers)
	})

	for (const value of ['true', 1, null]) {
		test(`serverTiming and logRequests: ${JSON.stringify(value)} is refused`, () => {
			for (const name of ['serverTiming', 'logRequests']) {
				const message = `createServer: ${name} must be true or false, got ${JSON.stringify(value)}`
				assert.throws(
					() => createServer({}, { [name]: value }),
					(error: Error) => error instanceof TypeError && error.message === message,
				)
			}
		})
	}
})
