/** MariaDB stops, crashes, hangs or comes back; and its pool is exhausted. */
import { setTimeout } from 'node:timers/promises'
import mysql, { type Pool, type PoolOptions } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { CrudHandler } from '../../../lib/crud/crud-handler.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { MysqlModel, type MysqlOptions } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { mariadbIsHere, type OwnMariadb, ownMariadb } from '../../helpers/mariadb.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'
import { NO_GUARD, select } from './types.ts'

const ID = select('id')

/** Longer than any test: a statement that ends was ended by the server. */
const ENDLESS: MysqlOptions = { timeoutSeconds: 600 }

function outages(): void {
	describe('an outage of MariaDB', (test) => {
		let server: OwnMariadb
		const pools: Pool[] = []
		const open = async (
			options: MysqlOptions = { timeoutSeconds: 30 },
			pooled: PoolOptions = {},
		): Promise<[MysqlModel, Pool]> => {
			const pool = mysql.createPool({ ...server.options, ...pooled })
			pools.push(pool)
			return [await MysqlModel.open(pool, 'article', options), pool]
		}
		/** Opens a model that waits for so many seconds only, also while it is opened: again where that was too short. */
		const openHasty = async (
			timeoutSeconds: number,
			pooled: PoolOptions = {},
		): Promise<[MysqlModel, Pool]> => {
			for (let tries = 0; ; tries++) {
				try {
					return await open({ timeoutSeconds }, pooled)
				} catch (error) {
					if (!(error instanceof ModelError) || tries === 20) throw error
				}
			}
		}

		test.before(async () => {
			server = await ownMariadb()
			const pool = mysql.createPool(server.options)
			await pool.query('create table article (id int primary key auto_increment, title varchar(20))')
			await pool.query("insert into article (title) values ('first')")
			await pool.end()
		})
		test.after(async () => {
			server.thaw()
			await server.remove()
			// Open connections would wait for a server that is gone.
			for (const pool of pools) pool.pool.end(() => {})
		})

		test('while it is stopped every request is unavailable; afterwards requests succeed again', async () => {
			const [model] = await open()
			assert.equal(await readAll(model, 20), Array(20).fill('ok'))
			await server.stop()
			assert.equal(await readAll(model, 20), Array(20).fill('unavailable'))
			assert.equal(await kindOf(model.create({ title: 'x' }, ID)), 'unavailable')
			assert.equal(
				await kindOf(model.transaction((inner) => inner.create({ title: 'x' }, ID))),
				'unavailable',
			)
			await server.start()
			assert.equal(await readAll(model, 20), Array(20).fill('ok'))
			assert.equal(await kindOf(model.update('1', { title: 'first' }, ID, NO_GUARD)), 'ok')
		})

		test('after a restart between two requests the second succeeds', async () => {
			const [model] = await open()
			await readAll(model, 20)
			await server.restart()
			assert.equal(await readAll(model, 20), Array(20).fill('ok'))
		})

		test('a write cut off by a crash has an unknown outcome; reads and uncommitted writes are unavailable', async () => {
			const [model, pool] = await open(ENDLESS)
			const lock = await pool.getConnection()
			await lock.query('start transaction')
			await lock.query('select * from article where id = 1 for update')
			const slow = await slowModel(pool)
			const outcomes = Promise.all([
				kindOf(model.delete('1', ID, NO_GUARD)),
				// Written and read in one transaction, which was not committed yet.
				kindOf(model.update('1', { title: 'y' }, ID, NO_GUARD)),
				kindOf(slow.count(undefined)),
			])
			await running(lock, 3)
			await server.kill()
			assert.equal(await outcomes, ['outcome_unknown', 'unavailable', 'unavailable'])
			await server.start()
			assert.equal(await readAll(model, 5), Array(5).fill('ok'))
			assert.is((await model.read('1', select('title'), undefined))?.json, '{"title":"first"}')
		})

		test('a connection killed during a transaction ends it, and is not reused', async () => {
			const [model, pool] = await open(undefined, { connectionLimit: 1 })
			const admin = await mysql.createConnection(server.options)
			const [[own]] = await pool.query<mysql.RowDataPacket[]>('select connection_id() as id')
			const outcome = kindOf(
				model.transaction(async (inner) => {
					await inner.create({ title: 'never' }, ID)
					await admin.query(`kill ${own?.id}`)
					await inner.create({ title: 'never' }, ID)
				}),
			)
			assert.match(await outcome, /^(unavailable|outcome_unknown)$/)
			assert.is(await model.count({ op: 'eq', field: 'title', value: 'never' }), 0)
			await pool.query('select 1')
			await admin.end()
		})

		test('a server that hangs is given up in time, and used again when it responds', async () => {
			const [model] = await openHasty(1)
			const allServed = async () => (await readAll(model, 5)).every((kind) => kind === 'ok')
			// Five connections stay open then: writes without one would be reported as not done.
			await until(allServed, 'service before it')
			await server.freeze()
			const took = stopwatch()
			const outcomes = await Promise.all([
				...[kindOf(model.create({ title: 'x' }, ID)), kindOf(model.read('1', ID, undefined))],
				kindOf(model.transaction((inner) => inner.create({ title: 'x' }, ID))),
			]).finally(() => server.thaw())
			const time = took()
			assert.equal(outcomes, ['outcome_unknown', 'unavailable', 'unavailable'])
			// The timeout is one second; waiting twice would take two.
			assert.ok(time < 1_800, `it took ${time} ms`)
			await until(allServed, 'service')
		})

		test('a statement that timed out or was aborted has ended at the server before its connection is reused', async () => {
			const [, pool] = await open()
			await slowModel(pool)
			const admin = await mysql.createConnection(server.options)
			await admin.query('start transaction')
			await admin.query('select * from article where id = 1 for update')
			const few: PoolOptions = { connectionLimit: 2 }
			const [model, small] = await openHasty(1, few)
			const slow = await MysqlModel.open(small, 'slow', { key: 'id', timeoutSeconds: 1 })
			let most = 0
			const look = setInterval(async () => {
				most = Math.max(most, await underWay(admin))
			}, 20)
			try {
				for (let wave = 0; wave < 4; wave++) {
					const asked = [1, 2, 3].map(() => kindOf(slow.count(undefined)))
					const changed = kindOf(model.update('1', { title: 'late' }, ID, NO_GUARD))
					assert.equal(await Promise.all(asked), Array(3).fill('unavailable'))
					assert.is(await changed, 'unavailable')
				}
				const handler = new CrudHandler(slow, { visible: ['id'] })
				await listening({ slow: handler }, {}, async ({ url }) => {
					const leaving = new AbortController()
					const gone = [1, 2, 3].map(() =>
						fetch(new URL('/slow', url), { signal: leaving.signal }).then(
							({ status }) => status,
							() => 'gone',
						),
					)
					await running(admin, 2)
					leaving.abort()
					// On a machine that stalls, the timeout may come before the clients leave.
					for (const outcome of await Promise.all(gone)) assert.ok(outcome === 'gone' || outcome === 503)
				})
				// Long before they would have ended by themselves.
				await running(admin, 0)
			} finally {
				clearInterval(look)
				await admin.end()
			}
			assert.is(most, 2)
			await until(
				async () => (await kindOf(model.update('1', { title: 'first' }, ID, NO_GUARD))) === 'ok',
				'service',
			)
		})

		test('a shorter timeout set by the session is kept, and statements of others get none', async () => {
			const [, pool] = await open(undefined, { connectionLimit: 1 })
			await slowModel(pool)
			await pool.query('set session max_statement_time = 0.2')
			const [first, second] = await Promise.all(
				[undefined, 600].map((timeoutSeconds = 60) =>
					MysqlModel.open(pool, 'slow', { key: 'id', timeoutSeconds }),
				),
			)
			assert.is(await kindOf(Promise.all([first?.count(undefined), second?.count(undefined)])), 'unavailable')
			await pool.query('set session max_statement_time = 0')
			const article = await MysqlModel.open(pool, 'article', { timeoutSeconds: 1 })
			await article.count(undefined).catch(() => {})
			const [[row]] = await pool.query<mysql.RowDataPacket[]>('select @@max_statement_time as bound')
			assert.is(Number(row?.bound), 0)
		})

		test('an exhausted pool is unavailable in time, and nothing is sent later', () =>
			inTimesOf(400, async (time) => {
				const [model, pool] = await openHasty(time / 1_000, { connectionLimit: 1 })
				const [patient] = await open()
				const held = await pool.getConnection()
				const took = stopwatch()
				assert.is(await kindOf(model.create({ title: 'late' }, ID)), 'unavailable')
				assert.ok(took() < time * 2 - 10)
				// The model's timeout and the driver's end in one turn then.
				const heldUp = kindOf(model.create({ title: 'late' }, ID))
				globalThis.setTimeout(block, 20, time * 2)
				assert.is(await heldUp, 'unavailable')
				held.release()
				await setTimeout(50)
				assert.is(await patient.count({ op: 'eq', field: 'title', value: 'late' }), 0)
			}))

		test('a full queue and a closed pool are unavailable at once', async () => {
			// No timeout ends within this test: what is unavailable is so without waiting.
			const [model, pool] = await open({ timeoutSeconds: 60 }, { connectionLimit: 1, queueLimit: 1 })
			const held = await pool.getConnection()
			const first = kindOf(model.count(undefined))
			const second = kindOf(model.count(undefined))
			assert.is(await Promise.race([first, second, given(30_000)]), 'unavailable')
			assert.is(await Promise.race([second, given(0)]), 'unavailable', 'it is who came second')
			held.release()
			assert.is(await first, 'ok')
			await pool.end()
			const closed = Promise.all([kindOf(model.count(undefined)), kindOf(model.create({ title: 'x' }, ID))])
			assert.equal(await Promise.race([closed, given(30_000)]), ['unavailable', 'unavailable'])
		})

		test('"too many connections" is unavailable', async () => {
			const admin = await mysql.createConnection(server.options)
			const [model, pool] = await open(undefined, { connectionLimit: 1 })
			await admin.query('set global max_connections = 10')
			const held = await pool.getConnection()
			held.destroy()
			const others: mysql.Connection[] = []
			await assertRejects(async () => {
				for (;;) others.push(await mysql.createConnection(server.options))
			})
			assert.is(await kindOf(model.count(undefined)), 'unavailable')
			await admin.query('set global max_connections = 151')
			for (const other of [...others, admin]) await other.end()
			assert.is(await kindOf(model.count(undefined)), 'ok')
		})

		test('a session that is read-only refuses a write as unavailable, and reads', async () => {
			const [, pool] = await open()
			const readers = mysql.createPool({ ...server.options, connectionLimit: 2 })
			pools.push(readers)
			readers.pool.on('connection', (connection) => connection.query('set session tx_read_only = 1'))
			const limited = await MysqlModel.open(readers, 'article')
			for (let at = 0; at < 3; at++) {
				assert.is(await kindOf(limited.create({ title: 'x' }, ID)), 'unavailable')
				assert.is(await kindOf(limited.transaction((one) => one.create({ title: 'x' }, ID))), 'unavailable')
				assert.is(await kindOf(limited.count(undefined)), 'ok')
			}
			const model = await MysqlModel.open(pool, 'article')
			assert.is(await kindOf(model.create({ title: 'x' }, ID)), 'ok')
		})

		test('a server that became read-only refuses a write as unavailable', async () => {
			const [model, pool] = await open()
			await pool.query('create user reader')
			await pool.query('grant all on test.* to reader')
			await pool.query('set global read_only = 1')
			const reader = mysql.createPool({ ...server.options, user: 'reader' })
			pools.push(reader)
			const limited = await MysqlModel.open(reader, 'article')
			assert.is(await kindOf(limited.create({ title: 'x' }, ID)), 'unavailable')
			await pool.query('set global read_only = 0')
			assert.is(await kindOf(limited.create({ title: 'x' }, ID)), 'ok')
			assert.is(await kindOf(model.count(undefined)), 'ok')
		})
	})
}

