import * as assert from 'uvu/assert'
import type { Order } from '../../../lib/models/model.ts'
import { SqliteModel, type SqliteModelOptions } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { onDatabases, selectionOf } from './database.ts'

const BY_ID: readonly Order[] = [{ field: 'id', descending: false }]

for (const driver of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${driver.name}: tables`, (test) => {
		const on = onDatabases(test, driver)

		async function refused(work: () => Promise<unknown>, message: string): Promise<void> {
			try {
				await work()
			} catch (error) {
				assert.instance(error, Error)
				assert.is((error as Error).message, message)
				return
			}
			assert.unreachable('it should have been refused')
		}

		on(
			`create table t (
				id integer primary key, a int, b bigint not null, c tinyint(1), d boolean default true, e double precision,
				f decimal(10, 2), g varchar(80), h char (5) not null, i date, j datetime, k timestamp(6), l time, m json,
				n blob, o uuid, p, q numeric, r nvarchar(20) default 'x', s int generated always as (a + 1) virtual,
				u text generated always as (g || 'x') stored, v smallint, w clob, x real
			)`,
			'declared types are read, with nullability, defaults and generated columns',
			async (database) => {
				const { fields, key, readOnly } = await SqliteModel.open(database, 't')
				const shown = fields.map((field) => {
					const marks = `${field.nullable ? '?' : ''}${field.hasDefault ? '=' : ''}${field.generated ? '*' : ''}`
					return `${field.name} ${field.type}${field.maxLength ?? ''}${marks}`
				})
				assert.equal(
					shown.join(', '),
					'id bigint=, a integer?, b bigint, c boolean?, d boolean?=, e float?, f decimal?, g text80?, h text5, ' +
						'i date?, j timestamp?, k timestamp?, l time?, m json?, n bytes?, o uuid?, p other?, q decimal?, ' +
						'r text20?=, s integer?*, u text?*, v integer?, w text?, x float?',
				)
				assert.equal([key, readOnly], [['id'], false])
			},
		)

		on(
			'create table a (id text primary key, n int) without rowid; create table s (id int primary key, t text) strict',
			'keys of tables without rowid, and of STRICT ones, have no default',
			async (database) => {
				for (const [table, type] of [
					['a', 'text'],
					['s', 'integer'],
				] as const) {
					const [id] = (await SqliteModel.open(database, table)).fields
					assert.equal([id?.type, id?.nullable, id?.hasDefault], [type, false, false])
				}
			},
		)

		on(
			`create table "my ""table"".x" (id integer primary key, "a ""b"" 'c'" text unique, "select" int);
			attach ':memory:' as "other db"; create table "other db".t (id integer primary key, n text)`,
			'names may have any characters, and a schema as prefix',
			async (database) => {
				const odd = await SqliteModel.open(database, 'my "table".x')
				const field = `a "b" 'c'`
				const selection = { fields: [field, 'select'], names: ["it's", '"s"'], version: undefined }
				const { id, json } = await odd.create({ [field]: 'v', select: 1 }, selection)
				assert.is(json, '{"it\'s":"v","\\"s\\"":1}')
				const listed = await odd.list({
					...{ selection, where: { op: 'eq', field, value: 'v' }, order: BY_ID },
					...{ limit: 1, offset: 0, after: undefined, total: true },
				})
				assert.equal(listed, { json: `[${json}]`, next: undefined, total: 1 })
				const error = await odd.create({ [field]: 'v' }, selection).catch((caught) => caught)
				assert.equal([error.kind, error.fields], ['unique', [field]])
				assert.is(
					(await odd.update(id, { select: 2 }, selection, { where: undefined, version: undefined })) !==
						'missing',
					true,
				)
				for (const spelt of ['main.my "table".x', 'MY "TABLE".X']) {
					assert.is((await SqliteModel.open(database, spelt)).name, 'my "table".x')
				}
				const other = await SqliteModel.open(database, 'other db.t')
				assert.is((await other.create({ n: 'there' }, selectionOf('n'))).json, '{"n":"there"}')
			},
		)

		on(
			`create table article (id integer primary key, title text); insert into article values (1, 'one');
			create table pairs (a int, b int, primary key (a, b)); create table plain (n int, data blob not null unique, created datetime not null unique);
			create view titles as select id, upper(title) as title, 2.5 as x, count(*) as n from article group by id`,
			'a table that cannot be opened is refused with a message',
			async (database) => {
				await refused(
					() => SqliteModel.open(database, 'artcle'),
					'there is no table or view "artcle": did you mean article?',
				)
				await refused(
					() => SqliteModel.open(database, 'titles'),
					`titles is a view: pass { key: '…' } with a column that is unique and not null, a list of columns that are so together, or [] to only list its records`,
				)
				await refused(
					() => SqliteModel.open(database, 'plain'),
					`plain has no primary key: pass { key: '…' } with a column that is unique and not null, a list of columns that are so together, or [] to only list its records; it could be created`,
				)
				await refused(
					() => SqliteModel.open(database, 'article', { key: 'titel' }),
					'article has no column "titel" for its key: did you mean title?',
				)
				await refused(
					() => SqliteModel.open(database, 'plain', { key: 'data' }),
					'the key of plain, data, is of type blob; a key must be an integer, a uuid, a text, a date or a timestamp',
				)
				await refused(
					// A program without types may pass anything.
					() => SqliteModel.open(database, 'article', { bigint: 'text' } as unknown as SqliteModelOptions),
					`SqliteModel: bigint must be 'number' or 'string', got "text"`,
				)
				await refused(
					() => SqliteModel.open(database, 'article', { timeoutSeconds: 0 }),
					'SqliteModel: timeoutSeconds must be a number above 0 and at most 86400, got 0',
				)
				const key: SqliteModelOptions = { key: 'id' }
				await refused(
					() => SqliteModel.openAll(database, key),
					'SqliteModel has no option key; there are views, bigint, timeoutSeconds',
				)
				for (const [nothing, found] of [
					[undefined, 'undefined'],
					[null, 'null'],
					['blog.db', '"blog.db"'],
					[{}, 'an object'],
				]) {
					await refused(
						() => SqliteModel.open(nothing as unknown as TestDatabase, 'article'),
						`the database must be a DatabaseSync of node:sqlite, or a Database of better-sqlite3 or libsql, got ${found}`,
					)
				}
			},
		)

		on(
			`create table t (
				id integer primary key, plain text not null, nullable text unique, part text not null, lower text not null,
				a text not null, b text not null, folded text not null collate nocase, trimmed text not null collate rtrim,
				fine text not null unique, also text not null collate nocase unique, number int not null,
				finer text not null collate nocase unique, unique (a, b));
			create unique index t_part on t (part) where part <> '';
			create unique index t_lower on t (lower(lower));
			create unique index t_folded on t (folded collate binary);
			create unique index t_trimmed on t (trimmed collate nocase);
			create unique index t_number on t (number);
			create table keyless (a text not null, b int unique not null);
			create table texts (id text primary key)`,
			"a key is the primary key, or a unique not-null column without a partial index; in the column's own collation",
			async (database) => {
				for (const key of ['plain', 'nullable', 'part', 'lower', 'a', 'b', 'folded', 'trimmed'])
					await refused(
						() => SqliteModel.open(database, 't', { key }),
						`${key} can't be the key of t: a key must be unique on its own, and not null; it could be a, b or fine or also or number or finer`,
					)
				for (const key of ['id', 'fine', 'also', 'number', 'finer'])
					assert.is((await SqliteModel.open(database, 't', { key })).key.join(), key)
				await refused(
					() => SqliteModel.open(database, 'keyless'),
					`keyless has no primary key: pass { key: '…' } with a column that is unique and not null, a list of columns that are so together, or [] to only list its records; it could be b`,
				)
				assert.is((await SqliteModel.open(database, 'texts', { key: 'id' })).key.join(), 'id')
			},
		)

		on(
			`create table article (id integer primary key, title text); insert into article values (1, 'one'), (2, 'two');
			create view titles as select id, upper(title) as title, id * 2.5 as x, count(*) as n, x'01' as data
			from article group by id`,
			'a view is read by its key, with the types of its values, and never written',
			async (database) => {
				const view = await SqliteModel.open(database, 'titles', { key: 'id' })
				const selection = selectionOf('id', 'title', 'x', 'n', 'data')
				assert.is(
					(await view.read('2', selection, undefined))?.json,
					'{"id":2,"title":"TWO","x":5.0,"n":1,"data":"AQ=="}',
				)
				assert.is(view.readOnly, true)
				await refused(
					() => view.create({ title: 'x' }, selection),
					'titles is a view: its records can only be read',
				)
			},
		)

		on(
			`create table author (id integer primary key); create table article (slug varchar(20) primary key);
			create table pairs (a int, b int, primary key (a, b)); create view v as select 1 as id;
			create table "__proto__" (id integer primary key);
			create table log (line text); create table files (data blob primary key);
			create table untyped (id primary key); create table filled (id primary key); insert into filled values ('a')`,
			'openAll opens all tables, without views',
			async (database) => {
				const models = await SqliteModel.openAll(database)
				assert.equal(
					Object.entries(models).map(
						([name, { key, readOnly }]) => `${name}: ${key.join()}${readOnly ? ', read-only' : ''}`,
					),
					[
						'__proto__: id',
						'article: slug',
						'author: id',
						'files: , read-only',
						'filled: id',
						'log: , read-only',
						'pairs: a,b',
						'untyped: , read-only',
					],
				)
			},
		)

		on(
			`create table article (id integer primary key, title text); insert into article values (1, 'one'), (2, 'two');
			create view titles as select id, upper(title) as title from article;
			create view over as select title from titles;
			create trigger added instead of insert on titles begin select 1; end;
			create trigger changed instead of update on titles begin select 1; end;
			create trigger removed instead of delete on titles begin select 1; end;
			create temp view passing as select 1 as id`,
			'openAll with views: true opens views of the main database too, whose records can only be listed',
			async (database) => {
				assert.equal(Object.keys(await SqliteModel.openAll(database, { views: false })), ['article'])
				const models = await SqliteModel.openAll(database, { views: true })
				assert.equal(
					Object.entries(models).map(
						([name, { key, readOnly }]) => `${name}: ${key.join()}${readOnly ? ', read-only' : ''}`,
					),
					['article: id', 'over: , read-only', 'titles: , read-only'],
				)
				const order = [{ field: 'title', descending: true }]
				const query = { selection: selectionOf('title'), where: undefined, order, limit: 9, offset: 0 }
				for (const view of [models.titles, models.over]) {
					const listed = await view?.list({ ...query, after: undefined, total: false })
					assert.equal(JSON.parse(listed?.json ?? ''), [{ title: 'TWO' }, { title: 'ONE' }])
				}
				database.exec('drop table article')
				await refused(
					() => SqliteModel.openAll(database, { views: true }),
					"the view over can't be opened: no such table: main.article",
				)
				assert.equal(await SqliteModel.openAll(database), {})
			},
		)

		on('', 'a database without tables is reported', async (database) => {
			await refused(
				() => SqliteModel.open(database, 't'),
				'there is no table or view "t"; the database has none',
			)
			assert.equal(await SqliteModel.openAll(database), {})
		})
	})
}
