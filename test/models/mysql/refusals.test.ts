/** Constraint violations and errors of MariaDB as a `ModelError`: its kind, and its fields. */
import { inspect } from 'node:util'
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import type { Values } from '../../../lib/models/model.ts'
import { ModelError, type ModelErrorKind } from '../../../lib/models/model-error.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool, type Settings } from '../../helpers/mariadb.ts'
import { NO_GUARD, select } from './types.ts'

const PARENT = 'create table myad_parent (id int primary key)'
const CHILD = `create table myad_child (
	id int primary key auto_increment,
	title varchar(5) not null default 'x',
	first varchar(100), last varchar(100),
	slug varchar(100) unique,
	parent int,
	own int,
	age tinyint check (age > 0),
	low int, high int,
	price decimal(4,2),
	kind enum('a','b'),
	day date,
	at datetime,
	n int unsigned,
	extra json,
	latin varchar(10) character set latin1,
	needed int not null default 1,
	clock time,
	unique \`by name's\` (first, last),
	constraint range_ok check (low <= high),
	constraint \`to\`\`parent\` foreign key (parent) references myad_parent (id),
	constraint to_self foreign key (own) references myad_child (id)
)`

const RAISING = 'myad_raising'

const NO_POINTS = [
	...[
		'nonsense',
		'',
		'POINT',
		'POINT(1)',
		'POINT(1 2',
		'POINT(1 2))',
		'POINT(1e400 2)',
		'POINT(NaN 1)',
		'POINT(1 2 3)',
	],
	...[
		'point(1 2)junk',
		'POINT(1 2),POINT(1 1)',
		'POINT(1 2)(3 4)',
		'POINT(1a 2)',
		'LINESTRING(0 0,1 1)',
		'()',
		'1 2',
		'(1 2)',
		'EMPTY',
		'POINT(1 2)EMPTY',
		`POINT(${'1'.repeat(200_000)}x 1)`,
	],
]

const SHAPES = [
	'POINT(1 2)',
	'LINESTRING(0 0,1.5 1)',
	'POLYGON((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))',
	IS_MYSQL ? 'MULTIPOINT((0 0),(1 1))' : 'MULTIPOINT(0 0,1 1)',
	'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))',
	'GEOMETRYCOLLECTION EMPTY',
]

const LONG = 'for key'

/** Long timeout: the server's own errors are tested, however slow it is. */
const PATIENT = { timeoutSeconds: 60 }

/** A write, and its refusal. */
const REFUSED: readonly (readonly [values: Values, kind: ModelErrorKind, fields: readonly string[]])[] = [
	[{ id: 1 }, 'unique', ['id']],
	[{ slug: 'taken' }, 'unique', ['slug']],
	[{ slug: "x' for key 'PRIMARY" }, 'unique', ['slug']],
	[{ first: 'a', last: 'b' }, 'unique', ['first', 'last']],
	[{ first: `' ${LONG} 'slug`, last: "'" }, 'unique', ['first', 'last']],
	[{ parent: 9 }, 'foreign_key', ['parent']],
	[{ own: 900_000 }, 'foreign_key', ['own']],
	[{ title: null }, 'not_null', ['title']],
	[{ needed: null }, 'not_null', ['needed']],
	[{ age: -1 }, 'check', ['age']],
	[{ low: 2, high: 1 }, 'check', ['low', 'high']],
	[{ title: 'too long' }, 'invalid', ['title']],
	[{ age: 128 }, 'invalid', ['age']],
	[{ n: -1 }, 'invalid', ['n']],
	[{ price: '123.45' }, 'invalid', ['price']],
	[{ kind: 'c' }, 'invalid', ['kind']],
	[{ day: '2026-02-30' }, 'invalid', ['day']],
	[{ day: "for column `x`.`y`.`title` at row 1'" }, 'invalid', ['day']],
	[{ clock: '99:99:99' }, 'invalid', ['clock']],
	[{ latin: '😀' }, 'invalid', ['latin']],
	// In MariaDB, a check of the column.
	[{ extra: new RawJson('{"a":') }, IS_MYSQL ? 'invalid' : 'check', ['extra']],
	[{ slug: '\ud800' }, 'invalid', ['slug']],
]

