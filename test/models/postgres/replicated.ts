/**
 * A PostgreSQL primary with two hot standbys, each a machine where that is possible; what leads to the primary, servers over a table
 * of it, and their load. Used by `replicas.long.ts`.
 */

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type Server as HttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import postgres from 'postgres'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer } from '../../../lib/index.ts'
import { type PostgresDatabase, PostgresModel } from '../../../lib/models/postgres/model.ts'
import { HAPROXY } from '../../behaviour/deployment/proxies.ts'
import { MAX } from '../../helpers/failover.ts'
import { Log, until } from '../../helpers/listening.ts'
import { hasMachines, type Machine, machines } from '../../helpers/machines.ts'
import { type OwnPostgres, ownPostgres } from '../../helpers/postgres.ts'
import { freePorts, type Running, start } from '../../helpers/program.ts'
import { alarm } from '../../helpers/stalls.ts'

const WRITERS = 4
/** A server that takes longer is taken to be silent, milliseconds. */
const PATIENCE = 5_000
/** No request takes longer than its model waits, 5 s, but for what a busy machine adds, milliseconds. */
const LATE = 8_000
const JSON_TYPE = { 'content-type': 'application/json' }

/** Where a server is, or what leads to it. */
export interface Address {
	readonly host: string
	readonly port: number
}

/** @throws Error also when the server is silent */
export async function ask({ host, port }: Address, sql: string): Promise<Record<string, unknown>[]> {
	const times = { connectionTimeoutMillis: PATIENCE, query_timeout: PATIENCE }
	const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres', ...times })
	client.on('error', () => {})
	try {
		await client.connect()
		return (await client.query(sql)).rows
	} finally {
		client.end().catch(() => {})
	}
}

/** Answers 200 while a server is the primary, for HAProxy: what Patroni does at `/primary`. */
async function roleOf(server: OwnPostgres): Promise<{ port: number; http: HttpServer }> {
	const http = createHttp(async (_, response) => {
		const isPrimary = await ask(server, 'select not pg_is_in_recovery() as yes').then(
			([row]) => row?.yes === true,
			() => false,
		)
		response.writeHead(isPrimary ? 200 : 503).end()
	})
	http.listen(0, '127.0.0.1')
	await once(http, 'listening')
	const address = http.address()
	return { http, port: typeof address === 'object' && address !== null ? address.port : 0 }
}

/** HAProxy before the servers: its address leads to the primary. */
export async function addressOf(servers: readonly OwnPostgres[]) {
	const [port = 0] = await freePorts(1)
	const roles = await Promise.all(servers.map(roleOf))
	const folder = mkdtempSync(join(tmpdir(), 'verbena-primary-'))
	const lines = servers.map(
		(server, at) =>
			`  server s${at} ${server.host}:${server.port} check addr 127.0.0.1 port ${roles[at]?.port}`,
	)
	writeFileSync(
		join(folder, 'haproxy.cfg'),
		`defaults
  mode tcp
  timeout connect 1s
  retries 0
  timeout check 10s
  timeout client 1m
  timeout server 1m
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  default-server inter 200ms fall 1 rise 1 on-marked-down shutdown-sessions
${lines.join('\n')}
`,
	)
	const haproxy: Running = start({ program: HAPROXY, args: ['-f', join(folder, 'haproxy.cfg')] })
	// It takes servers to be up until it has checked them, and gives them connections in turn.
	await until(async () => {
		assert.is(haproxy.child.exitCode, null, haproxy.output())
		const turns = servers.map(() => ask({ host: '127.0.0.1', port }, 'select pg_is_in_recovery() as yes'))
		const found = await Promise.all(turns).catch(() => [])
		return found.length > 0 && found.every(([row]) => row?.yes === false)
	}, 'HAProxy leads to the primary')
	return {
		...{ host: '127.0.0.1', port },
		close: async () => {
			haproxy.child.kill('SIGKILL')
			await haproxy.ended
			for (const { http } of roles) http.close().closeAllConnections()
			rmSync(folder, { recursive: true, force: true })
		},
	}
}

interface Pool {
	readonly database: PostgresDatabase
	close(): Promise<unknown>
}

/** As a user without any rights but those on the table; with the settings of docs/deployment.md. */
const LIBRARIES = {
	pg: (address: Address): Pool => {
		const options = { ...address, user: 'app', database: 'postgres', max: MAX, idleTimeoutMillis: 0 }
		const pool = new pg.Pool({ ...options, connectionTimeoutMillis: 2_000 })
		return { database: pool, close: () => pool.end() }
	},
	'postgres.js': (address: Address): Pool => {
		const options = { ...address, user: 'app', database: 'postgres', max: MAX, connect_timeout: 2 }
		const sql = postgres({ ...options, onnotice: () => {} })
		return { database: sql, close: () => sql.end({ timeout: 1 }) }
	},
}

export type Library = keyof typeof LIBRARIES
export const LIBRARY_NAMES: readonly Library[] = ['pg', 'postgres.js']

