/** Totals of MariaDB: types that only it has, sessions with a time zone of their own, and long averages. */
import type { Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Total, TotalsQuery } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'

const TABLE = `totals_${process.pid}`
const sum = (field: string): Total => ({ op: 'sum', field, name: field })
const avg = (field: string): Total => ({ op: 'avg', field, name: field })

if (await mariadbIsHere())
	describe('totals of MariaDB', (test) => {
		let pool: Pool
		let model: MysqlModel

		const ask = async (query: Partial<TotalsQuery>): Promise<string> => {
			const order = (query.by ?? []).map((_, key) => ({ key, descending: false }))
			const { json } = (await model.totals?.({
				...{ by: [], totals: [], where: undefined, having: undefined, order, limit: 100, timeZone: 'UTC' },
				...query,
			})) ?? { json: '' }
			return json
		}

		test.before(async () => {
			// The session's zone is none of those that are asked for.
			pool = openPool({ time_zone: '+05:30' })
			await pool.query(
				`create table ${TABLE} (id int primary key, size enum('small', 'large', 'big'), bits bit(20), padded int(6) zerofill,
				year_ year, price decimal(40, 10), f float, at timestamp(3) null, local datetime, word varchar(20) character set latin1)`,
			)
			await pool.query(`insert into ${TABLE} values
				(1, 'small', b'101', 7, 2026, 1.5, 0.5, '2026-03-29 06:29:59.999', '2026-03-29 00:59:59', 'ä'),
				(2, 'large', b'10', 8, 1999, 12345678901234567890.0000000001, 0.25, '2026-03-29 06:30:00', '2026-03-29 01:00:00', 'b'),
				(3, 'big', null, null, null, -0.5, null, null, '9999-12-31 23:59:59', null),
				(4, 'big', b'1', 1, 2026, 0, null, null, '0001-01-01 00:00:00', null)`)
			model = await MysqlModel.open(pool, TABLE)
		})
		test.after(async () => {
			await pool.query(`drop table ${TABLE}`)
			await pool.end()
		})

		test('bits, zero-padded numbers and years are numbers', async () => {
			assert.is(
				await ask({
					totals: [sum('bits'), sum('padded'), avg('bits'), { op: 'max', field: 'year_', name: 'year' }],
				}),
				'[{"sum":{"bits":8,"padded":16},"avg":{"bits":"2.666667"},"max":{"year":2026}}]',
			)
			const by = [{ name: 'padded', field: 'padded' }]
			assert.is(await ask({ by }), '[{"padded":1},{"padded":7},{"padded":8},{"padded":null}]')
		})

		test('sums and averages of doubles have all their digits', async () => {
			const digits = '-2.2250738585072014e-308'
			await pool.query(`create table ${TABLE}_double (id int primary key, x double)`)
			try {
				await pool.query(`insert into ${TABLE}_double values (1, ${digits})`)
				const doubles = await MysqlModel.open(pool, `${TABLE}_double`)
				const by = [{ name: 'x', field: 'x' }]
				const order = [{ key: 0, descending: false }]
				const none = { where: undefined, having: undefined, limit: 9, timeZone: 'UTC' }
				const found = await doubles.totals?.({ by, totals: [sum('x'), avg('x')], order, ...none })
				assert.is(found?.json, `[{"x":${digits},"sum":{"x":${digits}},"avg":{"x":${digits}}}]`)
			} finally {
				await pool.query(`drop table ${TABLE}_double`)
			}
		})

		test('averages of long decimals are exact', async () => {
			assert.is(
				await ask({ totals: [sum('price'), avg('price')] }),
				'[{"sum":{"price":"12345678901234567891.0000000001"},"avg":{"price":"3086419725308641972.7500000000250000"}}]',
			)
		})

		test('enumerations are sorted as texts', async () => {
			const by = [{ name: 'size', field: 'size' }]
			assert.is(await ask({ by }), '[{"size":"big"},{"size":"large"},{"size":"small"}]')
		})

		test('TIMESTAMP and DATETIME have parts in any zone, whatever the session has', async () => {
			for (const field of ['at', 'local']) {
				const by = [{ name: 'at', field, part: 'hour' as const }]
				const where = { op: 'lt', field: 'id', value: 3 } as const
				assert.is(await ask({ by, where }), '[{"at":"2026-03-29T00"},{"at":"2026-03-29T01"}]', field)
				assert.is(
					await ask({ by, where, timeZone: 'Europe/Berlin' }),
					'[{"at":"2026-03-29T01"},{"at":"2026-03-29T03"}]',
					field,
				)
			}
		})

		test('times at the ends of the calendar stay within it', async () => {
			const by = [{ name: 'at', field: 'local', part: 'day' as const }]
			const where = { op: 'gt', field: 'id', value: 2 } as const
			assert.is(
				await ask({ by, where, timeZone: 'Pacific/Auckland' }),
				'[{"at":"0001-01-01"},{"at":"9999-12-31"}]',
			)
		})

		test('texts that the character set does not have, and numbers that there are not, match nothing or are refused', async () => {
			const totals: Total[] = [{ op: 'max', field: 'word', name: 'word' }, sum('f')]
			const having = (op: 'eq' | 'ne') => ({ op, total: 0, value: '漢' }) as const
			assert.is(await ask({ totals, having: having('eq') }), '[]')
			assert.is(await ask({ totals, having: having('ne') }), '[{"max":{"word":"ä"},"sum":{"f":0.75}}]')
			const error = await ask({ totals, having: { op: 'gt', total: 1, value: Number.NaN } }).catch(
				(thrown: unknown) => thrown,
			)
			assert.is(error instanceof ModelError ? error.kind : error, 'invalid')
		})
	})
