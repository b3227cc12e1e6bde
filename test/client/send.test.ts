import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import { ApiError, CrudClient, type CrudClientOptions } from '../../lib/client/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { answering, json, type Site, text } from './answering.ts'

interface Article {
	readonly id: number
	readonly title: string
}

/** A client without retries: `retry.test.ts` tests them. */
function clientOf({ origin }: Site, options?: CrudClientOptions): CrudClient<Article> {
	return new CrudClient<Article>('article', `${origin}/blog`, { retries: 0, ...options })
}

/** The ApiError that a promise rejects with. */
async function failureOf(work: Promise<unknown>): Promise<ApiError> {
	const error = await thrownBy(work)
	assert.instance(error, ApiError, String(error))
	return error as ApiError
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
	try {
		await work
	} catch (error) {
		return error
	}
	throw new Error('nothing was thrown')
}

describe('client: requests', (test) => {
	test('each method sends its request, and returns the value', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			const record = { id: 5, title: 'x' }
			site.answer = json({ success: true, data: record })
			assert.equal(await articles.get(5), record)
			assert.equal(await articles.create({ title: 'x' }), record)
			assert.equal(await articles.update('a/b', { title: 'x' }), record)
			assert.equal(await articles.replace(5n, { title: 'x' }), record)
			assert.equal(await articles.delete(5), record)
			site.answer = json({
				success: true,
				data: [record],
				meta: { limit: 1, offset: 0, next: 'Ng', total: 7 },
			})
			assert.equal(await articles.list({ limit: 1, where: { title: 'x' } }), {
				...{ data: [record], meta: { limit: 1, offset: 0, next: 'Ng', total: 7 } },
			})
			assert.is(await articles.count({ where: { title: 'x' } }), 7)
			assert.equal(
				site.asked.map(({ line, body }) => `${line} ${body}`.trim()),
				[
					'GET /blog/article/5',
					'POST /blog/article {"title":"x"}',
					'PATCH /blog/article/a%2Fb {"title":"x"}',
					'PUT /blog/article/5 {"title":"x"}',
					'DELETE /blog/article/5',
					'GET /blog/article?limit=1&title=x',
					'GET /blog/article?limit=0&count=exact&title=x',
				],
			)
			assert.equal(
				site.asked.map(({ headers }) => headers['content-type']),
				[undefined, ...Array(3).fill('application/json'), undefined, undefined, undefined],
			)
		}))

	test('a long list of conditions is sent as a QUERY', () =>
		answering(async (site) => {
			site.answer = json({ success: true, data: [], meta: { limit: 25, offset: 0, next: null } })
			const id = Array.from({ length: 400 }, (_, at) => 100_000 + at)
			await clientOf(site).list({ where: { id } })
			assert.is(site.asked[0]?.line, 'QUERY /blog/article')
			assert.is(site.asked[0]?.headers['content-type'], 'application/json')
			assert.is(site.asked[0]?.body, JSON.stringify({ filter: { id: { in: id } } }))
		}))

	test('bigints, dates and non-finite numbers are sent in their wire format', () =>
		answering(async (site) => {
			const events = new CrudClient<Record<string, unknown>>('event', site.origin)
			await events.create({
				at: new Date(0),
				size: 2n ** 63n,
				small: 5n,
				rate: Number.NaN,
				low: -Infinity,
				none: undefined,
			})
			assert.is(
				site.asked[0]?.body,
				'{"at":"1970-01-01T00:00:00.000Z","size":"9223372036854775808","small":5,"rate":"NaN","low":"-Infinity"}',
			)
		}))

	test("a call's headers take precedence over the client's in any case, and these are computed for each request", () =>
		answering(async (site) => {
			let calls = 0
			const articles = clientOf(site, {
				headers: async () => ({ authorization: `Bearer ${++calls}`, 'X-A': 'a' }),
			})
			await articles.get(5)
			await articles.get(5, { headers: { Authorization: 'Bearer mine', accept: 'application/problem+json' } })
			const [first, second] = site.asked.map(({ headers }) => headers)
			assert.equal(
				[first?.authorization, first?.['x-a'], first?.accept],
				['Bearer 1', 'a', 'application/json'],
			)
			assert.equal([second?.authorization, second?.accept], ['Bearer mine', 'application/problem+json'])
			const fixed = clientOf(site, { headers: { 'X-A': 'b' } })
			await fixed.delete(5)
			assert.is(site.asked[2]?.headers['x-a'], 'b')
		}))

	test('fetch is called unbound, and can be replaced', () =>
		answering(async (site) => {
			const seen: unknown[] = []
			const articles = new CrudClient<Article>('article', '/blog', {
				fetch: function (this: unknown, url, init) {
					seen.push(this, url, init.method)
					return fetch(site.origin + url, init)
				},
			})
			await articles.get(5)
			assert.equal(seen, [undefined, '/blog/article/5', 'GET'])
			assert.is(site.asked[0]?.line, 'GET /blog/article/5')
		}))

	test('a redirect is followed, also by a write where the status allows it', () =>
		answering(async (site) => {
			const found = json({ success: true, data: { id: 5 } })
			const moved = text('', 308, { Location: '/moved/article/5' })
			site.answer = (request, response) =>
				(request.url?.startsWith('/moved') ? found : moved)(request, response)
			const articles = clientOf(site)
			assert.equal(await articles.get(5), { id: 5 })
			assert.equal(await articles.update(5, { title: 'x' }, { ifMatch: '"7"' }), { id: 5 })
			assert.equal(
				site.asked.map(({ line, body, headers }) => `${line} ${body} ${headers['if-match'] ?? ''}`.trim()),
				[
					'GET /blog/article/5',
					'GET /moved/article/5',
					'PATCH /blog/article/5 {"title":"x"} "7"',
					'PATCH /moved/article/5 {"title":"x"} "7"',
				],
			)
		}))

	test('a request redirected within the origin is rebuilt and signed again', () =>
		answering(async (site) => {
			const found = json({ success: true, data: { id: 5 } })
			const moved = text('', 307, { Location: '/moved/article/5?a=1' })
			site.answer = (request, response) =>
				(request.url?.startsWith('/moved') ? found : moved)(request, response)
			const signed: string[] = []
			const sign = (request: Request): Request => {
				signed.push(request.url.slice(site.origin.length))
				return request
			}
			assert.equal(await clientOf(site, { sign }).replace(5, { title: 'x' }), { id: 5 })
			assert.equal(signed, ['/blog/article/5', '/moved/article/5?a=1'])
			// A custom fetch that accepts paths is called with a path.
			const asked: string[] = []
			const fetch = async (url: string): Promise<Response> => {
				asked.push(url)
				if (url.startsWith('/moved')) return Response.json({ success: true, data: { id: 5 } })
				return new Response(null, { status: 301, headers: { Location: '/moved/5' } })
			}
			await new CrudClient('article', '/blog', { fetch }).get(5)
			assert.equal(asked, ['/blog/article/5', '/moved/5'])
		}))

	for (const status of [301, 302, 303, 307, 308]) {
		test(`a ${status} to another origin is not followed, by a read, a write or a QUERY`, () =>
			answering((other) =>
				answering(async (site) => {
					site.answer = text('', status, { Location: `${other.origin}/blog/article` })
					const articles = clientOf(site, { headers: { 'X-Api-Key': 'secret' }, retries: 2 })
					const calls = [
						() => articles.get(5),
						() => articles.list({ where: { title: 'x'.repeat(3_000) } }),
						() => articles.create({ title: 'x' }, { idempotencyKey: 'k1' }),
						() => articles.update(5, { title: 'x' }),
						() => articles.delete(5),
					]
					for (const call of calls) {
						const error = await failureOf(call())
						assert.equal([error.status, error.code], [status, 'unexpected_answer'])
						assert.match(error.message, /redirects elsewhere: give the client the endpoint there$/)
					}
					assert.equal([site.asked.length, other.asked.length], [calls.length, 0])
				}),
			))
	}

	test('a redirect of a path never leads to another host, whatever its path begins with', async () => {
		for (const location of ['/.//evil.example/x', 'http://a:0//evil.example/x', '//a:0//evil.example/x']) {
			const asked: string[] = []
			const fetch = async (url: string): Promise<Response> => {
				asked.push(new URL(url, 'https://x.example').href)
				return new Response(null, { status: 307, headers: { Location: location } })
			}
			const error = await failureOf(new CrudClient('article', '/blog', { fetch, retries: 0 }).get(5))
			assert.equal(
				[location, error.code, asked],
				[location, 'unexpected_answer', [`https://x.example/blog/article/5`]],
			)
		}
	})

	test('a redirect to what is no URL is an error of the answer', () =>
		answering(async (site) => {
			site.answer = text('', 307, { Location: 'http://[' })
			const error = await failureOf(clientOf(site).get(5))
			assert.equal([error.status, error.code], [307, 'unexpected_answer'])
		}))

	test('an opaque redirect, and one already followed by fetch, is an error', async () => {
		const opaque = Object.defineProperties(new Response(null), {
			type: { value: 'opaqueredirect' },
			status: { value: 0 },
		})
		const followed = Object.defineProperty(Response.json({ success: true, data: {} }), 'redirected', {
			value: true,
		})
		for (const response of [opaque, followed]) {
			const articles = new CrudClient('article', '/blog', { fetch: async () => response, retries: 0 })
			const error = await failureOf(articles.create({ title: 'x' }))
			assert.match(error.message, /redirects elsewhere/)
		}
	})

	test('the connection of a refused redirect is released', async () => {
		const headers = { Location: 'https://other.example/' }
		const response = new Response('moved', { status: 307, headers })
		const fetch = async () => response
		const error = await failureOf(new CrudClient('article', 'https://x.example', { fetch }).get(5))
		assert.is(error.code, 'unexpected_answer')
		assert.ok(response.bodyUsed)
	})

	test("a status that fetch doesn't follow is the response, whatever its Location", () =>
		answering(async (site) => {
			for (const status of [300, 305, 306]) {
				site.answer = text('', status, { Location: '/proxy' })
				assert.is((await failureOf(clientOf(site).get(5))).status, status)
				assert.is(site.asked.at(-1)?.line, 'GET /blog/article/5')
			}
		}))

	test('a POST that a redirect could turn into a GET is not followed', () =>
		answering(async (site) => {
			const list = json({ success: true, data: [{ id: 1 }] })
			const created = json({ success: true, data: { id: 2 } }, 201)
			for (const status of [301, 302, 303]) {
				const moved = text('', status, { Location: '/moved/article' })
				site.answer = (request, response) =>
					(request.url === '/moved/article' ? list : moved)(request, response)
				const error = await failureOf(clientOf(site).create({ title: 'x' }))
				assert.is(error.code, 'unexpected_answer')
				assert.is(
					error.message,
					`POST ${site.origin}/blog/article: the answer redirects elsewhere: give the client the endpoint there`,
				)
				assert.is(site.asked.at(-1)?.line, 'POST /blog/article')
			}
			const moved = text('', 308, { Location: '/moved/article' })
			site.answer = (request, response) =>
				(request.url === '/moved/article' ? created : moved)(request, response)
			assert.equal(await clientOf(site).create({ title: 'x' }), { id: 2 })
			assert.is(site.asked.at(-1)?.line, 'POST /moved/article')
		}))

	test('a write sent as POST is not redirected either', () =>
		answering(async (site) => {
			const found = json({ success: true, data: { id: 5, title: 'old' } })
			const moved = text('', 301, { Location: '/moved/article/5' })
			site.answer = (request, response) =>
				(request.url?.startsWith('/moved') ? found : moved)(request, response)
			const articles = clientOf(site, { methodOverride: true })
			assert.is((await failureOf(articles.update(5, { title: 'x' }))).code, 'unexpected_answer')
			assert.is((await failureOf(articles.delete(5))).code, 'unexpected_answer')
			assert.equal(
				site.asked.map(({ line, body }) => `${line} ${body}`.trim()),
				['POST /blog/article/5 {"title":"x"}', 'POST /blog/article/5'],
			)
		}))

	test('a value that JSON would lose is refused at any depth, and nothing is sent', () =>
		answering(async (site) => {
			const articles = new CrudClient('article', `${site.origin}/blog`)
			for (const lost of [new FormData(), new Map(), { a: [new File([], 'a')] }, { a: Buffer.from('a') }]) {
				const error = await thrownBy(articles.create(lost as object))
				assert.instance(error, TypeError)
				assert.is(
					(error as Error).message,
					`POST ${site.origin}/blog/article: a body is sent as JSON; send files and forms by fetch`,
				)
			}
			assert.equal(site.asked, [])
		}))

	test('an invalid date is refused, which JSON would make null', () =>
		answering(async (site) => {
			const events = new CrudClient('event', site.origin)
			for (const values of [{ at: new Date(Number.NaN) }, { all: [{ at: new Date('soon') }] }]) {
				const error = await thrownBy(events.create(values))
				assert.instance(error, RangeError)
				assert.is((error as Error).message, 'Invalid time value')
			}
			assert.equal(site.asked, [])
		}))

	test('unknown options and queries are refused, and nothing is sent', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			const url = `${site.origin}/blog/article`
			const query = 'where, limit, offset, cursor, sort, fields, count, filter, search, include, deleted'
			const odd = (value: unknown) => value as never // what a program without types may give
			const table: [Promise<unknown>, string][] = [
				[articles.list(odd({ title: 'x' })), `a list has no option title: there are ${query}`],
				[articles.count(odd({ title: 'x' })), `a list has no option title: there are ${query}`],
				[articles.pages(odd({ title: 'x' })).next(), `a list has no option title: there are ${query}`],
				[
					articles.get(5, odd({ ifMatch: '*' })),
					`GET ${url} has no option ifMatch: there are signal, headers, fields, include`,
				],
				[articles.list({}, odd({ body: 1 })), 'a list has no option body: there are signal, headers'],
				[
					articles.delete(5, odd({ ifmatch: '"7"' })),
					`DELETE ${url} has no option ifmatch: there are signal, headers, fields, include, ifMatch`,
				],
				[
					articles.create({}, odd({ ifMatch: '"7"' })),
					`POST ${url} has no option ifMatch: there are signal, headers, fields, include, idempotencyKey`,
				],
			]
			for (const [work, message] of table) {
				const error = await thrownBy(work)
				assert.instance(error, TypeError)
				assert.is((error as Error).message, message)
			}
			assert.equal(site.asked, [])
		}))

	test("a count takes a list's query, without its page", () =>
		answering(async (site) => {
			site.answer = json({ success: true, data: [], meta: { limit: 0, offset: 0, next: null, total: 4 } })
			const page = { where: { title: 'x' }, sort: 'title', limit: 5, offset: 10, fields: ['id'] } as const
			assert.is(await clientOf(site).count(page), 4)
			assert.is(site.asked[0]?.line, 'GET /blog/article?limit=0&count=exact&title=x')
		}))

	test('a path as endpoint needs a page', async () => {
		const error = await thrownBy(new CrudClient('article', '/blog').get(5))
		assert.instance(error, TypeError)
		assert.match(
			String(error),
			'outside a browser, /blog/article/5 needs an origin: write https://example.org/blog/article/5',
		)
	})

	test('invalid ids and conditions reject, and nothing is sent', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			assert.match(String(await thrownBy(articles.delete('..'))), 'TypeError: an id must be text')
			assert.match(String(await thrownBy(articles.get(''))), 'TypeError: an id must be text')
			// A mistake that TypeScript would report, made in JavaScript.
			const where = { title: undefined } as object
			assert.match(String(await thrownBy(articles.list({ where }))), 'TypeError: title must be compared with')
			assert.match(
				String(await thrownBy(articles.count({ where }))),
				'TypeError: title must be compared with',
			)
			assert.is(site.asked.length, 0)
		}))

	test('a name or endpoint that gives no URL is refused at once', () => {
		assert.match(
			messageOf(() => new CrudClient('a/b', '/blog')),
			"name must be one segment of a URL, like 'article'",
		)
		assert.match(
			messageOf(() => new CrudClient('article', 'blog')),
			"endpoint must be a path, like '/blog'",
		)
		assert.is(new CrudClient('article', '/blog/').url, '/blog/article')
	})
})

