/** SQLite says that a reference leads nowhere, or is still led to, but not which one it is. */
import * as assert from 'uvu/assert'
import { CrudHandler } from '../../lib/index.ts'
import { SqliteModel } from '../../lib/models/sqlite/model.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { opened, sqliteDrivers } from '../helpers/sqlite.ts'
import { EVERYTHING } from './articles.ts'

describe('crud: references of SQLite', (test) => {
	test('that lead nowhere are told in words that are true of them, and of a value that is taken', async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		try {
			database.exec(`pragma foreign_keys = on;
				create table author (id integer primary key, email text not null, pen text unique);
				create table post (id integer primary key, author integer references author (id));
				insert into author values (1, 'ann', 'a'), (2, 'bob', 'b');
				insert into post values (1, 1)`)
			class Penned extends CrudHandler {
				override update(id: string, values: Record<string, unknown>) {
					return super.update(id, { ...values, pen: 'b' })
				}
			}
			const asked = asking({
				author: new Penned(await SqliteModel.open(database, 'author'), {
					...{ visible: ['id'], updatable: ['email'], allow: EVERYTHING },
				}),
				post: new CrudHandler(await SqliteModel.open(database, 'post'), {
					...{ visible: 'all', updatable: ['author'], allow: EVERYTHING },
				}),
			})
			const refused = '409 {"success":false,"error":"Conflicts with existing records","code":"conflict"}'
			const body = { author: 9 }
			for (const request of ['POST /post', 'PATCH /post/1', 'PUT /post/1'])
				assert.is(await asked.said(request, { body }), refused)
			assert.is(await asked.said('PATCH /author/1', { body: { email: 'x' } }), refused)
			assert.is(
				await asked.said('DELETE /author/1'),
				'409 {"success":false,"error":"Other records refer to this one","code":"conflict"}',
			)
		} finally {
			database.close()
		}
	})
})
