/** Ids on SQLite are compared exactly, whatever the key column's collation or affinity considers equal. */
import * as assert from 'uvu/assert'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { NO_GUARD, onDatabases, selectionOf } from './database.ts'

for (const driver of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${driver.name}: ids`, (test) => {
		const on = onDatabases(test, driver)
		const all = selectionOf('id', 'note')

		for (const [collation, id, others] of [
			['nocase', 'ANN', ['ann', 'Ann', 'ANN ']],
			['rtrim', 'ANN', ['ANN ', 'ANN  ', 'ann']],
			['binary', 'ANN', ['ANN ', 'ann']],
		] as const) {
			on(
				`create table user (id text collate ${collation} primary key, note text, version int not null default 1);
				insert into user (id, note) values ('ANN', 'first')`,
				`of a column with ${collation} are compared exactly`,
				async (database) => {
					const model = await SqliteModel.open(database, 'user')
					// Twice: cached statements must be as exact.
					for (const other of [...others, ...others]) {
						assert.is(await model.read(other, all, undefined), undefined)
						assert.is(await model.update(other, { note: 'changed' }, all, NO_GUARD), 'missing')
						assert.is(await model.delete(other, all, NO_GUARD), 'missing')
					}
					const found = await model.read(id, all, undefined)
					assert.is(found?.json.replaceAll(' ', ''), '{"id":"ANN","note":"first"}')
					assert.type(await model.update(id, { note: 'second' }, all, NO_GUARD), 'object')
					await model.transaction(async (inner) => {
						assert.is(await inner.read(others[0], all, undefined), undefined)
						assert.type(await inner.read(id, all, undefined), 'object')
					})
					assert.type(await model.delete(id, all, NO_GUARD), 'object')
				},
			)
		}
	})
}
