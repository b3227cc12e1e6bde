/**
 * Our OpenAPI descriptions with third-party tools: `redocly lint` finds no problem, the types by openapi-typescript match real
 * responses and our client, and clients by openapi-fetch, @hey-api/openapi-ts and orval work. The programs in `readers/` need
 * another TypeScript than ours, so they are installed into a separate folder.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { blog } from '../../examples/blog/blog.ts'
import { connect } from '../../examples/blog/database.ts'
import { acl, Tokens } from '../../examples/blog/keys.ts'
import { CrudHandler, createServer, MemoryModel, RestHandler, type Server } from '../../lib/index.ts'
import { AcceptanceApp, articlesOf } from '../acceptance/app.ts'
import { openArticles } from '../acceptance/articles.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ROOT, run, typescript } from '../helpers/program.ts'
import { APP_NAMES, apps, baseOf, relatedHandlers } from './apps.ts'
import { CALLS, callAll } from './calls.ts'
import { type Answer, documentOf, watch } from './tap.ts'

const LICENSE = { name: 'MIT', identifier: 'MIT' }

/** Names that can't stand everywhere: of paths, params, methods, fields and models. */
class Odd extends RestHandler {
	override customRoutes = { 'GET a/%s': '$', 'POST (b)/%d-%s': '_', 'ALL ü': '$$' }
	override specs = { delete_x: { why: ['required', 'string'] }, query_y: { a: true } }

	get__default(a = '', b = '') {
		return [a, b]
	}

	put__default(...all: string[]) {
		return all
	}

	delete_x() {
		return this.getParams()
	}

	query_y() {
		return this.getParams()
	}

	$(größe: number) {
		return größe
	}

	_($a: string, b: string) {
		return [$a, b]
	}

	$$() {
		return null
	}
}

function oddRecords(): CrudHandler {
	const fields = ['a b', 'and', 'x[y]', '__proto', 'constructor', 'limit', 'ä'].map(
		(name) => [name, 'text'] as const,
	)
	const model = new MemoryModel('日本 语', {
		key: 'id',
		fields: { id: 'integer', ...Object.fromEntries(fields) },
	})
	const updatable = fields.map(([name]) => name)
	const allow = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const
	return new CrudHandler(model, { visible: 'all', updatable, searchable: ['a b'], allow })
}

class OfSeven extends CrudHandler {
	override scope() {
		return { article: 7 }
	}
}

/** Handlers with a key of two fields, one within a scope that fixes the first of them, and one without a key. */
function keyedHandlers() {
	const model = () =>
		new MemoryModel('article_tag', {
			fields: { article: 'integer', tag: { type: 'text', maxLength: 20 }, note: 'text' },
			key: ['article', 'tag'],
			rows: [
				{ article: 7, tag: 'herb', note: 'seven herb' },
				{ article: 8, tag: 'a,b/c', note: 'eight odd' },
			],
		})
	const line = new MemoryModel('line', { fields: { text: 'text' }, key: [], rows: [{ text: 'first' }] })
	const allow = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const
	const options = { visible: 'all', updatable: ['note'], allow } as const
	return {
		tags: new CrudHandler(model(), { ...options, creatable: ['article', 'tag', 'note'] }),
		mine: new OfSeven(model(), { ...options, creatable: ['tag', 'note'] }),
		lines: new CrudHandler(line, { visible: 'all' }),
	}
}

/** Where the programs are, and what they read. */
const folder = mkdtempSync(join(tmpdir(), 'verbena-readers-'))

/** Names of descriptions, each in a file of its name. */
const described: string[] = []
/** What was answered, by the name of the description. */
const answers = new Map<string, readonly Answer[]>()

async function keep(name: string, server: Server, base = ''): Promise<void> {
	const document = await documentOf(server, base)
	writeFileSync(join(folder, `${name}.json`), JSON.stringify(document))
	described.push(name)
}

async function describeAll(): Promise<void> {
	for (const name of APP_NAMES) {
		const app = apps()[name]
		await listening(app.handlers, app.options, async (site) => {
			await keep(name, site.server, baseOf(app))
			const watched = await watch(site.server, { base: baseOf(app) })
			await callAll(site, CALLS[name])
			answers.set(name, watched.answers())
		})
	}
	const odd = createServer({ '': new Odd(), 'ü/$x': oddRecords() }, { openapi: { license: LICENSE } })
	await keep('odd', odd)
	await keep('keys', createServer(keyedHandlers(), { openapi: { license: LICENSE } }))
	const articles = await openArticles('sqlite')
	const handlers = { 'blog/api': new AcceptanceApp(), 'blog/api/article': articlesOf(articles.model) }
	await keep('acceptance', createServer(handlers, { openapi: { license: LICENSE } }))
	await articles.close()
	const database = await connect(`sqlite:${join(folder, 'blog.db')}`)
	const [authors, written, comments] = [
		await database.open('authors'),
		await database.open('articles'),
		await database.open('comments'),
	]
	const options = { authenticator: new Tokens().authenticator, acl, openapi: { license: LICENSE } }
	await keep('blog', createServer(blog({ authors, articles: written, comments }), options))
	await database.close()
}

