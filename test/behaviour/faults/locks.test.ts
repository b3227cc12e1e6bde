/** Concurrent changes to the same records, with two real transactions; and database users without privileges. */
import mysql from 'mysql2/promise'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { MARIADB, mariadbIsHere } from '../../helpers/mariadb.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { ask, assertTellsNothing, assertUnavailable } from './answers.ts'

/** The settings of a session, in the SQL of either database. */
interface Settings {
	readonly postgres: string
	readonly mariadb: string
}

/** Another client's connection, which runs its statements one after the other. */
interface Other {
	exec(text: string): Promise<unknown>
	/** How many statements wait for a lock of the table; asked over a separate connection. */
	waiting(): Promise<number>
	end(): Promise<unknown>
}

interface Case {
	readonly name: string
	readonly serializes: boolean
	setup(): Promise<void>
	teardown(): Promise<void>
	other(): Promise<Other>
	open(settings: Settings, user?: string): Promise<{ model: Model; close(): Promise<unknown> }>
}

const TABLE = `faults_locks_${process.pid}`
const READER = `faults_reader_${process.pid}`
/** Long timeout: the database's own errors are tested, however slow it is. */
const PATIENT = { timeoutSeconds: 60 }
const NOTHING: Settings = { postgres: '', mariadb: '' }

const POSTGRES: Case = {
	name: 'PostgreSQL',
	serializes: true,
	async setup() {
		await runPostgres(
			`create table ${TABLE} (id serial primary key, title text not null)`,
			`insert into ${TABLE} (title) values ('first'), ('second')`,
			`create role ${READER} login`,
			`grant select on ${TABLE} to ${READER}`,
		)
	},
	teardown: () => runPostgres(`drop table ${TABLE}`, `drop role ${READER}`),
	async other() {
		const client = new pg.Client(SERVER)
		await client.connect()
		// The victim of a deadlock is the one that detects it first.
		await client.query("set deadlock_timeout = '600s'")
		const looking = new pg.Pool({ ...SERVER, max: 1 })
		const waiting = async () => {
			const { rows } = await looking.query(
				`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${TABLE}%'`,
			)
			return rows.length
		}
		return {
			exec: (text) => client.query(text),
			waiting,
			end: () => Promise.all([client.end(), looking.end()]),
		}
	},
	async open({ postgres: options }, user = SERVER.user) {
		const pool = new pg.Pool({ ...SERVER, user, max: 2, options })
		return { model: await PostgresModel.open(pool, TABLE, PATIENT), close: () => pool.end() }
	},
}

const MARIA: Case = {
	name: 'MariaDB',
	serializes: false,
	async setup() {
		await runMariadb(
			`create table ${TABLE} (id int auto_increment primary key, title varchar(20) not null)`,
			`insert into ${TABLE} (title) values ('first'), ('second')`,
			`create user ${READER}`,
			`grant select on ${MARIADB.database}.${TABLE} to ${READER}`,
		)
	},
	teardown: () => runMariadb(`drop table ${TABLE}`, `drop user ${READER}`),
	async other() {
		const connection = await mysql.createConnection(MARIADB)
		const looking = await mysql.createConnection(MARIADB)
		const waiting = async () => {
			// This view is refreshed only after 100 ms without a query: polling it more often would never
			// show later locks.
			await new Promise((resolve) => setTimeout(resolve, 150))
			const [rows] = await looking.query<mysql.RowDataPacket[]>(
				`select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT' and trx_query like '%${TABLE}%'`,
			)
			return rows.length
		}
		return {
			exec: (text) => connection.query(text),
			waiting,
			end: () => Promise.all([connection.end(), looking.end()]),
		}
	},
	async open({ mariadb }, user = MARIADB.user) {
		const pool = mysql.createPool({ ...MARIADB, user, connectionLimit: 2 })
		pool.pool.on('connection', (connection) => {
			if (mariadb !== '') connection.query(mariadb)
		})
		return { model: await MysqlModel.open(pool, TABLE, PATIENT), close: () => pool.end() }
	},
}

async function runPostgres(...texts: readonly string[]): Promise<void> {
	const client = new pg.Client(SERVER)
	await client.connect()
	for (const text of texts) await client.query(text)
	await client.end()
}

async function runMariadb(...texts: readonly string[]): Promise<void> {
	const connection = await mysql.createConnection(MARIADB)
	for (const text of texts) await connection.query(text)
	await connection.end()
}

const SELECTION = { fields: ['id', 'title'], names: ['id', 'title'], version: undefined }
const UNGUARDED = { where: undefined, version: undefined }

/** Changes two records in one transaction, and lets others in before the second: pauses until it is resumed. */
class Slow extends CrudHandler {
	readonly held: (() => void)[] = []

