/** Tables and views without a key, in all databases, as clients see them. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOperation, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { openPool } from '../../helpers/mariadb.ts'
import { SERVER } from '../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'
import { storesHere } from './stores.ts'

const TABLE = `keyless_${process.pid}`
/** Two of its rows are equal. */
const CREATE = [
	`create table ${TABLE} (line varchar(20) not null, level int, secret varchar(20) default 'MARKER')`,
	`insert into ${TABLE} (line, level) values ('a', 1), ('b', 0), ('c', null), ('d', 1), ('d', 1), ('e', 2), ('f', 0)`,
	`create table ${TABLE}_l (level int primary key)`,
	`insert into ${TABLE}_l values (0), (1), (2)`,
	`create view ${TABLE}_v as select line, level from ${TABLE} where level < 2`,
]
const DROP = [
	`drop view if exists ${TABLE}_v`,
	...[TABLE, `${TABLE}_l`].map((name) => `drop table if exists ${name}`),
]

interface Database {
	open(name: string): Promise<Model>
	openAll(): Promise<Record<string, Model>>
	run(statements: readonly string[]): Promise<void>
	close(): Promise<void>
}

const DATABASES: Readonly<Record<string, () => Database>> = {
	postgres: () => {
		const pool = new pg.Pool({ ...SERVER, max: 2 })
		return {
			open: (name) => PostgresModel.open(pool, name, { key: [] }),
			openAll: () => PostgresModel.openAll(pool),
			run: async (statements) => {
				for (const statement of statements) await pool.query(statement)
			},
			close: () => pool.end(),
		}
	},
	mariadb: () => {
		const pool = openPool({}, { connectionLimit: 2 })
		return {
			open: (name) => MysqlModel.open(pool, name, { key: [] }),
			openAll: () => MysqlModel.openAll(pool),
			run: async (statements) => {
				for (const statement of statements) await pool.query(statement)
			},
			close: () => pool.end(),
		}
	},
}
for (const driver of sqliteDrivers) {
	if (driver.open === undefined) continue
	Object.assign(DATABASES, {
		[driver.name]: (): Database => {
			const database = opened(driver.open)
			return {
				open: (name) => SqliteModel.open(database, name, { key: [] }),
				openAll: () => SqliteModel.openAll(database),
				run: async (statements) => void database.exec(statements.join(';')),
				close: async () => void database.close(),
			}
		},
	})
}

interface Page {
	readonly data: readonly { readonly line: string; readonly level: number | null }[]
	readonly meta: { readonly next: string | null; readonly total?: number; readonly offset: number }
}

const seenOf = ({ data }: Page): string => data.map(({ line }) => line).join('')

