import * as assert from 'uvu/assert'
import { CrudHandler, createServer, type Handlers, MemoryModel, RestError } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'

const people = new MemoryModel('person', {
	fields: { id: 'integer', name: 'text', isPublic: 'boolean' },
	key: 'id',
	rows: [
		{ name: 'Ada', isPublic: true },
		{ name: 'Bob', isPublic: false },
	],
})
const articles = new MemoryModel('article', {
	fields: { id: 'integer', title: 'text', author_id: 'integer' },
	key: 'id',
	references: [{ field: 'author_id', model: people }],
	rows: [
		{ title: 'A', author_id: 1 },
		{ title: 'B', author_id: 2 },
	],
})
/** Finds the user named in a header. */
const byHeader = (name: string) => ({
	authenticate: ({ headers }: { headers: Readonly<Record<string, unknown>> }) => {
		const id = headers[name]
		if (id === 'wrong') throw new RestError('unauthorized')
		return typeof id === 'string' ? { id } : null
	},
	challenge: { 'WWW-Authenticate': `Basic realm="${name}"` },
})
const VISIBLE = { visible: ['id', 'name'] }

function serve(handlers: Handlers) {
	const server = createServer(handlers, { logger: new Log(), logRequests: false })
	return async (method: string, url: string, headers: Record<string, string> = {}, body?: object) => {
		const reply = await server.inject({
			...{ method, url },
			headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
			...(body && { body: JSON.stringify(body) }),
		})
		return { ...reply, status: reply.status, headers: reply.headers, json: JSON.parse(reply.text()) }
	}
}

