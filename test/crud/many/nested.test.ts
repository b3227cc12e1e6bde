/** New records with related ones within: `writable: ['create']`, on all stores. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOptions,
	type CrudRelation,
	type CrudScope,
	type CrudValues,
	MemoryCache,
	MemoryModel,
	type Model,
	type User,
} from '../../../lib/index.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'
import { openStore, type Store, storesHere } from '../over/stores.ts'

const VALUES = ['title', 'stock', 'code', 'owner']
const OPTIONS: CrudOptions = {
	visible: ['id', ...VALUES],
	creatable: VALUES,
	rules: { stock: ['integer', { min: 0 }] },
	allow: ['list', 'read', 'create'],
}
const authenticator = {
	authenticate: ({ headers }: { headers: Readonly<Record<string, unknown>> }): User | null =>
		typeof headers.user === 'string' ? { id: headers.user } : null,
}

/** Children that only users create, within what a header says. */
class Children extends CrudHandler {
	override access = { create: 'user', '*': 'anyone' } as const
	override scope(): CrudScope {
		const owner = this.request.header('x-owner')
		return owner === undefined ? {} : { or: [{ owner }, { stock: { gt: 90 } }] }
	}
}

interface Answer {
	readonly data: { id: number; title: string; children?: { data: { title: string }[] } }
	readonly error: string
	readonly details: readonly { readonly field: string; readonly code: string }[]
}

