/** A primary and its replica behind an address that follows the primary: requests during a switchover. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, type Server } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import {
	backWithin,
	balancerTo,
	filled,
	MAX,
	type Served,
	sameAs,
	serving,
	writing,
} from '../../helpers/failover.ts'
import { Log, until } from '../../helpers/listening.ts'
import { type OwnPostgres, openDatabase, ownPostgres, ownPostgresHere } from '../../helpers/postgres.ts'
import { inTimesOf } from '../../helpers/stalls.ts'

const DRIVERS = ['pg', 'postgres.js'] as const

/** Runs a statement on a server directly, not through the address. */
async function ask({ port }: OwnPostgres, sql: string): Promise<Record<string, unknown>[]> {
	const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
	await client.connect()
	try {
		return (await client.query(sql)).rows
	} finally {
		await client.end()
	}
}

/** Synchronous replication: a confirmed commit is on the replica, too. */
async function inStep(primary: OwnPostgres, replica: OwnPostgres): Promise<void> {
	await ask(primary, "alter system set synchronous_standby_names = '*'")
	await ask(primary, 'select pg_reload_conf()')
	const sql = "select 1 from pg_stat_replication where sync_state = 'sync'"
	await until(async () => (await ask(primary, sql)).length === 1, `the replica at ${replica.port}`)
}

/** As many concurrent requests as may wait for a connection. */
async function isServed({ post, get }: Served): Promise<boolean> {
	const posts = await Promise.all(Array.from({ length: MAX * 2 }, () => post()))
	return posts.every(({ status }) => status === 201) && (await get()) === 200
}

async function refuses({ post, get, ready, readerReady }: Served): Promise<void> {
	await until(async () => (await get()) === 200, 'reads by the replica')
	const refused = await post()
	assert.is(refused.status, 503)
	assert.is(JSON.parse(refused.text()).code, 'unavailable')
	assert.is(refused.headers['retry-after'], '5')
	assert.equal([await ready(), await readerReady()], [503, 200])
}

