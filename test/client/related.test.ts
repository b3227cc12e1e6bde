/** Related records through `CrudClient`, against `CrudHandler`. */
import * as assert from 'uvu/assert'
import { ApiError, CrudClient, type Many, type One } from '../../lib/client/index.ts'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { answering, json } from './answering.ts'

interface Author {
	readonly id: number
	readonly name: string
}

interface Comment {
	readonly id: number
	readonly text: string
	readonly spam: boolean
}

interface Article {
	readonly id: number
	readonly title: string
	readonly authorId: number | null
}

interface Relations {
	author: One<Author, { articles: Many<Article, Relations> }>
	comments: Many<Comment>
	tags: Many<{ readonly id: number; readonly name: string }>
}

const ALL = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const

function handlers() {
	const author = new MemoryModel('author', {
		fields: { id: 'integer', name: 'text' },
		key: 'id',
		rows: [{ name: 'Ada' }, { name: 'Bob' }],
	})
	const article = new MemoryModel('article', {
		fields: { id: 'integer', title: 'text', authorId: { type: 'integer', nullable: true } },
		key: 'id',
		references: [{ field: 'authorId', model: author }],
		rows: [
			{ title: 'Sage', authorId: 1 },
			{ title: 'Thyme', authorId: null },
			{ title: 'Rue', authorId: 2 },
		],
	})
	const comment = new MemoryModel('comment', {
		fields: { id: 'integer', text: 'text', spam: 'boolean', articleId: 'integer' },
		key: 'id',
		references: [{ field: 'articleId', model: article }],
		rows: [1, 1, 1, 3].map((articleId, at) => ({ articleId, text: `Text ${at + 1}`, spam: at === 1 })),
	})
	const tag = new MemoryModel('tag', {
		fields: { id: 'integer', name: 'text' },
		key: 'id',
		rows: [{ name: 'herb' }, { name: 'tea' }],
	})
	const between = new MemoryModel('article_tag', {
		fields: { articleId: 'integer', tagId: 'integer' },
		key: ['articleId', 'tagId'],
		references: [
			{ field: 'articleId', model: article },
			{ field: 'tagId', model: tag },
		],
		rows: [{ articleId: 1, tagId: 1 }],
	})
	const options = { visible: 'all', allow: ALL } as const
	const authors: CrudHandler = new CrudHandler(author, {
		...options,
		updatable: ['name'],
		relations: { articles: { to: () => articles } },
	})
	const comments = new CrudHandler(comment, {
		...{ ...options, visible: ['id', 'text', 'spam'] },
		...{ updatable: ['text', 'spam'], creatable: ['text', 'spam', 'articleId'] },
	})
	const articles: CrudHandler = new CrudHandler(article, {
		...{ ...options, updatable: ['title', 'authorId'] },
		relations: {
			author: { to: authors },
			comments: { to: comments, limit: 2 },
			tags: { to: new CrudHandler(tag, { visible: 'all' }), through: between, writable: ['tie'] },
		},
	})
	return { 'blog/article': articles }
}

async function withArticles(use: (articles: CrudClient<Article, Relations>) => Promise<void>): Promise<void> {
	await listening(handlers(), {}, ({ url }) => use(new CrudClient('article', `${url}/blog`)))
}

