/** A primary and a replica for reads, at one server: the second pool leads to the primary itself. Real replicas: `replicas.long.ts`. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, RestHandler, transaction } from '../../../lib/index.ts'
import { type DatabaseSession, PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { driversHere, openDatabase } from '../../helpers/postgres.ts'

const TABLE = `replicas_${process.pid}`
const JSON_TYPE = { 'content-type': 'application/json' }

/** An address that only a lost packet has. */
const CLOSED = { host: '127.0.0.1', port: 1, max: 1 }

/** What each pool has sent about the table. */
function counted(texts: string[]): number {
	return texts.splice(0).filter((text) => text.includes(TABLE) || text.includes('set_config')).length
}

for (const name of (await driversHere()).filter((one) => one !== 'PGlite'))
	describe(`a primary with a replica, by ${name}`, (test) => {
		const opened = Promise.all([openDatabase(name), openDatabase(name)])
		const pools = opened.then(([write, read]) => ({
			...{ write: write.database, read: [read.database], staleSeconds: 60 },
		}))
		test.before(async () => {
			const [{ exec }] = await opened
			await exec(
				`drop table if exists ${TABLE}; create table ${TABLE} (id int primary key, title text, version bigint not null default 1, parent int references ${TABLE})`,
			)
		})
		test.after(async () => {
			const [write, read] = await opened
			await write.exec(`drop table ${TABLE}`)
			await Promise.all([write.close(), read.close()])
		})

		if (name === 'pg')
			test('a page of metrics has the pools of both, and the reads of both', async () => {
				const model = await PostgresModel.open(await pools, TABLE)
				const thing = new CrudHandler(model, { visible: 'all' })
				const server = createServer({ thing }, { metrics: true, logger: new Log(), logRequests: false })
				assert.is((await server.inject({ method: 'GET', url: '/thing/77' })).status, 404)
				const page = (await server.inject({ method: 'GET', url: '/metrics' })).text()
				for (const line of [
					/^verbena_pool_max\{pool="postgresql"\} \d+$/m,
					/^verbena_pool_max\{pool="postgresql-2"\} \d+$/m,
				])
					assert.match(page, line)
				assert.match(page, /^verbena_record_reads_total 1$/m)
				await server.close()
			})

		test('reads of CRUD go to the replica, until their user has changed something', async () => {
			const [write, read] = await opened
			const model = await PostgresModel.open(await pools, TABLE)
			const sent: [string[], string[]] = [[], []]
			assert.equal(
				model.replicas?.states.map(({ isUsed, error }) => [isUsed, error]),
				[[true, undefined]],
			)
			const { replicas } = model
			assert.ok(replicas)
			// Seen from outside, both pools lead to one server: what each driver sends is counted.
			for (const [at, { database }] of [write, read].entries()) watch(database, sent[at] ?? [])
			class Things extends CrudHandler {
				override session(): DatabaseSession {
					return this.request.headers['x-session'] === undefined ? {} : { settings: { 'app.user': 'ada' } }
				}

				async get_twice() {
					await this.create({ id: 90, title: 'by GET' })
					return this.read('90')
				}

				async get_counted() {
					return transaction([this], async ([own]) => own.list({}))
				}
			}
			const thing = new Things(model, {
				visible: 'all',
				updatable: ['title'],
				creatable: ['id', 'title', 'parent'],
				version: 'version',
				allow: ['list', 'read', 'create', 'update', 'remove', 'totals'],
				totals: { by: ['title'] },
				relations: { children: { to: () => thing, by: 'parent', many: true } },
			})
			class Plain extends RestHandler {
				post_change() {
					return transaction([model], async () => null, { request: this })
				}
			}
			const server = createServer({ thing, plain: new Plain() }, { logger: new Log(), logRequests: false })
			const asked = async (
				method: string,
				url: string,
				ip: string,
				more: { body?: string; headers?: object } = {},
			) => {
				for (const texts of sent) texts.splice(0)
				const { status } = await server.inject({
					...{ method, url, remoteAddress: ip },
					headers: { ...JSON_TYPE, ...more.headers },
					...(more.body === undefined ? {} : { body: more.body }),
				})
				const [primary, replica] = sent.map(counted)
				return [status, (primary ?? 0) > 0, (replica ?? 0) > 0]
			}
			const [atPrimary, atReplica] = [
				[200, true, false],
				[200, false, true],
			]
			const body = JSON.stringify({ id: 1, title: 'a' })
			assert.equal(await asked('POST', '/thing', '10.0.0.1', { body }), [201, true, false])
			for (const url of [
				'/thing',
				'/thing/1',
				'/thing/totals?by=title',
				'/thing/1?include=children',
				'/thing/1/children',
			]) {
				assert.equal(await asked('GET', url, '10.0.0.1'), atPrimary, url)
				assert.equal(await asked('GET', url, '10.0.0.2'), atReplica, url)
			}
			assert.equal(await asked('QUERY', '/thing', '10.0.0.2', { body: '{}' }), atReplica)
			assert.equal(await asked('GET', '/thing/1', '10.0.0.2', { headers: { 'x-session': '1' } }), atReplica)
			// What a change needs to know is read where it is changed.
			const stale = { body: JSON.stringify({ title: 'b' }), headers: { 'if-match': '"1", "7"' } }
			assert.equal(await asked('PATCH', '/thing/1', '10.0.0.3', stale), [412, true, false])
			assert.equal(await asked('PATCH', '/thing/1', '10.0.0.3', { body: '{}' }), atPrimary)
			assert.equal(await asked('GET', '/thing/1', '10.0.0.3'), atPrimary)
			assert.equal(await asked('GET', '/thing/counted', '10.0.0.4'), atPrimary)
			assert.equal(await asked('GET', '/thing/twice', '10.0.0.5'), atPrimary)
			assert.equal(await asked('GET', '/thing/90', '10.0.0.5'), atPrimary)
			assert.equal((await asked('POST', '/plain/change', '10.0.0.6'))[0], 200)
			assert.equal(await asked('GET', '/thing/90', '10.0.0.6'), atPrimary)
			assert.equal(await asked('DELETE', '/thing/90', '10.0.0.7'), atPrimary)
		})
	})

