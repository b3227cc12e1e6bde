/** Health with real stores: PostgreSQL, MariaDB and Redis that stop, hang, and come back. */
import { Redis } from 'ioredis'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { createClient } from 'redis'
import * as assert from 'uvu/assert'
import { RedisCache } from '../../lib/cache/redis/redis-cache.ts'
import { CrudHandler, createServer, type Model, type Server, type ServerOptions } from '../../lib/index.ts'
import { MysqlModel } from '../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../lib/models/sqlite/model.ts'
import { describe } from '../helpers/describe.ts'
import { type Gate, gateTo } from '../helpers/gate.ts'
import { Log, until } from '../helpers/listening.ts'
import { MARIADB, mariadbIsHere } from '../helpers/mariadb.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { REDIS_PORT, redisIsHere } from '../helpers/redis.ts'
import { opened, sqliteDrivers } from '../helpers/sqlite.ts'

/** Longer than a store has to answer, so that it is the adapter which tells. */
const HEALTH = { path: 'health', timeoutSeconds: 8 }
/** What a store has to answer: a machine that is held up for three seconds must not take it for silent. */
const TIME = { timeoutSeconds: 4 }
const TABLE = `health_${process.pid}`

async function ready(server: Server): Promise<number> {
	return (await server.inject({ url: '/health/ready' })).status
}

function serving(options: ServerOptions, models: readonly Model[] = []): { server: Server; log: Log } {
	const log = new Log()
	const handlers = Object.fromEntries(
		models.map((model, at) => [`things${at}`, new CrudHandler(model, { visible: 'all' })]),
	)
	return {
		server: createServer(handlers, { health: HEALTH, logger: log, logRequests: false, ...options }),
		log,
	}
}

/** Ready, not so once the store is away, and again when it is back; the same in silence. */
async function follows(
	gate: Gate,
	{ server, log }: { server: Server; log: Log },
	check: string,
): Promise<void> {
	const changes: string[] = []
	let last = 200
	const becomes = (status: number, what: string): Promise<void> =>
		until(
			async () => {
				const now = await ready(server)
				if (now !== last)
					changes.push(now === 503 ? 'error: a health check has failed' : 'info: a health check passes again')
				last = now
				return now === status
			},
			what,
			60_000,
		)
	try {
		await becomes(200, 'it is ready')
		await gate.shut()
		await becomes(503, 'it is seen that the store is away')
		await gate.open()
		await becomes(200, 'it is seen that the store is back')
		gate.silence()
		await becomes(503, 'it is seen that the store is silent')
		await gate.open()
		await becomes(200, 'it is seen that the store is back')
	} catch (error) {
		// What waits for an answer of a silent store holds its connection, and with it the end of the pool.
		await gate.open()
		throw error
	}
	// Each change is told once, however often it was asked: these four, and more only where a store itself is held up.
	assert.ok(changes.length >= 4, changes.join())
	assert.equal(log.messages, changes)
	assert.ok(log.lines.every(({ fields }) => fields.check === check))
}

const drivers = await driversHere()
const hasPostgres = drivers.includes('pg')
const hasMariadb = await mariadbIsHere()
const hasRedis = await redisIsHere()

