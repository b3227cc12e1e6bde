/** Which statements stay prepared on a MariaDB connection, whatever lists clients request. */
import type { RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Condition } from '../../../lib/models/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { withTable } from './types.ts'

function statements(): void {
	describe('prepared statements on MariaDB', (test) => {
		// One session, whose counters are those of the model.
		const pool = openPool({}, { connectionLimit: 1 })
		test.after(async () => {
			await pool.end()
		})

		const statusOf = async (name: string) => {
			const [[row]] = await pool.query<RowDataPacket[]>('show session status where Variable_name = ?', [name])
			return Number(row?.Value ?? 0)
		}
		const everPrepared = () => statusOf('Com_stmt_prepare')
		/** The number of open prepared statements of the session. */
		const open = async () => (await everPrepared()) - (await statusOf('Com_stmt_close'))

		test('a statement used once does not evict one that is reused', async () => {
			await withTable(pool, 'myad_prepared', 'id int primary key, n int', async (model) => {
				const eq = (field: string, length: number): Condition => ({
					op: 'or',
					terms: Array.from({ length }, () => ({ op: 'eq', field, value: 1 })),
				})
				for (let asked = 0; asked < 2; asked++) await model.count(eq('n', 1))
				const [before, prepared] = [await open(), await everPrepared()]
				for (let length = 1; length <= 120; length++) {
					await model.count(eq('id', length))
					await model.count({ op: 'not', term: eq('id', length) })
				}
				assert.is(await open(), before)
				assert.is((await everPrepared()) - prepared, 240)
				await model.count(eq('n', 1))
				assert.is((await everPrepared()) - prepared, 240)
			})
		})

		test('statements with few values stay prepared, and those with many are closed at once', async () => {
			await withTable(pool, 'myad_prepared', 'id int primary key', async (model) => {
				await pool.query('insert into myad_prepared select seq from seq_1_to_300')
				const count = (length: number) =>
					model.count({
						op: 'or',
						terms: Array.from({ length }, (_, at) => ({ op: 'eq', field: 'id', value: at + 1 }) as const),
					})
				const before = await open()
				for (let length = 1; length <= 20; length++) assert.is(await count(length), length)
				for (let length = 1; length <= 20; length++) assert.is(await count(length), length)
				assert.is((await open()) - before, 20)
				for (let asked = 0; asked < 2; asked++) assert.is(await count(128), 128)
				assert.is((await open()) - before, 21)
				for (let length = 129; length <= 168; length++) assert.is(await count(length), length)
				assert.is((await open()) - before, 21)
			})
		})
	})
}

if (await mariadbIsHere()) statements()
