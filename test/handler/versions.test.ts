/** API versions: headers of deprecated ones, and the suggestions for unknown ones. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type Deprecated,
	type Handlers,
	MemoryModel,
	RestError,
	RestHandler,
	reply,
	type ServerOptions,
} from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ask, requestText } from '../helpers/raw.ts'

class Api extends RestHandler {
	get_article(id: string) {
		return id
	}
}

/** The message of a 404; any other response with its status. */
async function saysOf(handlers: Handlers, request: string, options?: ServerOptions): Promise<unknown> {
	const answer = await asking(handlers, options).ask(request)
	const { error, code } = answer.json() as { error?: string; code?: string }
	return answer.status === 404 && code === 'not_found' ? error : answer.status
}

describe('versions: unknown ones', (test) => {
	const both: Handlers = { 'blog/api/v1': Api, 'blog/api/v2': Api }

	const table: [handlers: Handlers, request: string, says: unknown][] = [
		[both, '/blog/api/v9/article/5', 'There is no version v9 here: v1, v2'],
		[both, '/blog/api/v9', 'There is no version v9 here: v1, v2'],
		[both, 'DELETE /blog/api/v9/article/5', 'There is no version v9 here: v1, v2'],
		[both, 'OPTIONS /blog/api/v9/article/5', 'There is no version v9 here: v1, v2'],
		[both, '/blog/api/v2/article/5', 200],
		[both, '/blog/api/v1/nothing', 'Not Found'],
		[both, '/blog/api/article/5', 'Not Found'],
		[both, '/blog/api', 'Not Found'],
		[both, '/blog/v9', 'Not Found'],
		[both, '/v9/article', 'Not Found'],
		[both, '/blog/api/V9/article', 'Not Found'],
		[both, '/blog/api/v9a/article', 'Not Found'],
		[both, '/blog/api/v/article', 'Not Found'],
		[both, '/blog/api/version9/article', 'Not Found'],
		[both, '/blog/api/v1234567890/article', 'Not Found'],
		[
			{ v10: Api, v9: Api, v1: Api, vain: Api, other: Api },
			'/v2/x',
			'There is no version v2 here: v1, v9, v10',
		],
		[
			{ 'blog/v1/articles': Api, 'blog/v2/articles': Api },
			'/blog/v3/articles',
			'There is no version v3 here: v1, v2',
		],
		[{ 'blog/v1/articles': Api }, '/blog/v1/article/5', 'Not Found'],
		[{ ...both, 'blog/api': Api }, '/blog/api/v9/article', 'There is no version v9 here: v1, v2'],
		[{ ...both, '': Api }, '/blog/api/v9/article', 'There is no version v9 here: v1, v2'],
		[{ 'blog/api': Api }, '/blog/api/v9/article', 'Not Found'],
	]
	for (const [handlers, request, says] of table) {
		test(`${request} beside ${Object.keys(handlers).join(', ')}: ${says}`, async () => {
			assert.is(await saysOf(handlers, request), says)
		})
	}

	class Own extends RestHandler {
		get_v9(name: string) {
			return name
		}
		get_v7() {
			throw new RestError('not_found', 'Never written')
		}
	}

	test("a handler's own resource takes precedence, with everything below it", async () => {
		const handlers = { ...both, 'blog/api': Own }
		assert.is(await saysOf(handlers, '/blog/api/v9/article'), 200)
		assert.is(await saysOf(handlers, 'POST /blog/api/v9/article'), 405)
		assert.is(await saysOf(handlers, '/blog/api/v9/too/long'), 'Not Found')
		assert.is(await saysOf(handlers, '/blog/api/v7'), 'Never written')
		assert.is(await saysOf(handlers, '/blog/api/v8'), 'There is no version v8 here: v1, v2')
	})

	class All extends RestHandler {
		get__default(...path: string[]) {
			return path
		}
	}

	test('a handler that answers every path takes precedence', async () => {
		const handlers = { ...both, 'blog/api': All }
		assert.is(await saysOf(handlers, '/blog/api/v9/article'), 200)
		assert.is(await saysOf(handlers, 'PUT /blog/api/v9/article'), 405)
	})

	test('handlers mounted later count as versions; resources never do', async () => {
		const { server, said } = asking({ 'blog/api': Own, 'blog/api/v1': Api })
		assert.match(await said('/blog/api/v5/article'), 'There is no version v5 here: v1"')
		server.controller.service('blog/api/v2', Api)
		assert.match(await said('/blog/api/v5/article'), 'There is no version v5 here: v1, v2"')
	})

	test('base may be a version', async () => {
		assert.is(
			await saysOf({ blog: Api }, '/v2/blog/article/5', { base: 'v1' }),
			'There is no version v2 here: v1',
		)
	})

	test('is a problem document for clients that prefer one', async () => {
		const headers = { Accept: 'application/problem+json' }
		const answer = await asking(both).ask('/blog/api/v9/article', { headers })
		const problem = { type: 'about:blank', title: 'Not Found', status: 404 }
		const detail = 'There is no version v9 here: v1, v2'
		assert.equal(answer.json(), { ...problem, detail, code: 'not_found' })
	})
})

