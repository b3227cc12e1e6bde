/** The data provider for refine, called as its hooks do, against the API of `examples/react-admin` and on each of the stores. */
import * as assert from 'uvu/assert'
import { blogHandlers } from '../../examples/react-admin/blog.ts'
import { CrudHandler, type Handlers, MemoryModel, RestError } from '../../lib/index.ts'
import {
	type DataProvider,
	dataProvider,
	HttpError,
	type Meta,
	type ProviderOptions,
} from '../../lib/providers/refine.ts'
import { handlersOf } from '../crud/over/relations/handlers.ts'
import { openStores, type Rows } from '../crud/over/relations/stores.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

interface Asked {
	readonly method: string
	readonly url: string
	readonly headers: Headers
}

/** A provider for a blog of its own, or for other handlers at `/api`, with all that it asks. */
function atBlog(
	use: (provider: DataProvider, asked: Asked[], url: string) => Promise<void>,
	options: ProviderOptions = {},
	handlers: Handlers = blogHandlers(),
): Promise<void> {
	return listening(handlers, {}, async ({ url: origin }) => {
		const asked: Asked[] = []
		const fetching: ProviderOptions['fetch'] = (url, init) => {
			const shown = decodeURIComponent(url.slice(origin.length)).replaceAll('+', ' ')
			asked.push({ method: init.method, url: shown, headers: init.headers })
			return fetch(url, init)
		}
		await use(dataProvider(`${origin}/api`, { fetch: fetching, ...options }), asked, `${origin}/api`)
	})
}

async function refusalOf(work: Promise<unknown>): Promise<HttpError> {
	const thrown = await work.catch((error: unknown) => error)
	assert.instance(thrown, HttpError)
	return thrown as HttpError
}

function idsOf(records: readonly { readonly id?: unknown }[]): unknown[] {
	return records.map(({ id }) => id)
}

const stores = await openStores('refine')

describe('refine: lists', (test) => {
	test('a page is selected by number, in the order of the sorters, with the total', () =>
		atBlog(async (provider, asked) => {
			const { data, total } = await provider.getList({
				resource: 'articles',
				pagination: { currentPage: 4, pageSize: 12, mode: 'server' },
				sorters: [
					{ field: 'status', order: 'desc' },
					{ field: 'id', order: 'asc' },
				],
			})
			assert.equal([idsOf(data), total], [[28, 32, 36, 40], 40])
			assert.is(asked[0]?.url, '/api/articles?limit=12&offset=36&sort=-status,id&count=exact')
			// refine 4 has another word for the number.
			await provider.getList({ resource: 'articles', pagination: { current: 2 } })
			assert.is(asked[1]?.url, '/api/articles?limit=10&offset=10&count=exact')
		}))

	test('all records are read where the pagination is off, or done by refine', () =>
		atBlog(async (provider, asked) => {
			for (const mode of ['off', 'client'] as const) {
				const { data, total } = await provider.getList({ resource: 'articles', pagination: { mode } })
				assert.equal([data.length, total], [40, 40])
			}
			assert.is(asked[0]?.url, '/api/articles?limit=100')
		}))

	test('with meta.count false nothing is counted, and the total has one more if there is a next page', () =>
		atBlog(async (provider, asked) => {
			const page = (currentPage: number) =>
				provider.getList({ resource: 'articles', pagination: { currentPage }, meta: { count: false } })
			assert.is((await page(2)).total, 21)
			assert.is((await page(4)).total, 40)
			assert.not.match(asked[0]?.url ?? '', 'count')
		}))

	test('the field q is the search; empty texts and undefined are no conditions', () =>
		atBlog(async (provider, asked) => {
			const { total } = await provider.getList({
				resource: 'articles',
				filters: [
					{ field: 'q', operator: 'contains', value: 'thyme pot' },
					{ field: 'title', operator: 'contains', value: '' },
					{ field: 'status', operator: 'eq', value: undefined },
				],
			})
			assert.is(total, 1)
			assert.is(asked[0]?.url, '/api/articles?limit=10&offset=0&count=exact&search=thyme pot')
		}))

	test('an operator that the server does not have is refused before a request', () =>
		atBlog(async (provider, asked) => {
			for (const operator of ['ina', 'nina', 'like', 'constructor', 'nin ']) {
				const filters = [{ field: 'title', operator, value: ['a'] }]
				const thrown = await provider
					.getList({ resource: 'articles', filters })
					.catch((error: unknown) => error)
				assert.instance(thrown, TypeError)
				assert.match(String(thrown), `the filter of title has the operator ${operator}: there are eq, `)
			}
			const nested = [{ operator: 'or', value: [{ field: 'a', operator: 'ina', value: [] }] }]
			const thrown = await provider.getList({ resource: 'articles', filters: nested }).catch((error) => error)
			assert.instance(thrown, TypeError)
			assert.is(asked.length, 0)
		}))

	test('an aborted call rejects as one, in refine 5 and 4', () =>
		atBlog(async (provider) => {
			const signal = AbortSignal.abort()
			for (const meta of [{ signal }, { queryContext: { signal } }]) {
				const thrown = await provider
					.getList({ resource: 'articles', meta })
					.catch((error: Error) => error.name)
				assert.is(thrown, 'AbortError')
			}
		}))
})

