/** Tables of MariaDB whose engine has no transactions, and views of them, are read-only. */
import type { Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { CrudHandler } from '../../../lib/crud/crud-handler.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { select } from './types.ts'

const TABLE = 'myad_rigid'

/** The options of a table, and its engine if that has no transactions. */
const TABLES: readonly (readonly [options: string, engine: string | undefined])[] = [
	['engine=InnoDB', undefined],
	['engine=InnoDB partition by hash (id) partitions 3', undefined],
	['engine=MyISAM', 'MyISAM'],
	// What MySQL doesn't have.
	...(IS_MYSQL
		? []
		: ([
				['engine=MyISAM partition by hash (id) partitions 3', 'MyISAM'],
				['engine=Aria', 'Aria'],
			] as const)),
	['engine=MEMORY', 'MEMORY'],
]

const QUERY = { selection: select('title'), where: undefined, limit: 1, offset: 0, after: undefined }

function engines(): void {
	describe('engines of MariaDB', (test) => {
		const pool: Pool = openPool()
		const clean = async () => {
			await pool.query(`drop view if exists ${TABLE}_view`)
			await pool.query(`drop table if exists ${TABLE}`)
		}

		test.before.each(clean)
		test.after(async () => {
			await clean()
			await pool.end()
		})

		for (const [options, engine] of TABLES)
			test(`${options}: the table and its view are ${engine === undefined ? 'writable' : 'read-only'}`, async () => {
				await pool.query(`create table ${TABLE} (id int primary key, title varchar(20)) ${options}`)
				await pool.query(`create view ${TABLE}_view as select id, title from ${TABLE}`)
				await pool.query(`insert into ${TABLE} values (1, 'first')`)
				for (const model of await opened(pool)) {
					assert.is(model.readOnly, engine !== undefined)
					assert.is((await model.list({ ...QUERY, order: [], total: false })).json, '[{"title":"first"}]')
					const change = { title: 'second' }
					const written = model.update('1', change, select('title'), { where: undefined, version: undefined })
					if (engine === undefined) assert.equal((await written) as unknown, found('second'))
					else {
						const why = `${model.name} can only be read: ${reasonOf(engine)}`
						assert.is(await messageOf(() => written), why)
					}
					await pool.query(`update ${TABLE} set title = 'first'`)
				}
			})

		test('a handler that allows writes to such a table says why not, and what to do', async () => {
			await pool.query(`create table ${TABLE} (id int primary key, title varchar(20)) engine=MyISAM`)
			await pool.query(`create view ${TABLE}_view as select id, title from ${TABLE}`)
			for (const model of await opened(pool)) {
				const handler = async (allow: 'create' | 'export') =>
					new CrudHandler(model, { visible: 'all', allow: ['list', allow] })
				assert.is(
					await messageOf(() => handler('create')),
					`CrudHandler of ${model.name}: allow: ${model.name} can only be read, so create can't be allowed: ${reasonOf('MyISAM')}`,
				)
				await handler('export')
			}
		})
	})
}

async function opened(pool: Pool): Promise<MysqlModel[]> {
	const { [TABLE]: one } = await MysqlModel.openAll(pool)
	assert.instance(one, MysqlModel)
	const view = await MysqlModel.open(pool, `${TABLE}_view`, { key: 'id' })
	return [await MysqlModel.open(pool, TABLE), view].concat(one ?? [])
}

function reasonOf(engine: string): string {
	return `${engine}, the engine of ${TABLE}, has no transactions, so that a refused write would stay stored: alter table \`${TABLE}\` engine=InnoDB`
}

const found = (title: string) => ({ json: JSON.stringify({ title }), version: undefined })

async function messageOf(work: () => Promise<unknown>): Promise<string> {
	try {
		await work()
		return 'no error'
	} catch (error) {
		assert.instance(error, TypeError)
		return error instanceof Error ? error.message : ''
	}
}

if (await mariadbIsHere()) engines()
