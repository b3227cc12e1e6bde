/** Writing through updatable views of MariaDB, with `returning` and without it, as in MySQL. */
import type { Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { type Changes, DEFAULT, type Values } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { dialectOf } from '../../../lib/models/mysql/dialect.ts'
import { MysqlDriver } from '../../../lib/models/mysql/driver.ts'
import { introspect } from '../../../lib/models/mysql/introspect.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { connectionsOf } from '../../../lib/models/mysql/mysql2/connections.ts'
import { askServer } from '../../../lib/models/mysql/mysql2/server.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { Lru } from '../../../lib/models/sql/text-cache.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { NO_GUARD } from './types.ts'

const TABLE = `create table myad_behind (
	id int primary key auto_increment, title varchar(20) not null, slug varchar(9) unique,
	n int not null default 3 check (n < 100), twice int as (n * 2) virtual, rev int not null default 1)`

const VIEWS: Readonly<Record<string, string>> = {
	few: 'select rev, id, title as `the ``name``, AS`, slug as s, n, twice from myad_behind a where n < 50 with check option',
	open: 'select rev, id, title as `the ``name``, AS`, slug as s, n, twice from myad_behind where n < 50',
	outer: 'select s, id, `the ``name``, AS`, n, rev, twice from myad_few where id > 0',
	computed: "select id, title, slug, rev, concat(title, ',', n) as t from myad_behind",
	// Read-only.
	lacking: 'select id, slug from myad_behind',
	double: 'select id, title, title as again from myad_behind',
	joined: 'select a.id, a.title from myad_behind a join myad_behind b on a.id = b.id',
	total: 'select n as id, count(*) as records from myad_behind group by n',
	limited: 'select id, title from myad_behind limit 10',
	over: 'select id, slug from myad_lacking',
}
const NAME = 'the `name`, AS'

async function failure(work: Promise<unknown>): Promise<unknown> {
	try {
		return await work
	} catch (error) {
		return error instanceof ModelError ? [error.kind, ...error.fields] : error
	}
}

const selectionOf = (...fields: string[]) => ({ fields, names: fields, version: 'rev' })

/** Opens a view; `isMute` as on a server without `returning`. */
async function opened(pool: Pool, view: string, isMute: boolean): Promise<SqlModel> {
	if (!isMute) return MysqlModel.open(pool, `myad_${view}`, { key: 'id' })
	const driver = new MysqlDriver(connectionsOf(pool), 60)
	const server = { ...(await askServer(driver, 60_000)), returnsInserted: false, returnsDeleted: false }
	const name = { schema: undefined, name: `myad_${view}` }
	const table = await introspect(driver, server, name, { key: 'id', bigint: 'number' })
	return new SqlModel(table, driver, dialectOf(server, table, new Lru()), 60)
}

function views(isMute: boolean): void {
	describe(`writable views of MariaDB ${isMute ? 'without' : 'with'} returning`, (test) => {
		let pool: Pool
		const drop = async () => {
			for (const view of Object.keys(VIEWS)) await pool.query(`drop view if exists myad_${view}`)
			await pool.query('drop table if exists myad_behind')
		}
		test.before(async () => {
			pool = openPool()
			await drop()
			await pool.query(TABLE)
			for (const [view, select] of Object.entries(VIEWS))
				await pool.query(`create view myad_${view} as ${select}`)
		})
		test.after(async () => {
			await drop()
			await pool.end()
		})

		for (const view of ['few', 'open', 'outer']) {
			test(`records are created, changed and deleted, with versions: ${view}`, async () => {
				const model = await opened(pool, view, isMute)
				assert.is(model.readOnly, false)
				const fields = Object.fromEntries(model.fields.map((field) => [field.name, field]))
				assert.equal(
					['id', NAME, 's', 'n', 'rev'].map((name) => fields[name]?.hasDefault),
					[true, false, false, true, true],
				)
				assert.is(fields.twice?.generated, true)
				const selection = selectionOf(NAME, 's', 'n', 'twice')
				const json = (name: string, n = 3) => JSON.stringify({ [NAME]: name, s: 'one', n, twice: 2 * n })
				const { id, ...created } = await model.create({ [NAME]: 'one', s: 'one' }, selection)
				assert.equal(created, { json: json('one'), version: '1' })
				assert.equal(await model.read(id, selection, undefined), created)
				const update = (change: Changes, version?: string, of = id) =>
					failure(model.update(of, change, selection, { where: undefined, version }))
				assert.equal(await update({ [NAME]: 'two', n: 5 }, '1'), { json: json('two', 5), version: '2' })
				assert.equal(await update({ n: DEFAULT }), { json: json('two'), version: '3' })
				assert.is(await update({ n: 4 }, '1'), 'stale')
				assert.is(await update({ n: 4 }, undefined, '999'), 'missing')
				assert.equal(await update({ n: 60 }), ['check'])
				// MySQL checks the option of the view below before the constraint.
				const isOption = view === 'few' || (IS_MYSQL && view === 'outer')
				assert.equal(await update({ n: 100 }), isOption ? ['check'] : ['check', 'n'])
				assert.equal(await model.read(id, selection, undefined), { json: json('two'), version: '3' })
				const create = (values: Values) => failure(model.create(values, selection))
				assert.equal(await create({ [NAME]: 'b', s: 'one' }), ['unique', 's'])
				assert.equal(await create({ id: Number(id), [NAME]: 'b' }), ['unique', 'id'])
				assert.equal(await create({ [NAME]: null }), ['not_null', NAME])
				assert.equal(await create({ s: 'x' }), ['not_null'])
				assert.equal(await create({ [NAME]: 'x'.repeat(21) }), ['invalid', NAME])
				const remove = (version?: string) =>
					failure(model.delete(id, selection, { where: undefined, version }))
				assert.is(await remove('1'), 'stale')
				assert.equal(await remove('3'), { json: json('two'), version: '3' })
				assert.is(await remove(), 'missing')
			})
		}

		test('an expression can only be read; in MySQL, so can the whole view', async () => {
			const model = await opened(pool, 'computed', isMute)
			if (IS_MYSQL) {
				assert.is(model.readOnly, true)
				return
			}
			assert.is(model.readOnly, false)
			assert.is(model.fields.find(({ name }) => name === 't')?.generated, true)
			const selection = selectionOf('t')
			const { id, json } = await model.create({ title: 'a' }, selection)
			assert.is(json, '{"t":"a,3"}')
			await model.delete(id, selection, NO_GUARD)
		})

		test('a record that leaves the view in a transaction is undone, which goes on', async () => {
			const model = await opened(pool, 'open', isMute)
			const selection = selectionOf('id', 'n')
			const { id } = await model.create({ [NAME]: 'a' }, selection)
			await model.transaction(async (inner) => {
				assert.equal(await failure(inner.update(id, { n: 60 }, selection, NO_GUARD)), ['check'])
				await inner.update(id, { n: 6 }, selection, NO_GUARD)
			})
			assert.is(
				((await model.delete(id, selection, NO_GUARD)) as { json: string }).json,
				`{"id":${id},"n":6}`,
			)
		})

		test('other views are read-only', async () => {
			for (const view of ['lacking', 'double', 'joined', 'total', 'limited', 'over']) {
				const model = await opened(pool, view, isMute)
				assert.is(model.readOnly, true, view)
				assert.match(
					String(await failure(model.create({ id: 1 }, { ...selectionOf('id'), version: undefined }))),
					`myad_${view} is a view: its records can only be read`,
				)
			}
		})
	})
}

if (await mariadbIsHere()) for (const isMute of [false, true]) views(isMute)
