/** Apps to be described: each covers a part of the description. */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import {
	anyOf,
	CrudHandler,
	type Handlers,
	HmacAuthenticator,
	MemoryModel,
	RestHandler,
	RoleAcl,
	reply,
	type ServerOptions,
	TokenAuthenticator,
	tokenDigest,
} from '../../lib/index.ts'

export interface App {
	readonly handlers: Handlers
	readonly options: ServerOptions
}

/** What stands before all paths of an app. */
export function baseOf({ options: { base } }: App): string {
	return base === undefined ? '' : `/${base}`
}

const INFO = { title: 'Apps', version: '1.2.3', license: { name: 'MIT', identifier: 'MIT' } } as const
const ALL = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const

export const TOKEN = 'a-token-for-tests-alone'
/** 32 zero bytes. */
const KEY = `${'A'.repeat(43)}=`

export function articleModel(name = 'article'): MemoryModel {
	return new MemoryModel(name, {
		key: 'id',
		fields: {
			id: 'integer',
			title: { type: 'text', maxLength: 20 },
			state: { type: 'text', choices: ['draft', 'public'], default: 'draft' },
			body: { type: 'text', nullable: true },
			price: { type: 'decimal', nullable: true },
			published_at: { type: 'timestamp', nullable: true },
			secret_note: { type: 'text', nullable: true },
			version: { type: 'integer', default: 1 },
		},
		rows: Array.from({ length: 5 }, (_, at) => ({
			title: `Title ${at + 1}`,
			price: '12.50',
			published_at: at === 4 ? null : `2026-11-0${at + 1}T10:00:00Z`,
			secret_note: 'MARKER',
		})),
	})
}

/** The article as a client of the apps below knows it. */
export interface Article {
	id: number
	title: string
	state: 'draft' | 'public'
	body: string | null
	price: string | null
	publishedAt: string | null
}

export function articlesOf(model: MemoryModel): CrudHandler {
	return new CrudHandler(model, {
		columns: 'camelCase',
		visible: ['id', 'title', 'state', 'body', 'price', 'publishedAt'],
		updatable: ['title', 'state', 'body', 'price', 'publishedAt', 'secretNote'],
		filterable: ['state', 'title', 'publishedAt'],
		searchable: ['title', 'body'],
		allow: ALL,
		version: 'version',
		rules: { title: [{ min: 1 }], body: [{ max: 200 }] },
	})
}

class Greetings extends RestHandler {
	override customRoutes = { 'GET|POST greet/%s/page-%d': 'page', 'GET greeting/%s': 'custom' }
	override specs = {
		post_greeting: {
			name: ['required', 'string', { max: 20 }],
			kind: [{ in: ['warm', 'cold'] }],
			tags: [{ of: ['string'] }],
		},
		get_search: {
			term: ['required', 'string'],
			page: ['integer', { min: 1, default: 1 }],
			tags: [{ of: ['string'] }],
		},
	}
	override streaming = ['put_file']

	get__default() {
		return 'hello'
	}

	get_greeting(name = 'you') {
		return { hello: name }
	}

	put_greeting(who: string) {
		return { hello: who }
	}

	post_greeting() {
		this.status(201)
		return this.getParams()
	}

	get_search() {
		return this.getParams()
	}

	get_echo(...words: string[]) {
		return words
	}

	get_blog_post(id: string) {
		return id === '0' ? this.error('No such post', 404) : { id }
	}

	async put_file(name: string) {
		let bytes = 0
		for await (const chunk of this.request.stream) bytes += (chunk as Uint8Array).length // of no encoding
		return { name, bytes }
	}

	query_search() {
		return this.body
	}

	page(name: string, number: number) {
		return { name, number }
	}

	custom(name: string) {
		return { hello: `custom ${name}` }
	}
}

const node = z.object({
	name: z.string(),
	get parts() {
		return z.array(node)
	},
})

const tree = z.object({ name: z.string(), parts: z.array(node) }).meta({ title: 'Tree' })

class Schemas extends RestHandler {
	override docs = {
		get_tree: { summary: 'A tree', description: 'With *all* its parts', tags: ['trees'], answer: tree },
		post_tree: { tags: ['trees', 'writing'], answer: z.array(tree), status: 201 },
		get_picture: { answer: 'image/png' },
		get_table: { answer: 'text/csv' },
		get_old: { summary: 'Where the tree was', status: 303 },
		get_inside: { hidden: true },
		delete_tree: { status: 204 },
	}
	override specs = {
		post_zod: z.object({
			title: z.string().min(1).max(50),
			email: z.email(),
			when: z.date().optional(),
			tag: z.string().meta({ title: 'Tag' }).optional(),
		}),
		post_ark: type({ title: 'string > 1', 'rating?': '1 <= number.integer <= 5', kind: "'a' | 'b'" }),
		post_valibot: v.object({ title: v.string() }),
		post_mixed: {
			tree: node,
			again: node,
			tag: z.string().meta({ title: 'Tag' }),
			age: ['integer', { min: 0 }],
		},
		get_zod: z.object({ page: z.coerce.number().int().min(1).default(1) }),
	}

	post_zod() {
		return this.getParams()
	}

