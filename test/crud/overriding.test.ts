/** Overridden operations: their arguments, what they may return, and what `super` returns, with types. */
import * as assert from 'uvu/assert'
import { splitNeeded } from '../../lib/crud/json-text.ts'
import {
	CrudHandler,
	type CrudOptions,
	type CrudPage,
	type CrudQuery,
	type CrudRecord,
	type CrudValues,
	DEFAULT,
	MemoryModel,
	RawJson,
	reply,
} from '../../lib/index.ts'
import { dataIn, open } from '../explorer/page-of.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { type Same, same } from '../helpers/same.ts'
import { articleModel, articles, dataOf, EVERYTHING, idsOf, OPTIONS, refusalOf } from './articles.ts'

describe('crud: the types of operations', (test) => {
	const handler = new CrudHandler(articleModel(), OPTIONS)

	test('super and callers have the exact return types of the operations', async () => {
		const asked = () => ({
			list: handler.list(),
			read: handler.read('1'),
			create: handler.create({ title: 'N' }),
			update: handler.update('1', {}),
			replace: handler.replace('1', {}),
			remove: handler.remove('1'),
		})
		type Answers = ReturnType<typeof asked>
		same<Same<Answers['list'], Promise<CrudPage>>>()
		same<Same<Answers['read'], Promise<CrudRecord>>>()
		same<Same<Answers['create'], Promise<CrudRecord>>>()
		same<Same<Answers['update'], Promise<CrudRecord>>>()
		same<Same<Answers['replace'], Promise<CrudRecord>>>()
		same<Same<Answers['remove'], Promise<CrudRecord>>>()

		class Typed extends CrudHandler {
			override async read(id: string) {
				const record = await super.read(id)
				same<Same<typeof record, CrudRecord>>()
				// @ts-expect-error: no member of a record
				record.nothing
				// @ts-expect-error: what is awaited doesn't become what it is wished to be
				const wished: number = await super.read(id)
				return { wished }
			}
		}
		const read = await new Typed(articleModel(), OPTIONS).read('1')
		same<Same<typeof read, { wished: number }>>()
		assert.is(Object.keys(read).join(), 'wished')
	})

	test('programs may pass a number as an id, but none that may be rounded', async () => {
		const own = new CrudHandler(articleModel(), OPTIONS)
		await own.update(3, { title: 'N' })
		await own.replace(3n, { title: 'M' })
		for (const id of ['3', 3, 3n]) assert.is(JSON.parse((await own.read(id)).text).title, 'M')
		await own.remove(3)
		const refused = (id: number) => own.read(id).then(String, String)
		for (const id of [3, 1.5, Number.NaN]) assert.is(await refused(id), 'RestError: Not Found')
		assert.is(
			await refused(2 ** 53),
			'TypeError: an id must be text, a bigint or a whole number within ±2^53, got 9007199254740992',
		)
	})

	test("an override may return anything, with the operation's parameters", async () => {
		class Anything extends CrudHandler {
			override list() {
				return [1, 2]
			}
			override async read(id: string) {
				return id === '1' ? undefined : reply(await super.read(id), { status: 203 })
			}
			override create(): never {
				throw new Error('unmade')
			}
			override update(id: string) {
				return id === '1' ? this.error('No') : super.read(id)
			}
			override remove() {}
		}
		class Further extends Anything {
			override list() {
				return super.list().slice(1)
			}
		}
		class Wrong extends CrudHandler {
			// @ts-expect-error: an id is a text
			override read(id: number) {
				return id
			}
		}
		assert.equal(await dataOf(articles(new Further(articleModel(), OPTIONS)), '/article'), [2])
		assert.is(new Wrong(articleModel(), OPTIONS).read(5), 5)
	})
})

