/**
 * `RedisCache` with a Redis that is down, hangs or sends nonsense: every call settles in time, and later ones succeed
 * again.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import * as assert from 'uvu/assert'
import { type Cache, CacheUnavailable } from '../../../lib/cache/cache.ts'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { remember } from '../../../lib/cache/remember.ts'
import { RestHandler, createServer as restServer } from '../../../lib/index.ts'
import { bundled } from '../../helpers/bundled.ts'
import { until } from '../../helpers/listening.ts'
import { freePorts, run } from '../../helpers/program.ts'
import { REDIS_PORT } from '../../helpers/redis.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'
import { rejection } from './rejection.ts'
import {
	CLIENTS,
	type ClientName,
	describeRedis,
	type OwnRedis,
	openClient,
	ownRedis,
	type TestClient,
} from './servers.ts'

const METHODS: readonly (readonly [string, (cache: Cache) => unknown])[] = [
	['get', (cache) => cache.get('k')],
	['set', (cache) => cache.set('k', 1, 60)],
	['delete', (cache) => cache.delete('k')],
	['add', (cache) => cache.add('k', 1, 60)],
	['increment', (cache) => cache.increment('count', 60)],
]

const TIMEOUT_SECONDS = 0.3

/** The maximum duration of a call: its timeout, a sixteenth, and slow turns; stalls of this process are excluded. */
const SETTLED = 300 + 19 + 1_181
/** The maximum duration of an immediate refusal: less than the timeout. */
const AT_ONCE = 200

/** Calls every method at once, all of which must be refused properly; returns the longest duration. */
async function allRefused(cache: Cache): Promise<number> {
	const took = stopwatch()
	const errors = await Promise.all(METHODS.map(([, call]) => rejection(Promise.resolve(call(cache)))))
	const time = took()
	for (const [at, error] of errors.entries())
		assert.instance(error, CacheUnavailable, `${METHODS[at]?.[0]}: ${error}`)
	return time
}

/** For the duration of a call after one without a response; a later call, on a slow machine, waits again. */
async function untilRefusedAtOnce(cache: Cache): Promise<void> {
	await until(async () => (await allRefused(cache)) < AT_ONCE, 'a refusal at once')
}

/** Retries until there is a response. Only `CacheUnavailable` may be thrown. */
async function recovered(cache: Cache): Promise<void> {
	const start = performance.now()
	for (;;) {
		try {
			await cache.get('k')
			return
		} catch (error) {
			assert.instance(error, CacheUnavailable)
			if (performance.now() - start > 30_000) throw error
			await setTimeout(20)
		}
	}
}

const isAny = () => true

interface Stage {
	readonly redis: OwnRedis
	readonly cache: RedisCache
	/** A cache on the same client, with a timeout for a slow machine. */
	readonly patient: RedisCache
	readonly opened: TestClient
}

/** Runs for all clients at once, each with its own server, running or not, and a cache on it. */
function staged(isRunning: boolean, play: (stage: Stage) => Promise<void>): Promise<void> {
	return byEach(async (name) => {
		const redis = await ownRedis()
		if (isRunning) await redis.start()
		const opened = openClient(name, redis.port)
		try {
			await play({ redis, opened, cache: cacheOf(opened), patient: patientOf(opened) })
		} finally {
			opened.close()
			await redis.remove()
		}
	})
}

/** Runs `use` with a client, and always closes it: it would keep this process alive. */
async function withClient(opened: TestClient, use: (opened: TestClient) => Promise<void>): Promise<void> {
	try {
		await use(opened)
	} finally {
		opened.close()
	}
}

/** Runs for each client, and names the one that failed. */
async function byEach(play: (name: ClientName) => Promise<void>): Promise<void> {
	await Promise.all(
		CLIENTS.map(async (name) => {
			try {
				await play(name)
			} catch (error) {
				throw error instanceof Error ? Object.assign(error, { message: `${name}: ${error.message}` }) : error
			}
		}),
	)
}

