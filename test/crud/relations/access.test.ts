/**
 * Who may use a relation: for every way through every kind of relation, by every caller, the status is that of a direct
 * request to the other handler. A request is refused before its body is read, and before a model or `scope()` is called.
 */
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { Controller } from '../../../lib/handler/controller.ts'
import {
	type AccessRules,
	type Authenticator,
	CrudHandler,
	type CrudOptions,
	MemoryModel,
	type Model,
	RoleAcl,
	TokenAuthenticator,
	tokenDigest,
} from '../../../lib/index.ts'
import { answer } from '../../../lib/pipeline/answer.ts'
import { MountTree } from '../../../lib/routing/routing.ts'
import { describe } from '../../helpers/describe.ts'
import { appOf, exchangeFor } from '../../helpers/exchange.ts'

type Operation = 'list' | 'read' | 'create' | 'update' | 'totals'
type Rule = 'anyone' | 'user' | readonly string[]
type Caller = keyof typeof CALLERS

const RULES: readonly Rule[] = ['anyone', 'user', ['note:read'], ['note:read', 'note:admin']]
const OPERATIONS: readonly Operation[] = ['list', 'read', 'create', 'update', 'totals']
/** The callers, and what they may do. */
const CALLERS = {
	nobody: undefined,
	bad: undefined,
	user: [],
	reader: ['note:read'],
	admin: ['note:read', 'note:admin'],
} as const

const acl = new RoleAcl({ reader: ['note:read'], admin: ['*'] })
const authenticator = new TokenAuthenticator({
	tokens: {
		[tokenDigest('user')]: { id: 'u' },
		[tokenDigest('reader')]: { id: 'r', roles: ['reader'] },
		[tokenDigest('admin')]: { id: 'a', roles: ['admin'] },
	},
})

/** A way through a relation, with the operations that it is one of: of the records themselves, and of the others. */
interface Way {
	readonly request: string
	readonly to: 'authors' | 'comments' | 'tags'
	readonly own: Operation
	readonly other: Operation
	readonly body?: string
}

/** A direct request to the other handler for each operation. */
const DIRECT: Readonly<Record<Operation, (path: string) => readonly [request: string, body?: string]>> = {
	list: (path) => [`GET /${path}`],
	read: (path) => [`GET /${path}/1`],
	create: (path) => [`POST /${path}`, '{"text":"b"}'],
	update: (path) => [`PATCH /${path}/1`, '{"text":"b"}'],
	totals: (path) => [`GET /${path}/totals?count=exact`],
}

/** The ways by `GET /articles?…` and `GET /articles/1?…`. */
function asked(to: Way['to'], other: Operation, queries: readonly string[]): Way[] {
	return queries.map((query) => ({ request: `GET /articles?${query}`, to, own: 'list', other }))
}

function totaled(to: Way['to'], other: Operation, queries: readonly string[]): Way[] {
	return queries.map((query) => ({ request: `GET /articles/totals?${query}`, to, own: 'totals', other }))
}

function json(value: unknown): string {
	return encodeURIComponent(JSON.stringify(value))
}

