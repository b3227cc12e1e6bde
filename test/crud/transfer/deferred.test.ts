/** Imports into tables of PostgreSQL whose constraints are checked at the end of a transaction. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { openDatabase } from '../../models/postgres/databases.ts'

const OPTIONS: CrudOptions = {
	visible: 'all',
	updatable: ['name', 'shelf'],
	allow: ['list', 'create', 'import'],
}

interface Answer {
	readonly data?: { readonly records: number; readonly problems: readonly object[] }
	readonly details?: readonly object[]
}

const TAKEN = { field: 'name', code: 'unique', message: 'is taken by another record' }
const MISSING = { field: 'shelf', code: 'foreign_key', message: 'refers to a record that does not exist' }

for (const driver of suitesBy(await driversHere()))
	describe(`crud/transfer: deferred constraints through ${driver}`, (test) => {
		test('a check reports why the commit of the import would be refused', async () => {
			const { database, exec, close } = await openDatabase(driver)
			const [shelf, herb] = [`deferred_shelf_${process.pid}`, `deferred_herb_${process.pid}`]
			await exec(`create table ${shelf} (id int primary key); create table ${herb} (id serial primary key,
				name text unique deferrable initially deferred, shelf int references ${shelf} deferrable initially deferred)`)
			try {
				const { ask } = asking({ herb: new CrudHandler(await PostgresModel.open(database, herb), OPTIONS) })
				const headers = { 'content-type': 'application/x-ndjson' }
				const post = async (body: string, query = '') => {
					const { status, json } = await ask(`POST /herb/import${query}`, {
						body: Buffer.from(body),
						headers,
					})
					const { data, details } = json() as Answer
					return [status, ...(data?.problems ?? details ?? [])]
				}
				assert.equal(await post('{"name":"a"}\n{"name":"a"}', '?mode=check'), [200, TAKEN])
				assert.equal(await post('{"name":"a"}\n{"name":"a"}'), [409, TAKEN])
				assert.equal(await post('{"name":"a","shelf":7}', '?mode=check'), [200, MISSING])
				assert.equal(await post('{"name":"a","shelf":7}'), [409, MISSING])
				assert.equal(await post('{"name":"a"}\n{"name":"b"}', '?mode=check'), [200])
				assert.match((await ask('/herb')).text(), '"data":[]')
				assert.equal(await post('{"name":"a"}\n{"name":"b"}'), [201])
			} finally {
				await exec(`drop table ${herb}, ${shelf}`)
				await close()
			}
		})
	})
