/** A page shows what its caller may use, and nothing of other callers. */
import * as assert from 'uvu/assert'
import {
	type AccessRules,
	CrudHandler,
	createServer,
	MemoryCache,
	MemoryModel,
	newToken,
	RestError,
	RestHandler,
	RoleAcl,
	TokenAuthenticator,
} from '../../lib/index.ts'
import { growth } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { stopwatch } from '../helpers/stalls.ts'
import { dataIn, open } from './page-of.ts'

const { token, digest } = newToken()
const BEARER = { Authorization: `Bearer ${token}` }
const acl = new RoleAcl({ editor: ['article:write'] })

function authenticator() {
	return new TokenAuthenticator({
		tokens: (sent) => (sent === digest ? { id: 'ruth', roles: ['editor'] } : undefined),
	})
}

class Notes extends RestHandler {
	override access: AccessRules = { get_open: 'anyone', post_vault: ['vault:write'], '*': 'user' }
	get_open() {
		return 'open'
	}
	get_closed(id: string) {
		return id
	}
	post_closed() {}
	post_only() {}
	post_vault() {}
}

class Articles extends CrudHandler {
	override access: AccessRules = { create: ['article:write'], update: ['article:write'] }
	constructor() {
		const fields = {
			slug: 'text',
			title: { type: 'text', maxLength: 20 },
			secret: { type: 'text', nullable: true },
			inner: { type: 'text', nullable: true },
		} as const
		const rows = [{ slug: 'thyme', title: 'Thyme', secret: 'MARKER', inner: 'MARKER' }]
		super(new MemoryModel('article', { key: 'slug', fields, rows }), {
			visible: ['title', 'slug'],
			creatable: ['slug', 'title', 'secret'],
			updatable: ['title', 'secret'],
			allow: ['list', 'read', 'create', 'update'],
		})
	}
}

function site(more: object = {}) {
	return createServer(
		{ 'blog/v1': new Notes(), 'blog/v2': new Notes(), 'blog/articles': new Articles() },
		{ explorer: true, logger: new Log(), authenticator: authenticator(), acl, ...more },
	)
}