describe('refine: what is in meta', (test) => {
	test("parameters of the page's address, which refine puts there, set no headers, and nothing of another type", () =>
		atBlog(async (provider, asked) => {
			const headers = { 'X-HTTP-Method-Override': 'DELETE', Authorization: 'Bearer other' }
			const meta = { headers, signal: 'x', queryContext: 'y' as unknown as object, id: '7', count: 'false' }
			await provider.create({ resource: 'tags', variables: { name: 'new' }, meta })
			assert.equal([asked[0]?.method, asked[0]?.headers.get('Authorization')], ['POST', null])
			assert.is(asked[0]?.headers.get('X-HTTP-Method-Override'), null)
			for (const wrong of [
				{ fields: 'id' },
				{ fields: [{ operation: 'x' }] },
				{ include: 'author' },
				{ filter: 'a' },
			]) {
				const thrown = await provider
					.getList({ resource: 'tags', meta: wrong as Meta })
					.catch((error: unknown) => error)
				assert.instance(thrown, TypeError, JSON.stringify(wrong))
			}
		}))

	test('fields, related records and a filter of the server', () =>
		atBlog(async (provider, asked) => {
			const { data } = await provider.getList({
				resource: 'articles',
				meta: {
					fields: ['id', 'title'],
					include: ['author', 'tags'],
					filter: { tags: { some: { name: 'kitchen' } } },
				},
			})
			assert.is(asked.length, 1)
			const [first] = data as unknown as [{ id: number; author: { name: string }; tags: { name: string }[] }]
			assert.equal([first.id, first.author.name], [4, 'Dill Weed'])
			assert.equal(
				first.tags.map(({ name }) => name),
				['herb', 'kitchen'],
			)
		}))
})