describe('crud: list() with part of a query', (test) => {
	class Mine extends CrudHandler {
		override scope() {
			return { owner: 'ann' }
		}

		async get_count() {
			const { meta } = await super.list({ limit: 0 })
			return meta
		}

		get_newest() {
			return this.list({ order: [{ field: 'id', descending: true }], limit: 1 })
		}

		async get_first() {
			const { text, meta } = await this.list()
			return { first: JSON.parse(text), meta }
		}
	}
	const mine = () => articles(new Mine(articleModel(), { visible: ['id'] }))

	test('counts within the scope', async () => {
		assert.equal(await dataOf(mine(), '/article/count'), { limit: 0, offset: 0, next: null, total: 3 })
	})

	test('fills in the defaults of a list without parameters', async () => {
		assert.equal(await dataOf(mine(), '/article/newest'), [{ id: 5 }])
		assert.equal(await dataOf(mine(), '/article/first'), {
			first: [{ id: 1 }, { id: 3 }, { id: 5 }],
			meta: { limit: 25, offset: 0, next: null },
		})
	})

	test('has cursors for its own order', async () => {
		const handler = new CrudHandler(articleModel(), OPTIONS)
		const asked = articles(handler)
		const stamped = async (query: Partial<CrudQuery>) =>
			(await handler.list({ limit: 1, ...query })).meta.next
		const order = [{ field: 'id', descending: true }]
		assert.is((await asked.ask(`/article?cursor=${await stamped({})}`)).status, 200)
		assert.is((await asked.ask(`/article?cursor=${await stamped({ order })}`)).status, 400)
	})
})

describe('crud: the values of an override', (test) => {
	test("are passed to the model under the clients' field names", async () => {
		const model = new MemoryModel('t', {
			key: 'id',
			fields: {
				id: 'integer',
				is_on: { type: 'boolean', default: true },
				...{ count: 'integer', big: 'bigint', rate: 'float', price: 'decimal', name: 'text', uid: 'uuid' },
				...{ day: 'date', at: 'timestamp', about: 'json', bytes: 'bytes' },
				note: { type: 'text', nullable: true },
			},
		})
		const seen: CrudValues[] = []
		class Seeing extends CrudHandler {
			override create(values: CrudValues) {
				seen.push(values)
				return super.create(values)
			}
			override replace(id: string, values: CrudValues) {
				seen.push(values)
				return super.replace(id, values)
			}
		}
		const updatable = model.fields.map(({ name }) => name).filter((name) => name !== 'id')
		const isOn = { isOn: 'is_on' }
		const handler = new Seeing(model, {
			...{ visible: 'all', columns: isOn, allow: EVERYTHING },
			updatable: updatable.map((name) => (name === 'is_on' ? 'isOn' : name)),
		})
		const body = {
			...{ count: 1, big: '9007199254740993', rate: 'NaN', price: 12.5, name: 'x' },
			...{ uid: '0F8FAD5B-D9CB-469F-A165-70867728950E', day: '2026-11-20', bytes: 'AQI=' },
			...{ at: '2026-11-20T10:00:00.1234+01:00', about: { a: [1] } },
		}
		const asked = asking({ t: handler })
		await dataOf(asked, 'POST /t', { body })
		await dataOf(asked, 'PUT /t/1', { body })
		const given = {
			...{ count: 1, big: 9007199254740993n, rate: Number.NaN, price: '12.5', name: 'x' },
			...{ uid: '0f8fad5b-d9cb-469f-a165-70867728950e', day: '2026-11-20' },
			...{ at: '2026-11-20T09:00:00.1234Z', about: new RawJson('{"a":[1]}'), bytes: Buffer.from([1, 2]) },
		}
		const [created = {}, replaced = {}] = seen
		for (const [name, value] of Object.entries(given)) {
			if (value instanceof RawJson) assert.is((created[name] as RawJson).text, value.text)
			else assert.equal(created[name], value, name)
		}
		assert.equal(Object.keys(created).sort(), Object.keys(given).sort())
		assert.equal([replaced.isOn, replaced.note], [DEFAULT, null])
	})

	test('may have the key, which clients then needn’t give', async () => {
		const fields = { shop: 'integer', number: 'integer', text: 'text' } as const
		const model = new MemoryModel('ticket', { key: ['shop', 'number'], fields })
		class Tickets extends CrudHandler {
			override async create(values: CrudValues) {
				const { meta } = await this.list({ limit: 0 })
				return super.create({ number: 1 + Number(meta.total), ...values })
			}
		}
		class Silent extends CrudHandler {
			override create(values: CrudValues) {
				return super.create(values)
			}
		}
		const options: CrudOptions = {
			...{ visible: 'all', updatable: ['text'] },
			allow: ['list', 'create', 'createMany', 'import'],
		}
		const { said, server } = asking(
			{ tickets: new Tickets(model, options), silent: new Silent(model, options) },
			{ openapi: { title: 'Tickets', version: '1' } },
		)
		const made = (number: number) => `{"shop":7,"number":${number},"text":"a"}`
		const body = { shop: 7, text: 'a' }
		assert.is(await said('POST /tickets', { body }), `201 {"success":true,"data":${made(1)}}`)
		assert.is(
			await said('POST /tickets', { body: [body, { ...body, number: 5 }] }),
			`201 {"success":true,"data":[${made(2)},${made(5)}]}`,
		)
		const headers = { 'content-type': 'application/x-ndjson' }
		assert.match(await said('POST /tickets/import', { body: JSON.stringify(body), headers }), /^20\d /)
		// Where nobody gives it, as where any other value is missing.
		assert.match(await said('POST /silent', { body }), /^422 .*"field":"number"/)
		const { json } = await server.inject({ url: '/openapi.json' })
		const { schemas } = (json() as { components: { schemas: Record<string, { required?: string[] }> } })
			.components
		assert.equal(schemas.TicketCreate?.required, ['text'])
	})
})