const WAYS: readonly Way[] = [
	...asked('authors', 'read', [
		...['include=author', `include=${json({ author: { fields: ['text'] } })}`, 'fields=text,author.text'],
		...['author.text=a', 'author.text[contains]=a', `filter=${json({ author: { text: 'a' } })}`],
		...[`filter=${json({ author: null })}`, `filter=${json({ or: [{ not: { 'author.text': 'a' } }] })}`],
		...['sort=author.text', 'sort=text,-author.text', 'limit=0&author.text=a'],
	]),
	...asked('comments', 'list', [
		...[
			'include=comments',
			`include=${json({ comments: { limit: 0, count: 'exact' } })}`,
			'fields=comments.text',
		],
		...['comments.text=a', `filter=${json({ comments: { some: { text: 'a' } } })}`],
		...[
			`filter=${json({ comments: { none: { text: 'a' } } })}`,
			`filter=${json({ comments: { every: { text: 'a' } } })}`,
		],
		...[`filter=${json({ comments: { count: { gte: 0 } } })}`, `filter=${json({ comments: { count: 1 } })}`],
	]),
	...asked('tags', 'list', [
		...['include=tags', 'fields=text,tags.text', 'tags.text=a', `filter=${json({ tags: { count: 0 } })}`],
		...[`filter=${json({ tags: { some: { text: 'a' } } })}`],
	]),
	...totaled('authors', 'read', ['by=author.text', 'count=exact&author.text=a']),
	...totaled('authors', 'read', [`count=exact&filter=${json({ or: [{ author: null }] })}`]),
	...totaled('comments', 'list', [
		'by=text&comments.text=a',
		`by=text&filter=${json({ comments: { count: 1 } })}`,
	]),
	// Behind another relation.
	...asked('authors', 'read', ['include=comments.author', 'comments.author.text=a']),
	...asked('authors', 'read', [
		`include=${json({ comments: { filter: { 'author.text': 'a' } } })}`,
		`include=${json({ comments: { sort: 'author.text' } })}`,
	]),
	{ request: 'GET /articles/1?include=author', to: 'authors', own: 'read', other: 'read' },
	{ request: 'GET /articles/1?include=comments', to: 'comments', own: 'read', other: 'list' },
	{ request: 'GET /articles/1?fields=tags.text', to: 'tags', own: 'read', other: 'list' },
	{
		request: 'PATCH /articles/1?include=author',
		to: 'authors',
		own: 'update',
		other: 'read',
		body: '{"text":"b"}',
	},
	{
		request: 'PATCH /articles/1?include=tags',
		to: 'tags',
		own: 'update',
		other: 'list',
		body: '{"text":"b"}',
	},
	{
		request: 'POST /articles?include=comments',
		to: 'comments',
		own: 'create',
		other: 'list',
		body: '{"text":"b"}',
	},
	{ request: 'GET /articles/1/author', to: 'authors', own: 'read', other: 'read' },
	{ request: 'GET /articles/1/comments', to: 'comments', own: 'read', other: 'list' },
	{ request: 'GET /articles/1/comments?include=author', to: 'authors', own: 'read', other: 'read' },
	{ request: 'GET /articles/1/tags', to: 'tags', own: 'read', other: 'list' },
	{ request: 'QUERY /articles/1/comments', to: 'comments', own: 'read', other: 'list', body: '{"limit":1}' },
	{
		request: 'POST /articles/1/comments',
		to: 'comments',
		own: 'read',
		other: 'create',
		body: '{"text":"b"}',
	},
	{ request: 'PUT /articles/1/tags/2', to: 'tags', own: 'update', other: 'read' },
	{ request: 'DELETE /articles/1/tags/1', to: 'tags', own: 'update', other: 'read' },
]

/** Everything that models and scopes were asked. */
type Log = string[]

const CALLS = ['list', 'count', 'read', 'create', 'update', 'delete', 'transaction', 'totals']

/** The model, with its calls in the log. */
function logged(model: MemoryModel, log: Log): Model {
	return new Proxy(model, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target)
			if (typeof value !== 'function') return value
			return (...given: unknown[]): unknown => {
				if (CALLS.includes(String(name))) log.push(`${target.name}.${String(name)}`)
				return Reflect.apply(value, target, given)
			}
		},
	})
}

interface Handlers {
	readonly [path: string]: CrudHandler
}

type Accesses = Readonly<Record<string, AccessRules>>

