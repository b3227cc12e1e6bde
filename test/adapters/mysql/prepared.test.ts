/** Which statements a connection of MariaDB keeps prepared, however many lists are asked for. */
import type { RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { withTable } from './types.ts'

function statements(): void {
	describe('prepared statements of MariaDB', (test) => {
		// One session, so that its own counts are those of the model.
		const pool = openPool({}, { connectionLimit: 1 })
		test.after(async () => {
			await pool.end()
		})

		/** How many statements the session has prepared and not closed. */
		const open = async () => {
			const [rows] = await pool.query<RowDataPacket[]>(
				"show session status where Variable_name in ('Com_stmt_prepare', 'Com_stmt_close')",
			)
			const count = new Map(rows.map(({ Variable_name: name, Value: value }) => [name, Number(value)]))
			return (count.get('Com_stmt_prepare') ?? 0) - (count.get('Com_stmt_close') ?? 0)
		}

		test('statements of few values stay prepared, and those of many are closed at once', async () => {
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
				assert.is(await count(128), 128)
				assert.is((await open()) - before, 21)
				for (let length = 129; length <= 168; length++) assert.is(await count(length), length)
				assert.is((await open()) - before, 21)
			})
		})
	})
}

if (await mariadbIsHere()) statements()
