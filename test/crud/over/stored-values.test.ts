/**
 * Values in a table that our clients could not have written: cursors visit each record once, and what a GET returns is
 * accepted by PUT and matched by a filter.
 */
import * as assert from 'uvu/assert'
import { CrudHandler, type InjectedReply, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool, type Settings } from '../../helpers/mariadb.ts'
import { type DriverName, driversHere, openDatabase } from '../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'

// Both are awaited before the first suite is declared, as suites begin to run during any await.
const [isMariadbHere, postgresDrivers] = [await mariadbIsHere(), await driversHere()]

/** A type, and SQL literals of it. */
type Column = readonly [type: string, ...values: string[]]

const MARIADB: readonly Column[] = [
	['date', "'0000-00-00'", "'2026-00-00'", "'2026-05-00'", "'2026-00-07'", "'2026-05-01'", "'0001-01-01'"],
	[
		'datetime(3)',
		"'0000-00-00'",
		"'2026-00-00 10:00:00.123'",
		"'2026-01-02 10:00:00.123'",
		"'2026-01-02 10:00:00.124'",
	],
	['datetime', "'0000-00-00'", "'2026-05-00 23:59:59'", "'9999-12-31 23:59:59'"],
	['timestamp', "'0000-00-00'", "'2026-01-02 10:00:00'", "'1970-01-02 00:00:01'"],
	['timestamp(6)', "'0000-00-00'", "'2026-01-02 10:00:00.000001'", "'2026-01-02 10:00:00.000002'"],
	['time', "'838:59:59'", "'-838:59:59'", "'-00:00:01'", "'24:00:00'", "'100:00:00'", "'00:00:00'"],
	['time(3)', "'838:59:59.999'", "'-12:30:00.001'", "'-12:30:00'", "'12:30:00.001'"],
	['bit(64)', '18446744073709551615', '9223372036854775808', '9223372036854775807', '0'],
	['tinyint(1)', '0', '1', '2', '-1', '-128', '127'],
	['tinyint(1) unsigned', '0', '1', '2', '255'],
	['bigint unsigned', '18446744073709551615', '9223372036854775808', '1'],
	['decimal(10,2) unsigned zerofill', '12.5', '100', '0'],
	['decimal(65,30)', '0.000000000000000000000000000001', '-0.000000000000000000000000000001', '0'],
	['float', '0.1', '-3.4028234e38', '16777216', '1e-30'],
	['double', '5e-324', '-1.7976931348623157e308', '0.1'],
	['year', "'0000'", '1901', '2155'],
	['varchar(20)', "'a'", "'A'", "'a '", "''", "'é'", "'e'"],
	["enum('b','a','')", "'b'", "'a'", "''"],
	...['text', 'varchar(700)', 'varchar(2000)', 'varchar(2000) character set latin1'].map((type) =>
		longTexts(type),
	),
]

/** Texts that differ behind the bytes that MariaDB sorts by, and behind the characters that the model does. */
function longTexts(type: string): Column {
	const lengths = type === 'varchar(700)' ? [680] : [680, 1200]
	const texts = lengths.flatMap((length) =>
		['z', 'a', 'y', 'b', 'x', 'c'].map((end) => `concat(repeat('long', ${length / 4}), '${end}')`),
	)
	return [type, ...texts, "repeat('é', 700)", "concat(repeat('é', 699), 'a')", "'a'", "''"]
}

const SQLITE: readonly Column[] = [
	[
		'int',
		'1',
		'-1',
		'1.5',
		'9e999',
		"'abc'",
		"'2026-01-01'",
		"x'00ff'",
		"x''",
		'9223372036854775807',
		'1e300',
	],
	['bigint', '1', "'abc'", '9223372036854775807', '9223372036854775806', '2.5', "x'00'"],
	['boolean', '0', '1', '2', "'yes'", '-1'],
	['real', '0.1', '9e999', '-9e999', "'NaN'", "'abc'", '1e21', "x'ff'", '5e-324'],
	['decimal(10,2)', '1.1', '1e20', '9223372036854775807', "'abc'", '9e999', '-0.001'],
	['varchar(20)', "'a'", "x'6162'", "x'ff'", "''", "'A'", "'\u{1f600}'"],
	['date', "'2026-01-01'", '20260101', "'0000-00-00'", "'now'", '1.5'],
	['time', "'24:00:00'", "'-1:00'", '5', "'12:00:00'"],
	[
		'datetime',
		"'2026-01-01 00:00:00'",
		"'2026-01-01T00:00:00.000Z'",
		'1700000000',
		'1700000000.123456',
		"'infinity'",
		"x'00'",
	],
	['uuid', "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", '5', "'x'"],
]