/** One record of each kind, and a second tag; `access` by path. */
function handlersOf(log: Log, access: Accesses, own: Readonly<Record<string, Authenticator>> = {}): Handlers {
	class Guarded extends CrudHandler {
		override access: AccessRules
		declare authenticator?: Authenticator
		readonly path: string

		constructor(name: string, model: Model, options: Partial<CrudOptions>) {
			super(model, {
				...{ visible: ['id', 'text'], updatable: ['text'], allow: OPERATIONS },
				totals: { by: ['text'] },
				...options,
			})
			this.access = access[name] ?? { '*': 'anyone' }
			const special = own[name]
			if (special !== undefined) this.authenticator = special
			this.path = name
		}

		override scope(operation: string) {
			log.push(`${this.path}.scope ${operation}`)
			return {}
		}
	}
	const [id, text, reference] = [
		'integer',
		{ type: 'text', default: 'a' },
		{ type: 'integer', default: 1 },
	] as const
	const author = new MemoryModel('author', { fields: { id, text }, key: 'id', rows: [{}] })
	const article = new MemoryModel('article', {
		fields: { id, text, author_id: reference },
		key: 'id',
		references: [{ field: 'author_id', model: author }],
		rows: [{}],
	})
	const comment = new MemoryModel('comment', {
		fields: { id, text, article_id: reference, author_id: reference },
		key: 'id',
		references: [
			{ field: 'article_id', model: article },
			{ field: 'author_id', model: author },
		],
		rows: [{}],
	})
	const tag = new MemoryModel('tag', { fields: { id, text }, key: 'id', rows: [{}, {}] })
	const tie = new MemoryModel('tie', {
		fields: { article_id: id, tag_id: id },
		key: ['article_id', 'tag_id'],
		references: [
			{ field: 'article_id', model: article },
			{ field: 'tag_id', model: tag },
		],
		rows: [{ article_id: 1, tag_id: 1 }],
	})
	const authors = new Guarded('authors', logged(author, log), {})
	const comments = new Guarded('comments', logged(comment, log), { relations: { author: { to: authors } } })
	const tags = new Guarded('tags', logged(tag, log), {})
	const articles = new Guarded('articles', logged(article, log), {
		totals: { by: ['text', 'author.text'] },
		relations: {
			author: { to: authors },
			comments: { to: comments },
			tags: { to: tags, through: logged(tie, log), writable: ['tie'] },
		},
	})
	return { articles, authors, comments, tags }
}

interface Happening {
	readonly status: number
	readonly log: readonly string[]
	readonly isRead: boolean
}

/** Handlers at their paths, and what they are asked. */
interface Served {
	readonly app: ReturnType<typeof appOf>
	readonly mounts: MountTree
	readonly log: Log
}

function served(make: (log: Log) => Handlers): Served {
	const app = appOf({ authenticator, acl })
	const mounts = new MountTree()
	const controller = new Controller(app, mounts, '', { authenticator, acl })
	const log: Log = []
	for (const [path, handler] of Object.entries(make(log))) controller.service(path, handler)
	return { app, mounts, log }
}

