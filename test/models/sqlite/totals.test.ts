/** Totals of SQLite: values as other programs store them, and numbers of any size. */
import * as assert from 'uvu/assert'
import type { Comparison, TimePart, Total, TotalsCondition, TotalsQuery } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { onDatabases } from './database.ts'

const sum = (field: string): Total => ({ op: 'sum', field, name: field })
const QUERY: TotalsQuery = {
	...{ by: [], totals: [], where: undefined, having: undefined, order: [], limit: 1_000, timeZone: 'UTC' },
}

async function totals(database: TestDatabase, table: string, query: Partial<TotalsQuery>): Promise<string> {
	const model = await SqliteModel.open(database, table)
	const { json } = (await model.totals?.({ ...QUERY, ...query })) ?? { json: '' }
	return json
}

for (const driver of suitesBy(sqliteDrivers))
	describe(`totals of SQLite, ${driver.name}`, (test) => {
		const on = onDatabases(test, driver)

		on(
			`create table a (id integer primary key, price decimal text);
			insert into a (price) values ('0.1'), ('0.20'), ('-1000000000000000000000.3'), ('+7'), ('00012.5'), (null),
				('123456789012345678901234567890.123456789012345678901234567890')`,
			'decimals of any length are added up with all digits',
			async (database) => {
				assert.is(
					await totals(database, 'a', { totals: [sum('price')] }),
					'[{"sum":{"price":"123456788012345678901234567909.623456789012345678901234567890"}}]',
				)
				const extremes: Total[] = [
					{ op: 'min', field: 'price', name: 'price' },
					{ op: 'max', field: 'price', name: 'price' },
				]
				const where = { op: 'ne', field: 'id', value: 7 } as const
				assert.is(
					await totals(database, 'a', { totals: extremes, where }),
					'[{"min":{"price":"-1000000000000000000000.3"},"max":{"price":"12.5"}}]',
				)
			},
		)

		on(
			`create table a (id integer primary key, price decimal(10, 2), loose decimal);
			insert into a (price, loose) values (12.5, 1), (0.1, 0.25), (-3, 1e-7), (100000, -2.5), (null, 1e20)`,
			'decimals that are stored as numbers are added up with the digits that they are read with',
			async (database) => {
				assert.is(
					await totals(database, 'a', { totals: [sum('price'), sum('loose')] }),
					'[{"sum":{"price":"100009.60","loose":"99999999999999999998.7500001"}}]',
				)
				const max: Total = { op: 'max', field: 'price', name: 'price' }
				const among = { op: 'in', field: 'id', values: [3, 5] } as const // -3 and null
				assert.is(await totals(database, 'a', { totals: [max], where: among }), '[{"max":{"price":"-3.00"}}]')
			},
		)

		on(
			`create table a (id integer primary key, price decimal text, number decimal(8, 2));
			insert into a (price, number) values ('1.50', 1.5), ('-20.25', -20.25), ('0.00', 0), (null, null)`,
			'decimals that are changed while they are added up are added up as they are then',
			async (database) => {
				const model = await SqliteModel.open(database, 'a')
				const all: Total[] = ['price', 'number'].flatMap((field): Total[] => [sum(field)])
				const ask = async (change = '') => {
					const asked = model.totals?.({ ...QUERY, totals: all })
					// What is known of the values has been read by now.
					database.exec(change)
					return (await asked)?.json
				}
				assert.is(await ask(), '[{"sum":{"price":"-18.75","number":"-18.75"}}]')
				const change = "insert into a (price, number) values ('0.125', 1000000)"
				assert.is(await ask(change), '[{"sum":{"price":"-18.625","number":"999981.25"}}]')
				assert.is(
					await ask("insert into a (price, number) values ('1000000000000000000000', 'NaN')"),
					'[{"sum":{"price":"999999999999999999981.375","number":"999981.25"}}]',
				)
			},
		)

		on(
			`create table a (id integer primary key, price decimal text, number decimal(8, 2), whole decimal text);
			insert into a (price, number, whole) values ('1.50', 1.5, '150'), ('-3.25', -3.25, '30'), (null, null, null),
				('n/a', 'none', 'n/a'), ('', x'31', ''), ('1e5', 9e999, '10 '), ('1-2', -9e999, '1.2.3')`,
			'values that are no decimals are left out of totals',
			async (database) => {
				const ops = ['sum', 'avg', 'min', 'max'] as const
				const ask = async (query: Partial<TotalsQuery>) => {
					const all = ['price', 'number', 'whole'].map((field) =>
						totals(database, 'a', { totals: ops.map((op) => ({ op, field, name: 'n' })), ...query }),
					)
					return (await Promise.all(all)).map((json) =>
						(JSON.parse(json) as Record<string, { n: string | null }>[])
							.map((group) => ops.map((op) => group[op]?.n).join(' '))
							.join(),
					)
				}
				const decimals = '-1.75 -0.87500000 -3.25 1.50'
				assert.equal(await ask({}), [decimals, decimals, '180 90.000000 30 150'])
				const above = { op: 'gt', total: 3, value: '1' } as const
				assert.equal(await ask({ having: above }), [decimals, decimals, '180 90.000000 30 150'])
				const byId = { by: [{ name: 'id', field: 'id' }], order: [{ total: 3, descending: true }], limit: 3 }
				assert.equal(
					(await ask(byId)).map((text) => text.split(',').map((group) => group.split(' ')[3])),
					[
						['1.50', '-3.25', ''],
						['1.50', '-3.25', ''],
						['150', '30', ''],
					],
				)
			},
		)

		on(
			'create table a (id integer primary key, n int, big bigint); with recursive r(i) as (select 1 union all select i + 1 from r where i < 1000) insert into a (n, big) select 9007199254740991, case i % 2 when 0 then 9223372036854775807 else -i end from r',
			'sums of integers go beyond 64 bits',
			async (database) => {
				const average: Total = { op: 'avg', field: 'big', name: 'big' }
				assert.is(
					await totals(database, 'a', { totals: [sum('n'), sum('big'), average] }),
					'[{"sum":{"n":9007199254740991000,"big":4611686018427387653500},"avg":{"big":"4611686018427387653.500000"}}]',
				)
			},
		)

		on(
			`create table a (id integer primary key, spaced timestamp default current_timestamp, seconds timestamp default (unixepoch()), wire timestamp, mixed datetime);
			insert into a (spaced, seconds, wire, mixed) values
				('2026-03-29 00:59:59', 1774745999, '2026-03-29T00:59:59.999Z', '2026-03-29T02:59:59+02:00'),
				('2026-03-29 01:00:00', 1774746000, '2026-03-29T01:00:00.000Z', 1774746000000),
				(null, null, null, null)`,
			'times in each format that is read have parts, in any zone',
			async (database) => {
				for (const field of ['spaced', 'seconds', 'wire', 'mixed']) {
					const ask = (timeZone: string, part: TimePart) =>
						totals(database, 'a', {
							...{ by: [{ name: 'at', field, part }], timeZone },
							order: [{ key: 0, descending: false }],
						})
					const zone = 'Europe/Berlin'
					assert.is(
						await ask(zone, 'hour'),
						'[{"at":"2026-03-29T01"},{"at":"2026-03-29T03"},{"at":null}]',
						field,
					)
					assert.is(
						await ask('UTC', 'hour'),
						'[{"at":"2026-03-29T00"},{"at":"2026-03-29T01"},{"at":null}]',
						field,
					)
					assert.is(await ask(zone, 'week'), '[{"at":"2026-W13"},{"at":null}]', field)
				}
			},
		)

		on(
			`create table a (id integer primary key, word text collate nocase, data text, f real);
			insert into a (word, data, f) values ('a', x'01', 1), ('A', 'b', 0.1), ('b', 5, 0.2)`,
			'keys are grouped as their column compares them; BLOBs and numbers in a column of texts are written',
			async (database) => {
				const ask = (field: string, total: Total) =>
					totals(database, 'a', {
						by: [{ name: 'key', field }],
						totals: [total],
						order: [
							{ total: 0, descending: true },
							{ key: 0, descending: false },
						],
					})
				assert.match(
					await ask('word', { op: 'count' }),
					/^\[\{"key":"[aA]","count":2\},\{"key":"b","count":1\}\]$/,
				)
				assert.is(
					await ask('data', { op: 'max', field: 'data', name: 'data' }),
					'[{"key":"01","max":{"data":"01"}},{"key":"b","max":{"data":"b"}},{"key":"5","max":{"data":"5"}}]',
				)
				assert.is(
					await totals(database, 'a', { totals: [sum('f')], where: { op: 'gt', field: 'id', value: 1 } }),
					'[{"sum":{"f":0.30000000000000004}}]',
				)
			},
		)

		on(
			`create table a (id integer primary key, word text, n int);
			insert into a (word, n) values ('a', 1), ('b', 2), ('c', 3), ('d', null), (null, 5)`,
			'a hundred comparisons of values are made by the database',
			async (database) => {
				const leaf = (total: number, op: Comparison, value: string | number): TotalsCondition => ({
					...{ total, op, value },
				})
				const words = Array.from({ length: 70 }, (_, at) => leaf(0, 'eq', `x${at}`))
				const ask = (having: TotalsCondition) =>
					totals(database, 'a', {
						by: [{ name: 'id', field: 'id' }],
						totals: [
							{ op: 'max', field: 'word', name: 'word' },
							{ op: 'max', field: 'n', name: 'n' },
						],
						having,
					}).then((json) => (JSON.parse(json) as { id: number }[]).map(({ id }) => id).sort())
				for (const [value, ids] of [
					['b', [2]],
					['c', [3]],
				] as const)
					for (const at of [0, 29, 30, 59, 60, 70])
						assert.equal(
							await ask({ op: 'or', terms: words.toSpliced(at, 0, leaf(0, 'eq', value)) }),
							ids,
							`${value} at ${at}`,
						)
				assert.equal(await ask({ op: 'not', term: { op: 'or', terms: words } }), [1, 2, 3, 4])
				const terms = [...words, leaf(1, 'gte', 3), leaf(0, 'lt', 'b')]
				assert.equal(await ask({ op: 'or', terms }), [1, 3, 5])
			},
		)

		on(
			'create table a (id integer primary key, n int); with recursive r(i) as (select 1 union all select i + 1 from r where i < 100001) insert into a (n) select i from r',
			'more groups than it looks at are refused, and more that are only limited are not',
			async (database) => {
				const asked = { by: [{ name: 'n', field: 'n' }], totals: [sum('n')], limit: 2 }
				const byKey = { ...asked, order: [{ key: 0, descending: true }] }
				assert.is(
					await totals(database, 'a', byKey),
					'[{"n":100001,"sum":{"n":100001}},{"n":100000,"sum":{"n":100000}}]',
				)
				const kind = await totals(database, 'a', { ...asked, order: [{ total: 0, descending: true }] }).catch(
					(error: unknown) => (error instanceof ModelError ? error.kind : error),
				)
				assert.is(kind, 'too_large')
			},
		)
	})
