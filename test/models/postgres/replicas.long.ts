/**
 * A primary and two hot standbys, with HAProxy in front of the primary as docs/models.md says: reads by the standbys, one
 * that lags, one that is killed, and a failover under load.
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
import { HAPROXY, hasProxies } from '../../behaviour/deployment/proxies.ts'
import { describe } from '../../helpers/describe.ts'
import { backWithin, sameAs } from '../../helpers/failover.ts'
import { Log, until } from '../../helpers/listening.ts'
import { type OwnPostgres, ownPostgres, ownPostgresHere } from '../../helpers/postgres.ts'
import { freePorts, type Running, start } from '../../helpers/program.ts'

const WRITERS = 4
const JSON_TYPE = { 'content-type': 'application/json' }

async function ask({ port }: { port: number }, sql: string): Promise<Record<string, unknown>[]> {
	const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
	client.on('error', () => {})
	await client.connect()
	try {
		return (await client.query(sql)).rows
	} finally {
		await client.end()
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
async function addressOf(servers: readonly OwnPostgres[]) {
	const [port = 0] = await freePorts(1)
	const roles = await Promise.all(servers.map(roleOf))
	const folder = mkdtempSync(join(tmpdir(), 'verbena-primary-'))
	const lines = servers.map(
		(server, at) => `  server s${at} 127.0.0.1:${server.port} check port ${roles[at]?.port}`,
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
		const turns = servers.map(() => ask({ port }, 'select pg_is_in_recovery() as yes'))
		const found = await Promise.all(turns).catch(() => [])
		return found.length > 0 && found.every(([row]) => row?.yes === false)
	}, 'HAProxy leads to the primary')
	return {
		port,
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

/** As a user without any rights but those on the table. */
const LIBRARIES: Readonly<Record<string, (port: number) => Pool>> = {
	pg: (port) => {
		const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'app', database: 'postgres', max: 4 })
		return { database: pool, close: () => pool.end() }
	},
	'postgres.js': (port) => {
		const options = { host: '127.0.0.1', port, user: 'app', database: 'postgres', max: 4 }
		const sql = postgres({ ...options, onnotice: () => {} })
		return { database: sql, close: () => sql.end({ timeout: 1 }) }
	},
}