/** Records the texts that are sent by a pool of pg, or a `sql` of postgres.js. */
function watch(database: object, texts: string[]): void {
	if (typeof database === 'function') {
		const unsafe = Reflect.get(database, 'unsafe') as (text: string, ...rest: unknown[]) => unknown
		const begin = Reflect.get(database, 'begin') as (work: (sql: object) => unknown) => unknown
		Reflect.set(database, 'unsafe', (text: string, ...rest: unknown[]) => {
			texts.push(text)
			return unsafe(text, ...rest)
		})
		Reflect.set(database, 'begin', (work: (sql: object) => unknown) =>
			begin((sql) => {
				watch(sql, texts)
				return work(sql)
			}),
		)
		return
	}
	const pool = database as pg.Pool // of pg, as it isn't postgres.js
	pool.on('acquire', (client) => {
		if (Reflect.has(client, 'isWatched')) return
		Reflect.set(client, 'isWatched', true)
		const query = Reflect.get(client, 'query') as (...args: unknown[]) => unknown
		Reflect.set(client, 'query', (...args: unknown[]) => {
			texts.push(JSON.stringify(args[0], (key, value) => (key === 'callback' ? undefined : value)))
			const main: unknown = Reflect.get(Object(args[0]), 'text')
			texts.push(String(main))
			return query.apply(client, args)
		})
	})
}

describe('a primary with replicas', (test) => {
	const given = Promise.all([openDatabase('pg'), openDatabase('pg'), openDatabase('postgres.js')])
	test.after(async () => {
		for (const { close } of await given) await close()
	})
	const refusal = async (database: object): Promise<string> =>
		PostgresModel.open(database as never, TABLE).then(
			() => 'opened',
			(error) => `${error.name}: ${error.message}`,
		)

	test('is refused, with the reason, unless each pool leads to a replica of its own', async () => {
		const [write, read, other] = (await given).map(({ database }) => database)
		const messages: [object, string][] = [
			[
				{ write, read: [] },
				'TypeError: PostgresModel: read must be a list of pools, one for each replica, got an empty array',
			],
			[{ write, reads: [read] }, 'TypeError: PostgresModel has no option reads: did you mean read?'],
			[
				{ write, read: [write] },
				'TypeError: PostgresModel: write and read must have different pools, one for each server',
			],
			[
				{ write, read: [read], staleSeconds: 0 },
				'RangeError: PostgresModel: staleSeconds must be a number from 1 to 3600, got 0',
			],
			[{ write, read: [other] }, 'TypeError: PostgresModel: write and read[0] must be of the same library'],
		]
		for (const [database, message] of messages) assert.is(await refusal(database), message)
		const elsewhere = new pg.Pool({ ...(write as pg.Pool).options, database: 'postgres' })
		try {
			assert.match(
				await refusal({ write, read: [elsewhere] }),
				/^TypeError: PostgresModel: read\[0\] is not a replica of write: its database is postgres, not /,
			)
		} finally {
			await elsewhere.end()
		}
	})

	test('a replica that cannot be reached stops neither the opening nor reads', async () => {
		const [{ database, exec }] = await given
		await exec(`create table if not exists ${TABLE}_b (id int primary key)`)
		const closed = new pg.Pool(CLOSED)
		try {
			const model = await PostgresModel.open({ write: database, read: [closed] }, `${TABLE}_b`)
			await exec(`drop table ${TABLE}_b`)
			assert.is(model.replicas?.states[0]?.isUsed, false)
			assert.match(String(model.replicas?.states[0]?.error), 'could not get a connection')
			assert.is(model.replicas?.choose('x'), undefined)
			const error = await refusal({ write: database, read: [new pg.Pool(CLOSED)] })
			assert.match(error, 'this pool was opened with another read or staleSeconds')
		} finally {
			await closed.end()
		}
	})
})