describe('client: pages', (test) => {
	test('follow the cursor with the same conditions, count once, and end', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			site.answer = ({ url = '' }, response) => {
				const at = Number(new URLSearchParams(url.split('?')[1]).get('cursor') ?? 0)
				const meta = { limit: 1, offset: 0, next: at < 2 ? String(at + 1) : null }
				response.end(JSON.stringify({ success: true, data: [{ id: at }], meta }))
			}
			const seen: number[] = []
			for await (const { data } of articles.pages({
				limit: 1,
				offset: 3,
				sort: '-id',
				count: true,
				where: { title: 'x' },
			}))
				seen.push(...data.map(({ id }) => id))
			assert.equal(seen, [0, 1, 2])
			assert.equal(
				site.asked.map(({ line }) => line),
				[
					'GET /blog/article?limit=1&offset=3&sort=-id&count=exact&title=x',
					'GET /blog/article?limit=1&cursor=1&sort=-id&title=x',
					'GET /blog/article?limit=1&cursor=2&sort=-id&title=x',
				],
			)
		}))

	test("all have the first page's conditions, even if the query changes meanwhile", () =>
		answering(async (site) => {
			site.answer = ({ url = '' }, response) => {
				const next = url.includes('cursor') ? null : 'Ng'
				response.end(JSON.stringify({ success: true, data: [], meta: { limit: 1, offset: 0, next } }))
			}
			const query = { limit: 1, where: { title: 'x' }, sort: 'id' as 'id' | 'title' }
			for await (const _page of clientOf(site).pages(query))
				Object.assign(query, { limit: 2, sort: 'title', where: { title: 'y' } })
			assert.equal(
				site.asked.map(({ line }) => line),
				['GET /blog/article?limit=1&sort=id&title=x', 'GET /blog/article?limit=1&cursor=Ng&sort=id&title=x'],
			)
		}))

	test('a page whose next page is itself ends the loop', () =>
		answering(async (site) => {
			// A cache that ignores the query has one response for all pages.
			site.answer = json({ success: true, data: [{ id: 1 }], meta: { limit: 1, offset: 0, next: 'a' } })
			let pages = 0
			const loop = async () => {
				for await (const { data } of clientOf(site).pages({ limit: 1 })) pages += data.length
			}
			const error = await failureOf(loop())
			assert.is(error.code, 'unexpected_answer')
			assert.match(error.message, /^GET .*: the answer is its own next page$/)
			assert.is(pages, 1)
		}))

	test('no further page is read after leaving the loop', () =>
		answering(async (site) => {
			site.answer = json({ success: true, data: [{ id: 1 }], meta: { limit: 1, offset: 0, next: 'x' } })
			for await (const { meta } of clientOf(site).pages({ cursor: 'from-here' })) {
				assert.is(meta.next, 'x')
				break
			}
			assert.equal(
				site.asked.map(({ line }) => line),
				['GET /blog/article?cursor=from-here'],
			)
		}))
})

