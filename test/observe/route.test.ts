/** `route` and `handler` of requests: in events, log lines and traces. */
import { tracingChannel } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	createServer,
	MemoryModel,
	type MemoryModelOptions,
	type RequestTrace,
	RestHandler,
	type ServedRequest,
	type Server,
} from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

class Blog extends RestHandler {
	override customRoutes = {
		'GET custom/%s/page-%d': 'page',
		'PUT custom/%s/page-%d': 'save',
		'POST 100%%/%s': 'get_article',
	}
	get_article(id: string) {
		return id
	}
	put_article(name: string) {
		return name
	}
	get_greeting(name = 'you') {
		return name
	}
	get_blog_post(...words: string[]) {
		return words
	}
	get__default(id: string) {
		return id
	}
	page(name: string, number: number) {
		return [name, number]
	}
	save(title: string, at: number) {
		return [title, at]
	}
}

function tableOf(name: string, references: MemoryModelOptions['references'] = []): MemoryModel {
	const fields = { id: 'integer', title: 'text', articleId: 'integer' } as const
	return new MemoryModel(name, { key: 'id', fields, references })
}

/** Two tables, and what belongs to a record of the first one. */
function tablesOf(): Record<string, CrudHandler> {
	const articleModel = tableOf('article')
	const commentModel = tableOf('comment', [{ field: 'articleId', model: articleModel }])
	const comments = new CrudHandler(commentModel, { visible: 'all' })
	const articles = new CrudHandler(articleModel, {
		...{ visible: 'all', updatable: ['title'], allow: ['list', 'read', 'update'] },
		relations: { comments: { to: comments } },
	})
	return { 'shop/article': articles, comment: comments }
}

/** The requests that a server has served. */
function served(server: Server): (method: string, url: string) => Promise<ServedRequest | undefined> {
	const requests: ServedRequest[] = []
	server.on('request', (one) => void requests.push(one))
	return async (method, url) => {
		await server.inject({ method, url })
		return requests.at(-1)
	}
}

describe('the route of a request', (test) => {
	const table: [string, string | undefined][] = [
		['GET /blog/article/5', '/blog/article/{id}'],
		['HEAD /blog/article/5?a=1', '/blog/article/{id}'],
		// OpenAPI has one path for both: spelled as the first.
		['PUT /blog/article/5', '/blog/article/{id}'],
		['GET /blog/article', '/blog/article/{id}'],
		['GET /blog/greeting', '/blog/greeting'],
		['GET /blog/greeting/Ann', '/blog/greeting/{name}'],
		['GET /blog/blog_post', '/blog/blog_post'],
		['GET /blog/blog-post/a', '/blog/blog_post/{words}'],
		['GET /blog/blog-post/a/b/c', '/blog/blog_post/{words}'],
		['GET /blog/5', '/blog/{id}'],
		['GET /blog/custom/a%20b/page-7', '/blog/custom/{name}/page-{number}'],
		['PUT /blog/custom/a/page-7', '/blog/custom/{name}/page-{number}'],
		['POST /blog/100%25/a', '/blog/100%25/{id}'],
		['GET /shop/article?limit=1', '/shop/article'],
		['POST /shop/article', undefined],
		['GET /shop/article/1', '/shop/article/{id}'],
		['PATCH /shop/article/1', '/shop/article/{id}'],
		['QUERY /shop/article', '/shop/article'],
		['GET /shop/article/1/comments', '/shop/article/{id}/comments'],
		['GET /openapi.json', '/openapi.json'],
		['DELETE /blog/article/5', undefined],
		['OPTIONS /blog/article/5', undefined],
		['GET /blog/a/b/c', undefined],
		['GET /nowhere', undefined],
		['BREW /blog/article/5', undefined],
	]
	const server = createServer({ blog: new Blog(), ...tablesOf() }, { openapi: true, logRequests: false })
	const ask = served(server)
	for (const [request, expected] of table) {
		test(`${request} is ${expected ?? 'none'}`, async () => {
			const [method = '', url = ''] = request.split(' ')
			assert.is((await ask(method, url))?.route, expected)
		})
	}

	test('is a path of the OpenAPI description', async () => {
		const { paths } = (await server.inject({ url: '/openapi.json' })).json() as { paths: object }
		const routes = table.flatMap(([, route = '']) => (/^(|\/openapi.json)$/.test(route) ? [] : [route]))
		assert.equal(
			[...new Set(routes)].sort(),
			Object.keys(paths)
				.filter((path) => routes.includes(path))
				.sort(),
		)
		assert.ok(new Set(routes).size > 8)
	})

	test('has the path that all handlers are below', async () => {
		const below = served(createServer({ '': new Blog() }, { base: 'v1', logRequests: false }))
		assert.is((await below('GET', '/v1/5'))?.route, '/v1/{id}')
	})

	test('is in traces, and in the line of a request', async () => {
		const lines: object[] = []
		const logger = { info: (fields: object) => void lines.push(fields), warn() {}, error() {} }
		const traced: unknown[] = []
		const onEnd = (trace: unknown): void => void traced.push((trace as RequestTrace).route)
		const channel = tracingChannel('verbena:request')
		channel.asyncEnd.subscribe(onEnd)
		await createServer({ blog: new Blog() }, { logger }).inject({ url: '/blog/5' })
		channel.asyncEnd.unsubscribe(onEnd)
		assert.is((lines[0] as ServedRequest).route, '/blog/{id}')
		assert.equal(traced, ['/blog/{id}'])
	})
})

describe('the handler of a request', (test) => {
	class Orders extends CrudHandler {}
	const order = new Orders(tableOf('order'), { visible: 'all' })
	const server = createServer({ ...tablesOf(), order }, { logRequests: false })
	const ask = served(server)
	const table: [string, string][] = [
		['/shop/article', 'shop/article'],
		['/shop/article/nowhere/at/all', 'shop/article'],
		['/comment', 'comment'],
		['/order', 'Orders'],
	]
	for (const [url, expected] of table)
		test(`${url} is ${expected}`, async () => assert.is((await ask('GET', url))?.handler, expected))

	test('at the root, is a slash', async () => {
		const root = createServer(
			{ '': new CrudHandler(tableOf('a'), { visible: 'all' }) },
			{ logRequests: false },
		)
		assert.is((await served(root)('GET', '/'))?.handler, '/')
	})

	test('of a class without a name is its path', async () => {
		const Nameless = [
			class extends RestHandler {
				get_a() {}
			},
		][0] as new () => RestHandler
		assert.is(Nameless.name, '')
		const server = createServer({ 'a/b': new Nameless() }, { logRequests: false })
		assert.is((await served(server)('GET', '/a/b/a'))?.handler, 'a/b')
	})
})
