import * as assert from 'uvu/assert'
import { z } from 'zod'
import { CrudHandler, createServer, MemoryModel, RestHandler } from '../../lib/index.ts'
import type { JsonSchema } from '../../lib/validate/schema/json-schema.ts'
import { describe } from '../helpers/describe.ts'
import { type App, apps, articleModel, articlesOf, baseOf } from './apps.ts'
import {
	Description,
	type Document,
	type Operation,
	type Parameter,
	type RequestBody,
	type Response,
} from './described.ts'
import { documentOf as read } from './tap.ts'

function documentOf(app: App): Promise<Document> {
	return read(createServer(app.handlers, app.options), baseOf(app))
}

/** `get /blog/{id}` of each operation. */
function operationsOf({ paths }: Document): string[] {
	return Object.entries(paths).flatMap(([path, operations]) =>
		Object.keys(operations).map((method) => `${method} ${path}`),
	)
}

function operation({ paths }: Document, name: string): Operation {
	const [method = '', path = ''] = name.split(' ')
	const found = paths[path]?.[method]
	if (found === undefined) throw new Error(`${name} is not described`)
	return found
}

function parametersOf(document: Document, name: string): Parameter[] {
	const description = new Description(document)
	return (operation(document, name).parameters ?? []).map((one) => description.resolved(one))
}

/** What the value of a parameter may be. */
function choicesOf(parameter: Parameter | undefined): readonly JsonSchema[] {
	const { anyOf = [] } = (parameter?.schema ?? {}) as JsonSchema // all of ours are objects
	return anyOf
}

function bodyOf(document: Document, name: string): RequestBody | undefined {
	const { requestBody } = operation(document, name)
	return requestBody && new Description(document).resolved(requestBody)
}

/** An answer, wherever it stands. */
function answer(document: Document, name: string, status: string): Response {
	const found = operation(document, name).responses[status]
	if (found === undefined) throw new Error(`${name} has no answer ${status}`)
	return new Description(document).resolved(found)
}

const RECORD = { $ref: '#/components/schemas/Article' }

function enveloped(data: object, more: object = {}): object {
	const properties = { success: { type: 'boolean', const: true }, data, ...more }
	return { type: 'object', properties, required: ['success', 'data', ...Object.keys(more)] }
}