describe('crud/relations/guards', (test) => {
	test('what is created below a record must be within the scope of its own handler', async () => {
		for (const scope of [{ author_id: 1 }, { author_id: [1, 7] }]) {
			class Own extends CrudHandler {
				override scope() {
					return scope
				}
			}
			const own = new Own(articles, {
				visible: 'all',
				creatable: ['title', 'author_id'],
				allow: ['list', 'create'],
			})
			const ask = serve({
				people: new CrudHandler(people, { ...VISIBLE, relations: { articles: { to: own } } }),
			})
			assert.is((await ask('POST', '/people/2/articles', {}, { title: 'x' })).status, 403)
			assert.is((await ask('POST', '/people/1/articles', {}, { title: 'x' })).status, 201)
		}
	})

	test("credentials that the other handler's authenticator refuses are refused where anyone may read its records", async () => {
		class People extends CrudHandler {
			override readonly authenticator = byHeader('x-person')
		}
		const all = new People(people, VISIBLE)
		const ask = serve({
			people: all,
			articles: new CrudHandler(articles, {
				visible: 'all',
				allow: ['list', 'read', 'totals'],
				totals: { by: ['author.name'] },
				relations: { author: { to: all } },
			}),
		})
		for (const url of [
			'/people',
			'/articles?include=author',
			'/articles/1?include=author',
			'/articles?author.name=Bob',
			'/articles?sort=author.name',
			'/articles/1/author',
			'/articles/totals?by=author.name&count=exact',
		]) {
			assert.is((await ask('GET', url)).status, 200, url)
			const refused = await ask('GET', url, { 'x-person': 'wrong' })
			assert.is(refused.status, 401, url)
		}
	})

	test('an access rule of a handler that is not mounted holds from when it is set', async () => {
		class People extends CrudHandler {
			override readonly authenticator = byHeader('x-person')
			override access: { '*': string } = { '*': 'anyone' }
		}
		const all = new People(people, VISIBLE)
		const ask = serve({
			articles: new CrudHandler(articles, { visible: 'all', relations: { author: { to: all } } }),
		})
		const url = '/articles?include=author'
		assert.is((await ask('GET', url)).status, 200)
		all.access = { '*': 'user' }
		assert.is((await ask('GET', url)).status, 401)
		all.access['*'] = 'anyone'
		assert.is((await ask('GET', url)).status, 200)
		Object.assign(all, { authenticator: byHeader('x-other') })
		assert.is((await ask('GET', url, { 'x-other': 'wrong' })).status, 401)
	})

	test("can() and requireAuth() in the other handler's scope are those of that handler", async () => {
		class People extends CrudHandler {
			override readonly authenticator = byHeader('x-person')
			override readonly acl = { allows: () => false }
			override async scope() {
				await this.requireAuth()
				return this.can('all') ? {} : { isPublic: true }
			}
		}
		class Articles extends CrudHandler {
			override readonly authenticator = byHeader('x-article')
			override readonly acl = { allows: () => true }
		}
		const all = new People(people, VISIBLE)
		const ask = serve({
			articles: new Articles(articles, { visible: ['id'], relations: { author: { to: all } } }),
		})
		const chief = { 'x-article': 'chief' }
		const refused = await ask('GET', '/articles?include=author', chief)
		assert.is(refused.status, 401)
		const { json } = await ask('GET', '/articles/2?include=author', { ...chief, 'x-person': 'bob' })
		assert.equal(json.data, { id: 2, author: null })
		const shown = await ask('GET', '/articles/1?include=author', { ...chief, 'x-person': 'bob' })
		assert.equal(shown.json.data, { id: 1, author: { id: 1, name: 'Ada' } })
	})

	test("requireAuth() in the other handler's scope sets its user, and its refusal is the answer", async () => {
		const asked = byHeader('x-person')
		class People extends CrudHandler {
			override async scope() {
				await this.requireAuth(asked)
				return { name: this.user?.id }
			}
			override fields() {
				return this.user === null ? {} : { hidden: [] }
			}
		}
		class Careless extends CrudHandler {
			override readonly authenticator = asked
			override scope() {
				this.requireAuth().catch(() => {})
				return {}
			}
		}
		class Articles extends CrudHandler {
			override readonly authenticator = byHeader('x-article')
		}
		const relations = {
			author: { to: new People(people, VISIBLE) },
			writer: { to: new Careless(people, VISIBLE), by: 'author_id' },
		}
		const ask = serve({ articles: new Articles(articles, { visible: ['id'], relations }) })
		for (const headers of [{}, { 'x-article': 'Bob' }] as Record<string, string>[]) {
			const { json } = await ask('GET', '/articles/1?include=author', { ...headers, 'x-person': 'Ada' })
			assert.equal(json.data, { id: 1, author: { id: 1, name: 'Ada' } }, JSON.stringify(headers))
			for (const relation of ['author', 'writer'])
				assert.is((await ask('GET', `/articles/1?include=${relation}`, headers)).status, 401, relation)
		}
	})

	test('guesses at credentials of the other handler are limited as its own requests are', async () => {
		class People extends CrudHandler {
			override readonly authenticator = byHeader('x-person')
			override readonly access = { '*': 'user' }
			override readonly rateLimits = { '*': { limit: 2, windowSeconds: 60 } }
		}
		const all = new People(people, VISIBLE)
		const handler = new CrudHandler(articles, { visible: ['id'], relations: { author: { to: all } } })
		const ask = serve({ people: all, articles: handler })
		const nobody = await ask('GET', '/articles?include=author')
		assert.is(nobody.status, 401)
		assert.is(nobody.headers['www-authenticate'], 'Basic realm="x-person"')
		const statuses: number[] = []
		for (let guess = 0; guess < 4; guess++)
			statuses.push((await ask('GET', '/articles?include=author', { 'x-person': 'wrong' })).status)
		assert.equal(statuses.slice(-2), [429, 429])
	})

	test('a relation to a handler with before() is refused when it is mounted', () => {
		class People extends CrudHandler {
			override before() {}
		}
		const author = { to: new People(people, VISIBLE) }
		const handler = new CrudHandler(articles, { visible: ['id'], relations: { author } })
		assert.throws(
			() => createServer({ articles: handler }),
			/relations\.author: People\.before\(\) would not be called/,
		)
	})

	test('counts and texts behind relations are bounded', async () => {
		const authors: CrudHandler = new CrudHandler(people, {
			...VISIBLE,
			relations: { articles: { to: () => all } },
		})
		const all: CrudHandler = new CrudHandler(articles, {
			visible: ['id', 'title'],
			relations: { author: { to: authors } },
		})
		const ask = serve({ articles: all })
		const status = async (query: string) => (await ask('GET', `/articles?${query}`)).status
		assert.is(await status('filter={"author":{"articles":{"count":{"gte":1000}}}}'), 200)
		assert.is(await status('filter={"author":{"articles":{"count":{"gte":1001}}}}'), 400)
		assert.is(await status('author.name[contains]=A'), 200)
		assert.is(await status('author.articles.title[contains]=A'), 400)
		assert.is(await status('author.articles.title=A'), 200)
	})

	test('a record below another is the first that the scope allows', async () => {
		const profiles = new MemoryModel('profile', {
			fields: { id: 'integer', person_id: 'integer', text: 'text', isPublic: 'boolean' },
			key: 'id',
			references: [{ field: 'person_id', model: people }],
			rows: [
				{ person_id: 1, text: 'hidden', isPublic: false },
				{ person_id: 1, text: 'shown', isPublic: true },
			],
		})
		class Profiles extends CrudHandler {
			override scope() {
				return { isPublic: true }
			}
		}
		const to = new Profiles(profiles, { visible: ['text'] })
		const ask = serve({
			people: new CrudHandler(people, { ...VISIBLE, relations: { profile: { to, many: false } } }),
		})
		assert.equal((await ask('GET', '/people/1/profile')).json.data, { text: 'shown' })
		assert.equal((await ask('GET', '/people/1?include=profile')).json.data.profile, { text: 'shown' })
	})
})
