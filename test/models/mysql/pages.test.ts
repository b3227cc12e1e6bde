/** The cost of far pages on MariaDB: rows read per page, and statements prepared. */
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Condition, ListQuery, Model, Order } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { MARIADB, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { select, withTable } from './types.ts'

/** The default query. */
const ALL = { where: undefined, limit: 10, offset: 0, after: undefined, total: false }

function pages(): void {
	describe('far pages on MariaDB', (test) => {
		const pool: Pool = openPool()
		test.after(async () => {
			await pool.end()
		})

		test('far and large pages read little more than their own records', async () => {
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

		test('records with large JSON are sorted, by a column without an index too', async () => {
			const columns = 'id int primary key auto_increment, n int not null, extra json'
			await withTable(pool, 'myad_json', columns, async (model) => {
				const extra = "concat('{\"a\":\"', repeat('x', 400000), '\"}')"
				await pool.query(`insert into myad_json (n, extra) select 60 - seq, ${extra} from seq_1_to_30`)
				for (const limit of [2, 20])
					for (const offset of [0, 5]) {
						const selection = select('id', 'extra')
						const found = await idsOf(model, { ...ALL, selection, order: [down('n')], limit, offset })
						assert.equal(
							found,
							Array.from({ length: limit }, (_, at) => offset + at + 1),
						)
					}
			})
		})

		test('pages at many offsets leave nothing prepared, and invalid ones are refused', async () => {
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

		test('no rows are read beyond the size limit of a page, by a pool, one connection or a transaction', async () => {
			const own = openPool({}, { connectionLimit: 2 })
			const alone = await mysql.createConnection(MARIADB)
			const columns = 'id int primary key auto_increment, t longtext not null'
			const query = { ...ALL, selection: select('id', 't'), order: [{ field: 'id', descending: false }] }
			const where: Condition = { op: 'gt', field: 'id', value: 0 }
			const large = { ...query, limit: 50, maxBytes: 500_000 }
			const tried = [large, { ...large, where }, large, { ...large, where, total: true }]
			const work = async (): Promise<void> => {
				await pool.query("insert into myad_large (t) select repeat('t', 200000) from seq_1_to_60")
				for (const database of [own, alone]) {
					const model = await MysqlModel.open(database, 'myad_large', { timeoutSeconds: 300 })
					await Promise.all(
						tried.map(async (asked) => assert.is(await refusal(model.list(asked)), 'too_large')),
					)
					assert.equal(await idsOf(model, { ...query, limit: 1, maxBytes: 500_000 }), [1])
					await model.transaction(async (inner) => {
						assert.is(await refusal(inner.list(large)), 'too_large')
						assert.equal(await idsOf(inner, { ...query, limit: 2, where, maxBytes: 450_000 }), [1, 2])
					})
				}
				await until(async () => (await runningOn(pool, 'myad_large')).length === 0, 'nothing runs on')
			}
			await withTable(pool, 'myad_large', columns, work).finally(() => Promise.all([own.end(), alone.end()]))
		})

		test('of a page sorted by long texts only the beginning of the last one counts towards the size, as it is in the cursor', async () => {
			const columns = 'id int primary key auto_increment, t longtext not null'
			await withTable(pool, 'myad_long', columns, async (model) => {
				await pool.query("insert into myad_long (t) select concat(seq, repeat('t', 200000)) from seq_1_to_7")
				const by = (field: string) => [{ field, descending: false }]
				const query = { ...ALL, selection: select('id', 't'), limit: 6, maxBytes: 1_600_000 }
				assert.equal(await idsOf(model, { ...query, order: by('id') }), [1, 2, 3, 4, 5, 6])
				assert.equal(await idsOf(model, { ...query, order: by('t') }), [1, 2, 3, 4, 5, 6])
				const few = { ...query, selection: select('id'), order: by('t'), maxBytes: 320 }
				const { next } = await model.list(few)
				assert.equal(JSON.parse(next ?? ''), [`6${'t'.repeat(254)}`])
				assert.is(await refusal(model.list({ ...few, maxBytes: 300 })), 'too_large')
			})
		})

		test('a list whose connection is killed fails at once', async () => {
			const own = openPool({}, { connectionLimit: 1 })
			const query = { ...ALL, selection: select('id', 's'), order: [{ field: 'id', descending: false }] }
			const work = async (): Promise<void> => {
				await pool.query('insert into myad_killed select seq from seq_1_to_10')
				await pool.query(
					'create or replace view myad_killed_slowly as select id, sleep(100) as s from myad_killed',
				)
				const model = await MysqlModel.open(own, 'myad_killed_slowly', { key: 'id', timeoutSeconds: 300 })
				const refused = refusal(model.list(query))
				await until(async () => {
					const [running] = await runningOn(pool, 'myad_killed_slowly')
					if (running !== undefined) await pool.query(`kill ${running}`)
					return running !== undefined
				}, 'the statement runs')
				assert.is(await refused, 'unavailable')
				await pool.query('drop view myad_killed_slowly')
			}
			await withTable(pool, 'myad_killed', 'id int primary key auto_increment', work).finally(() => own.end())
		})
	})
}

/** The kind of the ModelError that a list is refused with. */
async function refusal(listed: Promise<unknown>): Promise<string> {
	try {
		await listed
		return 'none'
	} catch (error) {
		return error instanceof ModelError ? error.kind : String(error)
	}
}

/** Connections on which a statement about a table runs. */
async function runningOn(pool: Pool, table: string): Promise<number[]> {
	const text =
		'select id from information_schema.processlist where db = database() and info like ? and id <> connection_id()'
	const [rows] = await pool.query<RowDataPacket[]>(text, [`%${table}%`])
	return rows.map(({ id }) => Number(id))
}

const down = (field: string): Order => ({ field, descending: true })

async function idsOf(model: Model, query: ListQuery): Promise<unknown[]> {
	const { json } = await model.list(query)
	return JSON.parse(json).map((record: { id: unknown }) => record.id)
}

/** The number of rows a session has read in any way. */
async function rowsRead(pool: Pool): Promise<number> {
	const [rows] = await pool.query<RowDataPacket[]>("show session status like 'Handler_read%'")
	return rows.reduce((sum, row) => sum + Number(row.Value), 0)
}

if (await mariadbIsHere()) pages()