/** Stands for a missing response; it does not keep the process alive. */
function given(milliseconds: number): Promise<string> {
	return setTimeout(milliseconds, 'no answer', { ref: false })
}

/** Waits until so many statements on articles run at the server. */
function running(connection: mysql.Connection, count: number): Promise<void> {
	return until(async () => (await underWay(connection)) === count, `${count} statements under way`)
}

async function underWay(connection: mysql.Connection): Promise<number> {
	const [rows] = await connection.query<mysql.RowDataPacket[]>(
		"select 1 from information_schema.processlist where id <> connection_id() and info rlike 'article|slow'",
	)
	return rows.length
}

async function assertRejects(work: () => Promise<void>): Promise<void> {
	try {
		await work()
	} catch {
		return
	}
	assert.unreachable()
}

/** A view whose count takes longer than any test, so that concurrent statements overlap. */
async function slowModel(pool: Pool): Promise<MysqlModel> {
	await pool.query('create or replace view slow as select id from article where sleep(600) = 0')
	return MysqlModel.open(pool, 'slow', { key: 'id', ...ENDLESS })
}

function block(milliseconds: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** `ok`, or the kind of the `ModelError`. */
async function kindOf(work: Promise<unknown>): Promise<string> {
	try {
		await work
		return 'ok'
	} catch (error) {
		if (error instanceof ModelError) return error.kind
		throw error
	}
}

/** Reads each alone, so that many connections are used. */
function readAll(model: MysqlModel, count: number): Promise<string[]> {
	return Promise.all(Array.from({ length: count }, () => kindOf(model.count(undefined))))
}

if (await mariadbIsHere()) outages()
