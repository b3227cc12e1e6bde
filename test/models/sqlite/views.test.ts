/** Writing through views of SQLite that have INSTEAD OF triggers. */
import * as assert from 'uvu/assert'
import { type Changes, DEFAULT, type Values } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { NO_GUARD, onDatabases, selectionOf } from './database.ts'

const TABLES = `
	create table article (
		id integer primary key, title text not null, slug text unique, n int, rev integer not null, gone int not null default 0);
	insert into article values (1, 'ONE', 'one', 3, 1, 0);
	create view live as select id, title, slug, n, rev, length(title) as size from article where gone = 0;
	create trigger live_insert instead of insert on live begin
		select raise(ignore) where new.title = 'skip';
		select raise(abort, 'not this one') where new.title = 'no';
		insert into article (id, title, slug, n, rev) values (new.id, upper(new.title), new.slug, coalesce(new.n, 7), 1);
		update article set gone = 1 where id = new.id and title = 'HIDDEN';
	end;
	create trigger live_update instead of update on live begin
		select raise(ignore) where new.title = 'skip';
		update article set title = upper(new.title), slug = new.slug, n = new.n, rev = new.rev where id = old.id;
		update article set gone = 1 where id = new.id and title = 'HIDDEN';
	end;
	create trigger live_delete instead of delete on live begin
		update article set gone = 1 where id = old.id and title <> 'KEPT';
	end;`

const ALL = { ...selectionOf('id', 'title', 'slug', 'n', 'rev'), version: 'rev' }

async function failure(work: Promise<unknown>): Promise<unknown> {
	try {
		return await work
	} catch (error) {
		return error instanceof ModelError ? [error.kind, ...error.fields] : error
	}
}

for (const driver of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${driver.name}: writable views`, (test) => {
		const on = onDatabases(test, driver)

		on(
			TABLES,
			'a view with triggers for all changes takes them, and answers what is stored',
			async (database) => {
				const live = await SqliteModel.open(database, 'live', { key: 'id' })
				assert.is(live.readOnly, false)
				const two = { id: 2, title: 'two', slug: 'two' }
				const json = (id: number, title: string, n: number, rev: number) =>
					`{"id":${id},"title":"${title.toUpperCase()}","slug":"${title}","n":${n},"rev":${rev}}`
				assert.equal(await live.create(two, ALL), { json: json(2, 'two', 7, 1), version: '1', id: '2' })
				assert.equal(await live.read('2', ALL, undefined), { json: json(2, 'two', 7, 1), version: '1' })
				const update = (id: string, changes: Changes, version?: string) =>
					failure(live.update(id, changes, ALL, { where: undefined, version }))
				const changed = { json: `{"id":2,"title":"2ND","slug":"two","n":7,"rev":2}`, version: '2' }
				assert.equal(await update('2', { title: '2nd' }, '1'), changed)
				assert.is(await update('2', { title: '3rd' }, '1'), 'stale')
				assert.is(await update('9', { title: '3rd' }), 'missing')
				assert.equal(await update('2', { title: 'skip' }), ['refused'])
				assert.equal(await update('2', { slug: 'one' }), ['unique', 'slug'])
				assert.equal(await update('2', { n: DEFAULT }), {
					json: `{"id":2,"title":"2ND","slug":"two","n":null,"rev":3}`,
					version: '3',
				})
				const remove = (id: string, version?: string) =>
					failure(live.delete(id, ALL, { where: undefined, version }))
				assert.is(await remove('2', '2'), 'stale')
				assert.equal(await remove('2', '3'), {
					json: `{"id":2,"title":"2ND","slug":"two","n":null,"rev":3}`,
					version: '3',
				})
				assert.is(await remove('2'), 'missing')
			},
		)

		on(
			TABLES,
			'what triggers skip, refuse or move out of the view is an error, and undone',
			async (database) => {
				const live = await SqliteModel.open(database, 'live', { key: 'id' })
				const table = await SqliteModel.open(database, 'article')
				const create = (values: Values) => failure(live.create(values, ALL))
				assert.equal(await create({ title: 'two' }), ['not_null', 'id'])
				assert.equal(await create({ id: 2, title: 'skip' }), ['refused'])
				assert.equal(await create({ id: 2, title: 'no' }), ['refused'])
				assert.equal(await create({ id: 2, title: 'hidden' }), ['check'])
				assert.equal(await create({ id: 1, title: 'x' }), ['unique', 'id'])
				assert.equal(await create({ id: 2, title: null }), ['not_null', 'title'])
				assert.equal(await failure(live.update('1', { title: 'hidden' }, ALL, NO_GUARD)), ['check'])
				assert.is(await table.count(undefined), 1)
				await live.transaction(async (inner) => {
					assert.equal(await failure(inner.create({ id: 3, title: 'hidden' }, ALL)), ['check'])
					await inner.create({ id: 4, title: 'kept' }, ALL)
				})
				assert.equal(await failure(live.delete('4', ALL, NO_GUARD)), ['refused'])
				assert.is(await table.count(undefined), 2)
				assert.is(await live.count(undefined), 2)
			},
		)

		on(
			`create table t (id integer primary key, a int, b int); create view v as select * from t;
			create trigger v_insert instead of insert on v begin insert into t values (new.id, new.a, new.b); end;
			create trigger v_delete instead of delete on v begin delete from t where id = old.id; end;
			create trigger v_update instead of update of a on v begin update t set a = new.a where id = new.id; end`,
			'a view without a trigger for every update is read-only',
			async (database) => {
				const view = await SqliteModel.open(database, 'v', { key: 'id' })
				assert.is(view.readOnly, true)
				assert.match(
					String(await failure(view.create({ id: 1 }, selectionOf('id')))),
					'v is a view: its records can only be read',
				)
			},
		)
	})
}