	post_ark() {
		return this.getParams()
	}

	post_valibot() {
		return this.getParams()
	}

	post_mixed() {
		return this.getParams()
	}

	get_zod() {
		return this.getParams()
	}

	get_tree() {
		return { name: 'a', parts: [{ name: 'b', parts: [] }] }
	}

	post_tree() {
		this.status(201)
		return [this.get_tree()]
	}

	delete_tree() {
		this.status(204)
	}

	get_picture() {
		this.header('Content-Type', 'image/png')
		return Buffer.from('89504e470d0a1a0a', 'hex')
	}

	get_table() {
		this.header('Content-Type', 'text/csv; charset=utf-8')
		return Buffer.from('a,b\n')
	}

	get_old() {
		return reply(null, { status: 303, headers: { Location: '/api/tree' } })
	}

	get_inside() {
		return 'served, and not described'
	}
}

const tokens = { [tokenDigest(TOKEN)]: { id: 'ann', roles: ['editor'] } }

class Guarded extends RestHandler {
	override access = { get_mine: 'user', post_note: ['note:write'] } as const
	override rateLimits = { post_note: { limit: 5, windowSeconds: 60 } }
	override specs = { post_note: { text: ['required', 'string'] } }

	get_open() {
		return this.user?.id ?? null
	}

	get_mine() {
		return this.user?.id
	}

	post_note() {
		return this.getParams()
	}
}

class Signed extends Guarded {
	override authenticator = new HmacAuthenticator(this, undefined, 300, {
		keys: { k1: KEY },
	})
}

class BareGreetings extends Greetings {
	override readonly wrap = false
}

class BareArticles extends CrudHandler {
	override readonly wrap = false
}

/** Authors, their articles and the comments on those, related to each other in a circle. */
export function relatedHandlers() {
	const author = new MemoryModel('author', {
		fields: { id: 'integer', name: 'text', email: { type: 'text', nullable: true } },
		key: 'id',
		rows: [{ name: 'Ada' }, { name: 'Bob' }],
	})
	const article = new MemoryModel('article', {
		fields: { id: 'integer', title: 'text', authorId: { type: 'integer', nullable: true } },
		key: 'id',
		rows: [
			{ title: 'Sage', authorId: 1 },
			{ title: 'Thyme', authorId: null },
		],
	})
	const comment = new MemoryModel('comment', {
		fields: { id: 'integer', text: 'text', articleId: 'integer', authorId: 'integer' },
		key: 'id',
		rows: [1, 2, 3].map((at) => ({ text: `Comment ${at}`, articleId: 1, authorId: 2 })),
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
	})
	const options = { visible: 'all', allow: ALL } as const
	const authors: CrudHandler = new CrudHandler(author, {
		...{ visible: ['id', 'name'], updatable: ['name'], allow: ALL },
		relations: { articles: { to: () => articles, by: 'authorId' } },
	})
	const comments: CrudHandler = new CrudHandler(comment, {
		...{ ...options, updatable: ['text', 'articleId', 'authorId'] },
		relations: { article: { to: () => articles, by: 'articleId' }, author: { to: authors, by: 'authorId' } },
	})
	const articles: CrudHandler = new CrudHandler(article, {
		...{ ...options, updatable: ['title', 'authorId'] },
		relations: {
			author: { to: authors, by: 'authorId' },
			comments: { to: comments, by: 'articleId', limit: 2 },
			tags: { to: new CrudHandler(tag, { visible: 'all' }), through: between, writable: ['tie'] },
		},
	})
	return { authors, articles, comments }
}

export const APP_NAMES = ['plain', 'schemas', 'guarded', 'bare', 'based', 'related'] as const
export type AppName = (typeof APP_NAMES)[number]

/** All of them, made anew. */
export function apps(): Readonly<Record<AppName, App>> {
	return {
		plain: {
			handlers: { '': new Greetings(), 'blog/articles': articlesOf(articleModel()) },
			options: { openapi: INFO },
		},
		schemas: { handlers: { api: new Schemas() }, options: { openapi: INFO } },
		related: { handlers: relatedHandlers(), options: { openapi: INFO } },
		guarded: {
			handlers: { notes: new Guarded(), signed: new Signed(), articles: articlesOf(articleModel()) },
			options: {
				openapi: INFO,
				requestId: 'X-Request-Id',
				authenticator: anyOf(
					new TokenAuthenticator({ tokens }),
					new TokenAuthenticator({ tokens, header: 'X-Api-Key' }),
				),
				acl: new RoleAcl({ editor: ['note:write'] }),
			},
		},
		bare: {
			handlers: {
				greet: new BareGreetings(),
				articles: new BareArticles(articleModel(), {
					visible: ['id', 'title'],
					updatable: ['title'],
					allow: ALL,
				}),
			},
			options: { openapi: INFO },
		},
		based: {
			handlers: {
				v1: new Greetings(),
				v2: new Greetings(),
				'v1/articles': articlesOf(articleModel()),
				'v2/articles': new CrudHandler(articleModel(), { visible: 'all' }),
			},
			options: {
				openapi: { ...INFO, servers: ['https://api.verbena.test/shop', '/shop'] },
				base: 'api/public',
			},
		},
	}
}