/** A server over the table, with reads by the standbys. */
export async function served(library: Library, write: Address, read: readonly Address[]) {
	const make = LIBRARIES[library]
	const pools = [write, ...read].map(make)
	const [primary, ...standbys] = pools.map(({ database }) => database)
	assert.ok(primary)
	const replicated = { write: primary, read: standbys, staleSeconds: 1 }
	const model = await PostgresModel.open(standbys.length === 0 ? primary : replicated, 'article')
	const article = new CrudHandler(model, {
		visible: 'all',
		creatable: ['title'],
		allow: ['list', 'read', 'create'],
	})
	const server = createServer({ article }, { logger: new Log(), logRequests: false })
	const post = (title: string, ip: string) =>
		server.inject({
			...{ method: 'POST', url: '/article', headers: JSON_TYPE, remoteAddress: ip },
			body: JSON.stringify({ title }),
		})
	const get = (url: string, ip: string) => server.inject({ url, remoteAddress: ip })
	const states = () => model.replicas?.states ?? []
	const used = () => states().map(({ isUsed }) => isUsed)
	return {
		...{ library, model, post, get, states, used },
		untilUsed: (expected: readonly boolean[]) =>
			until(async () => {
				await get('/article?limit=1', '10.9.9.9')
				return used().join() === expected.join()
			}, `replicas used: ${expected.join()}`),
		close: () => Promise.all(pools.map(({ close }) => close())),
	}
}

export type Served = Awaited<ReturnType<typeof served>>

/** What clients have been told. */
export class Load {
	readonly answers = new Map<string, string>()
	readonly reads = new Map<string, number>()
	/** The number of requests that took longer than `LATE`. */
	late = 0
	isOver = false
	readonly #running = new Set<Promise<unknown>>()
	readonly #served: Served
	/** With which its titles begin. */
	readonly #name: string
	readonly #done: Promise<unknown>

	constructor(served: Served, test: string) {
		this.#name = `${test} ${served.library}`
		this.#served = served
		const writers = Array.from({ length: WRITERS }, (_, at) => this.#write(at))
		this.#done = Promise.all([...writers, this.#read(), this.#read()])
	}

	end(): Promise<unknown> {
		this.isOver = true
		return this.#done
	}

	/** Resolves when what is asked for now has been answered. */
	async settled(): Promise<void> {
		await Promise.all(this.#running)
	}

	async #timed<T>(request: Promise<T>): Promise<T> {
		const callOff = alarm(LATE, () => {
			this.late++
		})
		this.#running.add(request)
		try {
			return await request
		} finally {
			this.#running.delete(request)
			callOff()
		}
	}

	/** Creates records, and reads each of them at once, by the same address. */
	async #write(writer: number): Promise<void> {
		const ip = `10.0.0.${writer + 1}`
		for (let count = 0; !this.isOver; count++) {
			const title = `${this.#name} ${writer}-${count}`
			const { status, text, headers } = await this.#timed(this.#served.post(title, ip))
			this.answers.set(title, status === 201 ? '201' : `${status} ${JSON.parse(text()).code}`)
			if (status === 201) await this.#get(String(headers.location).replace(/^https?:[/][/][^/]*/, ''), ip)
			await sleep(5)
		}
	}

	async #read(): Promise<void> {
		for (let count = 0; !this.isOver; count++) {
			await this.#get('/article?limit=5&sort=-id', `10.1.${count % 250}.1`)
			await sleep(2)
		}
	}

	async #get(url: string, ip: string): Promise<void> {
		const { status, text } = await this.#timed(this.#served.get(url, ip))
		const answer = status === 200 ? '200' : `${status} ${JSON.parse(text()).code}`
		this.reads.set(answer, (this.reads.get(answer) ?? 0) + 1)
	}
}

/** A primary and its standbys. */
export interface Cluster {
	/** The primary first. */
	readonly servers: readonly [OwnPostgres, OwnPostgres, OwnPostgres]
	/** Of a server; `undefined` where there can be no machines. */
	machineOf(server: OwnPostgres): Machine | undefined
	/** One more, for clients. */
	readonly client: Machine | undefined
	/** The first one is gone, and another has been promoted: makes it a standby of that, anew. */
	replaced(primary: OwnPostgres): Promise<void>
	remove(): Promise<void>
}

export async function ownCluster(): Promise<Cluster> {
	const network = hasMachines ? await machines(4) : undefined
	const started: OwnPostgres[] = []
	const remove = async () => {
		for (const server of started) await server.remove()
		await network?.remove()
	}
	const make = async (machine?: Machine, of?: OwnPostgres) => {
		const server = await ownPostgres(of, machine)
		started.push(server)
		return server
	}
	const machineOf = ({ host }: OwnPostgres) => network?.all.find(({ address }) => address === host)
	try {
		const primary = await make(network?.all[0])
		for (const sql of [
			'create table article (id serial primary key, title varchar(40) not null)',
			"alter system set wal_keep_size = '256MB'",
			'create user app',
			'grant select, insert on article to app; grant usage on sequence article_id_seq to app',
		])
			await ask(primary, sql)
		const standbys = [await make(network?.all[1], primary), await make(network?.all[2], primary)] as const
		await inStep(primary)
		let servers: Cluster['servers'] = [primary, ...standbys]
		return {
			...{ machineOf, remove, client: network?.all[3] },
			get servers() {
				return servers
			},
			async replaced(next) {
				const [old, ...rest] = servers
				const machine = machineOf(old)
				await old.remove()
				await machine?.mend()
				const other = rest.find((one) => one !== next)
				assert.ok(other)
				servers = [next, other, await make(machine, next)]
				await inStep(next)
			},
		}
	} catch (error) {
		await remove()
		throw error
	}
}

/** A change is acknowledged once one of the two standbys has it, too. */
async function inStep(primary: OwnPostgres): Promise<void> {
	await ask(primary, "alter system set synchronous_standby_names = 'ANY 1 (*)'")
	await ask(primary, 'select pg_reload_conf()')
	const ready = "select 1 from pg_stat_replication where sync_state = 'quorum'"
	await until(async () => (await ask(primary, ready)).length === 2, 'both standbys')
}
