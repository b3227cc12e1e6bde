/** `RedisCache` with a Redis that evicts entries or is full: `add` and `increment` never lose what they have confirmed. */
import * as assert from 'uvu/assert'
import { CacheFull, CacheUnavailable } from '../../../lib/cache/cache.ts'
import { adapterOf } from '../../../lib/cache/redis/client.ts'
import { MaxmemoryPolicy } from '../../../lib/cache/redis/policy.ts'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import { RedisLink } from '../../../lib/cache/redis/redis-link.ts'
import { remember } from '../../../lib/cache/remember.ts'
import { rejection } from './rejection.ts'
import { CLIENTS, describeRedis, type OwnRedis, openClient, ownRedis, type TestClient } from './servers.ts'

const EVICTING = [
	...['allkeys-lru', 'allkeys-lfu', 'allkeys-random'],
	...['volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl'],
]

let own: OwnRedis | undefined
const clients: TestClient[] = []

async function server(): Promise<OwnRedis> {
	own ??= await ownRedis()
	return own
}

/** A client of this test's own server, which is stopped at the end. */
async function open(...args: Parameters<typeof openClient>): Promise<TestClient> {
	const [name, port = (await server()).port, login] = args
	const client = openClient(name, port, login)
	clients.push(client)
	return client
}

function unavailable(error: Error, message: RegExp): void {
	assert.instance(error, CacheUnavailable)
	assert.match(error.message, message)
}

describeRedis('RedisCache and maxmemory-policy', (test) => {
	test.before(async () => (await server()).start())

	for (const name of CLIENTS) {
		test(`${name}: add and increment are refused under every policy but noeviction, until it is set`, async () => {
			const { client, command } = await open(name)
			for (const policy of EVICTING) {
				await command('CONFIG', 'SET', 'maxmemory-policy', policy)
				const cache = new RedisCache(client, { prefix: name })
				const message = new RegExp(
					`because its maxmemory-policy is ${policy}: set maxmemory-policy noeviction$`,
				)
				unavailable(await rejection(cache.add('k', 1, 60)), message)
				unavailable(await rejection(cache.increment('k', 60)), message)
				assert.is(await cache.get('k'), undefined)
			}
			const cache = new RedisCache(client, { prefix: name })
			await rejection(cache.add('k', 1, 60))
			await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
			assert.is(await cache.add('k', 1, 60), true)
		})

		test(`${name}: get, set, delete and remember work under any policy`, async () => {
			const { client, command } = await open(name)
			await command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
			const cache = new RedisCache(client, { prefix: `${name}:lru` })
			await cache.set('k', 1, 60)
			assert.is(await cache.get('k'), 1)
			assert.is(await cache.delete('k'), true)
			assert.is(await remember(cache, 'k', 60, () => 5), 5)
			await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
		})

		test(`${name}: without CONFIG the policy is read from INFO; without both it must be passed as an option`, async () => {
			const { command } = await open(name)
			const login = { username: `${name}-user`, password: 'secret' }
			const rights = ['~*', '+@all', '-config', 'on', '>secret']
			await command('ACL', 'SETUSER', login.username, 'reset', ...rights)
			const { client } = await open(name, undefined, login)
			assert.is(await new RedisCache(client).add(`${name} by INFO`, 1, 60), true)
			await command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl')
			const evicted = await rejection(new RedisCache(client).add(`${name} evicted`, 1, 60))
			unavailable(evicted, /because its maxmemory-policy is volatile-ttl/)
			await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')

			await command('ACL', 'SETUSER', login.username, '-info')
			const untold = await rejection(new RedisCache(client).increment(`${name} count`, 60))
			unavailable(untold, /^Redis doesn't report its maxmemory-policy: .* set the option maxmemoryPolicy$/)
			const told = new RedisCache(client, { maxmemoryPolicy: 'noeviction' })
			assert.is(await told.add(`${name} told`, 1, 60), true)
			assert.is(await told.increment(`${name} count`, 60), 1)
		})

		test(`${name}: concurrent calls read the policy once`, async () => {
			const { client, command } = await open(name)
			const cache = new RedisCache(client, { prefix: `${name}:once:`, timeoutSeconds: 30 })
			await command('CONFIG', 'RESETSTAT')
			await Promise.all(Array.from({ length: 100 }, (_, at) => cache.add(`k${at}`, 1, 60)))
			await cache.increment('count', 60)
			assert.match(String(await command('INFO', 'commandstats')), /^cmdstat_config\|get:calls=1,/m)
		})

		test(`${name}: the policy is read again after a minute`, async () => {
			const { client, command } = await open(name)
			const link = new RedisLink(adapterOf(client), 5)
			let now = 0
			const policy = new MaxmemoryPolicy(() => now)
			const check = () => link.withTimeout('k', (call) => policy.check(call))
			await check()
			await command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
			now = 59_999
			await check()
			now = 60_000
			unavailable(await rejection(check()), /because its maxmemory-policy is allkeys-lru/)
			await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
			await check()
		})

		test(`${name}: the policy is read again on a new connection`, async () => {
			const redis = await server()
			const cache = new RedisCache((await open(name)).client, {
				prefix: `${name}:again:`,
				timeoutSeconds: 30,
			})
			assert.is(await cache.add('k', 1, 60), true)
			await redis.kill()
			await redis.start('--maxmemory-policy', 'allkeys-lru')
			// The first call may still use the connection that is being lost.
			let error = await rejection(cache.add('new', 1, 60))
			if (/was lost/.test(error.message)) error = await rejection(cache.add('new', 1, 60))
			unavailable(error, /because its maxmemory-policy is allkeys-lru/)
			await redis.kill()
			await redis.start()
		})
	}
})

describeRedis('RedisCache with a full Redis', (test) => {
	for (const name of CLIENTS) {
		test(`${name}: set, add and increment throw CacheFull that names maxmemory, and keep existing entries`, async () => {
			const { client, command } = await open(name)
			const cache = new RedisCache(client, { prefix: `${name}:full:`, timeoutSeconds: 30 })
			await cache.set('value', 'old', 60)
			await cache.add('nonce', 1, 60)
			await cache.increment('count', 60)
			await command('CONFIG', 'SET', 'maxmemory', '1')
			const refused = [
				cache.set('value', 'new', 60),
				cache.set('new', 1, 60),
				cache.add('new nonce', 1, 60),
				cache.increment('count', 60),
				cache.increment('new count', 60),
			]
			for (const call of refused) {
				const error = await rejection(call)
				assert.instance(error, CacheFull)
				assert.match(error.message, /raise its maxmemory$/)
				assert.match((error.cause as Error).message, /^OOM command not allowed/)
			}
			assert.is(await cache.get('value'), 'old')
			assert.is(await cache.get('count'), 1)
			assert.is(await cache.get('new count'), undefined)
			assert.is(await remember(cache, 'new', 60, () => 'loaded'), 'loaded')
			assert.is(await cache.delete('value'), true)
			await command('CONFIG', 'SET', 'maxmemory', '0')
			assert.is(await cache.add('nonce', 1, 60), false)
			assert.is(await cache.increment('count', 60), 2)
		})
	}

	test.after(async () => {
		for (const client of clients) client.close()
		await own?.remove()
	})
})