for (const name of await storesHere()) {
	describe(`nested creates over ${name}`, (test) => {
		let store: Store
		let model: Model
		test.before(async () => {
			store = await openStore(name, 'nested')
		})
		test.before.each(async () => {
			model = await store.emptied()
		})
		test.after(() => store.close())

		function serve(
			more: Partial<CrudOptions> = {},
			relation: Partial<CrudRelation> = {},
			Handler = CrudHandler,
		) {
			const children = new Children(model, { ...OPTIONS, maxLimit: 100, limit: 100 })
			const things: CrudHandler = new Handler(model, {
				...{ ...OPTIONS, ...more },
				relations: {
					children: { to: children, by: 'parent', many: true, writable: ['create'], ...relation },
				},
			})
			const { ask } = asking(
				{ thing: things, child: children },
				{ authenticator, cache: new MemoryCache({ max: 1_000 }) },
			)
			const post = async (body: object, headers: Record<string, string> = { user: 'ann' }, query = '') => {
				const reply = await ask(`POST /thing${query}`, { body, headers })
				return { status: reply.status, headers: reply.headers, ...(reply.json() as Answer) }
			}
			return { ask, post }
		}
		const count = () => model.count(undefined)
		const refusal = ({
			status,
			error,
			details = [],
		}: Awaited<ReturnType<ReturnType<typeof serve>['post']>>) =>
			[status, error, ...details.map(({ field, code }) => `${field} ${code}`)].join('; ')

		test('a record is created with its children, and answered with what it includes', async () => {
			const { ask, post } = serve()
			const body = { title: 'a', children: [{ title: 'b', stock: 1 }, { title: 'c' }] }
			const made = await post(body, { user: 'ann' }, '?include=children')
			assert.is(made.status, 201)
			assert.is(made.headers.location, `/thing/${made.data.id}`)
			assert.equal(
				made.data.children?.data.map(({ title }) => title),
				['b', 'c'],
			)
			const below = await ask(`GET /thing/${made.data.id}/children?sort=title`)
			assert.equal(
				(below.json() as { data: { title: string }[] }).data.map(({ title }) => title),
				['b', 'c'],
			)
			const plain = await post({ title: 'd', children: [{ title: 'e' }] })
			assert.equal(Object.keys(plain.data), ['id', ...VALUES])
			assert.is((await post({ title: 'f', children: [] })).status, 201)
			assert.is(await count(), 6)
		})

		test('scope() of the other handler is called once', async () => {
			const asked: string[] = []
			class Asked extends Children {
				override scope(): CrudScope {
					asked.push(this.request.url)
					return super.scope()
				}
			}
			const { post } = serve({}, { to: new Asked(model, OPTIONS) })
			assert.is((await post({ title: 'a', children: [{ title: 'b' }, { title: 'c' }] })).status, 201)
			assert.equal(asked, ['/thing'])
		})

		test('all problems are reported at once, each with its position', async () => {
			const { post } = serve()
			const children = [
				{ title: 'ok' },
				{ stock: -1 },
				5,
				{ title: 'x', secret: 's' },
				{ title: 'y', parent: 1 },
			]
			const { status, error, details } = await post({ stock: 'x', children })
			assert.is(status, 422)
			assert.match(error, /^title is required; .*; children\.1\.title is required; and 4 more$/)
			assert.equal(
				details.map(({ field, code }) => `${field} ${code}`),
				[
					...['title required', 'stock integer', 'children.1.title required', 'children.1.stock min'],
					...['children.2 object', 'children.3.secret unknown', 'children.4.parent unknown'],
				],
			)
			assert.is(
				refusal(await post({ title: 'a', children: 5 })),
				'422; children must be a list of records; children array',
			)
			assert.is(await count(), 0)
		})

		test('if one cannot be stored, none is', async () => {
			const { post } = serve()
			assert.is((await post({ title: 'a', code: 'one' })).status, 201)
			const child = await post({ title: 'b', children: [{ title: 'c' }, { title: 'd', code: 'one' }] })
			assert.is(refusal(child), '409; children.1.code is taken by another record; children.1.code unique')
			const own = await post({ title: 'b', code: 'one', children: [{ title: 'c' }] })
			assert.is(refusal(own), '409; code is taken by another record; code unique')
			assert.is(await count(), 1)
		})

		test('the rights and the scope of the other handler hold', async () => {
			const { post } = serve()
			const children = [{ title: 'b', owner: 'ann' }]
			assert.is((await post({ title: 'a', children }, {})).status, 401)
			assert.is((await post({ title: 'a', children: [] }, {})).status, 201)
			const headers = { user: 'ann', 'x-owner': 'ann' }
			assert.is((await post({ title: 'a', children }, headers)).status, 201)
			const outside = await post(
				{ title: 'a', children: [...children, { title: 'c', owner: 'bob' }] },
				headers,
			)
			assert.is(outside.status, 403)
			assert.match(outside.error, /^children\.?/)
			assert.is(await count(), 3)
		})

		test('they are bounded by maxBatch, and idempotent', async () => {
			const { post } = serve({ maxBatch: 3 })
			const many = (length: number) => Array.from({ length }, (_, at) => ({ title: `t${at}` }))
			assert.is(
				refusal(await post({ title: 'a', children: many(4) })),
				'422; children must have at most 3 records; children max',
			)
			const headers = { user: 'ann', 'idempotency-key': 'k' }
			const [first, again] = [
				await post({ title: 'a', children: many(3) }, headers),
				await post({ title: 'a', children: many(3) }, headers),
			]
			assert.equal([first.status, again.data.id], [201, first.data.id])
			assert.is(await count(), 4)
		})

		test('without the option, children are not fields', async () => {
			const { post } = serve({}, { writable: [] })
			assert.is(
				refusal(await post({ title: 'a', children: [{ title: 'b' }] })),
				'422; children is not a field that can be written; children unknown',
			)
		})

		test('an overridden create() takes part', async () => {
			class Titled extends CrudHandler {
				override create(values: CrudValues) {
					if (values.title === 'bad') return this.error('Not this one', 409)
					return super.create({ ...values, title: `my ${String(values.title)}` })
				}
			}
			const { post } = serve({}, {}, Titled)
			assert.is((await post({ title: 'a', children: [{ title: 'b' }] })).data.title, 'my a')
			assert.is((await post({ title: 'bad', children: [{ title: 'b' }] })).status, 409)
			assert.is(await count(), 2)
		})
	})
}

