/** A MariaDB primary and its replica: reads by the replica, while it lags, while it is gone, and after a failover to it. */
import mysql, { type RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { backWithin, balancerTo } from '../../helpers/failover.ts'
import { Log, until } from '../../helpers/listening.ts'
import { mariadbIsHere, type OwnMariadb, ownMariadb } from '../../helpers/mariadb.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

async function ask({ options }: OwnMariadb, ...statements: readonly string[]): Promise<RowDataPacket[]> {
	const connection = await mysql.createConnection(options)
	try {
		let rows: RowDataPacket[] = []
		for (const sql of statements) [rows] = await connection.query<RowDataPacket[]>(sql)
		return rows
	} finally {
		await connection.end()
	}
}

if (await mariadbIsHere())
	describe('a MariaDB primary with a replica', (test) => {
		let primary: OwnMariadb
		let replica: OwnMariadb
		test.before(async () => {
			;[primary, replica] = await Promise.all([
				ownMariadb(['--server-id=1', '--log-bin=log']),
				ownMariadb(['--server-id=2', '--log-bin=log', '--log-slave-updates', '--read-only=1']),
			])
			// As a user without any rights but those on the table.
			await ask(
				primary,
				'create table article (id int primary key auto_increment, title varchar(40) not null)',
				"create user app identified by ''",
				'grant select, insert on test.article to app',
			)
			await ask(
				replica,
				`change master to master_host='127.0.0.1', master_port=${primary.port}, master_user='root', master_connect_retry=1, master_use_gtid=slave_pos`,
				'start slave',
			)
			await until(
				async () => (await ask(replica, "show tables like 'article'")).length === 1,
				'the table at the replica',
			)
		})
		test.after(async () => {
			await Promise.all([primary?.remove(), replica?.remove()])
		})

		test('is read once it has caught up, by users without privileges, and no change is done twice or lost', async () => {
			const balancer = await balancerTo(primary.port)
			const pools = [balancer.port, replica.port].map((port) =>
				mysql.createPool({ ...primary.options, user: 'app', port, connectionLimit: 4 }),
			)
			try {
				const [write, read] = pools
				assert.ok(write && read)
				const model = await MysqlModel.open({ write, read: [read], staleSeconds: 1 }, 'article')
				const article = new CrudHandler(model, {
					visible: 'all',
					creatable: ['title'],
					allow: ['list', 'read', 'create'],
				})
				const server = createServer({ article }, { logger: new Log(), logRequests: false })
				const post = async (title: string) => {
					const sent = {
						method: 'POST',
						url: '/article',
						headers: JSON_TYPE,
						body: JSON.stringify({ title }),
					}
					const { status, text } = await server.inject({ ...sent, remoteAddress: '10.0.0.1' })
					return status === 201 ? String(JSON.parse(text()).data.id) : status
				}
				const get = async (id: unknown, ip = '10.0.0.2') =>
					(await server.inject({ url: `/article/${String(id)}`, remoteAddress: ip })).status
				const used = (expected: boolean) =>
					until(async () => {
						await get('1')
						return model.replicas?.states[0]?.isUsed === expected
					}, `used: ${expected}`)
				const selects = async () => {
					const [row] = await ask(replica, "show global status like 'Com_stmt_execute'")
					return Number(row?.Value)
				}
				await used(true)
				const before = await selects()
				const first = await post('a')
				assert.is(await get(first, '10.0.0.1'), 200)
				await until(async () => (await get(first)) === 200, 'the record at the replica')
				for (let count = 0; count < 10; count++) assert.is(await get(first), 200)
				assert.ok((await selects()) - before >= 5)

				await ask(replica, 'stop slave sql_thread')
				const second = await post('b')
				await used(false)
				assert.is(await get(second), 200)
				await ask(replica, 'start slave')
				await used(true)
				assert.is(await get(second), 200)

				await replica.kill()
				for (let count = 0; count < 20; count++) assert.is(await get(second), 200)
				await used(false)
				await replica.start()
				await used(true)

				// A planned failover: what was acknowledged is at the replica.
				await ask(primary, 'set global read_only = 1')
				const [position] = await ask(primary, 'select @@gtid_binlog_pos at')
				await ask(
					replica,
					`select master_gtid_wait('${String(position?.at)}')`,
					'stop slave',
					'set global read_only = 0',
				)
				balancer.to(replica.port)
				await backWithin(5_000, async () => typeof (await post('c')) === 'string')
				await used(true)
				assert.is(await get(second), 200)
			} finally {
				for (const pool of pools) await pool.end()
				await balancer.close()
			}
		})

		test('a server without a binary log has no replicas', async () => {
			const other = await ownMariadb()
			const pools = [other.port, replica.port].map((port) => mysql.createPool({ ...primary.options, port }))
			try {
				const [write, read] = pools
				assert.ok(write && read)
				const error: unknown = await MysqlModel.openAll({ write, read: [read] }).catch((one) => one)
				assert.is(
					String(error),
					'TypeError: MysqlModel: write: it writes no binary log (log_bin), so it has no replicas',
				)
			} finally {
				for (const pool of pools) await pool.end()
				await other.remove()
			}
		})
	})