describe('client and CrudHandler: related records', (test) => {
	test('are in lists and records', () =>
		withArticles(async (articles) => {
			const { data, meta } = await articles.list({ include: ['author', 'comments'], count: 2 })
			assert.equal(meta, { limit: 25, offset: 0, next: null, total: 2, more: true })
			assert.equal(
				data.map(({ author, comments }) => [author?.name, comments.data.length, comments.meta.limit]),
				[
					['Ada', 2, 2],
					[undefined, 0, 2],
					['Bob', 1, 2],
				],
			)
			const { author, comments, title } = await articles.get(1, {
				include: {
					author: { fields: ['name'], include: { articles: { fields: ['title'] } } },
					comments: { limit: 1, sort: '-id', filter: { spam: false }, count: true, fields: ['text'] },
				},
			})
			assert.equal([title, author?.name], ['Sage', 'Ada'])
			assert.equal(author?.articles.data, [{ title: 'Sage' }])
			assert.equal([comments.data, comments.meta.total], [[{ text: 'Text 3' }], 2])
			const [some] = (await articles.list({ fields: ['title', 'author.name'] })).data
			assert.equal(some, { title: 'Sage', author: { name: 'Ada' } })
		}))

	test('are in the answers of changes', () =>
		withArticles(async (articles) => {
			const made = await articles.create({ title: 'Mint', authorId: 2 }, { include: ['author'] })
			assert.equal(made.author, { id: 2, name: 'Bob' })
			const changed = await articles.update(made, { authorId: null }, { fields: ['id'], include: ['author'] })
			assert.equal(changed, { id: 4, author: null })
			const replaced = await articles.replace(changed, { title: 'Rue' }, { include: ['comments'] })
			assert.equal(replaced.comments.data, [])
			const gone = await articles.delete(4, { include: { author: true } })
			assert.is(gone.author, null)
		}))

	const conditions: [Parameters<CrudClient<Article, Relations>['list']>[0], number[]][] = [
		[{ where: { 'author.name': 'Ada' } }, [1]],
		[{ where: { 'comments.spam': true } }, [1]],
		[{ where: { 'comments.text': { endsWith: '4' }, title: ['Sage', 'Rue'] } }, [3]],
		[{ filter: { author: null } }, [2]],
		[{ filter: { author: { name: ['Bob'] } } }, [3]],
		[{ filter: { authorId: null } }, [2]],
		[{ filter: { authorId: [1, null] } }, [1, 2]],
		[{ filter: { comments: { some: {} } } }, [1, 3]],
		[{ filter: { comments: { none: { spam: true } } } }, [2, 3]],
		[{ filter: { comments: { every: { spam: false } } } }, [2, 3]],
		[{ filter: { comments: { count: { gte: 1, lt: 3 } } } }, [3]],
		[{ filter: { comments: { count: 3 } } }, [1]],
		[{ filter: { or: [{ comments: { count: 0 } }, { 'author.name': 'Bob' }] } }, [2, 3]],
		[{ filter: { author: { articles: { some: { title: 'Rue' } } } } }, [3]],
		[{ sort: 'author.name' }, [1, 3, 2]],
		[{ sort: ['-author.name', 'id'] }, [3, 1, 2]],
	]
	for (const [query, ids] of conditions) {
		test(`${JSON.stringify(query)}, in a URL and in a body`, () =>
			withArticles(async (articles) => {
				const found = await articles.list(query)
				assert.equal(
					found.data.map(({ id }) => id),
					ids,
				)
				const long = {
					title: { nin: Array.from({ length: 90 }, (_, at) => `no such title ${'x'.repeat(20)}${at}`) },
				}
				const again = await articles.list({ ...query, where: { ...query?.where, ...long } })
				assert.equal(again, found)
				assert.is(await articles.count(query), ids.length)
			}))
	}

	test('have a list of their own', () =>
		withArticles(async (articles) => {
			const comments = articles.related(1, 'comments')
			const { comments: first } = await articles.get(1, { include: ['comments'] })
			const { data } = await comments.list({ cursor: first.meta.next })
			assert.equal([...first.data, ...data], (await comments.list()).data)
			const texts: string[] = []
			for await (const page of comments.pages({ limit: 1, where: { spam: false } }))
				texts.push(...page.data.map(({ text }) => text))
			assert.equal(texts, ['Text 1', 'Text 3'])
			assert.is(await comments.count({ where: { spam: true } }), 1)
			const made = await comments.create({ text: 'Mine', spam: false }, { fields: ['id', 'text'] })
			assert.equal(made, { id: 5, text: 'Mine' })
			assert.is(await articles.related({ id: 1 }, 'comments').count(), 4)
			assert.is(await articles.related(3, 'comments').count(), 1)
		}))

	test('are read alone, and missing where there is none', () =>
		withArticles(async (articles) => {
			const author = articles.related(await articles.get(1), 'author')
			assert.equal(await author.get(), { id: 1, name: 'Ada' })
			const { name, articles: own } = await author.get({ fields: ['name'], include: ['articles'] })
			assert.equal([name, own.data.length], ['Ada', 1])
			const error: unknown = await articles
				.related(2, 'author')
				.get()
				.catch((reason: unknown) => reason)
			assert.instance(error, ApiError)
			assert.is((error as ApiError).code, 'not_found')
		}))

	test('are tied and untied, many to many', () =>
		withArticles(async (articles) => {
			const tags = articles.related(1, 'tags')
			const names = async () => (await tags.list()).data.map(({ name }) => name)
			assert.is(await tags.tie(2), undefined)
			await tags.tie({ id: 2 })
			assert.equal(await names(), ['herb', 'tea'])
			assert.is(await tags.untie(1), undefined)
			assert.equal(await names(), ['tea'])
		}))
})