describe('health over stores', (test) => {
	const cases: { readonly name: string; readonly isHere: boolean; readonly run: () => Promise<void> }[] = []
	const begun = new Map<string, Promise<void>>()

	/** A test that is run beside the others: it mostly waits for a second to be over. */
	function meanwhile(isHere: boolean, name: string, run: () => Promise<void>): void {
		cases.push({ name, isHere, run })
		const ownTest = isHere ? test : test.skip
		ownTest(name, async () => {
			for (const one of cases) {
				if (!one.isHere || begun.has(one.name)) continue
				const running = one.run()
				// It is awaited by its own test.
				running.catch(() => {})
				begun.set(one.name, running)
			}
			await begun.get(name)
		})
	}

	meanwhile(hasPostgres, 'PostgreSQL by pg', async () => {
		const gate = await gateTo(SERVER.port)
		const pool = new pg.Pool({ ...SERVER, host: '127.0.0.1', port: gate.port, max: 2 })
		try {
			await pool.query(`create table ${TABLE}_pg (id int primary key)`)
			const models = await Promise.all([1, 2].map(() => PostgresModel.open(pool, `${TABLE}_pg`, TIME)))
			await follows(gate, serving({}, models.slice(0, 1)), `${TABLE}_pg`)
			const { server } = serving({}, models)
			await until(async () => (await ready(server)) === 200, 'both are ready', 60_000)
			await pool.query(`drop table ${TABLE}_pg`)
		} finally {
			await pool.end()
			await gate.close()
		}
	})

	meanwhile(hasPostgres, 'PostgreSQL by postgres.js', async () => {
		const gate = await gateTo(SERVER.port)
		const sql = postgres({ ...SERVER, host: '127.0.0.1', port: gate.port, max: 2, onnotice: () => {} })
		try {
			await sql.unsafe(`create table ${TABLE}_js (id int primary key)`)
			const model = await PostgresModel.open(sql, `${TABLE}_js`, TIME)
			await follows(gate, serving({}, [model]), `${TABLE}_js`)
			await sql.unsafe(`drop table ${TABLE}_js`)
		} finally {
			await sql.end({ timeout: 1 })
			await gate.close()
		}
	})

	meanwhile(hasMariadb, 'MariaDB', async () => {
		const gate = await gateTo(MARIADB.port)
		const pool = mysql.createPool({ ...MARIADB, host: '127.0.0.1', port: gate.port, connectionLimit: 2 })
		try {
			await pool.query(`create table ${TABLE}_my (id int primary key)`)
			const model = await MysqlModel.open(pool, `${TABLE}_my`, TIME)
			await follows(gate, serving({}, [model]), `${TABLE}_my`)
			await pool.query(`drop table ${TABLE}_my`)
		} finally {
			await pool.end()
			await gate.close()
		}
	})

	meanwhile(hasRedis, 'Redis by ioredis', async () => {
		const gate = await gateTo(REDIS_PORT)
		const client = new Redis({ port: gate.port, retryStrategy: () => 20 })
		client.on('error', () => {})
		try {
			const cache = new RedisCache(client, TIME)
			await follows(gate, serving({ cache }), 'cache')
		} finally {
			client.disconnect()
			await gate.close()
		}
	})

	meanwhile(hasRedis, 'Redis by node-redis', async () => {
		const gate = await gateTo(REDIS_PORT)
		const client = createClient({ socket: { port: gate.port, host: '127.0.0.1', reconnectStrategy: 20 } })
		client.on('error', () => {})
		await client.connect()
		try {
			const cache = new RedisCache(client, TIME)
			await follows(gate, serving({ cache }), 'cache')
		} finally {
			client.destroy()
			await gate.close()
		}
	})

	meanwhile(hasRedis, 'a Redis that was never started', async () => {
		const gate = await gateTo(REDIS_PORT)
		await gate.shut()
		const client = new Redis({ port: gate.port, retryStrategy: () => 20 })
		client.on('error', () => {})
		try {
			const { server, log } = serving({ cache: new RedisCache(client, { timeoutSeconds: 0.2 }) })
			assert.is(await ready(server), 503)
			assert.match(String(log.lines[0]?.fields.err), /CacheUnavailable|it hasn't answered/)
		} finally {
			client.disconnect()
		}
	})

	for (const { name, open } of sqliteDrivers) {
		meanwhile(open !== undefined, `SQLite by ${name}`, async () => {
			const database = opened(open)
			database.exec('create table a (id integer primary key); create table b (id integer primary key)')
			const models = Object.values(await SqliteModel.openAll(database))
			assert.is(models.length, 2)
			assert.is(new Set(models.map(({ source }) => source)).size, 1, 'they are asked about once')
			const { server, log } = serving({}, models)
			assert.is(await ready(server), 200)
			database.close()
			await until(async () => (await ready(server)) === 503, 'it is seen that it is closed', 20_000)
			assert.is(log.lines.length, 1)
		})
	}
})
