import * as assert from 'uvu/assert'
import { type Condition, DEFAULT, type Order, type Selection, type Value } from '../../../lib/models/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { NO_GUARD, onDatabases, selectionOf } from './database.ts'

for (const driver of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${driver.name}: values`, (test) => {
		const on = onDatabases(test, driver)

		/** All records of a list, page by page, following cursors. */
		async function walk(
			model: SqliteModel,
			selection: Selection,
			order: readonly Order[],
		): Promise<unknown[]> {
			const records: unknown[] = []
			let after: Value[] | undefined
			do {
				const page = await model.list({
					selection,
					where: undefined,
					order,
					limit: 2,
					offset: 0,
					after,
					total: false,
				})
				records.push(...(JSON.parse(page.json) as unknown[]))
				// Texts, numbers and nulls, all of which are values.
				after = page.next === undefined ? undefined : (JSON.parse(page.next) as Value[])
			} while (after !== undefined && records.length < 100)
			return records
		}

		on(
			`create table t (id integer primary key, at datetime);
			insert into t (at) values ('2026-11-20T13:45:00.123Z'), ('2026-11-20T13:45:00.1239Z'), ('2026-11-20T13:45:00Z'),
				('2026-11-20 13:45:00'), ('2026-11-20 13:45:59.9999'), ('2026-11-20T15:45:00+02:00'), ('2026-11-20'),
				('2026-11-20 13:45'), (1795182300), (1795182300123), (null), ('soon')`,
			'timestamps of every form are answered in one form',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const selection = selectionOf('at')
				const found: unknown[] = []
				for (let id = 1; id <= 12; id++) {
					const record = await model.read(`${id}`, selection, undefined)
					found.push((JSON.parse(record?.json ?? 'null') as { at: unknown }).at)
				}
				assert.equal(found, [
					...['2026-11-20T13:45:00.123Z', '2026-11-20T13:45:00.123Z', '2026-11-20T13:45:00.000Z'],
					...['2026-11-20T13:45:00.000Z', '2026-11-20T13:45:59.999Z', '2026-11-20T13:45:00.000Z'],
					...['2026-11-20T00:00:00.000Z', '2026-11-20T13:45:00.000Z', '2026-11-20T13:45:00.000Z'],
					...['2026-11-20T13:45:00.123Z', null, 'soon'],
				])
			},
		)

		const forms: readonly [what: string, column: string, first: string, stored: readonly unknown[]][] = [
			['empty', 'at datetime', '', ['2026-11-20T13:45:00.500Z', '2026-11-20T13:45:01.123Z']],
			['of six digits', 'at datetime(6)', '', ['2026-11-20T13:45:00.500000Z', '2026-11-20T13:45:01.123456Z']],
			[
				'that defaults to current_timestamp',
				'at datetime default current_timestamp',
				'',
				['2026-11-20 13:45:00.5', '2026-11-20 13:45:01.123456'],
			],
			[
				'that has it with a space',
				'at datetime',
				"'2020-01-01 00:00:00.000'",
				['2026-11-20 13:45:00.500', '2026-11-20 13:45:01.123456'],
			],
			['of milliseconds', 'at timestamp', '1577836800000', [1795182300500, 1795182301123.456]],
			['of seconds', 'at timestamp', '1577836800', [1795182300.5, 1795182301.123456]],
		]
		for (const [what, column, first, stored] of forms) {
			on(
				`create table t (id integer primary key, ${column}); ${first === '' ? '' : `insert into t values (99, ${first})`}`,
				`a column ${what} keeps its form, and is compared and paged by it`,
				async (database) => {
					const model = await SqliteModel.open(database, 't')
					const selection = selectionOf('at')
					const moments = ['2026-11-20T13:45:00.5Z', '2026-11-20T13:45:01.123456Z']
					for (const at of moments) await model.create({ at }, selection)
					const raw = await model.transaction(async () =>
						rawOf(database, 'select at from t where id <> 99 order by id'),
					)
					assert.equal(raw, stored)
					for (const [index, value] of moments.entries()) {
						const where = { op: 'eq', field: 'at', value } as const
						assert.is(await model.count(where), 1, value)
						assert.is(await model.count({ op: 'gt', field: 'at', value }), 1 - index, value)
					}
					for (const descending of [false, true]) {
						const order = ['at', 'id'].map((field) => ({ field, descending }))
						const records = await walk(model, selectionOf('id'), order)
						const ids = records.map((record) => (record as { id: number }).id)
						const expected = first === '' ? [1, 2] : [99, 100, 101]
						assert.equal(ids, descending ? expected.toReversed() : expected)
					}
				},
			)
		}

		on(
			`create table t (id integer primary key, at datetime default current_timestamp);
			insert into t (at) values ('2026-11-20 13:45:00'), ('2026-11-20 13:45:00.100'), ('2026-11-20 13:45:00.1'),
				('2026-11-20 13:45:00'), ('2026-11-20 13:45:01'), (null), (null)`,
			'pages sorted by timestamps of other programs skip and repeat nothing',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				for (const descending of [false, true]) {
					const order = ['at', 'id'].map((field) => ({ field, descending }))
					const ids = (await walk(model, selectionOf('id', 'at'), order)).map(
						(record) => (record as { id: number }).id,
					)
					assert.equal(ids.toSorted(), [1, 2, 3, 4, 5, 6, 7])
				}
			},
		)

		on(
			`create table t (id integer primary key, n bigint, x real, title text, extra json);
			insert into t values (9007199254740993, -9223372036854775808, 0.12345678901234567, '1234567890123456789', '[1234567890123456789]'),
				(9007199254740995, 9223372036854775807, -1234567890123456789.5, ':12345678901234567,', '{"n":12345678901234567}'),
				(9007199254740997, 0, 1e300, '"', 'null')`,
			'cursors have all digits of numbers',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				for (const field of ['id', 'n', 'x', 'title']) {
					const order = (field === 'id' ? ['id'] : [field, 'id']).map((each) => ({
						field: each,
						descending: false,
					}))
					const query = { where: undefined, order, limit: 1, offset: 0, after: undefined, total: false }
					const visible = await model.list({
						...query,
						selection: selectionOf('id', 'n', 'x', 'title', 'extra'),
					})
					const hidden = await model.list({ ...query, selection: selectionOf('extra') })
					assert.is(visible.next, hidden.next)
					const [values = ''] = [visible.next]
					assert.ok(/"90071992547409\d\d"\]$/.test(values), values)
				}
			},
		)

		for (const key of ['integer', 'text'])
			on(
				`create table t (id ${key} primary key, title text, at datetime);
				insert into t values (1, 'a', '2026-11-20T13:45:00.123Z'), (2, 'b', '2026-11-20T13:45:00.123Z'),
					(3, 'c', '2026-11-20T13:45:00.123Z'), (4, 'c', '2026-11-20 13:45:00'), (5, 'd', '2026-11-20T13:45:00.123Z')`,
				`a page sorted by a timestamp and a text goes on after its last record, by ${key}`,
				async (database) => {
					const model = await SqliteModel.open(database, 't')
					for (const fields of [
						['at', 'title', 'id'],
						['at', 'id'],
						['title', 'at', 'id'],
					]) {
						const order = fields.map((field) => ({ field, descending: false }))
						const ids = (await walk(model, selectionOf('id', 'title', 'at'), order)).map((record) =>
							Number((record as { id: unknown }).id),
						)
						assert.equal(ids, fields[0] === 'at' ? [4, 1, 2, 3, 5] : [1, 2, 4, 3, 5])
					}
				},
			)

		on(
			'create table t (id integer primary key, n bigint, x real, title text, data blob, price decimal(10, 2), at datetime)',
			"a list with more values than SQLite's depth or placeholder limits matches each exactly",
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const values = {
					...{ n: 2n ** 63n - 1n, x: 5e-324, title: 'a\u0000"b', data: new Uint8Array([0, 255]) },
					...{ price: '12.50', at: '2026-11-20T13:45:00.123Z' },
				}
				const others = {
					...{ n: 2n ** 63n - 2n, x: 0.1 + 0.2, title: 'a', data: new Uint8Array([0]) },
					...{ price: '12.51', at: '2026-11-20T13:45:00.124Z' },
				}
				await model.create(values, selectionOf('id'))
				await model.create({}, selectionOf('id'))
				for (const [field, value] of Object.entries(values)) {
					for (const length of [2, 101, 14_000])
						for (const exact of [false, true]) {
							const list = [...Array(length - 1).fill(others[field as keyof typeof others]), value]
							const where: Condition = { op: 'in', field, values: list, exact }
							assert.is(await model.count(where), 1, `${field} ${length} ${exact}`)
							assert.is(await model.count({ op: 'not', term: where }), 0, `${field} ${length}`)
							const away: Condition = { ...where, values: list.slice(0, -1) }
							assert.is(await model.count(away), 0, `${field} ${length} ${exact}`)
							assert.is(await model.count({ op: 'not', term: away }), 1, `${field} ${length}`)
						}
				}
				const floats: Condition = { op: 'in', field: 'x', values: Array(40_000).fill(0.1) }
				await model.count(floats).then(
					() => assert.unreachable(),
					(error: Error) =>
						assert.match(error.message, /40000 fractions, bytes or texts with U\+0000; SQLite accepts/),
				)
			},
		)

		on(
			'create table t (id bigint primary key, n bigint)',
			"with bigint: 'string', 64-bit integers are strings in records, ids and cursors",
			async (database) => {
				const model = await SqliteModel.open(database, 't', { bigint: 'string' })
				const selection = selectionOf('id', 'n')
				await model.create({ id: -(2n ** 63n), n: 5 }, selection)
				const created = await model.create({ id: 2n ** 63n - 1n, n: null }, selection)
				assert.is(created.json, '{"id":"9223372036854775807","n":null}')
				assert.is((await model.read(created.id, selection, undefined))?.json, created.json)
				const order = [{ field: 'id', descending: false }]
				assert.equal(await walk(model, selection, order), [
					{ id: '-9223372036854775808', n: '5' },
					{ id: '9223372036854775807', n: null },
				])
			},
		)

		on(
			`create table t (id integer primary key, price decimal(10, 2), rate numeric);
			insert into t values (1, '12.5', '0.1'), (2, 3, 3), (3, '0.30000000000000004', '0.25'), (4, null, null)`,
			'decimals have the declared digits, and cursors all stored ones',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const order = ['price', 'id'].map((field) => ({ field, descending: false }))
				assert.equal(await walk(model, selectionOf('id', 'price', 'rate'), order), [
					{ id: 3, price: '0.30', rate: '0.25' },
					{ id: 2, price: '3.00', rate: '3' },
					{ id: 1, price: '12.50', rate: '0.1' },
					{ id: 4, price: null, rate: null },
				])
				assert.is(await model.count({ op: 'eq', field: 'price', value: '12.50' }), 1)
			},
		)

		on(
			'create table t (id integer primary key, d numeric)',
			'decimals without declared digits have no exponent, so that they can be written again',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				for (const [given, shown] of [
					['0.00000001', '0.00000001'],
					['-0.0000001234567890123', '-0.0000001234567890123'],
					['9223372036854775808', '9223372036854776000'],
					['-100000000000000000000', '-100000000000000000000'],
				] as const) {
					const { id, json } = await model.create({ d: given }, selectionOf('d'))
					assert.is(json, `{"d":"${shown}"}`)
					await model.update(id, { d: shown }, selectionOf('d'), { where: undefined, version: undefined })
					assert.is(await model.count({ op: 'eq', field: 'd', value: given }), 1, given)
				}
			},
		)

		on(
			`create table t (id integer primary key, price decimal(10, 2));
			insert into t (price) values (0.304), (0.301), (0.303), (0.302), (0.305), (0.301), (7), ('0.30000000000000004')`,
			'a cursor has more digits of a decimal than were declared',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				for (const descending of [false, true])
					for (const shown of [['id'], ['id', 'price']]) {
						const order = ['price', 'id'].map((field) => ({ field, descending }))
						const ids = (await walk(model, selectionOf(...shown), order)).map(
							(record) => (record as { readonly id: number }).id,
						)
						assert.equal(descending ? ids.toReversed() : ids, [8, 2, 6, 4, 3, 1, 5, 7])
					}
			},
		)

		on(
			`create table t (id integer primary key, title text not null, n int, v int not null default 1, extra json, x real, at datetime);
			insert into t (title, extra) values ('one', '{"a":1}'), (x'c3a9ff', '{"a":'), ('three', x'00'), ('four', 17)`,
			'bytes and malformed JSON in other columns break no answer, and no write is repeated',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const selection = { ...selectionOf('id', 'title', 'extra'), version: 'v' }
				const updated = await model.update('2', { n: 1 }, selection, NO_GUARD)
				assert.equal(updated, { json: '{"id":2,"title":"C3A9FF","extra":"{\\"a\\":"}', version: '2' })
				const order = [{ field: 'id', descending: false }]
				assert.equal(await walk(model, selection, order), [
					{ id: 1, title: 'one', extra: { a: 1 } },
					{ id: 2, title: 'C3A9FF', extra: '{"a":' },
					{ id: 3, title: 'three', extra: '00' },
					{ id: 4, title: 'four', extra: 17 },
				])
				database.exec("update t set n = x'01', x = x'02', at = x'03' where id = 1")
				const record = await model.read('1', selectionOf('n', 'x', 'at'), undefined)
				assert.is(record?.json, '{"n":"01","x":"02","at":"03"}')
				const deleted = await model.delete('2', selection, NO_GUARD)
				assert.is(typeof deleted, 'object')
				assert.is(await model.count(undefined), 3)
			},
		)

		on(
			'create table t (id integer primary key, a text, data blob, b text, more blob, extra json)',
			'bytes are encoded next to other fields, in records and lists, also in an empty page with a total',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const selection = selectionOf('data', 'a', 'more', 'b', 'extra')
				const values = {
					data: Uint8Array.of(0, 255),
					a: '",\n"',
					more: new Uint8Array(0),
					extra: new RawJson('[1,\n2]'),
				}
				const { json } = await model.create(values, selection)
				assert.is(json, '{"data":"AP8=","a":"\\",\\n\\"","more":"","b":null,"extra":[1,2]}')
				database.exec("insert into t (data) values ('text')")
				const order = [
					{ field: 'data', descending: false },
					{ field: 'id', descending: false },
				]
				assert.equal(
					(await walk(model, selectionOf('data'), order)).map((record) => (record as { data: string }).data),
					['dGV4dA==', 'AP8='],
				)
				const query = { selection, where: undefined, order, limit: 1, after: undefined, total: true }
				assert.equal(await model.list({ ...query, offset: 9 }), { json: '[]', next: undefined, total: 2 })
				assert.is((await model.list({ ...query, offset: 0 })).next, '["dGV4dA==","2"]')
			},
		)

		on(
			"create table t (id integer primary key, a text not null default ('x' || 'y'), b int default 5, c text default 'it''s', at datetime default current_timestamp)",
			"an update to DEFAULT stores the column's default",
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const selection = selectionOf('a', 'b', 'c')
				const { id } = await model.create({ a: '1', b: 1, c: '1', at: null }, selection)
				const changes = { a: DEFAULT, b: DEFAULT, c: DEFAULT, at: DEFAULT } as const
				const updated = await model.update(id, changes, selection, NO_GUARD)
				assert.equal(updated, { json: '{"a":"xy","b":5,"c":"it\'s"}', version: undefined })
			},
		)

		on(
			'create table t (id integer primary key, a any) strict',
			'a column ANY of a STRICT table may hold anything',
			async (database) => {
				database.exec("insert into t (a) values (x'ff00'), ('ok'), (1.5), (null)")
				const page = await (await SqliteModel.open(database, 't')).list({
					...{ selection: selectionOf('a'), where: undefined, order: [{ field: 'id', descending: false }] },
					...{ limit: 10, offset: 0, after: undefined, total: false },
				})
				const values = (JSON.parse(page.json) as { a: unknown }[]).map(({ a }) => a)
				assert.equal(values, ['FF00', 'ok', '1.5', null])
			},
		)

		on(
			'create table t (id integer primary key, title text, extra json, x real not null) strict'.replace(
				'json',
				'text',
			),
			'a lone surrogate is refused by every driver; 64-bit limits and infinities are kept in STRICT tables',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const selection = selectionOf('title', 'x')
				const created = await model.create({ title: 'a\u{1f680}b\u2028"\\', x: -Infinity }, selection)
				assert.equal(JSON.parse(created.json), { title: 'a\u{1f680}b\u2028"\\', x: '-Infinity' })
				const where = { op: 'eq', field: 'title', value: 'a\ud800b' } as const
				for (const work of [
					() => model.create({ title: 'a\ud800b', x: 1 }, selection),
					() => model.create({ title: 'a', extra: new RawJson('"\ud800"'), x: 1 }, selection),
					() => model.update(created.id, { title: '\udc00' }, selection, NO_GUARD),
					() => model.count(where),
				]) {
					const refused = await work().catch((caught) => caught)
					assert.equal([refused.kind, refused.fields.length], ['invalid', 1])
				}
				assert.is(await model.count(undefined), 1)
				const error = await model.create({ x: Number.NaN }, selection).catch((caught) => caught)
				assert.equal([error.kind, error.fields], ['invalid', ['x']])
				const beyond = await model.create({ id: 2n ** 63n, x: 1 }, selection).catch((caught) => caught)
				assert.equal([beyond.kind, beyond.fields], ['invalid', ['id']])
			},
		)

		on(
			'create table t (id integer primary key, extra json)',
			'a number in a JSON column, stored as a double, has all its digits',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const digits = [
					'0.30000000000000004',
					'-1.7976931348623157e+308',
					'5e-324',
					'0.1',
					'9007199254740993',
				]
				for (const text of digits) {
					const { id, json } = await model.create({ extra: new RawJson(text) }, selectionOf('extra'))
					assert.is((JSON.parse(json) as { extra: number }).extra, Number(text), text)
					const read = await model.read(id, selectionOf('extra'), undefined)
					assert.is(read?.json, json)
				}
				const order = [{ field: 'id', descending: false }]
				assert.equal(
					await walk(model, selectionOf('extra'), order),
					digits.map((text) => ({ extra: Number(text) })),
				)
			},
		)

		on(
			`create table t (id integer primary key, ${Array.from({ length: 300 }, (_, at) => `c${at} int default ${at}`).join(', ')})`,
			'a table may have more columns than a function may have arguments',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const fields = model.fields.map((field) => field.name)
				const { json } = await model.create({}, selectionOf(...fields))
				assert.equal(Object.keys(JSON.parse(json) as object), fields)
				const order = [{ field: 'id', descending: false }]
				assert.equal(await walk(model, selectionOf(...fields), order), [JSON.parse(json)])
			},
		)
	})
}

/** The first column of a statement's result, as stored. */
function rawOf(database: TestDatabase, sql: string): unknown[] {
	const statement = database.prepare(sql) as { all(): Record<string, unknown>[] }
	return statement.all().map((row) => Object.values(row)[0])
}
