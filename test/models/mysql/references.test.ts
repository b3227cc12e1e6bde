/** Foreign keys, read from MariaDB's `information_schema`. */
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { describe } from '../../helpers/describe.ts'
import { MARIADB, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'

const OTHER = `${MARIADB.database}_keys`

function references(): void {
	describe('foreign keys on MariaDB', (test) => {
		const pool = openPool()
		const open = (name: string, key?: readonly string[]) =>
			MysqlModel.open(pool, name.includes('.') ? name : `myad_keys_${name}`, key === undefined ? {} : { key })
		const found = (model: MysqlModel, other: MysqlModel) =>
			model.references(other).map(({ fields, to }) => `${fields} → ${to}`)
		const clean = async () => {
			await pool.query('drop view if exists myad_keys_few_rows, myad_keys_few, myad_keys_people')
			await pool.query('drop table if exists myad_keys_article')
			await pool.query(`drop database if exists \`${OTHER}\``)
			await pool.query('drop table if exists myad_keys_author, myad_keys_Author')
		}

		test.before(async () => {
			await clean()
			await pool.query(`create database \`${OTHER}\``)
			await pool.query(`create table myad_keys_author (id int primary key, mail varchar(20) not null unique, shelf int, place int,
				unique (shelf, place))`)
			await pool.query('create table myad_keys_Author (id int primary key)')
			await pool.query(`create table \`${OTHER}\`.myad_keys_author (id int primary key, own int,
				foreign key (own) references \`${MARIADB.database}\`.myad_keys_author (ID))`)
			await pool.query(`create table myad_keys_article (place int, id int primary key, author int, editor varchar(20), shelf int,
				far int, upper int, parent int,
				foreign key (AUTHOR) references myad_keys_author (ID),
				foreign key (editor) references myad_keys_author (mail),
				foreign key (shelf, place) references myad_keys_author (shelf, place),
				constraint again foreign key (author) references myad_keys_author (id),
				foreign key (far) references \`${OTHER}\`.myad_keys_author (id),
				foreign key (upper) references myad_keys_Author (id),
				foreign key (parent) references myad_keys_article (id))`)
			await pool.query(
				'create view myad_keys_few as select id, author as written from myad_keys_article where id > 0',
			)
			await pool.query(
				'create view myad_keys_few_rows as select id as number, written as writer from myad_keys_few',
			)
			await pool.query('create view myad_keys_people as select id as person, mail from myad_keys_author')
		})
		test.after(async () => {
			await clean()
			await pool.end()
		})

		test('each key once: of the primary key, of a unique column, of several columns, of itself', async () => {
			const [article, author] = [await open('article'), await open('author')]
			assert.equal(found(article, author).sort(), [
				'author → id',
				'editor → mail',
				'shelf,place → shelf,place',
			])
			assert.equal(found(article, article), ['parent → id'])
			assert.equal(found(author, article), [])
		})

		test('to other databases, and whether or not the own one is named', async () => {
			const [article, far] = [await open('article'), await open(`${OTHER}.myad_keys_author`)]
			assert.equal(found(article, far), ['far → id'])
			assert.equal(found(far, await open('author')), ['own → id'])
			const named = await open(`${MARIADB.database}.myad_keys_author`)
			assert.is(found(article, named).length, 3)
			assert.equal(found(await open(`${MARIADB.database}.myad_keys_article`), far), ['far → id'])
		})

		test('names differ in case only where the server distinguishes it', async () => {
			const [article, upper] = [await open('article'), await open('Author')]
			assert.equal(found(article, upper), ['upper → id'])
		})

		test('a writable view has the keys of its table, as far as it has the columns', async () => {
			const [few, fewer, people] = [
				await open('few', ['id']),
				await open('few_rows', ['number']),
				await open('people', ['person']),
			]
			const [article, author] = [await open('article'), await open('author')]
			assert.equal(found(few, author), ['written → id'])
			assert.equal(found(fewer, author), ['writer → id'])
			assert.equal(found(article, people).sort(), ['author → person', 'editor → mail'])
			assert.equal(found(few, article), [])
		})

		test('models of openAll and of a transaction have them; those of another pool have none', async () => {
			const { myad_keys_article: article, myad_keys_author: author } = await MysqlModel.openAll(pool)
			assert.ok(article instanceof SqlModel && author instanceof SqlModel)
			assert.is(found(article, author).length, 3)
			const within = await article.transaction(async (model) => model.references?.(author))
			assert.is(within?.length, 3)
			const another = openPool()
			const foreign = await MysqlModel.open(another, 'myad_keys_author')
			assert.equal(article.references(foreign), [])
			await another.end()
		})
	})
}

if (await mariadbIsHere()) references()
