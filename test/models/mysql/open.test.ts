/** Opening models on MariaDB: what is read from the live database, with which mysql2 objects, and what is refused. */
import mysqlCallbacks from 'mysql2'
import mysql, { type Pool } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Field } from '../../../lib/models/model.ts'
import { type MysqlDatabase, MysqlModel, type MysqlOptions } from '../../../lib/models/mysql/model.ts'
import { describe } from '../../helpers/describe.ts'
import { MARIADB, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { hasType, select, withTable } from './types.ts'

/** A column's definition, and its field's properties besides `nullable: false, hasDefault: false, generated: false`. */
const COLUMN_TYPES: readonly (readonly [column: string, field: Partial<Field>])[] = [
	['tinyint(1) not null', { type: 'boolean' }],
	['bit(1) not null', { type: 'boolean' }],
	['tinyint not null', { type: 'integer', min: -128, max: 127 }],
	['tinyint unsigned not null', { type: 'integer', min: 0, max: 255 }],
	['smallint not null', { type: 'integer', min: -32768, max: 32767 }],
	['mediumint unsigned not null', { type: 'integer', min: 0, max: 16777215 }],
	['int not null', { type: 'integer', min: -2147483648, max: 2147483647 }],
	['int unsigned not null default 7', { type: 'integer', min: 0, max: 4294967295, hasDefault: true }],
	['bigint not null', { type: 'bigint' }],
	['bigint unsigned not null', { type: 'bigint', min: 0n, max: 18446744073709551615n }],
	['bit(10) not null', { type: 'integer', min: 0, max: 1023 }],
	['bit(54) not null', { type: 'bigint', min: 0n, max: 18014398509481983n }],
	['year not null', { type: 'integer', min: 0, max: 2155 }],
	['float not null', { type: 'float' }],
	['double not null', { type: 'float' }],
	['decimal(10,2) not null', { type: 'decimal' }],
	['char(36) not null', { type: 'text', maxLength: 36 }],
	['varchar(200) null', { type: 'text', maxLength: 200, nullable: true }],
	["varchar(9) null default 'NULL'", { type: 'text', maxLength: 9, nullable: true, hasDefault: true }],
	['varchar(9) null default null', { type: 'text', maxLength: 9, nullable: true }],
	['tinytext not null', { type: 'text', maxLength: 255 }],
	['longtext not null', { type: 'text', maxLength: 4294967295 }],
	[
		"enum('b','a','it''s','x,y','\\\\','\n','') not null",
		{ type: 'text', choices: ['b', 'a', "it's", 'x,y', '\\', '\n', ''], maxLength: 4 },
	],
	["set('x','y') not null", { type: 'other' }],
	['date not null default current_date', { type: 'date', hasDefault: true }],
	['time(3) not null', { type: 'time' }],
	['datetime(6) not null', { type: 'timestamp' }],
	[
		'timestamp not null default current_timestamp on update current_timestamp',
		{ type: 'timestamp', hasDefault: true },
	],
	['json not null', { type: 'json' }],
	['uuid not null default uuid()', { type: 'uuid', hasDefault: true }],
	['inet6 not null', { type: 'other' }],
	['binary(16) not null', { type: 'bytes' }],
	['blob not null', { type: 'bytes' }],
	['point not null', { type: 'other' }],
	[
		'int as (1 + 1) virtual',
		{ type: 'integer', min: -2147483648, max: 2147483647, nullable: true, generated: true },
	],
	[
		'int as (1 + 1) stored',
		{ type: 'integer', min: -2147483648, max: 2147483647, nullable: true, generated: true },
	],
]
const COLUMNS = COLUMN_TYPES.filter(([column]) => hasType(column))

const KEYS = 'myad_open_keys'
/** Of the index of a text. MariaDB's default is longer, but InnoDB can't have it in MySQL. */
const LONG = 700

/** Names of tables, as in SQL, and as given to open(). */
const NAMES: readonly (readonly [made: string, asked: string])[] = [
	['myad open', 'myad open'],
	['myad``tick', '`myad``tick`'],
	['myad.dot', '`myad.dot`'],
	['myad.dot', `${MARIADB.database}.\`myad.dot\``],
	['myad``.``both', `\`${MARIADB.database}\`.\`myad\`\`.\`\`both\``],
	['myad"quote\'', 'myad"quote\''],
	['myad_žluť', 'myad_žluť'],
	['select', 'select'],
	['myad\\back', 'myad\\back'],
]

/** Refused calls: what is opened, the options, and the error. */
const REFUSED: readonly (readonly [table: string, options: MysqlOptions, message: RegExp])[] = [
	['myad_artcle', {}, /^there is no table myad_artcle: did you mean myad_article\?$/],
	['MYAD_ARTICLE', {}, /^there is no table MYAD_ARTICLE/],
	['nowhere.article', {}, /^there is no table nowhere\.article; the database has no tables$/],
	['a.b.c', {}, /^a table's name must look like 'article', 'blog\.article'/],
	['', {}, /^a table's name must look like/],
	['`open', {}, /^a table's name must look like/],
	[
		'myad_view',
		{},
		/^myad_view is a view: pass \{ key: '…' \} with a column that is unique and not null, a list of columns that are so together, or \[\] to only list its records$/,
	],
	['myad_article', { key: 'idd' }, /^myad_article has no column "idd" for its key: did you mean id\?$/],
	[
		'myad_article',
		{ key: 'clock' },
		/^the key of myad_article, clock, is of type time; a key must be an integer, a uuid, a text, a date or a timestamp$/,
	],
]

function opening(): void {
	describe('opening a MysqlModel', (test) => {
		const pool: Pool = openPool()

		test.before(async () => {
			await clean(pool)
			await pool.query(
				'create table myad_article (id int primary key auto_increment, title varchar(20), clock time)',
			)
			await pool.query('create table myad_pair (a int, b int, primary key (a, b))')
			await pool.query('create algorithm = temptable view myad_view as select id, title from myad_article')
			await pool.query("insert into myad_article (title) values ('first'), ('second')")
		})
		test.after(async () => {
			await clean(pool)
			await pool.end()
		})

		test('columns have their type, nullability, default, length, range and choices', async () => {
			const columns = COLUMNS.map(([column], at) => `c${at} ${column}`).join(', ')
			await withTable(
				pool,
				'myad_types',
				`id int primary key auto_increment, ${columns}`,
				async ({ fields, key, name, readOnly }) => {
					assert.equal([key, name, readOnly], [['id'], 'myad_types', false])
					assert.is(fields[0]?.hasDefault, true)
					assert.is(fields.length, COLUMNS.length + 1)
					for (const [at, [column, expected]] of COLUMNS.entries()) {
						const field = fields.find((each) => each.name === `c${at}`)
						const plain = { nullable: false, hasDefault: false, generated: false }
						const none = { maxLength: undefined, choices: undefined, min: undefined, max: undefined }
						const { type, nullable, hasDefault, generated, maxLength, choices, min, max } = field ?? {}
						const found = { type, nullable, hasDefault, generated, maxLength, choices, min, max }
						assert.equal(found, { ...none, ...plain, ...expected }, column)
					}
				},
			)
		})

		test("bigint: 'string' reads bigint as text", async () => {
			const columns = 'id bigint primary key, n int'
			const work = async (model: MysqlModel) => {
				assert.is(model.fields[0]?.asText, true)
				assert.is(model.fields[1]?.asText, undefined)
				const { json } = await model.create({ id: 9007199254740993n, n: 1 }, select('id', 'n'))
				assert.is(json, '{"id":"9007199254740993","n":1}')
			}
			await withTable(pool, 'myad_bigint', columns, work, { bigint: 'string' })
		})

		test('a key must be unique by itself and never null, so that PATCH changes one record', async () => {
			await pool.query(`create table ${KEYS} (
				id int primary key, plain int not null, nullable int unique, a int not null, b int not null,
				fine int not null unique, starts varchar(100) not null, unique (starts(10)), long_text text not null, unique (long_text(${LONG})),
				unique (a, b), key (plain))`)
			for (const key of ['plain', 'nullable', 'a', 'b']) {
				const error: unknown = await MysqlModel.open(pool, KEYS, { key }).catch((error: unknown) => error)
				assert.instance(error, TypeError)
				assert.is(
					error instanceof Error && error.message,
					`${key} can't be the key of ${KEYS}: a key must be unique on its own, and not null; it could be id or a, b or fine or starts or long_text`,
				)
			}
			for (const key of ['id', 'fine', 'starts', 'long_text'])
				assert.is((await MysqlModel.open(pool, KEYS, { key })).key.join(), key)
			await pool.query(`drop table ${KEYS}`)
		})

		test('a table can have any name', async () => {
			for (const [made, asked] of NAMES) {
				await pool.query(
					`create table \`${made}\` (\`a\`\`b.c"'\` int primary key auto_increment, \`order\` int)`,
				)
				try {
					const model = await MysqlModel.open(pool, asked)
					const [key = ''] = model.key
					assert.is(key, 'a`b.c"\'')
					const { id } = await model.create({ order: 3 }, select(key))
					const all = {
						selection: select(key, 'order'),
						where: undefined,
						limit: 1,
						offset: 0,
						after: undefined,
						total: true,
					}
					const order = [
						{ field: 'order', descending: false },
						{ field: key, descending: false },
					]
					const expected = { json: `[{"a\`b.c\\"'":1,"order":3}]`, next: undefined, total: 1 }
					assert.equal(await model.list({ ...all, order }), expected)
					assert.equal(await model.list({ ...all, order, offset: 101 }), {
						json: '[]',
						next: undefined,
						total: 1,
					})
					await model.delete(id, select('order'), { where: undefined, version: undefined })
				} finally {
					await pool.query(`drop table \`${made}\``)
				}
			}
		})

		test('pools, clusters and connections of mysql2 are accepted, with callbacks and with promises', async () => {
			const callbacks = mysqlCallbacks.createPool(MARIADB)
			const cluster = mysqlCallbacks.createPoolCluster()
			cluster.add('one', MARIADB)
			const promised = mysql.createPoolCluster()
			promised.add('one', MARIADB)
			const connection = mysqlCallbacks.createConnection(MARIADB)
			const awaited = await mysql.createConnection(MARIADB)
			const databases: [string, MysqlDatabase][] = [
				['a pool of promises', pool],
				['a pool', callbacks],
				['a pool turned to promises', callbacks.promise()],
				['a cluster', cluster],
				['a part of a cluster', cluster.of('one')],
				['a cluster of promises', promised],
				['a part of a cluster of promises', promised.of('one')],
				['a connection', connection],
				['a connection of promises', awaited],
			]
			for (const [name, database] of databases) {
				const model = await MysqlModel.open(database, 'myad_article')
				const found = await model.read('1', select('title'), undefined)
				assert.is(found?.json, '{"title":"first"}', name)
			}
			await Promise.all([connection.promise().end(), awaited.end(), promised.end()])
			await new Promise((done) => callbacks.end(done))
			await new Promise((done) => cluster.end(done))
		})

		test('a view that is not updatable is read by the key named in the options, and cannot be written', async () => {
			const model = await MysqlModel.open(pool, 'myad_view', { key: 'id' })
			assert.is(model.readOnly, true)
			const order = [
				{ field: 'title', descending: true },
				{ field: 'id', descending: true },
			]
			const query = { selection: select('title'), where: undefined, order, limit: 1, after: undefined }
			assert.equal(await model.list({ ...query, offset: 0, total: true }), {
				...{ json: '[{"title":"second"}]', next: '["second",2]', total: 2 },
			})
			assert.is((await model.list({ ...query, offset: 1, total: false })).json, '[{"title":"first"}]')
			assert.is((await model.list({ ...query, offset: 101, total: false })).json, '[]')
			try {
				await model.create({ title: 'x' }, select('title'))
				assert.unreachable()
			} catch (error) {
				assert.instance(error, TypeError)
			}
		})

		test('openAll opens every table, without views', async () => {
			const models = await MysqlModel.openAll(pool)
			assert.instance(models.myad_article, MysqlModel)
			assert.equal(models.myad_pair?.key, ['a', 'b'])
			assert.is(models.myad_view, undefined)
			assert.is(
				(await models.myad_article?.read('2', select('title'), undefined))?.json,
				'{"title":"second"}',
			)
		})

		for (const [table, options, message] of REFUSED) {
			test(`${JSON.stringify(table)} with ${JSON.stringify(options)} is refused`, () =>
				refuses(MysqlModel.open(pool, table, options), message))
		}

		test('options and drivers of the wrong type are refused', async () => {
			// TypeScript would refuse it too.
			const number = 7 as unknown as MysqlDatabase
			const empty = {} as unknown as MysqlDatabase
			const many = { bigint: 'many' } as unknown as MysqlOptions
			const key: MysqlOptions = { key: 'id' }
			await refuses(MysqlModel.openAll(pool, key), /^MysqlModel has no option key; there are views, bigint/)
			await refuses(MysqlModel.open(number, 'myad_article'), /^the database must be a pool of mysql2/)
			await refuses(MysqlModel.open(empty, 'myad_article'), /^the database must be a pool of mysql2/)
			await refuses(
				MysqlModel.open(pool, 'myad_article', many),
				/^MysqlModel: bigint must be 'number' or 'string', got "many"$/,
			)
			await refuses(
				MysqlModel.open(pool, 'myad_article', { timeoutSeconds: 0 }),
				/^MysqlModel: timeoutSeconds must be a number above 0 and at most 86400, got 0$/,
			)
		})

		test('sessions that would silently alter written values are refused', async () => {
			const latin = openPool({}, { charset: 'latin1' })
			await refuses(MysqlModel.open(latin, 'myad_article'), /^the sessions use the character set latin1/)
			await latin.end()
			for (const collation of ['utf8mb3_unicode_ci', 'latin1_swedish_ci']) {
				const converting = openPool({ collation_connection: collation })
				const message = new RegExp(`^the sessions use the character set ${collation.split('_')[0]}, which`)
				await refuses(MysqlModel.open(converting, 'myad_article'), message)
				await converting.end()
			}
			const binary = openPool({ collation_connection: 'utf8mb4_bin' })
			assert.is((await MysqlModel.open(binary, 'myad_article')).name, 'myad_article')
			await binary.end()
			const changed = openPool({}, { flags: ['-FOUND_ROWS'] })
			await refuses(MysqlModel.open(changed, 'myad_article'), /^the pool has the flag '-FOUND_ROWS'/)
			await changed.end()
			const manual = openPool({ autocommit: 'OFF' })
			await refuses(MysqlModel.open(manual, 'myad_article'), /^the sessions have autocommit off/)
			await manual.end()
			const nowhere = mysql.createPool({ ...MARIADB, database: '' })
			await refuses(
				MysqlModel.open(nowhere, 'myad_article'),
				/^the pool has no default database: include it in the table's name/,
			)
			assert.is((await MysqlModel.open(nowhere, `${MARIADB.database}.myad_article`)).key.join(), 'id')
			await nowhere.end()
		})

		test("errors while opening have the driver's message", async () => {
			const closed = mysql.createPool({ ...MARIADB, port: 1 })
			await refuses(MysqlModel.open(closed, 'myad_article'), /ECONNREFUSED/)
			await closed.end()
		})
	})
}

async function refuses(work: Promise<unknown>, message: RegExp): Promise<void> {
	try {
		await work
	} catch (error) {
		assert.match(error instanceof Error ? error.message : '', message)
		return
	}
	assert.unreachable(String(message))
}

async function clean(pool: Pool): Promise<void> {
	await pool.query('drop view if exists myad_view')
	await pool.query('drop table if exists myad_article, myad_pair, myad_types, myad_bigint')
}

if (await mariadbIsHere()) opening()
