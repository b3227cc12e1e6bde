/** PostgreSQL and Redis as a soak uses them beside its servers: are they there, tables and keys for a while, what is in them. */
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'
import { urlOf } from '../crud/databases.ts'
import type { Assignment } from './reports.ts'

/** A record as it is in its table. */
export interface Row {
	readonly id: number
	readonly shelf: number
	readonly title: string
	readonly rank: number
	readonly note: string | null
	readonly revision: number
}

/** What a run has made in the services, and takes away. */
export interface Premises {
	readonly assignment: Assignment
	records(): Promise<Row[]>
	/** The references of the payments that were run, one for each run. */
	payments(): Promise<string[]>
	/** Takes tables and keys away. */
	leave(): Promise<void>
}

const CONNECT_MS = 10_000

/** @throws Error when a service can't be reached, saying which one, and where it was looked for */
export async function enter(): Promise<Premises> {
	const postgres = urlOf('postgres')
	const redis = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379'
	const cache = await openRedis(redis)
	const client = await openPostgres(postgres).catch((error: unknown) => {
		cache.disconnect()
		throw error
	})
	const name = `soak_${process.pid}_${randomBytes(3).toString('hex')}`
	const assignment: Assignment = {
		...{ postgres, redis, records: `${name}_records`, payments: `${name}_payments`, prefix: `${name}:` },
		secret: randomBytes(32).toString('base64'),
	}
	const { records, payments, prefix } = assignment
	const drop = `drop table if exists ${records}, ${payments}`
	async function leave(): Promise<void> {
		try {
			await client.query(drop)
			await forget(cache, prefix)
		} finally {
			await client.end()
			cache.disconnect()
		}
	}
	try {
		for (const statement of tablesOf(assignment)) await client.query(statement)
	} catch (error) {
		await leave()
		throw error
	}
	return {
		assignment,
		records: async () => {
			const { rows } = await client.query<Row>(
				`select id, shelf, title, rank, note, revision from ${records}`,
			)
			return rows
		},
		payments: async () => {
			const { rows } = await client.query<{ reference: string }>(`select reference from ${payments}`)
			return rows.map(({ reference }) => reference)
		},
		leave,
	}
}

function tablesOf({ records, payments }: Assignment): string[] {
	return [
		`create table ${records} (
			id serial primary key,
			shelf integer not null,
			title varchar(40) not null unique,
			rank integer not null,
			note text,
			revision integer not null default 1)`,
		`create index on ${records} (shelf, rank, id)`,
		`create table ${payments} (
			id serial primary key,
			caller varchar(60) not null,
			reference varchar(60) not null,
			amount integer not null)`,
	]
}

async function openPostgres(url: string): Promise<pg.Client> {
	const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS })
	try {
		await client.connect()
		return client
	} catch (error) {
		await client.end().catch(() => {})
		throw absent('PostgreSQL', url, 'BENCH_POSTGRES_URL', error)
	}
}

async function openRedis(url: string): Promise<Redis> {
	const cache = new Redis(url, { lazyConnect: true, connectTimeout: CONNECT_MS, retryStrategy: () => null })
	let reason: unknown
	cache.on('error', (error) => {
		reason = error
	})
	try {
		await cache.connect()
		await cache.ping()
		return cache
	} catch (error) {
		cache.disconnect()
		throw absent('Redis', url, 'BENCH_REDIS_URL', reason ?? error)
	}
}

/** The address without its user and password. */
function absent(service: string, url: string, variable: string, cause: unknown): Error {
	const { host, pathname } = new URL(url)
	const reason = cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : String(cause)
	return new Error(
		`${service} can't be reached at ${host}${pathname} (${variable} says otherwise): ${reason}`,
		{ cause },
	)
}

async function forget(cache: Redis, prefix: string): Promise<void> {
	let cursor = '0'
	do {
		const [next, keys] = await cache.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 5_000)
		if (keys.length > 0) await cache.unlink(...keys)
		cursor = next
	} while (cursor !== '0')
}
