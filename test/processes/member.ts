/** One of several processes that share a Redis: `member.ts <redis port> <prefix>`. Prints its address, and sends it. */
import { Redis } from 'ioredis'
import { RedisCache } from '../../lib/adapters/redis.ts'
import { createServer, RestHandler, reply } from '../../lib/index.ts'

const [, , redisPort = '', prefix = ''] = process.argv
const client = new Redis({ host: '127.0.0.1', port: Number(redisPort) })
client.on('error', () => {})

class Shared extends RestHandler {
	override idempotencyKeys = 'anyone'
	override rateLimits = {
		get_fixed: { limit: 50, windowSeconds: 3_600 },
		get_sliding: { limit: 50, windowSeconds: 3_600, window: 'sliding' },
		get_short: { limit: 5, windowSeconds: 1, window: 'sliding' },
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

const cache = new RedisCache(client, { prefix })
const logger = { info() {}, warn() {}, error: console.error }
const server = createServer({ api: new Shared() }, { cache, logger })
const { url } = await server.listen()
process.send?.(url)
