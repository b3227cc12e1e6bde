/** Two owners with `scope()`: neither sees, changes or deletes the other's records, over every store. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOperation,
	type CrudScope,
	type CrudValues,
	createServer,
	type InjectedReply,
	MemoryModel,
	type Model,
} from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere, type TableKind } from './stores.ts'
import { type Asked, allRows, OPTIONS, serve } from './things.ts'

const NOBODY = '900000001'

/** All may read, owners may write: the override reads the record first. */
class Shared extends CrudHandler {
	override scope(operation: CrudOperation): Record<string, unknown> {
		return operation === 'list' || operation === 'read' ? {} : { owner: this.request.header('x-owner') }
	}

	override async update(id: string, values: CrudValues) {
		const before = await this.read(id)
		return before.version === undefined ? null : super.update(id, values)
	}
}

interface Sent {
	readonly body?: unknown
	readonly headers?: Readonly<Record<string, string>>
}

const stores = await storesHere()

for (const name of stores) {
	describe(`scopes of two owners over ${name}`, (test) => {
		let store: Store
		let model: Model
		let asked: Asked
		let [ann, bob]: [string[], string[]] = [[], []]

		const as = (owner: string, request: string, { body, headers = {} }: Sent = {}) => {
			const [method = '', url = ''] = request.split(' ')
			const type = body === undefined ? {} : { 'content-type': 'application/json' }
			const sent = body === undefined ? {} : { body: JSON.stringify(body) }
			return asked.ask({ method, url, headers: { 'x-owner': owner, ...type, ...headers }, ...sent })
		}
		const create = async (owner: string, title: string) => {
			const reply = await as(owner, 'POST /mine', { body: { title } })
			assert.is(reply.status, 201)
			return String(reply.headers.location).replace('/mine/', '')
		}

		test.before(async () => {
			store = await openStore(name, 'scope')
		})
		test.before.each(async () => {
			model = await store.emptied()
			asked = serve(model)
			ann = [await create('ann', 'a1'), await create('ann', 'a2')]
			bob = [await create('bob', 'b1'), await create('bob', 'b2')]
		})
		test.after(() => store.close())

		test("every verb answers another owner's record with the 404 of a missing one", async () => {
			const before = await allRows(model)
			const tried: [string, Sent][] = [
				['GET', {}],
				['HEAD', {}],
				['GET', { headers: { 'if-none-match': '"1"' } }],
				['GET', { headers: { 'if-match': '"9"' } }],
				['PATCH', { body: { title: 'x' } }],
				['PATCH', { body: {} }],
				['PATCH', { body: { title: 'x' }, headers: { 'if-match': '"1"' } }],
				['PATCH', { body: { title: 'x' }, headers: { 'if-match': '"9"' } }],
				['PATCH', { body: { title: 'x' }, headers: { 'if-match': '*' } }],
				['PATCH', { body: { title: 'x' }, headers: { 'if-none-match': '*' } }],
				['POST', { body: { title: 'x' } }],
				['PUT', { body: { title: 'x' } }],
				['PUT', { body: { title: 'x' }, headers: { 'if-match': '"1"' } }],
				['DELETE', {}],
				['DELETE', { headers: { 'if-match': '"1"' } }],
				['DELETE', { headers: { 'if-match': '"9"' } }],
			]
			const whole = ({ status, headers, text }: InjectedReply) => {
				const { date: _, ...others } = headers
				return `${status} ${JSON.stringify(others)} ${text()}`
			}
			for (const [method, sent] of tried) {
				const other = whole(await as('ann', `${method} /mine/${bob[0]}`, sent))
				const nothing = whole(await as('ann', `${method} /mine/${NOBODY}`, sent))
				assert.match(other, /^404 /, `${method} ${JSON.stringify(sent)}`)
				assert.is(other, nothing, `${method} ${JSON.stringify(sent)}`)
			}
			assert.equal(await allRows(model), before)
		})

		test('lists, counts, searches and filters are limited to one owner', async () => {
			const queries = [
				...['?limit=5&count=exact', '?search=1%20', '?sort=-title&limit=1', '?title[ne]=zzz'],
				...[
					`?id=${bob[0]}`,
					`?id[in]=${[...ann, ...bob].join()}`,
					'?filter={"or":[{"title":"b1"},{"title":"a1"}]}',
				],
				...['?filter={"not":{"title":"a1"}}', '?filter={"or":[]}', '?filter={"and":[]}', '?id[nin]=1'],
			]
			for (const query of queries) {
				const reply = await as('ann', `GET /mine${query.replaceAll('"', '%22')}`)
				assert.is(reply.status, 200, query)
				assert.not.match(reply.text(), /"b\d"/, query)
			}
			const counted = await as('ann', 'GET /mine?limit=0')
			assert.is(counted.headers['x-total-count'], '2')
			const body = { filter: { or: [{ title: 'b1' }, { title: 'a2' }] } }
			assert.match(
				(await as('ann', 'QUERY /mine', { body })).text(),
				/^\{"success":true,"data":\[\{[^{]*"a2"[^{]*\}\]/,
			)
		})

		test("a cursor of one owner's list gives another owner only their own records", async () => {
			const page = await as('ann', 'GET /mine?limit=1')
			const { next } = (page.json() as { meta: { next: string } }).meta
			const reply = await as('bob', `GET /mine?limit=5&cursor=${next}`)
			assert.ok(reply.status === 200 || reply.status === 400)
			assert.not.match(reply.text(), /"a\d"/)
		})

		test('nobody can create for, give to, or take from another owner', async () => {
			for (const [method, id] of [
				['POST', ''],
				['PATCH', `/${ann[0]}`],
				['PUT', `/${ann[0]}`],
			]) {
				const reply = await as('ann', `${method} /mine${id}`, { body: { title: 'x', owner: 'bob' } })
				assert.is(reply.status, 422, `${method}`)
			}
			const owners = (await allRows(model)).map(({ title, owner }) => `${title} ${owner}`)
			assert.equal(owners, ['a1 ann', 'a2 ann', 'b1 bob', 'b2 bob'])
		})

		test("concurrent reads are each answered within their caller's scope", async () => {
			for (let round = 0; round < 10; round++) {
				const asks = [...ann, ...bob].flatMap((id) =>
					['ann', 'bob', 'ann', 'bob'].map(async (owner) => {
						const { status } = await as(owner, `GET /mine/${id}`)
						return `${owner} ${id} ${status}`
					}),
				)
				const expected = [...ann, ...bob].flatMap((id) =>
					['ann', 'bob', 'ann', 'bob'].map(
						(owner) => `${owner} ${id} ${(owner === 'ann' ? ann : bob).includes(id) ? 200 : 404}`,
					),
				)
				assert.equal(await Promise.all(asks), expected)
			}
		})

		test("with a scope for writes only, bob reads ann's records and cannot change them", async () => {
			const server = createServer({ shared: new Shared(model, OPTIONS) })
			const before = await allRows(model)
			const ask = (owner: string, method: string, id = '', sent: Sent = {}) =>
				server.inject({
					...{ method, url: `/shared/${id}`, body: sent.body },
					headers: { 'x-owner': owner, ...sent.headers },
				})
			assert.is((await ask('bob', 'GET', ann[0])).status, 200)
			const many = { 'if-match': '"1", "2"' }
			for (const method of ['PATCH', 'POST', 'PUT', 'DELETE'])
				for (const headers of [
					{},
					{ 'if-match': '"1"' },
					many,
					{ 'if-match': '*' },
					{ 'if-none-match': '*' },
				])
					assert.is((await ask('bob', method, ann[0], { body: { title: 'x' }, headers })).status, 404)
			assert.is((await ask('bob', 'PATCH', ann[0], { body: {} })).status, 404)
			assert.equal(await allRows(model), before)
			assert.is((await ask('ann', 'PATCH', ann[0], { body: { title: 'a3' } })).status, 200)
			assert.is((await ask('ann', 'DELETE', ann[1])).status, 200)
			const made = await ask('bob', 'POST', '', { body: { title: 'b3' } })
			assert.is(made.status, 201)
			const titles = (await allRows(model)).map(({ title, owner }) => `${title} ${owner}`)
			assert.equal(titles, ['a3 ann', 'b1 bob', 'b2 bob', 'b3 bob'])
		})

		test('a write that would leave a condition is undone, also one on related records', async () => {
			class Open extends CrudHandler {
				override scope(): CrudScope {
					const owner = this.request.header('x-owner')
					return { or: [{ owner }, { rank: { gte: 5 } }, { children: { some: { title: 'b1' } } }] }
				}
			}
			const open: CrudHandler = new Open(model, {
				...{ ...OPTIONS, updatable: [...(OPTIONS.updatable ?? []), 'owner'] },
				relations: { children: { to: () => open, many: true } },
			})
			const server = createServer({ open })
			const ask = (method: string, id: string, body: object) =>
				server.inject({ method, url: `/open/${id}`, body, headers: { 'x-owner': 'ann' } })
			const before = await allRows(model)
			for (const [method, id, body] of [
				['POST', '', { title: 'n', owner: 'bob' }],
				['PATCH', ann[0], { owner: 'bob', rank: 4 }],
				['PUT', ann[1], { title: 'n', owner: 'bob' }],
				['POST', '', { title: 'n', owner: 'bob', parent: Number(ann[0]) }],
			] as const)
				assert.is((await ask(method, id ?? '', body)).status, 403, `${method} ${JSON.stringify(body)}`)
			assert.equal(await allRows(model), before)
			assert.is((await ask('PATCH', bob[0] ?? '', { title: 'x' })).status, 404)
			assert.is((await ask('PATCH', ann[0] ?? '', { owner: 'bob', rank: 5 })).status, 200)
			assert.is((await ask('POST', '', { title: 'n', owner: 'bob', rank: 6 })).status, 201)
			// b1, now a child of a2, keeps a2 within the scope.
			assert.is((await as('bob', `PATCH /mine/${bob[0]}`, { body: { parent: Number(ann[1]) } })).status, 200)
			assert.is((await ask('PATCH', ann[1] ?? '', { owner: 'bob' })).status, 200)
			assert.is((await ask('DELETE', ann[1] ?? '', {})).status, 409)
		})

		test('a scope may have thousands of terms and values', async () => {
			const owners = Array.from({ length: 1_500 }, (_, at) => `nobody ${at}`)
			const terms = owners.map((owner) => ({ owner }))
			for (const scope of [
				{ owner: [...owners, 'ann'] },
				{ or: [...terms, { owner: 'ann' }] },
				{ and: [...terms.map((term) => ({ not: term })), { owner: 'ann' }] },
			]) {
				class Large extends CrudHandler {
					override scope() {
						return scope
					}
				}
				const server = createServer({ large: new Large(model, OPTIONS) })
				const { data } = (await server.inject({ url: '/large?fields=title' })).json() as { data: object[] }
				assert.equal(data, [{ title: 'a1' }, { title: 'a2' }])
				const changed = await server.inject({
					method: 'PATCH',
					url: `/large/${bob[0]}`,
					body: { title: 'x' },
				})
				assert.is(changed.status, 404)
			}
		})

		test('each owner can delete their own records', async () => {
			assert.is((await as('ann', `DELETE /mine/${ann[0]}`)).status, 200)
			assert.is((await as('bob', `DELETE /mine/${bob[0]}`)).status, 200)
			assert.equal(
				(await allRows(model)).map(({ title }) => title),
				['a2', 'b2'],
			)
		})

		test('a scope with undefined, or one that is not an object, is a 500 for every verb and affects nothing', async () => {
			const before = await allRows(model)
			for (const answer of [
				{ owner: undefined },
				{ owner: [undefined] },
				{ owner: 'ann', status: undefined },
				undefined,
				null,
				'ann',
				[],
			]) {
				class Odd extends CrudHandler {
					override scope() {
						// JavaScript allows it, though TypeScript doesn't.
						return answer as Record<string, unknown>
					}
				}
				const server = createServer(
					{ odd: new Odd(model, OPTIONS) },
					{ logger: { info() {}, warn() {}, error() {} } },
				)
				const headers = { 'content-type': 'application/json' }
				for (const request of [
					{ url: '/odd' },
					{ url: '/odd?limit=0' },
					{ url: `/odd/${ann[0]}` },
					{ method: 'POST', url: '/odd', headers, body: '{"title":"x"}' },
					...['PATCH', 'PUT', 'POST'].map((method) => ({
						method,
						url: `/odd/${ann[0]}`,
						headers,
						body: '{"title":"x"}',
					})),
					{ method: 'DELETE', url: `/odd/${ann[0]}` },
				]) {
					const reply = await server.inject(request)
					assert.is(reply.status, 500, `${JSON.stringify(answer)} ${JSON.stringify(request)}`)
					assert.not.match(reply.text(), /"a1"|owner|scope/)
				}
			}
			assert.equal(await allRows(model), before)
		})
	})
}

const column = "state varchar(20) not null default 'public', open int generated always as"
const POSTS: TableKind = {
	sqlite: `create table TABLE (id integer primary key autoincrement, ${column} (state = 'public') stored)`,
	postgres: `create table TABLE (id bigint generated by default as identity primary key,
		${column} (case when state = 'public' then 1 else 0 end) stored)`,
	mariadb: `create table TABLE (id bigint auto_increment primary key, ${column} (state = 'public') stored)`,
	inMemory: (name) => new MemoryModel(name, { key: 'id', fields: { id: 'bigint' } }),
}

for (const name of stores.filter((one) => one !== 'memory')) {
	describe(`crud: a scope of generated columns over ${name}`, (test) => {
		let store: Store
		test.before(async () => {
			store = await openStore(name, 'scope_generated', 5, POSTS)
		})
		test.after(() => store.close())

		for (const scope of [{ open: 1 }, { open: [1, 2] }, { or: [{ open: 1 }] }]) {
			test(`no write leaves ${JSON.stringify(scope)}`, async () => {
				class Posts extends CrudHandler {
					override scope() {
						return scope
					}
				}
				const allow = ['list', 'create', 'update', 'replace'] as const
				const post = new Posts(await store.emptied(), { visible: 'all', updatable: ['state'], allow })
				const server = createServer({ post })
				const ask = async (method: string, id: string, body: object) =>
					server.inject({ method, url: `/post${id}`, body })
				const made = await ask('POST', '', {})
				assert.is(made.status, 201)
				const { id } = (made.json() as { data: { id: number } }).data
				assert.is((await ask('POST', '', { state: 'draft' })).status, 403)
				for (const method of ['PATCH', 'PUT']) {
					assert.is((await ask(method, `/${id}`, { state: 'draft' })).status, 403, method)
					assert.is((await ask(method, `/${id}`, { state: 'public' })).status, 200, method)
				}
			})
		}
	})
}