async function check(model: Model, lines: string): Promise<void> {
	assert.equal([model.key, model.readOnly], [[], true])
	const { ask, said } = asking({ log: new CrudHandler(model, { visible: ['line', 'level'], limit: 3 }) })
	const pageOf = async (url: string): Promise<Page & { readonly link: string | undefined }> => {
		const reply = await ask(url)
		assert.is(reply.status, 200, reply.text())
		assert.not.ok(reply.text().includes('MARKER'))
		const link = /<([^>]*)>/.exec(String(reply.headers.link ?? ''))?.[1]
		// A list has this form.
		return { ...(reply.json() as Page), link }
	}
	const walk = async (query: string): Promise<string> => {
		let [seen, url]: [string, string | undefined] = ['', `/log?${query}`]
		while (url !== undefined) {
			const page = await pageOf(url)
			seen += seenOf(page)
			url = page.link
			assert.is(url === undefined, page.meta.next === null)
		}
		return seen
	}
	assert.is([...(await walk('limit=2'))].sort().join(''), lines)
	for (const limit of [1, 2, 3, 7, 25]) {
		assert.is(await walk(`limit=${limit}&sort=line`), lines)
		assert.is(await walk(`limit=${limit}&sort=-line`), [...lines].reverse().join(''))
		assert.is(await walk(`limit=${limit}&sort=level,-line&level[lt]=2`), 'fbdda')
		assert.is(await walk(`limit=${limit}&sort=-line&level=1`), 'dda')
	}
	const counted = await pageOf('/log?limit=2&sort=line&count=exact')
	assert.equal([seenOf(counted), counted.meta.total], ['ab', lines.length])
	const moved = await pageOf('/log?limit=2&offset=2&sort=line&count=exact')
	assert.equal([seenOf(moved), moved.meta.total, moved.meta.offset], [lines.slice(2, 4), lines.length, 2])
	assert.equal((await pageOf('/log?limit=0&count=exact')).meta.total, lines.length)
	assert.equal((await pageOf('/log?offset=99&count=exact')).data, [])
	assert.is(seenOf(await pageOf('/log?level[null]=true')), lines.includes('c') ? 'c' : '')
	assert.match(await said('QUERY /log', { body: { filter: { line: 'b' } } }), /^200 .*"line":"b"/)
	// A cursor is of its list alone, and can't be altered to reach anything else.
	const { next } = counted.meta
	assert.match(await said(`/log?sort=-line&cursor=${next}`), /^400 /)
	assert.match(await said('/log?cursor=WyJ4Il0'), /^400 /)
	for (const sort of ['secret', 'nothing']) assert.match(await said(`/log?sort=${sort}`), /^400 /)
	for (const id of ['a', '1', ',', '0', '%2C', 'a,1', '%2e']) {
		for (const method of ['GET', 'HEAD', 'PATCH', 'PUT', 'POST', 'DELETE']) {
			const { status } = await ask(`${method} /log/${id}`, /^P/.test(method) ? { body: { line: 'x' } } : {})
			assert.ok(status === 404 || status === 405, `${method} /log/${id}: ${status}`)
		}
	}
	for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
		assert.is((await ask(`${method} /log`, method === 'DELETE' ? {} : { body: { line: 'x' } })).status, 405)
	assert.is((await ask('OPTIONS /log')).headers.allow, (await ask('POST /log', { body: {} })).headers.allow)
	const others: CrudOperation[] = ['read', 'create', 'update', 'replace', 'remove']
	for (const operation of others)
		assert.throws(
			() => new CrudHandler(model, { visible: 'all', updatable: ['line'], allow: ['list', operation] }),
			/has no key|read-only|can't be changed/,
		)
	assert.is(await model.count(undefined), lines.length)
}

const here: readonly string[] = await storesHere()

for (const [name, connect] of Object.entries(DATABASES)) {
	if (name in { postgres: 1, mariadb: 1 } && !here.includes(name)) continue
	describe(`records without a key, ${name}`, (test) => {
		let database: Database
		test.before(async () => {
			database = connect()
			await database.run(CREATE)
		})
		test.after(async () => {
			await database.run(DROP)
			await database.close()
		})

		test('are listed by offset, and nothing else can be done', async () => {
			await check(await database.open(TABLE), 'abcddef')
		})

		test('of a view, too', async () => {
			await check(await database.open(`${TABLE}_v`), 'abddf')
		})

		test('of a table that openAll opened, too', async () => {
			const model = (await database.openAll())[TABLE]
			if (model === undefined) throw new Error('openAll left it out')
			await check(model, 'abcddef')
		})

		test('are included, page by page', async () => {
			const { [TABLE]: lines, [`${TABLE}_l`]: levels } = await database.openAll()
			if (lines === undefined || levels === undefined) throw new Error('openAll left one out')
			const log = new CrudHandler(lines, { visible: 'all', limit: 2 })
			const relations = { lines: { to: log, by: 'level', many: true } }
			const level = new CrudHandler(levels, { visible: 'all', relations })
			const { ask } = asking({ log, level })
			const sorted = encodeURIComponent('{"lines":{"sort":"line"}}')
			for (const url of ['lines', sorted].flatMap((one) => [
				`/level?sort=level&include=${one}`,
				`/level/1?include=${one}`,
			])) {
				const { data } = (await ask(url)).json() as { data: unknown }
				const records = (Array.isArray(data) ? data : [data]) as { level: number; lines: Page }[]
				for (const { level, lines } of records) {
					const all = ['bf', 'add', 'e'][level] ?? ''
					const { next } = lines.meta
					assert.equal([lines.data.length, next !== null], [Math.min(all.length, 2), all.length > 2], url)
					if (!url.includes(sorted)) continue
					// Without a sort, the database may have another order for each statement.
					assert.is(seenOf(lines), all.slice(0, 2))
					if (next === null) continue
					const rest = (await ask(`/level/${level}/lines?sort=line&cursor=${next}`)).json() as Page
					assert.is(seenOf(rest), all.slice(2))
				}
			}
		})
	})
}
