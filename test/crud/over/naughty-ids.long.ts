/** Naughty strings as ids, over HTTP and every database: each identifies exactly one record. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { openPool } from '../../helpers/mariadb.ts'
import { SERVER } from '../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'
import { sampled } from './naughty-strings.ts'
import { type StoreName, storesHere } from './stores.ts'

const TABLE = `naughty_ids_${process.pid}`
/** Characters of the longest id: an index of InnoDB has room for 3,072 bytes. */
const LONGEST = 700
/** Ids that no URL can carry. */
const NO_ID = /^\.{0,2}$|[\x00-\x1f\x7f\p{Surrogate}]/u
const STRINGS = sampled('naughty strings as ids')
const [IDS, REFUSED] = [STRINGS.filter(isId), STRINGS.filter((text) => !isId(text))]

function isId(text: string): boolean {
	return !NO_ID.test(text) && [...text].length <= LONGEST
}

/** A model of an empty table with text ids, and a function that drops the table. */
interface Opened {
	readonly model: Model
	close(): Promise<void>
}

const OPEN: Readonly<Record<Exclude<StoreName, 'memory'>, () => Promise<Opened>>> = {
	sqlite: async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		database.exec(`create table ${TABLE} (id varchar(${LONGEST}) primary key, n integer)`)
		const model = await SqliteModel.open(database, TABLE)
		return { model, close: async () => void database.close() }
	},
	postgres: async () => {
		const pool = new pg.Pool({ ...SERVER, max: 5 })
		await pool.query(`create table ${TABLE} (id varchar(${LONGEST}) primary key, n integer)`)
		const model = await PostgresModel.open(pool, TABLE)
		return {
			model,
			close: async () => {
				await pool.query(`drop table ${TABLE}`)
				await pool.end()
			},
		}
	},
	mariadb: async () => {
		const pool = openPool()
		const characters = 'character set utf8mb4 collate utf8mb4_nopad_bin'
		await pool.query(`create table ${TABLE} (id varchar(${LONGEST}) primary key, n int) ${characters}`)
		const model = await MysqlModel.open(pool, TABLE)
		return {
			model,
			close: async () => {
				await pool.query(`drop table ${TABLE}`)
				await pool.end()
			},
		}
	},
}

const stores = (await storesHere()).filter((name) => name !== 'memory')

for (const name of stores) {
	describe(`naughty strings as ids over ${name}`, (test) => {
		let store: Opened
		test.before(async () => {
			store = await OPEN[name]()
		})
		test.after(() => store.close())

		test('each is created, read and deleted under its own URL, with all others present', () =>
			served(store.model, async (ask) => {
				const urls = new Map<string, string>()
				for (const [n, id] of IDS.entries()) {
					const { status, location, data } = await ask('POST', '/things', { id, n })
					assert.is(status, 201, JSON.stringify(id))
					assert.equal(data, { id, n })
					urls.set(id, String(location))
				}
				assert.is(new Set(urls.values()).size, IDS.length)
				assert.is(await store.model.count(undefined), IDS.length)
				for (const [n, id] of IDS.entries()) {
					assert.is(urls.get(id), `/things/${encodeURIComponent(id)}`)
					assert.equal((await ask('GET', urls.get(id))).data, { id, n }, JSON.stringify(id))
				}
				for (const [n, id] of IDS.entries()) {
					assert.equal((await ask('DELETE', urls.get(id))).data, { id, n }, JSON.stringify(id))
					assert.is((await ask('GET', urls.get(id))).status, 404, JSON.stringify(id))
					assert.is(await store.model.count(undefined), IDS.length - n - 1)
				}
			}))

		test('ids that no URL can carry, or that are too long, are refused', () =>
			served(store.model, async (ask) => {
				for (const id of REFUSED) {
					const { status } = await ask('POST', '/things', { id, n: 1 })
					assert.is(status, 422, JSON.stringify(id.slice(0, 60)))
				}
				assert.is(await store.model.count(undefined), 0)
			}))
	})
}

interface Answer {
	readonly status: number
	readonly location: string | null
	readonly data: unknown
}
type Ask = (method: string, path: string | undefined, body?: object) => Promise<Answer>

/** Serves a model on a socket. */
function served(model: Model, use: (ask: Ask) => Promise<void>): Promise<void> {
	const things = new CrudHandler(model, {
		...{ visible: 'all', creatable: ['id', 'n'], allow: ['read', 'create', 'remove'] },
	})
	return listening({ things }, {}, ({ url }) =>
		use(async (method, path, body) => {
			const headers = { 'content-type': 'application/json' }
			const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
			const response = await fetch(new URL(String(path), url), init)
			// Every response is an object, and successful ones have `data`.
			const { data } = (await response.json()) as { data?: unknown }
			return { status: response.status, location: response.headers.get('location'), data }
		}),
	)
}
