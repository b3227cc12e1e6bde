/** `client()` over a real server: the request of each call, and its result. */
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { ApiError, client } from '../../lib/client/index.ts'
import { RawJson, type Refused, RestHandler, reply } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { answering, json, text } from './answering.ts'

interface Article {
	id: string
	title: string
	written: Date
}

class Base extends RestHandler {
	get_inherited() {
		return 'yes'
	}
}

class Blog extends Base {
	override customRoutes = {
		'GET|POST custom/%s/page-%d': 'page',
		'ALL /every': 'every',
		'GET 100%%/%s.%s': 'percent',
	} as const
	override specs = {
		post_article: { title: ['required', 'string'], tags: [{ of: ['string'] }], written: ['datetime'] },
		get_search: { q: ['required', 'string'], tag: [{ of: ['string'] }], limit: ['integer', { default: 25 }] },
	} as const
	get_article(id: string): Article | Refused {
		if (id === 'none') return this.error('No such article', 404)
		return { id, title: 'Sage', written: new Date(0) }
	}
	get_pair(one: string, two?: string) {
		return { one, two }
	}
	get_search() {
		return this.getParams()
	}
	post_article() {
		return reply({ ...this.getParams(), by: this.request.headers['x-by'] }, { status: 201 })
	}
	put_echo(_id: string) {
		return { id: this.params[0], body: this.body, query: this.query }
	}
	patch_echo(id: string) {
		return id
	}
	delete_echo(_id: string) {}
	query_echo() {
		return this.body
	}
	get_nothing() {
		return reply(null, { status: 204 })
	}
	get_csv(): Buffer {
		this.header('Content-Type', 'text/csv')
		return Buffer.from('ä,b\n')
	}
	get_html() {
		return reply(new Uint8Array([60, 112, 62]), { headers: { 'Content-Type': 'text/html' } })
	}
	get_text() {
		return reply(Buffer.from('plain'), { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
	}
	get_stream() {
		return Readable.from([Buffer.from('ab'), Buffer.from('c')], { objectMode: false })
	}
	get_empty() {
		return Buffer.alloc(0)
	}
	get_raw() {
		return new RawJson('{"a":1}')
	}
	async *get_rows() {
		yield { at: new Date(0) }
		yield { at: new Date(1) }
	}
	get_records(): AsyncIterable<{ readonly at: Date }> {
		return Readable.from([{ at: new Date(0) }])
	}
	get_json() {
		return reply(Buffer.from('[1]'), { headers: { 'Content-Type': 'application/json' } })
	}
	get_blog_post() {
		return 'post'
	}
	get__default(...segments: string[]) {
		return segments
	}
	delete__default(id: string) {
		return id
	}
	page(name: string, number: number) {
		return { name, number, method: this.request.method }
	}
	every() {
		return this.request.method
	}
	percent(name: string, kind: string) {
		return [name, kind]
	}
}

class Bare extends RestHandler {
	override wrap = false
	get_a() {
		return { a: 1 }
	}
	get_b() {
		return Buffer.from('b')
	}
}

/** Runs `use` with the client of a `Blog` at `blog/api`. */
function withBlog(use: (api: ReturnType<typeof client<Blog>>, url: string) => Promise<void>): Promise<void> {
	return listening({ 'blog/api': new Blog(), bare: new Bare(), '': new Blog() }, {}, ({ url }) =>
		use(client<Blog>(`${url}/blog/api`), url),
	)
}

async function thrownBy(work: Promise<unknown>): Promise<Error> {
	try {
		await work
	} catch (error) {
		if (error instanceof Error) return error
		throw error
	}
	throw new Error('nothing was thrown')
}

describe('client(): calls', (test) => {
	test('a method is called by verb and resource, and returns its value', () =>
		withBlog(async (api) => {
			const article = await api.get.article('5')
			assert.equal(article, { id: '5', title: 'Sage', written: '1970-01-01T00:00:00.000Z' })
			assert.is(await api.get.inherited(), 'yes')
			assert.is(await api.get.blog_post(), 'post')
			assert.equal(await api.get.pair('a'), { one: 'a' })
			assert.equal(await api.get.pair('a', 'b'), { one: 'a', two: 'b' })
		}))

	test('each param is one segment, whatever it contains', () =>
		withBlog(async (api) => {
			for (const id of ['a/b', 'ä ö', '50%', '?x=1#y', '%2F', 'a\\b', '…', "'", 'then'])
				assert.is((await api.get.article(id)).id, id)
			assert.is((await api.get.article(5n)).id, '5')
			assert.is((await api.get.article(-7)).id, '-7')
			assert.equal(await api.get._default('a/b', 'c'), ['a/b', 'c'])
			assert.equal(await api.get._default(), [])
			assert.is(await api.delete._default('x'), 'x')
		}))

	test('bodies, queries and headers are sent', () =>
		withBlog(async (api) => {
			const body = { title: 'Sage', tags: ['a', 'ü'], written: new Date(0) }
			const made = await api.post.article({ body, headers: { 'X-By': 'ann' } })
			assert.equal(made, {
				...{ title: 'Sage', tags: ['a', 'ü'], written: '1970-01-01T00:00:00.000Z' },
				by: 'ann',
			})
			assert.equal(await api.get.search({ query: { q: 'a&b=ü', tag: ['x', 'y'], limit: 5 } }), {
				...{ q: 'a&b=ü', tag: ['x', 'y'], limit: 5 },
			})
			assert.equal(await api.put.echo('1', { body: [null], query: { a: true, b: undefined, c: 5n } }), {
				...{ id: '1', body: [null], query: { a: 'true', c: '5' } },
			})
			assert.is(await api.patch.echo('1'), '1')
			assert.equal(await api.query.echo({ body: { a: 1 } }), { a: 1 })
		}))

	test('custom routes are called by their patterns', () =>
		withBlog(async (api) => {
			const page = api.get['custom/%s/page-%d']
			assert.equal(await page('a/b', 3), { name: 'a/b', number: 3, method: 'GET' })
			assert.equal(await page('..a', -3n), { name: '..a', number: -3, method: 'GET' })
			assert.is((await api.post['custom/%s/page-%d']('x', 1, { body: {} })).method, 'POST')
			assert.equal(
				await Promise.all([api.get.every(), api.put.every(), api.patch.every(), api.delete.every()]),
				['GET', 'PUT', 'PATCH', 'DELETE'],
			)
			assert.equal(await api.get['100%%/%s.%s']('a', 'b%'), ['a', 'b%'])
		}))

	test('the root handler is called by /', () =>
		withBlog(async (_api, url) => {
			const root = client<Blog>(url)
			assert.equal(await root.get._default(), [])
			assert.is((await root.get.article('1')).id, '1')
			const paths: string[] = []
			const fetch = async (path: string) => {
				paths.push(path)
				return Response.json({ success: true, data: null })
			}
			for (const endpoint of ['', '/', '/a/'])
				await client<Blog>(endpoint, { fetch }).get._default({ query: { a: 1 } })
			assert.equal(paths, ['/?a=1', '/?a=1', '/a?a=1'])
		}))
})

describe('client(): answers', (test) => {
	test('no content is null', () =>
		withBlog(async (api) => {
			assert.is(await api.get.nothing(), null)
			assert.is(await api.delete.echo('1'), null)
		}))

	test('bytes and streams are a Blob with their type', () =>
		withBlog(async (api) => {
			const csv = await api.get.csv()
			assert.is(csv.type, 'text/csv')
			assert.is(await csv.text(), 'ä,b\n')
			assert.is(await (await api.get.stream()).text(), 'abc')
			assert.is((await api.get.empty()).size, 0)
			assert.is(await (await api.get.html()).text(), '<p>')
			assert.is(await (await api.get.text()).text(), 'plain')
		}))

	test('JSON is parsed, whatever its media type is called', async () => {
		for (const type of [
			'application/json',
			'APPLICATION/JSON; charset=utf-8',
			'text/json',
			'application/hal+json',
		]) {
			const headers = { 'Content-Type': type }
			const fetch = async () => new Response('{"success":true,"data":["a"]}', { headers })
			assert.equal(await client<Blog>('/blog', { fetch }).get._default('a'), ['a'], type)
		}
	})

	test('a binary response declared as JSON must be in the envelope as well', () =>
		withBlog(async (api) => {
			const error = await thrownBy(api.get.json())
			assert.is(error instanceof ApiError && error.code, 'unexpected_answer')
			assert.equal(error instanceof ApiError && error.body, [1])
		}))

	test('no content is null whatever its type', async () => {
		for (const status of [204, 205]) {
			const fetch = async () => new Response(null, { status, headers: { 'Content-Type': 'text/csv' } })
			assert.is(await client<Blog>('/blog', { fetch }).delete.echo('1'), null)
		}
	})

	test('streamed records are an array, JSON made elsewhere is its value', () =>
		withBlog(async (api) => {
			const rows = await api.get.rows()
			assert.equal(rows, [{ at: '1970-01-01T00:00:00.000Z' }, { at: '1970-01-01T00:00:00.001Z' }])
			assert.equal(await api.get.records(), [{ at: '1970-01-01T00:00:00.000Z' }])
			assert.equal(await api.get.raw(), { a: 1 })
		}))

	test('with wrap: false, values have no envelope', () =>
		withBlog(async (_api, url) => {
			const bare = client<Bare>(`${url}/bare`, { wrap: false })
			assert.equal(await bare.get.a(), { a: 1 })
			assert.is(await (await bare.get.b()).text(), 'b')
		}))

	test('an error response is an ApiError', () =>
		withBlog(async (api) => {
			const missing = await thrownBy(api.get.article('none'))
			assert.instance(missing, ApiError)
			assert.equal(
				[missing.message, missing instanceof ApiError && [missing.status, missing.code]],
				['No such article', [404, 'not_found']],
			)
			const body = { title: 5 as unknown as string } // what a program without types may send
			const invalid = await thrownBy(api.post.article({ body }))
			assert.equal(invalid instanceof ApiError && invalid.details.map(({ field }) => field), ['title'])
		}))

	test("a proxy's page or text is not accepted as a response", async () => {
		for (const type of ['text/html; charset=utf-8', 'text/html', 'text/plain', 'Text/Plain; charset=utf-8']) {
			const page = new Response('Log in', { headers: { 'Content-Type': type } })
			const error = await thrownBy(client<Blog>('/blog', { fetch: async () => page }).get.csv())
			assert.is(error instanceof ApiError && error.code, 'unexpected_answer', type)
			assert.is(error instanceof ApiError && error.body, 'Log in')
		}
	})

	test('redirects to another origin are not followed', () =>
		answering((other) =>
			answering(async (site) => {
				site.answer = text('', 307, { Location: `${other.origin}/article` })
				const api = client<Blog>(site.origin, { headers: { 'X-Api-Key': 'secret' } })
				for (const call of [() => api.get.article('5'), () => api.post.article({ body: { title: 'x' } })]) {
					const error = await thrownBy(call())
					assert.is(error instanceof ApiError && error.code, 'unexpected_answer')
				}
				assert.equal([site.asked.length, other.asked.length], [2, 0])
			}),
		))

	test('a POST that a redirect could turn into a GET is not followed', () =>
		answering(async (site) => {
			site.answer = (request, response) => {
				const found = json({ success: true, data: { id: '1', title: 'of a GET' } })
				const moved = text('', 302, { Location: '/moved/article' })
				const answer = request.url === '/moved/article' ? found : moved
				answer(request, response)
			}
			const api = client<Blog>(site.origin)
			const error = await thrownBy(api.post.article({ body: { title: 'x' } }))
			assert.is(error instanceof ApiError && error.code, 'unexpected_answer')
			assert.equal(
				site.asked.map(({ line }) => line),
				['POST /article'],
			)
		}))

	test('a truncated binary response is an error', async () => {
		const fetch = async () => {
			const body = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) })
			return new Response(body, { headers: { 'Content-Type': 'text/csv' } })
		}
		const error = await thrownBy(client<Blog>('/blog', { fetch, retries: 0 }).get.csv())
		assert.is(error instanceof ApiError && error.code, 'network_error')
		assert.is(error.message, 'GET /blog/csv got only a part of its answer: cut')
	})

