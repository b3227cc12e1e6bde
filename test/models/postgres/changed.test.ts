/** A table whose columns are dropped, renamed and altered while its model is in use. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, ModelError } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, until } from '../../helpers/listening.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'

const TABLE = `pgad_changed_${process.pid}`
const JSON_TYPE = { 'content-type': 'application/json' }

const names = await driversHere()

for (const name of suitesBy(names))
	describe(`a table altered while it is served, by ${name}`, (test) => {
		const opened = databaseLater(name, {}, { max: 4 })

		test.before.each(async () =>
			(await opened()).exec(`drop table if exists ${TABLE};
				create table ${TABLE} (id int primary key, title text, size int, v int not null default 1);
				insert into ${TABLE} values (1, 'one', 5), (2, 'two', 6)`),
		)
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(`drop table if exists ${TABLE}`)
			await close()
		})

		const served = async (options: { version?: string } = {}) => {
			const { database, exec } = await opened()
			const log = new Log()
			const asked: string[] = []
			const model = await PostgresModel.open(database, TABLE)
			const handler = new CrudHandler(model, {
				...{
					visible: 'all',
					updatable: ['title', 'size'],
					creatable: ['id', 'title', 'size'],
					searchable: ['title'],
				},
				allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
				...options,
			})
			const server = createServer({ thing: handler }, { logger: log, logRequests: false })
			const ask = async (request: string, body?: object) => {
				asked.push(request)
				const [method = '', url = ''] = request.split(' ')
				const answer = await server.inject({
					...{ method, url: `/thing${url}` },
					...(body === undefined ? {} : { headers: JSON_TYPE, body: JSON.stringify(body) }),
				})
				const { data, error } = JSON.parse(answer.body.toString())
				return `${answer.status} ${error ?? JSON.stringify(data)}`
			}
			return { ask, exec, log }
		}

		test('a dropped column is left out, and logged as one error', async () => {
			const { ask, exec, log } = await served()
			assert.is(await ask('GET /1'), '200 {"id":1,"title":"one","size":5,"v":1}')
			await exec(`alter table ${TABLE} drop column size`)
			const first = await Promise.all(['GET /1', 'GET /2', 'GET ', 'GET /1'].map((request) => ask(request)))
			for (const answer of first) assert.match(answer, /^(?:503 Service Unavailable|200 .*)$/)
			assert.is(await ask('GET /1'), '200 {"id":1,"title":"one","v":1}')
			assert.is(await ask('GET '), '200 [{"id":1,"title":"one","v":1},{"id":2,"title":"two","v":1}]')
			assert.is(await ask('PATCH /1', { title: 'new' }), '200 {"id":1,"title":"new","v":1}')
			assert.is(await ask('PUT /1', { title: 'newer' }), '200 {"id":1,"title":"newer","v":1}')
			assert.is(await ask('POST ', { id: 3, title: 'three' }), '201 {"id":3,"title":"three","v":1}')
			assert.is(await ask('DELETE /3'), '200 {"id":3,"title":"three","v":1}')
			assert.is(await ask('GET /1?fields=title'), '200 {"title":"newer"}')
			assert.is(await ask('PATCH /1', { size: 7 }), "422 size can't be stored with this value")
			assert.match(await ask('GET ?size=5'), /^400 /)
			assert.match(await ask('GET ?sort=size'), /^400 /)
			// Reads that were gathered into one statement fail with one error.
			const told = new Set(
				log.lines.map(({ fields }) => causeWith(fields.err, /no longer has size, which is left out/)),
			)
			told.delete(undefined)
			assert.is(told.size, 1)
		})

		test("a column's new type is detected, and values are validated by it", async () => {
			const { ask, exec } = await served()
			await ask('GET /1')
			await exec(`alter table ${TABLE} alter column size type date using '2026-11-20'`)
			assert.is(await ask('PATCH /1', { size: 9 }), '503 Service Unavailable')
			assert.is(await ask('PATCH /1', { size: 9 }), '422 A value cannot be stored')
			assert.is(await ask('GET /1'), '200 {"id":1,"title":"one","size":"2026-11-20","v":1}')
		})

		test('without the version column every read and write is refused', async () => {
			const { ask, exec } = await served({ version: 'v' })
			await exec(`alter table ${TABLE} drop column v`)
			await ask('GET /1')
			assert.match(await ask('GET /1'), /^500 /)
			assert.match(await ask('PATCH /1', { title: 'x' }), /^500 /)
		})

		test('an unrelated failure does not reopen the model each time', async () => {
			const { database, exec } = await opened()
			const model = await PostgresModel.open(database, TABLE)
			const selection = { fields: ['id'], names: ['id'], version: undefined }
			await exec(`create function ${TABLE}_bad() returns trigger language plpgsql as
				'begin new.title := (select nothing from ${TABLE} limit 1); return new; end';
				create trigger bad before insert on ${TABLE} for each row execute function ${TABLE}_bad()`)
			try {
				const codes = await Promise.all(
					Array.from({ length: 20 }, (_, at) =>
						model.create({ id: 10 + at }, selection).then(String, (error: { code?: string }) => error.code),
					),
				)
				assert.equal([...new Set(codes)], ['42703'])
			} finally {
				await exec(`drop table ${TABLE}; drop function ${TABLE}_bad`)
			}
		})
	})

if (names.includes('pg'))
	describe('reopening a table after a change', (test) => {
		test('is retried by the next failing statement when no connection was available', async () => {
			const pool = new pg.Pool({ ...SERVER, max: 1 })
			try {
				await pool.query(
					`drop table if exists ${TABLE}; create table ${TABLE} (id int primary key, size int)`,
				)
				const model = await PostgresModel.open(pool, TABLE, { timeoutSeconds: 1 })
				await pool.query(`alter table ${TABLE} drop column size`)
				const count = () => kindOf(model.count({ op: 'eq', field: 'size', value: 5 }))
				const refused = count()
				// It is in the queue before the model reopens the table.
				const client = await pool.connect()
				try {
					// Whichever times out first: the driver, or the model.
					assert.match(String(await refused), /^(?:busy|unavailable)$/)
				} finally {
					client.release()
				}
				const kinds: unknown[] = []
				await until(async () => {
					kinds.push(await count())
					return kinds.at(-1) === 'invalid'
				}, 'the table is looked at')
				for (const kind of kinds.slice(0, -1)) assert.is(kind, 'busy')
			} finally {
				await pool.query(`drop table if exists ${TABLE}`)
				await pool.end()
			}
		})
	})

async function kindOf(work: Promise<unknown>): Promise<unknown> {
	try {
		return await work
	} catch (error) {
		return error instanceof ModelError ? error.kind : error
	}
}

/** The error among the causes of `error` that says so. */
function causeWith(error: unknown, message: RegExp): Error | undefined {
	if (!(error instanceof Error)) return undefined
	return message.test(error.message) ? error : causeWith(error.cause, message)
}