describe('client: responses without envelope', (test) => {
	const bare = { wrap: false }

	test('are the values, and a list has its meta from headers', () =>
		answering(async (site) => {
			const articles = clientOf(site, bare)
			site.answer = json({ id: 5, success: false })
			assert.equal(await articles.get(5), { id: 5, success: false })
			site.answer = json([{ id: 1 }], 200, {
				Link: '</blog/article?limit=1>; rel="first", </blog/article?limit=1&cursor=a%2Bb>; rel="next"',
				'X-Total-Count': '3',
			})
			assert.equal((await articles.list({ limit: 500 })).meta, { limit: 1, offset: 0, next: 'a+b', total: 3 })
			assert.is(await articles.count(), 3)
			site.answer = json([{ id: 1 }, { id: 2 }])
			assert.equal((await articles.list({ offset: 4 })).meta, { limit: 2, offset: 4, next: null })
			site.answer = json(null)
			assert.is(await articles.get(5), null)
		}))

	test('are refused unless the client has that option, and the other way round', () =>
		answering(async (site) => {
			site.answer = json({ id: 5 })
			const error = await failureOf(clientOf(site).get(5))
			assert.is(error.code, 'unexpected_answer')
			assert.is(
				error.message,
				"GET /blog/article/5: the answer is not in the envelope of this API; is the handler's wrap false?".replace(
					'/blog',
					`${site.origin}/blog`,
				),
			)
			site.answer = json({ success: true, data: [] })
			assert.match((await failureOf(clientOf(site, bare).list())).message, 'is not a list')
		}))

	test('no content is null', () =>
		answering(async (site) => {
			site.answer = text('', 204)
			assert.is(await clientOf(site).delete(5), null)
			assert.is(await clientOf(site, bare).delete(5), null)
		}))

	test('an empty body in place of an envelope is an error', () =>
		answering(async (site) => {
			site.answer = text('', 200)
			assert.is((await failureOf(clientOf(site).update(5, { title: 'x' }))).code, 'unexpected_answer')
			site.answer = text('', 205)
			assert.is(await clientOf(site).delete(5), null)
			site.answer = text('', 200)
			assert.is(await clientOf(site, bare).delete(5), null)
		}))
})