describe('explorer: what a caller sees', (test) => {
	const server = site()

	test('the forms of allowed methods, and only the names of others', async () => {
		const operations = async (headers = {}) =>
			dataIn(await open(server, '/blog/articles', headers)).operations.map(
				({ method, isAllowed, body, query }) =>
					`${method} ${isAllowed} ${Object.keys(body?.properties ?? {}).join()} ${query.length > 0}`,
			)
		assert.equal(await operations(), ['GET true  true', 'POST false  false', 'QUERY true  true'])
		assert.equal(await operations(BEARER), [
			'GET true  true',
			'POST true slug,title,secret true',
			'QUERY true  true',
		])
	})

	test('hidden fields are nowhere unless writable; then they are named, without their values', async () => {
		for (const url of ['/', '/blog/articles', '/blog/articles/thyme']) {
			const text = (await open(server, url, BEARER)).text()
			assert.not.match(text, 'MARKER')
			assert.not.match(text, '"inner"')
		}
	})

	test('the map at the root lists what the caller may use, by version', async () => {
		const reply = await open(server, '/')
		const { map, answer, user } = dataIn(reply)
		assert.is(reply.status, 200)
		assert.is(answer, undefined)
		assert.is(user, undefined)
		const routes = map?.handlers.map(({ name, version, routes }) => [
			name,
			version,
			routes.map(({ path, operations }) => `${path} ${operations.map(({ method }) => method)}`),
		])
		assert.equal(routes, [
			['blog', 'v1', ['/blog/v1/open GET']],
			['blog', 'v2', ['/blog/v2/open GET']],
			['blog/articles', undefined, ['/blog/articles GET,QUERY', '/blog/articles/{id} GET']],
		])
		assert.is(map?.hasMore, true)
	})

	test('handlers hidden by docs are not on the map, and still answer', async () => {
		class Hiding extends RestHandler {
			override docs = { get_hidden: { hidden: true } }
			get_hidden() {
				return 'here'
			}
			get_shown() {}
		}
		class All extends RestHandler {
			override docs = { get_hidden: { hidden: true } }
			get_hidden() {}
		}
		const server = createServer({ a: new Hiding(), b: new All() }, { explorer: true, logger: new Log() })
		const { map } = dataIn(await open(server, '/'))
		assert.equal(
			map?.handlers.map(({ name, routes }) => [name, routes.map(({ path }) => path)]),
			[['a', ['/a/shown']]],
		)
		assert.is((await server.inject({ url: '/a/hidden' })).status, 200)
	})

	test('with credentials the map has more, and nothing that needs other ones', async () => {
		const { map, user } = dataIn(await open(server, '/', BEARER))
		assert.is(user, 'ruth')
		const paths = map?.handlers[0]?.routes.map(
			({ path, operations }) => `${path} ${operations.map(({ method }) => method)}`,
		)
		assert.equal(paths, [
			'/blog/v1/open GET',
			'/blog/v1/closed/{id} GET',
			'/blog/v1/closed POST',
			'/blog/v1/only POST',
		])
	})

	test('wrong credentials count as none', async () => {
		const log = new Log()
		const server = site({ logger: log, logRequests: false })
		const wrong = { Authorization: 'Bearer wrong' }
		assert.is((await open(server, '/blog/v1/open', wrong)).status, 401)
		assert.equal(log.messages, ['warn: credentials were refused'])
		const { map } = dataIn(await open(server, '/', wrong))
		assert.equal(log.messages, ['warn: credentials were refused', 'warn: credentials were refused'])
		assert.is(map?.handlers[0]?.routes.length, 1)
	})

	test('for JSON clients the root is still 404', async () => {
		const { status, headers } = await server.inject({ url: '/' })
		assert.is(status, 404)
		assert.is(headers.vary, 'Accept')
	})

	test('a path above handlers maps what is below; others are 404, with a link back', async () => {
		const above = await open(server, '/blog')
		assert.is(above.status, 200)
		assert.is(dataIn(above).map?.handlers.length, 3)
		const elsewhere = await open(server, '/blogs/5')
		assert.is(elsewhere.status, 404)
		assert.equal(dataIn(elsewhere).crumbs, [{ text: '', url: '/' }, { text: 'blogs' }, { text: '5' }])
		assert.is(dataIn(elsewhere).map, undefined)
	})

	test('a base path and a root handler have their map too', async () => {
		class Root extends RestHandler {
			get__default() {
				return 'root'
			}
		}
		const based = createServer(
			{ '': new Root(), blog: new Notes() },
			{ base: 'api', explorer: true, authenticator: authenticator(), acl },
		)
		const { map, answer } = dataIn(await open(based, '/api'))
		assert.is(answer?.body, '{"success":true,"data":"root"}')
		assert.equal(
			map?.handlers.map(({ name }) => name),
			['api', 'api/blog'],
		)
		assert.is((await open(based, '/')).status, 200)
	})

	test('a method is shown by name, except a _default one, which is shown by path', async () => {
		class Root extends RestHandler {
			get__default() {}
			get_all() {}
		}
		const server = createServer({ plants: new Root() }, { explorer: true, openapi: true })
		const { map } = dataIn(await open(server, '/'))
		const summaries = map?.handlers.flatMap(({ routes }) =>
			routes.map(({ path, operations }) => [path, operations[0]?.summary]),
		)
		assert.equal(summaries, [
			['/plants', ''],
			['/plants/all', 'get_all'],
			['/openapi.json', 'This API, described in OpenAPI'],
		])
		assert.is(dataIn(await open(server, '/plants')).operations[0]?.summary, '')
	})

	test('the records of a list are linked by its key, whatever its name', async () => {
		assert.is(dataIn(await open(server, '/blog/articles')).recordPath, '/blog/articles/{slug}')
		assert.is(dataIn(await open(server, '/blog/articles/thyme')).recordPath, undefined)
	})

	test('the breadcrumbs lead to pages', async () => {
		const { crumbs } = dataIn(await open(server, '/blog/articles/thyme?fields=title'))
		assert.equal(crumbs, [
			{ text: '', url: '/' },
			{ text: 'blog', url: '/blog' },
			{ text: 'articles', url: '/blog/articles' },
			{ text: 'thyme', url: '/blog/articles/thyme' },
		])
	})

	test('a path of thousands of segments is rendered in linear time', async () => {
		const crumbsOf = async (segments: number) => {
			const reply = await open(server, '/a'.repeat(segments))
			assert.is(reply.status, 404)
			assert.equal(dataIn(reply).crumbs, [{ text: '', url: '/' }])
		}
		const { ratio } = await growth(
			() => crumbsOf(1_000),
			() => crumbsOf(8_000),
		)
		// Eight times the size: quadratic cost would be 64 times as high.
		assert.ok(ratio < 30, `${ratio} times`)
	})

	test('a path that only other methods answer shows their forms', async () => {
		const reply = await open(server, '/blog/v1/only', BEARER)
		assert.is(reply.status, 405)
		assert.equal(
			dataIn(reply).operations.map(({ method, isAllowed }) => [method, isAllowed]),
			[['POST', true]],
		)
	})
})

