/** Related records that PostgreSQL writes into a record's JSON. */
import type pg from 'pg'
import * as assert from 'uvu/assert'
import type { ListQuery, Model } from '../../../lib/models/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import type { Statement } from '../../../lib/models/sql/driver.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { subjectOfModel } from '../../../lib/models/sql/subject.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import {
	goesOnWithout,
	type Models,
	onModels,
	orderOf,
	relatedCases,
	selectionOf,
	tablesOf,
	toMany,
	toOne,
} from '../related-cases.ts'
import { databaseLater } from './databases.ts'

const PREFIX = 'pgrel_'
const NAMES = ['author', 'article', 'comment', 'tag', 'tagging'] as const
/** Text of a column of type json, which keeps line breaks. */
const JSON_TEXT = '{"a": [1,\n2],\r\n"b": ",\\n\\u0002\\u0001"\n,\n"c": null}'

function related(name: DriverName): void {
	describe(`postgres: related records by ${name}`, (test) => {
		const opened = databaseLater(name)
		let models: Promise<Models> | undefined
		const open = () => {
			models ??= openModels()
			return models
		}
		const openModels = async () => {
			const { database } = await opened()
			const all = await Promise.all(
				NAMES.map(async (one) => [one, await PostgresModel.open(database, PREFIX + one)]),
			)
			return Object.fromEntries(all) as Models
		}
		const drop = `drop table if exists ${[...NAMES, 'odd', 'big'].map((one) => PREFIX + one).join(', ')};`

		test.before(async () => {
			const { exec } = await opened()
			await exec(`${drop} ${tablesOf(PREFIX, 'timestamptz(3)')}
				create table ${PREFIX}odd (id bigint primary key, up bigint, kept json, "or ""d" text not null, tags text[], at timestamptz,
					f float8, b bytea);
				create table ${PREFIX}big (id serial primary key, up int not null, text text not null)`)
			await exec(`insert into ${PREFIX}odd values
				(9223372036854775807, 1, '${JSON_TEXT}', E'a,\\n\\x01,\\x02"0:\\\\', '{}', 'infinity', 'NaN', '\\x00ff'),
				(-9223372036854775808, 9223372036854775807, '${JSON_TEXT}', '${'\u0001'},${'\u0002'}0:[1]${'\u0002'}', E'{"\\x02"}', '2026-11-20 13:45:00.123456Z', '-Infinity', null),
				(3, 9223372036854775807, null, '', null, '0044-03-15 BC', null, '')`)
			await exec(`insert into ${PREFIX}big (up, text) select i, 'x' from generate_series(1, 2000) i, generate_series(1, 5);
				insert into ${PREFIX}big (up, text) select 7, 'y' from generate_series(1, 50000);
				create index on ${PREFIX}big (up, id); analyze ${PREFIX}big; analyze ${PREFIX}article`)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(drop)
			await close()
		})

		relatedCases(onModels(test, open))

		test('odd values are the same in related records', async () => {
			const odd = await PostgresModel.open((await opened()).database, `${PREFIX}odd`)
			const all = odd.fields.map(({ name }) => name)
			const fields = { fields: all, names: all.map((one) => `${one}"'\\`), version: undefined }
			const link = { model: odd, fields: ['id'], to: ['up'] }
			const up = toOne('up "\'\\', odd, 'up', fields)
			for (const order of ['id', 'or "d,id', 'tags,id', '-at,id', 'f,id']) {
				const down = toMany('down', link, fields, { order, limit: 1 })
				const selection = { ...fields, related: [up, down] }
				const list = (of: typeof selection | typeof fields, limit: number) =>
					odd.list({
						...{ selection: of, where: undefined, order: orderOf('id'), limit, offset: 0 },
						...{ after: undefined, total: false },
					})
				const records = JSON.parse((await list(fields, 3)).json)
				const byId = (id: unknown) => records.find((one: object) => Object.values(one)[0] === id) ?? null
				const ups = records.map((one: object) => Object.values(one)[1])
				for (const limit of [1, 2, 3]) {
					const { json } = await list(selection, limit)
					assert.not.match(json, '\u0002')
					const found = JSON.parse(json)
					assert.is(found.length, limit)
					for (const [at, record] of found.entries()) {
						const { [up.name]: one, down, ...own } = record
						assert.equal(own, records[at])
						assert.equal(one, byId(records[at][`up"'\\`]))
						assert.is(down.data.length, ups.includes(Object.values(own)[0]) ? 1 : 0)
					}
				}
			}
		})

		test('a dropped column of the related table is left out', async () => {
			const { exec } = await opened()
			const { article, comment } = await openModels()
			await goesOnWithout(article, comment, () => exec(`alter table ${PREFIX}comment drop column text`))
		})

		const testPlan = name === 'pg' ? test : test.skip
		testPlan('a record that has far more related ones than others reads no more of them', async () => {
			const { database } = await opened()
			const { article } = await open()
			const big = await PostgresModel.open(database, `${PREFIX}big`)
			for (const limit of [1, 5, 20, 100]) {
				const many = toMany('many', { model: big, fields: ['id'], to: ['up'] }, selectionOf('text'), {
					order: '-id',
					limit,
				})
				const query = {
					...{ selection: selectionOf('id', many), where: undefined, order: orderOf('id') },
					limit: 3,
					offset: 0,
				}
				const text = await textSent(article, { ...query, after: undefined, total: false })
				const { rows } = await (database as pg.Pool).query(`explain ${text.replaceAll('$1', '3::int8')}`)
				const plan = JSON.stringify(rows)
				assert.match(plan, 'Index Scan Backward using pgrel_big_up_id_idx')
				assert.not.match(plan, /Sort Key: be/)
			}
		})
	})
}

/** The text of a list statement. */
async function textSent(model: Model, query: ListQuery): Promise<string> {
	const { table, dialect } = subjectOfModel(model)
	let sent = ''
	const none = { rows: [], affected: 0 }
	const driver = {
		query: async ({ text }: Statement) => {
			sent = text
			return none
		},
		transaction: () => Promise.reject(new Error('unused')),
	}
	await new SqlModel(table, driver, dialect).list(query)
	return sent
}

for (const name of suitesBy(await driversHere())) related(name)