function program(name: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
	return run({ args: [join(folder, 'node_modules/.bin', name), ...args], cwd: folder })
}

/** Each answer as a literal that must be what the description says of it, and nothing more. */
function literals(name: string): string {
	const lines = (answers.get(name) ?? []).flatMap(({ operationId, traffic }, at) => {
		const { method, target, status, type = '', body } = traffic
		// Of a record with fewer fields than all a description can't say which.
		if (method === 'HEAD' || body === '' || target.includes('fields=')) return []
		const media = type.split(';')[0] ?? ''
		// Nor are there types of bytes, and of what goes with a redirect.
		if (!/json$/.test(media) || (status >= 300 && status < 400)) return []
		return `export const answer${at} = ${body} satisfies Answer<${JSON.stringify(operationId)}, ${status}, ${JSON.stringify(media)}>`
	})
	return [TYPES.replace('THIS', name), ...lines, name === 'plain' ? CLIENT : ''].join('\n')
}

/** What an operation answers: by its status, by the range of it, or by `default`. */
const TYPES = `import type { components, operations } from './THIS.types.ts'
type Responses<Id extends keyof operations> = operations[Id]['responses']
type Key<R, S extends number> = S extends keyof R ? S
	: \`\${S}\` extends \`2\${string}\` ? ('2XX' extends keyof R ? '2XX' : never)
	: ('default' extends keyof R ? 'default' : never)
type Content<R> = R extends { content: infer C } ? C : never
export type Answer<Id extends keyof operations, S extends number, M extends string> =
	Content<Responses<Id>[Key<Responses<Id>, S>]>[M & keyof Content<Responses<Id>[Key<Responses<Id>, S>]>]
export type Schemas = components['schemas']
`

/** Our client's types against those of the description, in both directions. */
const CLIENT = `
import { type ApiError, CrudClient, type NoRelations, type Page } from '${ROOT}/lib/client/index.ts'
import type { Article } from './article.ts'
type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Fits<A, B> = A extends B ? true : false
export const record: Same<Writable<Schemas['Article']>, Article> = true
export const meta: Same<Page<Article>['meta'] extends infer M ? Writable<M> : never, Schemas['PageMeta']> = true
export const detail: Fits<ApiError['details'][number], Schemas['Detail']> = true
export const details: Fits<Schemas['Detail'], ApiError['details'][number]> = true
const articles = new CrudClient<Article, NoRelations, Schemas['ArticleUpdate'] & object>('articles', '/blog')
export async function use(update: Schemas['ArticleUpdate'], create: Schemas['ArticleCreate']) {
	const read: Schemas['Article'] = await articles.get(1)
	const made: Schemas['Article'] = await articles.create(create)
	const changed: Schemas['Article'] = await articles.update(made.id, update)
	const page: Answer<'blog_articles_list', 200, 'application/json'> = { success: true, ...(await articles.list()) }
	const again: Page<Article> = page
	return [read, changed, again]
}
// A record that was read can be sent back; what is wrong can't.
export const back: Fits<Schemas['Article'], Schemas['ArticleReplace']> = true
export const nothing: Fits<{}, Schemas['ArticleCreate']> = false
export const wrong: Fits<{ title: 7 }, Schemas['ArticleCreate']> = false
export const state: Fits<{ title: 'a'; state: 'gone' }, Schemas['ArticleCreate']> = false
export const nullable: Fits<{ title: null }, Schemas['ArticleUpdate']> = false
`

/** The type that our client is given by a person, which is that of the apps. */
const ARTICLE = `export interface Article {
	id: number
	title: string
	state: 'draft' | 'public'
	body: string | null
	price: string | null
	publishedAt: string | null
}
`