describe('crud: pages returned by other methods', (test) => {
	class Pages extends CrudHandler {
		override customRoutes = { 'GET of/%s': 'ofOwner' }

		get_latest() {
			return this.list({ order: [{ field: 'id', descending: true }], limit: 2, total: true })
		}
		async get_named() {
			const page = await this.list({ limit: 2 })
			return page.with((page.value() as { id: number }[]).map(({ id }) => ({ id, name: `n${id}` })))
		}
		async get_replied() {
			return reply(await this.list({ limit: 2 }), { status: 203 })
		}
		async get_own_meta() {
			return reply(await this.list({ limit: 2 }), { meta: { own: true } })
		}
		ofOwner(owner: string) {
			return this.list(this.listQuery({ op: 'eq', field: 'owner', value: owner }))
		}
		async get_one() {
			return this.read('1')
		}
		get_none() {
			return [this.wrap]
		}
	}
	const options = { visible: ['id', 'title'] }
	const pages = () => articles(new Pages(articleModel(), options))
	const metaOf = async (asked: Asking, url: string) => {
		const answer = await asked.ask(url)
		return { ...(answer.json() as { meta?: object }).meta, link: answer.headers.link }
	}

	test('keep meta, Link and X-Total-Count', async () => {
		const answer = await pages().ask('/article/latest')
		const { data, meta } = answer.json() as { data: unknown; meta: { next: string } }
		assert.equal(data, [
			{ id: 5, title: 'Title 5' },
			{ id: 4, title: 'Title 4' },
		])
		assert.equal(meta, { limit: 2, offset: 0, next: meta.next, total: 5 })
		assert.is(answer.headers.link, `</article/latest?cursor=${meta.next}>; rel="next"`)
		assert.is(answer.headers['x-total-count'], '5')
	})

	test('keep them through with() and reply(), which may have a meta of its own', async () => {
		const asked = pages()
		for (const url of ['/article/named', '/article/replied']) {
			const { link, ...meta } = await metaOf(asked, url)
			assert.equal(Object.keys(meta), ['limit', 'offset', 'next'], url)
			assert.match(String(link), 'rel="next"')
		}
		assert.is((await asked.ask('/article/replied')).status, 203)
		assert.equal(await metaOf(asked, '/article/own_meta'), { own: true, link: undefined })
		assert.equal(await metaOf(asked, '/article/none'), { link: undefined })
	})

	test('of an overridden list keep the search, filters and pages of the explorer', async () => {
		class Overriding extends CrudHandler {
			override async list(query?: Partial<CrudQuery>) {
				const page = await super.list(query)
				return page.with(page.value())
			}
		}
		const dataOf = async (handler: CrudHandler) => {
			const { server } = asking({ article: handler }, { explorer: true })
			const { operations, recordPath } = dataIn(await open(server, '/article?limit=1'))
			return { operations, recordPath }
		}
		const own = await dataOf(new Overriding(articleModel(), OPTIONS))
		const way = own.operations.find(({ method }) => method === 'GET')
		assert.equal([way?.isPage, own.recordPath], [true, '/article/{id}'])
		assert.ok(way?.query.some(({ name }) => name === 'search'))
		assert.equal(own, await dataOf(new CrudHandler(articleModel(), OPTIONS)))
	})

	test('of an overridden list keep them through reply() too', async () => {
		class Replying extends CrudHandler {
			override async list(query?: Partial<CrudQuery>) {
				return reply(await super.list(query), { status: 203 })
			}
		}
		const asked = articles(new Replying(articleModel(), options))
		const { link, ...meta } = await metaOf(asked, '/article?limit=1&count=exact')
		assert.equal([Object.keys(meta), link !== undefined], [['limit', 'offset', 'next', 'total'], true])
	})

	test("accept a list's parameters by listQuery(), and their cursors can be followed", async () => {
		const asked = pages()
		assert.equal(await idsOf(asked, '/article/of/ann'), [1, 3, 5])
		assert.equal(await idsOf(asked, '/article/of/ann?sort=-id&limit=2'), [5, 3])
		// The client's own conditions also apply.
		assert.equal(await idsOf(asked, '/article/of/ann?id[gt]=1'), [3, 5])
		const first = await asked.ask('/article/of/ann?sort=-id&limit=2&fields=id')
		const [, next = ''] = /^<([^>]+)>/.exec(String(first.headers.link)) ?? []
		assert.equal(await dataOf(asked, next), [{ id: 1 }])
		assert.is(
			await refusalOf(asked, '/article/of/ann?secret=MARKER1'),
			'400 secret is not a parameter of this list: it takes limit, offset, cursor, sort, fields, count, filter, id, title',
		)
		const outside = new Pages(articleModel(), options)
		assert.throws(() => outside.listQuery(), /listQuery of Pages was used outside of a request/)
	})

	test('pass through stripObject, as records do', async () => {
		class Stripping extends Pages {
			override stripObject({ id }: Record<string, unknown>) {
				return { no: id }
			}
		}
		const asked = articles(new Stripping(articleModel(), options))
		assert.equal(await dataOf(asked, '/article/latest'), [{ no: 5 }, { no: 4 }])
		assert.equal((await metaOf(asked, '/article/latest')).link !== undefined, true)
		assert.equal(await dataOf(asked, '/article/one'), { no: 1 })
		assert.equal(await dataOf(asked, '/article/replied'), [{ no: 1 }, { no: 2 }])
	})
})

