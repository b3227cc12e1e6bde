/** A MariaDB node that has become a replica: its connections are dropped, and new ones lead to the primary. */

import mysql from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { backWithin, balancerTo, filled, MAX, serving } from '../../helpers/failover.ts'
import { mariadbIsHere, ownMariadb } from '../../helpers/mariadb.ts'
import { inTimesOf } from '../../helpers/stalls.ts'

const TABLE = 'create table article (id int primary key auto_increment, title varchar(20) not null)'

function failovers(): void {
	describe('a MariaDB node that becomes read-only', (test) => {
		test('a primary demoted to replica: 503, also from /ready, and requests reach the new primary within a second', () =>
			inTimesOf(1_000, async (time) => {
				const [old, next] = await Promise.all([ownMariadb(), ownMariadb()])
				const balancer = await balancerTo(old.port)
				try {
					for (const { options } of [old, next]) {
						const admin = await mysql.createConnection(options)
						await admin.query(TABLE)
						await admin.query("create user app identified by ''")
						await admin.query('grant all on test.* to app')
						await admin.end()
					}
					const pool = mysql.createPool({
						...old.options,
						user: 'app',
						port: balancer.port,
						connectionLimit: MAX,
					})
					const model = await MysqlModel.open(pool, 'article', { timeoutSeconds: 30 })
					const { post, ready, readerReady, get } = serving(model)
					await filled(model)
					assert.is((await post()).status, 201)
					assert.is(await ready(), 200)
					const admin = await mysql.createConnection(old.options)
					await admin.query('set global read_only = 1')
					assert.is(await ready(), 503)
					assert.is(await readerReady(), 200)
					const refused = await post()
					assert.is(refused.status, 503)
					assert.is(refused.headers['retry-after'], '5')
					assert.is(await get(), 200)
					await filled(model)
					balancer.to(next.port)
					await backWithin(time, async () => (await post()).status === 201)
					const rest = await Promise.all(Array.from({ length: MAX * 2 }, () => post()))
					assert.equal(
						rest.map(({ status }) => status),
						rest.map(() => 201),
					)
					assert.is(await ready(), 200)
					await admin.end()
					await pool.end()
				} finally {
					await balancer.close()
					await Promise.all([old.remove(), next.remove()])
				}
			}))
	})
}

if (await mariadbIsHere()) failovers()
