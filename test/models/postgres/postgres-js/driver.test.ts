/** A postgres.js whose connections are lost. */
import postgres from 'postgres'
import * as assert from 'uvu/assert'
import type { ListQuery } from '../../../../lib/models/model.ts'
import { PostgresModel } from '../../../../lib/models/postgres/model.ts'
import { describe } from '../../../helpers/describe.ts'
import { until } from '../../../helpers/listening.ts'
import { driversHere, SERVER } from '../../../helpers/postgres.ts'

const TABLE = `pgjs_driver_${process.pid}`
const SELECTION = { fields: ['id'], names: ['id'], version: undefined }
const QUERY: ListQuery = {
	...{ selection: SELECTION, where: undefined, order: [{ field: 'id', descending: false }] },
	...{ limit: 10, offset: 0, after: undefined, total: false },
}
/** Ends its own connection when some of its rows have been sent. */
const CUT_OFF = `select case when i = 3 then pg_terminate_backend(pg_backend_pid()) end from generate_series(1, 1000) i`

if ((await driversHere()).includes('postgres.js'))
	describe('a postgres.js whose connection was lost', (test) => {
		const sql = postgres({ ...SERVER, max: 1, onnotice: () => {} })

		test.before(async () => {
			await sql
				.unsafe(`create table ${TABLE} (id int primary key); insert into ${TABLE} values (1), (2)`)
				.simple()
		})
		test.after(async () => {
			await sql.unsafe(`drop table ${TABLE}`)
			await sql.end()
		})

		const asked: [name: string, ask: (model: PostgresModel) => Promise<unknown>, answer: unknown][] = [
			['list', (model) => model.list(QUERY), '[{"id":1},\n{"id":2}]'],
			['read', (model) => model.read('2', SELECTION, undefined), '{"id":2}'],
			[
				'update',
				(model) => model.update('2', { id: 2 }, SELECTION, { where: undefined, version: undefined }),
				'{"id":2}',
			],
		]
		for (const [name, ask, answer] of asked)
			test(`within a result: the next ${name} has all of its own`, async () => {
				const model = await PostgresModel.open(sql, TABLE)
				const ended = await sql.unsafe(CUT_OFF).then(
					() => false,
					() => true,
				)
				assert.ok(ended)
				let found: unknown
				await until(async () => {
					// The first one may still meet the connection that was lost.
					found = await ask(model).catch(() => 'unavailable')
					return found !== 'unavailable'
				}, 'an answer')
				assert.is((found as { json: string } | undefined)?.json, answer)
			})
	})
