/** Requests for ever-changing fields, orders and conditions make models keep at most a few megabytes. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../lib/index.ts'
import { dialectOf } from '../../../lib/models/postgres/dialect.ts'
import type { Driver, Statement } from '../../../lib/models/sql/driver.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import type { Column, Table } from '../../../lib/models/sql/table.ts'
import { Lru } from '../../../lib/models/sql/text-cache.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'

const FIELDS = Array.from({ length: 12 }, (_, at) => `a_column_with_the_name_${at}`)
const MEGABYTE = 1_048_576
/** Includes what V8 itself retains of so many requests. */
const MOST = 6 * MEGABYTE

/** Returns nothing, and records its statements. */
class Silent implements Driver {
	readonly texts = new Set<string>()
	isNoting = false

	async query({ text }: Statement) {
		if (this.isNoting) this.texts.add(text)
		return { rows: [[null, 0, null, 0]], affected: 0 }
	}

	transaction(): Promise<never> {
		return Promise.reject(new Error('nothing is written'))
	}
}

function overPostgres(): Model {
	const rules = { nullable: false, hasDefault: true, generated: false }
	const id: Column = { name: 'id', type: 'integer', sqlType: 'int4', ...rules }
	const columns = [
		id,
		...FIELDS.map((name): Column => ({ name, type: 'timestamp', sqlType: 'timestamptz', ...rules })),
	]
	const table: Table = { schema: undefined, name: 't', columns, key: ['id'], constraints: [], isView: false }
	return new SqlModel(table, new Silent(), dialectOf(false, [id], new Lru()))
}

/** The n-th combination of fields and order: all are different. */
function queryOf(n: number): string {
	const fields = FIELDS.filter((_, at) => ((n % 4_095) + 1) & (1 << at))
	const order = FIELDS.map((_, at) => FIELDS[(at + (n >> 3)) % 12] ?? '').slice(0, 1 + (n % 5))
	return `/t?fields=${fields.join()}&sort=-${order.join()}&limit=${1 + (n % 90)}`
}

function heapUsed(): number {
	setFlagsFromString('--expose-gc')
	const collect: unknown = runInNewContext('gc')
	if (typeof collect !== 'function') throw new TypeError('V8 has no gc')
	collect()
	return process.memoryUsage().heapUsed
}

/** The growth of the heap after so many requests, each sent twice: a text is cached from its second use on. */
async function grownBy(model: Model, times: number): Promise<number> {
	const { ask } = asking({ t: new CrudHandler(model, { visible: 'all', maxLimit: 100 }) })
	for (let n = 0; n < 200; n++) await ask(queryOf(n))
	const before = heapUsed()
	for (let n = 0; n < times; n++) assert.is((await ask(queryOf(n >> 1))).status, 200)
	return heapUsed() - before
}

describe('caches of client-chosen query texts', (test) => {
	test('take a few megabytes after 2,000 requests for different fields and orders, each sent twice', async () => {
		const grown = await grownBy(overPostgres(), 2_000)
		assert.ok(grown < MOST, `${Math.round(grown / MEGABYTE)} MiB`)
	})

	test("don't keep the bodies that the texts are from", async () => {
		const { ask } = asking({ t: new CrudHandler(overPostgres(), { visible: 'all', ignoreQuery: ['pad'] }) })
		const headers = { 'content-type': 'application/x-www-form-urlencoded' }
		const send = async (n: number): Promise<void> => {
			const other = (n + 1 + Math.floor(n / 12)) % 12
			const body = `sort=${FIELDS[n % 12]},${FIELDS[other]}&pad=${'y'.repeat(1_000_000)}`
			assert.is((await ask('QUERY /t', { headers, body })).status, 200)
		}
		await send(0)
		const before = heapUsed()
		for (let n = 1; n < 100; n++) await send(n)
		const grown = heapUsed() - before
		assert.ok(grown < MOST, `${Math.round(grown / MEGABYTE)} MiB`)
	})

	test('stay bounded also where the database is in this process', async () => {
		const database = sqliteDrivers.find(({ open }) => open !== undefined)?.open?.()
		if (database === undefined) throw new Error('there is no driver of SQLite')
		database.exec(
			`create table t (id integer primary key, ${FIELDS.map((name) => `${name} datetime`).join(', ')})`,
		)
		const grown = await grownBy(await SqliteModel.open(database, 't'), 600)
		assert.ok(grown < MOST, `${Math.round(grown / MEGABYTE)} MiB`)
	})
})