describe('client: errors', (test) => {
	const details = [{ field: 'email', code: 'email', message: 'is no address' }]
	const table: [string, Site['answer'], Partial<ApiError>][] = [
		[
			'the envelope',
			json({ success: false, error: 'email is no address', code: 'invalid', details, requestId: 'r1' }, 422),
			{ status: 422, message: 'email is no address', code: 'invalid', details, requestId: 'r1' },
		],
		[
			'a bare error',
			json({ error: 'Which one?', code: 'not_found' }, 404),
			{ status: 404, message: 'Which one?', code: 'not_found', details: [], requestId: undefined },
		],
		[
			'problem details of RFC 9457',
			json({ type: 'about:blank', title: 'Not Found', status: 404, detail: 'No such article' }, 404, {
				...{ 'Content-Type': 'application/problem+json', 'X-Request-Id': 'r2' },
			}),
			{ status: 404, message: 'No such article', code: 'http_404', requestId: 'r2' },
		],
		[
			'problem details with a title alone',
			json({ title: 'Conflict', code: 'conflict', details }, 409),
			{ status: 409, message: 'Conflict', code: 'conflict', details },
		],
		[
			'a failure sent with 200',
			json({ success: false, error: 'No' }, 200),
			{ status: 200, message: 'No', code: 'http_200' },
		],
		[
			"a proxy's page",
			text('<html>502</html>', 502, { 'Content-Type': 'text/html' }),
			{
				status: 502,
				message: 'GET /blog/article/5 was answered 502 Bad Gateway',
				code: 'http_502',
				body: '<html>502</html>',
			},
		],
		['an empty refusal', text('', 503), { status: 503, code: 'http_503', body: '' }],
		['JSON that is no object', json('no', 500), { status: 500, code: 'http_500', body: 'no' }],
		['JSON null', json(null, 500), { status: 500, code: 'http_500' }],
		[
			'details of another kind',
			json(
				{
					error: { deep: true },
					details: [null, { field: 'a' }, { field: 'a', message: 'no code' }, ...details, 'x'],
					code: 5,
				},
				400,
			),
			{ status: 400, message: 'GET /blog/article/5 was answered 400 Bad Request', code: 'http_400', details },
		],
		[
			'a page where JSON was meant',
			text('<!doctype html>', 200, { 'Content-Type': 'text/html' }),
			{
				status: 200,
				message: 'GET /blog/article/5: the answer is not in the envelope of this API',
				code: 'unexpected_answer',
			},
		],
	]
	for (const [name, answer, facts] of table) {
		test(`${name} is an ApiError`, () =>
			answering(async (site) => {
				site.answer = answer
				const error = await failureOf(clientOf(site).get(5))
				for (const [key, value] of Object.entries(facts)) {
					const found = error[key as keyof ApiError]
					const expected = typeof value === 'string' ? value.replace('GET /', `GET ${site.origin}/`) : value
					assert.equal(found, expected, key)
				}
				assert.is(error.name, 'ApiError')
				assert.is(error.response?.status, facts.status)
			}))
	}

	test('no response is a network_error with its cause, and names no condition', () =>
		answering(async (site) => {
			site.answer = (request) => request.socket.destroy()
			const error = await failureOf(clientOf(site).list({ where: { title: 'private' } }))
			assert.equal([error.status, error.code, error.response], [0, 'network_error', undefined])
			assert.is(error.message, `GET ${site.origin}/blog/article got no answer: fetch failed`)
			assert.instance(error.cause, TypeError)
		}))

	test('every failure says which request it was, without the query; logs have nothing else of it', () =>
		answering(async (site) => {
			const sent = { where: { title: 'private' } }
			const failures: [what: string, answer: Site['answer'], method: string, call: () => Promise<unknown>][] =
				[
					[
						'refused',
						json({ success: false, error: 'Not Found' }, 404),
						'GET',
						() => clientOf(site).list(sent),
					],
					['not of this API', json('Log in'), 'GET', () => clientOf(site).list(sent)],
					['lost', (request) => request.socket.destroy(), 'GET', () => clientOf(site).list(sent)],
					['a change', json({}, 500), 'DELETE', () => clientOf(site).removeMany(sent)],
				]
			for (const [what, answer, method, call] of failures) {
				site.answer = answer
				const error = await failureOf(call())
				const request = [error.method, error.url]
				assert.equal(request, [method, `${site.origin}/blog/article`], what)
				const logged = `${inspect(error, { depth: 5 })} ${JSON.stringify(error)}`
				assert.match(logged, `${site.origin}/blog/article`, what)
				assert.not.match(logged, 'private', what)
			}
			assert.is(new ApiError('busy', { status: 503, code: 'unavailable' }).method, undefined)
		}))

	test('a truncated response is a network_error with its status', () =>
		answering(async (site) => {
			site.answer = (request, response) => {
				response.writeHead(200, { 'Content-Length': 100 }).write('{"success":true,')
				setTimeout(() => request.socket.destroy(), 20)
			}
			const error = await failureOf(clientOf(site).get(5))
			assert.equal([error.status, error.code], [200, 'network_error'])
			assert.match(error.message, 'got only a part of its answer: ')
			assert.ok(error.cause)
		}))

	test('whatever a fetch throws is the cause', async () => {
		const articles = new CrudClient('article', '/blog', {
			fetch: () => Promise.reject('no reason'),
			retries: 0,
		})
		const error = await failureOf(articles.get(5))
		assert.equal([error.message, error.cause], ['GET /blog/article/5 got no answer: no reason', 'no reason'])
	})

	test('a list that is not an array, and a count without total, are unexpected', () =>
		answering(async (site) => {
			site.answer = json({ success: true, data: { id: 5 } })
			assert.match((await failureOf(clientOf(site).list())).message, 'is not a list')
			site.answer = json({ success: true, data: [] })
			const error = await failureOf(clientOf(site).count())
			assert.match(error.message, 'has no total')
			assert.is(error.code, 'unexpected_answer')
		}))

	test('an invalid header is a TypeError, not a network failure', () =>
		answering(async (site) => {
			// Characters beyond Latin-1 have no byte in a header, and a line break would start another one.
			for (const headers of [{ 'X A': 'a' }, { 'X-A': 'thé …' }, { 'X-A': 'a\r\nX-B: b' }, { 'X-A': 'a\0' }])
				assert.instance(await thrownBy(clientOf(site, { headers, retries: 2 }).get(5)), TypeError)
			assert.equal(site.asked, [])
			await clientOf(site, { headers: { 'X-A': 'thé' } }).get(5)
			assert.is(site.asked[0]?.headers['x-a'], 'thé')
		}))
})