describe('an OpenAPI document', (test) => {
	test('has all methods and routes, each under the path that leads to it', async () => {
		assert.equal(operationsOf(await documentOf(apps().plain)), [
			'get /',
			'get /greeting',
			'post /greeting',
			'get /greeting/{name}',
			'put /greeting/{name}',
			'get /search',
			'get /echo',
			'get /echo/{words}',
			'get /blog_post/{id}',
			'put /file/{name}',
			'get /greet/{name}/page-{number}',
			'post /greet/{name}/page-{number}',
			'get /blog/articles',
			'post /blog/articles',
			'get /blog/articles/{id}',
			'patch /blog/articles/{id}',
			'post /blog/articles/{id}',
			'put /blog/articles/{id}',
			'delete /blog/articles/{id}',
		])
	})

	test('names each operation uniquely, and its handler as tag', async () => {
		for (const app of Object.values(apps())) {
			const document = await documentOf(app)
			const operations = operationsOf(document).map((name) => operation(document, name))
			const ids = operations.map(({ operationId }) => operationId)
			assert.is(new Set(ids).size, ids.length)
			for (const id of ids) assert.match(id, /^[a-z][A-Za-z0-9_]*$/)
			const tags = new Set(document.tags.map(({ name }) => name))
			assert.is(tags.size, document.tags.length)
			for (const { tags: own, summary } of operations) {
				assert.ok(own.every((tag) => tags.has(tag) || ['trees', 'writing'].includes(tag)))
				assert.match(summary, /^[A-Z]/)
			}
		}
	})

	test('has operation ids usable as function names', async () => {
		class Odd extends RestHandler {
			override customRoutes = { 'GET größe': 'größe', 'GET other': 'ёж' }
			größe() {
				return 1
			}
			ёж() {
				return 2
			}
		}
		const document = await documentOf({
			handlers: { '2026/a-b': new Odd(), '': new Odd() },
			options: { openapi: true },
		})
		const ids = operationsOf(document).map((name) => operation(document, name).operationId)
		assert.equal(ids, ['operation_2026_a_b_gr_e', 'operation_2026_a_b', 'gr_e', 'operation'])
	})

	test('keeps its names when another handler is mounted', async () => {
		const { handlers, options } = apps().plain
		const before = await documentOf({ handlers, options })
		const after = await documentOf({
			handlers: { ...apps().plain.handlers, 'a/new/one': articlesOf(articleModel('other')) },
			options,
		})
		for (const name of operationsOf(before))
			assert.is(operation(after, name).operationId, operation(before, name).operationId)
	})

	test("describes what a method's specs declare", async () => {
		const document = await documentOf(apps().plain)
		const requestBody = bodyOf(document, 'post /greeting')
		const schema = {
			type: 'object',
			properties: {
				name: { type: 'string', maxLength: 20 },
				kind: { type: 'string', enum: ['warm', 'cold'] },
				tags: { type: 'array', items: { type: 'string' } },
			},
			required: ['name'],
		}
		assert.equal(requestBody, {
			required: true,
			content: { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } },
		})
		assert.equal(parametersOf(document, 'get /search'), [
			{ name: 'term', in: 'query', required: true, schema: { type: 'string' } },
			{ name: 'page', in: 'query', schema: { type: 'integer', minimum: 1, default: 1 } },
			{ name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
		])
	})

	test('describes the texts of a form apart from JSON', async () => {
		class Sizes extends RestHandler {
			override specs = { post_size: { a: [{ min: 2 }] } } as const
			post_size() {}
		}
		const document = await read(createServer({ '': new Sizes() }, { openapi: true }))
		const { content = {} } = bodyOf(document, 'post /size') ?? {}
		const sizes = { minLength: 2, minimum: 2, minItems: 2 }
		assert.equal(
			Object.values(content).map(({ schema }) => schema),
			[
				{ type: ['string', 'number', 'array'], ...sizes },
				{ type: 'string', minLength: 2 },
			].map((a) => ({
				type: 'object',
				properties: { a },
			})),
		)
	})

	test('allows other methods any body, and streaming ones any type', async () => {
		const document = await documentOf(apps().plain)
		const body = (name: string) => bodyOf(document, name)
		assert.equal(body('put /greeting/{name}'), { content: { 'application/json': { schema: {} } } })
		assert.equal(body('put /file/{name}'), { content: { '*/*': { schema: {} } } })
		assert.is(body('get /greeting'), undefined)
		assert.equal(answer(document, 'get /greeting', '200'), {
			description: 'Success',
			content: { 'application/json': { schema: enveloped({}) } },
		})
	})

	test("names params after their methods' parameters: for a shared path, after the first method's", async () => {
		const document = await documentOf(apps().plain)
		const param = (name: string, type: string) => ({ name, in: 'path', required: true, schema: { type } })
		assert.equal(parametersOf(document, 'get /greet/{name}/page-{number}'), [
			param('name', 'string'),
			param('number', 'integer'),
		])
		assert.equal(parametersOf(document, 'put /greeting/{name}'), [param('name', 'string')])
		assert.equal(parametersOf(document, 'get /echo/{words}'), [
			{ ...param('words', 'string'), description: 'The first of any number of segments' },
		])
	})

	test('describes what answers: a custom route before a name, a longer handler path before a method', async () => {
		class Shop extends RestHandler {
			override customRoutes = { 'GET item/%s': 'first', 'GET item/%%': 'second', 'GET number/%d': 'second' }
			get_item(id: string) {
				return id
			}
			get_number(id: string) {
				return id
			}
			get_articles() {
				return 'hidden'
			}
			first(name: string) {
				return name
			}
			second() {
				return 2
			}
		}
		const handlers = { shop: new Shop(), 'shop/articles': articlesOf(articleModel()) }
		const document = await documentOf({ handlers, options: { openapi: true } })
		assert.is(operation(document, 'get /shop/item/{id}').operationId, 'shop_first')
		assert.is(operation(document, 'get /shop/number/{id}').operationId, 'shop_get_number')
		assert.is(operation(document, 'get /shop/articles').operationId, 'shop_articles_list')
		assert.is(operation(document, 'get /shop/item/%25').operationId, 'shop_second')
	})

	test('describes, of two custom routes at one place, the one that accepts any text', async () => {
		class Shop extends RestHandler {
			override customRoutes = { 'GET item/%d': 'number', 'GET item/%s': 'text' }
			number(id: number) {
				return id
			}
			text(name: string) {
				return name
			}
		}
		const document = await documentOf({ handlers: { shop: new Shop() }, options: { openapi: true } })
		assert.is(operation(document, 'get /shop/item/{id}').operationId, 'shop_text')
	})

	test('omits a route at its own path', async () => {
		class Mine extends RestHandler {
			override customRoutes = { 'GET openapi.json': 'mine', 'GET other.json': 'mine' }
			mine() {
				return 'mine'
			}
		}
		const document = await documentOf({ handlers: { '': new Mine() }, options: { openapi: true } })
		assert.equal(operationsOf(document), ['get /other.json'])
	})

	test('has references in queries that resolve', async () => {
		const kind = z.enum(['a', 'b']).meta({ id: 'Kind' })
		class Search extends RestHandler {
			override specs = {
				get_part: z.object({ kind, other: kind.optional(), page: z.string().optional() }),
				get_whole: z.object({ kind }).meta({ id: 'Whole' }),
			}
			get_part() {
				return this.getParams()
			}
			get_whole() {
				return this.getParams()
			}
		}
		const document = await documentOf({ handlers: { search: new Search() }, options: { openapi: true } })
		const schema = { $ref: '#/components/schemas/Kind' }
		assert.equal(parametersOf(document, 'get /search/part'), [
			{ name: 'kind', in: 'query', required: true, schema },
			{ name: 'other', in: 'query', schema },
			{ name: 'page', in: 'query', schema: { type: 'string' } },
		])
		assert.equal(parametersOf(document, 'get /search/whole'), [
			{ name: 'kind', in: 'query', required: true, schema },
		])
		assert.equal(document.components.schemas?.Kind, { type: 'string', enum: ['a', 'b'] })
	})

	test('describes records and pages, with their parameters', async () => {
		const document = await documentOf(apps().plain)
		assert.equal(answer(document, 'get /blog/articles', '200'), {
			description: 'Success',
			headers: {
				Link: { $ref: '#/components/headers/Link' },
				'X-Total-Count': { $ref: '#/components/headers/XTotalCount' },
			},
			content: {
				'application/json': {
					schema: enveloped(
						{ type: 'array', items: RECORD },
						{ meta: { $ref: '#/components/schemas/PageMeta' } },
					),
				},
			},
		})
		assert.equal(answer(document, 'post /blog/articles', '201'), {
			description: 'Created',
			headers: {
				Location: { $ref: '#/components/headers/Location' },
				ETag: { $ref: '#/components/headers/ETag' },
			},
			content: { 'application/json': { schema: enveloped(RECORD) } },
		})
		const read = operation(document, 'get /blog/articles/{id}')
		assert.equal(Object.keys(read.responses), ['200', '304', '400', '404', '500', '503', 'default'])
		assert.equal(read.responses['304'], { $ref: '#/components/responses/NotModified' })
		const headers = parametersOf(document, 'patch /blog/articles/{id}').filter((one) => one.in === 'header')
		assert.equal(
			headers.map(({ name }) => name),
			['If-Match'],
		)
	})

	test("describes a list's parameters as they are parsed", async () => {
		const document = await documentOf(apps().plain)
		const parameters = parametersOf(document, 'get /blog/articles')
		const found = (wanted: string) => parameters.find(({ name }) => name === wanted)
		assert.equal([found('sort')?.style, found('sort')?.explode], ['form', false])
		// Beside another string: swagger-ui has a chooser of files for what has a media type.
		const json = {
			type: 'string',
			contentMediaType: 'application/json',
			contentSchema: { type: 'object' },
		}
		assert.equal(
			[found('filter')?.content, found('filter')?.schema],
			[undefined, { type: 'string', anyOf: [{ type: 'string' }, json] }],
		)
	})

	test("describes a field's conditions as one parameter: its value, or an object of operators", async () => {
		const document = await documentOf(apps().plain)
		const parameters = parametersOf(document, 'get /blog/articles')
		assert.equal(
			parameters.map(({ name }) => name),
			[
				...['limit', 'offset', 'cursor', 'count', 'sort', 'fields', 'search', 'filter'],
				...['state', 'title', 'publishedAt'],
			],
		)
		const state = parameters.find(({ name }) => name === 'state')
		assert.equal([state?.in, state?.style, state?.explode], ['query', 'deepObject', true])
		assert.is(
			state?.description,
			'state is this; or `state[op]`, op being ne, in, nin, gt, gte, lt, lte, between, contains, startsWith, endsWith, ieq, icontains, istartsWith, iendsWith',
		)
		const choice = { type: 'string', enum: ['draft', 'public'] }
		const [value, operators = {}] = choicesOf(state)
		assert.equal(value, choice)
		assert.equal([operators.type, operators.additionalProperties], ['object', false])
		const { ne, in: among, between, contains } = operators.properties ?? {}
		assert.equal(ne, { ...choice, description: 'state is not this' })
		assert.equal(among, { type: 'string', description: 'state is one of these, with commas between' })
		assert.equal(between, {
			type: 'string',
			description: 'state is between these two, inclusive, with commas between',
		})
		assert.equal(contains, { type: 'string', description: 'state contains this text' })
		const [, published = {}] = choicesOf(parameters.find(({ name }) => name === 'publishedAt'))
		assert.equal(published.properties?.null, { type: 'boolean', description: 'publishedAt is null' })
	})

	test('describes operators separately for fields without a plain value', async () => {
		const fields = {
			...({ id: 'integer', limit: 'boolean', rank: 'integer' } as const),
			...({ ratio: 'float', 'rank[gte]': 'boolean', extra: { type: 'json', nullable: true } } as const),
		}
		const handler = new CrudHandler(new MemoryModel('thing', { key: 'id', fields }), {
			visible: 'all',
			filterable: ['limit', 'rank', 'ratio', 'rank[gte]', 'extra', 'id'],
			ignoreQuery: ['ratio', 'rank[gt]'],
		})
		const document = await read(createServer({ thing: handler }, { openapi: true }))
		const parameters = parametersOf(document, 'get /thing').slice(7)
		assert.equal(
			parameters.map(({ name }) => name),
			[
				...['limit[eq]', 'limit[ne]', 'limit[in]', 'limit[nin]', 'rank'],
				...['ratio[ne]', 'ratio[in]', 'ratio[nin]', 'ratio[gt]', 'ratio[gte]', 'ratio[lt]', 'ratio[lte]'],
				...['ratio[between]', 'rank[gte]', 'extra[null]', 'id'],
			],
		)
		const operators = (wanted: string): string[] => {
			const choices = choicesOf(parameters.find(({ name }) => name === wanted))
			return Object.keys(choices.at(-1)?.properties ?? {})
		}
		assert.equal(operators('rank'), ['ne', 'in', 'nin', 'lt', 'lte', 'between'])
		assert.equal(operators('rank[gte]'), ['ne', 'in', 'nin'])
		assert.equal(parameters[0]?.schema, {
			anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'boolean' } }],
		})
	})

	test('describes bare values with wrap: false', async () => {
		const document = await documentOf(apps().bare)
		const schemas = ['get /articles', 'get /greet/greeting'].map(
			(name) => answer(document, name, '200').content?.['application/json']?.schema,
		)
		assert.equal(schemas, [{ type: 'array', items: RECORD }, {}])
		assert.equal(operation(document, 'get /articles').responses['400'], {
			$ref: '#/components/responses/BareBadRequest',
		})
		assert.equal(Object.keys(document.components.schemas ?? {}).includes('Failure'), false)
		assert.equal(Object.keys(document.components.schemas ?? {}).includes('BareFailure'), true)
	})

	test('describes access, rate limits and idempotency with their errors', async () => {
		const document = await documentOf(apps().guarded)
		const { security, responses } = operation(document, 'post /notes/note')
		assert.equal(security, [{ Bearer: ['note:write'] }, { ApiKey: ['note:write'] }])
		for (const status of ['401', '403', '409', '429']) assert.ok(status in responses, status)
		assert.equal(document.components.responses?.TooManyRequests, {
			description: 'Too Many Requests',
			headers: {
				'X-Request-Id': { $ref: '#/components/headers/XRequestId' },
				'Retry-After': { $ref: '#/components/headers/RetryAfter' },
				RateLimit: { $ref: '#/components/headers/RateLimit' },
				'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
			},
			content: {
				'application/json': { schema: { $ref: '#/components/schemas/Failure' } },
				'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
			},
		})
		const names = (name: string) => parametersOf(document, name).map((one) => one.name)
		assert.equal(names('post /notes/note'), ['Idempotency-Key'])
		assert.equal(names('get /notes/open'), [])
		assert.equal(operation(document, 'get /notes/open').security[0], {})
		assert.equal(operation(document, 'get /signed/mine').security, [{ Signature: [] }])
		const plain = await documentOf(apps().plain)
		assert.equal(operation(plain, 'post /greeting').security, [])
		assert.equal(parametersOf(plain, 'post /greeting'), [])
	})

	test("names no type after a field's title, but after an object's", async () => {
		const { components } = await documentOf(apps().schemas)
		assert.equal(Object.keys(components.schemas ?? {}), [
			...['Detail', 'Failure', 'Problem', 'Self', 'Schema', 'Tree'],
		])
	})

	test('distinguishes two types of one name', async () => {
		const document = await documentOf(apps().based)
		const { content } = answer(document, 'get /api/public/v2/articles/{id}', '200')
		assert.equal(content?.['application/json']?.schema, enveloped({ $ref: '#/components/schemas/Article2' }))
	})

	test('uses docs in place of derived descriptions', async () => {
		const document = await documentOf(apps().schemas)
		const { operationId, summary, description, tags, responses } = operation(document, 'get /api/tree')
		assert.equal(
			[operationId, summary, description, tags],
			['api_get_tree', 'A tree', 'With *all* its parts', ['trees']],
		)
		const schema = { $ref: '#/components/schemas/Tree' }
		assert.equal(answer(document, 'get /api/tree', '200').content, {
			'application/json': { schema: enveloped(schema) },
		})
		assert.is(responses['2XX'], undefined)
		assert.equal(Object.keys(operation(document, 'post /api/tree').responses).slice(0, 1), ['201'])
		assert.equal(answer(document, 'post /api/tree', '201').content, {
			'application/json': { schema: enveloped({ type: 'array', items: schema }) },
		})
		assert.equal(answer(document, 'get /api/picture', '200'), {
			description: 'Success',
			content: { 'image/png': {} },
		})
		assert.equal(answer(document, 'get /api/table', '200').content, {
			'text/csv': { schema: { type: 'string' } },
		})
		assert.equal(answer(document, 'delete /api/tree', '204'), { description: 'No Content' })
		assert.equal(answer(document, 'get /api/old', '303'), {
			description: 'Redirect',
			headers: { Location: { $ref: '#/components/headers/Location' } },
		})
		assert.not.ok(operationsOf(document).includes('get /api/inside'))
		// Of the others all is as it was.
		assert.is(operation(document, 'post /api/zod').summary, 'Post zod')
		assert.ok('2XX' in operation(document, 'post /api/zod').responses)
	})

	test("describes an import's answers, of which a check's is 200", async () => {
		const importing = (docs: CrudHandler['docs']) => {
			class Articles extends CrudHandler {
				override docs = docs
			}
			const allow = ['create', 'import'] as const
			return { articles: new Articles(articleModel(), { visible: 'all', creatable: ['title'], allow }) }
		}
		const document = await read(createServer(importing({}), { openapi: true }))
		const name = 'post /articles/import'
		for (const [status, description] of Object.entries({ 200: 'Success', 201: 'Created' }))
			assert.equal(answer(document, name, status), {
				description,
				content: { 'application/json': { schema: enveloped({ $ref: '#/components/schemas/Imported' }) } },
			})
		const documented = await read(createServer(importing({ import: { status: 202 } }), { openapi: true }))
		assert.equal(
			Object.keys(operation(documented, name).responses).filter((status) => status < '300'),
			['202'],
		)
	})

	test('describes CRUD operations by the docs under their names', async () => {
		class Articles extends CrudHandler {
			override docs = {
				list: { summary: 'The news' },
				read: { answer: z.object({ id: z.int(), words: z.int() }).meta({ title: 'Counted' }) },
				remove: { hidden: true },
			}
			override stripObject({ id }: Record<string, unknown>) {
				return { id, words: 3 }
			}
		}
		const allow = ['list', 'read', 'remove'] as const
		const handlers = { news: new Articles(articleModel(), { visible: ['id', 'title'], allow }) }
		const document = await documentOf({ handlers, options: { openapi: true } })
		assert.equal(operationsOf(document), ['get /news', 'get /news/{id}'])
		assert.is(operation(document, 'get /news').summary, 'The news')
		assert.equal(answer(document, 'get /news/{id}', '200').content, {
			'application/json': { schema: enveloped({ $ref: '#/components/schemas/Counted' }) },
		})
	})

	const plurals: [string, string][] = [
		['article', 'articles'],
		['articles', 'articles'],
		['blog_category', 'blog categories'],
		['day', 'days'],
		['box', 'boxes'],
		['branch', 'branches'],
		['public.Wish', 'wishes'],
	]
	for (const [name, records] of plurals) {
		test(`names records of ${name} ${records}`, async () => {
			const handlers = { a: new CrudHandler(articleModel(name), { visible: 'all' }) }
			const document = await documentOf({ handlers, options: { openapi: true } })
			assert.is(operation(document, 'get /a').summary, `List ${records}`)
		})
	}

	test('omits handlers hidden entirely, and routes shadowed by others', async () => {
		class Hidden extends RestHandler {
			override customRoutes = { 'GET item/%s': 'first' }
			override docs = { first: { hidden: true }, get_more: { tags: ['more'] } }
			first(name: string) {
				return name
			}
			get_item(id: string) {
				return id
			}
			get_more() {
				return 1
			}
		}
		const document = await documentOf({ handlers: { shop: new Hidden() }, options: { openapi: true } })
		assert.equal(operationsOf(document), ['get /shop/more'])
		assert.equal(document.tags, [])
	})

	test('has the requestId header in every response, and Allow where an error may be a 405', async () => {
		const document = await documentOf(apps().guarded)
		const description = new Description(document)
		const header = { $ref: '#/components/headers/XRequestId' }
		for (const name of operationsOf(document)) {
			for (const response of Object.values(operation(document, name).responses))
				assert.equal(description.resolved(response).headers?.['X-Request-Id'], header, name)
		}
		assert.equal(document.components.headers?.XRequestId, {
			description: 'The id of the request in the log',
			schema: { type: 'string' },
		})
		const plain = await documentOf(apps().plain)
		assert.not.match(JSON.stringify(plain), 'X-Request-Id')
		assert.equal(answer(plain, 'get /greeting', 'default').headers, {
			Allow: { $ref: '#/components/headers/Allow' },
		})
	})

	test('lists repeated parts once, so that a handler of known columns adds little', async () => {
		const columns = Array.from({ length: 16 }, (_, at) => [`column_${at}`, 'text'] as const)
		const fields = { id: 'integer', ...Object.fromEntries(columns) } as const
		const sizeOf = async (count: number) => {
			const handlers = Array.from({ length: count }, (_, at) => {
				const model = new MemoryModel(`table_${at}`, { key: 'id', fields })
				const allow = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const
				const updatable = columns.map(([name]) => name)
				return [`t${at}`, new CrudHandler(model, { visible: 'all', updatable, allow })] as const
			})
			const app = { handlers: Object.fromEntries(handlers), options: { openapi: true } }
			return JSON.stringify(await documentOf(app)).length
		}
		const [one, two, three] = [await sizeOf(1), await sizeOf(2), await sizeOf(3)]
		assert.ok(three - two < (one ?? 0) / 2, `${one}, ${two}, ${three}`)
	})

	test('exposes nothing hidden: no field, no column name, no value, no method without a route', async () => {
		for (const [name, app] of Object.entries(apps())) {
			if (name === 'based') continue // there all is visible
			const text = JSON.stringify(await documentOf(app))
			for (const hidden of ['secret_note', 'published_at', 'MARKER', 'AAAA', 'page-%d'])
				assert.not.ok(text.includes(hidden), `${name} has ${hidden}`)
		}
		// It can be written, and so it is known.
		const { components } = await documentOf(apps().plain)
		assert.not.match(JSON.stringify(components.schemas?.Article), 'secretNote')
		assert.match(JSON.stringify(components.schemas?.ArticleCreate), 'secretNote')
	})

	test('has no dangling references, and no unused components', async () => {
		for (const app of Object.values(apps())) {
			const document = await documentOf(app)
			const referred = new Set(
				[...JSON.stringify(document).matchAll(/"#\/components\/(\w+\/[\w.-]+)"/g)].map(([, to]) => to),
			)
			const schemes = Object.keys(document.components.securitySchemes ?? {})
			const there = Object.entries(document.components).flatMap(([kind, parts]) =>
				Object.keys(parts).map((name) => `${kind}/${name}`),
			)
			assert.equal([...referred, ...schemes.map((name) => `securitySchemes/${name}`)].sort(), there.sort())
		}
	})

	test('marks the operations of a deprecated handler', async () => {
		class V1 extends RestHandler {
			static override deprecated = { since: '2026-01-01' }
			get_article() {}
		}
		class V2 extends RestHandler {
			get_article() {}
		}
		const document = await documentOf({
			handlers: { v1: new V1(), v2: new V2() },
			options: { openapi: true },
		})
		assert.is(operation(document, 'get /v1/article').deprecated, true)
		assert.is(operation(document, 'get /v2/article').deprecated, undefined)
	})
})