function cacheOf({ client }: TestClient): RedisCache {
	return new RedisCache(client, { timeoutSeconds: TIMEOUT_SECONDS })
}

function patientOf({ client }: TestClient): RedisCache {
	return new RedisCache(client, { timeoutSeconds: 30 })
}

describeRedis('RedisCache without Redis, with each client', (test) => {
	test('without a listening server every call fails in time, then at once, until Redis is started', () =>
		staged(false, async ({ redis, cache, patient, opened }) => {
			assert.ok((await allRefused(cache)) < SETTLED)
			await untilRefusedAtOnce(cache)
			assert.is(await remember(cache, 'k', 60, () => 'loaded'), 'loaded')
			await redis.start()
			await recovered(cache)
			// The client must not queue refused commands to send them later.
			assert.equal(await opened.command('KEYS', '*'), [])
			assert.is(await patient.add('k', 1, 60), true)
		}))

	test('calls succeed again after Redis was killed and restarted', () =>
		staged(true, async ({ redis, cache, patient }) => {
			assert.is(await patient.add('k', 1, 60), true)
			await redis.kill()
			assert.ok((await allRefused(cache)) < SETTLED)
			await redis.start()
			await recovered(cache)
			assert.is(await patient.add('new', 1, 60), true)
			assert.is(await patient.add('new', 1, 60), false)
		}))

	test('while Redis hangs every call fails in time, then at once, until it continues', () =>
		staged(true, async ({ redis, cache, patient }) => {
			assert.is(await patient.increment('count', 60), 1)
			// Counting commands read the policy first; here before Redis hangs.
			await until(() => cache.add('first', 1, 60).then(isAny, () => false), 'an answer')
			redis.pause()
			assert.ok((await allRefused(cache)) < SETTLED)
			await untilRefusedAtOnce(cache)
			assert.is(await remember(cache, 'k', 60, () => 'loaded'), 'loaded')
			redis.resume()
			await recovered(cache)
			// The late responses were dropped, and the commands sent in time were executed.
			assert.ok((await patient.increment('count', 60)) > 2)
			assert.is(await patient.add('k', 2, 60), false)
		}))

	test('a hanging connection is retried by one call at a time', () =>
		staged(true, async ({ redis, cache }) => {
			await recovered(cache)
			redis.pause()
			await rejection(cache.get('k'))
			await setTimeout(TIMEOUT_SECONDS * 1_000 + 10)
			const errors = await Promise.all(Array.from({ length: 100 }, () => rejection(cache.get('k'))))
			const asked = errors.filter(({ message }) => /^Redis has not answered within 0.3 s/.test(message))
			const refused = errors.filter(({ message }) => message === 'Redis does not respond; retrying later')
			assert.equal([asked.length, refused.length], [1, 99])
			redis.resume()
			await recovered(cache)
		}))

	test('a response lost with its connection is an error, even though the client repeats the command', () =>
		staged(true, async ({ redis, opened }) => {
			const cut = await cutting(redis.port)
			const behind = openClient(opened.name, cut.port)
			const cache = patientOf(behind)
			assert.is(await cache.increment('count', 60), 1)
			cut.cutNext()
			const error = await rejection(cache.add('nonce', 1, 60))
			assert.instance(error, CacheUnavailable)
			// It was added without a response: added again it is a replay.
			assert.is(await cache.add('nonce', 1, 60), false)
			cut.cutNext()
			assert.instance(await rejection(cache.increment('count', 60)), CacheUnavailable)
			assert.ok((await cache.increment('count', 60)) > 2)
			behind.close()
			await cut.close()
		}))

	test('an event-loop stall does not make a call time out', () =>
		// Redis itself may stall, too.
		inTimesOf(300, async (time) => {
			const opened = CLIENTS.map((name) => openClient(name))
			try {
				const caches = opened.map(({ client }) => new RedisCache(client, { timeoutSeconds: time / 1_000 }))
				await Promise.all(caches.map(recovered))
				const calls = caches.map((cache) => cache.get('k'))
				Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * time)
				assert.equal(await Promise.all(calls), [undefined, undefined, undefined])
			} finally {
				for (const { close } of opened) close()
			}
		}))

	test('with a closed client every call fails at once', () =>
		byEach(async (name) => {
			await withClient(openClient(name), async (opened) => {
				const cache = cacheOf(opened)
				await recovered(cache)
				opened.close()
				await setTimeout(20)
				assert.ok((await allRefused(cache)) < AT_ONCE)
			})
		}))

	test('calls waiting for a connection fail at once when the client is closed', () =>
		byEach(async (name) => {
			// It reads, so that it notices a closed connection.
			const silent = await listening((socket) => socket.resume())
			await withClient(openClient(name, silent.port), async (opened) => {
				const cache = new RedisCache(opened.client, { timeoutSeconds: 20 })
				const refused = allRefused(cache)
				await setTimeout(50)
				opened.close()
				assert.ok((await refused) < 2_000)
				const error = await rejection(cache.get('k'))
				assert.is(error.message, 'the Redis client is closed, or was never connected')
			}).finally(silent.close)
		}))

	test('calls waiting for a connection fail at once when the client gives up by itself', async () => {
		const [port = 0] = await freePorts(1)
		const ioredis = new Redis({ port, retryStrategy: () => null })
		const nodeRedis = createClient({ socket: { port, reconnectStrategy: () => new Error('enough') } })
		for (const client of [ioredis, nodeRedis]) client.on('error', () => {})
		nodeRedis.connect().catch(() => {})
		const caches = [ioredis, nodeRedis].map((client) => new RedisCache(client, { timeoutSeconds: 20 }))
		for (const time of await Promise.all(caches.map(allRefused))) assert.ok(time < 2_000, `${time} ms`)
	})

	test('an otherwise idle program waits for its response, and no longer', async () => {
		const silent = await listening(() => {})
		const unreached = 'CacheUnavailable: Redis could not be reached within 0.3 s\n'
		const here: readonly (readonly [name: string, port: number, seconds: number, said: string])[] = [
			['ioredis', silent.port, 0.3, unreached],
			['node-redis', silent.port, 0.3, unreached],
			['ioredis', REDIS_PORT, 60, 'answered undefined\n'],
			['node-redis', REDIS_PORT, 60, 'answered undefined\n'],
		]
		const program = await bundled(new URL('waiter.ts', import.meta.url).pathname)
		for (const [name, port, seconds, said] of here) {
			const { code, output } = await run({ args: [...program, name, String(port), String(seconds)] })
			assert.equal([name, code, output], [name, 0, said])
		}
		await silent.close()
	})

	for (const [what, bytes] of [
		['an empty text', '$0\r\n\r\n'],
		['an empty list', '*0\r\n'],
		['nothing', '$-1\r\n'],
		['a text that is no number', '$3\r\n0x1\r\n'],
	] as const) {
		test(`${what} is not accepted as a response to a counting command`, () =>
			byEach(async (name) => {
				const { port, close } = await listening((socket) => {
					socket.on('data', (sent) => {
						for (const [, command = ''] of String(sent).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm))
							socket.write(/^(?:DEL|EVAL|SET)$/.test(command) ? bytes : '+OK\r\n')
					})
				})
				const nonsense = (command: string): string =>
					`CacheUnavailable: Redis sent an invalid reply to ${command}`
				await withClient(openClient(name, port), async ({ client }) => {
					const cache = new RedisCache(client, { timeoutSeconds: 30, maxmemoryPolicy: 'noeviction' })
					assert.is(String(await rejection(cache.delete('k'))), nonsense('DEL'))
					assert.is(String(await rejection(cache.set('k', 1, 60))), nonsense('SET'))
					// A null reply is how Redis says that a key existed, or held no number.
					if (what === 'nothing') return
					assert.is(String(await rejection(cache.add('k', 1, 60))), nonsense('SET NX'))
					assert.is(String(await rejection(cache.increment('k', 60))), nonsense('EVAL'))
				}).finally(close)
			}))
	}

	test('without the password every call fails in time', () =>
		byEach(async (name) => {
			const redis = await ownRedis()
			await redis.start('--requirepass', 'secret')
			await withClient(openClient(name, redis.port), async (opened) => {
				assert.ok((await allRefused(cacheOf(opened))) < SETTLED)
			}).finally(() => redis.remove())
		}))

	const nonsense: readonly (readonly [string, (socket: Socket) => void])[] = [
		['never answers', () => {}],
		['closes each connection', (socket) => socket.end()],
		['speaks HTTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
		['answers all by a number', (socket) => socket.on('data', () => socket.write(':5\r\n'))],
		['answers all by an error', (socket) => socket.on('data', () => socket.write('-ERR no\r\n'))],
		['answers half', (socket) => socket.on('data', () => socket.write('$100\r\n{"a":'))],
	]
	for (const [what, speak] of nonsense) {
		test(`a server that ${what} counts as unavailable`, () =>
			byEach(async (name) => {
				const { port, close } = await listening(speak)
				await withClient(openClient(name, port), async (opened) => {
					const cache = cacheOf(opened)
					assert.ok((await allRefused(cache)) < SETTLED)
					assert.is(await remember(cache, 'k', 60, () => 'loaded'), 'loaded')
				}).finally(close)
			}))
	}
})

