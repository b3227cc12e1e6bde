/** Values of every type as stored in the database, and their JSON; with several session settings. */
import type { Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Value } from '../../../lib/models/model.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool, type Settings } from '../../helpers/mariadb.ts'
import { hasType, NO_GUARD, select, withTable } from './types.ts'

const SESSIONS: readonly (readonly [name: string, settings: Settings])[] = [
	['as the server is set', {}],
	['in +05:30', { time_zone: '+05:30' }],
	['under ANSI, in -11:00', { sql_mode: 'ANSI,STRICT_ALL_TABLES', time_zone: '-11:00' }],
	['without escapes', { sql_mode: 'NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE' }],
	// MySQL has no such mode.
	...(IS_MYSQL ? [] : [['as in Oracle', { sql_mode: 'ORACLE', time_zone: '+12:45' }] as const]),
	['that allow anything', { sql_mode: 'ALLOW_INVALID_DATES,NO_ZERO_IN_DATE' }],
]

/** Settings that change the meaning of literals: too many values for placeholders are written as literals. */
const LITERALS_IN = 'without escapes'

/** A type, an SQL expression stored in it, and the JSON. */
const STORED_TYPES: readonly (readonly [type: string, stored: string, json: string])[] = [
	['tinyint(1)', '1', 'true'],
	['tinyint(1)', '0', 'false'],
	['tinyint(1) unsigned', '1', 'true'],
	['tinyint(1) unsigned', '255', '255'],
	['tinyint(1)', '-2', '-2'],
	['tinyint(1) zerofill', '7', '7'],
	['bit(1)', "b'1'", 'true'],
	['bit(1)', "b'0'", 'false'],
	['bit(8)', "b'101'", '5'],
	['bit(53)', "b'11111111111111111111111111111111111111111111111111111'", '9007199254740991'],
	['bit(64)', '18446744073709551615', '18446744073709551615'],
	['tinyint', '-128', '-128'],
	['tinyint unsigned', '255', '255'],
	['smallint(6) zerofill', '7', '7'],
	['mediumint', '-8388608', '-8388608'],
	['int', '-2147483648', '-2147483648'],
	['int unsigned', '4294967295', '4294967295'],
	['int(10) unsigned zerofill', '42', '42'],
	['bigint', '-9223372036854775808', '-9223372036854775808'],
	['bigint', '9007199254740993', '9007199254740993'],
	['bigint unsigned', '18446744073709551615', '18446744073709551615'],
	['bigint(20) unsigned zerofill', '18446744073709551615', '18446744073709551615'],
	['year', '2026', '2026'],
	['year', "'0000'", '0'],
	['float', '16777216', '16777216'],
	['float', '0.1', '0.10000000149011612'],
	['float', '-3.4028234e38', '-3.4028234663852886e38'],
	['double', '0.1', '0.1'],
	['double', '1.7976931348623157e308', '1.7976931348623157e308'],
	['double', '5e-324', '5e-324'],
	['double', '1e15', '1e15'],
	['decimal(10,2)', '-0.50', '"-0.50"'],
	[
		'decimal(65,30)',
		'12345678901234567890123456789012345.000000000000000000000000000001',
		'"12345678901234567890123456789012345.000000000000000000000000000001"',
	],
	['char(5)', "'ab'", '"ab"'],
	['varchar(20)', "''", '""'],
	[
		'varchar(50)',
		"concat('a\"b', char(92 using utf8mb4), '/', char(0 using utf8mb4), char(10 using utf8mb4), char(31 using utf8mb4))",
		'"a\\"b\\\\/\\u0000\\n\\u001f"',
	],
	['varchar(20) character set latin1', "'Grüße €'", '"Grüße €"'],
	['varchar(20) character set ucs2', "'漢字'", '"漢字"'],
	['varchar(20) character set ascii', "'abc'", '"abc"'],
	['varchar(20) character set utf8mb3', "'žlu'", '"žlu"'],
	['varchar(20) collate utf8mb4_bin', "'😀 '", '"😀 "'],
	['text', "'null'", '"null"'],
	["enum('b','a','it''s')", "'it''s'", '"it\'s"'],
	["enum('ä','ö') character set latin1", "'ö'", '"ö"'],
	["set('x','y','z')", "'x,z'", '"x,z"'],
	['date', "'2026-11-20'", '"2026-11-20"'],
	['date', "'0001-01-01'", '"0001-01-01"'],
	['date', "'9999-12-31'", '"9999-12-31"'],
	['time', "'13:45:00'", '"13:45:00"'],
	['time(3)', "'-838:59:58.001'", '"-838:59:58.001"'],
	['time(6)', "'10:20:00'", '"10:20:00"'],
	['time(6)', "'00:00:00.5'", '"00:00:00.5"'],
	['datetime', "'2026-11-20 01:02:03'", '"2026-11-20T01:02:03.000Z"'],
	['datetime(1)', "'2026-11-20 01:02:03.9'", '"2026-11-20T01:02:03.900Z"'],
	['datetime(2)', "'2026-11-20 01:02:03.98'", '"2026-11-20T01:02:03.980Z"'],
	['datetime(3)', "'2026-11-20 01:02:03.456'", '"2026-11-20T01:02:03.456Z"'],
	['datetime(6)', "'2026-11-20 01:02:03.999999'", '"2026-11-20T01:02:03.999Z"'],
	['datetime(6)', "'0001-01-01 00:00:00.000001'", '"0001-01-01T00:00:00.000Z"'],
	['datetime(6)', "'9999-12-31 23:59:59.999999'", '"9999-12-31T23:59:59.999Z"'],
	[
		'json',
		`'{"a": [1, 2.50, null], "b": "\\\\u00e9"}'`,
		// MySQL stores what the text means.
		IS_MYSQL ? '{"a": [1, 2.5, null], "b": "é"}' : '{"a": [1, 2.50, null], "b": "\\u00e9"}',
	],
	['json', "'null'", 'null'],
	['uuid', "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
	['inet6', "'::1'", '"::1"'],
	['binary(3)', "x'00ff'", '"AP8A"'],
	['varbinary(200)', "repeat(x'00', 100)", JSON.stringify(Buffer.alloc(100).toString('base64'))],
	['blob', "''", '""'],
	['point', "st_geomfromtext('POINT(1 2)')", '"POINT(1 2)"'],
]
const STORED = STORED_TYPES.filter(([type]) => hasType(type))

/** Instants, stored in UTC and read in other sessions. */
const INSTANTS = [
	['1970-01-01 00:00:01', '1970-01-01T00:00:01.000Z'],
	['2026-03-29 01:30:00.123456', '2026-03-29T01:30:00.123Z'],
	['2026-11-20 23:59:59.999999', '2026-11-20T23:59:59.999Z'],
	['2038-01-19 03:14:07.999999', '2038-01-19T03:14:07.999Z'],
] as const

const b = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

/** A type, a value written by the model, and the JSON it is read as. */
const WRITTEN_TYPES: readonly (readonly [type: string, value: Exclude<Value, null>, json: string])[] = [
	['tinyint(1)', true, 'true'],
	['bit(1)', true, 'true'],
	['bit(1)', false, 'false'],
	['bit(8)', 53, '53'],
	['bit(64)', 18446744073709551615n, '18446744073709551615'],
	['int', -2147483648, '-2147483648'],
	['bigint', 9223372036854775807n, '9223372036854775807'],
	['bigint', -9223372036854775808n, '-9223372036854775808'],
	['bigint unsigned', 18446744073709551615n, '18446744073709551615'],
	['bigint', 5, '5'],
	['year', 2155, '2155'],
	['float', 0.10000000149011612, '0.10000000149011612'],
	['double', 0.1, '0.1'],
	['double', 1.7976931348623157e308, '1.7976931348623157e308'],
	['double', -1.7976931348623157e308, '-1.7976931348623157e308'],
	['double', -2.2250738585072014e-308, '-2.2250738585072014e-308'],
	['decimal(20,4)', '-1234567890123456.7891', '"-1234567890123456.7891"'],
	['decimal(65,0)', '9'.repeat(65), `"${'9'.repeat(65)}"`],
	['decimal(30,30)', `0.${'1'.repeat(30)}`, `"0.${'1'.repeat(30)}"`],
	['decimal(38,38)', `0.${'1'.repeat(38)}`, `"0.${'1'.repeat(38)}"`],
	['varchar(100)', '\'"\\%_!\u0000\u001f\u007f\u2028😀', '"\'\\"\\\\%_!\\u0000\\u001F\u007f\u2028😀"'],
	['varchar(10) character set latin1', 'ü€', '"ü€"'],
	["enum('b','a','it''s')", "it's", '"it\'s"'],
	["set('x','y','z')", 'y,z', '"y,z"'],
	['date', '2024-02-29', '"2024-02-29"'],
	['time', '23:59:59', '"23:59:59"'],
	['time(6)', '01:02:03.000001', '"01:02:03.000001"'],
	['datetime(6)', '2026-11-20T01:02:03.456789Z', '"2026-11-20T01:02:03.456Z"'],
	['datetime(6)', '2026-11-20T01:02:03.999999999Z', '"2026-11-20T01:02:03.999Z"'],
	['datetime', '2026-11-20T01:02:03Z', '"2026-11-20T01:02:03.000Z"'],
	['timestamp(6)', '2026-11-20T01:02:03.456789Z', '"2026-11-20T01:02:03.456Z"'],
	['timestamp', '1970-01-01T00:00:01Z', '"1970-01-01T00:00:01.000Z"'],
	['timestamp(6)', '2038-01-19T03:14:07.999999Z', '"2038-01-19T03:14:07.999Z"'],
	['json', new RawJson('{"a":[1,"\\\\\'"]}'), '{"a":[1,"\\\\\'"]}'],
	['json', new RawJson('null'), 'null'],
	['uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
	['inet6', '2001:db8::1', '"2001:db8::1"'],
	['varbinary(10)', b('00ff5c27'), '"AP9cJw=="'],
	['blob', b(''), '""'],
	['point', 'POINT(1 2)', '"POINT(1 2)"'],
]
const WRITTEN = WRITTEN_TYPES.filter(([type]) => hasType(type))

function parsed(json: string): unknown {
	return JSON.parse(json)
}

function valuesIn([name, settings]: (typeof SESSIONS)[number]): void {
	describe(`values of MariaDB, sessions ${name}`, (test) => {
		const pool: Pool = openPool(settings)
		const plain = openPool({ sql_mode: '' })
		const table = 'myad_values'

		test('every type is read as its exact JSON', async () => {
			const columns = STORED.map(([type], at) => `c${at} ${type} not null`)
			await withTable(plain, table, `id int primary key, ${columns.join(', ')}, unique(c0, id)`, async () => {
				await plain.query(
					"set statement sql_mode='' for insert into myad_values values (1, " +
						`${STORED.map(([, stored]) => stored).join(', ')})`,
				)
				const model = await MysqlModel.open(pool, table)
				for (const [at, [type, stored, json]] of STORED.entries()) {
					const found = await model.read('1', select(`c${at}`), undefined)
					assert.is(found?.json.toLowerCase(), `{"c${at}":${json}}`.toLowerCase(), `${type} ${stored}`)
				}
				const all = await model.read('1', select(...STORED.map((_, at) => `c${at}`)), undefined)
				const expected = STORED.map(([, , json], at) => `"c${at}":${json}`)
				assert.equal(parsed(all?.json ?? ''), parsed(`{${expected.join(',')}}`))
			})
		})

		test('null is null in every type, and zero dates are returned as stored', async () => {
			const columns = STORED.map(([type], at) => `c${at} ${type} null`)
			const zeros = 'd date not null, t datetime(3) not null, s timestamp not null default 0, p date'
			await withTable(plain, table, `id int primary key, ${columns.join(', ')}, ${zeros}`, async () => {
				await plain.query(
					"set statement sql_mode='' for insert into myad_values (id, d, t, s, p) values (1, 0, 0, 0, '2026-11-00')",
				)
				const model = await MysqlModel.open(pool, table)
				const names = STORED.map((_, at) => `c${at}`)
				const found = await model.read('1', select(...names, 'd', 't', 's', 'p'), undefined)
				assert.equal(parsed(found?.json ?? ''), {
					...Object.fromEntries(names.map((each) => [each, null])),
					...{
						d: '0000-00-00',
						t: '0000-00-00T00:00:00.000Z',
						s: '0000-00-00T00:00:00.000Z',
						p: '2026-11-00',
					},
				})
			})
		})

		test('an instant is the same in every time zone', async () => {
			await withTable(
				plain,
				table,
				'id int primary key auto_increment, at timestamp(6) not null',
				async () => {
					for (const [stored] of INSTANTS) {
						await plain.query(`set statement time_zone='+00:00' for insert into ${table} (at) values (?)`, [
							stored,
						])
					}
					const model = await MysqlModel.open(pool, table)
					for (const [at, [, json]] of INSTANTS.entries()) {
						const found = await model.read(String(at + 1), select('at'), undefined)
						assert.equal(parsed(found?.json ?? ''), { at: json })
						const where = { op: 'gte', field: 'at', value: json } as const
						assert.is(await model.count(where), INSTANTS.length - at, json)
					}
				},
			)
		})

		test('every value written is read back, found and compared', async () => {
			const columns = WRITTEN.map(([type], at) => `c${at} ${type} null`)
			await withTable(plain, table, `id int primary key auto_increment, ${columns.join(', ')}`, async () => {
				const model = await MysqlModel.open(pool, table)
				for (const [at, [type, value, json]] of WRITTEN.entries()) {
					const field = `c${at}`
					const [selection, expected] = [select(field), { [field]: parsed(json) }]
					const { id, json: created } = await model.create({ [field]: value }, selection)
					assert.equal(parsed(created), expected, type)
					await model.update(id, { [field]: null }, selection, NO_GUARD)
					const updated = await model.update(id, { [field]: value }, selection, NO_GUARD)
					assert.equal(typeof updated === 'object' && parsed(updated.json), expected, type)
					if (!['json', 'point'].includes(type)) {
						assert.is(await model.count({ op: 'eq', field, value }), 1, type)
						assert.is(await model.count({ op: 'in', field, values: [value, value] }), 1, type)
						const literals = { op: 'in', field, values: Array(15_001).fill(value) } as const
						if (name === LITERALS_IN) assert.is(await model.count(literals), 1, type)
						assert.is(await model.count({ op: 'ne', field, value }), 0, type)
						assert.is(await model.count({ op: 'gt', field, value }), 0, type)
					}
					await model.delete(id, selection, NO_GUARD)
				}
			})
		})

		test('neighbouring numbers beyond the precision of a double are distinct', async () => {
			const columns = 'id bigint unsigned primary key, d decimal(40,20)'
			await withTable(plain, table, columns, async () => {
				const model = await MysqlModel.open(pool, table)
				const near = [
					'12345678901234567890.00000000000000000001',
					'12345678901234567890.00000000000000000002',
				]
				await model.create({ id: 18446744073709551614n, d: near[0] ?? '' }, select('id'))
				await model.create({ id: 18446744073709551615n, d: near[1] ?? '' }, select('id'))
				for (const d of near) assert.is(await model.count({ op: 'eq', field: 'd', value: d }), 1)
				assert.is(
					await model.count({ op: 'gt', field: 'd', value: '12345678901234567890.000000000000000000015' }),
					1,
				)
				const found = await model.read('18446744073709551614', select('id'), undefined)
				assert.is(found?.json, '{"id":18446744073709551614}')
				assert.is(await model.count({ op: 'eq', field: 'id', value: 18446744073709551615n }), 1)
			})
		})

		test('a timestamp outside the range of TIMESTAMP is refused for writing, and compared correctly', async () => {
			await withTable(plain, table, 'id int primary key auto_increment, at timestamp(3) null', async () => {
				const model = await MysqlModel.open(pool, table)
				await model.create({ at: '1970-01-01T00:00:01Z' }, select('id'))
				await model.create({ at: '2038-01-19T03:14:07Z' }, select('id'))
				for (const value of [
					'1970-01-01T00:00:00Z',
					'2038-01-19T03:14:08Z',
					'0001-01-01T00:00:00Z',
					'9999-01-01T00:00:00Z',
				]) {
					try {
						await model.create({ at: value }, select('id'))
						assert.unreachable(value)
					} catch (error) {
						assert.is(error instanceof Error && Reflect.get(error, 'kind'), 'invalid', value)
					}
					const isEarly = value < '1971'
					assert.is(await model.count({ op: 'gt', field: 'at', value }), isEarly ? 2 : 0, value)
					assert.is(await model.count({ op: 'lt', field: 'at', value }), isEarly ? 0 : 2, value)
				}
			})
		})

		test.after(async () => {
			await plain.query(`drop table if exists ${table}`)
			await pool.end()
			await plain.end()
		})
	})
}

if (await mariadbIsHere()) SESSIONS.forEach(valuesIn)
