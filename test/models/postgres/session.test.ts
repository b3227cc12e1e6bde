/** `PostgresModel.withSession()`: row level security by role and settings. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Model } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere, SERVER, type TestDatabase } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'
import {
	ALL,
	as,
	assertClean,
	dropRolesSql,
	FREE,
	idsIn,
	NOBODY,
	notesSql,
	OWN,
	quoted,
	rolesSql,
	rowsOf,
	SELECTION,
	WEB,
} from './session-tables.ts'

const here = await driversHere()

async function kindOf(work: Promise<unknown>): Promise<unknown> {
	return work.then(
		() => 'nothing thrown',
		(error: unknown) => (error instanceof ModelError ? error.kind : error),
	)
}

function suite(name: DriverName, connections: number): void {
	describe(`sessions by ${name}`, (test) => {
		const table = `${OWN}_${name.replace(/\W/g, '').toLowerCase()}`
		const opened = databaseLater(name, {}, { max: connections })
		const open = async (): Promise<{ model: PostgresModel; db: TestDatabase }> => {
			const db = await opened()
			await db.exec(notesSql(table))
			return { model: await PostgresModel.open(db.database, table), db }
		}

		test.before(async () => (await opened()).exec(rolesSql))
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(`drop table if exists ${table}; ${dropRolesSql}`)
			await close()
		})

		test('each session sees and counts its own records, in every read', async () => {
			const { model, db } = await open()
			const [ann, bob] = ['ann', 'bob'].map((user) => model.withSession(as(user))) as [Model, Model]
			// Several times: statements are prepared when they are used again.
			for (let round = 0; round < 4; round++) {
				const pages = await Promise.all([ann.list(ALL), bob.list(ALL), model.list(ALL)])
				assert.equal(pages.map(idsIn), [
					[1, 2],
					[2, 3],
					[1, 2, 3],
				])
				assert.equal(
					pages.map(({ total }) => total),
					[2, 2, 3],
				)
				assert.equal(await Promise.all([ann.count(undefined), bob.count(undefined)]), [2, 2])
				const one = async (session: Model, id: string) =>
					(await session.read(id, SELECTION, undefined)) !== undefined
				assert.equal(
					await Promise.all([one(ann, '1'), one(bob, '1'), one(ann, '3'), one(bob, '3'), one(model, '1')]),
					[true, false, false, true, true],
				)
				const conditions = [1, 3].map((value) => ({ op: 'eq', field: 'id', value }) as const)
				const each = await bob.listEach?.({ ...ALL, total: false }, conditions)
				assert.equal(each?.map(idsIn), [[], [3]])
			}
			await assertClean(db, connections)
		})

		test('a policy refuses writes: what is not seen is missing, everything else is forbidden', async () => {
			const { model, db } = await open()
			const bob = model.withSession(as('bob'))
			assert.match((await bob.create({ id: 4, a: 4 }, SELECTION)).json, '"owner":"bob"')
			assert.is(await kindOf(bob.create({ id: 5, owner: 'ann', a: 5 }, SELECTION)), 'forbidden')
			assert.is(await kindOf(bob.update('4', { owner: 'ann' }, SELECTION, FREE)), 'forbidden')
			assert.is(await bob.update('1', { a: 9 }, SELECTION, FREE), 'missing')
			assert.is(await bob.delete('1', SELECTION, FREE), 'missing')
			// Seen, as it is public, but not bob's.
			assert.is(await kindOf(bob.update('2', { a: 9 }, SELECTION, FREE)), 'forbidden')
			assert.is(await kindOf(bob.delete('2', SELECTION, FREE)), 'forbidden')
			assert.is(typeof (await bob.update('4', { a: 8 }, SELECTION, FREE)), 'object')
			assert.is(typeof (await bob.delete('4', SELECTION, FREE)), 'object')
			assert.is(await kindOf(bob.create({ id: 6, a: 1 }, SELECTION)), 'unique')
			const nobody = model.withSession({ role: NOBODY })
			assert.is(await kindOf(nobody.list(ALL)), 'forbidden')
			assert.is(await kindOf(nobody.create({ id: 7, owner: 'x', a: 7 }, SELECTION)), 'forbidden')
			assert.equal(await rowsOf(db, `select id, owner, a from ${table} order by id`), [
				[1, 'ann', 1],
				[2, 'ann', 2],
				[3, 'bob', 3],
			])
			await assertClean(db, connections)
		})

		test('a transaction is in the session, its savepoints too, and rolls back', async () => {
			const { model, db } = await open()
			const bob = model.withSession(as('bob'))
			await bob.transaction(async (inner) => {
				assert.equal(idsIn(await inner.list(ALL)), [2, 3])
				await inner.create({ id: 4, a: 4 }, SELECTION)
				const failure = inner.transaction(async (nested) => {
					assert.equal(idsIn(await nested.list(ALL)), [2, 3, 4])
					await nested.create({ id: 5, owner: 'ann', a: 5 }, SELECTION)
				})
				assert.is(await kindOf(failure), 'forbidden')
				assert.is(await inner.update('1', { a: 9 }, SELECTION, FREE), 'missing')
				assert.equal(idsIn(await inner.list(ALL)), [2, 3, 4])
			})
			const thrown = new Error('undone')
			const work = bob.transaction(async (inner) => {
				await inner.delete('3', SELECTION, FREE)
				throw thrown
			})
			assert.is(await kindOf(work), thrown)
			assert.equal(idsIn(await bob.list(ALL)), [2, 3, 4])
			await assertClean(db, connections)
		})

		test('a session that the database refuses is an error of the program, and nothing is run', async () => {
			const { model, db } = await open()
			const refused = [
				[{ role: `${OWN}_missing` }, /the database refuses the session: role ".*" does not exist/],
				[{ settings: { no_such_setting: 'x' } }, /refuses the session: unrecognized configuration parameter/],
				[{ settings: { statement_timeout: 'soon' } }, /refuses the session: invalid value for parameter/],
				[{ settings: { max_connections: '1' } }, /refuses the session: parameter .* cannot be changed/],
			] as const
			for (const [session, message] of refused) {
				const own = model.withSession(session)
				const works = [
					() => own.list(ALL),
					() => own.read('1', SELECTION, undefined),
					() => own.create({ id: 4, owner: 'x', a: 4 }, SELECTION),
					() => own.delete('1', SELECTION, FREE),
					() => own.transaction(async () => assert.unreachable()),
				]
				for (const work of works) {
					const error = await kindOf(work())
					assert.match(String(error), message)
					assert.instance(error, TypeError)
				}
			}
			assert.equal(idsIn(await model.list(ALL)), [1, 2, 3])
			await assertClean(db, connections)
		})

		test('names with capitals and quotes are the role and the value, nothing else', async () => {
			const { model } = await open()
			const hostile = `x'; reset role; select '`
			const own = model.withSession({ role: WEB, settings: { 'app.user': hostile, 'app.b_2.c': '€"\\' } })
			assert.match((await own.create({ id: 4, a: 4 }, SELECTION)).json, hostile)
			assert.equal(idsIn(await own.list(ALL)), [2, 4])
		})

		test('reads are read only: a function that writes fails, and the connection is kept', async () => {
			const { model, db } = await open()
			await db.exec(`
				create or replace function ${table}_log() returns boolean language sql volatile
					as $$ insert into ${table} (id, owner) values (99, 'log'); select true $$;
				create policy logged on ${table} as restrictive for select using (${table}_log());`)
			try {
				const error = await kindOf(model.withSession(as('ann')).list(ALL))
				if (name === 'pg') {
					assert.instance(error, Error)
					assert.match(String(error), 'cannot execute INSERT in a read-only transaction')
				} else assert.is(error, 'unavailable')
			} finally {
				await db.exec(`drop policy logged on ${table}; drop function ${table}_log()`)
			}
			assert.equal(idsIn(await model.withSession(as('ann')).list(ALL)), [1, 2])
			await assertClean(db, connections)
		})

		test('equal sessions are one model, whose reads are gathered; others never are', async () => {
			const { model } = await open()
			const one = model.withSession({ settings: { 'app.user': 'ann', 'app.x': '1' }, role: WEB })
			assert.is(one, model.withSession({ role: WEB, settings: { 'app.x': '1', 'app.user': 'ann' } }))
			assert.is.not(one, model.withSession({ role: WEB, settings: { 'app.x': '2', 'app.user': 'ann' } }))
			assert.is(model.withSession({}), model)
			const users = Array.from({ length: 60 }, (_, at) => ['ann', 'bob', 'eve'][at % 3] ?? '')
			const found = await Promise.all(
				users.map((user) => model.withSession(as(user)).read('3', SELECTION, undefined)),
			)
			for (const [at, one] of found.entries()) assert.is(one !== undefined, users[at] === 'bob')
		})

		test('thousands of sessions are not all kept', async () => {
			const { model } = await open()
			const first = model.withSession(as('first'))
			const claims = 'x'.repeat(1_000)
			for (let at = 0; at < 2_000; at++) model.withSession(as(`${at} ${claims}`))
			assert.is.not(model.withSession(as('first')), first)
			assert.equal(idsIn(await first.list(ALL)), [2])
		})

		test('a table that was altered is read again', async () => {
			const { model, db } = await open()
			const ann = model.withSession(as('ann'))
			for (let round = 0; round < 3; round++) await ann.list(ALL)
			await db.exec(`alter table ${table} alter column a type bigint`)
			for (let round = 0; round < 3; round++) {
				const ids = await ann.list(ALL).then(idsIn, (error) => (error as ModelError).kind)
				assert.ok(ids === 'busy' || String(ids) === '1,2', String(ids))
			}
			assert.equal(idsIn(await ann.list(ALL)), [1, 2])
		})
	})
}

describe('what a session may have', (test) => {
	test('anything that could widen it is refused', async () => {
		const model = Object.create(PostgresModel.prototype, { name: { value: 'note' } }) as PostgresModel
		const refused: readonly (readonly [unknown, string])[] = [
			[undefined, 'note: withSession(): a session must be an object'],
			[null, 'note: withSession(): a session must be an object'],
			['web_user', 'note: withSession(): a session must be an object'],
			[['web_user'], 'note: withSession(): a session must be an object'],
			[new Map([['role', 'x']]), 'note: withSession(): a session must be an object'],
			[Promise.resolve({}), 'note: withSession(): a session must be an object'],
			[{ rol: 'x' }, 'note: withSession().rol is not part of a session: did you mean role?'],
			[{ role: undefined }, 'note: withSession().role must be the name of a role, got undefined'],
			[{ role: null }, 'note: withSession().role must be the name of a role, got null'],
			[{ role: '' }, 'note: withSession().role must be the name of a role, got an empty text'],
			[{ role: 5 }, 'note: withSession().role must be the name of a role, got number'],
			[
				{ role: 'a\0b' },
				'note: withSession().role must be the name of a role, got a text with a null character',
			],
			[{ role: 'none' }, `note: withSession().role can't be none, which would give up the role`],
			[{ settings: undefined }, 'note: withSession().settings must be an object of texts, got undefined'],
			[{ settings: [] }, 'note: withSession().settings must be an object of texts, got a list'],
			[{ settings: { 'app.user': undefined } }, 'settings: app.user must be a text, got undefined'],
			[{ settings: { 'app.user': null } }, 'settings: app.user must be a text, got null'],
			[{ settings: { 'app.user': 7 } }, 'settings: app.user must be a text, got number'],
			[
				{ settings: { 'app.user': 'a\0' } },
				'settings: app.user must be a text, got a text with a null character',
			],
			[{ settings: { 'App.user': 'x' } }, 'settings: "App.user" is not a setting: names have small letters'],
			[{ settings: { 'a b': 'x' } }, 'settings: "a b" is not a setting'],
			[{ settings: { "a'": 'x' } }, `settings: "a'" is not a setting`],
			[{ settings: { '': 'x' } }, 'settings: "" is not a setting'],
			[{ settings: { role: 'x' } }, `settings: role can't be set here`],
			[{ settings: { session_authorization: 'x' } }, `settings: session_authorization can't be set here`],
			[{ settings: { transaction_read_only: 'off' } }, `settings: transaction_read_only can't be set here`],
		]
		for (const [session, message] of refused) {
			try {
				model.withSession(session as never)
				assert.unreachable(message)
			} catch (error) {
				assert.instance(error, TypeError)
				assert.match(String(error), message)
			}
		}
	})
})

for (const name of suitesBy(here)) suite(name, name === 'PGlite' ? 1 : 2)

if (here.includes('pg'))
	describe('sessions by pg: connections', (test) => {
		const table = `${OWN}_connections`
		const opened = databaseLater('pg', {}, { max: 1 })

		test.before(async () => (await opened()).exec(`${rolesSql} ${notesSql(table)}`))
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(`drop table ${table}; ${dropRolesSql}`)
			await close()
		})

		test('a statement in a session is one round trip', async () => {
			const { database } = await opened()
			const model = await PostgresModel.open(database, table)
			const ann = model.withSession(as('ann'))
			const works = [
				() => ann.list(ALL),
				() => ann.read('1', SELECTION, undefined),
				() => ann.create({ id: 9, a: 9 }, SELECTION),
				() => ann.update('9', { a: 8 }, SELECTION, FREE),
				() => ann.delete('9', SELECTION, FREE),
			]
			const client = await (database as pg.Pool).connect()
			const { connection } = client as unknown as { connection: { sync(): void } }
			const sync = connection.sync.bind(connection)
			let syncs = 0
			connection.sync = () => {
				syncs++
				sync()
			}
			client.release()
			for (let round = 0; round < 3; round++) for (const work of works) await work()
			assert.is(syncs, 3 * works.length)
		})

		test('after errors the connection is the same one', async () => {
			const db = await opened()
			const model = await PostgresModel.open(db.database, table)
			const before = await rowsOf(db, 'select pg_backend_pid()')
			const ann = model.withSession(as('ann'))
			assert.is(await kindOf(ann.create({ id: 1, a: 90 }, SELECTION)), 'unique')
			assert.is(await kindOf(ann.create({ id: 90, owner: 'bob', a: 90 }, SELECTION)), 'forbidden')
			assert.instance(await kindOf(model.withSession({ role: `${OWN}_missing` }).list(ALL)), TypeError)
			assert.equal(await rowsOf(db, 'select pg_backend_pid()'), before)
			await assertClean(db, 1)
		})

		test('a session that lacks its own role is refused, and not run as another one', async () => {
			const { exec } = await opened()
			const login = `${OWN}_login`
			await exec(`create role ${login} login; grant select on ${table} to ${login}`)
			const own = new pg.Pool({ ...SERVER, user: login, max: 1 })
			try {
				const model = await PostgresModel.open(own, table)
				const refused = await kindOf(model.withSession(as('ann')).list(ALL))
				assert.match(String(refused), /the database refuses the session: permission denied to set role/)
				await exec(`grant ${quoted(WEB)} to ${login}`)
				assert.equal(idsIn(await model.withSession(as('ann')).list(ALL)), [1, 2])
			} finally {
				await own.end()
				await exec(`drop owned by ${login}; drop role ${login}`)
			}
		})

		test('clients that write no messages of ours run a transaction', async () => {
			const { exec } = await opened()
			await exec(notesSql(table))
			const own = new pg.Pool({ ...SERVER, max: 2, pipeline: true } as pg.PoolConfig)
			try {
				const model = await PostgresModel.open(own, table)
				const [ann, bob] = ['ann', 'bob'].map((user) => model.withSession(as(user))) as [Model, Model]
				for (let round = 0; round < 3; round++) {
					const pages = await Promise.all([ann.list(ALL), bob.list(ALL), model.list(ALL)])
					assert.equal(pages.map(idsIn), [
						[1, 2],
						[2, 3],
						[1, 2, 3],
					])
				}
				assert.is(await kindOf(bob.update('2', { a: 9 }, SELECTION, FREE)), 'forbidden')
				const missing = model.withSession({ role: `${OWN}_missing` })
				assert.match(String(await kindOf(missing.list(ALL))), 'TypeError: the database refuses the session')
				const db: TestDatabase = { name: 'pg', database: own, exec, close: () => own.end() }
				await assertClean(db, 2)
			} finally {
				await own.end()
			}
		})

		test('a lost connection: a read is unavailable, a write may have been made', async () => {
			const { exec } = await opened()
			const own = new pg.Pool({ ...SERVER, max: 1 })
			own.on('error', () => {})
			try {
				const model = await PostgresModel.open(own, table)
				await exec(`create or replace function ${table}_end() returns boolean language sql volatile
					as $$ select pg_terminate_backend(pg_backend_pid()) $$;
					create or replace view ${table}_view as select id, owner, a from ${table} where ${table}_end();`)
				const view = await PostgresModel.open(own, `${table}_view`, { key: 'id' })
				assert.is(
					await kindOf(view.withSession({ settings: { 'app.user': 'ann' } }).list(ALL)),
					'unavailable',
				)
				assert.equal(idsIn(await model.withSession(as('bob')).list(ALL)), [2, 3])
			} finally {
				await own.end()
				await exec(`drop view if exists ${table}_view; drop function if exists ${table}_end()`)
			}
		})
	})
