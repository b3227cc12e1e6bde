import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import {
	type AccessRules,
	type Acl,
	type Authenticator,
	type Request,
	RestError,
	RestHandler,
	type User,
} from '../../lib/index.ts'
import { type Asking, asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

/** Finds the user in `x-user`; refuses `bad`. Counts its calls. */
class Keys implements Authenticator {
	asked = 0
	readonly challenge = { 'WWW-Authenticate': 'Key realm="test"' }
	authenticate(request: Request): User | null | Promise<User | null> {
		this.asked++
		const id = request.header('x-user')
		if (id === 'bad') throw new RestError('unauthorized', 'Unknown key')
		if (id === 'slow') return new Promise((resolve) => setImmediate(resolve, { id }))
		return id === undefined ? null : { id }
	}
}

/** `writer` may write. */
const acl: Acl = { allows: (user, resource) => user.id === 'writer' && resource.endsWith(':write') }

class Blog extends RestHandler {
	override customRoutes = { 'GET by/%s': 'get_article', 'POST new': 'publish' }
	override access: AccessRules = {
		post_article: ['article:write'],
		put_article: ['article:write', 'article:publish'],
		get_article: 'user',
		publish: ['article:write'],
		get_news: 'anyone',
	}
	get_article() {
		return this.user
	}
	post_article() {
		return [this.user?.id, this.body ?? null]
	}
	put_article() {
		return 'put'
	}
	publish() {
		return 'published'
	}
	get_news() {
		return this.user
	}
	get_open() {
		return this.user
	}
	post_open() {
		return this.user
	}
}

function served(): Asking & { keys: Keys } {
	const keys = new Keys()
	return Object.assign(asking({ blog: new Blog() }, { authenticator: keys, acl }), { keys })
}

const as = (user?: string): { headers: Record<string, string> } => ({
	headers: user === undefined ? {} : { 'x-user': user },
})
const UNAUTHORIZED = '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}'
const BAD = '401 {"success":false,"error":"Unknown key","code":"unauthorized"}'
const FORBIDDEN = '403 {"success":false,"error":"Forbidden","code":"forbidden"}'

describe('credentials', (test) => {
	const table: [string, string | undefined, string][] = [
		['/blog/open', undefined, ok(null)],
		['/blog/open', 'ann', ok({ id: 'ann' })],
		['/blog/open', 'slow', ok({ id: 'slow' })],
		['/blog/open', 'bad', BAD],
		['POST /blog/open', 'bad', BAD],
		['/blog/news', undefined, ok(null)],
		['/blog/news', 'bad', BAD],
		['/blog/article', undefined, UNAUTHORIZED],
		['/blog/article', 'ann', ok({ id: 'ann' })],
		['/blog/article', 'slow', ok({ id: 'slow' })],
		['/blog/article', 'bad', BAD],
		['/blog/by/x', undefined, UNAUTHORIZED],
		['/blog/by/x', 'ann', ok({ id: 'ann' })],
		['POST /blog/article', undefined, UNAUTHORIZED],
		['POST /blog/article', 'ann', FORBIDDEN],
		['POST /blog/article', 'writer', ok(['writer', null])],
		['POST /blog/new', 'ann', FORBIDDEN],
		['POST /blog/new', 'writer', ok('published')],
		['PUT /blog/article', 'writer', FORBIDDEN],
		['/blog/nothing', 'bad', '404 {"success":false,"error":"Not Found","code":"not_found"}'],
	]
	for (const [request, user, answer] of table) {
		test(`${request} as ${user} → ${answer}`, async () =>
			assert.is(await served().said(request, as(user)), answer))
	}

	for (const [user, status] of [
		[undefined, 401],
		['bad', 401],
		['ann', 200],
	] as const) {
		test(`HEAD as ${user} is ${status}, as its GET is`, async () => {
			assert.is((await served().ask('HEAD /blog/article', as(user))).status, status)
		})
	}

	test('a 401 has the challenge of the authenticator, a 403 has none', async () => {
		const { ask } = served()
		for (const user of [undefined, 'bad']) {
			assert.is((await ask('/blog/article', as(user))).headers['www-authenticate'], 'Key realm="test"')
		}
		assert.is((await ask('POST /blog/article', as('ann'))).headers['www-authenticate'], undefined)
	})

	test('without a challenge of its own, it is Bearer', async () => {
		const { ask } = asking({ blog: new Blog() }, { authenticator: { authenticate: () => null }, acl })
		assert.is((await ask('/blog/article')).headers['www-authenticate'], 'Bearer')
	})

	test('the authenticator is called once per request', async () => {
		const { said, keys } = served()
		await said('/blog/article', as('ann'))
		assert.is(keys.asked, 1)
		await said('/blog/open')
		assert.is(keys.asked, 2)
	})

	test('* applies to methods not named, and a refused request calls no method', async () => {
		const calls: string[] = []
		class Closed extends RestHandler {
			override access = { '*': 'user', get_open: 'anyone' }
			get_open() {
				return 'open'
			}
			get_a() {
				calls.push('a')
			}
			get__default() {
				calls.push('default')
			}
		}
		const { said } = asking({ c: new Closed() }, { authenticator: new Keys() })
		assert.is(await said('/c/open'), ok('open'))
		assert.is(await said('/c/a'), UNAUTHORIZED)
		assert.is(await said('/c'), UNAUTHORIZED)
		assert.equal(calls, [])
	})

	test("a handler's own authenticator takes precedence over the server's", async () => {
		const keys = new Keys()
		class Own extends RestHandler {
			override readonly authenticator = { authenticate: () => ({ id: 'own' }) }
			get_a() {
				return this.user
			}
		}
		const { said } = asking({ own: new Own() }, { authenticator: keys })
		assert.is(await said('/own/a'), ok({ id: 'own' }))
		assert.is(keys.asked, 0)
	})

	test('the body of a refused request is not read', async () => {
		const { server } = served()
		let read = 0
		const body = new Readable({
			read() {
				read++
				this.push('x'.repeat(100))
			},
		})
		for (const [user, status] of [
			['bad', 401],
			['ann', 403],
		] as const) {
			const answer = await new Promise<number>((resolve) => {
				const incoming = Object.assign(body, {
					method: 'POST',
					url: '/blog/article',
					headers: { host: 'a', 'x-user': user, 'transfer-encoding': 'chunked' },
					rawHeaders: ['Host', 'a'],
					httpVersionMajor: 1,
					httpVersionMinor: 1,
					socket: null,
					complete: true,
				})
				const response = { writeHead: resolve, end() {}, once() {}, on() {}, socket: null }
				server.handler(incoming, response as never)
			})
			assert.is(answer, status)
		}
		assert.is(read, 0)
	})

	for (const [what, answer] of [
		['undefined', undefined],
		['false', false],
		['true', true],
		['text', 'ann'],
		['an object without id', {}],
		['an id that is no text', { id: 5 }],
	] as const) {
		test(`an authenticator that returns ${what} lets nobody in: 500, and the log says why`, async () => {
			const authenticator = { authenticate: () => answer as unknown as User }
			const { ask, logged } = asking({ blog: new Blog() }, { authenticator, acl })
			for (const path of ['/blog/article', '/blog/open']) assert.is((await ask(path)).status, 500)
			assert.is(logged(), "authenticate() must return a user, { id: '…' }, or null for no credentials")
		})
	}

	test('an authenticator that fails is 500, logged, and lets nobody in', async () => {
		const authenticator = {
			authenticate() {
				throw new Error('no database')
			},
		}
		const { ask, logged } = asking({ blog: new Blog() }, { authenticator, acl })
		assert.is((await ask('/blog/open')).status, 500)
		assert.is(logged(), 'no database')
	})

	test('an acl that returns anything but true allows nothing', async () => {
		for (const answer of [Promise.resolve(true), 1, 'yes', {}, undefined]) {
			const loose = { allows: () => answer as unknown as boolean }
			const { said } = asking({ blog: new Blog() }, { authenticator: new Keys(), acl: loose })
			assert.is(await said('POST /blog/article', as('writer')), FORBIDDEN)
		}
	})

	test('declared access that nobody could be granted is refused at mount', () => {
		assert.throws(() => asking({ blog: new Blog() }), /needs an authenticator/)
		assert.throws(() => asking({ blog: new Blog() }, { authenticator: new Keys() }), /need an acl/)
	})
})
