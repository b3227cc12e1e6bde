/** `PostgresModel.openAll` with `views: true`. */
import * as assert from 'uvu/assert'
import type { Selection } from '../../../lib/models/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'

const SCHEMA = `
	create schema pgad_views; create schema pgad_no_views; create schema pgad_only_views;
	create table pgad_views.author (id int primary key, name text not null);
	create table pgad_views.book (id int primary key, author int not null references pgad_views.author);
	insert into pgad_views.author values (1, 'Ada'), (2, 'Bob');
	create view pgad_views.a_book as select id, author from pgad_views.book;
	create view pgad_views.shout as select upper(name) as name from pgad_views.author;
	create materialized view pgad_views.stored as select upper(name) as name from pgad_views.author;
	create view pgad_only_views.shout as select name from pgad_views.shout;`
const DROP = `drop schema if exists pgad_views, pgad_no_views, pgad_only_views cascade`

function shown(models: Readonly<Record<string, PostgresModel>>): readonly string[] {
	return Object.entries(models).map(
		([name, { key, readOnly }]) => `${name}: ${key}${readOnly ? ', read-only' : ''}`,
	)
}

function opens(name: DriverName): void {
	describe(`opening all tables and views by ${name}`, (test) => {
		const opened = databaseLater(name)

		test.before(async () => {
			const { exec } = await opened()
			await exec(DROP)
			await exec(SCHEMA)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(DROP)
			await close()
		})

		test('views and materialized views are opened too, and their records can only be listed', async () => {
			const { database } = await opened()
			const schema = 'pgad_views'
			const tables = ['author: id', 'book: id']
			assert.equal(shown(await PostgresModel.openAll(database, { schema })), tables)
			assert.equal(shown(await PostgresModel.openAll(database, { schema, views: false })), tables)
			const models = await PostgresModel.openAll(database, { schema, views: true })
			assert.equal(shown(models), [
				...['a_book: , read-only', ...tables, 'shout: , read-only', 'stored: , read-only'],
			])
			const selection: Selection = { fields: ['name'], names: ['name'], version: undefined }
			const order = [{ field: 'name', descending: true }]
			const query = { selection, where: undefined, order, limit: 9, offset: 0, after: undefined }
			for (const view of [models.shout, models.stored]) {
				const listed = await view?.list({ ...query, total: false })
				assert.equal(JSON.parse(listed?.json ?? ''), [{ name: 'BOB' }, { name: 'ADA' }])
			}
			const { author, a_book } = models
			if (author === undefined) throw new Error('openAll left it out')
			assert.equal(a_book?.references(author), [{ fields: ['author'], to: ['id'] }])
		})

		test('a schema may have views only', async () => {
			const { database } = await opened()
			const models = await PostgresModel.openAll(database, { schema: 'pgad_only_views', views: true })
			assert.equal(shown(models), ['shout: , read-only'])
		})

		for (const schema of ['pgad_no_views', 'pg_catalog', 'information_schema']) {
			test(`nothing is found in schema ${schema}`, async () => {
				const { database } = await opened()
				const error: unknown = await PostgresModel.openAll(database, { schema, views: true }).catch(
					(error: unknown) => error,
				)
				assert.match(String(error), `TypeError: there are no tables or views in schema "${schema}"`)
			})
		}
	})
}

for (const name of suitesBy(await driversHere())) opens(name)