describe('refine: records', (test) => {
	test('one, many, new, changed and deleted', () =>
		atBlog(async (provider) => {
			const articles = { resource: 'articles' }
			assert.is((await provider.getOne({ ...articles, id: '7' })).data.title, 'Thyme from cuttings')
			const meta = { fields: ['id'] }
			assert.equal((await provider.getMany({ ...articles, ids: [3, 999, '2'], meta })).data, [
				{ id: 2 },
				{ id: 3 },
			])
			const variables = { title: 'Mint', authorId: 1 }
			assert.is((await provider.create({ ...articles, variables })).data.id, 41)
			const { data } = await provider.update({ ...articles, id: 41, variables: { title: 'Mint again' } })
			assert.equal([data.title, data.authorId], ['Mint again', 1])
			const many = await provider.updateMany({ ...articles, ids: [41, 1], variables: { status: 'draft' } })
			assert.equal(
				many.data.map(({ id, status }) => [id, status]),
				[
					[41, 'draft'],
					[1, 'draft'],
				],
			)
			assert.is((await provider.deleteOne({ ...articles, id: 41 })).data.title, 'Mint again')
			assert.equal((await provider.deleteMany({ ...articles, ids: [1, 2] })).data, [{ id: 1 }, { id: 2 }])
			assert.is((await provider.getList(articles)).total, 38)
		}))

	test('several are created by one request where the handler allows it, and else one by one', async () => {
		const variables = [{ name: 'a' }, { name: 'b' }]
		await atBlog(async (provider, asked) => {
			for (let time = 0; time < 2; time++) {
				const names = variables.map(({ name }) => ({ name: name + time }))
				const { data } = await provider.createMany({ resource: 'tags', variables: names })
				assert.equal(
					data.map(({ name }) => name),
					[`a${time}`, `b${time}`],
				)
			}
			assert.is(asked.length, 6)
		})
		const tags = new MemoryModel('tag', { key: 'id', fields: { id: 'integer', name: 'text' } })
		const handler = new CrudHandler(tags, {
			visible: 'all',
			creatable: ['name'],
			allow: ['create', 'createMany'],
		})
		await atBlog(
			async (provider, asked) => {
				assert.equal(idsOf((await provider.createMany({ resource: 'tags', variables })).data), [1, 2])
				assert.is(asked.length, 1)
			},
			{},
			{ 'api/tags': handler },
		)
	})

	test('a list that is refused is not sent record by record', async () => {
		const tags = new MemoryModel('tag', {
			key: 'id',
			fields: { id: 'integer', name: 'text' },
			rows: [{ name: 'a' }],
		})
		class Refusing extends CrudHandler {
			override createMany(): never {
				throw new RestError('invalid', 'Only one at a time')
			}
			override removeMany(): never {
				throw new RestError('invalid', 'Only one at a time')
			}
		}
		const handler = new Refusing(tags, {
			...{ visible: 'all', creatable: ['name'] },
			allow: ['create', 'createMany', 'remove', 'removeMany'],
		})
		await atBlog(
			async (provider, asked) => {
				for (const send of [
					() => provider.createMany({ resource: 'tags', variables: [{ name: 'b' }] }),
					() => provider.deleteMany({ resource: 'tags', ids: [1] }),
				]) {
					const error = await send().catch((caught: unknown) => caught)
					assert.match(String(error), 'Only one at a time')
				}
				assert.is(asked.length, 2)
			},
			{},
			{ 'api/tags': handler },
		)
		assert.is(await tags.count(undefined), 1)
	})

	test('a key of several fields makes the id', () => {
		const model = new MemoryModel('tag', {
			fields: { article: 'integer', tag: 'text', note: { type: 'text', nullable: true } },
			key: ['article', 'tag'],
			rows: ['herb', 'a,b/c', 'tree'].map((tag, at) => ({ article: 7 + (at % 2), tag })),
		})
		const allow = ['list', 'read', 'update', 'updateMany', 'remove', 'removeMany'] as const
		const handler = new CrudHandler(model, { visible: 'all', updatable: ['note'], allow })
		return atBlog(
			async (provider) => {
				const tags = { resource: 'tags' }
				const odd = '8,a%2Cb%2Fc'
				const sorters = [{ field: 'id', order: 'desc' }] as const
				assert.equal(idsOf((await provider.getList({ ...tags, sorters })).data), [odd, '7,tree', '7,herb'])
				assert.is((await provider.getOne({ ...tags, id: odd })).data.tag, 'a,b/c')
				assert.equal(idsOf((await provider.getMany({ ...tags, ids: [odd, '7,herb'] })).data), ['7,herb', odd])
				const variables = { note: 'new' }
				assert.is((await provider.update({ ...tags, id: odd, variables })).data.id, odd)
				const ids = ['7,herb', '7,tree']
				assert.equal(idsOf((await provider.updateMany({ ...tags, ids, variables })).data), ids)
				assert.equal((await provider.deleteMany({ ...tags, ids })).data[0], {
					id: '7,herb',
					article: '7',
					tag: 'herb',
				})
				assert.is((await provider.deleteOne({ ...tags, id: odd })).data.id, odd)
			},
			{ keys: { tags: ['article', 'tag'] } },
			{ 'api/tags': handler },
		)
	})

	test('with the option version, and the version among the values, a record changed meanwhile is left alone', () =>
		atBlog(
			async (provider, asked) => {
				const article = { resource: 'articles', id: 7 }
				await provider.update({ ...article, variables: { title: 'Mine', version: 1 } })
				assert.is(asked[0]?.headers.get('If-Match'), '"1"')
				const late = await refusalOf(
					provider.update({ ...article, variables: { title: 'Yours', version: 1 } }),
				)
				assert.equal([late.statusCode, late.code], [412, 'precondition_failed'])
				assert.is(
					(await refusalOf(provider.deleteOne({ ...article, variables: { version: 1 } }))).statusCode,
					412,
				)
				await provider.deleteOne(article)
			},
			{ version: 'version' },
		))

	test('problems are by field, with status, code and message', () =>
		atBlog(async (provider) => {
			const invalid = await refusalOf(provider.create({ resource: 'articles', variables: { title: 'ab' } }))
			assert.equal([invalid.statusCode, invalid.code], [422, 'invalid'])
			assert.equal(invalid.errors, { title: 'must have at least 3 characters', authorId: 'is required' })
			const variables = { name: 'Ada', email: 'ada@example.org' }
			const conflict = await refusalOf(provider.create({ resource: 'authors', variables }))
			assert.equal([conflict.statusCode, conflict.errors], [409, { email: 'is taken by another record' }])
			const missing = await refusalOf(provider.getOne({ resource: 'articles', id: 999 }))
			assert.equal([missing.statusCode, missing.message, missing.errors], [404, 'Not Found', {}])
		}))
})

