/**
 * A separate database per test run, in PostgreSQL and in MariaDB, and a separate Redis, so that two runs share no table or
 * key, and leave none behind. Created and dropped by `run.ts`; tests find them by `PGDATABASE`, `MYSQL_DATABASE` and
 * `REDIS_PORT`.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { MARIADB } from './mariadb.ts'
import { SERVER } from './postgres.ts'
import { freePorts } from './program.ts'

/** The environment of a run's processes, and a function that drops its databases. */
export interface OwnDatabases {
	readonly env: Readonly<Record<string, string>>
	drop(): Promise<void>
}

/** Runs one statement on a server. @throws the driver's error: the server is down, or refuses */
type Statement = (text: string) => Promise<unknown>

/** Creates them. If a server is missing or refuses, its environment is left as it is, and its tests report what they lack. */
export async function ownDatabases(): Promise<OwnDatabases> {
	const name = `verbena_test_${process.pid}_${randomBytes(4).toString('hex')}`
	const servers: [variable: string, statement: Statement][] = [
		['PGDATABASE', onPostgres],
		['MYSQL_DATABASE', onMariadb],
	]
	const env: Record<string, string> = {}
	const drops: (() => Promise<unknown>)[] = []
	for (const [variable, statement] of servers) {
		try {
			await statement(`create database ${name}`)
			env[variable] = name
			drops.push(() => statement(`drop database ${name}`))
			// No commit waits for the disk: the database is dropped after the run.
			if (variable === 'PGDATABASE') await statement(`alter database ${name} set synchronous_commit = off`)
		} catch (error) {
			console.error(`no database of this run's own, ${variable} stays: ${String(error)}`)
		}
	}
	// A Redis named by the environment is used as it is.
	if (process.env.REDIS_PORT === undefined) {
		try {
			const { port, end } = await runningRedis()
			env.REDIS_PORT = String(port)
			drops.push(end)
		} catch (error) {
			console.error(`no Redis of this run's own: ${String(error)}`)
		}
	}
	return {
		env,
		drop: async () => {
			for (const drop of drops) await drop().catch((error) => console.error(`not dropped, ${name}: ${error}`))
		},
	}
}

async function runningRedis(): Promise<{ port: number; end(): Promise<void> }> {
	const [port = 0] = await freePorts(1)
	const folder = await mkdtemp(join(tmpdir(), 'verbena-run-redis-'))
	const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
	const server = spawn('redis-server', args, { stdio: 'ignore' })
	const ended = once(server, 'exit')
	ended.catch(() => {})
	const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50, maxRetriesPerRequest: null })
	client.on('error', () => {})
	const end = async (): Promise<void> => {
		client.disconnect()
		server.kill('SIGKILL')
		await ended
		await rm(folder, { recursive: true, force: true })
	}
	try {
		const failed = ended.then(([code]) => Promise.reject(new Error(`redis-server has ended with ${code}`)))
		await Promise.race([client.ping(), failed])
	} catch (error) {
		client.disconnect()
		await rm(folder, { recursive: true, force: true })
		throw error
	}
	return {
		port,
		async end() {
			const left = await client.keys('*').catch(() => [])
			if (left.length > 0)
				console.log(`  Redis keys that tests have left: ${left.length}, such as ${left[0]}`)
			await end()
		},
	}
}

async function onPostgres(text: string): Promise<void> {
	const client = new pg.Client({ ...SERVER, connectionTimeoutMillis: 30_000 })
	await client.connect()
	try {
		// Connections left open by a test are ended with its database.
		await client.query(text.startsWith('drop') ? `${text} with (force)` : text)
	} finally {
		await client.end()
	}
}

async function onMariadb(text: string): Promise<void> {
	const connection = await mysql.createConnection({ ...MARIADB, connectTimeout: 30_000 })
	try {
		await connection.query(text)
	} finally {
		await connection.end()
	}
}
