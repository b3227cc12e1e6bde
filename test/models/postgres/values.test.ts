/** Values of every type, written as JSON and read back, with each driver and different session settings. */
import * as assert from 'uvu/assert'
import type { Selection, Value } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere, type Settings } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'

/** A type, a value as SQL, and its JSON. */
type Shown = readonly [type: string, sql: string, json: unknown]

const SHOWN: readonly Shown[] = [
	['bool', 'true', true],
	['bool', 'null', null],
	['int2', '-32768', -32768],
	['int4', '2147483647', 2147483647],
	['int8', '9007199254740991', 9007199254740991],
	['float4', '16777216', 16777216],
	['float4', '0.1', 0.1],
	['float8', '0.1::float8 + 0.2', 0.30000000000000004],
	['float8', '5e-324', 5e-324],
	['float8', "'NaN'", 'NaN'],
	['float8', "'-Infinity'", '-Infinity'],
	['numeric', '12345678901234567890.123456789', '12345678901234567890.123456789'],
	['numeric(10,2)', '12.5', '12.50'],
	['numeric', "'NaN'", 'NaN'],
	['money', '12.5::numeric::money', '12.50'],
	['oid', '4294967295', 4294967295],
	[
		'text',
		`E'\\x01 "quoted" \\\\ '' \\t\\n \\u2028 \\U0001F600'`,
		'\u0001 "quoted" \\ \' \t\n \u2028 \u{1F600}',
	],
	['text', "''", ''],
	['varchar(3)', "'abc'", 'abc'],
	['char(3)', "'a'", 'a  '],
	['"char"', "'x'", 'x'],
	['name', "'nm'", 'nm'],
	['uuid', "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
	['date', "'2026-11-20'", '2026-11-20'],
	['date', "'infinity'", 'infinity'],
	['date', "'0044-03-15 BC'", '0044-03-15 BC'],
	['time', "'13:45:00.123456'", '13:45:00.123456'],
	['timetz', "'13:45:00+02'", '13:45:00+02'],
	['timestamp', "'2026-11-20 13:45:00.123999'", '2026-11-20T13:45:00.123Z'],
	['timestamp', "'infinity'", 'infinity'],
	['timestamp', "'12000-01-01'", '12000-01-01T00:00:00Z'],
	['timestamptz', "'2026-11-20 13:45:00+00'", '2026-11-20T13:45:00.000Z'],
	['timestamptz', "'0001-01-01 00:00:00+00'", '0001-01-01T00:00:00.000Z'],
	['timestamptz', "'9999-12-31 23:59:59.999999+00'", '9999-12-31T23:59:59.999Z'],
	['timestamptz', "'-infinity'", '-infinity'],
	['timestamptz', "'0044-03-15 12:00:00.5+00 BC'", '0044-03-15T12:00:00.5Z BC'],
	['timestamptz', "'12000-01-01 00:00:00+00'", '12000-01-01T00:00:00Z'],
	['timestamptz', 'null', null],
	['json', `'{"a" : [1, null, {"b": "c"}], "a": 2}'`, { a: 2 }],
	['json', "'null'", null],
	['jsonb', `'{"b": [1.50, true], "a": ""}'`, { a: '', b: [1.5, true] }],
	['bytea', "E'\\\\x00ff27'", 'AP8n'],
	['bytea', "''", ''],
	['inet', "'192.168.0.1'", '192.168.0.1'],
	['cidr', "'10.0.0.0/8'", '10.0.0.0/8'],
	['macaddr', "'08:00:2b:01:02:03'", '08:00:2b:01:02:03'],
	['xml', "'<a>&amp;</a>'", '<a>&amp;</a>'],
	['bit(4)', "B'1010'", '1010'],
	['varbit', "B'101'", '101'],
	['interval', "'1 day 02:00:00'", '1 day 02:00:00'],
	['point', "'(1,2)'", '(1,2)'],
	['int4range', "'[1,5)'", '[1,5)'],
	['daterange', "'[2026-11-20,2026-11-22)'", '[2026-11-20,2026-11-22)'],
	['daterange', "'empty'", 'empty'],
	['tstzrange', "'(2026-11-20 01:00+00,)'", '(2026-11-20T01:00:00.000000Z,)'],
	['tsrange', 'null', null],
	['pgad_mood', `'it''s "odd"'`, 'it\'s "odd"'],
	['pgad_email', "'a@b'", 'a@b'],
	['pgad_late', "'2026-11-20 13:45:00+00'", '2026-11-20T13:45:00.000Z'],
	['pgad_pair', "row(1, 'x, y')::pgad_pair", '(1,"x, y")'],
	[
		'int4[]',
		"'{{1,2},{3,NULL}}'",
		[
			[1, 2],
			[3, null],
		],
	],
	['text[]', `E'{"a\\\\"b",NULL,""}'`, ['a"b', null, '']],
	['numeric[]', "'{1.50,NaN}'", ['1.50', 'NaN']],
	['timestamptz[]', "'{2026-11-20 01:00+00,NULL}'", ['2026-11-20T01:00:00.000Z', null]],
	['timestamptz[]', "'{}'", []],
	['timestamptz[]', 'null', null],
	['bytea[]', `E'{"\\\\\\\\x00ff"}'`, ['AP8=']],
	['pgad_mood[]', `'{happy}'`, ['happy']],
]

/** A type, a value passed to a model, and the JSON that comes back. */
type Kept = readonly [type: string, value: Value, json: unknown]

const KEPT: readonly Kept[] = [
	['bool', false, false],
	['int2', -32768, -32768],
	['int8', 5, 5],
	['float4', 0.1, 0.1],
	['float8', Number.NaN, 'NaN'],
	['float8', Number.NEGATIVE_INFINITY, '-Infinity'],
	['float8', 5e-324, 5e-324],
	['numeric', '99999999999999999999.5', '99999999999999999999.5'],
	['money', '-12.50', '-12.50'],
	['text', 't', 't'],
	['text', 'quotes \' " \\ \\x41 $1 %s \u2028 \u{1F600}', 'quotes \' " \\ \\x41 $1 %s \u2028 \u{1F600}'],
	['varchar(3)', 'äöü', 'äöü'],
	['char(2)', 'a', 'a '],
	['"char"', 'x', 'x'],
	['name', 'nm', 'nm'],
	['uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
	['date', '2026-02-28', '2026-02-28'],
	['time', '13:45:00', '13:45:00'],
	['timestamp', '2026-11-20T13:45:00.123456Z', '2026-11-20T13:45:00.123Z'],
	['timestamptz', '2026-11-20T13:45:00.123456Z', '2026-11-20T13:45:00.123Z'],
	// Beyond the microseconds, PostgreSQL itself would round.
	['timestamp', '2026-12-31T23:59:59.999999999Z', '2026-12-31T23:59:59.999Z'],
	['timestamptz', '2026-12-31T23:59:59.9999999Z', '2026-12-31T23:59:59.999Z'],
	['timestamptz', '2026-12-31T23:59:59.9999999+01:00', '2026-12-31T22:59:59.999Z'],
	['time', '23:59:59.9999999', '23:59:59.999999'],
	['timestamptz', '12000-01-01T00:00:00Z', '12000-01-01T00:00:00Z'],
	['timestamptz', '0044-03-15T12:00:00.5Z BC', '0044-03-15T12:00:00.5Z BC'],
	['json', new RawJson('{"a":"\'\\\\\\"\u2028","b":[1.0]}'), { a: '\'\\"\u2028', b: [1] }],
	['json', new RawJson('"text"'), 'text'],
	['jsonb', new RawJson('[1,{"a":null}]'), [1, { a: null }]],
	['bytea', new Uint8Array([0, 255, 39, 92]), 'AP8nXA=='],
	['bytea', new Uint8Array(), ''],
	['inet', '::1', '::1'],
	['bit(4)', '1010', '1010'],
	['interval', '1 day', '1 day'],
	['pgad_mood', `it's "odd"`, `it's "odd"`],
	['pgad_email', 'a@b', 'a@b'],
	['pgad_late', '2026-11-20T13:45:00.000Z', '2026-11-20T13:45:00.000Z'],
	['int4[]', new RawJson('[1,null,3]'), [1, null, 3]],
	['int8[]', new RawJson('[]'), []],
	['text[]', new RawJson('["a\\"b","{}",null,"NULL",""]'), ['a"b', '{}', null, 'NULL', '']],
	['numeric[]', new RawJson('["1.50"]'), ['1.50']],
	['timestamp[]', new RawJson('["2026-11-20T13:45:00.000Z"]'), ['2026-11-20T13:45:00.000Z']],
	['bytea[]', new RawJson('["AP8="]'), ['AP8=']],
	['jsonb[]', new RawJson('[{"a":1},null]'), [{ a: 1 }, null]],
	['pgad_mood[]', new RawJson('["happy"]'), ['happy']],
	['text[]', null, null],
	[
		'int4[][]',
		new RawJson('[[1, 2],[3, null]]'),
		[
			[1, 2],
			[3, null],
		],
	],
	['int4[][]', new RawJson('[1,2]'), [1, 2]],
	['int4[][]', new RawJson('[]'), []],
	['int4[][]', null, null],
	['pgad_grid', new RawJson('[[[1]],[[2]]]'), [[[1]], [[2]]]],
	[
		'text[][]',
		new RawJson('[["a\\"b\\\\c","{}"],[null,"NULL"],["","[\\u00e9, x]"]]'),
		[
			['a"b\\c', '{}'],
			[null, 'NULL'],
			['', '[é, x]'],
		],
	],
	[
		'numeric[][]',
		new RawJson('[["1.50",12345678901234567890.123456789]]'),
		[['1.50', '12345678901234567890.123456789']],
	],
	['bool[][]', new RawJson('[[true],[false]]'), [[true], [false]]],
	['pgad_mood[][]', new RawJson('[["happy"],["it\'s \\"odd\\""]]'), [['happy'], [`it's "odd"`]]],
	['timestamptz[][]', new RawJson('["2026-11-20T13:45:00.000Z"]'), ['2026-11-20T13:45:00.000Z']],
	['jsonb', null, null],
	['timestamptz', null, null],
]

const SESSIONS: readonly Settings[] = [
	{},
	{
		DateStyle: 'German',
		TimeZone: 'Asia/Kathmandu',
		bytea_output: 'escape',
		extra_float_digits: '3',
		standard_conforming_strings: 'off',
	},
]

const TYPES = `
	create type pgad_mood as enum ('happy', 'it''s "odd"');
	create domain pgad_email as varchar(20) check (value like '%@%');
	create domain pgad_late as timestamptz;
	create domain pgad_grid as int4[][][];
	create type pgad_pair as (a int, b text);`
const DROP =
	'drop table if exists pgad_values, pgad_shown; drop type if exists pgad_mood, pgad_pair; drop domain if exists pgad_email, pgad_late, pgad_grid;'

function columns(types: readonly (readonly unknown[])[]): string {
	return types.map(([type], at) => `c${at} ${type}`).join(', ')
}

/** A value in words, so that a difference is one line. */
function line(type: string, value: unknown, json: unknown): string {
	return `${type} ${String(value)} is ${JSON.stringify(json)}`
}

async function sessionsOf(name: DriverName, settings: Settings): Promise<void> {
	describe(`values by ${name}, session ${JSON.stringify(settings)}`, (test) => {
		const opened = databaseLater(name, settings)

		test.before(async () => {
			const { exec } = await opened()
			await exec(DROP)
			await exec(TYPES)
			await exec(`create table pgad_shown (id int primary key, ${columns(SHOWN)})`)
			await exec(`create table pgad_values (id int primary key, ${columns(KEPT)})`)
			const values = SHOWN.map(([, sql]) => sql).join(', ')
			await exec(`insert into pgad_shown values (1, ${values})`)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(DROP)
			await close()
		})

		test('are written in the same JSON whether read alone, gathered, or in a list', async () => {
			const { database } = await opened()
			const model = await PostgresModel.open(database, 'pgad_shown')
			const fields = SHOWN.map((_, at) => `c${at}`)
			const selection: Selection = { fields, names: fields, version: undefined }
			const expected = SHOWN.map(([type, sql, json]) => line(type, sql, json))
			const shown = (text: string | undefined) => {
				const record = JSON.parse(text ?? 'null')
				assert.equal(Object.keys(record), fields)
				return SHOWN.map(([type, sql], at) => line(type, sql, record[`c${at}`]))
			}

			assert.equal(shown((await model.read('1', selection, undefined))?.json), expected)
			const [, gathered] = await Promise.all([
				model.read('2', selection, undefined),
				model.read('1', selection, undefined),
			])
			assert.equal(shown(gathered?.json), expected)
			const order = [{ field: 'id', descending: false }]
			const listed = await model.list({
				selection,
				where: undefined,
				order,
				limit: 1,
				offset: 0,
				after: undefined,
				total: true,
			})
			assert.equal(shown(listed.json.slice(1, -1)), expected)
			assert.is(listed.total, 1)
		})

		test('are stored exactly as given, and found by equality', async () => {
			const { database } = await opened()
			const model = await PostgresModel.open(database, 'pgad_values')
			const fields = KEPT.map((_, at) => `c${at}`)
			const selection: Selection = { fields, names: fields, version: undefined }
			const values = Object.fromEntries(KEPT.map(([, value], at) => [`c${at}`, value]))
			const created = await model.create({ id: 1, ...values }, selection)
			const record = JSON.parse(created.json)
			const kept = KEPT.map(([type, value], at) => line(type, value, record[`c${at}`]))
			assert.equal(
				kept,
				KEPT.map(([type, value, json]) => line(type, value, json)),
			)
			for (const [at, [type, value]] of KEPT.entries()) {
				if (value === null || /^json$/.test(type)) continue
				const found = await model.read('1', selection, { op: 'eq', field: `c${at}`, value })
				assert.ok(found !== undefined, `${type} ${at} isn't found by its value`)
				if (value instanceof RawJson) continue
				for (const exact of [false, true]) {
					const where = { op: 'in', field: `c${at}`, values: [value, value], exact } as const
					assert.is(await model.count(where), 1, `${type} ${at} isn't found in a list of its value`)
					assert.is(await model.count({ op: 'not', term: where }), 0, `${type} ${at}`)
				}
			}
			await model.delete('1', selection, { where: undefined, version: undefined })
		})

		test('are stored exactly as given by updates that wait together', async () => {
			const { database } = await opened()
			const model = await PostgresModel.open(database, 'pgad_values')
			const ids = ['1', '2', '3', '4']
			const [none, any] = [
				{ fields: [], names: [], version: undefined },
				{ where: undefined, version: undefined },
			]
			for (const id of ids) await model.create({ id }, none)
			for (const [at, [type, value, json]] of KEPT.entries()) {
				const name = `c${at}`
				const selection: Selection = { fields: [name], names: [name], version: undefined }
				const all = await Promise.all(ids.map((id) => model.update(id, { [name]: value }, selection, any)))
				for (const found of all)
					assert.equal(typeof found === 'string' ? found : JSON.parse(found.json), { [name]: json }, type)
			}
			for (const id of ids) await model.delete(id, none, any)
		})

		test('of bytes are exact at every length', async () => {
			const { database, exec } = await opened()
			await exec('create table pgad_bytes (id int primary key, data bytea)')
			try {
				const model = await PostgresModel.open(database, 'pgad_bytes')
				const selection: Selection = { fields: ['data'], names: ['data'], version: undefined }
				for (let length = 0; length < 100; length++) {
					const data = new Uint8Array(length).map((_, at) => (at * 89 + length) % 256)
					const { json } = await model.create({ id: length, data }, selection)
					assert.equal(JSON.parse(json), { data: Buffer.from(data).toString('base64') })
				}
			} finally {
				await exec('drop table pgad_bytes')
			}
		})

		test('of arrays round-trip with the declared number of dimensions', async () => {
			const { database, exec } = await opened()
			await exec(`create table pgad_grids (id int primary key, boxes box[][], flat int4[]);
				insert into pgad_grids values (1, '{{(2,2),(1,1)};{(4,4),(3,3)}}', '{{1,2},{3,4}}')`)
			try {
				const model = await PostgresModel.open(database, 'pgad_grids')
				const selection: Selection = {
					fields: ['boxes', 'flat'],
					names: ['boxes', 'flat'],
					version: undefined,
				}
				const read = async () => JSON.parse((await model.read('1', selection, undefined))?.json ?? '')
				const shown = {
					boxes: [['(2,2),(1,1)'], ['(4,4),(3,3)']],
					flat: [
						[1, 2],
						[3, 4],
					],
				}
				assert.equal(await read(), shown)
				const write = (field: 'boxes' | 'flat') =>
					model.update('1', { [field]: new RawJson(JSON.stringify(shown[field])) }, selection, {
						...{ where: undefined, version: undefined },
					})
				await write('boxes')
				// Another program has stored an array of other dimensions than declared.
				const error = await write('flat').catch((error: unknown) => error)
				assert.equal(error instanceof ModelError ? [error.kind, error.fields] : error, ['invalid', ['flat']])
				assert.equal(await read(), shown)
			} finally {
				await exec('drop table pgad_grids')
			}
		})

		test('of bigint keep all their digits, as a number or as a string', async () => {
			const { database, exec } = await opened()
			await exec('create table pgad_big (id int8 primary key)')
			try {
				const selection: Selection = { fields: ['id'], names: ['id'], version: undefined }
				const id = 9223372036854775807n
				const asNumber = await PostgresModel.open(database, 'pgad_big')
				assert.is((await asNumber.create({ id }, selection)).json, '{"id":9223372036854775807}')
				const asText = await PostgresModel.open(database, 'pgad_big', { bigint: 'string' })
				assert.is((await asText.read(String(id), selection, undefined))?.json, '{"id":"9223372036854775807"}')
				assert.is(asText.fields[0]?.asText, true)
				assert.is(await asText.count({ op: 'eq', field: 'id', value: id }), 1)
			} finally {
				await exec('drop table pgad_big')
			}
		})
	})
}

for (const name of suitesBy(await driversHere()))
	for (const settings of SESSIONS) await sessionsOf(name, settings)
