/** Foreign keys, read by SQLite's pragmas. */
import * as assert from 'uvu/assert'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'

const SCHEMA = `
	create table Author (Id integer primary key, mail text not null unique, shelf int, place int, unique (shelf, place));
	create table tag (day text, name text, primary key (name, day));
	create table article (
		place int, id integer primary key, author int references AUTHOR, editor text references author (MAIL), shelf int,
		parent int references ARTICLE (ID), day text, tag text, lost int references absent, half text references tag,
		wrong int references author (absent), again int,
		foreign key (Shelf, PLACE) references author (shelf, place), foreign key (tag, day) references tag,
		foreign key (author) references author (id)
	);
	create view few as select id, author from article;
	create trigger few_insert instead of insert on few begin select 1; end;
	create trigger few_update instead of update on few begin select 1; end;
	create trigger few_delete instead of delete on few begin select 1; end;
	create view people as select id, mail from author;
	create trigger people_insert instead of insert on people begin select 1; end;
	create trigger people_update instead of update on people begin select 1; end;
	create trigger people_delete instead of delete on people begin select 1; end;
	attach ':memory:' as other;
	create table other.author (id integer primary key);
	create table other.article (id integer primary key, author int references author);
`

for (const { name, open } of suitesBy(sqliteDrivers)) {
	if (open === undefined) continue
	describe(`foreign keys by ${name}`, (test) => {
		const database = opened(open)
		const model = (table: string) =>
			SqliteModel.open(database, table, /few|people/.test(table) ? { key: [] } : {})
		const found = async (from: string, to: string) =>
			(await model(from)).references(await model(to)).map(({ fields, to }) => `${fields} → ${to}`)

		test.before(() => void database.exec(SCHEMA))
		test.after(() => {
			database.close()
		})

		test('each key once, whatever the case of its names, with the columns of the primary key if none is named', async () => {
			assert.equal((await found('article', 'author')).sort(), [
				'author → Id',
				'editor → mail',
				'shelf,place → shelf,place',
			])
			assert.equal(await found('article', 'tag'), ['tag,day → name,day'])
			assert.equal(await found('article', 'article'), ['parent → id'])
			assert.equal(await found('author', 'article'), [])
		})

		test('only within its own schema', async () => {
			assert.equal(await found('other.article', 'other.author'), ['author → id'])
			assert.equal(await found('other.article', 'author'), [])
			assert.equal(await found('article', 'other.author'), [])
		})

		test('a writable view has the keys of its table, as far as it has the columns', async () => {
			assert.equal(await found('few', 'author'), ['author → Id'])
			assert.equal(await found('few', 'article'), [])
			assert.equal((await found('article', 'people')).sort(), ['author → Id', 'editor → mail'])
		})

		test('models of openAll and of a transaction have them; those of another database have none', async () => {
			const { article, Author } = await SqliteModel.openAll(database)
			assert.ok(article !== undefined && Author !== undefined)
			assert.is(article.references(Author).length, 3)
			const within = await article.transaction(async (model) => model.references?.(Author)?.length)
			assert.is(within, 3)
			const another = opened(open)
			another.exec(SCHEMA)
			assert.equal(article.references(await SqliteModel.open(another, 'author')), [])
			another.close()
		})
	})
}
