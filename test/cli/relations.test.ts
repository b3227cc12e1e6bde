/** Relations derived from foreign keys: their names, and that all of them can be included. */
import * as assert from 'uvu/assert'
import { handlersOf, plansOf } from '../../lib/cli/handlers.ts'
import { MemoryModel, type Model } from '../../lib/index.ts'
import { SqliteModel } from '../../lib/models/sqlite/model.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { sqliteDrivers } from '../helpers/sqlite.ts'

type Options = ConstructorParameters<typeof MemoryModel>[1]

/** The relations of each table, and the status of a list that includes them all. */
async function related(models: Readonly<Record<string, Model>>): Promise<Record<string, readonly string[]>> {
	const { plans } = await plansOf(new Map(Object.entries(models)), false)
	const { ask } = asking(handlersOf(plans))
	for (const { path, relations } of plans) {
		const names = Object.keys(relations)
		if (names.length === 0) continue
		const { status, text } = await ask(`/${path}?include=${names.join(',')}`)
		assert.is(status, 200, text())
	}
	return Object.fromEntries(plans.map(({ name, relations }) => [name, Object.keys(relations)]))
}

function table(name: string, options: Partial<Options> = {}): MemoryModel {
	return new MemoryModel(name, { fields: { id: 'integer' }, key: 'id', ...options })
}

const reference = { type: 'integer', nullable: true } as const

describe('relations of foreign keys', (test) => {
	test('are named by their column, and on the other side by the table', async () => {
		const author = table('author')
		const article = table('article', {
			fields: { id: 'integer', author_id: reference },
			references: [{ field: 'author_id', model: author }],
		})
		assert.equal(await related({ author, article }), { author: ['article'], article: ['author'] })
	})

	test('of several keys between two tables have the columns in their names', async () => {
		const user = table('user')
		const post = table('post', {
			fields: { id: 'integer', authorId: reference, editorId: reference },
			references: [
				{ field: 'authorId', model: user },
				{ field: 'editorId', model: user },
			],
		})
		assert.equal(await related({ user, post }), {
			user: ['post_by_authorId', 'post_by_editorId'],
			post: ['author', 'editor'],
		})
	})

	test('to the same table lead to the parent and to the children', async () => {
		const page = table('page', {
			fields: { id: 'integer', parent_id: reference },
			references: [{ field: 'parent_id', model: 'itself' }],
		})
		assert.equal(await related({ page }), { page: ['parent', 'page_by_parent_id'] })
	})

	test('that are the whole key lead to one record from both sides', async () => {
		const user = table('user', { rows: [{}] })
		const profile = table('profile', {
			fields: { user_id: 'integer', about: { type: 'text', default: 'x' } },
			key: 'user_id',
			references: [{ field: 'user_id', model: user }],
			rows: [{ user_id: 1 }],
		})
		assert.equal(await related({ user, profile }), { user: ['profile'], profile: ['user'] })
		const { plans } = await plansOf(new Map(Object.entries({ user, profile })), false)
		const { said } = asking(handlersOf(plans))
		const one = '{"success":true,"data":{"id":1,"profile":{"user_id":1,"about":"x"}}}'
		assert.is(await said('/user/1?include=profile'), `200 ${one}`)
	})

	test('of a table whose key is two of them tie many to many', async () => {
		const [article, tag] = [table('article'), table('tag')]
		const article_tag = new MemoryModel('article_tag', {
			fields: { article_id: 'integer', tag_id: 'integer' },
			key: ['article_id', 'tag_id'],
			references: [
				{ field: 'article_id', model: article },
				{ field: 'tag_id', model: tag },
			],
		})
		assert.equal(await related({ article, tag, article_tag }), {
			article: ['article_tag', 'tag'],
			tag: ['article_tag', 'article'],
			article_tag: ['article', 'tag'],
		})
	})

	test('tie records only where the table between needs no more than its keys', async () => {
		const [order, product] = [table('order'), table('product')]
		for (const count of ['integer', reference] as const) {
			const item = new MemoryModel('item', {
				fields: { order_id: 'integer', product_id: 'integer', count },
				key: ['order_id', 'product_id'],
				references: [
					{ field: 'order_id', model: order },
					{ field: 'product_id', model: product },
				],
			})
			const { plans } = await plansOf(new Map(Object.entries({ order, product, item })), true)
			asking(handlersOf(plans))
			const { relations } = plans.find(({ name }) => name === 'order') ?? {}
			assert.equal(relations?.product?.writable, count === 'integer' ? undefined : ['tie'])
		}
	})

	test('never have the name of a field, and those of several columns that of the table', async () => {
		const room = new MemoryModel('room', {
			fields: { house: 'integer', no: 'integer' },
			key: ['house', 'no'],
		})
		const guest = table('guest', {
			fields: {
				id: 'integer',
				house: reference,
				no: reference,
				room: 'text',
				host_id: reference,
				host: 'text',
			},
			references: [
				{ field: ['house', 'no'], model: room },
				{ field: 'host_id', model: 'itself' },
			],
		})
		assert.equal(await related({ room, guest }), {
			room: ['guest'],
			guest: ['room_by_house_no', 'guest', 'guest_by_host_id'],
		})
	})

	for (const { name, open } of sqliteDrivers) {
		if (open === undefined) continue
		test(`of two tables that refer to each other by columns of one name lead the right way, on ${name}`, async () => {
			const database = open()
			database.exec(`create table a (id integer primary key, other_id int references b (id));
				create table b (id integer primary key, other_id int references a (id));
				insert into a values (1, null); insert into b values (7, 1); update a set other_id = 7`)
			const models = await SqliteModel.openAll(database)
			assert.equal(await related(models), { a: ['other', 'b'], b: ['other', 'a'] })
			const { plans } = await plansOf(new Map(Object.entries(models)), false)
			const { said } = asking(handlersOf(plans))
			const meta = '"meta":{"limit":25,"next":null}'
			assert.is(
				await said('/a/1?include=other,b'),
				`200 {"success":true,"data":{"id":1,"other_id":7,"other":{"id":7,"other_id":1},"b":{"data":[{"id":7,"other_id":1}],${meta}}}}`,
			)
			database.close()
		})
	}

	test('to a table named __proto__ have another name', async () => {
		const odd = table('__proto__')
		const article = table('article', {
			fields: { id: 'integer', x: reference },
			references: [{ field: 'x', model: odd }],
		})
		const found = await related(Object.assign(Object.create(null), { ['__proto__']: odd, article }))
		assert.equal(Object.entries(found), [
			['__proto__', ['article']],
			['article', ['__proto___by_x']],
		])
	})

	test('of the same columns in another order are none: no relation could say which it means', async () => {
		const place = table('place', { fields: { a: 'integer', b: 'integer' }, key: ['a', 'b'] })
		const trip = table('trip', { fields: { id: 'integer', a: reference, b: reference, c: reference } })
		const keys = [
			['a', 'b'],
			['b', 'a'],
			['a', 'c'],
		]
		trip.references = (other) => (other === place ? keys.map((fields) => ({ fields, to: ['a', 'b'] })) : [])
		assert.equal(await related({ place, trip }), { place: ['trip'], trip: ['place'] })
	})

	test('of tables without a key are none', async () => {
		const author = table('author')
		const log = table('log', {
			fields: { author_id: 'integer' },
			key: [],
			references: [{ field: 'author_id', model: author }],
		})
		assert.equal(await related({ author, log }), { author: [], log: [] })
	})
})
