/** What far pages of MariaDB cost: how many rows are read for one, and how many statements are prepared. */
import type { Pool, RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/adapters/mysql.ts'
import type { Condition, ListQuery, Order } from '../../../lib/crud/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { select, withTable } from './types.ts'

/** What is asked where nothing else is said. */
const ALL = { where: undefined, limit: 10, offset: 0, after: undefined, total: false }

function pages(): void {
	describe('far pages of MariaDB', (test) => {
		const pool: Pool = openPool()
		test.after(async () => {
			await pool.end()
		})

		test('far and large pages read little more than their records', async () => {
			const own = openPool({}, { connectionLimit: 1 })
			const columns =
				'id int primary key auto_increment, n int not null, t text not null, index (n desc, id desc)'
			await withTable(pool, 'myad_far', columns, async () => {
				await pool.query("insert into myad_far (n, t) select seq div 3, repeat('t', 400) from seq_1_to_20000")
				const model = await MysqlModel.open(own, 'myad_far')
				const query = { ...ALL, selection: select('id', 't'), order: [down('n'), down('id')] }
				for (const [offset, limit] of [
					[150, 10],
					[2000, 100],
					[5000, 100],
					[0, 2000],
				] as const) {
					const before = await rowsRead(own)
					const [first] = await idsOf(model, { ...query, offset, limit })
					assert.is(first, 20000 - offset)
					// Each record is found once in the index, and once by its key.
					const most = offset + 4 * limit + 100
					const read = (await rowsRead(own)) - before
					assert.ok(read < most, `${read} rows for ${limit} from ${offset} on`)
				}
			})
			await own.end()
		})

		test('pages of many offsets leave nothing prepared behind, and others are refused', async () => {
			const own = openPool({}, { connectionLimit: 1 })
			await withTable(pool, 'myad_far', 'id int primary key auto_increment', async () => {
				await pool.query('insert into myad_far select seq from seq_1_to_300')
				const model = await MysqlModel.open(own, 'myad_far')
				const query = {
					...ALL,
					selection: select('id'),
					order: [{ field: 'id', descending: false }],
					limit: 1,
				}
				const where: Condition = { op: 'gt', field: 'id', value: 0 }
				for (const condition of [undefined, where]) {
					for (let offset = 101; offset < 140; offset++) {
						const [first] = await idsOf(model, { ...query, where: condition, offset })
						assert.is(first, offset + 1)
					}
				}
				const [[prepared]] = await own.query<RowDataPacket[]>("show session status like 'Com_stmt_prepare'")
				assert.ok(Number(prepared?.Value) < 20, `prepared ${prepared?.Value}`)
				for (const offset of [1.5, -1, Number.NaN, 2 ** 60]) {
					try {
						await model.list({ ...query, offset })
						assert.unreachable(String(offset))
					} catch (error) {
						assert.instance(error, RangeError)
					}
				}
			})
			await own.end()
		})
	})
}

const down = (field: string): Order => ({ field, descending: true })

async function idsOf(model: MysqlModel, query: ListQuery): Promise<unknown[]> {
	const { json } = await model.list(query)
	return JSON.parse(json).map((record: { id: unknown }) => record.id)
}

/** How many rows a session has read, in whatever way. */
async function rowsRead(pool: Pool): Promise<number> {
	const [rows] = await pool.query<RowDataPacket[]>("show session status like 'Handler_read%'")
	return rows.reduce((sum, row) => sum + Number(row.Value), 0)
}

if (await mariadbIsHere()) pages()
