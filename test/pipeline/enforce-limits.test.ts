/** Rate limits of a mounted handler: what is counted together, and the responses. */
import * as assert from 'uvu/assert'
import {
	type Cache,
	CrudHandler,
	type InjectedReply,
	MemoryCache,
	MemoryModel,
	type RateLimits,
	type Request,
	RestError,
	RestHandler,
	type ServerOptions,
} from '../../lib/index.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

class Blog extends RestHandler {
	calls = { count: 0 }
	override customRoutes = { 'GET by/%s': 'get_article' }
	override access = { put_article: 'user', delete_article: ['article:delete'] }
	override rateLimits: RateLimits = {
		get_article: { limit: 2, windowSeconds: 60 },
		post_article: { limit: 1, windowSeconds: 30, window: 'sliding' },
		'*': { limit: 3, windowSeconds: 10 },
	}
	get_article() {
		this.calls.count++
		return 'article'
	}
	post_article() {
		this.calls.count++
		return this.body ?? null
	}
	put_article() {
		return 'put'
	}
	delete_article() {
		return 'deleted'
	}
	get_news() {
		return this.error('No news', 404)
	}
	get_broken() {
		throw new Error('broken')
	}
}

/** Finds the user in `x-user`; refuses `bad`. */
const authenticator = {
	authenticate(request: Request) {
		const id = request.header('x-user')
		if (id === 'bad') throw new RestError('unauthorized')
		return id === undefined ? null : { id }
	},
}
const acl = { allows: () => false }

/** A clock that stands still: no window and no second ends during a stall. */
function still(): MemoryCache {
	return new MemoryCache({ max: 1_000, clock: () => 0 })
}

function mounted(options: ServerOptions = {}): Asking {
	return asking(
		{ 'blog/api': new Blog(), other: new Blog() },
		{ authenticator, acl, cache: still(), ...options },
	)
}

function fields({ headers }: InjectedReply): unknown[] {
	return [headers['ratelimit-policy'], headers.ratelimit]
}

function as(user: string) {
	return { headers: { 'x-user': user } }
}

