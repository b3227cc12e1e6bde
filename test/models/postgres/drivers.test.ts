/** What the drivers do with connections, transactions and prepared statements. */
import pg from 'pg'
import postgres from 'postgres'
import * as assert from 'uvu/assert'
import type { Model, Selection } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { PgDriver } from '../../../lib/models/postgres/pg/driver.ts'
import { PostgresJsDriver } from '../../../lib/models/postgres/postgres-js/driver.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { type DriverName, driversHere, SERVER, untilOpened } from '../../helpers/postgres.ts'
import { stopwatch } from '../../helpers/stalls.ts'
import { databaseLater } from './databases.ts'

const SELECTION: Selection = { fields: ['id', 'a'], names: ['id', 'a'], version: undefined }
const FREE = { where: undefined, version: undefined }

async function failed(work: Promise<unknown>): Promise<unknown> {
	return work.then(
		() => undefined,
		(error: unknown) => error,
	)
}

function kindOf(error: unknown): unknown {
	return error instanceof ModelError ? error.kind : error
}

function driver(name: DriverName): void {
	describe(`transactions by ${name}`, (test) => {
		const table = `pgad_driver_${name.replace(/\W/g, '').toLowerCase()}`
		const opened = databaseLater(name, {}, { max: 2 })
		const open = async () => {
			const { database, exec } = await opened()
			await exec(`truncate ${table}`)
			return PostgresModel.open(database, table)
		}
		const add = (model: Model, id: number) => model.create({ id, a: 1 }, SELECTION)

		test.before(async () =>
			(await opened()).exec(
				`drop table if exists ${table}; create table ${table} (id int primary key, a int)`,
			),
		)
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(`drop table ${table}`)
			await close()
		})

		test('a failed nested transaction is rolled back alone', async () => {
			const model = await open()
			await model.transaction(async (outer) => {
				await add(outer, 1)
				const error = await failed(
					outer.transaction(async (inner) => {
						await add(inner, 2)
						await add(inner, 1)
					}),
				)
				assert.is(kindOf(error), 'unique')
				await outer.transaction(async (inner) => {
					await add(inner, 3)
					await inner.transaction((innermost) => add(innermost, 4))
				})
			})
			assert.equal(
				await Promise.all(
					['1', '2', '3', '4'].map(async (id) => (await model.read(id, SELECTION, undefined)) !== undefined),
				),
				[true, false, true, true],
			)
		})

		test('a swallowed failure still rolls back the transaction, and is reported', async () => {
			const model = await open()
			const error = await failed(
				model.transaction(async (within) => {
					await add(within, 1)
					await failed(add(within, 1))
				}),
			)
			assert.is(kindOf(error), 'unique')
			assert.is(await model.count(undefined), 0)
		})

		test('an error thrown by the work is rethrown unchanged', async () => {
			const model = await open()
			const own = new RangeError('own')
			const error = await failed(
				model.transaction(async (within) => {
					await add(within, 1)
					throw own
				}),
			)
			assert.is(error, own)
			assert.is(await model.count(undefined), 0)
		})

		test('concurrent statements are accepted', async () => {
			const model = await open()
			await model.transaction((within) => Promise.all([1, 2, 3].map((id) => add(within, id))))
			assert.is(await model.count(undefined), 3)
		})

		test('an array is returned unchanged', async () => {
			const model = await open()
			assert.equal(await model.transaction(async () => [1, [2]]), [1, [2]])
		})

		test('statements outside of the transaction do not join it', async () => {
			const model = await open()
			const { promise, resolve } = deferred()
			const within = model.transaction(async (inner) => {
				await add(inner, 1)
				await promise
				throw new Error('undone')
			})
			const outside = add(model, 2)
			try {
				if (name !== 'PGlite') await outside
			} finally {
				// Without it the transaction would hold its connection and the table for ever.
				resolve()
			}
			await failed(within)
			await outside
			assert.is(await model.count(undefined), 1)
		})

		test('a column altered under prepared statements causes no error', async () => {
			const { exec } = await opened()
			const model = await open()
			await add(model, 1)
			const order = [{ field: 'id', descending: false }]
			const list = () =>
				model.list({
					selection: SELECTION,
					where: undefined,
					order,
					limit: 5,
					offset: 0,
					after: undefined,
					total: false,
				})
			for (let i = 0; i < 6; i++) await list()
			await exec(`alter table ${table} alter column a type bigint; alter table ${table} add column b text`)
			assert.is((await list()).json, '[{"id":1,"a":1}]')
			assert.is((await model.read('1', SELECTION, undefined))?.json, '{"id":1,"a":1}')
			assert.is(kindOf(await failed(model.update('1', { a: 2 }, SELECTION, FREE))), undefined)
		})
	})
}