	override update(id: string, values: Readonly<Record<string, unknown>>) {
		const title = String(values.title)
		return this.model.transaction(async (model) => {
			await model.read('1', SELECTION, undefined)
			if (id === '2') await model.update('2', { title }, SELECTION, UNGUARDED)
			await new Promise<void>((resolve) => {
				this.held.push(resolve)
			})
			await model.update('1', { title }, SELECTION, UNGUARDED)
			return { id: Number(id), title }
		})
	}
}

const OPTIONS = {
	visible: ['id', 'title'],
	updatable: ['title'],
	allow: ['list', 'read', 'create', 'update', 'remove'],
} as const

function locks(one: Case): void {
	describe(`conflicts with other clients of ${one.name}`, (test) => {
		test.before(() => one.setup())
		test.after(() => one.teardown())

		const serving = async (
			settings: Settings,
			use: (site: string, other: Other, slow: Slow) => Promise<void>,
			user?: string,
		) => {
			const { model, close } = await one.open(settings, user)
			const other = await one.other()
			const slow = new Slow(model, OPTIONS)
			const handlers = { article: new CrudHandler(model, OPTIONS), slow }
			try {
				await listening(handlers, {}, ({ url }) => use(url.replace(/\/$/, ''), other, slow))
			} finally {
				// After a failure these still hold connections and locks of the table, and the cleanup below would hang.
				for (const go of slow.held) go()
				await other.end()
				await close()
			}
		}

		test('a deadlock is answered 503 with Retry-After: 1, and the write is rolled back', () =>
			serving(NOTHING, async (site, other, slow) => {
				await other.exec('begin')
				// The transaction with more changes survives, where there is a choice.
				for (let count = 0; count < 20; count++)
					await other.exec(`insert into ${TABLE} (title) values ('deadlock')`)
				await other.exec(`update ${TABLE} set title = 'other' where id = 1`)
				const change = ask(`${site}/slow/2`, 'PATCH', { title: 'ours' })
				await until(() => slow.held.length > 0, 'the first change')
				const theirs = other.exec(`update ${TABLE} set title = 'other' where id = 2`)
				// If the test fails before awaiting it, its rejection must not be unhandled, which would end all tests.
				theirs.catch(() => {})
				await until(async () => (await other.waiting()) === 1, 'the other waits')
				slow.held[0]?.()
				const answer = await change
				await theirs
				assertUnavailable(answer, /^unavailable$/)
				assert.is(answer.headers.get('retry-after'), '1')
				await other.exec('rollback')
				assert.equal((await ask(`${site}/article`)).body.data, [
					{ id: 1, title: 'first' },
					{ id: 2, title: 'second' },
				])
			}))

		test('a lock timeout is answered 503 with Retry-After: 1', () =>
			serving(
				{
					postgres: '-c lock_timeout=200',
					mariadb: 'set session innodb_lock_wait_timeout = 1',
				},
				async (site, other) => {
					await other.exec('begin')
					await other.exec(`update ${TABLE} set title = 'other' where id = 1`)
					const answers = await Promise.all([
						ask(`${site}/article/1`, 'PATCH', { title: 'ours' }),
						ask(`${site}/article/1`, 'DELETE'),
					])
					for (const answer of answers) {
						assertUnavailable(answer, /^unavailable$/)
						assert.is(answer.headers.get('retry-after'), '1')
					}
					// Reads wait for no lock.
					assert.equal((await ask(`${site}/article/1`)).body.data, { id: 1, title: 'first' })
					await other.exec('rollback')
				},
			))

		if (one.serializes)
			test('a serialization failure is answered 503 with Retry-After: 1', () =>
				serving(
					{ ...NOTHING, postgres: '-c default_transaction_isolation=serializable' },
					async (site, other, slow) => {
						const change = ask(`${site}/slow/1`, 'PATCH', { title: 'ours' })
						await until(() => slow.held.length > 0, 'what it has read')
						await other.exec(`update ${TABLE} set title = 'other' where id = 1`)
						slow.held[0]?.()
						const answer = await change
						await other.exec(`update ${TABLE} set title = 'first' where id = 1`)
						assertUnavailable(answer, /^unavailable$/)
						assert.is(answer.headers.get('retry-after'), '1')
					},
				))

		test('for a read-only database user reads succeed, and writes are 403 without the reason', () =>
			serving(
				NOTHING,
				async (site) => {
					assert.is((await ask(`${site}/article/1`)).status, 200)
					const answers = [
						await ask(`${site}/article`, 'POST', { title: 'x' }),
						await ask(`${site}/article/1`, 'PATCH', { title: 'x' }),
						await ask(`${site}/article/1`, 'DELETE'),
					]
					for (const answer of answers) {
						assert.is(answer.status, 403, answer.text)
						assert.is(answer.body.code, 'forbidden')
						assertTellsNothing(answer)
					}
				},
				READER,
			))
	})
}

const [isPostgresHere, isMariadbHere] = [(await driversHere()).includes('pg'), await mariadbIsHere()]

if (isPostgresHere) locks(POSTGRES)
if (isMariadbHere) locks(MARIA)
