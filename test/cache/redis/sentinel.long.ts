/** `RedisCache` with a client that uses Sentinel, during a failover. */
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import Valkey from 'iovalkey'
import { createSentinel } from 'redis'
import * as assert from 'uvu/assert'
import { CacheUnavailable } from '../../../lib/cache/cache.ts'
import { RedisCache, type RedisClient } from '../../../lib/cache/redis/redis-cache.ts'
import { RestHandler, createServer as restServer } from '../../../lib/index.ts'
import { until } from '../../helpers/listening.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'
import { rejection } from './rejection.ts'
import { describeRedis, openClient, ownRedis, ownSentinel } from './servers.ts'

class Counted extends RestHandler {
	override rateLimits = { get_a: { limit: 1_000_000, windowSeconds: 60 } }
	get_a() {
		return 1
	}
}

/** Without `failoverDetector` ioredis stays with the old primary until Sentinel demotes it, ten seconds later. */
const MAKE: Record<string, (port: number) => { client: RedisClient; close(): unknown }> = {
	ioredis: (port) => {
		const client = new Redis({
			sentinels: [{ host: '127.0.0.1', port }],
			name: 'main',
			failoverDetector: true,
		})
		return { client: client.on('error', () => {}), close: () => client.disconnect() }
	},
	iovalkey: (port) => {
		const client = new Valkey.Redis({
			sentinels: [{ host: '127.0.0.1', port }],
			name: 'main',
			failoverDetector: true,
		})
		return { client: client.on('error', () => {}), close: () => client.disconnect() }
	},
	'node-redis': (port) => {
		const client = createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port }] })
		client.connect().catch(() => {})
		return { client, close: () => client.destroy() }
	},
}

describeRedis('RedisCache with Sentinel', (test) => {
	test('each client writes to the new primary within 5 s, and requests are 200 or 503', () =>
		inTimesOf(5_000, async (time) => {
			const servers = [await ownRedis(), await ownRedis()] as const
			const [old, next] = servers
			const sentinel = await ownSentinel(old.port)
			const closing: (() => unknown)[] = [...servers, sentinel].map((server) => () => server.remove())
			const tell = (port: number) => {
				const { command, close } = openClient('ioredis', port)
				closing.unshift(close)
				return command
			}
			try {
				await old.start('--repl-diskless-sync-delay', '0')
				await next.start('--replicaof', `127.0.0.1 ${old.port}`)
				await sentinel.start()
				const [toNext, toSentinel] = [next, sentinel].map(({ port }) => tell(port))
				await until(
					async () => String(await toNext?.('INFO', 'replication')).includes('link_status:up'),
					'the copy',
				)
				await until(
					async () => String(await toSentinel?.('SENTINEL', 'REPLICAS', 'main')).includes(`${next.port}`),
					'the replica, by the Sentinel',
				)
				const sides = Object.entries(MAKE).map(([name, make]) => {
					const { client, close } = make(sentinel.port)
					closing.unshift(close)
					const cache = new RedisCache(client, { prefix: `${name}:`, timeoutSeconds: 5 })
					const server = restServer(
						{ api: new Counted() },
						{ cache, logger: { info() {}, warn() {}, error() {} } },
					)
					const statuses = new Set<number>()
					const status = async () => (await server.inject({ url: '/api/a' })).status
					return { name, cache, statuses, status }
				})
				for (const { name, cache, status } of sides) {
					await until(async () => (await status()) === 200, 'the first answer')
					assert.is(await cache.add('before', 1, 600), true)
					await until(async () => (await toNext?.('GET', `${name}:before`)) === '1', 'the copy of a key')
				}
				let isOver = false
				const loads = sides.map(async ({ statuses, status }) => {
					while (!isOver) {
						statuses.add(await status())
						await setTimeout(5)
					}
				})
				// It must first know that the replica is up to date.
				await until(
					async () => (await toSentinel?.('SENTINEL', 'FAILOVER', 'main').catch(String)) === 'OK',
					'the failover',
				)
				await until(async () => String(await toNext?.('ROLE')).startsWith('master'), 'the new primary')
				await until(
					async () =>
						String(await toSentinel?.('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')).includes(
							`${next.port}`,
						),
					'the new primary, by the Sentinel',
				)
				const took = stopwatch()
				await Promise.all(
					sides.map(({ name, cache }) =>
						until(async () => {
							await cache.set('after', 1, 600).catch(() => {})
							return (await toNext?.('GET', `${name}:after`)) === '1'
						}, `${name} at the new primary`),
					),
				)
				const back = took()
				isOver = true
				await Promise.all(loads)
				for (const { cache, statuses, status } of sides) {
					assert.is(await cache.add('before', 2, 600), false)
					assert.is(await status(), 200)
					assert.equal(
						[...statuses].filter((one) => one !== 200 && one !== 503),
						[],
					)
				}
				assert.ok(back < time, `${back} ms`)

				// Their connections are lost while the server holds commands back. The clients reconnect, and send them again.
				for (const { cache } of sides) assert.is(await cache.increment('lost', 600), 1)
				await toNext?.('CLIENT', 'PAUSE', '30000', 'WRITE')
				const calls = sides.map(({ cache }) => rejection(cache.increment('lost', 600)))
				await setTimeout(200)
				await toNext?.('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
				await toNext?.('CLIENT', 'UNPAUSE')
				for (const error of await Promise.all(calls)) {
					assert.instance(error, CacheUnavailable)
					assert.match(error.message, 'connection')
				}
			} finally {
				for (const close of closing) await close()
			}
		}))
})
