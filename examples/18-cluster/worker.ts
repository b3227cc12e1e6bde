/** A worker of main.ts: serves the blog until it is told to end. */
import cluster from 'node:cluster'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { RedisCache } from '../../lib/cache/redis/redis-cache.ts' // 'verbena/redis'
import {
	anyOf,
	createServer,
	HmacAuthenticator,
	RestHandler,
	TokenAuthenticator,
	tokenDigest,
} from '../../lib/index.ts' // you write 'verbena'
import { PostgresModel } from '../../lib/models/postgres/model.ts' // 'verbena/postgres'
import { blog } from '../blog/blog.ts'
import { acl } from '../blog/keys.ts'

const { DATABASE_URL, REDIS_URL = 'redis://127.0.0.1:6379', REDIS_PREFIX = 'blog:' } = process.env
const { PORT = 3000, HOST = '127.0.0.1', TOKEN = '', SECRET = '' } = process.env

/** Shows which worker responds, and that rate limits count over all workers. */
class Office extends RestHandler {
	override rateLimits = { post_letter: { limit: 5, windowSeconds: 60 } }

	get_worker() {
		return { pid: process.pid }
	}

	post_letter() {
		return { readBy: process.pid }
	}
}

const pool = new Pool({ connectionString: DATABASE_URL, max: 10 })
const redis = new Redis(REDIS_URL)
// Both reconnect by themselves. Without a listener, the pool's error would end the program.
pool.on('error', (error) => console.error(`A connection to PostgreSQL was lost: ${error.message}`))
redis.on('error', (error) => console.error(`Redis: ${error.message}`))

const tables = {
	authors: await PostgresModel.open(pool, 'authors'),
	articles: await PostgresModel.open(pool, 'articles'),
	comments: await PostgresModel.open(pool, 'comments'),
}
const user = { id: 'ruth', roles: ['editor'] }
let isLeaving = false
const server = createServer(
	{ ...blog(tables), 'blog/api/office': new Office() },
	{
		acl,
		authenticator: anyOf(
			new TokenAuthenticator({ tokens: { [tokenDigest(TOKEN)]: user } }),
			new HmacAuthenticator(undefined, undefined, 300, { keys: { ruth: { secret: SECRET, user } } }),
		),
		cache: new RedisCache(redis, { prefix: REDIS_PREFIX }),
		// No drainDelay: during a restart other workers serve the port. main.ts tells all workers when the program ends.
		health: { path: 'health', checks: [() => !isLeaving] },
	},
)

async function end(): Promise<void> {
	await server.close()
	await pool.end()
	redis.disconnect()
	// After closing, as no connection is handed to this worker any more.
	cluster.worker?.disconnect()
}

// A terminal and systemd send these to all processes. main.ts handles them, and sends messages.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.on('message', (message) => {
	if (message === 'leave') isLeaving = true
	if (message === 'end') void end()
})
await server.listen(Number(PORT), HOST)
