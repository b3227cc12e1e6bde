/**
 * A program that does nothing but wait for a `RedisCache`, over a connection that keeps no program running. Run by
 * `down.test.ts`: `waiter.ts <client> <port> <timeoutSeconds>`; prints what it was answered.
 */
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { RedisCache, type RedisClient } from '../../../lib/cache/redis/redis-cache.ts'

const [name, port, timeoutSeconds] = process.argv.slice(2)

function clientOf(): RedisClient {
	if (name === 'ioredis') {
		const client = new Redis({ port: Number(port), retryStrategy: () => null })
		client.on('error', () => {})
		client.on('connect', () => client.stream.unref())
		return client
	}
	const client = createClient({ socket: { host: '127.0.0.1', port: Number(port) } })
	client.on('error', () => {})
	client.unref()
	client.connect().catch(() => {})
	return client
}

const cache = new RedisCache(clientOf(), { timeoutSeconds: Number(timeoutSeconds) })
try {
	console.log('answered', await cache.get(`verbena-test:${process.pid}`))
} catch (error) {
	console.log(String(error))
}
