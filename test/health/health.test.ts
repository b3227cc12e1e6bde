/** The option `health`, over a socket. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import * as assert from 'uvu/assert'
import {
	type Cache,
	CrudHandler,
	createServer,
	type HealthOptions,
	MemoryCache,
	MemoryModel,
	type Mountable,
	RestHandler,
	type ServerOptions,
} from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening, until } from '../helpers/listening.ts'
import { ask, requestText } from '../helpers/raw.ts'
import { inTimesOf } from '../helpers/stalls.ts'

class Hello extends RestHandler {
	get_hello() {
		return 'Hello'
	}
}

/** A model whose store can be switched off, and that counts how often it was asked. */
class Fragile extends MemoryModel {
	isUp = true
	asked = 0

	constructor() {
		super('fragile', { key: 'id', fields: { id: 'integer' } })
	}

	async check(): Promise<void> {
		this.asked++
		if (!this.isUp) throw new Error('the store is away: postgres://user:secret@db')
	}
}

function crud(model: MemoryModel): CrudHandler {
	return new CrudHandler(model, { visible: 'all' })
}

/** A promise, and what settles it. */
function later(): { readonly promise: Promise<void>; go(): void } {
	let go = (): void => {}
	const promise = new Promise<void>((resolve) => {
		go = resolve
	})
	return { promise, go: () => go() }
}

function refusal(handlers: Readonly<Record<string, Mountable>>, options: unknown): Error {
	try {
		createServer(handlers, options as ServerOptions)
	} catch (error) {
		return error as Error
	}
	return assert.unreachable(`${JSON.stringify(options)} was not refused`) as never
}

const HEALTH: HealthOptions = { path: 'health' }