const LINES = {
	deprecation: '@1767225600',
	sunset: 'Thu, 31 Dec 2026 00:00:00 GMT',
	link: '</docs/v2>; rel="deprecation"',
}

class V1 extends RestHandler {
	static override deprecated: Deprecated = { since: '2026-01-01', sunset: '2026-12-31', link: '/docs/v2' }
	override authenticator = { authenticate: () => null }
	override access = { get_secret: 'user' }
	override rateLimits = { get_limited: { limit: 1, windowSeconds: 60 } }

	get_article(id: string): unknown {
		if (id === '0') throw new RestError('not_found', 'No such article')
		return id
	}
	get_secret() {}
	get_limited() {}
	get_broken() {
		throw new Error('the disk is full')
	}
	get_nothing() {
		this.status(204)
	}
	get_list() {
		this.header('Link', ['</list?cursor=a>; rel="next"', '</list>; rel="first"'])
		return []
	}
	get_later() {
		this.header('Deprecation', '@1800000000')
		return null
	}
	async *get_numbers() {
		yield 1
	}
	post_article() {
		return reply('made', { status: 201, headers: { Location: '/a/1', Link: '</a>; rel="up"' } })
	}
}

class V2 extends V1 {
	override get_article(id: string) {
		return { id }
	}
}

describe('versions: deprecated ones', (test) => {
	const handlers: Handlers = { 'blog/v1': V1, 'blog/v2': V2 }

	function toldBy(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
		const { deprecation, sunset, link } = headers
		return { deprecation, sunset, link }
	}

	const requests: [request: string, status: number][] = [
		['GET /article/5', 200],
		['HEAD /article/5', 200],
		['GET /article/0', 404],
		['GET /other', 404],
		['POST /numbers', 405],
		['OPTIONS /article/5', 204],
		['GET /secret', 401],
		['GET /broken', 500],
		['GET /nothing', 204],
		['GET /numbers', 200],
	]
	for (const [request, status] of requests) {
		test(`${request} is ${status}, with deprecation headers over a socket`, () =>
			listening(handlers, {}, async ({ port }) => {
				const [method = '', path = ''] = request.split(' ')
				const answer = await ask(port, requestText(`${method} /blog/v1${path}`), method)
				assert.is(answer.status, status)
				assert.equal(toldBy(answer.headers), LINES)
			}))
	}

	test('a 429 has the headers', async () => {
		const { ask } = asking(handlers)
		await ask('/blog/v1/limited')
		const { status, headers } = await ask('/blog/v1/limited')
		assert.is(status, 429)
		assert.equal(toldBy(headers), LINES)
	})

	test('a version that extends it has no such headers', async () => {
		const { ask } = asking(handlers)
		for (const request of ['/blog/v2/article/5', '/blog/v2/other', 'OPTIONS /blog/v2/article/5'])
			assert.equal(toldBy((await ask(request)).headers), toldBy({}))
	})

	test("its Link is sent next to a list's own", async () => {
		const { headers } = await asking(handlers).ask('/blog/v1/list')
		assert.equal(headers.link, ['</list?cursor=a>; rel="next"', '</list>; rel="first"', LINES.link])
	})

	test('a method may set its own deprecation', async () => {
		const { headers } = await asking(handlers).ask('/blog/v1/later')
		assert.equal(toldBy(headers), { ...LINES, deprecation: '@1800000000' })
	})

	test('a replay for an Idempotency-Key has the headers of the current day', async () => {
		class Keyed extends V1 {
			static override deprecated: Deprecated = { since: '2026-01-01', link: '/docs/v2' }
			override idempotencyKeys = 'anyone'
		}
		const { ask } = asking({ v1: Keyed })
		const request = { headers: { 'Idempotency-Key': '"k"' }, body: {} }
		const first = await ask('POST /v1/article', request)
		const again = await ask('POST /v1/article', request)
		assert.is(again.headers['idempotent-replayed'], 'true')
		for (const { headers } of [first, again]) {
			assert.is(headers.deprecation, LINES.deprecation)
			assert.equal(headers.link, ['</a>; rel="up"', LINES.link])
		}
	})

	test('a factory, and a CrudHandler with pages, have them as well', async () => {
		class Notes extends CrudHandler {
			static override deprecated: Deprecated = { link: '/docs/v2' }
		}
		const model = new MemoryModel('note', {
			fields: { id: 'integer', text: 'text' },
			key: 'id',
			rows: [
				{ id: 1, text: 'a' },
				{ id: 2, text: 'b' },
			],
		})
		const { ask } = asking({ note: new Notes(model, { visible: 'all' }), v1: () => new V1() })
		const { headers } = await ask('/note?limit=1')
		assert.is(headers.link?.length, 2)
		assert.match(String(headers.link), /rel="next",<\/docs\/v2>; rel="deprecation"$/)
		assert.equal(toldBy((await ask('/v1/article/5')).headers), LINES)
	})

	test('mistakes in it are reported at mount', () => {
		class Wrong extends RestHandler {
			static override deprecated: Deprecated = { since: 'soon' }
			get_a() {}
		}
		assert.throws(() => asking({ '': Wrong }), /Wrong\.deprecated\.since must be a Date, or text/)
		assert.throws(() => asking({ '': () => new Wrong() }), /Wrong\.deprecated\.since/)
	})
})
