/** A column dropped while a model is in use, on MariaDB and SQLite; on PostgreSQL: `models/postgres/`. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudValues, createServer, type Model } from '../../../lib/index.ts'
import type { Condition, Value } from '../../../lib/models/model.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'

const TABLE = `changed_${process.pid}`

/** Drops a column of a model's table, and repeats the requests. */
async function goesOn(model: Model, exec: (sql: string) => unknown): Promise<void> {
	const log = new Log()
	const handler = new CrudHandler(model, {
		...{ visible: 'all', updatable: ['title', 'size'], creatable: ['id', 'title', 'size'] },
		allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
	})
	const server = createServer({ thing: handler }, { logger: log, logRequests: false })
	const ask = async (request: string, body?: object) => {
		const [method = '', url = ''] = request.split(' ')
		const answer = await server.inject({
			...{ method, url: `/thing${url}` },
			...(body === undefined
				? {}
				: { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
		})
		const { data, error } = JSON.parse(answer.body.toString())
		return `${answer.status} ${error ?? JSON.stringify(data)}`
	}
	assert.is(await ask('GET /1'), '200 {"id":1,"title":"one","size":5}')
	await exec(`alter table ${TABLE} drop column size`)
	assert.is(await ask('PATCH /1', { title: 'x', size: 6 }), '503 Service Unavailable')
	assert.is(await ask('GET /1'), '200 {"id":1,"title":"one"}')
	assert.is(await ask('GET '), '200 [{"id":1,"title":"one"}]')
	assert.is(await ask('PATCH /1', { title: 'x', size: 6 }), "422 size can't be stored with this value")
	assert.is(await ask('PUT /1', { title: 'new' }), '200 {"id":1,"title":"new"}')
	assert.is(await ask('POST ', { id: 2, title: 'two' }), '201 {"id":2,"title":"two"}')
	assert.is(await ask('DELETE /2'), '200 {"id":2,"title":"two"}')
	const told = log.lines.filter(({ fields }) =>
		/no longer has size, which is left out/.test(chain(fields.err)),
	)
	assert.is(told.length, 1)
}

/** Drops a visible column, under a handler that needs a hidden one. */
async function staysHidden(model: Model, exec: (sql: string) => unknown): Promise<void> {
	const seen: unknown[] = []
	class Needing extends CrudHandler {
		override async list() {
			this.needs('size')
			const page = await super.list(this.listQuery())
			seen.push(...page.needed)
			return page
		}
		override async read(id: string) {
			this.needs('size')
			const record = await super.read(id)
			seen.push(record.needed)
			return record
		}
		override async update(id: string, values: CrudValues) {
			this.needs('size')
			const record = await super.update(id, values)
			seen.push(record.needed)
			return record
		}
	}
	const handler = new Needing(model, {
		...{ visible: ['id', 'title'], updatable: ['size'], allow: ['list', 'read', 'update'] },
	})
	const server = createServer({ thing: handler }, { logger: new Log(), logRequests: false })
	const ask = async (url: string, body?: object) => {
		const { status, body: text } = await server.inject(
			body === undefined
				? { url }
				: {
						...{ method: 'PATCH', url, body: JSON.stringify(body) },
						headers: { 'content-type': 'application/json' },
					},
		)
		return `${status} ${JSON.stringify(JSON.parse(text.toString()).data)}`
	}
	assert.is(await ask('/thing'), '200 [{"id":1,"title":"one"}]')
	await exec(`alter table ${TABLE} drop column title`)
	assert.match(await ask('/thing'), /^503/)
	assert.is(await ask('/thing'), '200 [{"id":1}]')
	assert.is(await ask('/thing?fields=title'), '200 [{}]')
	assert.is(await ask('/thing/1'), '200 {"id":1}')
	assert.is(await ask('/thing/1?fields=title'), '200 {}')
	assert.is(await ask('/thing/1', { size: 5 }), '200 {"id":1}')
	assert.is(await ask('/thing/1?fields=title', { size: 5 }), '200 {}')
	assert.equal(seen, Array(7).fill({ size: 5 }))
}

/** Drops the column that the scope is on. */
async function staysClosed(model: Model, exec: (sql: string) => unknown): Promise<void> {
	const log = new Log()
	class Sized extends CrudHandler {
		override scope() {
			return { size: 5 }
		}
	}
	const handler = new Sized(model, {
		...{ visible: ['id', 'title'], creatable: ['id', 'title'], updatable: ['title'] },
		allow: ['list', 'read', 'create', 'update', 'remove'],
	})
	const server = createServer({ thing: handler }, { logger: log, logRequests: false })
	const ask = async (method: string, url: string, body?: object) => {
		const headers = { 'content-type': 'application/json' }
		const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
		return (await server.inject({ method, url: `/thing${url}`, ...sent })).status
	}
	assert.is(await ask('GET', ''), 200)
	await exec(`alter table ${TABLE} drop column size`)
	assert.is(await ask('GET', ''), 503)
	log.lines.length = 0
	assert.is(await ask('GET', ''), 500)
	assert.is(await ask('GET', '/1'), 500)
	assert.is(await ask('POST', '', { id: 2, title: 'two' }), 500)
	assert.is(await ask('PATCH', '/1', { title: 'x' }), 500)
	assert.is(await ask('DELETE', '/1'), 500)
	const told = log.lines.map(({ fields }) => chain(fields.err))
	assert.is(told.length, 5)
	for (const words of told) assert.match(words, 'Sized.scope() names size, whose column is gone')
}

/** Changes the type of the column a list is sorted by, and requests further pages. */
async function goesThrough(model: Model, exec: (sql: string) => unknown): Promise<void> {
	const order = ['size', 'id'].map((field) => ({ field, descending: false }))
	const selection = { fields: ['id'], names: ['id'], version: undefined }
	const page = (after: readonly Value[] | undefined) =>
		model.list({ selection, order, limit: 1, offset: 0, where: undefined, total: false, after })
	await exec(`insert into ${TABLE} values (2, 'two', 6)`)
	for (let asked = 0; asked < 3; asked++) assert.is((await page(undefined)).next, '[5,1]')
	await exec(`alter table ${TABLE} drop column title, modify size varchar(20)`)
	await exec(`update ${TABLE} set size = concat('"', size)`)
	const where: Condition = { op: 'eq', field: 'title', value: 'one' }
	assert.is(await model.count(where).catch((error) => error.kind), 'busy')
	const { next } = await page(undefined)
	assert.equal(JSON.parse(next ?? ''), ['"5', 1])
	assert.is((await page(JSON.parse(next ?? ''))).json, '[{"id":2}]')
}

/** The messages of an error and all its causes. */
function chain(error: unknown): string {
	return error instanceof Error ? `${error.message} ${chain(error.cause)}` : ''
}

const CREATED = `create table ${TABLE} (id int primary key, title varchar(20), size int)`
const FILLED = `insert into ${TABLE} values (1, 'one', 5)`

describe('a column dropped while it is served', (test) => {
	for (const { name, open } of sqliteDrivers.filter((one) => one.open !== undefined))
		test(`is left out, and logged once, by ${name}`, async () => {
			const database = opened(open)
			database.exec(`${CREATED}; ${FILLED}`)
			await goesOn(await SqliteModel.open(database, TABLE), (sql) => database.exec(sql))
			database.close()
		})

	for (const { name, open } of sqliteDrivers.filter((one) => one.open !== undefined))
		test(`denies access where a scope names it, and the log says why, by ${name}`, async () => {
			const database = opened(open)
			database.exec(`${CREATED}; ${FILLED}`)
			await staysClosed(await SqliteModel.open(database, TABLE), (sql) => database.exec(sql))
			database.close()
		})

	for (const { name, open } of sqliteDrivers.filter((one) => one.open !== undefined))
		test(`exposes no hidden field that an override needs, by ${name}`, async () => {
			const database = opened(open)
			database.exec(`${CREATED}; ${FILLED}`)
			await staysHidden(await SqliteModel.open(database, TABLE), (sql) => database.exec(sql))
			database.close()
		})
})

if (await mariadbIsHere())
	describe('a column dropped while MariaDB serves it', (test) => {
		for (const [what, check] of [
			['is left out, and the log tells so once', goesOn],
			['stays closed where a scope names it, and the log says why', staysClosed],
			['leaves cursors of another type behind where that changes too', goesThrough],
			['brings no hidden field that an override needs into an answer', staysHidden],
		] as const)
			test(what, async () => {
				const pool = openPool()
				try {
					for (const sql of [`drop table if exists ${TABLE}`, CREATED, FILLED]) await pool.query(sql)
					await check(await MysqlModel.open(pool, TABLE), (sql) => pool.query(sql))
				} finally {
					await pool.query(`drop table if exists ${TABLE}`)
					await pool.end()
				}
			})
	})