/** A list and a record asked for through each of the clients: with one query, as they are typed alike. */
const ASKING = `import createClient from 'openapi-fetch'
import type { paths } from '../acceptance.types.ts'
import { blogApiArticleCreate, blogApiArticleList } from './hey-acceptance'
import { client } from './hey-acceptance/client.gen'
import * as orval from './orval-acceptance.ts'

type Query = NonNullable<paths['/blog/api/article']['get']['parameters']['query']>
interface Page { data: { id: number; title: string }[]; meta: { next: string | null } }

const query: Query = {
	limit: 2,
	sort: ['owner', '-id'],
	fields: ['id', 'title'],
	owner: 'alice',
	id: { gte: 3, nin: '48,49' },
	title: { contains: 'Article' },
	filter: JSON.stringify({ or: [{ id: { lte: 4 } }, { title: ['Article 48', 'Article 50'] }] }),
}
// @ts-expect-error: no such operator
export const wrongOperator: Query = { id: { near: 3 } }
// @ts-expect-error: no such field
export const wrongField: Query = { sort: ['secret'] }

const baseUrl = '__URL__'
client.setConfig({ baseUrl })
const plain = createClient<paths>({ baseUrl })

async function pages(name: string, list: (query: Query) => Promise<Page>, create: () => Promise<string>) {
	const first = await list(query)
	const second = await list({ ...query, cursor: first.meta.next ?? '' })
	const [ids, more] = [first, second].map(({ data }) => data.map(({ id }) => id).join())
	console.log(name, ids, more, Object.keys(first.data[0] ?? {}).join(), await create())
}

await pages('openapi-fetch', async (query) => {
	const { data, error } = await plain.GET('/blog/api/article', { params: { query } })
	if (data === undefined) throw new Error(JSON.stringify(error))
	return data
}, async () => {
	const { data, error } = await plain.POST('/blog/api/article', { body: { title: 'New' } })
	if (data === undefined) throw new Error(JSON.stringify(error))
	return data.data.title
})
await pages('hey-api', async (query) => (await blogApiArticleList({ query, throwOnError: true })).data, async () => {
	const { data } = await blogApiArticleCreate({ body: { title: 'New' }, throwOnError: true })
	return data.data.title
})
await pages('orval', async (query) => {
	const { status, data } = await orval.blogApiArticleList(query)
	if (status !== 200) throw new Error(JSON.stringify(data))
	return data
}, async () => {
	const { status, data } = await orval.blogApiArticleCreate({ title: 'New' })
	if (status !== 201) throw new Error(JSON.stringify(data))
	return data.data.title
})
`

/** Records with a key of two fields asked for through each of the clients. */
const ASKING_BY_KEYS = `import createClient from 'openapi-fetch'
import type { paths } from '../keys.types.ts'
import { mineRead, tagsRead, tagsUpdate } from './hey-keys'
import { client } from './hey-keys/client.gen'
import * as orval from './orval-keys.ts'

type Id = paths['/tags/{id}']['get']['parameters']['path']['id']
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
export const tuple: Same<Id, [number, string]> = true
export const tupleOfHey: Same<NonNullable<Parameters<typeof tagsRead>[0]>['path']['id'], [number, string]> = true
export const left: Same<paths['/mine/{id}']['get']['parameters']['path']['id'], (number | string)[]> = true
export const noRecords: Same<Extract<keyof paths, \`/lines\${string}\`>, '/lines'> = true
// @ts-expect-error: a value is missing
export const short: Id = [7]

const baseUrl = '__URL__'
client.setConfig({ baseUrl })
const plain = createClient<paths>({ baseUrl })
const herb: Id = [7, 'herb']
const odd: Id = [8, 'a,b/c']

async function notes(name: string, read: (id: Id) => Promise<string>, mine: (id: string[]) => Promise<string>) {
	console.log(name, await read(herb), await read(odd), await mine(['herb']))
}

await notes('openapi-fetch', async (id) => {
	const note = await plain.PATCH('/tags/{id}', { params: { path: { id } }, body: { note: \`\${id[0]} changed\` } })
	const { data, error } = await plain.GET('/tags/{id}', { params: { path: { id } } })
	if (data === undefined || note.data === undefined) throw new Error(JSON.stringify(error))
	return data.data.note
}, async (id) => (await plain.GET('/mine/{id}', { params: { path: { id } } })).data?.data.note ?? '')
await notes('hey-api', async (id) => {
	await tagsUpdate({ path: { id }, body: { note: \`\${id[1]} again\` }, throwOnError: true })
	return (await tagsRead({ path: { id }, throwOnError: true })).data.data.note
}, async (id) => (await mineRead({ path: { id }, throwOnError: true })).data.data.note)
// It writes params into the path as they are, so that its caller encodes them, as with every text.
await notes('orval', async ([article, tag]) => {
	const { status, data } = await orval.tagsRead([article, encodeURIComponent(tag)])
	if (status !== 200) throw new Error(JSON.stringify(data))
	return data.data.note
}, async (id) => {
	const { status, data } = await orval.mineRead(id)
	return status === 200 ? data.data.note : ''
})
`

