/** The end of PostgreSQL's pages: the look-ahead record removed in Node, and where the next page starts. */
import type { Socket } from 'node:net'
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Condition, Model, Value } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere, SERVER } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'

const TABLE = 'pgad_pages'
const FIELDS = ['id', 'kept', 'tags', 'note']
const SELECTION = { fields: FIELDS, names: FIELDS, version: undefined }
const PLAIN = { fields: ['id', 'note'], names: ['id', 'note'], version: undefined }
/** The stored text, line breaks included. */
const JSON_TEXT = '{"a": [1,\n2],\r\n"b": ",\\n"\n,\n"c": null}'

function page(model: Model, selection: typeof SELECTION, limit: number, by = 'id', after?: readonly Value[]) {
	const order = [...new Set([by, 'id'])].map((field) => ({ field, descending: false }))
	return model.list({ ...{ selection, order, limit, offset: 0, after, where: undefined }, total: false })
}

function pages(name: DriverName): void {
	describe(`postgres: pages by ${name}`, (test) => {
		const opened = databaseLater(name)
		const open = async () => PostgresModel.open((await opened()).database, TABLE)

		test.before(async () => {
			const { exec } = await opened()
			await exec(`drop table if exists ${TABLE};
				create table ${TABLE} (id int primary key, kept json, tags int[], note text not null)`)
			await exec(`insert into ${TABLE} values (1, '${JSON_TEXT}', '{}', E'a,\\nb'),
				(2, '${JSON_TEXT}', '{1,2}', E'},\\n{'), (3, null, '{1}', E'\\x01,\\x01')`)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(`drop table ${TABLE}`)
			await close()
		})

		test('hold whole records, also where those contain line breaks', async () => {
			const model = await open()
			const kept = JSON.parse(JSON_TEXT)
			const expected = [
				{ id: 1, kept, tags: [], note: 'a,\nb' },
				{ id: 2, kept, tags: [1, 2], note: '},\n{' },
				{ id: 3, kept: null, tags: [1], note: '\x01,\x01' },
			]
			for (const limit of [1, 2, 3, 4]) {
				const listed = await page(model, SELECTION, limit)
				assert.equal(JSON.parse(listed.json), expected.slice(0, limit))
				assert.is(listed.next, limit < 3 ? `[${limit}]` : undefined)
				const plain = JSON.parse((await page(model, PLAIN, limit)).json)
				assert.equal(
					plain,
					expected.slice(0, limit).map(({ id, note }) => ({ id, note })),
				)
			}
		})

		test('at limit 0, or after the last record, are empty', async () => {
			const model = await open()
			assert.equal(await page(model, SELECTION, 0), { json: '[]', next: undefined, total: undefined })
			const behind = await page(model, SELECTION, 5, 'id', [3])
			assert.equal(behind, { json: '[]', next: undefined, total: undefined })
		})

		test('sorted by arrays of different lengths continue after them', async () => {
			const first = await page(await open(), SELECTION, 2, 'tags')
			assert.equal(
				JSON.parse(first.json).map(({ id }: { id: number }) => id),
				[1, 3],
			)
			assert.is(first.next, '[[1], 3]')
		})

		test('with a limit beyond the length of an array end like others', async () => {
			const listed = await page(await open(), PLAIN, 3_000_000_000)
			assert.is(JSON.parse(listed.json).length, 3)
			assert.is(listed.next, undefined)
		})

		test('have null where a column became nullable after the table was opened', async () => {
			const { exec } = await opened()
			const model = await open()
			await exec(`alter table ${TABLE} alter note drop not null`)
			await exec(`insert into ${TABLE} values (4, null, null, null)`)
			const record = { id: 4, kept: null, tags: null, note: null }
			assert.equal(JSON.parse((await model.read('4', SELECTION, undefined))?.json ?? ''), record)
			assert.equal(JSON.parse((await page(model, SELECTION, 1, 'id', [3])).json), [record])
			await exec(`delete from ${TABLE} where id = 4`)
		})
	})
}

const names = await driversHere()
for (const name of suitesBy(names)) pages(name)

