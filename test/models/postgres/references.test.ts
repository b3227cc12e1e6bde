/** Foreign keys, read from PostgreSQL's catalog. */
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, transaction } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { type DriverName, driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater, openDatabase } from './databases.ts'

const DROP = 'drop schema if exists pgad_keys, "pgad.Keys" cascade'
const SCHEMA = `
	create schema pgad_keys;
	create schema "pgad.Keys";
	create table pgad_keys.author (gone int, id serial primary key, "e-mail" text not null unique, shelf int, place int,
		unique (shelf, place));
	alter table pgad_keys.author drop column gone;
	create table "pgad.Keys".author (id int primary key, author int references pgad_keys.author);
	create table pgad_keys.article (old int, place int, id int primary key, author int references pgad_keys.author,
		editor text references pgad_keys.author ("e-mail"), shelf int, far int references "pgad.Keys".author,
		parent int references pgad_keys.article,
		foreign key (shelf, place) references pgad_keys.author (shelf, place) match full,
		constraint again foreign key (author) references pgad_keys.author (id) not valid);
	alter table pgad_keys.article drop column old;
	create view pgad_keys.few as select id, author as written, place from pgad_keys.article where id > 0;
	create view pgad_keys.fewer as select id as number, written as "by" from pgad_keys.few;
	create view pgad_keys.people as select id as person, shelf from pgad_keys.author;
	create view pgad_keys.joined as select a.id, a.author from pgad_keys.article a join pgad_keys.author on true;
	create table pgad_keys.log (id int primary key, author int references pgad_keys.author) partition by range (id);
	create table pgad_keys.log_1 partition of pgad_keys.log for values from (0) to (100) partition by range (id);
	create table pgad_keys.log_11 partition of pgad_keys.log_1 for values from (0) to (50);
	create table pgad_keys.note (id int primary key, log int references pgad_keys.log,
		first int references pgad_keys.log_11) partition by list (id);
	create table pgad_keys.note_1 (first int, id int not null, log int);
	alter table pgad_keys.note attach partition pgad_keys.note_1 for values in (1);
	create collation pgad_keys.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	create table pgad_keys.tag (code text collate "C" primary key);
	create table pgad_keys.tagged (id int primary key, same text collate "C" references pgad_keys.tag,
		usual text references pgad_keys.tag, other text collate "POSIX" references pgad_keys.tag);
	do $$ begin
		alter table pgad_keys.tagged add loose text collate pgad_keys.loose references pgad_keys.tag;
	exception when collation_mismatch then null; -- PostgreSQL 18 refuses it
	end $$;`

/** Fails unless a statement on authors waits for a lock. */
const WAITING = `do $$ begin
	if not exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
		and query like '%pgad_keys%author%') then raise 'none waits'; end if;
end $$`
const NOTHING = { fields: [], names: [], version: undefined, related: [] }

