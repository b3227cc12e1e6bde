/** `RedisCache` with a client that uses Sentinel, during a failover. */
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import Valkey from 'iovalkey'
import { createSentinel } from 'redis'
import * as assert from 'uvu/assert'
import { CacheUnavailable } from '../../../lib/cache/cache.ts'
import { RedisCache, type RedisClient } from '../../../lib/cache/redis/redis-cache.ts'
import { RestHandler, createServer as restServer } from '../../../lib/index.ts'
import { backWithin } from '../../helpers/failover.ts'
import { until } from '../../helpers/listening.ts'
import { hasMachines, machines } from '../../helpers/machines.ts'
import { alarm, inTimesOf, stopwatch } from '../../helpers/stalls.ts'
import { rejection } from './rejection.ts'
import { describeRedis, type OwnRedis, openClient, ownRedis, ownSentinel } from './servers.ts'

class Counted extends RestHandler {
	override rateLimits = { get_a: { limit: 1_000_000, windowSeconds: 60 } }
	get_a() {
		return 1
	}
}

/** After so long a client leaves a silent server, milliseconds: docs/caching.md says by which settings. */
const SILENCE = 1_000
/** No request takes longer than its calls of the cache, 0.5 s each, but for what a busy machine adds, milliseconds. */
const LATE = 5_000
const TIMES = { socketTimeout: SILENCE, connectTimeout: SILENCE }

/** Without `failoverDetector` ioredis stays with the old primary until Sentinel demotes it, ten seconds later. */
const optionsOf = (sentinel: Address) => ({
	...{ sentinels: [sentinel], name: 'main', failoverDetector: true },
	...TIMES,
})

/**
 * A client that hears of a failover while it connects ends for good: it is connected again, as docs/caching.md says. Returns what
 * closes it.
 */
function keptOpen(client: Redis | Valkey.Redis): () => void {
	let isClosed = false
	client.on('error', () => {})
	client.on('end', () => {
		if (!isClosed) client.connect().catch(() => {})
	})
	return () => {
		isClosed = true
		client.disconnect()
	}
}

type Address = Pick<OwnRedis, 'host' | 'port'>

const MAKE: Record<string, (sentinel: Address) => { client: RedisClient; close(): unknown }> = {
	ioredis: ({ host, port }) => {
		const client = new Redis(optionsOf({ host, port }))
		return { client, close: keptOpen(client) }
	},
	iovalkey: ({ host, port }) => {
		const client = new Valkey.Redis(optionsOf({ host, port }))
		return { client, close: keptOpen(client) }
	},
	'node-redis': ({ host, port }) => {
		const reconnectStrategy = (retries: number) => Math.min(retries * 50, 500)
		const settings = { pingInterval: SILENCE / 2, socket: { ...TIMES, reconnectStrategy } }
		const client = createSentinel({
			...{ name: 'main', sentinelRootNodes: [{ host, port }] },
			nodeClientOptions: settings,
		})
		client.connect().catch(() => {})
		return { client, close: () => client.destroy() }
	},
}

describeRedis('RedisCache with Sentinel', (test) => {
	test('each client writes to the new primary within 5 s, and requests are 200 or 503', () =>
		inTimesOf(5_000, async (time) => {
			const servers = [await ownRedis(), await ownRedis()] as const
			const [old, next] = servers
			const sentinel = await ownSentinel(old)
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
					const { client, close } = make(sentinel)
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

	const silently: (title: string, work: () => Promise<void>) => void = hasMachines ? test : test.skip

	silently(
		'a primary that falls silent: 200 or 503 in time, and the new primary within 5 s of its promotion',
		async () => {
			const network = await machines(3)
			const closing: (() => unknown)[] = [() => network.remove()]
			let isOver = false
			const loads: Promise<void>[] = []
			try {
				const [first, second, third] = network.all
				const [old, next] = [await ownRedis(first), await ownRedis(second)]
				const sentinel = await ownSentinel(old, third)
				for (const server of [old, next, sentinel]) closing.unshift(() => server.remove())
				const tell = ({ host, port }: OwnRedis) => {
					const { command, close } = openClient('ioredis', port, undefined, host)
					closing.unshift(close)
					return command
				}
				await old.start('--repl-diskless-sync-delay', '0')
				await next.start('--replicaof', `${old.host} ${old.port}`)
				await sentinel.start()
				const [toNext, toSentinel] = [tell(next), tell(sentinel)]
				await until(
					async () => String(await toNext('INFO', 'replication')).includes('link_status:up'),
					'the copy',
				)
				const replicas = async () => String(await toSentinel('SENTINEL', 'REPLICAS', 'main'))
				await until(
					async () => (await replicas()).includes('master-link-status,ok'),
					'the replica, by the Sentinel',
				)
				const sides = Object.entries(MAKE).map(([name, make]) => {
					const { client, close } = make(sentinel)
					closing.unshift(close)
					const cache = new RedisCache(client, { prefix: `${name}:`, timeoutSeconds: 0.5 })
					const logger = { info() {}, warn() {}, error() {} }
					const server = restServer({ api: new Counted() }, { cache, logger })
					const request = async () => (await server.inject({ url: '/api/a' })).status
					return { name, cache, request, statuses: [] as number[], late: 0 }
				})
				for (const { name, request, cache } of sides) {
					await until(async () => (await request()) === 200, `${name} to be connected`)
					assert.is(await cache.add('nonce', 1, 600), true)
					await until(async () => (await toNext('GET', `${name}:nonce`)) === '1', 'the copy of a key')
				}
				for (const side of sides)
					loads.push(
						(async () => {
							while (!isOver) {
								const callOff = alarm(LATE, () => side.late++)
								side.statuses.push(await side.request())
								callOff()
								await setTimeout(5)
							}
						})(),
					)
				await first?.cut()
				await until(() => sides.every(({ statuses }) => statuses.includes(503)), 'refusals')
				await until(async () => String(await toNext('ROLE')).startsWith('master'), 'the new primary')
				await backWithin(5_000, async () => sides.every(({ statuses }) => statuses.at(-1) === 200))
				isOver = true
				await Promise.all(loads)
				for (const { name, cache, statuses, late } of sides) {
					assert.is(await cache.add('nonce', 2, 600), false)
					assert.equal([...new Set(statuses)].sort(), [200, 503], name)
					assert.is(late, 0, name)
				}
			} finally {
				isOver = true
				await Promise.all(loads)
				for (const close of closing) await close()
			}
		},
	)
})