describe('nested creates and an overridden create()', (test) => {
	const database = opened(sqliteDrivers[0]?.open)
	test.after(() => void database.close())

	test('its answer has what it adds, the rest as it is then, and the related records that are included', async () => {
		database.exec(`
			create table "order" (id integer primary key, customer text, total int not null default 0,
				weight real default 1e20);
			create table item (id integer primary key, orderId integer references "order", price int);
			create trigger sum after insert on item begin
				update "order" set total = total + new.price, weight = 2.5 where id = new.orderId;
			end`)
		const [order, item] = [
			await SqliteModel.open(database, 'order'),
			await SqliteModel.open(database, 'item'),
		]
		const items = new CrudHandler(item, {
			visible: ['id', 'price'],
			creatable: ['orderId', 'price'],
			allow: ['list', 'create'],
		})
		class Adding extends CrudHandler {
			override async create(values: CrudValues) {
				const made = await super.create(values)
				return made.with({ ...made.value<object>(), customer: 'B', items: 2, thanks: true })
			}
		}
		class Mailing extends CrudHandler {
			override async create(values: CrudValues) {
				return await super.create(values)
			}
		}
		const options: CrudOptions = {
			visible: 'all',
			creatable: ['customer'],
			allow: ['read', 'create'],
			relations: { items: { to: items, writable: ['create'] } },
		}
		const { said } = asking({ adding: new Adding(order, options), mailing: new Mailing(order, options) })
		const body = { customer: 'A', items: [{ price: 5 }, { price: 7 }] }
		const list = (id: number) =>
			`"items":{"data":[{"id":${id},"price":5},{"id":${id + 1},"price":7}],"meta":{"limit":25,"next":null}}`
		assert.is(
			await said('POST /adding?include=items', { body }),
			`201 {"success":true,"data":{"id":1,"customer":"B","total":12,"weight":2.5,"thanks":true,${list(1)}}}`,
		)
		assert.is(
			await said('POST /mailing?include=items', { body }),
			`201 {"success":true,"data":{"id":2,"customer":"A","total":12,"weight":2.5,${list(3)}}}`,
		)
		assert.match(
			await said('POST /adding', { body }),
			'"customer":"B","total":0,"weight":100000000000000000000,"items":2,"thanks":true}',
		)
	})
})

describe('nested creates in the description', (test) => {
	test('the body has lists of the related records, without what refers to the new one', async () => {
		const order = new MemoryModel('order', { key: 'id', fields: { id: 'integer', customer: 'text' } })
		const item = new MemoryModel('item', {
			key: 'id',
			fields: { id: 'integer', orderId: 'integer', product: 'text' },
			references: [{ field: 'orderId', model: order }],
		})
		const items = new CrudHandler(item, {
			visible: ['id', 'product'],
			creatable: ['orderId', 'product'],
			allow: ['create'],
		})
		const orders = new CrudHandler(order, {
			visible: 'all',
			creatable: ['customer'],
			allow: ['create'],
			relations: { items: { to: items, writable: ['create'] } },
		})
		const { ask } = asking({ order: orders }, { openapi: true })
		const text = (await ask('GET /openapi.json')).text()
		const { components } = JSON.parse(text) as {
			components: { schemas: Record<string, { properties: Record<string, object>; required?: string[] }> }
		}
		assert.equal(components.schemas.OrderCreate?.properties.items, {
			type: 'array',
			items: { $ref: '#/components/schemas/OrderItemsCreate' },
			maxItems: 100,
		})
		assert.equal(components.schemas.OrderItemsCreate?.required, ['product'])
		assert.equal(Object.keys(components.schemas.OrderItemsCreate?.properties ?? {}), ['product', 'id'])
	})
})

describe('nested creates at the mount', (test) => {
	const fields = { id: 'integer', name: 'text', other: { type: 'integer', nullable: true } } as const
	const make = (relation: (to: CrudHandler) => CrudRelation, allow: CrudOptions['allow'] = ['create']) => {
		const model = (name: string) => new MemoryModel(name, { key: 'id', fields })
		const options: CrudOptions = { visible: 'all', updatable: ['name', 'other'], allow: ['create'] }
		const to = new CrudHandler(model('other'), options)
		const handler = new CrudHandler(model('thing'), {
			...options,
			allow: allow ?? [],
			relations: { others: relation(to) },
		})
		return messageOf(() => asking({ thing: handler, other: to }))
	}

	test('is refused where it cannot work', () => {
		assert.is(
			make((to) => ({ to, by: 'other', many: false, writable: ['create'] })),
			'CrudHandler of thing: relations.others: writable: create is for relations to many records with the foreign key in them',
		)
		assert.is(
			make((to) => ({ to, by: 'other', many: true, writable: ['create'] }), ['list', 'read']),
			'CrudHandler of thing: relations.others: writable: create needs create in allow of both CrudHandler of thing and CrudHandler of other',
		)
	})
})
