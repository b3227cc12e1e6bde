/** Statements of postgres.js on a network that drops all packets. */
import { setTimeout } from 'node:timers/promises'
import postgres from 'postgres'
import * as assert from 'uvu/assert'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { gateTo } from '../../helpers/gate.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'

const TABLE = `pgad_silent_${process.pid}`

if ((await driversHere()).includes('postgres.js'))
	describe('a statement of postgres.js that is never answered', (test) => {
		test('is cancelled at growing intervals, each time over a new socket', async () => {
			const gate = await gateTo(SERVER.port)
			const sql = postgres({ ...SERVER, port: gate.port, max: 1 })
			try {
				await sql.unsafe(`create table ${TABLE} (id int primary key)`)
				const model = await PostgresModel.open(sql, TABLE, { timeoutSeconds: 1 })
				assert.is(await model.count(undefined), 0)
				const before = gate.count()
				gate.silence()
				const error = await model.count(undefined).catch((error: unknown) => error)
				assert.ok(error instanceof ModelError && error.kind === 'unavailable')
				await setTimeout(4_500)
				// After 1, 1.5, 2.5 and 4.5 s.
				const asked = gate.count() - before
				assert.ok(asked >= 1 && asked <= 5, `${asked} times`)
			} finally {
				await gate.close()
				await sql.end({ timeout: 0 })
				const own = postgres({ ...SERVER, max: 1 })
				await own.unsafe(`drop table if exists ${TABLE}`)
				await own.end()
			}
		})
	})