const POSTGRES: readonly Column[] = [
	[
		'date',
		"'infinity'",
		"'-infinity'",
		"'0044-03-15 BC'",
		"'4713-01-01 BC'",
		"'10000-01-01'",
		"'0001-01-01'",
	],
	[
		'timestamp',
		"'infinity'",
		"'-infinity'",
		"'0044-03-15 12:00:00.000001 BC'",
		"'0044-03-15 12:00:00 BC'",
		"'294276-12-31 23:59:59.999999'",
		"'2026-01-02 10:00:00.000001'",
		"'2026-01-02 10:00:00.000002'",
	],
	[
		'timestamptz',
		"'infinity'",
		"'-infinity'",
		"'0044-03-15 12:00:00.5Z BC'",
		"'10000-01-01 00:00:00Z'",
		"'9999-12-31 23:59:59Z'",
	],
	['timestamp(0)', "'infinity'", "'0001-12-31 23:59:59 BC'", "'2026-01-02 10:00:00'"],
	['time', "'24:00:00'", "'23:59:59.999999'", "'00:00:00'"],
	['float4', "'NaN'", "'Infinity'", "'-Infinity'", '0.1', "'-0'", '3.4028235e38', '1e-45'],
	['float8', "'NaN'", "'Infinity'", "'-Infinity'", '5e-324', '-1.7976931348623157e308', '0.1'],
	['numeric', "'NaN'", "'Infinity'", "'-Infinity'", '1e-400', '1e400', '0.10', '0.1'],
	['numeric(5,2)', "'NaN'", '999.99', '-0.01', '0'],
	['numeric(3,-2)', "'NaN'", '99900', '-100', '0'],
	['numeric(2,4)', '0.0099', '-0.0001', '0'],
	['money', '-92233720368547758.08', '92233720368547758.07', '0.01'],
	['int8', '9223372036854775807', '-9223372036854775808', '9007199254740993'],
	['oid', '4294967295', '0'],
	['varchar(20)', "'a'", "'A'", "'a '", "''", "'é'"],
	['char(4)', "'a'", "'A'", "''", "'é'"],
]

/** Types that cannot be sorted by. */
const POSTGRES_UNORDERED: readonly Column[] = [
	['timetz', "'24:00:00+00'", "'24:00:00-15:59'", "'23:59:59.999999+15:59'"],
	['interval', "'-178000000 years'", "'1 mon -1 day 00:00:01'", "'00:00:00.000001'", "'30 days'"],
	[
		'bit(64)',
		`B'${'1'.repeat(64)}'`,
		`B'1${'0'.repeat(63)}'`,
		`B'0${'1'.repeat(63)}'`,
		`B'${'0'.repeat(64)}'`,
	],
	['bit', "B'1'", "B'0'"],
	['varbit', "B''", "B'1'", "B'10'", `B'${'1'.repeat(70)}'`, "B'0'"],
	['varbit(70)', "B''", `B'${'1'.repeat(70)}'`, "B'0'"],
	['bytea', "'\\x'", "'\\x00ff'", "'\\xff'"],
	['daterange', "'[-infinity,infinity)'", "'empty'", "'(,)'", "'[0044-03-15 BC,10000-01-01)'"],
	['tstzrange', "'[-infinity,infinity]'", "'empty'", '\'(,"0044-03-15 12:00:00.000001Z BC"]\''],
	['numrange', "'[NaN,NaN]'", "'(-Infinity,Infinity)'", "'[0.10,0.1]'"],
	['date[]', "'{infinity,-infinity}'", "'{0044-03-15 BC,NULL}'", "'{}'", "'{10000-01-01}'"],
	[
		'timestamp[]',
		"'{infinity,0044-03-15 12:00:00.000001 BC}'",
		"'{2026-01-02 10:00:00.000001}'",
		"'{2026-01-02 10:00:00.000002}'",
	],
	['float8[]', "'{NaN,Infinity}'", "'{-Infinity,NULL}'", "'{0.1}'"],
	['int4[]', "'{1,NULL}'", "'{}'", "'[0:1]={1,2}'"],
]