describe('client: aborts', (test) => {
	test('before, while waiting and while reading reject with the given reason', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			const early = await thrownBy(articles.get(5, { signal: AbortSignal.abort() }))
			assert.is((early as Error).name, 'AbortError')
			assert.is(site.asked.length, 0)

			site.answer = () => {}
			assert.is(
				((await thrownBy(articles.list({}, { signal: AbortSignal.timeout(20) }))) as Error).name,
				'TimeoutError',
			)

			const controller = new AbortController()
			const reason = new Error('the user left')
			site.answer = (_request, response) => {
				response.writeHead(200, { 'Content-Length': 100 }).write('{"success":true,')
				setTimeout(() => controller.abort(reason), 20)
			}
			assert.is(await thrownBy(articles.create({ title: 'x' }, { signal: controller.signal })), reason)
		}))

	test('end the call while headers or a signature are computed, and nothing is sent', async () => {
		let asked = 0
		const fetch = async () => {
			asked++
			return Response.json({ success: true, data: null })
		}
		const held: (() => void)[] = []
		const late = () => new Promise<void>((done) => void held.push(done))
		const slow: CrudClientOptions[] = [
			{ fetch, headers: () => late().then(() => ({ 'X-A': 'a' })) },
			{ fetch, sign: (request) => late().then(() => request) },
		]
		for (const options of slow) {
			const articles = new CrudClient('article', 'http://127.0.0.1:9/blog', options)
			const reason = new Error('the user left')
			const controller = new AbortController()
			const work = thrownBy(articles.delete(5, { signal: controller.signal }))
			await until(() => held.length > 0, 'headers or a signature are waited for')
			controller.abort(reason)
			// Nothing goes on: the awaited result has not arrived.
			assert.is(await work, reason)
			held.pop()?.()
			await new Promise(setImmediate)
			assert.is(asked, 0)
		}
	})

	test('end the call where a fetch ignores its signal', async () => {
		for (const retries of [0, 2]) {
			const deaf = new CrudClient('article', '/blog', { retries, fetch: () => new Promise(() => {}) })
			const left = new AbortController()
			setTimeout(() => left.abort('left'), 10)
			assert.is(await thrownBy(deaf.get(5, { signal: left.signal })), 'left')
			const controller = new AbortController()
			const reason = new Error('at once')
			const fetch = async () => {
				controller.abort(reason)
				throw new TypeError('of another kind')
			}
			const failing = new CrudClient('article', '/blog', { retries, fetch })
			assert.is(await thrownBy(failing.get(5, { signal: controller.signal })), reason)
		}
	})

	test('of a custom fetch reject too', async () => {
		const timeout = new DOMException('too late', 'TimeoutError')
		const articles = new CrudClient('article', '/blog', { fetch: () => Promise.reject(timeout) })
		assert.is(await thrownBy(articles.get(5)), timeout)
	})
})
