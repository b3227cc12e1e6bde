/** The data provider for react-admin, called as it does, against the API of `examples/react-admin`. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOperation, type Handlers, MemoryModel } from '../../lib/index.ts'
import { type AnyRecord, dataProvider, HttpError, type Options } from '../../lib/providers/react-admin.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { atDesk, decoded, refusalOf } from './desk.ts'

/** What is asked of a list, by its parameters alone: react-admin passes all of these. */
const FIRST_TEN = {
	pagination: { page: 1, perPage: 10 },
	sort: { field: 'id', order: 'ASC' },
	filter: {},
} as const

function idsOf(records: readonly AnyRecord[]): unknown[] {
	return records.map(({ id }) => id)
}

/** Tags of articles, whose key has two fields. */
function tagHandlers(more: readonly CrudOperation[] = []): Handlers {
	const model = new MemoryModel('tag', {
		fields: { article: 'integer', tag: 'text', note: { type: 'text', nullable: true } },
		key: ['article', 'tag'],
		rows: ['herb', 'a,b/c', 'tree'].map((tag, at) => ({ article: 7 + (at % 2), tag, note: `note ${at}` })),
	})
	const options = { visible: 'all', updatable: ['note'], creatable: ['article', 'tag', 'note'] } as const
	const allow = ['list', 'read', 'create', 'update', 'remove', ...more] as const
	return { 'api/tags': new CrudHandler(model, { ...options, allow }) }
}

describe('react-admin: a key of several fields', (test) => {
	test("records have an id of the key's values, by which they are read, changed and deleted", () =>
		listening(tagHandlers(), {}, async ({ url }) => {
			const provider = dataProvider(`${url}/api`, { keys: { tags: ['article', 'tag'] } })
			const { data, total } = await provider.getList('tags', FIRST_TEN)
			const odd = '8,a%2Cb%2Fc'
			assert.equal([idsOf(data), total], [['7,herb', '7,tree', odd], 3])
			const descending = { ...FIRST_TEN, sort: { field: 'id', order: 'DESC' } } as const
			assert.equal(idsOf((await provider.getList('tags', descending)).data), [odd, '7,tree', '7,herb'])
			assert.equal((await provider.getOne('tags', { id: odd })).data, {
				...{ article: 8, tag: 'a,b/c', note: 'note 1', id: odd },
			})
			const many = await provider.getMany('tags', { ids: [odd, '9,gone', '7,tree'] })
			assert.equal(idsOf(many.data), ['7,tree', odd])
			const previousData = { ...data[2], id: odd }
			const changes = { ...previousData, note: 'new' }
			const changed = await provider.update('tags', { id: odd, data: changes, previousData })
			assert.equal([changed.data.id, changed.data.note], [odd, 'new'])
			const made = await provider.create('tags', { data: { article: 9, tag: 'x' } })
			assert.is(made.data.id, '9,x')
			const ids = ['7,herb', '7,tree']
			assert.equal((await provider.updateMany('tags', { ids, data: { note: null } })).data, ids)
			assert.equal((await provider.deleteMany('tags', { ids })).data, ids)
			assert.is((await provider.delete('tags', { id: odd })).data.id, odd)
			assert.equal(idsOf((await provider.getList('tags', FIRST_TEN)).data), ['9,x'])
		}))

	test('a hundred ids of two values are read by two requests', () =>
		atDesk(
			async ({ provider, asked }) => {
				const ids = Array.from({ length: 100 }, (_, at) => `8,none ${at}`)
				assert.equal(idsOf((await provider.getMany('tags', { ids: [...ids, '7,tree'] })).data), ['7,tree'])
				assert.is(asked.length, 3)
			},
			{ keys: { tags: ['article', 'tag'] } },
			tagHandlers(),
		))

	test('as many ids are deleted at a time as a URL can have', () =>
		atDesk(
			async ({ provider, asked }) => {
				const long = Array.from({ length: 100 }, (_, at) => `8,${'a long name '.repeat(5)}${at}`)
				const ids = ['7,herb', ...long, '7,tree']
				assert.equal((await provider.deleteMany('tags', { ids })).data, ids)
				assert.ok(asked.every(({ method, url }) => method === 'DELETE' && url.length < 2_000))
				assert.equal(idsOf((await provider.getList('tags', FIRST_TEN)).data), ['8,a%2Cb%2Fc'])
			},
			{ keys: { tags: ['article', 'tag'] } },
			tagHandlers(['removeMany']),
		))

	test('many are changed and deleted by one request each, if the handler allows lists', () =>
		atDesk(
			async ({ provider, asked }) => {
				const ids = ['7,herb', '8,a%2Cb%2Fc']
				await provider.updateMany('tags', { ids, data: { note: 'new' } })
				assert.is((await provider.getOne('tags', { id: ids[1] ?? '' })).data.note, 'new')
				await provider.deleteMany('tags', { ids })
				assert.equal(idsOf((await provider.getList('tags', FIRST_TEN)).data), ['7,tree'])
				assert.equal(
					asked.map(({ method }) => method),
					['PATCH', 'GET', 'DELETE', 'GET'],
				)
			},
			{ keys: { tags: ['article', 'tag'] } },
			tagHandlers(['updateMany', 'removeMany']),
		))

	test('the one that it does not is tried once, and then they are changed one by one', () =>
		atDesk(
			async ({ provider, asked }) => {
				const ids = ['7,herb', '7,tree']
				await provider.updateMany('tags', { ids, data: { note: 'new' } })
				await provider.updateMany('tags', { ids, data: { note: 'newer' } })
				await provider.deleteMany('tags', { ids })
				const each = ids.map((id) => `PATCH /api/tags/${id}`)
				const [list, ...others] = asked.map(({ method, url }) => `${method} ${url}`)
				assert.is(list, 'PATCH /api/tags?fields=article,tag')
				assert.equal(others.slice(0, -1), [...each, ...each])
				assert.match(others.at(-1) ?? '', /^DELETE \/api\/tags\?/)
			},
			{ keys: { tags: ['article', 'tag'] } },
			tagHandlers(['removeMany']),
		))
})

