/** A scope is compared exactly, even where the database's collation considers two users' names equal. */
import Libsql from 'libsql'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { driversHere } from '../../helpers/postgres.ts'

const TABLE = 'crudover_alike'
const CREATE = `create table ${TABLE} (id integer primary key, owner varchar(50) not null, note varchar(50))`
const FILL = `insert into ${TABLE} (id, owner, note) values (1, 'ann', 'of ann'), (2, 'ANN', 'of ANN'), (3, 'ann', 'of ann')`

class Mine extends CrudHandler {
	override scope() {
		const owner = this.request.header('x-user')
		return { owner: owner?.includes('+') === true ? owner.split('+') : owner }
	}
}

/** PostgreSQL 15 knows no `like` for such a collation. */
async function checkParts(model: Model): Promise<void> {
	assert.match(
		messageOf(() => new CrudHandler(model, { visible: 'all', searchable: ['owner'] })),
		'searchable: owner has a nondeterministic collation, which can only compare whole texts',
	)
	const { ask } = asking({ all: new CrudHandler(model, { visible: 'all', searchable: ['note'] }) })
	for (const op of ['contains', 'startsWith', 'endsWith', 'ieq', 'icontains', 'istartsWith', 'iendsWith']) {
		const { status, text } = await ask(`/all?owner[${op}]=an`)
		assert.is(status, 400, op)
		assert.match(text(), 'is not an operator of this field: use one of eq, ne')
	}
	assert.is((await ask('/all?owner[in]=ann,bob&owner[gte]=a&note[contains]=of&search=of')).status, 200)
}

async function checkScope(model: Model): Promise<void> {
	const handler = new Mine(model, {
		visible: ['id', 'note'],
		updatable: ['note'],
		allow: ['list', 'read', 'update', 'remove'],
	})
	const server = createServer({ mine: handler })
	const ask = (user: string, method: string, url: string) =>
		server.inject({
			method,
			url,
			headers: { 'x-user': user, 'content-type': 'application/json' },
			body: '{}',
		})
	const seen = async (user: string) => {
		const { data } = (await ask(user, 'GET', '/mine')).json() as { data: { id: number }[] }
		return data.map(({ id }) => id)
	}
	assert.equal(await seen('ann'), [1, 3])
	assert.equal(await seen('ANN'), [2])
	assert.equal(await seen('ann+bob'), [1, 3])
	for (const user of ['Ann', 'änn', 'ann ', 'bob+ANn']) assert.equal(await seen(user), [])
	for (const method of ['GET', 'PATCH', 'DELETE'])
		assert.is((await ask('ANN', method, '/mine/1')).status, 404)
	// Gathered with another user's read of the same record.
	const both = await Promise.all([ask('ann', 'GET', '/mine/1'), ask('ANN', 'GET', '/mine/1')])
	assert.equal(
		both.map(({ status }) => status),
		[200, 404],
	)
	assert.is((await ask('ann', 'DELETE', '/mine/1')).status, 200)
}

describe('scopes of users whose names a collation considers equal', (test) => {
	test('in SQLite, collate nocase', async () => {
		const database = new Libsql(':memory:')
		database.exec(`${CREATE.replace('owner varchar(50)', 'owner varchar(50) collate nocase')}; ${FILL}`)
		await checkScope(await SqliteModel.open(database, TABLE))
		database.close()
	})

	test('in PostgreSQL, a non-deterministic collation', async () => {
		if (!(await driversHere()).includes('pg')) return
		const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' })
		try {
			await pool.query(`drop table if exists ${TABLE}; drop collation if exists crudover_loose;
				create collation crudover_loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
				${CREATE.replace('varchar(50)', 'varchar(50) collate crudover_loose')}; ${FILL}`)
			const model = await PostgresModel.open(pool, TABLE)
			await checkScope(model)
			await checkParts(model)
			await pool.query(`drop table ${TABLE}; drop collation crudover_loose`)
		} finally {
			await pool.end()
		}
	})

	test('in MariaDB, its default collation', async () => {
		if (!(await mariadbIsHere())) return
		const pool = openPool()
		try {
			await pool.query(`drop table if exists ${TABLE}`)
			await pool.query(`${CREATE} character set utf8mb4 collate utf8mb4_general_ci`)
			await pool.query(FILL)
			await checkScope(await MysqlModel.open(pool, TABLE))
			await pool.query(`drop table ${TABLE}`)
		} finally {
			await pool.end()
		}
	})
})
