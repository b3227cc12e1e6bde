/** `MysqlModel.openAll` with `views: true`, in a database of its own. */
import type { Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { select } from './types.ts'

const DATABASE = 'myad_open_views'

const TABLES = [
	'create table author (id int primary key, name varchar(20) not null)',
	'create table zone (id int primary key, author int, foreign key (author) references author (id))',
	// Read before what they are made of, and after it.
	'create view area as select id, author from zone',
	'create view borough as select id, author from area where id > 0',
	'create view shout as select upper(name) as name from author',
	"insert into author values (1, 'Ada'), (2, 'Bob')",
]

function opening(): void {
	describe('MysqlModel.openAll with views', (test) => {
		const pool: Pool = openPool({}, { database: DATABASE })
		const server: Pool = openPool()

		test.before.each(async () => {
			await server.query(`drop database if exists ${DATABASE}`)
			await server.query(`create database ${DATABASE}`)
			for (const text of TABLES)
				await server.query(text.replaceAll(/\b(table|view|into|from) /g, `$1 ${DATABASE}.`))
		})
		test.after(async () => {
			await server.query(`drop database if exists ${DATABASE}`)
			await pool.end()
			await server.end()
		})

		const shown = (models: Readonly<Record<string, MysqlModel>>) =>
			Object.entries(models).map(
				([name, { key, readOnly }]) => `${name}: ${key}${readOnly ? ', read-only' : ''}`,
			)

		test('views are opened too, and their records can only be listed', async () => {
			assert.equal(shown(await MysqlModel.openAll(pool)), ['author: id', 'zone: id'])
			assert.equal(shown(await MysqlModel.openAll(pool, { views: false })), ['author: id', 'zone: id'])
			const models = await MysqlModel.openAll(pool, { views: true })
			assert.equal(shown(models), [
				...['area: , read-only', 'author: id', 'borough: , read-only', 'shout: , read-only', 'zone: id'],
			])
			const order = [{ field: 'name', descending: true }]
			const query = { selection: select('name'), where: undefined, order, limit: 9, offset: 0 }
			const listed = await models.shout?.list({ ...query, after: undefined, total: true })
			assert.equal(listed, { json: '[{"name":"BOB"},{"name":"ADA"}]', next: undefined, total: 2 })
		})

		test('views have the foreign keys of the table that was opened with them', async () => {
			const { area, borough, zone, author } = await MysqlModel.openAll(pool, { views: true })
			if (author === undefined) throw new Error('openAll left it out')
			for (const model of [zone, area, borough])
				assert.equal(model?.references(author), [{ fields: ['author'], to: ['id'] }])
		})

		test('a view costs no more statements than a table', async () => {
			// On one connection, whose counter has only its own statements.
			const one = openPool({}, { database: DATABASE, connectionLimit: 1 })
			const count = async () => {
				const [rows] = await one.query("show session status like 'questions'")
				return Number(Object.values(Reflect.get(rows, 0))[1])
			}
			const cost = async (views: boolean) => {
				const before = await count()
				await MysqlModel.openAll(one, { views })
				return (await count()) - before
			}
			try {
				await cost(true)
				const tables = await cost(false)
				// Three views, two tables, and some statements about the server.
				assert.ok((await cost(true)) <= tables + 3 * 4)
			} finally {
				await one.end()
			}
		})

		test("a view whose table is gone is an error with the server's reason; without views, it isn't read", async () => {
			await pool.query('drop table zone')
			for (const open of [
				() => MysqlModel.openAll(pool, { views: true }),
				() => MysqlModel.open(pool, 'area', { key: [] }),
			]) {
				const error = await open().catch((error: unknown) => error)
				assert.instance(error, Error)
				assert.match(String(error), /View 'myad_open_views\.area' references invalid table/)
			}
			assert.equal(shown(await MysqlModel.openAll(pool)), ['author: id'])
		})

		test("the server's own views are not opened", async () => {
			const own = openPool({}, { database: 'information_schema' })
			try {
				assert.equal(await MysqlModel.openAll(own, { views: true }), {})
			} finally {
				await own.end()
			}
		})
	})
}

if (await mariadbIsHere()) opening()
