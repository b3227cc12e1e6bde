/** Keys with a TIMESTAMP on MariaDB, in sessions whose time zone has summer time: one local hour occurs twice. */
import mysql from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, ownMariadb } from '../../helpers/mariadb.ts'
import { NO_GUARD, select } from './types.ts'

const [FIRST, SECOND, AFTER] = ['00:30:00.000Z', '01:30:00.000Z', '02:30:00.000Z'].map(
	(time) => `2026-10-25T${time}`,
)

function clockChanges(): void {
	describe('a MariaDB in Europe/Berlin', (test) => {
		test('an id in the repeated hour never reads, changes or deletes the record of the other one', async () => {
			const zone = process.env.TZ
			process.env.TZ = 'Europe/Berlin'
			const server = await ownMariadb().finally(() => {
				if (zone === undefined) delete process.env.TZ
				else process.env.TZ = zone
			})
			const pool = mysql.createPool({ ...server.options, connectionLimit: 1 })
			try {
				await pool.query(
					'create table z (at timestamp(3) not null, n int not null, note text, primary key (at, n))',
				)
				await pool.query("set time_zone = '+00:00'")
				for (const at of [FIRST, SECOND, AFTER])
					await pool.query('insert into z values (?, 1, ?)', [String(at).slice(0, -1).replace('T', ' '), at])
				await pool.query("set time_zone = 'SYSTEM'")
				const model = await MysqlModel.open(pool, 'z')
				const selection = select('at', 'note')
				for (const at of [FIRST, SECOND, AFTER]) {
					const id = `${encodeURIComponent(String(at))},1`
					const found = await Promise.all([1, 2].map(() => model.read(id, selection, undefined)))
					const changed = await model.update(id, { note: String(at) }, selection, NO_GUARD)
					for (const record of [...found, changed])
						if (typeof record === 'object') assert.equal(JSON.parse(record.json), { at, note: at })
				}
				const last = await model.delete(`${encodeURIComponent(String(AFTER))},1`, selection, NO_GUARD)
				assert.ok(typeof last === 'object')
				await model.delete(`${encodeURIComponent(String(FIRST))},1`, selection, NO_GUARD)
				const { json } = await model.list({
					...{ selection, where: undefined, order: [], limit: 9, offset: 0, after: undefined, total: false },
				})
				assert.match(json, String(SECOND))
			} finally {
				await pool.end()
				await server.remove()
			}
		})
	})
}

if (await mariadbIsHere()) clockChanges()
