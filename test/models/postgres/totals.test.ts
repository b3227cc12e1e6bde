/** Totals of PostgreSQL: special values, plans like those of hand-written statements, and statements that take too long. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer } from '../../../lib/index.ts'
import type { Total, TotalsQuery } from '../../../lib/models/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import type { Statement } from '../../../lib/models/sql/driver.ts'
import type { Runner } from '../../../lib/models/sql/runner.ts'
import { LIVE } from '../../../lib/models/sql/subject.ts'
import { totalsOf } from '../../../lib/models/sql/totals.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, until } from '../../helpers/listening.ts'
import { driversHere, SERVER, type TestDatabase, untilOpened } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { openDatabase } from './databases.ts'

const TABLE = `pgtotals_${process.pid}`
const sum = (field: string): Total => ({ op: 'sum', field, name: field })
const avg = (field: string): Total => ({ op: 'avg', field, name: field })
const max = (field: string): Total => ({ op: 'max', field, name: field })

const QUERY: TotalsQuery = {
	...{ by: [], totals: [], where: undefined, having: undefined, order: [], limit: 1_000, timeZone: 'UTC' },
}
const up = (key: number) => ({ key, descending: false })

const drivers = await driversHere()

for (const name of suitesBy(drivers))
	describe(`totals of PostgreSQL, ${name}`, (test) => {
		let opened: TestDatabase
		let model: PostgresModel
		const ask = async (query: Partial<TotalsQuery>): Promise<string> =>
			(await model.totals?.({ ...QUERY, ...query }))?.json ?? ''
		const table = `${TABLE}_${name.replace(/\W/g, '').toLowerCase()}`

		test.before(async () => {
			opened = await openDatabase(name, { TimeZone: 'Asia/Kathmandu', DateStyle: 'German' })
			await opened.exec(`create table ${table} (id int primary key, price numeric, paid money, real_ real, size oid,
				at timestamptz, local timestamp, day date, big bigint);
				insert into ${table} values
				(1, 1.5, 2.50, 0.1, 4000000000, '2026-03-29T01:00:00Z', '2026-03-29 01:00:00', '2026-03-29', 9223372036854775807),
				(2, 'NaN', 3, 'NaN', 4000000000, 'infinity', '-infinity', 'infinity', 9223372036854775807),
				(3, 123456789012345678901234567890.0000000001, null, null, null, '0044-03-15 12:00:00Z BC', '12026-01-01', '0044-03-15 BC', null)`)
			model = await PostgresModel.open(opened.database, table)
		})
		test.after(async () => {
			await opened.exec(`drop table ${table}`)
			await opened.close()
		})

		test('types that only it has are added up', async () => {
			const where = { op: 'ne', field: 'id', value: 2 } as const
			assert.is(
				await ask({ totals: [sum('price'), sum('paid'), sum('size'), avg('price'), avg('paid')], where }),
				'[{"sum":{"price":"123456789012345678901234567891.5000000001","paid":"2.50","size":4000000000},"avg":{"price":"61728394506172839450617283945.7500000000500000","paid":"2.50000000"}}]',
			)
			assert.is(
				await ask({
					totals: [sum('price'), sum('real_'), sum('size'), sum('big'), avg('price'), max('price')],
				}),
				'[{"sum":{"price":"NaN","real_":"NaN","size":8000000000,"big":18446744073709551614},"avg":{"price":"NaN"},"max":{"price":"NaN"}}]',
			)
			assert.is(
				await ask({ totals: [sum('real_')], where: { op: 'eq', field: 'id', value: 1 } }),
				'[{"sum":{"real_":0.10000000149011612}}]',
			)
		})

		test('only the groups within the limit count towards their bytes', async () => {
			const named = `${table}_named`
			await opened.exec(`create table ${named} (id int primary key, name text);
				insert into ${named} select n, repeat('x', 100) || n from generate_series(1, 1000) n`)
			const names = await PostgresModel.open(opened.database, named)
			const asked = async (limit: number) => {
				const by = [{ name: 'name', field: 'name' }]
				const order = [{ key: 0, descending: true }]
				const query = { ...QUERY, by, totals: [sum('id')], order, limit, maxBytes: 2_000 }
				return names.totals?.(query).then(
					({ json }) => JSON.parse(json).map(({ sum }: { sum: { id: number } }) => sum.id),
					({ kind }) => kind,
				)
			}
			assert.equal(await asked(3), [999, 998, 997])
			assert.is(await asked(20), 'too_large')
			await opened.exec(`drop table ${named}`)
		})

		test('parts of times beyond the calendar are written apart', async () => {
			const expected: Readonly<Record<string, string>> = {
				at: '[{"at":"0044-03 BC"},{"at":"2026-03"},{"at":"infinity"}]',
				local: '[{"at":"-infinity"},{"at":"2026-03"},{"at":"12025-12"}]',
				day: '[{"at":"0044-03 BC"},{"at":"2026-03"},{"at":"infinity"}]',
			}
			for (const [field, json] of Object.entries(expected)) {
				const by = [{ name: 'at', field, part: 'month' as const }]
				assert.is(await ask({ by, order: [up(0)], timeZone: 'America/St_Johns' }), json, field)
			}
		})
	})

if (drivers.includes('pg'))
	describe('statements for totals of PostgreSQL', (test) => {
		let opened: TestDatabase
		let model: PostgresModel
		let pool: pg.Pool

		test.before(async () => {
			opened = await openDatabase('pg')
			await opened.exec(`create table ${TABLE} (id int primary key, status varchar(20) not null, customer int not null,
				amount numeric(12, 2), created timestamptz not null);
				insert into ${TABLE} select i, (array['paid', 'open', 'late'])[1 + i % 3], i % 500, i % 1000, '2024-01-01Z'::timestamptz + i * interval '1 hour'
				from generate_series(1, 20000) i; create index on ${TABLE} (status); create index on ${TABLE} (customer); analyze ${TABLE}`)
			model = await PostgresModel.open(opened.database, TABLE)
			pool = new pg.Pool({ ...SERVER, max: 1 })
		})
		test.after(async () => {
			await pool.end()
			await opened.exec(`drop table ${TABLE}`)
			await opened.close()
		})

		/** The statement that is sent. */
		async function statementOf(query: TotalsQuery): Promise<Statement> {
			const sent: Statement[] = []
			const run = async (statement: Statement) => {
				sent.push(statement)
				return { rows: [], affected: 0 }
			}
			// Only `run` is called.
			await totalsOf(model[LIVE], { run } as unknown as Runner)?.(query)
			assert.is(sent.length, 1)
			return sent[0] ?? { text: '', values: [], writes: false }
		}

		interface Node {
			readonly 'Node Type': string
			readonly Strategy?: string
			readonly 'Index Name'?: string
			readonly Plans?: readonly Node[]
		}

		/** The nodes of a plan, without a limit that cuts nothing. */
		async function planOf(text: string, values: readonly unknown[]): Promise<string[]> {
			const { rows } = await pool.query(`explain (format json) ${text}`, [...values])
			const nodes = (node: Node): string[] => [
				...(/^(?:Limit|Subquery Scan)$/.test(node['Node Type'])
					? []
					: [`${node['Node Type']} ${node.Strategy ?? ''} ${node['Index Name'] ?? ''}`.trim()]),
				...(node.Plans ?? []).flatMap(nodes),
			]
			return nodes((rows[0]['QUERY PLAN'] as [{ Plan: Node }])[0].Plan)
		}

		test('have the plans of those that one would write', async () => {
			const status = { name: 'status', field: 'status' }
			const paid = { op: 'eq', field: 'status', value: 'paid' } as const
			const cases: readonly (readonly [Partial<TotalsQuery>, byHand: string])[] = [
				[
					{ by: [status], totals: [{ op: 'count' }, sum('amount')], order: [up(0)] },
					`select status, count(*), sum(amount) from ${TABLE} group by 1 order by 1`,
				],
				[
					{
						by: [status, { name: 'created', field: 'created', part: 'month' }],
						...{ totals: [sum('amount')], order: [up(0), up(1)], timeZone: 'Europe/Berlin' },
					},
					`select status, date_trunc('month', created at time zone 'Europe/Berlin'), sum(amount) from ${TABLE} group by 1, 2 order by 1, 2`,
				],
				[
					{
						by: [{ name: 'customer', field: 'customer' }],
						totals: [avg('amount')],
						order: [{ total: 0, descending: true }, up(0)],
					},
					`select customer, avg(amount) from ${TABLE} group by 1 order by 2 desc, 1`,
				],
				[{ totals: [{ op: 'count' }], where: paid }, `select count(*) from ${TABLE} where status = 'paid'`],
				[
					{
						by: [status],
						totals: [sum('amount')],
						having: { op: 'gt', total: 0, value: '100' },
						order: [up(0)],
					},
					`select status, sum(amount) from ${TABLE} group by 1 having sum(amount) > 100 order by 1`,
				],
				[{ totals: [max('id')] }, `select max(id) from ${TABLE}`],
			]
			for (const [query, byHand] of cases) {
				const { text, values } = await statementOf({ ...QUERY, ...query })
				assert.equal(await planOf(text, values), await planOf(byHand, []), text)
			}
		})

		test('that take too long are 503, and stop at the server; others are served meanwhile', async () => {
			const view = `${TABLE}_slow`
			await opened.exec(
				`create view ${view} as select id, pg_sleep(0.05)::text as slept, amount from ${TABLE} order by id limit 3000`,
			)
			const slow = new pg.Pool({ ...SERVER, max: 2, application_name: view })
			try {
				const model = await untilOpened(() =>
					PostgresModel.open(slow, view, { key: 'id', timeoutSeconds: 1 }),
				)
				const quick = await untilOpened(() => PostgresModel.open(slow, TABLE, { timeoutSeconds: 60 }))
				const totals = { by: ['slept'], of: ['amount'] }
				const server = createServer(
					{
						slow: new CrudHandler(model, { visible: 'all', allow: ['totals'], totals }),
						quick: new CrudHandler(quick, { visible: 'all', allow: ['totals'], totals: { by: ['status'] } }),
					},
					{ logger: new Log() },
				)
				const asked = server.inject({ url: '/slow/totals?by=slept&sum=amount' })
				const { status, text } = await server.inject({ url: '/quick/totals?by=status' })
				assert.is(status, 200, text())
				const refused = await asked
				assert.is(refused.status, 503)
				assert.is(refused.headers['retry-after'], '5')
				await until(async () => {
					const { rows } = await pool.query(
						"select count(*)::int as n from pg_stat_activity where application_name = $1 and state = 'active'",
						[view],
					)
					return rows[0].n === 0
				}, 'the statement has ended')
			} finally {
				await slow.end()
				await opened.exec(`drop view ${view}`)
			}
		})
	})