describe('crud: fields that an override needs', (test) => {
	class Needing extends CrudHandler {
		override async list(query?: Partial<CrudQuery>) {
			this.needs('id', 'owner')
			const page = await super.list(query)
			const records = page.value() as object[]
			return page.with(records.map((record, at) => ({ ...record, by: page.needed[at]?.owner })))
		}
		override async read(id: string) {
			this.needs('id', 'secret')
			const record = await super.read(id)
			const { secret, id: own } = record.needed
			return record.with({ ...(record.value() as object), url: `/${own}`, isKept: typeof secret })
		}
		override async create(values: CrudValues) {
			this.needs('id')
			const record = await super.create(values)
			return record.with({ made: record.needed.id })
		}
		override async update(id: string, values: CrudValues) {
			this.needs('owner')
			const { needed } = await super.read(id)
			return needed.owner === 'ann' ? super.update(id, values) : this.error('Not yours', 403)
		}
		override async replace(id: string, values: CrudValues) {
			this.needs('body')
			return (await super.replace(id, values)).with({ id })
		}
		override remove(id: string) {
			this.needs('owner', 'secret')
			return super.remove(id)
		}
		async get_owners() {
			this.needs('owner')
			return (await this.list({ limit: 2 })).needed
		}
	}
	const needing = () => articles(new Needing(articleModel(), OPTIONS))

	test('are in no response unless the client asked for them', async () => {
		const asked = needing()
		assert.equal(await dataOf(asked, '/article?fields=title&limit=2'), [
			{ title: 'Title 1', by: 'ann' },
			{ title: 'Title 2', by: 'bob' },
		])
		assert.equal(await dataOf(asked, '/article?fields=id&id=2'), [{ id: 2, by: 'bob' }])
		const read = { title: 'Title 1', url: '/1', isKept: 'string' }
		assert.equal(await dataOf(asked, '/article/1?fields=title'), read)
		const whole = (await dataOf(asked, '/article/1')) as object
		assert.equal(Object.keys(whole), [...OPTIONS.visible, 'url', 'isKept'])
		const body = { title: 'New' }
		assert.equal(await dataOf(asked, 'POST /article?fields=body', { body }), { made: 6 })
		assert.equal(await dataOf(asked, 'PATCH /article/1?fields=title', { body: { title: 'A' } }), {
			title: 'A',
		})
		assert.is((await asked.ask('PATCH /article/2', { body: { title: 'A2' } })).status, 403)
		assert.equal(await dataOf(asked, 'PATCH /article/1?fields=title', { body: {} }), { title: 'A' })
		assert.equal(await dataOf(asked, 'DELETE /article/6?fields=title'), { title: 'New' })
		assert.equal(await dataOf(asked, '/article/owners'), [
			{ id: 1, owner: 'ann' },
			{ id: 2, owner: 'bob' },
		])
	})

	test('must exist, and can only be requested during a request', async () => {
		class Wrong extends CrudHandler {
			override read(id: string) {
				this.needs('ownr')
				return super.read(id)
			}
		}
		const asked = articles(new Wrong(articleModel(), OPTIONS))
		assert.is((await asked.ask('/article/1')).status, 500)
		assert.is(asked.logged(), 'Wrong.needs() was given ownr, which is not a field: did you mean owner?')
		assert.throws(() => new Wrong(articleModel(), OPTIONS).needs('id'), /outside of a request/)
	})

	test('are in no response, even when the model omits or reorders fields', async () => {
		const model = articleModel()
		const { read } = model
		for (const [json, answered] of [
			['{"title":"T","owner":"HIDDEN","secret":"HIDDEN"}', { title: 'T' }],
			['{"secret":"HIDDEN","id":1,"owner":"HIDDEN","title":"T"}', { id: 1, title: 'T' }],
			['{"owner":"HIDDEN","secret":"HIDDEN"}', {}],
			['{}', {}],
		] as const) {
			model.read = async (id, ...more) => {
				const found = await read.call(model, id, ...more)
				return found === undefined ? undefined : { ...found, json }
			}
			const { needed, text } = await asked(model)
			assert.equal(JSON.parse(text).data, answered)
			assert.equal(needed, json === '{}' ? {} : { owner: 'HIDDEN', secret: 'HIDDEN' })
		}
		async function asked(of: MemoryModel) {
			let needed: unknown
			class Reading extends CrudHandler {
				override async read(id: string) {
					this.needs('owner', 'secret')
					const record = await super.read(id)
					needed = record.needed
					return record
				}
			}
			const reply = await articles(new Reading(of, OPTIONS)).ask('/article/1?fields=id,title,body')
			return { text: String(reply.body), needed }
		}
	})

	test('are cut from the JSON text, which otherwise stays digit for digit', () => {
		const text = ' [ {"a" : "x,}]\\\\\\"" , "b":9007199254740993,"c":[1,{"d":2}] } ,{"a":"","b":1,"c":null}]'
		const two = splitNeeded(text, ['a', 'b'], ['a', 'c'])
		assert.is(two.json, ' [ {"a" : "x,}]\\\\\\"" , "b":9007199254740993} ,{"a":"","b":1}]')
		assert.equal(two.needed, [
			{ a: 'x,}]\\"', c: [1, { d: 2 }] },
			{ a: '', c: null },
		])
		assert.is(splitNeeded(text, ['a', 'b', 'c'], []).json, text)
		assert.equal(splitNeeded('[]', ['a', 'b'], ['a']), { json: '[]', needed: [] })
		assert.is(splitNeeded('{"a":{"b":[]},"b":[{}],"c":"]"}', ['a'], []).json, '{"a":{"b":[]}}')
	})

	test('are cut by name, wherever they stand and however they are escaped', () => {
		const cases: [string, string][] = [
			['{"s":1,"a":2.50,"t":3,"b":1e400}', '{"a":2.50,"b":1e400}'],
			['[{"s":1},{"s":{"a":1}},{},{ }]', '[{},{},{},{}]'],
			['{"\\u0061":1,"\\u0073":2,"s\\"":3,"a\\"":4}', '{"\\u0061":1}'],
			['{"s":1,"s":2,"a":3,"s":4,"a":5}', '{"a":3,"a":5}'],
			['{"A":1,"a ":2,"":3,"__proto__":4,"a":"\\"s\\":1,"}', '{"a":"\\"s\\":1,"}'],
			['{\n\t"s" : 1 ,\n\t"a" : 2\n}', '{\n\t"a" : 2\n}'],
		]
		for (const [json, expected] of cases) assert.is(splitNeeded(json, ['a', 'b'], ['s']).json, expected)
		const { json, needed } = splitNeeded(
			'{"__proto__":1,"x\\\\\\"y":2,"s":3}',
			['x\\"y'],
			['__proto__', 'toString'],
		)
		assert.is(json, '{"x\\\\\\"y":2}')
		const [own = {}] = needed
		assert.equal(Object.entries(own), [['__proto__', 1]])
	})
})