describe('react-admin: lists', (test) => {
	test('a page is selected by number and sorted, with the total', () =>
		atDesk(async ({ provider, asked }) => {
			const { data, total, pageInfo } = await provider.getList('articles', {
				pagination: { page: 4, perPage: 12 },
				sort: { field: 'id', order: 'DESC' },
				filter: {},
			})
			assert.equal(idsOf(data), [4, 3, 2, 1])
			assert.is(total, 40)
			assert.equal(pageInfo, { hasNextPage: false, hasPreviousPage: true })
			assert.equal(
				asked.map(({ method, url }) => `${method} ${url}`),
				['GET /api/articles?limit=12&offset=36&sort=-id&count=exact'],
			)
		}))

	test('without parameters the first 25 are returned', () =>
		atDesk(async ({ provider }) => {
			const { data, total, pageInfo } = await provider.getList('articles', {})
			assert.is(data.length, 25)
			assert.is(total, 40)
			assert.equal(pageInfo, { hasNextPage: true, hasPreviousPage: false })
		}))

	test("a page larger than the server's limit is returned complete, and no larger", () =>
		atDesk(async ({ provider, asked }) => {
			const first = Array.from({ length: 210 }, (_, at) =>
				provider.create('authors', { data: { name: `Author ${at}`, email: `${at}@example.org` } }),
			)
			await Promise.all(first)
			asked.length = 0
			const whole = await provider.getList('authors', {
				...FIRST_TEN,
				pagination: { page: 1, perPage: 1_000 },
			})
			assert.is(new Set(idsOf(whole.data)).size, 214)
			assert.is(whole.total, 214)
			assert.equal(whole.pageInfo, { hasNextPage: false, hasPreviousPage: false })
			assert.is(asked.length, 3)
			const most = await provider.getList('authors', { ...FIRST_TEN, pagination: { page: 1, perPage: 150 } })
			assert.equal(
				idsOf(most.data),
				Array.from({ length: 150 }, (_, at) => at + 1),
			)
			assert.equal(most.pageInfo, { hasNextPage: true, hasPreviousPage: false })
		}))

	test('nothing is counted with meta.count false; only meta.fields are sent', () =>
		atDesk(async ({ provider, asked }) => {
			const meta = { count: false, fields: ['id', 'title'] }
			const result = await provider.getList('articles', {
				...FIRST_TEN,
				pagination: { page: 2, perPage: 1 },
				meta,
			})
			assert.equal(result, {
				data: [{ id: 2, title: 'Lemon verbena from cuttings' }],
				pageInfo: { hasNextPage: true, hasPreviousPage: true },
			})
			assert.is(asked[0]?.url, '/api/articles?limit=1&offset=1&sort=id&fields=id,title')
		}))

	test('referencing records are listed', () =>
		atDesk(async ({ provider }) => {
			const { data, total } = await provider.getManyReference('articles', {
				...{ target: 'authorId', id: 2, pagination: { page: 1, perPage: 3 } },
				...{ sort: { field: 'id', order: 'ASC' }, filter: { status: 'published' } },
			})
			assert.equal(idsOf(data), [2, 6, 10])
			assert.is(total, 10)
		}))

	const MARCH = '2026-03-01T00:00:00.000Z'
	const MAY = '2026-05-01T00:00:00.000Z'
	const filters: [object, string][] = [
		[{ q: 'thyme pot' }, 'search=thyme pot'],
		[{ status: 'draft' }, 'status=draft'],
		[{ authorId: 2, status: ['draft', 'published'] }, 'authorId=2&status=draft&status=published'],
		[{ created: { gte: MARCH, lt: MAY } }, `created[gte]=${MARCH}&created[lt]=${MAY}`],
		[{ created_gte: MARCH, created_lt: MAY }, `created[gte]=${MARCH}&created[lt]=${MAY}`],
		[{ 'created.gte': MARCH, 'created.lt': MAY }, `created[gte]=${MARCH}&created[lt]=${MAY}`],
		[{ authorId: 2, authorId_ne: 3 }, 'authorId=2&authorId[ne]=3'],
		[{ title_contains: 'tea', authorId_in: [1, 2] }, 'title[contains]=tea&authorId=1&authorId=2'],
		[{ body: null }, 'filter={"body":null}'],
		[{ status: '', body: undefined, authorId: 0 }, 'authorId=0'],
		[{ authorId: 2, authorId_eq: 3 }, 'filter={"authorId":{"eq":3}}&authorId=2'],
		[{ author: { name: 'Ada Mint' }, 'author.id_ne': 3 }, 'author.name=Ada Mint&author.id[ne]=3'],
		[{ author: { name: { istartsWith: 'ada' }, email: '' } }, 'author.name[istartsWith]=ada'],
		[{ tags: { name_startsWith: 'h', id: [1, 2] } }, 'tags.name[startsWith]=h&tags.id=1&tags.id=2'],
		[{ author: null }, 'filter={"author":null}'],
		[{ tags: { none: { name: 'herb' } } }, 'filter={"tags":{"none":{"name":{"eq":"herb"}}}}'],
		[
			{ author: { articles: { count: { gte: 3 } } }, body: null },
			'filter={"and":[{"author":{"articles":{"count":{"gte":3}}}},{"body":null}]}',
		],
	]
	for (const [filter, query] of filters) {
		test(`the filter ${JSON.stringify(filter)} sends ${query}`, () =>
			atDesk(async ({ provider, asked }) => {
				await provider.getList('articles', { ...FIRST_TEN, filter: { ...filter } })
				const parts = new Set((asked[0]?.url.split('?')[1] ?? '').split('&'))
				for (const part of ['limit=10', 'offset=0', 'sort=id', 'count=exact'])
					assert.ok(parts.delete(part), part)
				assert.equal([...parts], query.split('&'))
			}))
	}

	test('a field whose name ends like an operator is filtered by an object', async () => {
		const asked: string[] = []
		const options: Options = {
			fetch(url) {
				asked.push(decoded(url))
				return Promise.resolve(Response.json({ success: true, data: [], meta: { next: null, total: 0 } }))
			},
		}
		const since = new Date(Date.UTC(2026, 2, 1))
		const filter = { checked_in: { eq: 5 }, seen_gte: since, seen: { lt: 'x' } }
		await dataProvider('/api', options).getList('guests', { filter })
		assert.equal(asked, [
			'/api/guests?limit=25&offset=0&count=exact&checked_in=5&seen[gte]=2026-03-01T00:00:00.000Z&seen[lt]=x',
		])
	})

	test('an unknown filter is refused by the server, and never widens the list', () =>
		atDesk(async ({ provider }) => {
			const wrong = provider.getList('articles', { ...FIRST_TEN, filter: { colour: 'red' } })
			const { status, message } = await refusalOf(wrong)
			assert.is(status, 400)
			assert.match(message, 'colour')
		}))
})

