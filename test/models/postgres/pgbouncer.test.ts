/** Behind a PgBouncer in transaction mode. */
import * as assert from 'uvu/assert'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { ownBouncer, pgbouncerHere } from '../../helpers/pgbouncer.ts'
import { driversHere, openDatabase, SERVER, untilOpened } from '../../helpers/postgres.ts'
import { inTimesOf } from '../../helpers/stalls.ts'
import { assertGivenUp, holdingLock, SELECTION, TABLE } from './given-up.ts'
import {
	ALL,
	as,
	assertClean,
	dropRolesSql,
	FREE,
	idsIn,
	SELECTION as NOTES,
	notesSql,
	OWN,
	rolesSql,
} from './session-tables.ts'

const DRIVERS = [
	['pg', { database: SERVER.database }],
	['postgres.js', { database: SERVER.database, prepare: false }],
] as const

if ((await driversHere()).includes('pg') && (await pgbouncerHere()))
	describe('PostgreSQL behind PgBouncer', (test) => {
		const direct = openDatabase('pg')
		const bouncer = ownBouncer(['default_pool_size = 3'])

		test.before(async () => {
			await (
				await direct
			).exec(`drop table if exists ${TABLE}; create table ${TABLE} (id int primary key, a int);
				insert into ${TABLE} select i, 1 from generate_series(1, 200) i`)
		})
		test.after(async () => {
			const { exec, close } = await direct
			await (await bouncer).remove()
			await exec(`drop table ${TABLE}`)
			await close()
		})

		for (const [name, options] of DRIVERS) {
			test(`cancelled writes by ${name} leave no backend, and PgBouncer keeps working`, () =>
				inTimesOf(500, async (time) => {
					const { port } = await bouncer
					const { database, close } = await openDatabase(name, {}, { ...options, port, max: 3 })
					await holdingLock(async (waiting) => {
						const model = await untilOpened(() =>
							PostgresModel.open(database, TABLE, { timeoutSeconds: time / 1_000 }),
						)
						for (let round = 0; round < 3; round++) {
							await assertGivenUp(model)
							await until(async () => (await waiting()) === 0, 'no backend waits')
							assert.ok((await bouncer).isRunning)
						}
						await until(
							async () => (await model.read('2', SELECTION, undefined).catch(() => undefined)) !== undefined,
							'others are answered',
						)
					}).finally(close)
				}))

			test(`each request by ${name} gets its own record, also within transactions`, async () => {
				const { port } = await bouncer
				const { database, close } = await openDatabase(name, {}, { ...options, port, max: 8 })
				try {
					// Another program, which has prepared the same statements on the same server connections.
					const other = await openDatabase(name, {}, { ...options, port, max: 8 })
					const models = await Promise.all(
						[database, other.database].map((one) => PostgresModel.open(one, TABLE, { timeoutSeconds: 30 })),
					)
					const idOf = (json = '') => (JSON.parse(json) as { id: number }).id
					let busy = 0
					const read = async (model: PostgresModel, id: number) => {
						const found = await model.read(String(id), SELECTION, undefined)
						assert.is(idOf(found?.json), id)
					}
					const within = async (model: PostgresModel, id: number) => {
						try {
							await model.transaction(async (inner) => {
								const found = await inner.update(String(id), { a: id }, SELECTION, {
									...{ where: undefined, version: undefined },
								})
								assert.is(typeof found === 'object' ? idOf(found.json) : found, id)
							})
						} catch (error) {
							// Nothing was done; statements are not prepared from then on.
							if (!(error instanceof ModelError) || error.kind !== 'busy') throw error
							busy++
						}
					}
					const round = () =>
						Promise.all(
							models.flatMap((model, at) =>
								Array.from({ length: 60 }, (_, n) =>
									n % 3 === 0 ? within(model, 2 + at * 100 + n) : read(model, 1 + n),
								),
							),
						)
					try {
						await round()
						busy = 0
						for (let rounds = 0; rounds < 3; rounds++) await round()
						assert.is(busy, 0)
					} finally {
						await other.close()
					}
				} finally {
					await close()
				}
			})
		}

		for (const [name, options] of DRIVERS)
			test(`a session by ${name} leaves nothing to the next client of its connection`, async () => {
				const own = await ownBouncer(['default_pool_size = 1'])
				const opening = { ...options, port: own.port, max: 2 }
				const [first, next] = await Promise.all([1, 2].map(() => openDatabase(name, {}, opening)))
				assert.ok(first && next)
				const { exec } = await direct
				const table = `${OWN}_bouncer`
				await exec(`${rolesSql} ${notesSql(table)}`)
				try {
					const model = await PostgresModel.open(first.database, table)
					for (let round = 0; round < 3; round++) {
						for (const [user, ids] of [
							['ann', [1, 2]],
							['bob', [2, 3]],
						] as const)
							assert.equal(idsIn(await model.withSession(as(user)).list(ALL)), ids)
						await assertClean(next, 1)
						const missing = model.withSession({ ...as('ann'), role: `${OWN}_missing` })
						assert.instance(await missing.list(ALL).catch((error) => error), TypeError)
						await assertClean(next, 1)
						const refused = model.withSession(as('bob')).update('2', { a: 9 }, NOTES, FREE)
						assert.is(await refused.catch(({ kind }) => kind), 'forbidden')
						await assertClean(next, 1)
						const undone = model.withSession(as('ann')).transaction(async (inner) => {
							assert.equal(idsIn(await inner.list(ALL)), [1, 2])
							throw new Error('undone')
						})
						assert.match(String(await undone.catch((error) => error)), 'undone')
						await assertClean(next, 1)
					}
					assert.equal(idsIn(await model.list(ALL)), [1, 2, 3])
				} finally {
					await Promise.all([first.close(), next.close()])
					await own.remove()
					await exec(`drop table ${table}; ${dropRolesSql}`)
				}
			})

		test('postgres.js is refused while it would prepare statements', async () => {
			for (const mode of ['transaction', 'session']) {
				const own = await ownBouncer([`pool_mode = ${mode}`])
				const { database, close } = await openDatabase(
					'postgres.js',
					{},
					{ port: own.port, max: 2, database: SERVER.database },
				)
				try {
					const error = await PostgresModel.open(database, TABLE).catch((error: unknown) => error)
					assert.instance(error, TypeError)
					assert.match(
						String(error),
						/connects through a pooler, such as PgBouncer, .* pass prepare: false to postgres\(\)/,
					)
				} finally {
					await close()
					await own.remove()
				}
			}
		})
	})