describeRedis('a request without Redis', (test) => {
	class Counting extends RestHandler {
		async get_held() {
			return (await this.cache.get('k')) ?? null
		}
		async get_nonce() {
			return this.cache.add('k', 1, 60)
		}
		get_remembered() {
			return remember(this.cache, 'k', 60, () => 'loaded')
		}
	}

	test('is answered 503 where the cache is required, and by a load where it is not', async () => {
		await staged(false, async ({ cache }) => {
			const logged: unknown[] = []
			const error = (fields: { readonly err?: unknown }) => logged.push(fields.err)
			const logger = { info() {}, warn() {}, error }
			const server = restServer({ '': new Counting() }, { cache, logger, logRequests: false })
			for (const url of ['/held', '/nonce']) {
				const reply = await server.inject({ url })
				assert.is(reply.status, 503)
				assert.is(reply.headers['retry-after'], '1')
				assert.match(reply.text(), /^\{"success":false,"error":"Service Unavailable","code":"unavailable",/)
				assert.instance(logged.pop(), CacheUnavailable)
			}
			const reply = await server.inject({ url: '/remembered' })
			assert.equal(reply.json(), { success: true, data: 'loaded' })
		})
	})
})

/** A proxy to a server that, when told to, closes at the next response instead of forwarding it. */
async function cutting(to: number): Promise<{ port: number; cutNext(): void; close(): Promise<unknown> }> {
	let isCut = false
	const { port, close } = await listening((near) => {
		const far = connect(to, '127.0.0.1').on('error', () => {})
		near.pipe(far)
		near.on('close', () => far.destroy())
		far.on('close', () => near.destroy())
		far.on('data', (bytes) => {
			if (isCut) near.destroy()
			else near.write(bytes)
			isCut = false
		})
	})
	const cutNext = () => {
		isCut = true
	}
	return { port, close, cutNext }
}

async function listening(speak: (socket: Socket) => void) {
	const sockets = new Set<Socket>()
	const server = createServer((socket) => {
		sockets.add(socket.on('error', () => {}))
		speak(socket)
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	const { port } = server.address() as AddressInfo
	const close = () => {
		for (const socket of sockets) socket.destroy()
		return new Promise((done) => server.close(done))
	}
	return { port, close }
}