describe('client: what belongs to a record', (test) => {
	test('has the URL of the record, and the client’s options', () =>
		answering(async (site) => {
			const options = { key: ['day', 'room'], headers: { 'X-A': 'b' }, wrap: false } as const
			const rooms = new CrudClient<
				{ day: string; room: string },
				{ seats: Many<{ id: number }>; of: Author }
			>('room', `${site.origin}/api/`, options)
			site.answer = json({ id: 7 }, 200, { ETag: '"1"' })
			const of = await rooms.related({ day: '2026-01-01', room: 'a,b' }, 'of').get({ fields: ['id'] })
			const seats = rooms.related(['x/y', '..'], 'seats')
			assert.is(seats.url, `${site.origin}/api/room/x%2Fy,../seats`)
			site.answer = json(null, 204)
			await seats.tie(of, { headers: { 'X-C': 'd' } })
			await seats.untie([7, 'b'])
			assert.equal(
				site.asked.map(({ line, headers }) => [line, headers['x-a'], headers['if-match'], headers['x-c']]),
				[
					['GET /api/room/2026-01-01,a%2Cb/of?fields=id', 'b', undefined, undefined],
					['PUT /api/room/x%2Fy,../seats/7', 'b', undefined, 'd'],
					['DELETE /api/room/x%2Fy,../seats/7,b', 'b', undefined, undefined],
				],
			)
		}))

	test('may have a key other than id, and a field id that is not', () =>
		answering(async (site) => {
			interface Product {
				readonly code: string
				readonly id: number
			}
			const orders = new CrudClient<{ id: number }, { product: One<Product>; products: Many<Product> }>(
				'order',
				`${site.origin}/api`,
				{ wrap: false },
			)
			const products = new CrudClient<Product>('product', `${site.origin}/api`, {
				...{ key: 'code', wrap: false },
			})
			site.answer = json({ code: 'A', id: 5 }, 200, { Location: '/api/product/A' })
			const product = await orders.related(1, 'product').get()
			const made = await orders.related(1, 'products').create({ id: 5 })
			await products.delete(product)
			await products.delete(made)
			site.answer = json(null, 204)
			await orders.related(1, 'products', { key: 'code' }).tie({ code: 'A', id: 5 })
			await orders.related(1, 'products').tie(made)
			assert.equal(
				site.asked.slice(2).map(({ line }) => line),
				[
					...['DELETE /api/product/A', 'DELETE /api/product/A'],
					...['PUT /api/order/1/products/A', 'PUT /api/order/1/products/A'],
				],
			)
		}))

	const wrong: [string, (rooms: CrudClient<Article, Relations>) => unknown, RegExp][] = [
		['an id that is none', (rooms) => rooms.related('..', 'tags'), /^an id must be text/],
		['a name that is none', (rooms) => rooms.related(7, 'a/b' as 'tags'), /must be one segment of a URL/],
		['a record without its key', (rooms) => rooms.related({ title: 'x' }, 'tags'), /has no id/],
	]
	for (const [what, call, message] of wrong) {
		test(`is refused for ${what}`, () => {
			assert.throws(() => call(new CrudClient('room', '/api')), message)
		})
	}
})