function references(name: DriverName): void {
	describe(`foreign keys by ${name}`, (test) => {
		const opened = databaseLater(name)
		const open = async (table: string) =>
			PostgresModel.open((await opened()).database, table.includes('.') ? table : `pgad_keys.${table}`, {
				...(/few|people|joined/.test(table) ? { key: [] } : {}),
			})
		const found = async (from: string, to: string) => {
			const [model, other] = [await open(from), await open(to)]
			return model.references(other).map(({ fields, to }) => `${fields} → ${to}`)
		}

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

		test('each key once: of the primary key, of a unique column, of several columns', async () => {
			assert.equal((await found('article', 'author')).sort(), [
				'author → id',
				'editor → e-mail',
				'shelf,place → shelf,place',
			])
			assert.equal(await found('author', 'article'), [])
		})

		test('to itself, and to tables of the same name in another schema', async () => {
			assert.equal(await found('article', 'article'), ['parent → id'])
			assert.equal(await found('article', '"pgad.Keys".author'), ['far → id'])
			assert.equal(await found('"pgad.Keys".author', 'author'), ['author → id'])
			assert.equal(await found('"pgad.Keys".author', 'article'), [])
		})

		test('a writable view has the keys of its table, as far as it has the columns', async () => {
			assert.equal(await found('few', 'author'), ['written → id'])
			assert.equal(await found('fewer', 'author'), ['by → id'])
			assert.equal(await found('article', 'people'), ['author → person'])
			assert.equal(await found('fewer', 'people'), ['by → person'])
			assert.equal(await found('few', 'article'), [])
			assert.equal(await found('joined', 'author'), [])
		})

		test('of partitioned tables and partitions, but not to each partition of a target', async () => {
			assert.equal(await found('log', 'author'), ['author → id'])
			assert.equal(await found('log_11', 'author'), ['author → id'])
			for (const table of ['note', 'note_1']) {
				assert.equal(await found(table, 'log'), ['log → id'])
				assert.equal(await found(table, 'log_1'), [])
				assert.equal(await found(table, 'log_11'), ['first → id'])
			}
		})

		test('none between columns whose collations PostgreSQL refuses to compare, or compares otherwise', async () => {
			assert.equal(await found('tagged', 'tag'), ['same → code', 'usual → code'])
		})

		test('models of openAll and of a transaction have them; those of another pool have none', async () => {
			const { database } = await opened()
			const { article, author } = await PostgresModel.openAll(database, { schema: 'pgad_keys' })
			assert.ok(article !== undefined && author !== undefined)
			assert.is(article.references(author).length, 3)
			const within = await article.transaction(async (model) => model.references?.(author))
			assert.equal(within, article.references(author))
			// A second PGlite keeps the process from ending.
			if (name === 'PGlite') return
			const another = await openDatabase(name)
			assert.equal(article.references(await PostgresModel.open(another.database, 'pgad_keys.author')), [])
			await another.close()
		})

		// PGlite has one connection.
		if (name !== 'PGlite')
			test('transactions lock a record that both have referred to, one after the other', async () => {
				const [author, article] = [await open('author'), await open('article')]
				const { id } = await author.create({ 'e-mail': 'locked' }, NOTHING)
				let referred = 0
				const both = Array.from({ length: 2 }, (_, at) =>
					transaction([author, article], async ([authors, articles]) => {
						await articles.create({ id: 1_000 + at, author: Number(id) }, NOTHING)
						referred++
						await until(() => referred === 2, 'both have referred to it')
						return authors.lock?.(id, NOTHING, undefined)
					}),
				)
				assert.equal(
					(await Promise.all(both)).map((found) => found?.json),
					['{}', '{}'],
				)
			})

		// It would end in a deadlock if the deletion held a lock that lets others refer to the record, and then waited for theirs.
		if (name !== 'PGlite')
			for (const url of ['/author/%', '/author?id=%'])
				test(`DELETE ${url} waits for a transaction that has referred to the record, and then changes it`, async () => {
					const { exec } = await opened()
					await exec(`create table if not exists pgad_keys.audit (id int generated always as identity primary key,
						who text, at timestamptz not null, operation text not null, record text not null, before text, after text)`)
					const [author, article, audit] = [await open('author'), await open('article'), await open('audit')]
					const audited = new CrudHandler(author, {
						allow: ['list', 'remove', 'removeMany'],
						visible: ['id'],
						audit,
					})
					const server = createServer({ author: audited })
					const { id } = await author.create({ 'e-mail': url }, NOTHING)
					let removed: ReturnType<typeof server.inject> | undefined
					await transaction([author, article], async ([authors, articles]) => {
						await articles.create({ id: 2_000, author: Number(id) }, NOTHING)
						removed = server.inject({ method: 'DELETE', url: url.replace('%', id) })
						await until(
							() =>
								exec(WAITING).then(
									() => true,
									() => false,
								),
							'the deletion waits',
						)
						await authors.update(id, { shelf: 1 }, NOTHING, { where: undefined, version: undefined })
						await articles.delete('2000', NOTHING, { where: undefined, version: undefined })
					})
					assert.is((await removed)?.status, 200)
					assert.is(await author.read(id, NOTHING, undefined), undefined)
				})

		if (name !== 'PGlite')
			test('a deletion of many that only marks them does not wait for those who refer to them', async () => {
				const { exec } = await opened()
				await exec(`create table pgad_keys.soft (id int primary key, gone timestamptz);
					create table pgad_keys.below (id int primary key, soft int references pgad_keys.soft);
					insert into pgad_keys.soft values (1)`)
				const [soft, below] = [await open('soft'), await open('below')]
				const handler = new CrudHandler(soft, {
					allow: ['list', 'remove', 'removeMany', 'restore'],
					visible: ['id'],
					softDelete: 'gone',
				})
				const server = createServer({ soft: handler })
				const status = await below.transaction(async (within) => {
					await within.create({ id: 1, soft: 1 }, NOTHING)
					return (await server.inject({ method: 'DELETE', url: '/soft?id=1' })).status
				})
				assert.is(status, 200)
			})

		test('a key goes with its column, on either side', async () => {
			const { exec } = await opened()
			await exec(`create table pgad_keys.left (id int primary key, a int references pgad_keys.author, b int references
				pgad_keys.author, c int)`)
			try {
				const [left, author] = [await open('left'), await open('author')]
				const read = () =>
					left.count({ op: 'eq', field: 'b', value: 1 }).catch((error: unknown) => error instanceof Error)
				assert.equal(
					left.references(author).map(({ fields }) => fields.join()),
					['a', 'b'],
				)
				await exec('alter table pgad_keys.left drop column b, add d int references pgad_keys.author')
				assert.is(await read(), true)
				assert.equal(
					left.references(author).map(({ fields }) => fields.join()),
					['a'],
				)
			} finally {
				await exec('drop table pgad_keys.left')
			}
		})
	})
}

for (const name of suitesBy(await driversHere())) references(name)