/** One connection, whose prepared statements are those of the model. */
function preparing(name: Exclude<DriverName, 'PGlite'>): void {
	describe(`prepared statements by ${name}`, (test) => {
		const table = `pgad_prepared_${name.replace(/\W/g, '').toLowerCase()}`
		const pool = new pg.Pool({ ...SERVER, max: 1 })
		const sql = postgres({ ...SERVER, max: 1, onnotice: () => {} })
		const opened = async () => {
			const database = name === 'pg' ? pool : sql
			const driver = name === 'pg' ? new PgDriver(pool, 30) : new PostgresJsDriver(sql, 30)
			await PostgresModel.open(database, table)
			return {
				driver,
				ask: (text: string) => driver.query({ text, values: ['1'], writes: false }),
				prepared: async () => {
					const told =
						"select count(*) || ' ' || coalesce(sum(length(statement)), 0) from pg_prepared_statements"
					const [count = 0, bytes = 0] = String(await ask(told))
						.split(' ')
						.map(Number)
					return { count, bytes }
				},
			}
		}
		const ask = async (text: string): Promise<unknown> => {
			const [row] = name === 'pg' ? (await pool.query(text)).rows : await sql.unsafe(text).simple()
			return row === undefined ? undefined : Object.values(row)[0]
		}

		test.before(async () => {
			await ask(`drop table if exists ${table}`)
			await ask(`create table ${table} as select n as id, n as a from generate_series(1, 300) n`)
			await ask(`alter table ${table} add primary key (id)`)
		})
		test.after(async () => {
			await ask(`drop table ${table}`)
			await Promise.all([pool.end(), sql.end({ timeout: 1 })])
		})

		test('statements with few values stay prepared, those with many do not', async () => {
			const model = await PostgresModel.open(name === 'pg' ? pool : sql, table)
			const prepared = async () => Number(await ask('select count(*) from pg_prepared_statements'))
			const count = (length: number) =>
				model.count({
					op: 'or',
					terms: Array.from({ length }, (_, at) => ({ op: 'eq', field: 'id', value: at + 1 }) as const),
				})
			const before = await prepared()
			for (let length = 1; length <= 20; length++) assert.is(await count(length), length)
			for (let length = 1; length <= 20; length++) assert.is(await count(length), length)
			assert.is((await prepared()) - before, 20)
			for (let time = 0; time < 2; time++) assert.is(await count(128), 128)
			assert.is((await prepared()) - before, 21)
			for (let time = 0; time < 2; time++)
				for (let length = 129; length <= 168; length++) assert.is(await count(length), length)
			assert.is((await prepared()) - before, 21)
		})

		test('a statement used once does not stay prepared', async () => {
			const { ask: run, prepared } = await opened()
			const before = await prepared()
			for (let n = 0; n < 20; n++) await run(odd(n, 'once'))
			assert.equal(await prepared(), before)
		})

		test('ever-changing statements are bounded in the server, and do not evict those in use', async () => {
			const { ask: run, prepared } = await opened()
			const [hot, late] = ['select $1::int as hot', 'select $1::int as late']
			const isPrepared = async (text: string) =>
				Number(await ask(`select count(*) from pg_prepared_statements where statement = '${text}'`)) === 1
			for (let time = 0; time < 2; time++) await run(hot)
			for (let n = 0; n < 80; n++) {
				for (let time = 0; time < 2; time++) await run(odd(n, 'kept'))
				await run(hot)
			}
			assert.ok(await isPrepared(hot))
			// postgres.js replaces a connection after as many statements again were dropped.
			const most = 524_288 * (name === 'pg' ? 1 : 2) + 65_536
			const { bytes } = await prepared()
			assert.ok(bytes < most, `${bytes} bytes of texts`)
			for (let time = 0; time < 2; time++) await run(late)
			assert.ok(await isPrepared(late))
		})

		test('within a transaction they are bounded too, after errors of its savepoints', async () => {
			const { driver, prepared } = await opened()
			const read = (text: string) => ({ text, values: ['1'], writes: false })
			await driver.transaction(async (within) => {
				for (let n = 0; n < 60; n++) {
					for (let time = 0; time < 2; time++)
						assert.is(String((await within.query(read(odd(n, 'within')))).rows), String(n))
					await failed(within.transaction((inner) => inner.query(read(`select $1::int / 0 as n -- ${n}`))))
				}
			})
			const { bytes } = await prepared()
			assert.ok(bytes < 524_288 * 2 + 65_536, `${bytes} bytes of texts`)
		})
	})
}

