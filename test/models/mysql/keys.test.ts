/** Ids, lists and filters on MariaDB with case-insensitive collations, and with far or large pages. */
import type { Pool, RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../../lib/index.ts'
import type { Condition, ListQuery, Order } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { NO_GUARD, select, withTable } from './types.ts'

/** Types of text keys, each with ids that are distinct in it. */
const KEYS: readonly (readonly [type: string, ids: readonly string[]])[] = [
	['varchar(50)', ['Alpha', 'beta', 'žluť', '😀', '%', "it's", 'a\\b', '\u0000', '00', '0']],
	['varchar(50) character set latin1', ['Alpha', 'grüß', '?', '€']],
	['varchar(50) character set utf8mb3', ['Alpha', '漢字', '?']],
	['varchar(50) collate utf8mb4_bin', ['Alpha', 'alpha', 'beta ']],
	['char(10)', ['Alpha', 'beta']],
	["enum('Alpha','beta')", ['Alpha', 'beta']],
]

/** Ids that match none of those, however similar they look. */
const ALIKE = [
	'ALPHA',
	'Alpha ',
	'àlpha',
	'alphA',
	'beta\u0000',
	' Alpha',
	'ZLUT',
	'😁',
	'🚀',
	'IT’S',
	'',
	'gruß',
	'grüss',
	'１',
]

const order = (...terms: string[]): Order[] =>
	terms.map((term) => ({ field: term.replace(/^-/, ''), descending: term.startsWith('-') }))

/** The default query. */
const ALL = { where: undefined, limit: 10, offset: 0, after: undefined, total: false }

function keys(): void {
	describe('keys and lists on MariaDB', (test) => {
		const pool: Pool = openPool()
		test.after(async () => {
			await pool.end()
		})

		test('an id matches only the record whose key is written exactly so, for every verb', async () => {
			for (const [at, [type, ids]] of KEYS.entries()) {
				// MySQL's prepared statements keep the character set of a table that had the name before.
				await withTable(
					pool,
					`myad_keys_${at}`,
					`id ${type} primary key, n int not null default 0`,
					async (model) => {
						for (const id of ids) assert.is((await model.create({ id }, select('id'))).id, id, type)
						for (const id of ids) {
							assert.is((await model.read(id, select('id'), undefined))?.json, JSON.stringify({ id }), type)
						}
						const together = await Promise.all(
							[...ids, ...ALIKE].map((id) => model.read(id, select('id'), undefined)),
						)
						const expected = [...ids.map((id) => JSON.stringify({ id })), ...ALIKE.map(() => undefined)]
						assert.equal(
							together.map((found) => found?.json),
							expected,
							type,
						)
						const where: Condition = { op: 'gte', field: 'n', value: 0 }
						for (const id of ALIKE) {
							assert.is(await model.read(id, select('id'), undefined), undefined, `${type} ${id}`)
							assert.is(await model.read(id, select('id'), where), undefined, `${type} ${id}`)
							assert.is(await model.update(id, { n: 7 }, select('id'), NO_GUARD), 'missing', `${type} ${id}`)
							assert.is(await model.delete(id, select('id'), NO_GUARD), 'missing', `${type} ${id}`)
						}
						assert.is(await model.count({ op: 'eq', field: 'n', value: 0 }), ids.length)
						for (const id of ids) await model.update(id, { n: 1 }, select('id'), NO_GUARD)
						assert.is(await model.count({ op: 'eq', field: 'n', value: 1 }), ids.length)
						for (const id of ids) await model.delete(id, select('id'), NO_GUARD)
						assert.is(await model.count(undefined), 0)
					},
				)
			}
		})

		test('a text id is looked up by the index', async () => {
			const own = openPool({}, { connectionLimit: 1 })
			for (const [type] of KEYS.slice(0, 4)) {
				await withTable(pool, 'myad_keys', `id ${type} primary key, n int`, async () => {
					await pool.query("insert into myad_keys select concat('key', seq), seq from seq_1_to_5000")
					const model = await MysqlModel.open(own, 'myad_keys')
					const before = await rowsScanned(own)
					const ids = Array.from({ length: 50 }, (_, at) => `key${at + 1}`)
					const found = await Promise.all(ids.map((id) => model.read(id, select('id'), undefined)))
					assert.ok(found.every((each) => each !== undefined))
					await model.update('key1', { n: 7 }, select('id'), NO_GUARD)
					await model.delete('key2', select('id'), NO_GUARD)
					assert.ok((await rowsScanned(own)) - before < 1000, type)
				})
			}
			await own.end()
		})

		test('a filter compares as the collation does, and patterns match every character literally', async () => {
			await withTable(
				pool,
				'myad_keys',
				'id int primary key auto_increment, t varchar(50)',
				async (model) => {
					for (const t of ['Abc', 'a%c', 'a_c', 'a!c', 'a\\c', "a'c"]) await model.create({ t }, select('id'))
					assert.is(await model.count({ op: 'eq', field: 't', value: 'aBC' }), 1)
					for (const text of ['a%', 'a_', 'a!', 'a\\', "a'"]) {
						assert.is(await model.count({ op: 'startsWith', field: 't', value: text }), 1, text)
						assert.is(await model.count({ op: 'contains', field: 't', value: text.slice(1) }), 1, text)
						assert.is(await model.count({ op: 'endsWith', field: 't', value: `${text.slice(1)}c` }), 1, text)
					}
					assert.is(await model.count({ op: 'contains', field: 't', value: '' }), 6)
				},
			)
		})

		test('pages visit every record once, sorted by fields of every type, near and far', async () => {
			const columns = `id bigint primary key auto_increment, e enum('z','a','m') null, d decimal(30,10) null,
				at datetime(6) null, s timestamp(6) null, f float null, b bit(12) null, big bigint unsigned null, t varchar(9) null`
			await withTable(pool, 'myad_pages', columns, async (model) => {
				await pool.query(`insert into myad_pages (e, d, at, s, f, b, big, t) select elt(1 + seq % 4, 'z', 'a', 'm', null),
					if(seq % 5 = 0, null, 12345678901234567890 + (seq % 7) / 10000000000),
					if(seq % 6 = 0, null, '2026-01-01' + interval (seq % 9) microsecond),
					if(seq % 6 = 0, null, '2026-01-01 00:00:01' + interval (seq % 9) microsecond),
					if(seq % 4 = 0, null, 0.1 * (seq % 11)), if(seq % 3 = 0, null, seq % 100),
					if(seq % 3 = 0, null, 18446744073709551615 - seq % 10), elt(1 + seq % 3, 'A', 'b', null)
					from seq_1_to_230`)
				for (const field of ['e', 'd', 'at', 's', 'f', 'b', 'big', 't']) {
					for (const sort of [order(field, 'id'), order(`-${field}`, '-id')]) {
						const query = { ...ALL, selection: select('id', field), order: sort }
						const whole = await listed(model, { ...query, limit: 1000 })
						assert.is(new Set(whole.map((record) => record.id)).size, 230, field)
						const nulls = whole.map((record) => record[field] === null)
						assert.is(nulls.lastIndexOf(false) < nulls.indexOf(true), true, `${field}: nulls come last`)
						const paged: unknown[] = []
						for (let offset = 0; offset < 230; offset += 40) {
							paged.push(...(await listed(model, { ...query, limit: 40, offset, total: offset === 80 })))
						}
						assert.equal(paged, whole, `${field} by offset`)
						assert.equal(await cursored(model, query), whole, `${field} by cursor`)
					}
				}
			})
		})

		test('ids, versions and foreign keys have all 64 bits of an unsigned number', async () => {
			const large = ['9223372036854775808', '10000000000000000000', '18446744073709551614']
			const columns = 'id bigint unsigned primary key, v bigint unsigned not null, n int not null'
			await withTable(pool, 'myad_unsigned', columns, async (parents) => {
				const below = `id int primary key auto_increment, parent bigint unsigned not null,
					foreign key (parent) references myad_unsigned (id) on delete cascade`
				await withTable(pool, 'myad_unsigned_below', below, async (children) => {
					// Of another store, whose numbers have 63 bits.
					const other = new MemoryModel('other', { key: 'id', fields: { id: 'bigint' } })
					const child = new CrudHandler(children, {
						visible: 'all',
						relations: {
							owner: { to: () => parent, by: 'parent' },
							elsewhere: { to: new CrudHandler(other, { visible: 'all' }), by: 'parent', many: false },
						},
					})
					const parent: CrudHandler = new CrudHandler(parents, {
						...{ visible: 'all', creatable: ['id', 'n'], updatable: ['n'], version: 'v' },
						allow: ['list', 'read', 'create', 'update', 'updateMany', 'remove', 'removeMany'],
						relations: { children: { to: child, by: 'parent', many: true } },
					})
					const { said } = asking({ parent, child })
					for (const id of large) {
						const body = { id, n: 1 }
						assert.match(await said('POST /parent', { body }), /^201 /)
						await pool.query('update myad_unsigned set v = 12000000000000000000')
						await pool.query(`insert into myad_unsigned_below (parent) values (${id})`)
						assert.match(await said(`/parent/${id}`), `"id":${id},"v":12000000000000000000,"n":1`)
						assert.match(await said(`/parent/${id}?include=children`), `"children":{"data":[{"id":`)
						assert.match(await said(`/parent/${id}/children`), `"parent":${id}}`)
						assert.match(await said(`/child?parent=${id}&include=owner`), `"owner":{"id":${id}`)
						assert.match(
							await said(`/child?parent=${id}&include=elsewhere`),
							`"parent":${id},"elsewhere":null}`,
						)
						const headers = { 'if-match': '"12000000000000000000"' }
						assert.match(await said(`PATCH /parent/${id}`, { headers, body: { n: 2 } }), '"n":2')
						const record = { id, v: '12000000000000000001', n: 3 }
						assert.match(await said('PATCH /parent', { body: [record] }), '"n":3')
						assert.match(await said(`DELETE /parent/${id}`), /^200 /)
					}
					assert.match(await said(`/parent/${2n ** 64n}`), /^404 /)
				})
			})
		})

		test('an empty page still has the total, and the total includes records before a cursor', async () => {
			await withTable(
				pool,
				'myad_pages',
				'id int primary key auto_increment, n int not null',
				async (model) => {
					await pool.query('insert into myad_pages (n) select seq from seq_1_to_9')
					const query = { ...ALL, selection: select('n'), order: order('id'), total: true }
					const where: Condition = { op: 'gt', field: 'n', value: 3 }
					assert.equal(await model.list({ ...query, where, offset: 50 }), {
						json: '[]',
						next: undefined,
						total: 6,
					})
					assert.equal(await model.list({ ...query, where, after: [8] }), {
						json: '[{"n":9}]',
						next: undefined,
						total: 6,
					})
					const none: Condition = { op: 'in', field: 'n', values: [] }
					assert.equal(await model.list({ ...query, where: none }), { json: '[]', next: undefined, total: 0 })
				},
			)
		})

		test('a table without a key has totals with an invisible column', async () => {
			await pool.query('drop table if exists myad_invisible')
			await pool.query('create table myad_invisible (a int, b int invisible default 5)')
			try {
				await pool.query('insert into myad_invisible (a) values (1), (2)')
				const model = await MysqlModel.open(pool, 'myad_invisible', { key: [] })
				const query = { ...ALL, selection: select('a', 'b'), order: order('b', 'a'), total: true }
				assert.equal(await model.list(query), {
					json: '[{"a":1,"b":5},{"a":2,"b":5}]',
					next: undefined,
					total: 2,
				})
			} finally {
				await pool.query('drop table myad_invisible')
			}
		})

		test('a hundred records of 20 kB are complete', async () => {
			await withTable(
				pool,
				'myad_pages',
				'id int primary key auto_increment, t mediumtext not null',
				async (model) => {
					await pool.query(`insert into myad_pages (t) select repeat('"é', 7000) from seq_1_to_101`)
					const { json, next } = await model.list({
						...ALL,
						selection: select('id', 't'),
						order: order('id'),
						limit: 100,
					})
					const records = JSON.parse(json) as { t: string }[]
					assert.is(records.length, 100)
					assert.ok(records.every(({ t }) => t === '"é'.repeat(7000)))
					assert.is(next, '[100]')
				},
			)
		})

		test('a record that is larger than the server writes is an error of ours, of a page too large, and never null', async () => {
			const columns = 'id int primary key auto_increment, a longblob, b longblob'
			await withTable(pool, 'myad_pages', columns, async (model) => {
				const half = 'repeat(0, 0.6 * @@max_allowed_packet)'
				await pool.query(`insert into myad_pages (a, b) values (${half}, ${half})`)
				const message =
					/^the database returned NULL instead of a record: it is larger than the server's max_allowed_packet$/
				const told = (work: Promise<unknown>) => work.catch((error: unknown) => error)
				const read = await told(model.read('1', select('a', 'b'), undefined))
				assert.ok(read instanceof TypeError && message.test(read.message))
				for (const total of [false, true]) {
					const query = { ...ALL, selection: select('a', 'b'), order: order('id'), total }
					const listed = await told(model.list(query))
					assert.ok(listed instanceof ModelError && listed.kind === 'too_large')
				}
			})
		})

		test("case is ignored under any collation, and a text that a column's charset cannot represent matches nothing", async () => {
			const columns = `id int primary key, a varchar(20) collate utf8mb4_bin, b varchar(20) character set latin1,
				c varchar(20) character set latin1 collate latin1_bin, d enum('Thyme', 'sage') collate utf8mb4_bin`
			await withTable(pool, 'myad_case', columns, async () => {
				await pool.query(`insert into myad_case values
					(1, 'Thyme', 'Thyme', 'Thyme', 'Thyme'), (2, 'THYME tea', 'ÉTÉ', 'ÉTÉ', 'sage'), (3, null, null, null, null)`)
				const model = await MysqlModel.open(pool, 'myad_case')
				const found = (where: Condition) => model.count(where)
				for (const field of ['a', 'b', 'c', 'd']) {
					assert.is(await found({ op: 'eq', field, value: 'tHYME', ignoreCase: true }), 1, field)
					assert.is(
						await found({ op: 'contains', field, value: 'hYm', ignoreCase: true }),
						field === 'a' ? 2 : 1,
					)
				}
				assert.is(await found({ op: 'contains', field: 'c', value: 'été', ignoreCase: true }), 1)
				assert.is(await found({ op: 'contains', field: 'c', value: 'hYm' }), 0)
				for (const field of ['b', 'c'])
					for (const ignoreCase of [false, true]) {
						const emoji: Condition = { op: 'contains', field, value: 'a😀', ignoreCase }
						assert.is(await found(emoji), 0, field)
						assert.is(await found({ op: 'not', term: emoji }), 2, field)
						assert.is(await found({ op: 'eq', field, value: '漢', ignoreCase: true }), 0, field)
					}
				for (const field of ['b', 'c']) {
					const none: Condition[] = [
						...(['eq', 'gt', 'gte', 'lt', 'lte'] as const).map((op) => ({ op, field, value: '😀' })),
						{ op: 'in', field, values: ['😀', '漢'] },
						{ op: 'in', field, values: ['😀', '漢'], exact: true },
						{ op: 'eq', field, value: '😀', exact: true },
					]
					for (const where of none) {
						assert.is(await found(where), 0, JSON.stringify(where))
						if (where.op !== 'eq' || where.exact !== true)
							assert.is(await found({ op: 'not', term: where }), 2, JSON.stringify(where))
					}
					assert.is(await found({ op: 'ne', field, value: '😀' }), 2)
					assert.is(await found({ op: 'in', field, values: ['😀', 'Thyme'] }), 1)
				}
			})
		})

		test('client-chosen filters leave few statements prepared', async () => {
			const own = openPool({}, { connectionLimit: 1 })
			await withTable(pool, 'myad_pages', 'id int primary key auto_increment', async () => {
				const model = await MysqlModel.open(own, 'myad_pages')
				for (let width = 1; width <= 300; width++) {
					const terms = Array.from(
						{ length: width },
						(_, value): Condition => ({ op: 'eq', field: 'id', value }),
					)
					await model.count({ op: 'or', terms })
				}
				const [[row]] = await own.query<RowDataPacket[]>("show session status like 'Prepared_stmt_count'")
				const [[closed]] = await own.query<RowDataPacket[]>("show session status like 'Com_stmt_close'")
				assert.ok(row !== undefined)
				assert.ok(Number(closed?.Value) >= 100, `closed ${closed?.Value}`)
			})
			await own.end()
		})
	})
}

async function listed(model: MysqlModel, query: ListQuery): Promise<Record<string, unknown>[]> {
	const { json } = await model.list(query)
	// A list is an array of objects, whose members aren't known here.
	return JSON.parse(json) as Record<string, unknown>[]
}

/** All records of a list, page by page, as a handler asks for them. */
async function cursored(model: MysqlModel, query: ListQuery): Promise<unknown[]> {
	const found: unknown[] = []
	let after: ListQuery['after']
	for (;;) {
		const { json, next } = await model.list({ ...query, limit: 7, after })
		found.push(...JSON.parse(json))
		if (next === undefined) return found
		const values: (string | number | null)[] = JSON.parse(next)
		after = values.map((value, at) => {
			const isBig = model.fields.find(({ name }) => name === query.order[at]?.field)?.type === 'bigint'
			return isBig && value !== null ? BigInt(value) : value
		})
	}
}

/** The number of rows a session has scanned sequentially. */
async function rowsScanned(pool: Pool): Promise<number> {
	const [rows] = await pool.query<RowDataPacket[]>("show session status like 'Handler_read%next'")
	return rows.reduce((sum, row) => sum + Number(row.Value), 0)
}

if (await mariadbIsHere()) keys()