	test('an abort rejects with its reason', () =>
		withBlog(async (api) => {
			const reason = new Error('no longer needed')
			assert.is(await thrownBy(api.get.article('5', { signal: AbortSignal.abort(reason) })), reason)
		}))

	test('the options are those of every client', () =>
		withBlog(async (_api, url) => {
			const methods: string[] = []
			const api = client<Blog>(`${url}/blog/api`, {
				methodOverride: true,
				headers: () => ({ 'X-By': 'ann' }),
				fetch: (to, init) => {
					methods.push(`${init.method} ${init.headers.get('X-By')}`)
					return fetch(to, init)
				},
			})
			assert.is(await api.patch.echo('1'), '1')
			assert.equal(methods, ['POST ann'])
		}))
})

describe('client(): what it refuses', (test) => {
	const requests: string[] = []
	const fetch = async (url: string, { method }: { readonly method: string }) => {
		requests.push(`${method} ${url}`)
		return Response.json({ success: true, data: null })
	}
	/** A caller without types. */
	type Calls = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>
	const api = client<object>('/blog', { fetch }) as unknown as Calls

	const TEXT = "must be text other than '', '.' and '..', a bigint or a whole number within ±2^53, got "
	const SEGMENT = `api.get.a: a path segment ${TEXT}`
	const JSON_BODY = 'POST /blog/a: a body is sent as JSON; send files and forms by fetch'
	const VALUES = 'api.get.a: query.b must be a text, number, boolean, date or an array of these'
	const OPTIONS = 'there are body, query, headers, signal, idempotencyKey'
	const table: [string, string, readonly unknown[], string][] = [
		['delete', 'article', [undefined], 'api.delete.article: argument 1 is undefined'],
		['post', 'a', ['x', undefined], 'api.post.a: argument 2 is undefined'],
		['get', 'pair', [undefined, 'b'], 'api.get.pair: argument 1 is undefined'],
		['get', 'a', [null], `${SEGMENT}null`],
		['get', 'a', ['..'], `${SEGMENT}".."`],
		['get', 'a', [''], `${SEGMENT}""`],
		['get', 'a', [1.5], `${SEGMENT}1.5`],
		['get', 'a', ['\ud800'], `${SEGMENT}"\\ud800"`],
		['get', 'a', [{}, 'b'], `${SEGMENT}[object Object]`],
		['get', 'a', [[]], `${SEGMENT}`],
		['get', 'a/%s', [], "api.get['a/%s']: argument 1 must be a text for %s"],
		['get', 'a/x%s', [''], "api.get['a/x%s']: argument 1 must be a text for %s"],
		['get', 'a/%d', ['x'], "api.get['a/%d']: argument 1 must be a whole number within ±2^53 for %d"],
		['get', 'a/%d', [2 ** 53], "api.get['a/%d']: argument 1 must be a whole number within ±2^53 for %d"],
		['get', 'a/%d', [1e21], "api.get['a/%d']: argument 1 must be a whole number within ±2^53 for %d"],
		['get', 'a/%s', ['x', 'y'], "api.get['a/%s']: expected 1 params, got 2"],
		['get', 'a/%s', ['..'], `api.get['a/%s']: a path segment ${TEXT}".."`],
		['get', 'a', [{ bdy: 1 }], `api.get.a has no option bdy: ${OPTIONS}`],
		['get', 'a', [{ body: 1 }], 'api.get.a: a GET has no body, write query instead'],
		['post', 'a', [{ body: new FormData() }], JSON_BODY],
		['post', 'a', [{ body: new Blob([]) }], JSON_BODY],
		['post', 'a', [{ body: new Map() }], JSON_BODY],
		['post', 'a', [{ body: Buffer.from('a') }], JSON_BODY],
		['post', 'a', [{ body: { all: [{ file: new File([], 'a') }] } }], JSON_BODY],
		['post', 'a', [{ body: () => 1 }], JSON_BODY],
		['get', 'a', [{ query: 'a=1' }], 'api.get.a: query must be an object'],
		['get', 'a', [{ query: { b: { c: 1 } } }], VALUES],
		['get', 'a', [{ query: { b: ['\ud800'] } }], VALUES],
		['get', 'a', [{ query: { b: null } }], VALUES],
		['get', 'a', [{ headers: { 'X-A': 5 } }], "headers must be an object of texts, like { 'X-A': 'a' }"],
		[
			'post',
			'a',
			[{ idempotencyKey: '' }],
			'an idempotencyKey must be 1 to 255 characters of printable ASCII',
		],
	]
	for (const [verb, name, args, message] of table) {
		test(`${verb} ${name} ${JSON.stringify(args)?.slice(0, 40)}: ${message.slice(0, 40)}`, async () => {
			const error = await thrownBy(Promise.resolve(api[verb]?.[name]?.(...args)))
			assert.instance(error, TypeError)
			assert.is(error.message, message)
			assert.equal(requests, [])
		})
	}

	test('the last params of a read may be undefined', async () => {
		await api.get?.pair?.('a', undefined)
		await api.get?.pair?.(undefined, { query: { q: 1 } })
		await api.query?.pair?.('a', undefined, { body: 1 })
		assert.equal(requests.splice(0), ['GET /blog/pair/a', 'GET /blog/pair?q=1', 'QUERY /blog/pair/a'])
	})

	test('an invalid endpoint, and unknown options', () => {
		for (const endpoint of ['blog', '//evil', '/a?b', '/a/../b', 5 as unknown as string])
			assert.throws(() => client<Blog>(endpoint), /^client\(\)'s endpoint must be a path, like '\/blog', or /)
		const misspelt = { retry: 5 } as object
		assert.throws(() => client<Blog>('/blog', misspelt), /^client\(\) has no option retry: there are fetch, /)
		assert.throws(
			() => client<Blog>('/blog', { retries: -1 }),
			/^client\(\)'s retries must be a whole number/,
		)
	})

	test('a path as endpoint, outside of a page', async () => {
		const error = await thrownBy(client<Blog>('/blog/api').get.article('5'))
		assert.match(error.message, /^outside a browser, \/blog\/api\/article\/5 needs an origin/)
	})

	test('inspection and serialization send no request', async () => {
		const typed = client<Blog>('/blog', { fetch })
		assert.is(await typed, typed)
		assert.is(await typed.get, typed.get)
		assert.is(JSON.stringify(typed), '{"get":{},"post":{},"put":{},"patch":{},"delete":{},"query":{}}')
		assert.is(Object.prototype.toString.call(typed.get), '[object Object]')
		for (const name of [
			'then',
			'catch',
			'finally',
			'toJSON',
			'inspect',
			'constructor',
			'toString',
			'__proto__',
		])
			assert.is(Reflect.get(typed.get, name), undefined, name)
		assert.is(Reflect.get(typed.get, Symbol.iterator), undefined)
		assert.is(Reflect.get(typed, 'head'), undefined)
		assert.is(Reflect.get(typed, 'options'), undefined)
		assert.is(Object.isFrozen(typed) && Object.isFrozen(typed.get), true)
		assert.throws(() => Object.assign(typed.get, { article: 5 }), /TypeError|extensible|not/)
		assert.equal(requests, [])
	})
})