describe('refine: custom', (test) => {
	test('calls what is below the endpoint, with filters, order, query, body and headers', () =>
		atBlog(
			async (provider, asked, url) => {
				const listed = await provider.custom<{ title: string }[]>({
					...{ url: `${url}/articles?limit=1`, method: 'get', query: { fields: 'title' } },
					filters: [{ field: 'authorId', operator: 'eq', value: 2 }],
					sorters: [{ field: 'id', order: 'desc' }],
				})
				assert.equal(listed.data, [{ title: 'Chervil in a pot' }])
				assert.is(asked[0]?.url, '/api/articles?limit=1&fields=title&sort=-id&authorId=2')
				const tie = { url: `${url}/articles/37/tags/1`, method: 'put' } as const
				assert.equal(await provider.custom({ ...tie, headers: { 'X-Reason': 'test' } }), { data: null })
				assert.equal([asked[1]?.headers.get('X-Reason'), asked[1]?.headers.get('X-Key')], ['test', 'k'])
				const made = await provider.custom<{ id: number }>({
					url: `${url}/tags`,
					method: 'post',
					payload: { name: 'x' },
				})
				assert.is(made.data.id, 4)
				assert.equal(await provider.custom({ url: `${url}/tags/4`, method: 'head' }), { data: null })
				assert.is((await refusalOf(provider.custom({ url: `${url}/tags/9`, method: 'get' }))).statusCode, 404)
			},
			{ headers: { 'X-Key': 'k' } },
		))

	test('only the first question mark of a URL begins the query', async () => {
		const sent: string[] = []
		const fetch = (url: string) => {
			sent.push(url)
			return Promise.resolve(Response.json({ success: true, data: null }))
		}
		const { custom } = dataProvider('/api', { fetch })
		const filters = [{ field: 'c', operator: 'eq' as const, value: '?' }]
		await custom({ url: '/api/x?next=/a?b=1', method: 'get' })
		await custom({ url: '/api/x?next=/a?b=1', method: 'get', filters })
		await custom({ url: '/api/x?', method: 'get', filters })
		await custom({ url: '/api/x?', method: 'get' })
		assert.equal(sent, ['/api/x?next=/a?b=1', '/api/x?next=/a?b=1&c=%3F', '/api/x?c=%3F', '/api/x'])
	})

	test('sends nothing elsewhere: the headers are for the endpoint alone', async () => {
		const sent: string[] = []
		const fetching = (url: string) => {
			sent.push(url)
			return Promise.resolve(Response.json({ success: true, data: null }))
		}
		const elsewhere: [endpoint: string, url: string][] = [
			['https://a.example/api', 'https://a.example.evil.example/api'],
			['https://a.example/api', 'https://a.example/apis'],
			['https://a.example', 'https://a.example@evil.example/'],
			['/api', 'https://evil.example/api'],
			['/', '//evil.example/x'],
			['/', '/\\evil.example/x'],
		]
		for (const [endpoint, url] of elsewhere) {
			const { custom } = dataProvider(endpoint, { fetch: fetching })
			const thrown = await custom({ url, method: 'get' }).catch((error: unknown) => error)
			assert.instance(thrown, TypeError, url)
		}
		assert.equal(sent, [])
		assert.is(dataProvider('/api/').getApiUrl(), '/api')
	})
})

