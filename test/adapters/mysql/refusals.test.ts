/** What MariaDB refuses, as a `ModelError`: its kind, and the fields it is about. */
import type { Pool, PoolConnection } from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { MysqlModel } from '../../../lib/adapters/mysql.ts'
import type { Values } from '../../../lib/crud/model.ts'
import { ModelError, type ModelErrorKind } from '../../../lib/crud/model-error.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool, type Settings } from '../../helpers/mariadb.ts'
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

const LONG = 'for key'

/** What the server says is looked at, however long it takes for it. */
const PATIENT = { timeoutSeconds: 60 }

/** What is written, and how it is refused. */
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
	[{ extra: new RawJson('{"a":') }, 'check', ['extra']],
	[{ slug: '\ud800' }, 'invalid', ['slug']],
]

const SESSIONS: readonly (readonly [name: string, settings: Settings])[] = [
	['as the server is set', {}],
	['that are not strict', { sql_mode: '' }],
	['under ANSI', { sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES' }],
]

function refusalsIn([name, settings]: (typeof SESSIONS)[number]): void {
	describe(`refusals of MariaDB, sessions ${name}`, (test) => {
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
			const what = JSON.stringify(values)
			test(`${what} is ${kind}, in create and in update`, async () => {
				await refuses(model.create(values, select('id')), kind, fields)
				if ('id' in values) return
				await refuses(model.update('4', values, select('id'), NO_GUARD), kind, fields)
				const { json } = (await model.read('4', select('title', 'needed'), undefined)) ?? {}
				assert.is(json, '{"title":"x","needed":1}')
			})
		}

		test('a record that others refer to is not deleted, and the fields of others are not named', async () => {
			await refuses(model.delete('1', select('id'), NO_GUARD), 'foreign_key', [])
			const parent = await MysqlModel.open(pool, 'myad_parent')
			await refuses(parent.delete('1', select('id'), NO_GUARD), 'foreign_key', [])
		})

		test('a text that the character set of a field lacks is invalid in a filter', async () => {
			await refuses(model.count({ op: 'eq', field: 'latin', value: '😀' }), 'invalid', [])
		})

		test('half a surrogate pair is invalid in a filter', async () => {
			await refuses(model.count({ op: 'eq', field: 'slug', value: '\udc00' }), 'invalid', ['slug'])
		})

		test('a lock that is not had in time is busy, in a change and in a transaction', async () => {
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

		test('a deadlock is busy for one of the two, and nothing of that one is left', async () => {
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
					// Where one fails before they meet, the other would wait for it without end.
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
	await pool.query('drop table if exists myad_child')
	await pool.query('drop table if exists myad_parent')
}

if (await mariadbIsHere()) SESSIONS.forEach(refusalsIn)