describe('react-admin: records', (test) => {
	test("one is read by its id, also as it appears in a page's address", () =>
		atDesk(async ({ provider }) => {
			assert.is((await provider.getOne('articles', { id: 7 })).data.title, 'Thyme from cuttings')
			const meta = { fields: ['id', 'title'] }
			assert.equal(await provider.getOne('articles', { id: '7', meta }), {
				data: { id: 7, title: 'Thyme from cuttings' },
			})
			const { status, message } = await refusalOf(provider.getOne('articles', { id: 999 }))
			assert.equal([status, message], [404, 'Not Found'])
		}))

	test('many are read by id: all that exist, however many', () =>
		atDesk(async ({ provider, asked }) => {
			const ids = Array.from({ length: 230 }, (_, at) => 230 - at)
			const { data } = await provider.getMany('articles', { ids })
			assert.equal(
				idsOf(data).sort((a, b) => Number(a) - Number(b)),
				Array.from({ length: 40 }, (_, at) => at + 1),
			)
			assert.is(asked.length, 3)
			assert.equal(await provider.getMany('articles', { ids: [] }), { data: [] })
		}))

	test("a created record has its id and the server's values", () =>
		atDesk(async ({ provider }) => {
			const { data } = await provider.create('articles', { data: { title: 'Mint', authorId: 1 } })
			const { created, version, ...others } = data
			assert.equal([typeof created, typeof version], ['string', 'number'])
			assert.equal(others, { id: 41, title: 'Mint', body: null, status: 'draft', authorId: 1 })
		}))

	test('an update sends only changed fields', () =>
		atDesk(async ({ provider, asked }) => {
			const { data: previousData } = await provider.getOne('articles', { id: 7 })
			const data = { ...previousData, title: 'Thyme again' }
			const { data: saved } = await provider.update('articles', { id: 7, data, previousData })
			assert.is(saved.title, 'Thyme again')
			assert.equal(asked[1], {
				method: 'PATCH',
				url: '/api/articles/7',
				body: '{"title":"Thyme again"}',
				condition: null,
			})
		}))

	test('an empty update changes nothing', () =>
		atDesk(async ({ provider }) => {
			const { data } = await provider.getOne('articles', { id: 7 })
			const { data: saved } = await provider.update('articles', {
				id: 7,
				data: { ...data },
				previousData: data,
			})
			assert.is(saved.title, data.title)
		}))

	test('many are updated and deleted; the result is their ids', () =>
		atDesk(async ({ provider }) => {
			const changed = await provider.updateMany('articles', { ids: [1, 2], data: { status: 'draft' } })
			assert.equal(changed, { data: [1, 2] })
			assert.is((await provider.getOne('articles', { id: 2 })).data.status, 'draft')
			assert.equal(await provider.deleteMany('articles', { ids: [1, 2] }), { data: [1, 2] })
			assert.is((await provider.getList('articles', FIRST_TEN)).total, 38)
		}))

	test('when one of many is refused, none is changed; one that is gone is not deleted again', () =>
		atDesk(async ({ provider }) => {
			const data = { status: 'draft' }
			assert.is((await refusalOf(provider.updateMany('articles', { ids: [1, 999], data }))).status, 404)
			assert.is((await provider.getOne('articles', { id: 1 })).data.status, 'published')
			assert.equal(await provider.deleteMany('articles', { ids: [1, 999, 2] }), { data: [1, 999, 2] })
			assert.is((await provider.getList('articles', FIRST_TEN)).total, 38)
		}))

	test('a hundred are sent at a time', () =>
		atDesk(async ({ provider, asked }) => {
			const ids = Array.from({ length: 201 }, (_, at) => at + 1_000)
			assert.equal(await provider.deleteMany('articles', { ids }), { data: ids })
			assert.is(asked.length, 3)
		}))

	test('the deleted record is returned', () =>
		atDesk(async ({ provider }) => {
			const { data } = await provider.delete('articles', { id: 7 })
			assert.is(data.title, 'Thyme from cuttings')
			assert.is((await refusalOf(provider.getOne('articles', { id: 7 }))).status, 404)
		}))
})