/** Records with related ones asked for through each of the clients: by names, in a text, and as JSON. */
const ASKING_RELATED = `import createClient from 'openapi-fetch'
import type { components, paths } from '../related.types.ts'
import { articlesList } from './hey-related'
import { client } from './hey-related/client.gen'
import * as orval from './orval-related.ts'

type Query = NonNullable<paths['/articles']['get']['parameters']['query']>
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Article = components['schemas']['Article']
type Author = components['schemas']['Author']
export const author: Same<Article['author'], Author | null | undefined> = true
export const comment: Same<NonNullable<Article['comments']>['data'][number], components['schemas']['Comment']> = true
export const count: Same<Query['count'], 'exact' | number | undefined> = true
// @ts-expect-error: no such relation
export const wrong: Query = { include: ['writer'] }
const queries: Query[] = [
	{ include: ['author', 'comments.author'], sort: ['id'], fields: ['title'], count: 1 },
	{ include: 'author,comments', fields: 'title,comments.text', limit: 1 },
	{ include: JSON.stringify({ comments: { limit: 1, fields: ['text'] } }), fields: 'title', limit: 1 },
]

const baseUrl = '__URL__'
client.setConfig({ baseUrl })
const plain = createClient<paths>({ baseUrl })

async function ask(name: string, list: (query: Query) => Promise<{ data: unknown }>) {
	for (const query of queries) console.log(name, JSON.stringify((await list(query)).data))
}

await ask('openapi-fetch', async (query) => {
	const { data, error } = await plain.GET('/articles', { params: { query } })
	if (data === undefined) throw new Error(JSON.stringify(error))
	return data
})
await ask('hey-api', async (query) => (await articlesList({ query, throwOnError: true })).data)
await ask('orval', async (query) => {
	const { status, data } = await orval.articlesList(query)
	if (status !== 200) throw new Error(JSON.stringify(data))
	return data
})
`

const COMMENT = '{"id":1,"text":"Comment 1","articleId":1,"authorId":2,"author":{"id":2,"name":"Bob"}}'
/** What is asked for there. */
const RELATED = [
	`[{"title":"Sage","author":{"id":1,"name":"Ada"},"comments":{"data":[${COMMENT},${COMMENT.replaceAll(/(id":|Comment )1/g, '$12')}],"meta":{"limit":2,"next":"…"}}},{"title":"Thyme","author":null,"comments":{"data":[],"meta":{"limit":2,"next":null}}}]`,
	'[{"title":"Sage","comments":{"data":[{"text":"Comment 1"},{"text":"Comment 2"}],"meta":{"limit":2,"next":"…"}},"author":{"id":1,"name":"Ada"}}]',
	'[{"title":"Sage","comments":{"data":[{"text":"Comment 1"}],"meta":{"limit":1,"next":"…"}}}]',
]

/** The generators, each in one process for all descriptions. */
async function makeClients(names: readonly string[], baseUrl: string): Promise<void> {
	const inputs = names.map((name) => `${name}.json`)
	const outputs = names.map((name) => `clients/hey-${name}`)
	const projects = names.map((name) => {
		const output = { target: `clients/orval-${name}.ts`, client: 'fetch', baseUrl }
		return [name, { input: `${name}.json`, output }]
	})
	const config = `export default ${JSON.stringify(Object.fromEntries(projects))}`
	writeFileSync(join(folder, 'orval.config.mjs'), config)
	const hey = ['-i', ...inputs, '-o', ...outputs, '-c', '@hey-api/client-fetch', '--no-log-file']
	const made = await Promise.all([
		program('openapi-ts', ...hey),
		program('orval', '--config', 'orval.config.mjs'),
	])
	for (const { code, output } of made) assert.is(code, 0, output)
}

const STRICT = {
	compilerOptions: {
		...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
		...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2023', lib: ['es2023', 'dom'], types: [] },
		...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true, skipLibCheck: false },
	},
	include: ['*.ts'],
}

