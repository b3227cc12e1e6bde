/** The response to a create on a database without RETURNING, such as MySQL 8. */
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { dialectOf } from '../../../lib/models/mysql/dialect.ts'
import { MysqlDriver } from '../../../lib/models/mysql/driver.ts'
import { introspect } from '../../../lib/models/mysql/introspect.ts'
import { connectionsOf } from '../../../lib/models/mysql/mysql2/connections.ts'
import { askServer } from '../../../lib/models/mysql/mysql2/server.ts'
import type { Driver, Rows, Statement } from '../../../lib/models/sql/driver.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { Lru } from '../../../lib/models/sql/text-cache.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { select, withTable } from './types.ts'

/** Seconds: nothing times out, however long a machine stalls. */
const PATIENCE = 60

/** Runs another statement between a write and the read that follows it. */
class Interrupted implements Driver {
	readonly #driver: Driver
	readonly #between: () => Promise<unknown>

	constructor(driver: Driver, between: () => Promise<unknown>) {
		this.#driver = driver
		this.#between = between
	}

	async query(statement: Statement): Promise<Rows> {
		if (!statement.writes) await this.#between()
		return this.#driver.query(statement)
	}

	transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		return this.#driver.transaction((driver) => work(new Interrupted(driver, this.#between)))
	}
}

function creates(): void {
	describe('create on MariaDB without RETURNING', (test) => {
		const pool = openPool()
		const others = openPool()
		test.after(async () => {
			await Promise.all([pool.end(), others.end()])
		})

		test('answers its own record, also when another client deletes it before it is read back', async () => {
			const columns = "id int primary key auto_increment, title varchar(20) not null default 'untitled'"
			await withTable(pool, 'myad_created', columns, async () => {
				const driver = new MysqlDriver(connectionsOf(pool), PATIENCE)
				const server = { ...(await askServer(driver, 60_000)), returnsInserted: false, returnsDeleted: false }
				const named = { schema: undefined, name: 'myad_created' }
				const table = await introspect(driver, server, named, { key: undefined, bigint: 'number' })
				const deleted: Promise<unknown>[] = []
				const interrupted = new Interrupted(driver, () => {
					const deleting = others.query('delete from myad_created')
					deleted.push(deleting)
					// It waits for uncommitted changes; committed ones would be gone long before.
					return Promise.race([deleting, setTimeout(200)])
				})
				const model = new SqlModel(table, interrupted, dialectOf(server, table, new Lru()), PATIENCE)
				const created = await model.create({}, select('id', 'title'))
				assert.equal(created, { json: '{"id":1,"title":"untitled"}', version: undefined, id: '1' })
				await Promise.all(deleted)
				assert.equal([deleted.length, await model.count(undefined)], [1, 0])
			})
		})
	})
}

if (await mariadbIsHere()) creates()
