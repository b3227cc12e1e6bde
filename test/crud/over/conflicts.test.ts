/** Conflicts on several columns: the response names the fields that the caller may write, as one combination, and no others. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { ask } from '../../behaviour/faults/answers.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'

const TABLE = `conflicts_${process.pid}`
const COLUMNS = 'day varchar(20), room varchar(20), seat int, hidden_tenant int default 1, slug varchar(20)'
const CREATE = (id: string) => [
	`create table ${TABLE} (${id}, ${COLUMNS}, unique (day, room, seat))`,
	`create unique index ${TABLE}_slug on ${TABLE} (hidden_tenant, slug)`,
]
const PATIENT = { timeoutSeconds: 60 }

type Open = () => Promise<{ model: Model; close(): Promise<unknown> }>

const STORES: [name: string, open: Open][] = [
	[
		'MemoryModel',
		async () => {
			const text = { type: 'text', nullable: true } as const
			const fields = {
				id: 'integer',
				day: text,
				room: text,
				seat: { type: 'integer', nullable: true },
				hidden_tenant: { type: 'integer', default: 1 },
				slug: text,
			} as const
			const model = new MemoryModel('thing', {
				fields,
				key: 'id',
				unique: [
					['day', 'room', 'seat'],
					['hidden_tenant', 'slug'],
				],
			})
			return { model, close: async () => {} }
		},
	],
]
for (const { name, open } of sqliteDrivers)
	if (open !== undefined)
		STORES.push([
			`SQLite by ${name}`,
			async () => {
				const database = opened(open)
				for (const text of CREATE('id integer primary key')) database.exec(text)
				return { model: await SqliteModel.open(database, TABLE), close: async () => database.close() }
			},
		])
if ((await driversHere()).includes('pg'))
	STORES.push([
		'PostgreSQL',
		async () => {
			const pool = new pg.Pool(SERVER)
			for (const text of CREATE('id serial primary key')) await pool.query(text)
			const model = await PostgresModel.open(pool, TABLE, PATIENT)
			return { model, close: () => pool.query(`drop table ${TABLE}`).then(() => pool.end()) }
		},
	])
if (await mariadbIsHere())
	STORES.push([
		'MariaDB',
		async () => {
			const pool = openPool()
			for (const text of CREATE('id int auto_increment primary key')) await pool.query(text)
			const model = await MysqlModel.open(pool, TABLE, PATIENT)
			return { model, close: () => pool.query(`drop table ${TABLE}`).then(() => pool.end()) }
		},
	])

for (const [name, open] of STORES)
	describe(`conflicts of several columns: ${name}`, (test) => {
		test('all writable fields of a composite unique constraint are named, in creates and updates, and hidden ones are not', async () => {
			const { model, close } = await open()
			const thing = new CrudHandler(model, {
				visible: ['id', 'day', 'room', 'seat', 'slug'],
				updatable: ['day', 'room', 'seat', 'slug'],
				allow: ['create', 'update'],
			})
			try {
				await listening({ thing }, {}, async ({ url }) => {
					const site = `${url.replace(/\/$/, '')}/thing`
					const first = { day: 'mon', room: 'a', seat: 1, slug: 'x' }
					assert.is((await ask(site, 'POST', first)).status, 201)
					assert.is((await ask(site, 'POST', { ...first, seat: 2, slug: 'y' })).status, 201)
					const together = {
						success: false,
						error: 'day is taken by another record, together with room and seat',
						code: 'conflict',
						details: [
							{
								field: 'day',
								code: 'unique',
								message: 'is taken by another record, together with room and seat',
							},
							{
								field: 'room',
								code: 'unique',
								message: 'is taken by another record, together with day and seat',
							},
							{
								field: 'seat',
								code: 'unique',
								message: 'is taken by another record, together with day and room',
							},
						],
					}
					assert.equal((await ask(site, 'POST', { ...first, slug: 'z' })).body, together)
					assert.equal((await ask(`${site}/2`, 'PATCH', { seat: 1 })).body, together)
					const hidden = await ask(site, 'POST', { ...first, day: 'tue' })
					assert.equal(hidden.body.details, [
						{ field: 'slug', code: 'unique', message: 'is taken by another record' },
					])
					assert.not.match(hidden.text, /tenant/)
				})
			} finally {
				await close()
			}
		})
	})