/** Orders with their items, which come with a new order, and totals. */
function orderHandlers(): Handlers {
	const orders = new MemoryModel('order', { key: 'id', fields: { id: 'integer', customer: 'text' } })
	const items = new MemoryModel('item', {
		key: 'id',
		fields: { id: 'integer', orderId: 'integer', product: 'text', pieces: 'integer' },
		references: [{ field: 'orderId', model: orders }],
	})
	const itemHandler = new CrudHandler(items, {
		...{ visible: 'all', allow: ['list', 'create', 'totals'] },
		creatable: ['orderId', 'product', 'pieces'],
		rules: { pieces: ['integer', { min: 1 }] },
		totals: { by: ['product'], of: ['pieces'] },
	})
	const orderHandler = new CrudHandler(orders, {
		...{ visible: 'all', creatable: ['customer'], allow: ['list', 'read', 'create'] },
		relations: { items: { to: itemHandler, writable: ['create'] } },
	})
	return { 'api/orders': orderHandler, 'api/items': itemHandler }
}

describe('react-admin: further methods', (test) => {
	test('a record is created with related ones; problems are at the inputs of these; totals are by group', () =>
		atDesk(
			async ({ provider }) => {
				const data = { customer: 'Ada', items: [{ product: 'tea', pieces: 2 }] }
				const made = await provider.create('orders', { data, meta: { embed: ['items'] } })
				assert.equal((made.data.items as AnyRecord[])[0], { id: 1, orderId: 1, product: 'tea', pieces: 2 })
				await provider.create('orders', { data: { ...data, items: [...data.items, ...data.items] } })
				const wrong = {
					customer: 'Bob',
					items: [
						{ product: 'tea', pieces: 2 },
						{ product: 'x', pieces: 0 },
					],
				}
				const { body } = await refusalOf(provider.create('orders', { data: wrong }))
				assert.is(body.errors?.['items.1.pieces'], 'must be at least 1')
				const query = { by: ['product'], sum: ['pieces'], count: true, filter: { pieces_gte: 1, q: '' } }
				assert.equal(await provider.getTotals('items', query), {
					data: [{ product: 'tea', count: 3, sum: { pieces: 6 } }],
				})
			},
			// A group is no record: it gets no id.
			{ keys: { items: ['orderId', 'id'] } },
			orderHandlers(),
		))

	test('records are tied, many to many, and untied', () =>
		atDesk(async ({ provider, asked }) => {
			const tags = async () =>
				idsOf(
					(await provider.getManyReference('tags', { ...FIRST_TEN, target: 'articles/tags', id: 37 })).data,
				)
			assert.equal(await provider.tie('articles/tags', { id: 37, ids: [1, 2] }), { data: [1, 2] })
			assert.equal(await tags(), [1, 2])
			await provider.untie('articles/tags', { id: 37, ids: [1] })
			assert.equal(await tags(), [2])
			assert.is((await refusalOf(provider.tie('articles/tags', { id: 37, ids: [99] }))).status, 404)
			assert.is(asked[0]?.url, '/api/articles/37/tags/1')
		}))

	test('wrong options are refused at once', () => {
		const wrong = (options: object) => () => dataProvider('/api', options as Options)
		assert.match(messageOf(wrong({ version: 1 })), "dataProvider()'s version must be a field's name")
		assert.throws(wrong({ keys: { tags: 'id' } }), /dataProvider\(\)'s keys must be lists/)
		assert.throws(wrong({ relation: {} }), /dataProvider\(\) has no option relation: /)
		assert.throws(() => dataProvider('api'), /endpoint must be a path/)
	})
})

describe('react-admin: errors', (test) => {
	test('with the option HttpError, errors are of that class', async () => {
		class Own extends HttpError {}
		await atDesk(
			async ({ provider }) => {
				const error = await refusalOf(provider.getOne('articles', { id: 999 }))
				assert.instance(error, Own)
				// react-admin asks for this where the class is another one.
				assert.ok(Object.hasOwn(error, 'body'))
			},
			{ HttpError: Own },
		)
	})

	test('field errors are in body.errors, as forms expect', () =>
		atDesk(async ({ provider }) => {
			const { status, message, body } = await refusalOf(
				provider.create('articles', { data: { title: 'ab', status: 'new' } }),
			)
			assert.is(status, 422)
			assert.equal(body, {
				code: 'invalid',
				requestId: undefined,
				errors: {
					root: { serverError: message },
					title: 'must have at least 3 characters',
					status: 'must be one of draft, published',
					authorId: 'is required',
				},
			})
		}))

	test('a unique conflict is reported at its field', () =>
		atDesk(async ({ provider }) => {
			const { status, body } = await refusalOf(
				provider.create('authors', { data: { name: 'Ada', email: 'ada@example.org' } }),
			)
			assert.is(status, 409)
			assert.equal((body as { errors: object }).errors, {
				root: { serverError: 'email is taken by another record' },
				email: 'is taken by another record',
			})
		}))

	test('with the option version, a record changed meanwhile is not updated or deleted', () =>
		atDesk(
			async ({ provider, asked }) => {
				const { data: previousData } = await provider.getOne('articles', { id: 7 })
				await provider.update('articles', { id: 7, data: { title: 'Mine' }, previousData })
				assert.is(asked.at(-1)?.condition, '"1"')
				const late = { id: 7, data: { title: 'Yours' }, previousData }
				const { status, message, body } = await refusalOf(provider.update('articles', late))
				assert.is(status, 412)
				assert.is(message, 'Somebody else has changed this meanwhile: refresh, and do it again')
				assert.equal(body, { code: 'precondition_failed', requestId: undefined })
				assert.is((await refusalOf(provider.delete('articles', { id: 7, previousData }))).status, 412)
				assert.is((await provider.getOne('articles', { id: 7 })).data.title, 'Mine')
			},
			{ version: 'version' },
		))

	test('an unreachable server is reported with status 0', () =>
		atDesk(
			async ({ provider }) => {
				const { status, message } = await refusalOf(provider.getOne('articles', { id: 7 }))
				assert.is(status, 0)
				assert.match(message, 'got no answer')
			},
			{ retries: 0, fetch: () => Promise.reject(new TypeError('fetch failed')) },
		))

	test('aborts are supported, and reject as aborts', () =>
		atDesk(async ({ provider }) => {
			assert.is(provider.supportAbortSignal, true)
			const signal = AbortSignal.abort()
			for (const work of [
				provider.getList('articles', { ...FIRST_TEN, signal }),
				provider.getOne('articles', { id: 7, signal }),
				provider.getMany('articles', { ids: [7], signal }),
			]) {
				assert.is(await work.catch((error: Error) => error.name), 'AbortError')
			}
		}))

	test('headers of the client and of meta are sent', async () => {
		const sent: (string | null)[] = []
		const options: Options = {
			headers: { Authorization: 'Bearer abc' },
			fetch(_url, { headers }) {
				sent.push(headers.get('Authorization'), headers.get('X-Reason'))
				return Promise.resolve(Response.json({ success: true, data: { id: 1 } }))
			},
		}
		await dataProvider('/api', options).delete('articles', {
			id: 1,
			meta: { headers: { 'X-Reason': 'spam' } },
		})
		assert.equal(sent, ['Bearer abc', 'spam'])
	})
})