describe('explorer: forms on error pages', (test) => {
	class Beds extends RestHandler {
		override streaming = ['put_bed']
		get_bed(id: string) {
			if (id === 'gone') return this.error('It was dug over', 410)
			return id === 'none' ? this.error('No such bed', 404) : { id }
		}
		post_bed(_id: string) {}
		put_bed(_id: string) {}
		patch_bed(_id: string) {}
		delete_bed(_id: string) {}
	}
	const fields = { id: 'integer', name: 'text' } as const
	const herbs = new CrudHandler(new MemoryModel('herb', { key: 'id', fields, rows: [{ name: 'mint' }] }), {
		visible: 'all',
		updatable: ['name'],
		allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
	})
	const server = createServer({ '': new Beds(), herbs }, { explorer: true, logger: new Log() })
	const table: [string, number, string[]][] = [
		['/herbs/1', 200, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
		['/herbs/2', 404, ['GET']],
		['/herbs/one', 404, ['GET']],
		['/bed/1', 200, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
		// What isn't there can be made.
		['/bed/none', 404, ['GET', 'POST', 'PUT']],
		['/bed/gone', 410, ['GET', 'POST', 'PUT']],
	]
	for (const [url, status, expected] of table) {
		test(`${url} → ${status} offers ${expected}`, async () => {
			const reply = await open(server, url)
			assert.is(reply.status, status)
			assert.equal(
				dataIn(reply).operations.map(({ method }) => method),
				expected,
			)
		})
	}

	test('methods that stream their body are marked as such', async () => {
		const streaming = dataIn(await open(server, '/bed/1')).operations.filter(({ isStreaming }) => isStreaming)
		assert.equal(
			streaming.map(({ method }) => method),
			['PUT'],
		)
		class Closed extends Beds {
			override access: AccessRules = { '*': 'user' }
		}
		const closed = createServer(
			{ '': new Closed() },
			{ explorer: true, logger: new Log(), authenticator: authenticator() },
		)
		const { operations } = dataIn(await open(closed, '/bed/1'))
		assert.ok(operations.every(({ isAllowed, isStreaming }) => !isAllowed && !isStreaming))
	})
})

describe('explorer: authentication', (test) => {
	test("the map calls the server's own authenticator once for all its handlers", async () => {
		let asked = 0
		const counting = {
			async authenticate() {
				asked++
				return { id: 'ruth' }
			},
		}
		const failing = {
			authenticate() {
				throw new Error('the store is gone')
			},
		}
		class Own extends Notes {
			override authenticator = failing as unknown as typeof counting
		}
		const log = new Log()
		const server = createServer(
			{ a: new Notes(), b: new Notes(), c: new Own() },
			{ explorer: true, authenticator: counting, acl, logger: log, logRequests: false },
		)
		const { map, user } = dataIn(await open(server, '/a/open'))
		assert.is(map, undefined)
		assert.is(user, 'ruth')
		assert.is(asked, 1)
		const all = dataIn(await open(server, '/', BEARER))
		assert.is(all.user, 'ruth')
		assert.is(asked, 2)
		assert.equal(
			all.map?.handlers.map(({ name, routes }) => [name, routes.length]),
			[
				['a', 4],
				['b', 4],
				['c', 1],
			],
		)
	})

	test("no other handler's authenticator sees the credentials, and no guess is counted there", async () => {
		let asked = 0
		const others = {
			async authenticate(): Promise<null> {
				asked++
				throw new RestError('unauthorized')
			},
		}
		class Others extends Notes {
			override authenticator = others as unknown as ReturnType<typeof authenticator>
			override rateLimits = { '*': { limit: 2, windowSeconds: 60 } }
		}
		const log = new Log()
		const server = createServer(
			{ a: new Notes(), b: new Others() },
			{
				explorer: true,
				authenticator: authenticator(),
				acl,
				cache: new MemoryCache({ max: 9 }),
				logger: log,
				logRequests: false,
			},
		)
		const page = dataIn(await open(server, '/a/closed/5', BEARER))
		assert.is(page.user, 'ruth')
		assert.equal(page.roots, ['/a', '/b'])
		assert.is(asked, 0)
		assert.equal(log.messages, [])
		const all = dataIn(await open(server, '/', BEARER))
		assert.equal([all.user, all.map?.hasMore, asked], ['ruth', true, 0])
		assert.equal(
			all.map?.handlers.map(({ name, routes }) => [name, routes.length]),
			[
				['a', 4],
				['b', 1],
			],
		)
		assert.equal(log.messages, [])
		// At its own place it is asked, and counts.
		await open(server, '/b', BEARER)
		assert.is(asked, 1)
		assert.equal(log.messages, ['warn: credentials were refused'])
	})

	test('without credentials the map calls no authenticator', async () => {
		let asked = 0
		const counting = {
			async authenticate() {
				asked++
				return { id: 'ruth' }
			},
		}
		const server = createServer(
			{ a: new Notes(), b: new Notes() },
			{ explorer: true, authenticator: counting, acl, logger: new Log() },
		)
		for (const url of ['/', '/a', '/elsewhere'])
			assert.is(dataIn(await open(server, url, { 'X-Forwarded-For': '1.2.3.4' })).user, undefined)
		assert.is(asked, 0)
		const credentials = [
			...[{ Authorization: 'Basic YTpi' }, { Cookie: 'session=1' }, { 'X-Api-Key': 'k' }],
			{ 'Signature-Input': 'sig=()', Signature: 'sig=:YQ==:' },
		]
		for (const headers of credentials) {
			assert.is(dataIn(await open(server, '/', headers)).user, 'ruth')
			// No map, and no handler's place.
			await open(server, '/elsewhere', headers)
		}
		assert.is(asked, 4)
	})

	test('without a server authenticator the map calls the one all handlers share, and none of several', async () => {
		const asked: string[] = []
		const named = (id: string) => ({
			async authenticate() {
				asked.push(id)
				return { id }
			},
		})
		const notesBy = (own: ReturnType<typeof named>) => Object.assign(new Notes(), { authenticator: own, acl })
		class Open extends RestHandler {
			get_open() {}
		}
		const one = named('one')
		const mapOf = async (handlers: Parameters<typeof createServer>[0]) => {
			const server = createServer(handlers, { explorer: true, logger: new Log() })
			const { map } = dataIn(await open(server, '/', BEARER))
			return map?.handlers.map(({ routes }) => routes.length)
		}
		assert.equal(await mapOf({ a: notesBy(one), b: notesBy(one), c: new Open() }), [4, 4, 1])
		assert.equal(asked, ['one'])
		assert.equal(await mapOf({ a: notesBy(one), b: notesBy(named('two')) }), [1, 1])
		assert.equal(asked, ['one'])
	})

	test('when an authenticator fails, the map is shown as to an anonymous caller', async () => {
		const failing = {
			authenticate(): null {
				throw new Error('the store is gone')
			},
		}
		const log = new Log()
		const options = { explorer: true, authenticator: failing, acl, logger: log, logRequests: false }
		const { map, user } = dataIn(await open(createServer({ a: new Notes() }, options), '/', BEARER))
		assert.equal([user, map?.handlers.map(({ routes }) => routes.length)], [undefined, [1]])
		assert.equal(log.messages, ['error: an authenticator failed'])
	})

	test('no other authenticator is called for a link, which is omitted', async () => {
		let asked = 0
		class Others extends RestHandler {
			override access: AccessRules = { '*': 'user' }
			override authenticator = {
				async authenticate() {
					asked++
					return { id: 'somebody' }
				},
			}
			get_closed() {}
		}
		const server = createServer(
			{ a: new Notes(), b: new Others() },
			{ explorer: true, authenticator: authenticator(), acl, logger: new Log() },
		)
		for (const headers of [{}, BEARER]) {
			assert.equal(dataIn(await open(server, '/a/open', headers)).roots, ['/a'])
			assert.is(asked, 0)
		}
	})

	test('a hanging authenticator delays no other page, and the map of its own server by two seconds', async () => {
		const hanging = { authenticate: () => new Promise<null>(() => {}) }
		class Hanging extends Notes {
			override authenticator = hanging as unknown as ReturnType<typeof authenticator>
		}
		const handlers = { a: new Notes(), b: new Hanging(), c: new Notes() }
		const server = createServer(handlers, {
			...{ explorer: true, acl, logger: new Log() },
			authenticator: authenticator(),
		})
		const took = stopwatch()
		assert.is((await open(server, '/a/closed/5', BEARER)).status, 200)
		const { map, user } = dataIn(await open(server, '/', BEARER))
		assert.ok(took() < 1_000)
		assert.is(user, 'ruth')
		const counts = (data: typeof map) => data?.handlers.map(({ routes }) => routes.length)
		assert.equal(counts(map), [4, 1, 4])
		const stuck = createServer(
			{ a: new Notes() },
			{ explorer: true, acl, logger: new Log(), authenticator: hanging },
		)
		assert.equal(counts(dataIn(await open(stuck, '/', BEARER)).map), [1])
	})

	test('an acl that fails allows nothing, and the page is shown', async () => {
		const broken = {
			allows(): boolean {
				throw new Error('no roles')
			},
		}
		const reply = await open(site({ acl: broken }), '/blog/articles', BEARER)
		assert.is(reply.status, 200)
		assert.equal(
			dataIn(reply).operations.map(({ isAllowed }) => isAllowed),
			[true, false, true],
		)
	})

	test('who has used up the guesses learns nothing about more credentials from the page of the refusal', async () => {
		class Limited extends Notes {
			override rateLimits = { '*': { limit: 2, windowSeconds: 60 } }
		}
		const server = createServer(
			{ a: new Limited() },
			{ explorer: true, authenticator: authenticator(), acl, logger: new Log() },
		)
		const statuses: number[] = []
		for (let turn = 0; turn < 4; turn++) {
			const reply = await open(server, '/a/closed/5', { Authorization: 'Bearer guessed' })
			statuses.push(reply.status)
		}
		assert.equal(statuses, [401, 401, 429, 429])
		const page = dataIn(await open(server, '/a/closed/5', BEARER))
		assert.is(page.answer?.status, 429)
		assert.is(page.user, undefined)
		assert.equal(
			page.operations.map(({ isAllowed }) => isAllowed),
			[false],
		)
	})

	test('where guesses are limited, the map counts them too', async () => {
		class Limited extends Notes {
			override rateLimits = { '*': { limit: 2, windowSeconds: 60 } }
		}
		let asked = 0
		const refusing = {
			async authenticate(): Promise<null> {
				asked++
				throw new RestError('unauthorized')
			},
		}
		const server = createServer(
			{ a: new Limited() },
			{
				explorer: true,
				authenticator: refusing,
				acl,
				cache: new MemoryCache({ max: 100 }),
				logger: new Log(),
			},
		)
		for (let turn = 0; turn < 5; turn++) {
			const reply = await open(server, '/', BEARER)
			assert.is(reply.status, 200)
			assert.is(reply.headers['ratelimit-policy'], undefined)
		}
		assert.is(asked, 2)
	})
})

describe('explorer: the map with many tables', (test) => {
	test('is built in steps, and lets other work run between them', async () => {
		const fields = Object.fromEntries(
			Array.from({ length: 20 }, (_, at) => [`field${at}`, { type: 'text', nullable: at > 8 }] as const),
		)
		const tables = Array.from({ length: 100 }, (_, at) => {
			const model = new MemoryModel(`table${at}`, { fields: { id: 'integer', ...fields }, key: 'id' })
			const options = { visible: ['id' as const, ...Object.keys(fields)], updatable: Object.keys(fields) }
			return [`table${at}`, new CrudHandler(model, options)] as const
		})
		const server = createServer(Object.fromEntries(tables), { explorer: true, logger: new Log() })
		let isMade = false
		let turns = 0
		const count = (): void => {
			turns++
			if (!isMade) setImmediate(count)
		}
		setImmediate(count)
		const cpu = process.cpuUsage()
		const { map } = dataIn(await open(server, '/'))
		isMade = true
		const { user, system } = process.cpuUsage(cpu)
		const cost = (user + system) / 1_000
		assert.is(map?.handlers.length, 100)
		// Processor time, not wall-clock time: a machine that stalls runs no turns.
		assert.ok(turns >= cost / 50, `${turns} turns in ${cost} ms`)
	})
})