describe('OpenAPI tools', (test) => {
	test.before(async () => {
		cpSync(`${ROOT}/test/openapi/readers`, folder, { recursive: true })
		const { code, output } = await run({
			program: 'npm',
			args: ['ci', '--no-audit', '--no-fund', '--ignore-scripts'],
			cwd: folder,
		})
		assert.is(code, 0, output)
		await describeAll()
		const types = described.map((name) => [
			name,
			{ root: `${name}.json`, 'x-openapi-ts': { output: `${name}.types.ts` } },
		])
		writeFileSync(join(folder, 'types.yaml'), JSON.stringify({ apis: Object.fromEntries(types) }))
		const made = await program('openapi-typescript', '--redocly', 'types.yaml')
		assert.is(made.code, 0, made.output)
	})

	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('redocly reports no error and no warning', async () => {
		assert.is(described.length, 10)
		const files = described.map((name) => `${name}.json`)
		const { code, output } = await program('redocly', 'lint', '--format=json', ...files)
		assert.is(code, 0, output)
		const totals = [...output.matchAll(/"totals": *\{\s*"errors": *(\d+),\s*"warnings": *(\d+)/g)]
		assert.equal(
			totals.map(([, errors, warnings]) => [errors, warnings]),
			described.map(() => ['0', '0']),
			output,
		)
	})

	test('redocly reports deliberate mistakes', async () => {
		writeFileSync(join(folder, 'wrong.json'), '{"openapi":"3.1.1","info":{"title":"x"},"paths":{}}')
		const { code } = await program('redocly', 'lint', 'wrong.json')
		assert.is(code, 1)
	})

	test("openapi-typescript's types fit real responses and our client, and refuse undescribed responses", async () => {
		writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(STRICT))
		writeFileSync(join(folder, 'article.ts'), ARTICLE)
		for (const name of described) writeFileSync(join(folder, `${name}.program.ts`), literals(name))
		const wrong = [
			'{ success: true, data: { id: 1 } }',
			"{ success: true, data: { id: 1, title: 'a', state: 'gone', body: null, price: null, publishedAt: null } }",
			"{ success: true, data: { id: 1, title: 'a', state: 'draft', body: null, price: null, publishedAt: null, secret: 1 } }",
			'{ success: false }',
		].flatMap((value, at) => [
			'// @ts-expect-error',
			`export const wrong${at} = ${value} satisfies Answer<'blog_articles_read', 200, 'application/json'>`,
		])
		writeFileSync(join(folder, 'wrong.ts'), [TYPES.replace('THIS', 'plain'), ...wrong].join('\n'))
		const { code, output } = await program('tsc')
		assert.is(code, 0, output)
	})

	test('openapi-fetch, hey-api and orval get the expected responses', async () => {
		const { model, close } = await openArticles('memory')
		const handlers = { 'blog/api': new AcceptanceApp(), 'blog/api/article': articlesOf(model) }
		await listening({ ...handlers, ...keyedHandlers(), ...relatedHandlers() }, {}, async ({ url }) => {
			const lib = ['es2023', 'dom', 'dom.iterable']
			const options = { ...STRICT.compilerOptions, exactOptionalPropertyTypes: false, lib }
			mkdirSync(join(folder, 'clients'))
			writeFileSync(join(folder, 'clients/tsconfig.json'), JSON.stringify({ compilerOptions: options }))
			writeFileSync(join(folder, 'clients/asking.ts'), ASKING.replace('__URL__', url))
			writeFileSync(join(folder, 'clients/asking-by-keys.ts'), ASKING_BY_KEYS.replace('__URL__', url))
			writeFileSync(join(folder, 'clients/asking-related.ts'), ASKING_RELATED.replace('__URL__', url))
			await makeClients(['acceptance', 'blog', 'keys', 'related'], url)
			const [checked, ran, byKeys, related] = await Promise.all([
				program('tsc', '-p', 'clients'),
				run({ args: typescript(join(folder, 'clients/asking.ts')), cwd: folder }),
				run({ args: typescript(join(folder, 'clients/asking-by-keys.ts')), cwd: folder }),
				run({ args: typescript(join(folder, 'clients/asking-related.ts')), cwd: folder }),
			])
			assert.is(checked.code, 0, checked.output)
			assert.is(
				ran.output,
				['openapi-fetch', 'hey-api', 'orval'].map((name) => `${name} 50,4 3 id,title New\n`).join(''),
			)
			const again = 'herb again a,b/c again'
			const notes = [`openapi-fetch 7 changed 8 changed`, `hey-api ${again}`, `orval ${again}`]
			assert.is(byKeys.output, notes.map((line) => `${line} seven herb\n`).join(''))
			const asked = ['openapi-fetch', 'hey-api', 'orval'].flatMap((name) =>
				RELATED.map((data) => `${name} ${data}\n`),
			)
			assert.is(related.output.replaceAll(/(?<="next":")[^"]+/g, '…'), asked.join(''))
		})
		await close()
	})
})