if (await ownPostgresHere())
	describe('a PostgreSQL primary that swaps roles with its replica', (test) => {
		/** The primary is the first. */
		let pair: readonly [OwnPostgres, OwnPostgres]
		test.before(async () => {
			const first = await ownPostgres()
			await ask(first, 'create table article (id serial primary key, title varchar(40) not null)')
			await ask(
				first,
				'create table note (id serial primary key, title text, revision bigint not null default (extract(epoch from clock_timestamp()) * 1000000)::bigint)',
			)
			pair = [first, await ownPostgres(first)]
		})
		test.after(async () => {
			for (const server of pair ?? []) await server.remove()
		})

		/** Opens models through an address that leads to the primary. */
		const opened = async (
			work: (
				models: readonly (Served & { name: string; model: PostgresModel })[],
				leadTo: (server: OwnPostgres) => void,
			) => Promise<void>,
		): Promise<void> => {
			await inStep(...pair)
			const address = await balancerTo(pair[0].port)
			const databases = await Promise.all(
				DRIVERS.map((name) => openDatabase(name, {}, { max: MAX, port: address.port })),
			)
			try {
				const models = await Promise.all(
					databases.map(async ({ name, database }) => {
						const model = await PostgresModel.open(database, 'article', { timeoutSeconds: 30 })
						return { name, model, ...serving(model) }
					}),
				)
				await work(models, ({ port }) => address.to(port))
			} finally {
				await Promise.all(databases.map(({ close }) => close()))
				await address.close()
			}
		}
		/** The old primary is a readable replica, and the address leads to it. */
		const demoted = async (): Promise<void> => {
			const [old, next] = pair
			await old.follow(next)
			pair = [next, old]
		}

		test('under load: each 201 is stored once, 503 meanwhile, and requests succeed within a second', () =>
			inTimesOf(1_000, (time) =>
				opened(async (models, leadTo) => {
					let isOver = false
					const reads = new Set<number>()
					const loads = models.map((served) => {
						const answers = new Map<string, string>()
						const reading = async () => {
							while (!isOver) reads.add(await served.get())
						}
						const name = `${served.name} ${pair[0].port} `
						return { answers, done: Promise.all([writing(served, answers, () => isOver, name), reading()]) }
					})
					try {
						await until(() => loads.every(({ answers }) => answers.size >= 50), 'records')
						await demoted()
						for (const served of models) await refuses(served)
						await pair[0].promote()
						leadTo(pair[0])
						await backWithin(time, async () => (await Promise.all(models.map(isServed))).every(Boolean))
						for (const { ready } of models) assert.is(await ready(), 200)
					} finally {
						isOver = true
						await Promise.all(loads.map(({ done }) => done))
					}
					const rows = await ask(pair[0], 'select title, count(*)::int n from article group by title')
					const counts = new Map(rows.map(({ title, n }) => [title, Number(n)]))
					for (const { answers } of loads) {
						sameAs(answers, counts)
						const kinds = new Set(answers.values())
						assert.ok(kinds.has('201') && kinds.has('503 unavailable'), [...kinds].join())
					}
					assert.equal([...reads].sort(), [200, 503])
				}),
			))

		test('connections to the demoted server are discarded, the newest ones too', () =>
			inTimesOf(1_000, (time) =>
				opened(async (models, leadTo) => {
					const [old] = pair
					await demoted()
					await pair[0].promote()
					for (const served of models) {
						await refuses(served)
						await filled(served.model)
					}
					leadTo(pair[0])
					await backWithin(time, async () => (await Promise.all(models.map(isServed))).every(Boolean))
					const left = `select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`
					await until(async () => (await ask(old, left)).length === 0, 'no connection to the old primary')
				}),
			))

		for (const name of DRIVERS)
			test(`a separate read replica, by ${name}: its ETags match the primary's, through replication lag; a write is 503`, async () => {
				const [, replica] = pair
				const databases = await Promise.all(
					pair.map(({ port }) => openDatabase(name, {}, { max: MAX, port })),
				)
				try {
					const [writer, reader, refusing] = await Promise.all(
						([0, 1, 1] as const).map(async (at, server) => {
							const opened = databases[at]
							assert.ok(opened)
							const note = new CrudHandler(await PostgresModel.open(opened.database, 'note'), {
								visible: 'all',
								creatable: ['title'],
								updatable: ['title'],
								version: 'revision',
								allow: server === 1 ? ['list', 'read'] : ['read', 'create', 'update'],
							})
							const logger = new Log()
							return createServer({ note }, { logger, logRequests: false, health: { path: 'health' } })
						}),
					)
					assert.ok(writer && reader && refusing)
					const body = JSON.stringify({ title: 'a' })
					const headers = { 'content-type': 'application/json' }
					const create = { method: 'POST', url: '/note', headers, body }
					const { status, headers: made } = await writer.inject(create)
					assert.is(status, 201)
					const url = String(made.location).replace(/^https?:[/][/][^/]*/, '')
					const etag = String(made.etag)
					await until(async () => (await reader.inject({ url })).status === 200, 'the record at the replica')
					assert.is((await reader.inject({ url })).headers.etag, etag)
					assert.is((await reader.inject({ url, headers: { 'if-none-match': etag } })).status, 304)

					// It may lag for any time: writes are not visible yet, and an old ETag is refused by the primary.
					await ask(replica, 'select pg_wal_replay_pause()')
					const patch = async (match: string, title: string) =>
						writer.inject({
							...{ method: 'PATCH', url, body: JSON.stringify({ title }) },
							headers: { ...headers, 'if-match': match },
						})
					const changed = await patch(etag, 'b')
					assert.is(changed.status, 200)
					const old = await reader.inject({ url })
					assert.equal([old.status, old.headers.etag], [200, etag])
					assert.is((await patch(String(old.headers.etag), 'c')).status, 412)
					await ask(replica, 'select pg_wal_replay_resume()')
					const seen = async () => (await reader.inject({ url })).headers.etag === changed.headers.etag
					await until(seen, 'the change at the replica')
					const list = await reader.inject({ url: '/note?sort=id' })
					assert.is(list.status, 200)
					assert.is(JSON.parse(list.text()).data.at(-1).title, 'b')

					const refused = await refusing.inject(create)
					assert.is(refused.status, 503)
					assert.ok(refused.headers['retry-after'])
					assert.is((await reader.inject(create)).status, 405)
					const ready = async (server: Server) => (await server.inject({ url: '/health/ready' })).status
					assert.equal([await ready(reader), await ready(refusing)], [200, 503])
				} finally {
					await ask(replica, 'select pg_wal_replay_resume()')
					for (const { close } of databases) await close()
				}
			})
	})