/** A server over the table, with reads by the standbys. */
async function served(library: string, write: number, read: readonly number[]) {
	const make = LIBRARIES[library]
	assert.ok(make)
	const pools = [write, ...read].map(make)
	const [primary, ...standbys] = pools.map(({ database }) => database)
	assert.ok(primary)
	const model = await PostgresModel.open({ write: primary, read: standbys, staleSeconds: 1 }, 'article')
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

type Served = Awaited<ReturnType<typeof served>>

/** What clients have been told. */
class Load {
	readonly answers = new Map<string, string>()
	readonly reads = new Map<string, number>()
	isOver = false
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

	/** Creates records, and reads each of them at once, by the same address. */
	async #write(writer: number): Promise<void> {
		const ip = `10.0.0.${writer + 1}`
		for (let count = 0; !this.isOver; count++) {
			const title = `${this.#name} ${writer}-${count}`
			const { status, text, headers } = await this.#served.post(title, ip)
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
		const { status, text } = await this.#served.get(url, ip)
		const answer = status === 200 ? '200' : `${status} ${JSON.parse(text()).code}`
		this.reads.set(answer, (this.reads.get(answer) ?? 0) + 1)
	}
}

if ((await ownPostgresHere()) && (hasProxies || process.env.CI === 'true'))
	describe('a PostgreSQL primary with two hot standbys', (test) => {
		let servers: [OwnPostgres, OwnPostgres, OwnPostgres]
		/** Those to remove, also if another one doesn't start. */
		const started: OwnPostgres[] = []
		let address: Awaited<ReturnType<typeof addressOf>>
		test.before(async () => {
			const primary = await ownPostgres()
			started.push(primary)
			await ask(primary, 'create table article (id serial primary key, title varchar(40) not null)')
			await ask(primary, "alter system set wal_keep_size = '256MB'")
			await ask(primary, 'select pg_reload_conf()')
			await ask(primary, 'create user app')
			await ask(
				primary,
				'grant select, insert on article to app; grant usage on sequence article_id_seq to app',
			)
			for (let count = 0; count < 2; count++) started.push(await ownPostgres(primary))
			const [, second, third] = started
			assert.ok(second && third)
			servers = [primary, second, third]
			// A change is acknowledged once a standby has it, too.
			await ask(primary, "alter system set synchronous_standby_names = 'ANY 1 (*)'")
			await ask(primary, 'select pg_reload_conf()')
			const inStep = "select 1 from pg_stat_replication where sync_state = 'quorum'"
			await until(async () => (await ask(primary, inStep)).length === 2, 'both standbys')
			address = await addressOf(servers)
		})
		test.after(async () => {
			await address?.close()
			for (const server of started) await server.remove()
		})

		/** Both libraries under load. */
		const loaded = async (
			name: string,
			work: (all: readonly { load: Load; served: Served }[]) => Promise<void>,
		) => {
			const [, second, third] = servers
			const read = [second.port, third.port]
			const all = await Promise.all(
				Object.keys(LIBRARIES).map((library) => served(library, address.port, read)),
			)
			const loads = all.map((one) => ({ served: one, load: new Load(one, name) }))
			try {
				await work(loads)
			} finally {
				await Promise.all(loads.map(({ load }) => load.end()))
				await Promise.all(all.map(({ close }) => close()))
			}
		}
		const eachUsed = (all: readonly { served: Served }[], expected: readonly boolean[]) =>
			Promise.all(all.map((one) => one.served.untilUsed(expected)))

		test('a standby that lags is left out until it has caught up, one that is killed until it is back', () =>
			loaded('lag', async (all) => {
				const [, lagging, killed] = servers
				for (const { served } of all) assert.equal(served.used(), [true, true])
				await ask(lagging, 'select pg_wal_replay_pause()')
				await eachUsed(all, [false, true])
				await ask(lagging, 'select pg_wal_replay_resume()')
				await eachUsed(all, [true, true])
				await killed.kill()
				await eachUsed(all, [true, false])
				await until(
					async () =>
						killed.start().then(
							() => true,
							() => false,
						),
					'the restart',
				)
				await eachUsed(all, [true, true])
				for (const { load } of all) {
					assert.equal([...new Set(load.answers.values())], ['201'])
					assert.equal([...load.reads.keys()], ['200'])
				}
				const one =
					"select 1 from pg_stat_user_tables where relname = 'article' and idx_scan + seq_scan > 100"
				const isRead = () =>
					ask(killed, one).then(
						({ length }) => length === 1,
						() => false,
					)
				await until(isRead, 'reads at a standby')
			}))

		test('failover under load: no acknowledged change is lost, only 503 meanwhile, and service within 5 s', () =>
			loaded('failover', async (all) => {
				const [old, second, third] = servers
				await until(() => all.every(({ load }) => load.answers.size >= 50), 'records')
				await old.kill()
				await until(
					() => all.every(({ load }) => [...load.answers.values()].some((one) => one !== '201')),
					'refusals',
				)
				for (const { served } of all) {
					const { status } = await served.get('/article?limit=1', '10.9.9.9')
					assert.is(status, 200, 'reads by standbys')
				}
				// The one that has received more has every acknowledged change.
				const received = async (server: OwnPostgres) =>
					BigInt(String((await ask(server, "select (pg_last_wal_receive_lsn() - '0/0')::text at"))[0]?.at))
				const [next, other] =
					(await received(second)) >= (await received(third)) ? [second, third] : [third, second]
				await next.promote()
				const promoted = performance.now()
				await backWithin(5_000, async () => {
					const posts = await Promise.all(
						all.flatMap(({ served }) =>
							Array.from({ length: 8 }, (_, at) => served.post('after', `10.2.0.${at}`)),
						),
					)
					return posts.every(({ status }) => status === 201)
				})
				console.log(`served again ${Math.round(performance.now() - promoted)} ms after the promotion`)
				await other.follow(next)
				await eachUsed(all, [true, true])
				await Promise.all(all.map(({ load }) => load.end()))
				const rows = await ask(next, 'select title, count(*)::int n from article group by title')
				const counts = new Map(rows.map(({ title, n }) => [title, Number(n)]))
				for (const { load, served } of all) {
					sameAs(load.answers, counts)
					console.log(`${served.library}: reads ${JSON.stringify(Object.fromEntries(load.reads))}`)
					for (const answer of load.reads.keys())
						assert.ok(['200', '503 unavailable'].includes(answer), answer)
				}
			}))
	})
