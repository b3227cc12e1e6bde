/** Conditions and orders through links on MariaDB. */
import type { Pool } from 'mysql2/promise'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { LINK_TABLE_NAMES, LINK_TABLES, type LinkModels, linkTests, openLinkModels } from '../link-cases.ts'

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

		test.after(async () => {
			await pool.query(drop)
			await pool.end()
		})
	})
}