const article = { editor_id: null, parent_id: null, score: 1, price: null, day: null, done: true, version: 1 }
const ROWS: Rows = {
	person: [
		{ id: 1, name: 'Ada', team: 'a', secret: null },
		{ id: 2, name: 'Bob', team: 'a', secret: null },
	],
	article: [
		{ ...article, id: 1, title: 'Sage', author_id: 2, score: 5 },
		{ ...article, id: 2, title: 'Sage tea', author_id: 1, editor_id: 2, score: 7 },
		{ ...article, id: 3, title: 'Mint', author_id: 1, score: null },
	],
	...{ comment: [], tag: [], tie: [] },
}
type Case = [field: string, operator: string, value: unknown, found: number[]]
const FILTERS: readonly Case[] = [
	['title', 'eq', 'Mint', [3]],
	['title', 'eqs', 'Mint', [3]],
	['title', 'ne', 'Mint', [1, 2]],
	['title', 'nes', 'Mint', [1, 2]],
	['score', 'lt', 7, [1]],
	['score', 'gt', 5, [2]],
	['score', 'lte', 7, [1, 2]],
	['score', 'gte', 5, [1, 2]],
	['score', 'between', [6, 9], [2]],
	['score', 'nbetween', [6, 9], [1]],
	['id', 'in', [1, 3, 9], [1, 3]],
	['id', 'nin', [1, 3], [2]],
	['title', 'contains', 'SAGE', [1, 2]],
	['title', 'containss', 'SAGE', []],
	['title', 'containss', 'Sage', [1, 2]],
	['title', 'ncontains', 'SAGE', [3]],
	['title', 'ncontainss', 'SAGE', [1, 2, 3]],
	['title', 'startswith', 'sage', [1, 2]],
	['title', 'startswiths', 'sage', []],
	['title', 'nstartswith', 'sage', [3]],
	['title', 'nstartswiths', 'Sage', [3]],
	['title', 'endswith', 'TEA', [2]],
	['title', 'endswiths', 'TEA', []],
	['title', 'nendswith', 'TEA', [1, 3]],
	['title', 'nendswiths', 'tea', [1, 3]],
	['score', 'null', true, [3]],
	['score', 'nnull', true, [1, 2]],
	['score', 'eq', null, [3]],
	['score', 'ne', null, [1, 2]],
	['editor', 'null', true, [1, 3]],
	['editor', 'nnull', true, [2]],
	['author.name', 'eq', 'Ada', [2, 3]],
	['author.name', 'ncontains', 'ADA', [1]],
]

for (const store of stores)
	describe(`refine: filters, ${store.name}`, (test) => {
		test.after(() => store.close())

		test('each operator finds what it says, also with others and in groups', async () => {
			const { articles } = handlersOf(await store.filled(ROWS))
			const handlers = { 'api/articles': articles }
			await atBlog(
				async (provider) => {
					const found = async (filters: Parameters<DataProvider['getList']>[0]['filters']) =>
						idsOf(
							(await provider.getList({ resource: 'articles', filters, pagination: { pageSize: 5 } })).data,
						)
					for (const [field, operator, value, ids] of FILTERS)
						assert.equal(await found([{ field, operator, value }]), ids, `${field} ${operator} ${value}`)
					const sage = { field: 'title', operator: 'contains', value: 'sage' }
					const high = { field: 'score', operator: 'gte', value: 6 }
					const none = { field: 'score', operator: 'null', value: true }
					const ada = { field: 'author.name', operator: 'eq', value: 'Ada' }
					assert.equal(await found([sage, high]), [2])
					assert.equal(await found([{ operator: 'or', value: [high, none] }]), [2, 3])
					assert.equal(
						await found([ada, { operator: 'or', value: [none, { operator: 'and', value: [sage, high] }] }]),
						[2, 3],
					)
					// Two of one field, and a group without a condition.
					assert.equal(await found([sage, { field: 'title', operator: 'endswith', value: 'e' }]), [1])
					assert.equal(await found([{ operator: 'and', value: [] }]), [1, 2, 3])
				},
				{},
				handlers,
			)
		})
	})
