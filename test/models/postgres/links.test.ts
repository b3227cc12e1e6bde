/** Conditions and orders through links on PostgreSQL. */
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { driversHere, type TestDatabase } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import {
	dropsLinkedColumn,
	LINK_TABLE_NAMES,
	LINK_TABLES,
	type LinkModels,
	linkTests,
	openLinkModels,
} from '../link-cases.ts'
import { openDatabase } from './databases.ts'

for (const name of suitesBy(await driversHere())) {
	describe(`links, ${name}`, (test) => {
		const drop = `drop table if exists ${LINK_TABLE_NAMES.join(', ')}`
		let opened: TestDatabase
		let models: LinkModels

		test.before(async () => {
			opened = await openDatabase(name)
			await opened.exec([drop, ...LINK_TABLES].join(';'))
			models = await openLinkModels((table) => PostgresModel.open(opened.database, table))
		})

		linkTests(test, () => models)

		test("a linked table's column that is dropped is left out from the second statement on", () =>
			dropsLinkedColumn((table) => PostgresModel.open(opened.database, table), opened.exec))

		test.after(async () => {
			await opened.exec(drop)
			await opened.close()
		})
	})
}