const SESSIONS: readonly (readonly [name: string, settings: Settings])[] = [
	['as the server is set', {}],
	['that are not strict', { sql_mode: '' }],
	['under ANSI', { sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES' }],
]

function refusalsIn([name, settings]: (typeof SESSIONS)[number]): void {
	describe(`constraints of MariaDB, sessions ${name}`, (test) => {
		const pool: Pool = openPool(settings)
		let model: MysqlModel

		test.before(async () => {
			await clean(pool)
			await pool.query(PARENT)
			await pool.query(CHILD)
			await pool.query('insert into myad_parent values (1)')
			model = await MysqlModel.open(pool, 'myad_child', PATIENT)
			const first = { id: 1, slug: 'taken', first: 'a', last: 'b', parent: 1 }
			await model.create(first, select('id'))
			await model.create({ id: 2, slug: "x' for key 'PRIMARY", own: 1 }, select('id'))
			await model.create({ id: 3, first: `' ${LONG} 'slug`, last: "'" }, select('id'))
			await model.create({ id: 4 }, select('id'))
		})
		test.after(async () => {
			await clean(pool)
			await pool.end()
		})

		for (const [values, kind, fields] of REFUSED) {
			const what = inspect(values, { breakLength: Infinity })
			test(`${what} is ${kind}, in create and in update`, async () => {
				await refuses(model.create(values, select('id')), kind, fields)
				if ('id' in values) return
				await refuses(model.update('4', values, select('id'), NO_GUARD), kind, fields)
				const { json } = (await model.read('4', select('title', 'needed'), undefined)) ?? {}
				assert.is(json, '{"title":"x","needed":1}')
			})
		}

		test('a referenced record is not deleted, and no field of the referencing table is named', async () => {
			await refuses(model.delete('1', select('id'), NO_GUARD), 'foreign_key', [])
			const parent = await MysqlModel.open(pool, 'myad_parent')
			await refuses(parent.delete('1', select('id'), NO_GUARD), 'foreign_key', [])
		})

		test('an error raised by a trigger is refused with its SQLSTATE and text; a known error number keeps its meaning', async () => {
			await pool.query(`create table ${RAISING} (id int primary key auto_increment, word varchar(50))`)
			await pool.query(`create trigger ${RAISING}_out before insert on ${RAISING} for each row case new.word
				when 'plain' then signal sqlstate '45000' set message_text = 'only 9 are left';
				when 'own' then signal sqlstate 'AB123' set message_text = 'mine', mysql_errno = 31001;
				when 'standard' then signal sqlstate '23000' set message_text = 'no';
				when 'known' then signal sqlstate '23000' set message_text = 'taken', mysql_errno = 1062;
				else set new.word = new.word; end case`)
			const raising = await MysqlModel.open(pool, RAISING, PATIENT)
			const told: unknown[] = []
			for (const word of ['plain', 'own', 'standard', 'known', 'fine']) {
				const error: unknown = await raising.create({ word }, select('id')).catch((error: unknown) => error)
				told.push(error instanceof ModelError ? [error.kind, error.raised] : 'stored')
			}
			assert.equal(told, [
				['refused', { code: '45000', message: 'only 9 are left' }],
				['refused', { code: 'AB123', message: 'mine' }],
				['refused', { code: '23000', message: 'no' }],
				['unique', undefined],
				'stored',
			])
			await pool.query(`drop table ${RAISING}`)
		})

		test('a missing privilege is forbidden: on the table, on a column, on what a trigger calls', async () => {
			const user = `myad_refused_${process.pid}`
			await pool.query(`create table ${RAISING} (id int primary key auto_increment, a int, b int)`)
			await pool.query(`create function ${RAISING}_one() returns int deterministic return 1`)
			await pool.query(`create user ${user}`)
			const one = openPool(settings, { user })
			try {
				await pool.query(`grant select, insert, update (a) on ${RAISING} to ${user}`)
				const limited = await MysqlModel.open(one, RAISING, PATIENT)
				const { id } = await limited.create({ a: 1 }, select('id'))
				await refuses(limited.update(id, { b: 1 }, select('id'), NO_GUARD), 'forbidden', [])
				await refuses(limited.delete(id, select('id'), NO_GUARD), 'forbidden', [])
				await pool.query(
					`create definer = ${user} trigger ${RAISING}_calls before insert on ${RAISING} for each row set new.b = ${RAISING}_one()`,
				)
				await pool.query(`grant trigger, update on ${RAISING} to ${user}`)
				await refuses(limited.create({ a: 1 }, select('id')), 'forbidden', [])
			} finally {
				await one.end()
				await pool.query(`drop table ${RAISING}`)
				await pool.query(`drop function ${RAISING}_one`)
				await pool.query(`drop user ${user}`)
			}
		})

		test('malformed and multiple geometries are invalid, never stored as another value; null is null', async () => {
			await pool.query(`create table ${RAISING} (id int primary key auto_increment, p point, g geometry)`)
			const shapes = await MysqlModel.open(pool, RAISING, PATIENT)
			try {
				for (const p of NO_POINTS) assert.is(await kindOf(shapes.create({ p }, select('id'))), 'invalid', p)
				for (const g of ['POINT(1 2', 'POLYGON((0 0,1 1))', 'xx'])
					assert.is(await kindOf(shapes.create({ g }, select('id'))), 'invalid', g)
				const { id } = await shapes.create({ p: 'point(-1.5e1 0.5)', g: null }, select('id'))
				assert.is(
					(await shapes.read(id, select('p', 'g'), undefined))?.json,
					'{"p":"POINT(-15 0.5)","g":null}',
				)
				for (const g of SHAPES) {
					const found = await shapes.update(id, { g }, select('g'), NO_GUARD)
					assert.equal(typeof found === 'object' && JSON.parse(found.json), { g })
				}
				for (const [op, value, found] of [
					['contains', '(-15 0.', 1],
					['startsWith', 'POINT(', 1],
					['endsWith', '5)', 1],
					['contains', 'nonsense', 0],
				] as const)
					assert.is(await shapes.count({ op, field: 'p', value }), found, value)
				for (const [op, value] of [
					['startsWith', 'point('],
					['eq', 'point(-15 0.5)'],
				] as const)
					assert.is(await shapes.count({ op, field: 'p', value, ignoreCase: true }), 1, value)
				await shapes.update(id, { p: null }, select('p'), NO_GUARD)
				assert.is((await shapes.read(id, select('p'), undefined))?.json, '{"p":null}')
				assert.is(await shapes.count(undefined), 1)
			} finally {
				await pool.query(`drop table ${RAISING}`)
			}
		})

		if (IS_MYSQL)
			test('geometries have the reference system of their column, and are within it; a vector has its size', async () => {
				await pool.query(
					`create table ${RAISING} (id int primary key auto_increment, p point srid 4326, v vector(2))`,
				)
				const placed = await MysqlModel.open(pool, RAISING, PATIENT)
				try {
					for (const p of ['POINT(91 2)', 'POINT(1 181)'])
						await refuses(placed.create({ p }, select('id')), 'invalid', [])
					const v = Buffer.from('abc')
					await refuses(placed.create({ v }, select('id')), 'invalid', [])
					const { json } = await placed.create(
						{ p: 'POINT(52.5 13.4)', v: Buffer.alloc(8) },
						select('p', 'v'),
					)
					assert.is(json, '{"p":"POINT(52.5 13.4)","v":"AAAAAAAAAAA="}')
					assert.is(await placed.count({ op: 'eq', field: 'p', value: 'POINT(52.5 13.4)' }), 1)
				} finally {
					await pool.query(`drop table ${RAISING}`)
				}
			})

		test('a record that no partition takes is invalid', async () => {
			await pool.query(`create table ${RAISING} (id int primary key, n int)
				partition by range (id) (partition p values less than (10))`)
			try {
				const parts = await MysqlModel.open(pool, RAISING, PATIENT)
				await refuses(parts.create({ id: 20 }, select('id')), 'invalid', [])
			} finally {
				await pool.query(`drop table ${RAISING}`)
			}
		})

		if (IS_MYSQL)
			test('a value that an index on an expression refuses is invalid; a geometry that is null is named', async () => {
				await pool.query(`create table ${RAISING} (id int primary key auto_increment, t varchar(20), extra json,
					p point not null, key ((cast(t as char(5)))), key ((cast(extra->'$.tags' as unsigned array))))`)
				try {
					const model = await MysqlModel.open(pool, RAISING, PATIENT)
					const p = 'POINT(1 2)'
					await refuses(model.create({ p, t: 'too long' }, select('id')), 'invalid', [])
					for (const tags of ['"a"', '-1', '1e30', '[1]', '{}']) {
						const extra = new RawJson(`{"tags":[${tags}]}`)
						await refuses(model.create({ p, extra }, select('id')), 'invalid', [])
					}
					await refuses(model.create({ p: null }, select('id')), 'not_null', ['p'])
				} finally {
					await pool.query(`drop table ${RAISING}`)
				}
			})

		test('a record larger than max_allowed_packet is invalid', async () => {
			await pool.query(`create table ${RAISING} (id int primary key auto_increment, b longblob)`)
			const blobs = await MysqlModel.open(pool, RAISING, PATIENT)
			try {
				const [[row]] = await pool.query<RowDataPacket[]>('select @@max_allowed_packet as most')
				const large = (beyond: number) => ({ b: Buffer.alloc(Number(row?.most) + beyond) })
				for (const beyond of [0, 1_000, 50_000_000])
					await refuses(blobs.create(large(beyond), select('id')), 'invalid', [])
				await refuses(
					blobs.transaction((inner) => inner.create(large(0), select('id'))),
					'invalid',
					[],
				)
				assert.is(await blobs.count(undefined), 0)
			} finally {
				await pool.query(`drop table ${RAISING}`)
			}
		})

		test('a lone surrogate is invalid in a filter', async () => {
			await refuses(model.count({ op: 'eq', field: 'slug', value: '\udc00' }), 'invalid', ['slug'])
		})

		test('a lock timeout is busy, in a single write and in a transaction', async () => {
			const impatient = openPool({ ...settings, innodb_lock_wait_timeout: 1 })
			const waiting = await MysqlModel.open(impatient, 'myad_child', PATIENT)
			await locking(pool, async () => {
				await refuses(waiting.update('2', { title: 'y' }, select('id'), NO_GUARD), 'busy', [])
				const within = waiting.transaction(async (inner) => {
					await inner.update('3', { title: 'gone' }, select('id'), NO_GUARD)
					await inner.update('2', { title: 'y' }, select('id'), NO_GUARD).catch(() => {})
					return 'all is well'
				})
				await refuses(within, 'busy', [])
			})
			assert.is((await model.read('3', select('title'), undefined))?.json, '{"title":"x"}')
			await impatient.end()
		})

		test('a deadlock is busy for one of the two, which is rolled back', async () => {
			const turns = [
				['2', '3'],
				['3', '2'],
			]
			let ready = 0
			let meet = (): void => {}
			const met = new Promise<void>((resolve) => {
				meet = resolve
			})
			const both = turns.map(async (ids, at) => {
				try {
					await model.transaction(async (inner) => {
						for (const id of ids) {
							await inner.update(id, { title: `t${at}` }, select('id'), NO_GUARD)
							if (++ready === 2) meet()
							await met
						}
					})
				} finally {
					// If one failed before they meet, the other would wait for ever.
					meet()
				}
			})
			const results = await Promise.allSettled(both)
			const lost = results.filter((result) => result.status === 'rejected')
			assert.is(lost.length, 1)
			const [{ reason } = { reason: undefined }] = lost
			assert.is(reason instanceof ModelError && reason.kind, 'busy')
			const winner = results.findIndex(({ status }) => status === 'fulfilled')
			for (const id of ['2', '3']) {
				assert.is((await model.read(id, select('title'), undefined))?.json, `{"title":"t${winner}"}`)
			}
		})
	})
}

async function kindOf(work: Promise<unknown>): Promise<string> {
	const error: unknown = await work.catch((error: unknown) => error)
	return error instanceof ModelError ? error.kind : String(error)
}

async function refuses(
	work: Promise<unknown>,
	kind: ModelErrorKind,
	fields: readonly string[],
): Promise<void> {
	try {
		await work
	} catch (error) {
		if (!(error instanceof ModelError)) throw error
		assert.equal([error.kind, error.fields], [kind, fields], String(error.cause))
		return
	}
	assert.unreachable(`should be ${kind}`)
}

/** Holds the lock of a record during `work`. */
async function locking(pool: Pool, work: () => Promise<void>): Promise<void> {
	const connection: PoolConnection = await pool.getConnection()
	try {
		await connection.query('start transaction')
		await connection.query('select * from myad_child where id = 2 for update')
		await work()
	} finally {
		await connection.query('rollback')
		connection.release()
	}
}

async function clean(pool: Pool): Promise<void> {
	await pool.query(`drop table if exists ${RAISING}`)
	await pool.query('drop table if exists myad_child')
	await pool.query('drop table if exists myad_parent')
}

if (await mariadbIsHere()) SESSIONS.forEach(refusalsIn)