/** A long statement used nowhere else. */
function odd(n: number, what: string): string {
	return `select ${n} where $1::int = 1 /* ${what} ${'x'.repeat(20_000)} */`
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
	let resolve = () => {}
	const promise = new Promise<void>((done) => {
		resolve = done
	})
	return { promise, resolve }
}

const drivers = await driversHere()
for (const name of drivers) {
	driver(name)
	if (name !== 'PGlite') preparing(name)
}

function pools(): void {
	describe('a pg Pool', (test) => {
		const pool = new pg.Pool({ ...SERVER, max: 1 })
		const open = (timeoutSeconds = 30) => PostgresModel.open(pool, 'pgad_pool', { timeoutSeconds })
		const pid = async () => (await pool.query('select pg_backend_pid() pid')).rows[0].pid

		test.before(async () => {
			await pool.query('drop table if exists pgad_pool; create table pgad_pool (id int primary key, a int)')
		})
		test.after(async () => {
			await pool.query('drop table pgad_pool')
			await pool.end()
		})

		test('keeps its connection when a statement is refused', async () => {
			const model = await open()
			await model.create({ id: 1, a: 1 }, SELECTION)
			const before = await pid()
			for (let i = 0; i < 3; i++)
				assert.is(kindOf(await failed(model.create({ id: 1, a: 1 }, SELECTION))), 'unique')
			const error = await failed(model.transaction((within) => within.create({ id: 1, a: 1 }, SELECTION)))
			assert.is(kindOf(error), 'unique')
			assert.is(await pid(), before)
		})

		test('when exhausted is unavailable in time, and no queued statement is executed later', async () => {
			const patient = await open()
			const model = await untilOpened(() => open(0.2))
			const client = await pool.connect()
			try {
				const took = stopwatch()
				const kinds = await Promise.all([
					failed(model.create({ id: 7, a: 1 }, SELECTION)),
					failed(model.transaction((within) => within.create({ id: 8, a: 1 }, SELECTION))),
					failed(model.count(undefined)),
				])
				assert.equal(kinds.map(kindOf), ['unavailable', 'unavailable', 'unavailable'])
				assert.ok(took() < 1_000)
			} finally {
				client.release()
			}
			assert.is(await patient.count({ op: 'in', field: 'id', values: [7, 8] }), 0)
			assert.is(pool.waitingCount, 0)
		})

		test('discards a connection that hangs', async () => {
			const patient = await open()
			const model = await untilOpened(() => open(0.2))
			const before = await pid()
			const other = new pg.Client(SERVER)
			await other.connect()
			try {
				await other.query('begin; lock table pgad_pool')
				assert.is(kindOf(await failed(model.create({ id: 9, a: 1 }, SELECTION))), 'outcome_unknown')
				assert.is.not(await pid(), before)
				await other.query('rollback')
				assert.is(await patient.count({ op: 'eq', field: 'id', value: 1 }), 1)
			} finally {
				await other.end()
			}
		})

		test('gets an error listener only when it has none', async () => {
			assert.is(pool.listenerCount('error'), 1)
			const heard = new pg.Pool(SERVER)
			const listener = () => {}
			heard.on('error', listener)
			await PostgresModel.open(heard, 'pgad_pool')
			assert.equal(heard.listeners('error'), [listener])
			await heard.end()
		})

		test('replaces a connection ended by the server for the next waiter', async () => {
			const own = new pg.Pool({ ...SERVER, max: 1, application_name: 'pgad_ended' })
			try {
				const driver = new PgDriver(own, 60)
				const ask = (text: string) => driver.query({ text, values: [], writes: false })
				const asleep = failed(ask('select pg_sleep(50)'))
				const next = ask('select 1')
				await until(async () => {
					const { rowCount } = await pool.query(
						`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
						and application_name = 'pgad_ended' and query like '%pg_sleep%' and state = 'active'`,
					)
					return rowCount === 1
				}, 'it is at work, and ended')
				assert.match(String(await asleep), 'terminating connection due to administrator command')
				assert.equal((await next).rows, [['1']])
			} finally {
				await own.end()
			}
		})

		test('recovers when the server has deallocated prepared statements', async () => {
			const own = new pg.Pool({ ...SERVER, max: 1 })
			try {
				const model = await PostgresModel.open(own, 'pgad_pool')
				const count = async () => assert.is(await model.count({ op: 'eq', field: 'id', value: 1 }), 1)
				for (let time = 0; time < 2; time++) await count()
				await own.query('deallocate all')
				for (let time = 0; time < 2; time++) await count()
			} finally {
				await own.end()
			}
		})

		test('recovers when an altered table changes the result type of a prepared statement', async () => {
			const driver = new PgDriver(pool, 5)
			const all = { text: 'select * from pgad_pool where id = $1', values: ['1'], writes: false }
			for (let time = 0; time < 2; time++) assert.equal((await driver.query(all)).rows, [['1', '1']])
			await pool.query("alter table pgad_pool add column b text default 'b'")
			assert.equal((await driver.query(all)).rows, [['1', '1', 'b']])
			await pool.query('alter table pgad_pool drop column b')
			const error = await failed(driver.transaction((within) => within.query(all)))
			assert.match(String(error), 'cached plan must not change result type')
			assert.equal((await driver.query(all)).rows, [['1', '1']])
		})

		test('whose clients cannot close statements replaces its connections', async () => {
			const own = new pg.Pool({ ...SERVER, max: 1, pipeline: true })
			try {
				const driver = new PgDriver(own, 30)
				for (let n = 0; n < 80; n++)
					for (let time = 0; time < 2; time++)
						assert.equal((await driver.query({ text: odd(n, 'piped'), values: ['1'], writes: false })).rows, [
							[n],
						])
				const { rows } = await own.query(
					'select sum(length(statement))::int as bytes from pg_prepared_statements',
				)
				assert.ok(rows[0].bytes < 524_288 * 2 + 65_536, `${rows[0].bytes} bytes of texts`)
			} finally {
				await own.end()
			}
		})

		const kinds: [what: string, config: object][] = [
			['that sends before it has answers', { pipeline: true }],
			['whose statements have a time of its own', { query_timeout: 60_000 }],
			['that wants its values in binary form', { binary: true }],
		]
		for (const [what, config] of kinds) {
			test(`${what} returns the same records`, async () => {
				const own = new pg.Pool({ ...SERVER, max: 1, ...config })
				try {
					const model = await PostgresModel.open(own, 'pgad_pool')
					const written = await model.transaction(async (within) => {
						const { json } = await within.create({ id: 40, a: null }, SELECTION)
						assert.equal(await within.delete('40', SELECTION, FREE), { json, version: undefined })
						return json
					})
					assert.is(written, '{"id":40,"a":null}')
					const [one, none] = await Promise.all([
						model.read('1', SELECTION, undefined),
						model.read('2', SELECTION, undefined),
					])
					assert.equal([one?.json, none], ['{"id":1,"a":1}', undefined])
				} finally {
					await own.end()
				}
			})
		}

		test('that has been ended is unavailable', async () => {
			const ended = new pg.Pool(SERVER)
			const model = await PostgresModel.open(ended, 'pgad_pool')
			await ended.end()
			assert.is(kindOf(await failed(model.count(undefined))), 'unavailable')
		})
	})
}

if (drivers.includes('pg')) pools()