const VISIBLE = {
	visible: ['id', 'c'],
	updatable: ['c'],
	allow: ['list', 'read', 'update', 'replace'],
} as const

interface Page {
	readonly data: readonly { readonly id: number; readonly c: unknown }[]
	readonly meta: { readonly next: string | null }
}

/** A handler of the model, called with a method and a path below `/thing`. */
type Asked = (method: string, path: string, body?: object) => Promise<InjectedReply>

function served(model: Model): Asked {
	const { ask } = asking({ thing: new CrudHandler(model, VISIBLE) })
	const headers = { 'content-type': 'application/json' }
	return (method, path, body) =>
		ask(`${method} /thing${path}`, body === undefined ? {} : { headers, body: JSON.stringify(body) })
}

async function list(ask: Asked, query: string): Promise<Page> {
	const { status, text } = await ask('GET', query)
	assert.is(status, 200, `${query}: ${text()}`)
	return JSON.parse(text())
}

/** The ids in the order of a client's walk with pages of `limit`. */
async function walk(ask: Asked, sort: string, limit: number): Promise<number[]> {
	const ids: number[] = []
	let cursor = ''
	for (;;) {
		const { data, meta } = await list(ask, `?sort=${sort}&limit=${limit}${cursor}`)
		ids.push(...data.map(({ id }) => id))
		assert.ok(ids.length < 200, `a walk by ${sort} does not end`)
		if (meta.next === null) return ids
		cursor = `&cursor=${encodeURIComponent(meta.next)}`
	}
}

async function walksAlike(model: Model, count: number, what: string): Promise<void> {
	const ask = served(model)
	for (const sort of ['c', '-c,id']) {
		const whole = await walk(ask, sort, 100)
		assert.is(new Set(whole).size, count, `${what} by ${sort}`)
		for (const limit of [1, 4])
			assert.equal(await walk(ask, sort, limit), whole, `${what} by ${sort}, ${limit}`)
	}
}

/** Each record's answered values are written back, and found by filters. */
async function takesBack(model: Model, what: string, isCompared = true): Promise<void> {
	const ask = served(model)
	const { data } = await list(ask, '?limit=100')
	for (const { id, c } of data) {
		const { status, text } = await ask('PUT', `/${id}`, { id, c })
		assert.is(status, 200, `${what} ${c}: ${text()}`)
		assert.equal(JSON.parse(text()).data, { id, c }, what)
		if (c === null || !isCompared) continue
		const found = await list(ask, `?limit=100&c=${encodeURIComponent(String(c))}`)
		assert.ok(
			found.data.some((one) => one.id === id),
			`${what} ${c} is not found`,
		)
	}
}

const SESSIONS: readonly Settings[] = [
	{},
	{ time_zone: '+05:30', sql_mode: 'TRADITIONAL', max_sort_length: 64 },
]

function onMariadb(settings: Settings): void {
	const modes = settings.sql_mode ?? 'its own modes'
	describe(`stored values of MariaDB, in sessions of ${modes}`, (test) => {
		// MySQL forbids zero dates by default.
		const pool = openPool(IS_MYSQL ? { sql_mode: 'STRICT_ALL_TABLES', ...settings } : settings)
		const plain = openPool({ sql_mode: '' })
		test.after(async () => {
			await pool.end()
			await plain.end()
		})
		for (const [at, [type, ...values]] of MARIADB.entries())
			test(`${type}: pages visit each record once, and answered values can be written back`, async () => {
				const table = `stored_values_${process.pid}_${at}`
				const holds = [...values, ...values, ...(type.startsWith('timestamp') ? [] : ['null'])]
				const nullness = type.startsWith('timestamp') ? 'not null default 0' : 'null'
				await plain.query(`create table ${table} (id int primary key auto_increment, c ${type} ${nullness})`)
				try {
					for (const value of holds) await plain.query(`insert into ${table} (c) values (${value})`)
					const model = await MysqlModel.open(pool, table, { timeoutSeconds: 60, bigint: 'string' })
					await walksAlike(model, holds.length, type)
					// NO_ZERO_DATE forbids writing these; a float has fewer digits than its JSON, and a 2 is no boolean.
					if (settings.sql_mode === undefined && !/^(?:float|tinyint)/.test(type))
						await takesBack(model, type)
				} finally {
					await plain.query(`drop table ${table}`)
				}
			})
	})
}