describe('rate limits', (test) => {
	test('past the limit it is 429 with Retry-After, and the method is not called', async () => {
		const blog = new Blog()
		const { ask } = asking({ blog }, { authenticator, acl, cache: still() })
		assert.is((await ask('/blog/article')).status, 200)
		assert.is((await ask('/blog/article')).status, 200)
		const refused = await ask('/blog/article')
		assert.is(refused.status, 429)
		assert.is(refused.text(), '{"success":false,"error":"Too Many Requests","code":"too_many_requests"}')
		assert.is(refused.headers['retry-after'], '60')
		assert.equal(fields(refused), ['"get_article";q=2;w=60', '"get_article";r=0;t=60'])
		assert.is(blog.calls.count, 2)
	})

	test('every response says what remains, errors too', async () => {
		const { ask } = mounted()
		assert.equal(fields(await ask('/blog/api/article')), ['"get_article";q=2;w=60', '"get_article";r=1;t=60'])
		const missing = await ask('/blog/api/news')
		assert.is(missing.status, 404)
		assert.equal(fields(missing), ['"default";q=3;w=10', '"default";r=2;t=10'])
		const broken = await ask('/blog/api/broken')
		assert.is(broken.status, 500)
		assert.equal(fields(broken), ['"default";q=3;w=10', '"default";r=1;t=10'])
	})

	test('responses of a method without a limit have no such headers', async () => {
		class Open extends RestHandler {
			override rateLimits = { get_a: { limit: 1, windowSeconds: 1 } }
			get_a() {
				return 1
			}
			get_b() {
				return 2
			}
		}
		const { ask } = asking({ '': new Open() })
		for (let round = 0; round < 3; round++) assert.equal(fields(await ask('/b')), [undefined, undefined])
	})

	test('users are counted apart from each other and from addresses; HEAD and custom routes with their method', async () => {
		const { ask } = mounted()
		const statuses: number[] = []
		for (const [request, more] of [
			['HEAD /blog/api/article', undefined],
			['/blog/api/by/1', undefined],
			['/blog/api/article', undefined],
			['/blog/api/article', as('ann')],
			['/blog/api/article', as('bob')],
			['/blog/api/by/2', as('bob')],
			['/blog/api/article', as('bob')],
			['/blog/api/article', as('ann')],
		] as const)
			statuses.push((await ask(request, more)).status)
		assert.equal(statuses, [200, 200, 429, 200, 200, 200, 429, 200])
	})

	test('* is one limit for all the methods not named, and refusals count', async () => {
		const { ask } = mounted()
		assert.is((await ask('PUT /blog/api/article', as('ann'))).status, 200)
		assert.is((await ask('DELETE /blog/api/article', as('ann'))).status, 403)
		assert.is((await ask('/blog/api/news', as('ann'))).status, 404)
		assert.is((await ask('PUT /blog/api/article', as('ann'))).status, 429)
		assert.is((await ask('/blog/api/article', as('ann'))).status, 200)
	})

	test("a client that guesses credentials is refused before they are checked, and its neighbours aren't", async () => {
		const { ask } = mounted()
		// Requests with good credentials, or none, don't count as guesses.
		for (let round = 0; round < 3; round++) await ask('PUT /blog/api/article', as('ann'))
		const statuses: number[] = []
		for (let tried = 0; tried < 5; tried++)
			statuses.push((await ask('PUT /blog/api/article', as('bad'))).status)
		assert.equal(statuses, [401, 401, 401, 429, 429])
		// Even the right ones are refused now: they could be the next guess.
		assert.is((await ask('PUT /blog/api/article', as('bob'))).status, 429)
		// Other limits count their own guesses.
		assert.is((await ask('/blog/api/article', as('bob'))).status, 200)
	})

	test('of concurrent guesses only as many as the limit are checked, but all good credentials pass', async () => {
		let [underWay, most, refused] = [0, 0, 0]
		const slow = {
			async authenticate(request: Request) {
				underWay++
				most = Math.max(most, underWay)
				await new Promise((resolve) => setTimeout(resolve, 2))
				underWay--
				if (request.header('x-user') !== 'bad') return { id: String(request.header('x-user')) }
				refused++
				throw new RestError('unauthorized')
			},
		}
		class Guarded extends RestHandler {
			override rateLimits = { get_a: { limit: 5, windowSeconds: 2_592_000 } }
			get_a() {
				return 1
			}
		}
		const { ask } = asking({ '': new Guarded() }, { authenticator: slow, cache: still() })
		const all = (user: (at: number) => string, count: number) =>
			Promise.all(Array.from({ length: count }, async (_, at) => (await ask('/a', as(user(at)))).status))
		// Different users of one address wait for each other.
		assert.equal(await all((at) => `user ${at}`, 100), Array(100).fill(200))
		assert.is(most, 5)
		const statuses = await all(() => 'bad', 500)
		assert.is(statuses.filter((status) => status === 401).length, 5)
		assert.is(statuses.filter((status) => status === 429).length, 495)
		assert.is(refused, 5)
		assert.is((await ask('/a', as('ann'))).status, 429)
	})

	test('an authenticator that hangs retains no guess after its request timed out or was aborted', async () => {
		let hangs = true
		const hanging = {
			authenticate: () => (hangs ? new Promise<never>(() => {}) : { id: 'ann' }),
		}
		class Guarded extends RestHandler {
			override rateLimits = { get_a: { limit: 2, windowSeconds: 2_592_000 } }
			get_a() {
				return 1
			}
		}
		const more = { authenticator: hanging, cache: still(), handlerTimeoutSeconds: 0.04, explorer: true }
		const { ask } = asking({ '': new Guarded() }, more)
		const all = () => Promise.all([1, 2].map(async () => (await ask('/a')).status))
		assert.equal(await all(), [503, 503])
		hangs = false
		assert.equal(await all(), [200, 200])
	})

	test('good credentials leave nothing about guesses in the cache for longer than two minutes', async () => {
		const kept = new Map<string, number>()
		class Noting extends MemoryCache {
			override increment(key: string, ttlSeconds: number) {
				kept.set(key, ttlSeconds)
				return super.increment(key, ttlSeconds)
			}
		}
		class Guarded extends RestHandler {
			override rateLimits = { get_a: { limit: 9, windowSeconds: 86_400 } }
			get_a() {
				return 1
			}
		}
		const { ask } = asking({ '': new Guarded() }, { authenticator, cache: new Noting({ max: 100 }) })
		assert.is((await ask('/a', as('ann'))).status, 200)
		const guesses = [...kept].filter(([key]) => key.startsWith('guess:'))
		assert.equal(guesses.map(([key, seconds]) => [key.split(':').at(-2), seconds]).sort(), [
			['back', 120],
			['taken', 120],
		])
	})

	test('good credentials among bad ones give their guess back, and the others stay refused', async () => {
		const { ask } = mounted()
		const users = Array.from({ length: 60 }, (_, at) => (at % 6 === 0 ? 'bad' : `user ${at}`))
		const statuses = await Promise.all(
			users.map(async (user) => (await ask('PUT /blog/api/article', as(user))).status),
		)
		assert.is(statuses.filter((status) => status === 401).length, 3)
		assert.ok(statuses.every((status, at) => status === 429 || status === (at % 6 === 0 ? 401 : 200)))
		assert.is((await ask('PUT /blog/api/article', as('ann'))).status, 429)
	})

	test('an IPv6 site is limited by its networks of 56 and 48 bits, and another site by its own', async () => {
		class Counted extends RestHandler {
			override rateLimits = { get_a: { limit: 2, windowSeconds: 60 } }
			get_a() {
				return 1
			}
		}
		const { ask } = asking({ '': new Counted() }, { cache: still(), trustProxy: 1 })
		const from = async (address: string) =>
			(await ask('/a', { headers: { 'x-forwarded-for': address } })).status
		const served = async (addresses: readonly string[]) => {
			const statuses: number[] = []
			for (const address of addresses) statuses.push(await from(address))
			return statuses.filter((status) => status === 200).length
		}
		// Another /64 network for each request.
		const hosts = (site: string, count: number) =>
			Array.from({ length: count }, (_, at) => `2001:db8:${site}${at.toString(16).padStart(2, '0')}::1`)
		assert.is(await served(hosts('1:1', 100)), 16)
		assert.is(await served(hosts('1:2', 10)), 10)
		const homes = Array.from({ length: 40 }, (_, at) => hosts(`1:${(at + 16).toString(16)}`, 16)).flat()
		assert.is(await served(homes), 128 - 16 - 10)
		assert.is(await from('2001:db8:2:100::1'), 200)
		assert.is(await from('192.0.2.1'), 200)
	})

	test('one IPv6 site, or one user, cannot fill the store of counters for others', async () => {
		class Counted extends RestHandler {
			override rateLimits = { get_a: { limit: 1_000_000, windowSeconds: 60, failOpen: true } }
			get_a() {
				return 1
			}
		}
		const cache = new MemoryCache({ max: 1_000, clock: () => 0 })
		const { ask, lines } = asking({ '': new Counted() }, { cache, trustProxy: 1 })
		const from = (address: string) => ask('/a', { headers: { 'x-forwarded-for': address } })
		let last: InjectedReply | undefined
		for (let host = 0; host < 1_000 && last?.status !== 429; host++)
			last = await from(`2001:db8:1:${host.toString(16)}::1`)
		assert.is(last?.status, 429)
		assert.match(String(last?.text()), /Too many requests are being counted for this user or network/)
		assert.ok(last?.headers['retry-after'])
		assert.is(lines.at(-1)?.message, 'a caller has filled their share of the cache')
		for (let site = 2; site < 20; site++) assert.is((await from(`2001:db8:${site}::1`)).status, 200)
		assert.is((await from('192.0.2.1')).status, 200)
	})

	test('an authenticator that refuses with 403 counts as a guess too, one that fails does not', async () => {
		let refusal: Error = new RestError('forbidden')
		const refusing = {
			authenticate() {
				throw refusal
			},
		}
		const { ask } = mounted({ authenticator: refusing })
		const statuses = async () =>
			[await ask('/blog/api/news'), await ask('/blog/api/news'), await ask('/blog/api/news')].map(
				({ status }) => status,
			)
		refusal = new RestError('unavailable')
		assert.equal(await statuses(), [503, 503, 503])
		refusal = new RestError('forbidden')
		assert.equal(await statuses(), [403, 403, 403])
		assert.is((await ask('/blog/api/news')).status, 429)
	})

	test('each mount counts separately', async () => {
		const { ask } = mounted()
		for (const path of ['/blog/api/article', '/blog/api/article', '/other/article', '/other/article'])
			assert.is((await ask(path)).status, 200)
		assert.is((await ask('/blog/api/article')).status, 429)
	})

	test('a sliding limit can also be set for one method', async () => {
		const { ask } = mounted()
		const first = await ask('POST /blog/api/article', { body: { a: 1 } })
		assert.equal(fields(first), ['"post_article";q=1;w=30', '"post_article";r=0;t=30'])
		assert.is((await ask('POST /blog/api/article', { body: { a: 1 } })).status, 429)
	})

	test('CRUD actions have limits by their names', async () => {
		const model = new MemoryModel('note', { key: 'id', fields: { id: 'integer', text: 'text' } })
		class Notes extends CrudHandler {
			override rateLimits = { create: { limit: 1, windowSeconds: 60 } }
		}
		const notes = new Notes(model, { visible: 'all', updatable: ['text'], allow: ['list', 'create'] })
		const { ask } = asking({ notes })
		assert.is((await ask('POST /notes', { body: { text: 'a' } })).status, 201)
		assert.is((await ask('POST /notes', { body: { text: 'b' } })).status, 429)
		assert.is((await ask('/notes')).status, 200)
	})

	test('with a full cache: 503, logged with the option to raise; served where the limit fails open', async () => {
		const full = new MemoryCache({ max: 1 })
		full.add('taken', true, 60)
		const closed = mounted({ cache: full })
		const refused = await closed.ask('/blog/api/article')
		assert.is(refused.status, 503)
		assert.is(refused.headers['retry-after'], '1')
		assert.match(refused.text(), /"code":"unavailable"/)
		const error = closed.lines.at(-1)?.fields.err
		assert.ok(error instanceof Error && error.cause instanceof Error)
		assert.match(error.cause.message, /raise max/)

		class Open extends RestHandler {
			override rateLimits = { get_a: { limit: 1, windowSeconds: 1, failOpen: true } }
			get_a() {
				return 1
			}
		}
		const open = asking({ '': new Open() }, { cache: full })
		assert.is((await open.ask('/a')).status, 200)
		assert.is(open.lines.at(-1)?.message, 'a request was not counted against its rate limit')
	})

	test("with a cache that never responds: 503 when the request's timeout is over", async () => {
		const silent: Cache = {
			get: () => new Promise(() => {}),
			set: () => {},
			delete: () => false,
			add: () => true,
			increment: () => new Promise(() => {}),
		}
		await listening(
			{ blog: new Blog() },
			{ authenticator, acl, cache: silent, handlerTimeoutSeconds: 0.05 },
			async ({ url }) => {
				assert.is((await fetch(`${url}/blog/article`)).status, 503)
			},
		)
	})

	test('the limit is checked before the body is read', async () => {
		const { ask } = mounted({ maxBody: 10 })
		await ask('POST /blog/api/article', { body: { a: 1 } })
		assert.is((await ask('POST /blog/api/article', { body: { a: 'much more than ten bytes' } })).status, 429)
	})

	test('a limit for no existing route, or a malformed one, is refused at mount', () => {
		class Wrong extends RestHandler {
			override rateLimits: RateLimits = { get_artcle: { limit: 1, windowSeconds: 1 } }
			get_article() {}
		}
		assert.throws(
			() => asking({ '': new Wrong() }),
			/^Wrong\.rateLimits\["get_artcle"\] names no route: did you mean get_article\?$/,
		)
		class Zero extends RestHandler {
			override rateLimits: RateLimits = { '*': { limit: 0, windowSeconds: 1 } }
			get_article() {}
		}
		assert.throws(() => asking({ '': new Zero() }), /^Zero\.rateLimits\["\*"\]\.limit must be a whole number/)
	})
})