/** Sends a request to new handlers, or to what is served. */
async function happens(
	request: string,
	body: string | undefined,
	headers: Readonly<Record<string, string>>,
	to: Served | ((log: Log) => Handlers),
): Promise<Happening> {
	const { app, mounts, log } = typeof to === 'function' ? served(to) : to
	log.length = 0
	let isRead = false
	const stream = new Readable({
		read() {
			this.push(isRead ? null : (body ?? null))
			isRead = true
		},
	})
	const sent = {
		...headers,
		...(body === undefined ? {} : { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
	}
	const [method = '', url = ''] = request.split(' ')
	const facts = { method, url, headers: sent, rawHeaders: Object.entries(sent).flat() }
	const { status } = await answer(exchangeFor(facts, app, stream), mounts)
	return { status, log: [...log], isRead: isRead && body !== undefined }
}

const credentials = (caller: string): Record<string, string> =>
	caller === 'nobody' ? {} : { authorization: `Bearer ${caller}` }

/** The status of a refusal; `undefined` for none. */
function refusal(rule: Rule, caller: Caller): number | undefined {
	if (caller === 'bad') return 401
	if (rule === 'anyone') return undefined
	const may: readonly string[] | undefined = CALLERS[caller]
	if (may === undefined) return 401
	return rule === 'user' || rule.every((resource) => may.includes(resource)) ? undefined : 403
}

const SUCCESS: Readonly<Record<string, number>> = {
	GET: 200,
	QUERY: 200,
	PATCH: 200,
	POST: 201,
	PUT: 204,
	DELETE: 204,
}

describe('access through relations', (test) => {
	for (const way of WAYS) {
		const title = decodeURIComponent(way.request)
		for (const side of ['own', 'other'] as const) {
			const path = side === 'own' ? 'articles' : way.to
			test(`${title}, with a rule for ${path}`, async () => {
				// At last a rule for all other operations, as the caller that it would refuse.
				const strictest = RULES.at(-1) ?? 'user'
				for (const rule of [...RULES, undefined]) {
					const access =
						rule === undefined
							? { [path]: { '*': strictest, [way[side]]: 'anyone' as const } }
							: { [path]: { '*': 'anyone' as const, [way[side]]: rule } }
					const make = (log: Log) => handlersOf(log, access)
					let handlers = served(make)
					for (const caller of rule === undefined
						? (['nobody'] as const)
						: (Object.keys(CALLERS) as Caller[])) {
						const { status, log, isRead } = await happens(
							way.request,
							way.body,
							credentials(caller),
							handlers,
						)
						const of = `${rule ?? 'others'}, as ${caller}: ${log}`
						const refused = refusal(rule ?? 'anyone', caller)
						assert.is(status, refused ?? SUCCESS[way.request.split(' ')[0] ?? ''], of)
						if (refused === undefined) {
							// The next caller finds what this one has found.
							if (!way.request.startsWith('GET')) handlers = served(make)
							assert.ok(log.length > 0, of)
							const scopes = log.filter((one) => one.includes('scope'))
							assert.is(new Set(scopes).size, scopes.length, `a scope is asked once: ${of}`)
							continue
						}
						assert.equal({ log, isRead }, { log: [], isRead: false }, of)
						const [direct, body] = DIRECT[way[side]](path)
						assert.is((await happens(direct, body, credentials(caller), handlers)).status, refused, direct)
					}
				}
			})
		}
	}

	test('an operation that the other handler does not allow is forbidden', async () => {
		for (const [query, path] of [
			['include=author', 'authors'],
			['author.text=a', 'authors'],
			['include=comments', 'comments'],
			[`filter=${json({ comments: { count: 0 } })}`, 'comments'],
		] as const) {
			const make = (log: Log) => {
				const handlers = handlersOf(log, {})
				const model = handlers[path]?.model
				assert.ok(model)
				const closed = new CrudHandler(model, {
					visible: ['id', 'text'],
					updatable: ['text'],
					allow: ['update'],
				})
				const relations = path === 'authors' ? { author: { to: closed } } : { comments: { to: closed } }
				const { model: article } = handlers.articles ?? {}
				assert.ok(article)
				return { articles: new CrudHandler(article, { visible: ['id', 'text'], relations }) }
			}
			const happened = await happens(`GET /articles?${query}`, undefined, credentials('admin'), make)
			assert.equal(happened, { status: 403, log: [], isRead: false }, query)
		}
	})

	test('the other handler finds the user with its own authenticator', async () => {
		const keys: Authenticator = {
			authenticate: ({ headers }) => (headers['x-key'] === 'k' ? { id: 'k', roles: ['reader'] } : null),
		}
		const make = (log: Log) => handlersOf(log, { authors: { '*': ['note:read'] } }, { authors: keys })
		const statusOf = async (headers: Readonly<Record<string, string>>) => {
			const { status, log } = await happens('GET /articles?include=author', undefined, headers, make)
			if (status !== 200) assert.equal(log, [])
			return status
		}
		assert.is(await statusOf({}), 401)
		assert.is(await statusOf(credentials('admin')), 401)
		assert.is(await statusOf({ 'x-key': 'k' }), 200)
		assert.is(await statusOf({ 'x-key': 'k', ...credentials('user') }), 200)
	})

	test('the body of a QUERY is read before access to its relations is decided, and no model is called', async () => {
		const make = (log: Log) => handlersOf(log, { authors: { '*': 'user' } })
		for (const body of [
			'{"include":"author"}',
			'{"author.text":"a"}',
			'{"filter":{"author":null}}',
			'{"sort":"author.text"}',
		]) {
			const happened = await happens('QUERY /articles', body, {}, make)
			assert.is(happened.status, 401, body)
			assert.equal(
				happened.log.filter((one) => !one.includes('scope')),
				[],
			)
			assert.is((await happens('QUERY /articles', body, credentials('user'), make)).status, 200)
		}
	})
})