describe('health', (test) => {
	test('is off by default', () =>
		listening({ '': new Hello() }, {}, async ({ url }) => {
			assert.is((await fetch(`${url}/health/live`)).status, 404)
			assert.is((await fetch(`${url}/health/ready`)).status, 404)
		}))

	for (const probe of ['live', 'ready']) {
		test(`${probe} is 200, and not cacheable`, () =>
			listening({ '': new Hello() }, { health: HEALTH }, async ({ url }) => {
				for (const path of [probe, `${probe}/`, `${probe}?now=1`]) {
					const response = await fetch(`${url}/health/${path}`)
					assert.is(response.status, 200)
					assert.is(response.headers.get('cache-control'), 'no-store')
					assert.is(response.headers.get('content-type'), 'application/json; charset=utf-8')
					assert.is(await response.text(), '{"success":true,"data":{"status":"ok"}}')
				}
			}))

		test(`${probe} answers HEAD and OPTIONS, and 405 to all other methods`, () =>
			listening({ '': new Hello() }, { health: HEALTH }, async ({ url }) => {
				const head = await fetch(`${url}/health/${probe}`, { method: 'HEAD' })
				assert.equal([head.status, await head.text()], [200, ''])
				assert.is(head.headers.get('content-length'), '39')
				const options = await fetch(`${url}/health/${probe}`, { method: 'OPTIONS' })
				assert.equal([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
				for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
					const response = await fetch(`${url}/health/${probe}`, { method })
					assert.equal([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
				}
			}))
	}

	test('a preflight is answered as such, whatever the probe is to send', () => {
		const origin = 'https://status.example.com'
		const options: ServerOptions = { health: HEALTH, cors: { origins: [origin] } }
		return listening({ '': new Hello() }, options, async ({ url }) => {
			const asked = { 'Access-Control-Request-Method': 'GET' }
			const names = { 'Access-Control-Request-Headers': 'authorization,x-trace' }
			for (const probe of ['live', 'ready']) {
				const preflight = (from: string) =>
					fetch(`${url}/health/${probe}`, {
						method: 'OPTIONS',
						headers: { Origin: from, ...asked, ...names },
					})
				const { status, headers } = await preflight(origin)
				assert.is(status, 204)
				assert.is(headers.get('access-control-allow-origin'), origin)
				assert.is(headers.get('access-control-allow-methods'), 'GET')
				assert.is(headers.get('access-control-allow-headers'), 'authorization, x-trace')
				const other = await preflight('https://evil.example')
				assert.equal([other.status, other.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
				assert.is(other.headers.get('access-control-allow-headers'), null)
				const { status: read } = await fetch(`${url}/health/${probe}`, {
					headers: { Origin: origin, ...asked },
				})
				assert.is(read, 200, 'a GET is none')
			}
		})
	})

	test('is below base, at the given segments, and nowhere else', () =>
		listening({ '': new Hello() }, { base: 'v1', health: { path: 'ops/health' } }, async ({ url, port }) => {
			for (const target of ['', 'http://127.0.0.1'])
				assert.is((await ask(port, requestText(`GET ${target}/v1/ops/health/live`))).status, 200, target)
			for (const path of [
				'ops/health/live',
				'v1/ops/health',
				'v1/ops/health/live/x',
				'v1/live',
				'v1/ops/live',
				'v1/ops/health/livelier',
				'w/v1/ops/health/live',
			])
				assert.is((await fetch(`${url}/${path}`)).status, 404, path)
		}))

	test('is matched by path alone, and has no timeout but its own', async () => {
		class Anything extends RestHandler {
			get__default(..._path: string[]) {
				return 'mine'
			}
		}
		const checks = [() => new Promise((resolve) => setTimeout(resolve, 150))]
		const server = createServer(
			{ '': new Anything() },
			{ health: { path: 'health', checks }, handlerTimeoutSeconds: 0.05, logger: new Log() },
		)
		for (const url of ['/health/foo?next=/live', '/health/foo?back=/ready', '/health/x?/live'])
			assert.is((await server.inject({ url })).text(), '{"success":true,"data":"mine"}', url)
		assert.is((await server.inject({ url: '/health/ready?a=1' })).status, 200)
		await server.close()
	})

	test('needs no credentials, and appears in no log, event, page or description', async () => {
		const authenticator = { authenticate: async () => assert.unreachable('was asked') as never }
		const options = { authenticator, health: HEALTH, openapi: true, explorer: true, logRequests: true }
		let events = 0
		await listening({ '': new Hello() }, options, async ({ url, log, server }) => {
			server.on('request', () => events++)
			for (const probe of ['live', 'ready']) {
				const response = await fetch(`${url}/health/${probe}`, {
					headers: { Accept: 'text/html', Authorization: 'Bearer x' },
				})
				assert.is(response.headers.get('content-type'), 'application/json; charset=utf-8')
				assert.is(response.status, 200)
			}
			const { body } = await server.inject({ url: '/health/ready' })
			assert.is(body.toString(), '{"success":true,"data":{"status":"ok"}}')
			assert.equal(log.messages, [])
			assert.is(events, 0)
		})
		const described = await createServer({ '': new Hello() }, { health: HEALTH, openapi: true }).inject({
			url: '/openapi.json',
		})
		assert.not.match(described.text(), 'health')
	})

	test('works inside of Express, which serves its other paths', async () => {
		const app = express()
		app.use('/api', createServer({ cats: new Hello() }, { health: HEALTH }).handler)
		app.use((_request, response) => void response.status(418).end())
		const server = createHttpServer(app).listen(0, '127.0.0.1')
		await until(() => server.listening, 'it listens')
		const { port } = server.address() as AddressInfo
		try {
			assert.is((await fetch(`http://127.0.0.1:${port}/api/health/live`)).status, 200)
			assert.is((await fetch(`http://127.0.0.1:${port}/api/health/other`)).status, 418)
			assert.is((await fetch(`http://127.0.0.1:${port}/health/live`)).status, 418)
		} finally {
			server.close()
		}
	})
})

describe('health: ready', (test) => {
	test('is 503 while a model is unavailable, and never says which or why', async () => {
		const model = new Fragile()
		model.isUp = false
		await listening({ things: crud(model) }, { health: HEALTH }, async ({ url, log }) => {
			const response = await fetch(`${url}/health/ready`)
			assert.is(response.status, 503)
			assert.is(response.headers.get('cache-control'), 'no-store')
			assert.is(response.headers.get('retry-after'), '1')
			const body = (await response.json()) as Record<string, unknown>
			assert.is(typeof body.requestId, 'string')
			assert.equal(
				{ ...body, requestId: '' },
				{
					...{ success: false, error: 'Not ready', code: 'unavailable', requestId: '' },
				},
			)
			assert.is((await fetch(`${url}/health/live`)).status, 200)
			assert.equal(log.messages, ['error: a health check has failed'])
			assert.is(log.lines[0]?.fields.check, 'fragile')
		})
	})

	test('checks a model once, however often it is mounted, and models of one source once', async () => {
		const [model, other] = [new Fragile(), new Fragile()]
		const source = {}
		const shared = [model, other].map((one) => Object.assign(one, { source }))
		const handlers = Object.fromEntries(shared.map((one, at) => [`things${at}`, crud(one)]))
		await listening({ ...handlers, again: crud(model) }, { health: HEALTH }, async ({ url }) => {
			assert.is((await fetch(`${url}/health/ready`)).status, 200)
			assert.equal([model.asked, other.asked], [1, 0])
		})
	})

	test('checks handlers mounted later, too', async () => {
		const model = new Fragile()
		await listening({}, { health: HEALTH }, async ({ url, server }) => {
			assert.is((await fetch(`${url}/health/ready`)).status, 200)
			model.isUp = false
			server.controller.service('things', crud(model))
			assert.is((await fetch(`${url}/health/ready`)).status, 503)
		})
	})

	test("checks the server's cache", async () => {
		class Away extends MemoryCache implements Cache {
			check(): void {
				throw new Error('away')
			}
		}
		await listening({}, { health: HEALTH, cache: new Away({ max: 1 }) }, async ({ url, log }) => {
			assert.is((await fetch(`${url}/health/ready`)).status, 503)
			assert.is(log.lines[0]?.fields.check, 'cache')
		})
	})

	const CHECKS: [name: string, check: () => unknown, status: number][] = [
		['returns nothing', () => {}, 200],
		['returns a result', () => [{ one: 1 }], 200],
		['resolves', async () => 0, 200],
		[
			'throws',
			() => {
				throw new Error('x')
			},
			503,
		],
		['rejects', () => Promise.reject(new Error('x')), 503],
		[
			'throws what is no error',
			() => {
				throw undefined
			},
			503,
		],
		['returns false', () => false, 503],
		['resolves with false', async () => false, 503],
	]
	for (const [name, check, status] of CHECKS) {
		test(`a check that ${name} makes it ${status}`, () =>
			listening({}, { health: { path: 'health', checks: [() => {}, check] } }, async ({ url, log }) => {
				assert.is((await fetch(`${url}/health/ready`)).status, status)
				assert.is(log.lines.length, status === 200 ? 0 : 1)
			}))
	}

	test('a check that hangs fails after its timeout, and is not started again meanwhile', async () => {
		let calls = 0
		const stuck = () => {
			calls++
			return new Promise<void>(() => {})
		}
		const health = { path: 'health', checks: [stuck], timeoutSeconds: 0.02 }
		const end = performance.now() + 1_200
		await listening({}, { health }, async ({ url, log }) => {
			assert.is((await fetch(`${url}/health/ready`)).status, 503)
			assert.match(String(log.lines[0]?.fields.err), "it hasn't answered within 20 ms")
			assert.is(log.lines[0]?.fields.check, 'stuck')
			// Past what is remembered, it is looked at anew.
			await until(
				async () => (await fetch(`${url}/health/ready`)).status === 503 && performance.now() > end,
				'a second',
			)
			assert.is(calls, 1)
			assert.is(log.lines.length, 1)
		})
	})

	test('concurrent probes share one round of checks, whose result is reused for a while', async () => {
		// It holds for a second, which may be over before the last is asked.
		await inTimesOf(1_000, async () => {
			let calls = 0
			const { promise, go } = later()
			const check = () => {
				calls++
				return promise
			}
			await listening({}, { health: { path: 'health', checks: [check] } }, async ({ url, server }) => {
				const probes = Array.from({ length: 50 }, () => server.inject({ url: '/health/ready' }))
				probes.push(...Array.from({ length: 50 }, () => server.inject({ url: '/health/ready' })))
				go()
				assert.equal(new Set((await Promise.all(probes)).map(({ status }) => status)), new Set([200]))
				assert.is((await fetch(`${url}/health/ready`)).status, 200)
				assert.is(calls, 1)
			})
		})
	})

	test("is 503 while a handler's init runs, and for ever when it has failed", async () => {
		const opening = later()
		class Slow extends Hello {
			override init() {
				return opening.promise
			}
		}
		class Broken extends Hello {
			override async init() {
				throw new Error('x')
			}
		}
		await listening({}, { health: HEALTH }, async ({ url, server }) => {
			server.controller.service('slow', new Slow())
			assert.is((await fetch(`${url}/health/ready`)).status, 503)
			assert.is((await fetch(`${url}/health/live`)).status, 200)
			opening.go()
			await until(async () => (await fetch(`${url}/health/ready`)).status === 200, 'it is ready')
			server.controller.service('broken', new Broken())
			assert.is((await fetch(`${url}/health/ready`)).status, 503)
			await new Promise((resolve) => setImmediate(resolve))
			assert.is((await fetch(`${url}/health/ready`)).status, 503)
		})
	})

	test('is 503 as soon as close() is called, while new connections are served during the delay', () =>
		inTimesOf(1_500, async (drainDelay) => {
			const server = createServer(
				{ '': new Hello() },
				{ health: { path: 'health', drainDelaySeconds: drainDelay / 1_000 }, graceTimeoutSeconds: 0.1 },
			)
			const { url } = await server.listen()
			const ask = async (path: string) => {
				const response = await fetch(`${url}/${path}`, { headers: { Connection: 'close' } })
				return response.status
			}
			try {
				assert.is(await ask('health/ready'), 200)
				let isClosed = false
				const closed = server.close().then(() => {
					isClosed = true
				})
				assert.equal(
					[await ask('health/ready'), await ask('hello'), await ask('health/live')],
					[503, 200, 200],
				)
				assert.is(isClosed, false)
				const again = server.close()
				await Promise.all([closed, again])
				assert.ok((await ask('health/live').catch(() => true)) === true, 'nothing listens any more')
			} finally {
				await server.close()
			}
		}))

	test('probes waiting for a round are 503 when close() is called', async () => {
		const { promise, go } = later()
		const server = createServer({}, { health: { path: 'health', checks: [() => promise] } })
		const asked = server.inject({ url: '/health/ready' })
		const closed = server.close()
		go()
		assert.is((await asked).status, 503)
		await closed
	})

	test('only changes are logged, not every probe', async () => {
		const log = new Log()
		let clock = 0
		let isWell = true
		const { Readiness } = await import('../../lib/health/checks.ts')
		const readiness = new Readiness(log, () => clock, 1_000)
		readiness.add('mood', async () => isWell)
		const found: boolean[] = []
		for (const well of [true, false, false, true, true, false]) {
			isWell = well
			found.push(await readiness.isReady())
			clock += 999
			isWell = !well
			assert.is(await readiness.isReady(), well, 'within a second, it is told from memory')
			clock += 1
		}
		assert.equal(found, [true, false, false, true, true, false])
		assert.equal(log.messages, [
			'error: a health check has failed',
			'info: a health check passes again',
			'error: a health check has failed',
		])
	})

	test('a late check stays failed until it returns, and no later probe waits for it', async () => {
		const log = new Log()
		let clock = 0
		let calls = 0
		const slow = later()
		const { Readiness } = await import('../../lib/health/checks.ts')
		const readiness = new Readiness(log, () => clock, 20)
		readiness.add('slow', () => {
			calls++
			return slow.promise
		})
		assert.is(await readiness.isReady(), false)
		clock += 1_000
		const asked = readiness.isReady()
		slow.go()
		assert.is(await asked, false, 'an answer in time would be another')
		clock += 1_000
		assert.is(await readiness.isReady(), true)
		assert.is(calls, 2)
		assert.equal(log.messages, ['error: a health check has failed', 'info: a health check passes again'])
	})

	test('a check added during a round is part of the next, at once', async () => {
		const first = later()
		const { Readiness } = await import('../../lib/health/checks.ts')
		const readiness = new Readiness(new Log(), () => 0, 1_000)
		readiness.add('first', () => first.promise)
		const asked = readiness.isReady()
		readiness.add('second', () => false)
		first.go()
		assert.is(await asked, true)
		assert.is(await readiness.isReady(), false)
	})

	test('a logger that throws does not affect readiness', async () => {
		const fail = () => {
			throw new Error('the disk is full')
		}
		const logger = { info: fail, warn: fail, error: fail }
		const server = createServer({}, { logger, health: { path: 'health', checks: [() => false] } })
		assert.is((await server.inject({ url: '/health/ready' })).status, 503)
	})
})

describe('health: invalid options', (test) => {
	class Shadowed extends RestHandler {
		get_health(_probe: string) {
			return null
		}
	}
	class Routed extends RestHandler {
		override customRoutes = { 'GET health/%s': 'page' }

		page() {
			return null
		}
	}
	class Written extends RestHandler {
		put_health(_probe: string) {
			return null
		}
	}
	class Default extends RestHandler {
		get__default() {
			return 'default'
		}
	}

	const COLLISIONS: [path: string, handler: RestHandler, says: string][] = [
		['health', new Hello(), 'the handler path "health" is that of the option health, "health"'],
		['/health/', new Hello(), 'the handler path "/health/" is that of the option health, "health"'],
		[
			'health/live',
			new Hello(),
			'the handler path "health/live" is below that of the option health, "health"',
		],
		['health/x/y', new Hello(), 'the handler path "health/x/y" is below that of the option health'],
		['', new Shadowed(), 'the handler path "" has get_health, which is below that of the option health'],
		['', new Written(), 'the handler path "" has put_health, which is below that of the option health'],
		['', new Routed(), 'the handler path "" has page, which is below that of the option health'],
	]
	for (const [path, handler, says] of COLLISIONS) {
		test(`a collision: ${says}`, () => {
			const { message } = refusal({ [path]: handler }, { health: HEALTH })
			assert.ok(message.startsWith(says), message)
			const server = createServer({}, { health: HEALTH, base: 'v1' })
			assert.match(
				messageOf(() => server.controller.service(path, handler)),
				says,
			)
		})
	}

	test('a handler above the path is no collision, unless it answers the path itself', () =>
		listening({ '': new Default(), healthy: new Hello() }, { health: HEALTH }, async ({ url }) => {
			assert.is(await (await fetch(`${url}/health/live`)).text(), '{"success":true,"data":{"status":"ok"}}')
			assert.is((await fetch(`${url}/healthy/hello`)).status, 200)
		}))

	test("the description's path is a collision as well", () => {
		const { message } = refusal({}, { openapi: true, health: { path: 'openapi.json' } })
		assert.match(message, 'the handler path "openapi.json" is that of the option health')
	})

	const WRONG: [health: unknown, message: string][] = [
		[true, "health must be an object: { path: 'health' }, got true"],
		['health', 'health must be an object: { path: \'health\' }, got "health"'],
		[null, "health must be an object: { path: 'health' }, got null"],
		[[], "health must be an object: { path: 'health' }"],
		[{}, "health.path must be a path: 'health', got undefined"],
		[{ path: '' }, 'health.path must have at least one segment'],
		[{ path: '/' }, 'health.path must have at least one segment'],
		[{ path: 'a//b' }, 'health.path "a//b" has an empty segment'],
		[{ path: 'a', check: [] }, 'health has no option check: did you mean checks?'],
		[{ path: 'a', checks: () => 1 }, 'health.checks must be an array of functions'],
		[{ path: 'a', checks: ['select 1'] }, 'health.checks[0] must be a function'],
		[
			{ path: 'a', timeoutSeconds: 0 },
			'health.timeoutSeconds must be a number of seconds from 0.001 to 2147483, got 0',
		],
		[{ path: 'a', timeoutSeconds: '5s' }, 'got "5s"'],
		[{ path: 'a', timeoutSeconds: Number.POSITIVE_INFINITY }, 'got Infinity'],
		[{ path: 'a', timeout: 2_000 }, 'health has no option timeout: it is timeoutSeconds, in seconds'],
		[
			{ path: 'a', drainDelaySeconds: -1 },
			'health.drainDelaySeconds must be a number of seconds from 0 to 2147483, got -1',
		],
		[{ path: 'a', drainDelay: 5_000 }, 'health has no option drainDelay: it is drainDelaySeconds'],
	]
	for (const [health, message] of WRONG) {
		test(`${JSON.stringify(health)} is refused: ${message}`, () => {
			const error = refusal({}, { health })
			assert.ok(error instanceof TypeError || error instanceof RangeError)
			assert.ok(error.message.includes(message), error.message)
		})
	}

	test('a replica is ready for handlers that only read: list, read, totals and export', async () => {
		for (const [operation, status] of [
			['export', 200],
			['import', 503],
			['remove', 503],
		] as const) {
			class Replica extends MemoryModel {
				async check(writes = false): Promise<void> {
					if (writes) throw new Error('it is a replica')
				}
			}
			const model = new Replica('thing', { key: 'id', fields: { id: 'integer' } })
			const handler = new CrudHandler(model, {
				...{ visible: 'all', totals: { by: ['id'] } },
				allow: ['list', 'read', 'totals', operation],
			})
			const server = createServer({ thing: handler }, { health: { path: 'health' }, logger: new Log() })
			assert.is((await server.inject({ url: '/health/ready' })).status, status, operation)
		}
	})

	test('types: invalid options do not compile', () => {
		const use = () => {
			createServer(
				{},
				{
					health: {
						path: 'health',
						checks: [async () => 1, () => false],
						timeoutSeconds: 0.001,
						drainDelaySeconds: 0,
					},
				},
			)
			// @ts-expect-error there is no default path
			createServer({}, { health: {} })
			// @ts-expect-error a check is a function
			createServer({}, { health: { path: 'health', checks: ['select 1'] } })
			// @ts-expect-error nor is it on by true
			createServer({}, { health: true })
		}
		assert.type(use, 'function')
	})
})
