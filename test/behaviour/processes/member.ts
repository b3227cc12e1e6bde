/**
 * One of several processes that share a Redis: `member.ts <redis port> <prefix> <timeoutSeconds>`. Sends
 * its address.
 */
import { Redis } from 'ioredis'
import { RedisCache } from '../../../lib/cache/redis/redis-cache.ts'
import {
	createServer,
	HmacAuthenticator,
	type Request,
	RestError,
	RestHandler,
	reply,
} from '../../../lib/index.ts'
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
	/** Counts its runs in Redis directly, across all processes. */
	async post_order() {
		const number = await client.incr(`${prefix}runs`)
		await new Promise((resolve) => setTimeout(resolve, 20))
		return reply({ number, of: process.pid }, { status: 201 })
	}
}

/** All credentials are wrong, except one user's; counts in Redis each one it checks. */
class Guarded extends RestHandler {
	override rateLimits = { get_secret: { limit: 5, windowSeconds: 2_592_000 } }
	override authenticator = {
		async authenticate(request: Request) {
			if (request.header('x-user') === 'ann') return { id: 'ann' }
			await client.incr(`${prefix}guesses`)
			throw new RestError('unauthorized')
		},
	}
	get_secret() {
		return 'secret'
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
	{ api: new Shared(), vault: new Vault(), guarded: new Guarded() },
	{
		cache,
		logger,
		// A client slow to reuse a connection must not find it closed.
		keepAliveTimeoutSeconds: 60,
	},
)
const { url } = await server.listen()
process.send?.(url)
