/**
 * One of several processes that share a Redis: `member.ts <redis port> <prefix> <timeoutSeconds>`. Sends
 * its address.
 */
import { Redis } from 'ioredis'
import { RedisCache } from '../../lib/adapters/redis.ts'
import { createServer, HmacAuthenticator, RestHandler, reply } from '../../lib/index.ts'
import { KEYS, ORIGIN } from './keys.ts'

const [, , redisPort = '', prefix = '', seconds = '1'] = process.argv
const client = new Redis({ host: '127.0.0.1', port: Number(redisPort) })
client.on('error', () => {})

class Shared extends RestHandler {
	override idempotencyKeys = 'anyone'
	override rateLimits = {
		get_fixed: { limit: 50, windowSeconds: 3_600 },
		get_sliding: { limit: 50, windowSeconds: 3_600, window: 'sliding' },
		get_short: { limit: 5, windowSeconds: 2, window: 'sliding' },
	}
	get_fixed() {
		return process.pid
	}
	get_sliding() {
		return process.pid
	}
	get_short() {
		return Date.now()
	}
	/** Counts its runs past the cache, over all processes. */
	async post_order() {
		const number = await client.incr(`${prefix}runs`)
		await new Promise((resolve) => setTimeout(resolve, 20))
		return reply({ number, of: process.pid }, { status: 201 })
	}
}

class Vault extends RestHandler {
	override access = { '*': 'user' }
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys: KEYS, origin: ORIGIN })
	get_note(id: string) {
		return id
	}
}

const cache = new RedisCache(client, { prefix, timeoutSeconds: Number(seconds) })
const logger = { info() {}, warn() {}, error: () => {} }
const server = createServer(
	{ api: new Shared(), vault: new Vault() },
	{
		cache,
		logger,
		// A client that is slow to use a connection again must not meet its end.
		keepAliveTimeout: 60_000,
	},
)
const { url } = await server.listen()
process.send?.(url)
