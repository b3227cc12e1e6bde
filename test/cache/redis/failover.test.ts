/** `RedisCache` during a failover: a primary that becomes a replica is left, and its successor is used at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { CacheUnavailable } from '../../../lib/cache/cache.ts'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { RestHandler, createServer as restServer } from '../../../lib/index.ts'
import { type Gate, gateTo } from '../../helpers/gate.ts'
import { until } from '../../helpers/listening.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'
import { rejection } from './rejection.ts'
import { CLIENTS, describeRedis, type OwnRedis, openClient, ownRedis, type TestClient } from './servers.ts'

class Counted extends RestHandler {
	override rateLimits = { get_a: { limit: 1_000_000, windowSeconds: 60 } }
	get_a() {
		return 1
	}
}

interface Stage {
	readonly servers: readonly [OwnRedis, OwnRedis]
	/** Sends a command to a server directly, not through the cache. */
	tell(server: OwnRedis, ...command: string[]): Promise<unknown>
	/** An address that leads to one of them, like HAProxy's. */
	readonly address: Gate
	readonly opened: TestClient
	readonly cache: RedisCache
}

/** A primary with its replica, and a client connected through the address. */
async function staged(name: TestClient['name'], play: (stage: Stage) => Promise<void>): Promise<void> {
	const servers = [await ownRedis(), await ownRedis()] as const
	const closing: (() => unknown)[] = servers.map((server) => () => server.remove())
	try {
		for (const server of servers) await server.start('--repl-diskless-sync-delay', '0')
		const shared = await gateTo(servers[0].port)
		closing.unshift(() => shared.close())
		const telling = new Map(servers.map((server) => [server, openClient('ioredis', server.port)]))
		for (const client of telling.values()) closing.unshift(() => client.close())
		const tell: Stage['tell'] = async (server, ...command) => telling.get(server)?.command(...command)
		const opened = openClient(name, shared.port)
		closing.unshift(() => opened.close())
		await tell(servers[1], 'REPLICAOF', '127.0.0.1', String(servers[0].port))
		const cache = new RedisCache(opened.client, { prefix: 'f:' })
		await play({ servers, tell, address: shared, opened, cache })
	} finally {
		for (const close of closing) await close()
	}
}

describeRedis('RedisCache during a failover', (test) => {
	for (const name of CLIENTS)
		test(`${name}: 503 while the primary accepts no writes, and requests reach the next one within a second`, () =>
			inTimesOf(1_000, (time) =>
				staged(name, async ({ servers: [old, next], tell, address, opened, cache }) => {
					const server = restServer(
						{ api: new Counted() },
						{ cache, health: { path: 'health' }, logger: { info() {}, warn() {}, error() {} } },
					)
					const status = async (url: string) => (await server.inject({ url })).status
					await until(async () => (await status('/api/a')) === 200, 'the first answer')
					assert.is(await status('/health/ready'), 200)
					assert.is(await cache.add('before', 1, 600), true)
					await until(async () => (await tell(next, 'GET', 'f:before')) === '1', 'the copy')

					await tell(next, 'REPLICAOF', 'NO', 'ONE')
					await tell(old, 'REPLICAOF', '127.0.0.1', String(next.port))
					// The address leads to the old primary for a while: connections there, old and new, can't write.
					const statuses = new Set<number>()
					const took = stopwatch()
					while (took() < 700) {
						statuses.add(await status('/api/a'))
						await sleep(10)
					}
					assert.equal([...statuses], [503])
					for (const write of [
						() => cache.set('k', 1, 60),
						() => cache.add('k', 1, 60),
						() => cache.increment('count', 60),
						() => cache.delete('k'),
						() => cache.check(),
					])
						assert.instance(await rejection(write()), CacheUnavailable)
					await until(async () => (await status('/health/ready')) === 503, 'not ready')
					// It is retried, but not too often.
					assert.ok(address.count() < 40, `${address.count()} connections`)

					address.leadTo(next.port)
					const back = stopwatch()
					await until(async () => (await status('/api/a')) === 200, 'served by the next')
					assert.ok(back() < time, `${back()} ms`)
					await until(async () => (await status('/health/ready')) === 200, 'ready again')
					assert.is(await cache.add('before', 2, 600), false)
					assert.is(await cache.add('after', 1, 600), true)
					// The client is unchanged: its owner's own commands work.
					assert.is(await opened.command('GET', 'f:after'), '1')
				}),
			))
})