for (const { name, open } of suitesBy(sqliteDrivers))
	describe(`stored values of SQLite, by ${name}`, (test) => {
		for (const [type, ...values] of SQLITE)
			(open === undefined ? test.skip : test)(
				`${type}: pages visit each record once, whatever it contains`,
				async () => {
					const database = opened(open)
					try {
						database.exec(`create table thing (id integer primary key, c ${type})`)
						for (const value of [...values, ...values, 'null'])
							database.exec(`insert into thing (c) values (${value})`)
						const model = await SqliteModel.open(database, 'thing', { bigint: 'string' })
						await walksAlike(model, values.length * 2 + 1, type)
					} finally {
						database.close()
					}
				},
			)
	})

function onPostgres(name: DriverName, settings: Readonly<Record<string, string>>): void {
	describe(`stored values of PostgreSQL, by ${name}`, (test) => {
		let opened: Awaited<ReturnType<typeof openDatabase>>
		test.before(async () => {
			opened = await openDatabase(name, settings)
		})
		test.after(() => opened.close())
		for (const [at, [type, ...values]] of [...POSTGRES, ...POSTGRES_UNORDERED].entries())
			test(`${type}: pages visit each record once, and answered values can be written back`, async () => {
				const isOrdered = at < POSTGRES.length
				const table = `stored_values_${process.pid}_${at}`
				const holds = [...values, ...values, 'null']
				const rows = holds.map((value) => `(${value})`).join(', ')
				await opened.exec(`create unlogged table ${table} (id serial primary key, c ${type})`)
				try {
					await opened.exec(`insert into ${table} (c) values ${rows}`)
					const options = { timeoutSeconds: 60, bigint: 'string' } as const
					const model = await PostgresModel.open(opened.database, table, options)
					if (isOrdered) await walksAlike(model, holds.length, type)
					await takesBack(model, type, isOrdered)
				} finally {
					await opened.exec(`drop table ${table}`)
				}
			})

		test('a decimal with more digits than its column is 422, and can be used in a filter', async () => {
			const table = `stored_values_${process.pid}_digits`
			await opened.exec(`create table ${table} (id serial primary key, c numeric(5,2));
				insert into ${table} (c) values (1.25)`)
			try {
				const model = await PostgresModel.open(opened.database, table, { timeoutSeconds: 60 })
				const ask = served(model)
				for (const c of ['1.005', 1.005, '1000', '-1000.00', '0.001', 'Infinity'])
					assert.is((await ask('PUT', '/1', { c })).status, 422, String(c))
				const { data } = await list(ask, '?c=1.25&c[lt]=123456.789&c[gt]=1.24999')
				assert.equal(data, [{ id: 1, c: '1.25' }])
				for (const c of ['-999.99', '1.500', 7])
					assert.is((await ask('PUT', '/1', { c })).status, 200, String(c))
			} finally {
				await opened.exec(`drop table ${table}`)
			}
		})
	})
}

/** A session with another format of dates and intervals. */
const ELSEWHERE = { TimeZone: 'Asia/Kathmandu', DateStyle: 'SQL, DMY', IntervalStyle: 'sql_standard' }

/** With a server available, the slower PGlite would test nothing else. */
const onServer = postgresDrivers.filter((name) => name !== 'PGlite')
for (const name of suitesBy(onServer.length > 0 ? onServer : postgresDrivers))
	onPostgres(name, { synchronous_commit: 'off', ...(name === 'postgres.js' ? ELSEWHERE : {}) })
if (isMariadbHere) suitesBy(SESSIONS).forEach(onMariadb)
