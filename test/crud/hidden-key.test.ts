/** A hidden key is in no list and in no cursor, as clients can decode cursors. */
import Database from 'libsql'
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { SqliteModel } from '../../lib/models/sqlite/model.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { refusalOf } from './articles.ts'

function keys(): Asking {
	const model = new MemoryModel('t', {
		key: 'code',
		fields: { code: 'text', name: 'text', rank: 'integer' },
		rows: [1, 2, 3, 4, 5].map((n) => ({ code: `MARKER${n}`, name: `n${n}`, rank: n % 2 })),
	})
	return asking({ t: new CrudHandler(model, { visible: ['name', 'rank'] }) })
}

type Headers = Readonly<Record<string, string>>

interface Page {
	readonly data: { readonly name: string }[]
	readonly meta: { readonly offset: number; readonly next: string | null }
}

describe('crud: a hidden key', (test) => {
	for (const [query, names] of [
		['', 'n1 n2 n3 n4 n5'],
		['sort=-rank&', 'n5 n3 n1 n4 n2'],
		['sort=name&rank=1&', 'n1 n3 n5'],
		['sort=-name&offset=1&', 'n4 n3 n2 n1'],
	]) {
		test(`is in no cursor of ?${query}, and following the pages works`, async () => {
			const asked = keys()
			const found: string[] = []
			let request = `/t?${query}limit=2`
			for (;;) {
				const reply = await asked.ask(request)
				const { data, meta } = reply.json() as Page
				found.push(...data.map(({ name }) => name))
				const cursor = Buffer.from(meta.next ?? '', 'base64url').toString()
				assert.not.match(`${cursor}${reply.text()}${JSON.stringify(reply.headers)}`, 'MARKER')
				if (meta.next === null) break
				const [, link = ''] = /^<(.*)>; rel="next"$/.exec(String(reply.headers.link)) ?? []
				request = link
			}
			assert.is(found.join(' '), names)
		})
	}

	test('meta.offset is the position that a cursor has reached', async () => {
		const asked = keys()
		const { meta } = (await asked.ask('/t?limit=2')).json() as Page
		const next = (await asked.ask(`/t?limit=2&cursor=${meta.next}`)).json() as Page
		assert.is(next.meta.offset, 2)
	})

	test('can not be guessed with forged cursors', async () => {
		const asked = keys()
		const { meta } = (await asked.ask('/t?limit=1')).json() as Page
		const [stamp] = JSON.parse(Buffer.from(meta.next ?? '', 'base64url').toString()) as string[]
		const offsets = ['5', -1, 1.5, 2 ** 53, null].map((offset) => [{ offset }])
		for (const values of [['MARKER3'], [5], ['5'], [null], [], [{}], [{ offset: 1 }, 1], ...offsets]) {
			const cursor = Buffer.from(JSON.stringify([stamp, ...values])).toString('base64url')
			assert.is(
				await refusalOf(asked, `/t?cursor=${cursor}`),
				'400 cursor is malformed: take it from meta.next',
			)
		}
		const other = Buffer.from('["x",1]').toString('base64url')
		assert.is(
			await refusalOf(asked, `/t?cursor=${other}`),
			'400 cursor belongs to a list with another sort or filter',
		)
		assert.is(await refusalOf(asked, '/t?cursor=!'), '400 cursor is malformed: take it from meta.next')
		assert.match(await refusalOf(asked, '/t?sort=code'), /^400 sort may only name name, rank/)
	})

	test('a cursor of a request that sees the key is none of one that does not, and the other way', async () => {
		class Notes extends CrudHandler {
			override fields() {
				return this.request.header('x-hidden') === undefined ? {} : { hidden: ['id'] }
			}
		}
		const rows = [11, 12, 13].map((id) => ({ id, text: `t${id}` }))
		const model = new MemoryModel('note', { key: 'id', fields: { id: 'integer', text: 'text' }, rows })
		const asked = asking({ note: new Notes(model, { visible: 'all' }) })
		const hiding: Headers = { 'x-hidden': '1' }
		for (const headers of [{}, hiding]) {
			const { meta } = (await asked.ask('/note?limit=1', { headers })).json() as Page
			const follow = (more: Headers) => asked.ask(`/note?limit=1&cursor=${meta.next}`, { headers: more })
			assert.match((await follow(headers)).text(), '"text":"t12"')
			const others = headers === hiding ? {} : hiding
			assert.match((await follow(others)).text(), '"cursor is malformed: take it from meta.next"')
		}
	})

	test('a count has the same meta fields as a full page', async () => {
		assert.match(await keys().said('/t?limit=0'), /"offset":0,"next":null,"total":5}/)
	})

	test('is in no answer of deletions by condition: only what the scope does not fix of it', async () => {
		const database = new Database(':memory:')
		database.exec(`pragma foreign_keys = on;
			create table doc (tenant text, name text, primary key (tenant, name));
			create table part (id integer primary key, tenant text, name text, foreign key (tenant, name) references doc);
			insert into doc values ('MARKER', 'used'), ('MARKER', '.'), ('MARKER', 'free');
			insert into part values (1, 'MARKER', 'used')`)
		class Docs extends CrudHandler {
			override scope() {
				return { tenant: 'MARKER' }
			}
		}
		const model = await SqliteModel.open(database, 'doc', { key: ['tenant', 'name'] })
		const { said } = asking({ doc: new Docs(model, { visible: ['name'], allow: ['removeMany'] }) })
		assert.match(
			await said('DELETE /doc?name=used'),
			/^409 .*"error":"used: Other records refer to this one"/,
		)
		assert.is(await said('DELETE /doc?name[in]=free,.'), '200 {"success":true,"data":[".","free"]}')
	})
})
