/** Pages longer than the longest string: refused with a message, and the server keeps working. */
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { databaseLater, driversHere } from '../../helpers/postgres.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'

const TABLE = 'crudover_too_large'
const RECORDS = 100
/** In JSON each of its characters takes six bytes. */
const BYTES = 500_000

async function refused(model: Model): Promise<void> {
	const handler = new CrudHandler(model, { visible: 'all', maxLimit: RECORDS, maxPageBytes: 268_435_456 })
	// Half a minute isn't always enough for 300 MB beside other tests.
	const { said, ask } = asking({ notes: handler }, { handlerTimeoutSeconds: 300 })
	assert.is(
		await said(`/notes?limit=${RECORDS}`),
		'400 {"success":false,"error":"This page would have more than 268435456 bytes: ask for fewer records with limit, or fewer fields with fields","code":"too_large","details":[{"field":"limit","code":"max","message":"is too high for records of this size"}]}',
	)
	assert.is((await ask('/notes?limit=10&fields=text')).body.length > 10 * BYTES * 6, true)
	assert.is((await ask('/notes/5?fields=id')).status, 200)
}

describe('pages that are too large, on SQLite', (test) => {
	for (const { name, open } of sqliteDrivers) {
		if (open === undefined) continue
		test(`by ${name} are refused`, async () => {
			const database = open()
			database.exec(`create table ${TABLE} (id integer primary key, text text not null)`)
			database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${RECORDS})
				insert into ${TABLE} select i, replace(hex(zeroblob(${BYTES / 2})), '0', char(1)) from n`)
			await refused(await SqliteModel.open(database, TABLE))
			database.close()
		})
	}
})

const drivers = await driversHere()
/** With a server available, the slower PGlite would test nothing else. */
for (const name of drivers.length > 1 ? drivers.filter((one) => one !== 'PGlite') : drivers)
	describe(`pages that are too large, on PostgreSQL by ${name}`, (test) => {
		test('are refused', async () => {
			const { database, exec, close } = await databaseLater(name, {}, {})()
			await exec(
				`drop table if exists ${TABLE}; create table ${TABLE} (id int primary key, text text not null);
				insert into ${TABLE} select i, repeat(chr(1), ${BYTES}) from generate_series(1, ${RECORDS}) i`,
			)
			try {
				await refused(await PostgresModel.open(database, TABLE, { timeoutSeconds: 300 }))
			} finally {
				await exec(`drop table ${TABLE}`)
				await close()
			}
		})
	})
