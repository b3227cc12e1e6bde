/** Connections to a server that is read-only since a failover. */
import * as assert from 'uvu/assert'
import { CrudHandler, createServer } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { driversHere, openDatabase } from '../../helpers/postgres.ts'

const TABLE = `pgad_failover_${process.pid}`
const MAX = 4
const JSON_TYPE = { 'content-type': 'application/json' }

for (const name of (await driversHere()).filter((one) => one !== 'PGlite'))
	describe(`a failover, by ${name}`, (test) => {
		const direct = openDatabase(name, {}, { max: 1 })

		test.before(async () =>
			(await direct).exec(`drop table if exists ${TABLE}; create table ${TABLE} (id int primary key)`),
		)
		test.after(async () => {
			const { exec, close } = await direct
			await exec(`drop table ${TABLE}`)
			await close()
		})

		/** All existing connections of the pool lead to a demoted node, new ones to the primary. */
		const demoted = async (
			work: (given: { model: PostgresModel; demote: () => Promise<void> }) => Promise<void>,
		) => {
			const { database, exec, close } = await openDatabase(name, {}, { max: MAX })
			try {
				const model = await PostgresModel.open(database, TABLE, { timeoutSeconds: 30 })
				const demote = async () => {
					// All wait at once, so that each has its own connection.
					const one = `select set_config('default_transaction_read_only', 'on', false), pg_sleep(0.1)`
					await Promise.all(Array.from({ length: MAX }, () => exec(one)))
				}
				await work({ model, demote })
			} finally {
				await close()
			}
		}

		test('causes one refused write, and the next ones succeed', () =>
			demoted(async ({ model, demote }) => {
				const selection = { fields: ['id'], names: ['id'], version: undefined }
				const handler = new CrudHandler(model, {
					visible: 'all',
					creatable: ['id'],
					allow: ['read', 'create'],
				})
				const server = createServer({ thing: handler }, { logger: QUIET })
				const post = (id: number) =>
					server.inject({ method: 'POST', url: '/thing', headers: JSON_TYPE, body: JSON.stringify({ id }) })
				assert.is((await post(1)).status, 201)
				await demote()
				assert.is((await model.read('1', selection, undefined))?.json, '{"id":1}')
				const refused = await post(2)
				assert.is(refused.status, 503)
				assert.is(refused.headers['retry-after'], '5')
				// postgres.js must notice first that its connections have ended.
				await until(async () => (await post(2)).status === 201, 'the primary is found')
				const rest = await Promise.all([3, 4, 5, 6, 7, 8].map(post))
				assert.equal(
					rest.map(({ status }) => status),
					rest.map(() => 201),
				)
			}))

		test('is reported by /ready where a handler writes, and ends with it', () =>
			demoted(async ({ model, demote }) => {
				const ready = async (allow: readonly ('list' | 'create')[]) => {
					const handler = new CrudHandler(model, { visible: 'all', creatable: ['id'], allow })
					const server = createServer({ thing: handler }, { logger: QUIET, health: { path: 'health' } })
					return (await server.inject({ url: '/health/ready' })).status
				}
				assert.is(await ready(['list', 'create']), 200)
				await demote()
				assert.is(await ready(['list']), 200)
				assert.is(await ready(['list', 'create']), 503)
				await until(async () => (await ready(['create'])) === 200, 'connections are made anew')
			}))
	})

const QUIET = { info() {}, warn() {}, error() {} }
