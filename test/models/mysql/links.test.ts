/** Conditions and orders through links on MariaDB. */
import type { Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Condition } from '../../../lib/models/model.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import {
	dropsLinkedColumn,
	LINK_TABLE_NAMES,
	LINK_TABLES,
	type LinkModels,
	linkTests,
	openLinkModels,
} from '../link-cases.ts'

if (await mariadbIsHere()) {
	describe('links', (test) => {
		const drop = `drop table if exists ${LINK_TABLE_NAMES.join(', ')}`
		let pool: Pool
		let models: LinkModels

		test.before(async () => {
			pool = openPool()
			for (const text of [drop, ...LINK_TABLES]) await pool.query(text)
			models = await openLinkModels((table) => MysqlModel.open(pool, table))
		})

		linkTests(test, () => models)

		test("a linked table's column that is dropped is left out from the second statement on", () =>
			dropsLinkedColumn(
				(table) => MysqlModel.open(pool, table),
				(sql) => pool.query(sql),
			))

		test('lists for several conditions on tables without a key, with long sort values and bytes', async () => {
			await pool.query('drop table if exists cond_keyless')
			await pool.query(
				'create table cond_keyless (a int, e enum("z","a"), t text, x blob, b bit(9), y tinyint(1))',
			)
			try {
				await pool.query(`insert into cond_keyless values (1, 'z', 'one', 'x', b'1', 1), (1, 'a', 'two', null, null, 0),
					(2, null, null, 'z', b'0', null), (2, 'a', 'a"b', 'zz', b'11', 1), (2, 'z', '', '', b'11', 1)`)
				const model = await MysqlModel.open(pool, 'cond_keyless', { key: [] })
				const fields = ['e', 't', 'x', 'b', 'y']
				const conditions: Condition[] = [1, 2, 3].map((value) => ({ op: 'eq', field: 'a', value }))
				for (const total of [false, true]) {
					const query = {
						...{
							selection: { fields, names: fields, version: undefined },
							where: undefined,
							limit: 2,
							offset: 0,
						},
						order: [
							{ field: 'e', descending: false },
							{ field: 't', descending: true },
						],
						...{ after: undefined, total },
					}
					const expected = []
					for (const where of conditions) expected.push(await model.list({ ...query, where }))
					assert.equal(await model.listEach(query, conditions), expected)
				}
			} finally {
				await pool.query('drop table cond_keyless')
			}
		})

		test.after(async () => {
			await pool.query(drop)
			await pool.end()
		})
	})
}
