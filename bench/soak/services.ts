/** The soak's own access to PostgreSQL and Redis: checks that they run, creates and removes tables and keys, reads the tables. */
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'
import { urlOf } from '../crud/databases.ts'
import type { Assignment } from './reports.ts'

/** A row of the table of records. */
export interface Row {
	readonly id: number
	readonly shelf: number
	readonly title: string
	readonly rank: number
	readonly note: string | null
	readonly revision: number
}

/** What a run has created in the services, and removes at its end. */
export interface Premises {
	readonly assignment: Assignment
	records(): Promise<Row[]>
	/** The references of payments, one per run. */
	payments(): Promise<string[]>
	/** Removes tables and keys. */
	leave(): Promise<void>
}

const CONNECT_MS = 10_000

/** @throws Error with the name and address of a service that can't be reached */
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

/** Names the address without user and password. */
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