if (names.includes('pg'))
	describe('postgres: pages that are too large', (test) => {
		test('are refused with one statement, unless they may fit without the look-ahead record', async () => {
			const pool = new pg.Pool({ ...SERVER, max: 1 })
			const table = `pgad_large_${process.pid}`
			let statements = 0
			pool.on('acquire', () => statements++)
			try {
				await pool.query(`create table ${table} (id int primary key, t text not null, j json not null)`)
				await pool.query(
					`insert into ${table} select n, repeat('é', 50000), '[1,\n2]' from generate_series(1, 3) n`,
				)
				const model = await PostgresModel.open(pool, table)
				for (const fields of [
					['id', 't'],
					['id', 't', 'j'],
				]) {
					const selection = { fields, names: fields, version: undefined }
					const order = [{ field: 'id', descending: false }]
					const query = {
						selection,
						order,
						limit: 2,
						offset: 0,
						after: undefined,
						where: undefined,
						total: true,
					}
					const whole = (await model.list(query)).json
					const bytes = Buffer.byteLength(whole)
					const asked = async (maxBytes: number, limit = 2) => {
						statements = 0
						const answer = await model.list({ ...query, limit, maxBytes }).catch((error: unknown) => error)
						return [answer instanceof ModelError ? answer.kind : answer, statements]
					}
					const listed = { json: whole, next: '[2]', total: 3 }
					assert.equal(await asked(bytes + 10), [listed, 2])
					assert.equal(await asked(bytes - 10), ['too_large', 1])
					assert.equal(await asked(bytes - 10, 3), ['too_large', 1])
					assert.equal(await asked(100, 0), [{ json: '[]', next: undefined, total: 3 }, 2])
				}
			} finally {
				await pool.query(`drop table if exists ${table}`)
				await pool.end()
			}
		})

		test('of several lists, no more than all of them may have is sent', async () => {
			const pool = new pg.Pool({ ...SERVER, max: 1 })
			const table = `${TABLE}_lists`
			try {
				await pool.query(
					`drop table if exists ${table}; create table ${table} (id int primary key, t text not null)`,
				)
				await pool.query(
					`insert into ${table} select n, repeat(md5(n::text), 20000) from generate_series(1, 40) n`,
				)
				const model = await PostgresModel.open(pool, table)
				const selection = { fields: ['id', 't'], names: ['id', 't'], version: undefined }
				const order = [{ field: 'id', descending: false }]
				const asked = {
					...{ selection, order, limit: 1, offset: 0, after: undefined, where: undefined, total: true },
				}
				const ask = (count: number, maxBytes: number) =>
					model.listEach?.(
						{ ...asked, maxBytes },
						Array.from({ length: count }, (_, at) => ({ op: 'eq', field: 'id', value: at + 1 })),
					)
				const client = await pool.connect()
				client.release()
				const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
				assert.equal(
					(await ask(3, 2_000_000))?.map(({ total }) => total),
					[1, 1, 1],
				)
				const before = stream.bytesRead
				const error = await ask(40, 2_000_000)?.catch((thrown: unknown) => thrown)
				assert.is(error instanceof ModelError && error.kind, 'too_large')
				assert.ok(stream.bytesRead - before < 3_000_000, `${stream.bytesRead - before} bytes`)
				// With records behind the pages, which aren't sent, and don't count.
				const behind = (value: number): Condition => ({ op: 'gte', field: 'id', value })
				const [first, atAll] = [stream.bytesRead, { ...asked, maxBytes: 2_000_000 }]
				const pages = await model.listEach?.(atAll, [behind(1), behind(2)])
				assert.equal(
					pages?.map(({ json }) => json.length),
					[640_017, 640_017],
				)
				const many = [1, 2, 3, 4, 5, 6, 7, 8].map(behind)
				const refused = await model.listEach?.(atAll, many).catch((thrown: unknown) => thrown)
				assert.is(refused instanceof ModelError && refused.kind, 'too_large')
				assert.ok(stream.bytesRead - first < 6_000_000, `${stream.bytesRead - first} bytes`)
			} finally {
				await pool.query(`drop table if exists ${table}`)
				await pool.end()
			}
		})
	})
