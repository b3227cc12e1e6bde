/** Conditions and orders through links on SQLite. */
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { dropsLinkedColumn, LINK_TABLES, type LinkModels, linkTests, openLinkModels } from '../link-cases.ts'

for (const { name, open } of suitesBy(sqliteDrivers)) {
	if (open === undefined) continue
	describe(`links, ${name}`, (test) => {
		let database: TestDatabase
		let models: LinkModels

		test.before(async () => {
			database = opened(open)
			database.exec(LINK_TABLES.join(';'))
			models = await openLinkModels((table) => SqliteModel.open(database, table))
		})

		linkTests(test, () => models)

		test("a linked table's column that is dropped is left out from the second statement on", () =>
			dropsLinkedColumn(
				(table) => SqliteModel.open(database, table),
				(sql) => database.exec(sql),
			))

		test.after(() => void database.close())
	})
}
