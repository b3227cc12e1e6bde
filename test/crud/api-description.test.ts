import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { crudShape } from '../../lib/crud/api-description.ts'
import { inputSchema, orNull } from '../../lib/crud/field-schema.ts'
import { storedFromText } from '../../lib/crud/value-from-json.ts'
import { idReader } from '../../lib/crud/value-from-text.ts'
import { FACTS } from '../../lib/crud/view.ts'
import {
	CrudHandler,
	type CrudOperation,
	type CrudOptions,
	type CrudQuery,
	type Field,
	MemoryModel,
} from '../../lib/index.ts'
import type { JsonSchema } from '../../lib/validate/schema/json-schema.ts'
import type { BodyShape, Shape } from '../../lib/validate/schema/shape.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { ajv } from '../openapi/ajv.ts'
import type { Document } from '../openapi/described.ts'

const ALL = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const

function model(name = 'blog_article'): MemoryModel {
	return new MemoryModel(name, {
		key: 'id',
		fields: {
			id: 'integer',
			title: { type: 'text', maxLength: 5 },
			state: { type: 'text', choices: ['draft', 'public'], default: 'draft' },
			note_text: { type: 'text', nullable: true },
			rank: { type: 'integer', min: 0, max: 9, nullable: true },
			stock: { type: 'bigint', nullable: true },
			code: { type: 'bigint', asText: true, nullable: true },
			ratio: { type: 'float', nullable: true },
			price: { type: 'decimal', nullable: true },
			done: { type: 'boolean', default: false },
			token: { type: 'uuid', nullable: true },
			day: { type: 'date', nullable: true },
			clock: { type: 'time', nullable: true },
			at: { type: 'timestamp', nullable: true },
			extra: { type: 'json', nullable: true },
			data: { type: 'bytes', nullable: true },
			secret: { type: 'text', nullable: true },
			owner: { type: 'text', default: 'nobody' },
			version: { type: 'integer', default: 1 },
		},
		rows: [{ title: 'First' }],
	})
}

const OPTIONS: CrudOptions = {
	columns: { note: 'note_text' },
	visible: [
		...['id', 'title', 'state', 'note', 'rank', 'stock', 'code', 'ratio', 'price', 'done', 'token', 'day'],
		...['clock', 'at', 'extra', 'data', 'owner'],
	],
	updatable: [
		...['title', 'state', 'note', 'rank', 'stock', 'code', 'ratio', 'price', 'done', 'token', 'day'],
		...['clock', 'at', 'extra', 'data', 'secret'],
	],
	allow: ALL,
}

const FIELD: Field = { name: 'field', type: 'text', nullable: false, hasDefault: false, generated: false }

function shapeOf(operation: CrudOperation, options: Partial<CrudOptions> = {}, over = model()): Shape {
	return crudShape(new CrudHandler(over, { ...OPTIONS, ...options })[FACTS], undefined, operation)
}

function bodyOf(operation: CrudOperation, options: Partial<CrudOptions> = {}): BodyShape {
	const { body } = shapeOf(operation, options)
	if (!body) throw new Error(`${operation} has no body`)
	return body
}

function propertyOf({ properties = {} }: JsonSchema = {}, name: string): JsonSchema | undefined {
	return properties[name]
}

describe('a record’s schema', (test) => {
	test('is named after its model, and has each visible field', () => {
		assert.equal(shapeOf('read').answer.schema, {
			title: 'BlogArticle',
			type: 'object',
			properties: {
				id: { type: 'integer', readOnly: true },
				title: { type: 'string', maxLength: 5 },
				state: { type: 'string', enum: ['draft', 'public'] },
				note: { type: ['string', 'null'] },
				rank: { type: ['integer', 'null'], minimum: 0, maximum: 9 },
				stock: { type: ['integer', 'null'], format: 'int64' },
				code: { type: ['string', 'null'], format: 'int64', pattern: '^-?(?:0|[1-9]\\d*)$' },
				ratio: {
					anyOf: [
						{ type: 'number' },
						{ type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] },
						{ type: 'null' },
					],
				},
				price: { type: ['string', 'null'], format: 'decimal' },
				done: { type: 'boolean' },
				token: { type: ['string', 'null'], format: 'uuid' },
				day: { type: ['string', 'null'], format: 'date' },
				clock: { type: ['string', 'null'], format: 'time-local' },
				at: { type: ['string', 'null'], format: 'date-time' },
				extra: {},
				data: { type: ['string', 'null'], contentEncoding: 'base64' },
				owner: { type: 'string', readOnly: true },
			},
			required: OPTIONS.visible,
		})
	})

	test('is used for each item of a list', () => {
		const { schema, isPage } = shapeOf('list').answer
		assert.is(isPage, true)
		assert.equal(schema, { type: 'array', items: shapeOf('read').answer.schema })
	})

	const names: [string, string, string][] = [
		['article', 'Article', 'List articles'],
		['blog_category', 'BlogCategory', 'List blog categories'],
		['app.Authors', 'Authors', 'List authors'],
		['orderItems', 'OrderItems', 'List order items'],
		['day', 'Day', 'List days'],
		['!', 'Record', 'List records'],
		['2026_sales', 'Record2026Sales', 'List 2026 sales'],
		['Müller', 'Muller', 'List müllers'],
		['日本', 'Record', 'List 日本'],
	]
	for (const [name, title, summary] of names) {
		test(`of ${name} has the title ${title}`, () => {
			assert.is(shapeOf('read', {}, model(name)).answer.schema.title, title)
			assert.is(shapeOf('list', {}, model(name)).summary, summary)
		})
	}

	test('accepts anything where a subclass overrides the answer or stripObject', () => {
		class Own extends CrudHandler {
			override read() {
				return { own: true }
			}
		}
		class Stripped extends CrudHandler {
			override stripObject() {
				return 'nothing'
			}
		}
		const shape = (type: typeof CrudHandler, operation: CrudOperation) =>
			crudShape(new type(model(), OPTIONS)[FACTS], undefined, operation).answer
		assert.equal(shape(Own, 'read').schema, {})
		assert.is(shape(Own, 'read').isOpen, true)
		assert.is(shape(Own, 'update').schema.title, 'BlogArticle')
		assert.equal(shape(Stripped, 'read').schema, {})
		assert.equal(shape(Stripped, 'list').schema, { type: 'array', items: {} })
	})

	test('requires nothing where fields() may hide it, also from related records', () => {
		class Own extends CrudHandler {
			override fields() {
				return { hidden: ['title'] }
			}
		}
		const own = new Own(model(), OPTIONS)
		const link = new MemoryModel('link', { key: 'id', fields: { id: 'integer', to: 'integer' } })
		const links = new CrudHandler(link, { visible: 'all', relations: { article: { to: own, by: 'to' } } })
		const { properties, required } = crudShape(links[FACTS], undefined, 'read').answer.schema
		const record = crudShape(own[FACTS], undefined, 'read').answer.schema
		assert.equal([record.required, required], [undefined, ['id', 'to']])
		assert.equal(propertyOf(record, 'title'), { type: 'string', maxLength: 5 })
		assert.is(properties?.article?.oneOf?.[0], record)
	})

	test('is a page of records where a subclass returns lists, unless its docs say otherwise', async () => {
		class Own extends CrudHandler {
			override list(query?: Partial<CrudQuery>) {
				return super.list(query)
			}
		}
		const { schema, isPage, key, isOpen } = crudShape(
			new Own(model(), OPTIONS)[FACTS],
			undefined,
			'list',
		).answer
		assert.equal([schema.items?.title, isPage, key, isOpen], ['BlogArticle', true, ['id'], true])
		class Counting extends Own {
			override docs = { list: { answer: z.object({ count: z.number() }) } }
		}
		class Some extends Own {
			override docs = { list: { answer: z.array(z.string()) } }
		}
		const isPaged = async (handler: CrudHandler) => {
			const { server } = asking({ own: handler }, { openapi: { title: 'T' } })
			const { text } = await server.inject({ url: '/openapi.json' })
			return /"required":\["success","data","meta"\]/.test(text())
		}
		assert.is(await isPaged(new Own(model(), OPTIONS)), true)
		assert.is(await isPaged(new Counting(model(), OPTIONS)), false)
		assert.is(await isPaged(new Some(model(), OPTIONS)), true)
	})
})

describe('the request body of a write', (test) => {
	test('has the writable and the ignored fields; no hidden ones, no column names', () => {
		const { schema, required, types } = bodyOf('create')
		assert.is(schema.title, 'BlogArticleCreate')
		assert.equal(Object.keys(schema.properties ?? {}), [...(OPTIONS.updatable ?? []), ...['id', 'owner']])
		assert.equal(schema.required, ['title'])
		assert.is(schema.additionalProperties, false)
		assert.equal(propertyOf(schema, 'owner'), { readOnly: true })
		assert.is(required, true)
		assert.equal(types, ['application/json'])
	})

	test('may also be a form when no field is JSON', () => {
		const { types } = bodyOf('create', { updatable: ['title', 'rank'] })
		assert.equal(types, ['application/json', 'application/x-www-form-urlencoded'])
	})

	test('of a change requires nothing, of a replacement the visible fields without a default', () => {
		const rules = { note: ['required'], secret: ['required'] } as const
		const { body: update } = shapeOf('update', { rules })
		const { body: replace } = shapeOf('replace', { rules })
		assert.is(update?.schema.required, undefined)
		assert.is(update?.required, false)
		assert.equal(replace?.schema.required, ['title', 'note'])
	})

	const table: [string, CrudOptions['rules'] & object, string, JsonSchema][] = [
		[
			'both lengths hold',
			{ title: [{ min: 1, max: 9 }] },
			'title',
			{ type: 'string', maxLength: 5, minLength: 1 },
		],
		['the shorter one holds', { title: ['string', { max: 3 }] }, 'title', { type: 'string', maxLength: 3 }],
		[
			'null stays where nothing forbids it',
			{ note: [{ min: 1 }] },
			'note',
			{ type: ['string', 'null'], minLength: 1 },
		],
		['required forbids null', { note: ['required', 'string'] }, 'note', { type: 'string' }],
		[
			'nullable allows it again',
			{ note: ['required', 'nullable', 'string'] },
			'note',
			{ type: ['string', 'null'] },
		],
		[
			'a column that is not null has no null',
			{ title: ['nullable', 'string'] },
			'title',
			{ type: 'string', maxLength: 5 },
		],
		[
			'choices are those of both',
			{ state: [{ in: ['public', 'gone'] }] },
			'state',
			{ type: 'string', enum: ['public'] },
		],
		[
			'a number has bounds of both',
			{ rank: ['number', { min: 3 }] },
			'rank',
			{ type: ['integer', 'null'], minimum: 3, maximum: 9 },
		],
		[
			'JSON is what its rules say',
			{ extra: [{ of: ['integer'] }] },
			'extra',
			{ type: ['array', 'null'], items: { type: 'integer' } },
		],
		[
			'a schema holds as well',
			{ title: z.string().min(2) },
			'title',
			{ type: 'string', maxLength: 5, minLength: 2 },
		],
		[
			'what can’t be one is both',
			{ title: ['integer'] },
			'title',
			{ allOf: [{ type: 'string', maxLength: 5 }, { type: 'integer' }] },
		],
	]
	for (const [name, rules, field, expected] of table) {
		test(`with validation rules: ${name}`, () => {
			assert.equal(propertyOf(shapeOf('create', { rules }).body?.schema, field), expected)
		})
	}

	test('of changes to several records has the key and the version of each, with a title of its own', () => {
		const allow = ['list', 'update', 'updateMany'] as const
		const visible = ['id', 'title', 'version'] as const
		const { schema, matched } = bodyOf('updateMany', {
			allow,
			visible,
			updatable: ['title'],
			version: 'version',
		})
		assert.equal(matched, ['id', 'version'])
		assert.equal(schema, {
			type: 'array',
			items: {
				title: 'BlogArticleUpdateMany',
				type: 'object',
				properties: {
					title: { type: 'string', maxLength: 5 },
					id: { type: 'integer' },
					version: { type: 'integer' },
				},
				required: ['id'],
				additionalProperties: false,
			},
			maxItems: 100,
		})
		assert.is(bodyOf('update', { allow }).schema.title, 'BlogArticleUpdate')
		assert.is(bodyOf('update', { allow }).matched, undefined)
		assert.equal(bodyOf('updateMany', { allow, version: 'version' }).matched, ['id'])
	})

	test('of changes to several records leaves out the hidden part of a key, which the scope fixes', () => {
		class Own extends CrudHandler {
			override scope() {
				return { owner: 'ada' }
			}
		}
		const fields = { owner: 'text', number: 'integer', note: 'text' } as const
		const over = new MemoryModel('line', { key: ['owner', 'number'], fields })
		const options = { visible: ['number', 'note'], updatable: ['note'], allow: ['updateMany'] } as const
		const { body } = crudShape(new Own(over, options)[FACTS], undefined, 'updateMany')
		assert.equal(body?.matched, ['number'])
		assert.equal(body?.schema.items?.required, ['number'])
		assert.not.match(JSON.stringify(body), 'owner')
	})

	const ITEM = {
		id: 'integer',
		slug: { type: 'text', default: 'a' },
		tag: { type: 'text', nullable: true },
	} as const
	const items = () =>
		new MemoryModel('item', { key: 'id', fields: ITEM, unique: [['slug'], ['slug', 'tag'], ['tag']] })
	const itemBody = (operation: CrudOperation, options: Partial<CrudOptions>) =>
		crudShape(
			new CrudHandler(items(), { visible: 'all', updatable: ['slug', 'tag'], ...options })[FACTS],
			undefined,
			operation,
		).body

	test('of several records may not be omitted, and is only a form where it may be one record', () => {
		const [json, form] = ['application/json', 'application/x-www-form-urlencoded']
		const table: [CrudOperation, Partial<CrudOptions>, boolean, unknown][] = [
			['updateMany', { allow: ['updateMany'] }, true, [json]],
			['createMany', { allow: ['createMany'] }, true, [json]],
			['create', { allow: ['create', 'createMany'] }, false, [json, form]],
			['upsert', { allow: ['upsert'], upsertOn: [['slug'], ['tag']] }, true, [json, form]],
		]
		for (const [operation, options, required, types] of table) {
			const body = itemBody(operation, options)
			assert.equal([body?.required, body?.types], [required, types], operation)
		}
	})

	test('has the choices of a column, whatever its type', () => {
		const fields = { id: 'integer', kind: { type: 'other', choices: ['p', 'q'], nullable: true } } as const
		const over = new MemoryModel('thing', { key: 'id', fields })
		const options = { visible: ['id', 'kind'], updatable: ['kind'], columns: {} }
		const kind = { type: ['string', 'null'], enum: ['p', 'q', null] }
		assert.equal(propertyOf(shapeOf('create', options, over).body?.schema, 'kind'), kind)
		assert.equal(propertyOf(shapeOf('read', options, over).answer.schema, 'kind'), kind)
	})

	test('has the texts of a key that URLs can contain', () => {
		const texts = ['', '.', '..', '...', '..a', '.a', 'a', 'a..', '..\n', 'a\u0000', '...\u007f', 'é ,/']
		const accepted = (key: readonly string[]) => {
			const over = new MemoryModel('thing', { key, fields: { id: 'text', day: 'date' } })
			const options = { visible: 'all', updatable: [], creatable: ['id', 'day'], columns: {} } as const
			const isFine = ajv().compile(propertyOf(shapeOf('create', options, over).body?.schema, 'id') ?? {})
			const read = idReader({ ...FIELD, type: 'text' }, key.length === 1)
			return [texts.filter((text) => isFine(text)), texts.filter((text) => read(text) !== undefined)]
		}
		const alone = ['...', '..a', '.a', 'a', 'a..', 'é ,/']
		assert.equal(accepted(['id']), [alone, alone])
		const among = ['', '.', '..', ...alone]
		assert.equal(accepted(['id', 'day']), [among, among])
	})

	test('of an upsert has values in the fields by which it finds records', () => {
		const named = (upsertOn: readonly (readonly string[])[], options: Partial<CrudOptions> = {}) => {
			const [schema] = itemBody('upsert', { allow: ['upsert'], upsertOn, ...options })?.schema.oneOf ?? []
			return [schema?.required, propertyOf(schema, 'slug')?.type, propertyOf(schema, 'tag')?.type]
		}
		const tagOrNull = ['string', 'null']
		assert.equal(named([['tag']]), [['tag'], 'string', 'string'])
		assert.equal(named([['slug', 'tag']]), [['slug', 'tag'], 'string', 'string'])
		assert.equal(named([['slug'], ['slug', 'tag']]), [['slug'], 'string', tagOrNull])
		assert.equal(named([['slug'], ['tag']]), [undefined, 'string', tagOrNull])
		const rules = { tag: ['nullable', 'string', { default: 'b' }] } as const
		assert.equal(named([['tag']], { rules }), [undefined, 'string', 'string'])
	})

	test('of an upsert lacks the fields that only the scope sets', () => {
		class Own extends CrudHandler {
			override scope() {
				return { slug: 'a' }
			}
		}
		const options = { visible: 'all', allow: ['upsert'], updatable: ['tag'] } as const
		const bodyOn = (upsertOn: readonly (readonly string[])[]) => {
			const { body } = crudShape(new Own(items(), { ...options, upsertOn })[FACTS], undefined, 'upsert')
			return [body?.required, body?.schema.oneOf?.[0]?.required]
		}
		assert.equal(bodyOn([['slug', 'tag']]), [true, ['tag']])
		assert.equal(bodyOn([['slug']]), [false, undefined])
	})

	test('has defaults for a new record, and omits none for a change', () => {
		const rules = { title: ['string', { default: 'new' }] } as const
		assert.equal(shapeOf('create', { rules }).body?.schema.required, undefined)
		assert.is(propertyOf(shapeOf('create', { rules }).body?.schema, 'title')?.default, 'new')
		assert.is(propertyOf(shapeOf('update', { rules }).body?.schema, 'title')?.default, undefined)
		const filled = { title: z.string().default('new') }
		assert.equal(shapeOf('create', { rules: filled }).body?.schema.required, undefined)
	})
})

describe('crud/api-description: the rest of an operation', (test) => {
	test('conditional headers, where records have a version', () => {
		const of = (operation: CrudOperation) => {
			const { headers, answer, refusals } = shapeOf(operation, { version: 'version' })
			return [operation, headers, answer.status, answer.headers, refusals]
		}
		assert.equal(ALL.map(of), [
			['list', [], 200, ['Link', 'X-Total-Count'], []],
			['read', ['If-None-Match'], 200, ['ETag'], [404]],
			['create', [], 201, ['Location', 'ETag'], [409, 422]],
			['update', ['If-Match'], 200, ['ETag'], [404, 409, 412, 422]],
			['replace', ['If-Match'], 200, ['ETag'], [404, 409, 412, 422]],
			['remove', ['If-Match'], 200, [], [404, 409, 412]],
		])
		assert.equal(shapeOf('update').headers, [])
		assert.equal(shapeOf('update').refusals, [404, 409, 422])
	})

	test('403, within a scope that a write could leave', () => {
		class Own extends CrudHandler {
			override scope() {
				return { owner: 'ann' }
			}
		}
		const facts = new Own(model(), OPTIONS)[FACTS]
		assert.equal(crudShape(facts, undefined, 'create').refusals, [403, 409, 422])
		assert.equal(crudShape(facts, undefined, 'read').refusals, [404])
	})

	test("If-None-Match, where the client can choose a new record's key", () => {
		assert.equal(shapeOf('create', { creatable: ['id', 'title'] }).headers, ['If-None-Match'])
	})

	test('the id parameter has the type of the key', () => {
		assert.equal(shapeOf('read').params, [{ type: 'integer' }])
		assert.equal(shapeOf('list').params, [])
	})

	const keyed = (fields: ConstructorParameters<typeof MemoryModel>[1]['fields'], key: readonly string[]) =>
		new MemoryModel('tag', { key, fields })
	const TAG = { article: 'integer', tag: { type: 'text', maxLength: 9 } } as const

	test('the id parameter of a key of several fields is a tuple', () => {
		const handler = new CrudHandler(keyed(TAG, ['tag', 'article']), { visible: 'all' })
		assert.equal(crudShape(handler[FACTS], undefined, 'read').params, [
			{
				...{ type: 'array', description: 'tag, article', minItems: 2, maxItems: 2 },
				prefixItems: [{ type: 'string', maxLength: 9 }, { type: 'integer' }],
			},
		])
		assert.is(crudShape(handler[FACTS], undefined, 'read').summary, 'Read one of the tags')
		assert.equal(crudShape(handler[FACTS], undefined, 'read').refusals, [404])
		assert.equal(crudShape(handler[FACTS], undefined, 'list').answer.key, ['tag', 'article'])
	})

	test('within a scope, it has the values that are not fixed', () => {
		class Own extends CrudHandler {
			override scope() {
				return { article: 7 }
			}
		}
		const paramsOf = (model: MemoryModel) =>
			crudShape(new Own(model, { visible: 'all' })[FACTS], undefined, 'read').params
		const description = 'article, tag (without what is fixed for the caller)'
		const list = { type: 'array', description, minItems: 1, maxItems: 2 }
		const text = { type: 'string', maxLength: 9 }
		assert.equal(paramsOf(keyed(TAG, ['article', 'tag'])), [
			{ ...list, items: { anyOf: [{ type: 'integer' }, text] } },
		])
		assert.equal(paramsOf(keyed({ article: 'integer', tag: 'integer' }, ['article', 'tag'])), [
			{ ...list, items: { type: 'integer' } },
		])
		assert.equal(paramsOf(keyed(TAG, ['article'])), [{ type: 'integer' }])
		const keyShown = (visible: readonly string[], Handler: typeof CrudHandler = Own) =>
			crudShape(new Handler(keyed(TAG, ['article', 'tag']), { visible })[FACTS], undefined, 'list').answer.key
		assert.equal(keyShown(['article', 'tag']), ['article', 'tag'])
		assert.equal(keyShown(['tag']), ['tag'])
		assert.equal(keyShown(['tag'], CrudHandler), undefined)
	})

	test('a bigint parameter is a number or its digits, for ids and filters', () => {
		const over = new MemoryModel('thing', { key: 'id', fields: { id: 'bigint' } })
		const facts = new CrudHandler(over, { visible: 'all' })[FACTS]
		// Not as a list of types: swagger-ui doesn't send parameters with one.
		const digits = { type: 'string', pattern: '^-?(?:0|[1-9]\\d*)$' }
		const bigint = { anyOf: [{ type: 'integer', format: 'int64' }, digits] }
		assert.equal(crudShape(facts, undefined, 'read').params, [bigint])
		const { query } = crudShape(facts, undefined, 'list')
		assert.equal(query.find(({ name }) => name === 'id[gt]')?.schema, bigint)
	})

	test('parameters of a record: its fields', () => {
		const { query } = shapeOf('read', { visible: ['id', 'title'] })
		assert.equal(query, [
			{
				...{ name: 'fields', required: false, role: 'fields', written: 'joined' },
				schema: { type: 'array', items: { type: 'string', enum: ['id', 'title'] }, minItems: 1 },
				description: 'The fields to return; all of them by default',
			},
		])
	})

	test('parameters of a list: only those it accepts', () => {
		const names = (options: Partial<CrudOptions>) => shapeOf('list', options).query.map(({ name }) => name)
		assert.equal(names({ visible: ['id', 'extra'], sortable: [], filterable: [] }), [
			...['limit', 'offset', 'cursor', 'count', 'fields'],
		])
		assert.equal(
			names({ visible: ['title', 'note', 'done'], searchable: ['title'], filterable: ['note', 'done'] }),
			[
				...['limit', 'offset', 'cursor', 'count', 'sort', 'fields', 'search', 'filter'],
				...['note', 'note[ne]', 'note[in]', 'note[nin]', 'note[null]', 'note[gt]', 'note[gte]', 'note[lt]'],
				...['note[lte]', 'note[between]', 'note[contains]', 'note[startsWith]', 'note[endsWith]'],
				...['note[ieq]', 'note[icontains]', 'note[istartsWith]', 'note[iendsWith]'],
				...['done', 'done[ne]', 'done[in]', 'done[nin]'],
			],
		)
	})

	test('parameters of a list: the order without a sort', () => {
		const sortOf = (options: Partial<CrudOptions>) => {
			const found = shapeOf('list', options).query.find(({ name }) => name === 'sort')
			return [found?.description, found?.schema.default]
		}
		const options = { visible: ['id', 'title', 'note'] }
		assert.equal(sortOf(options), ['Sort order, by default id; `-` means descending', undefined])
		assert.equal(sortOf({ ...options, sort: ['-note', 'title'] }), [
			'Sort order, by default -note, title; `-` means descending',
			['-note', 'title'],
		])
	})

	test('parameters of a list: names in its order are not repeated, as those of fields may be', () => {
		const listOf = (name: string) => shapeOf('list').query.find((one) => one.name === name)?.schema
		assert.equal([listOf('sort')?.uniqueItems, listOf('fields')?.uniqueItems], [true, undefined])
	})

	test('parameters of a list: none that are ignored', () => {
		const { query } = shapeOf('list', {
			ignoreQuery: ['title', 'offset', 'rank[gt]'],
			filterable: ['title', 'rank'],
		})
		const names = query.map(({ name }) => name)
		assert.equal(
			['title', 'offset', 'rank[gt]', 'title[ne]', 'limit', 'rank'].filter((name) => names.includes(name)),
			['title[ne]', 'limit', 'rank'],
		)
	})

	test('a field with the name of a parameter is listed only with operators', () => {
		const over = new MemoryModel('thing', { key: 'id', fields: { id: 'integer', limit: 'boolean' } })
		const handler = new CrudHandler(over, { visible: 'all', filterable: ['limit'] })
		const names = crudShape(handler[FACTS], undefined, 'list').query.map(({ name }) => name)
		assert.equal(names.slice(-4), ['limit[eq]', 'limit[ne]', 'limit[in]', 'limit[nin]'])
	})
})

describe('crud/api-description: relations', (test) => {
	const modelOf = (name: string, fields: readonly string[], isJoined = true) => {
		const types = Object.fromEntries(['id', ...fields].map((field) => [field, 'integer' as const]))
		return Object.assign(new MemoryModel(name, { fields: types, key: 'id' }), { joins: () => isJoined })
	}
	const handlerOf = (model: MemoryModel, options: Partial<CrudOptions> = {}) =>
		new CrudHandler(model, { visible: 'all', ...options })
	const parameter = (handler: CrudHandler, name: string, operation: CrudOperation = 'list') =>
		crudShape(handler[FACTS], undefined, operation).query.find((one) => one.name === name)
	const schemaOf = (handler: CrudHandler) => crudShape(handler[FACTS], undefined, 'read').answer.schema

	const authors: CrudHandler = handlerOf(modelOf('author', ['age']), {
		relations: { articles: { to: () => articles, by: 'authorId' } },
	})
	const articles: CrudHandler = handlerOf(modelOf('article', ['rank', 'authorId']), {
		relations: { author: { to: authors, by: 'authorId' } },
	})

	test('are optional members of a record: one or null, or a list', () => {
		const article = schemaOf(articles)
		assert.is(article.properties?.author?.oneOf?.[0], schemaOf(authors))
		assert.equal(article.properties?.author?.oneOf?.[1], { type: 'null' })
		const { properties, required } = schemaOf(authors).properties?.articles ?? {}
		assert.is(properties?.data?.items, article)
		assert.equal(Object.keys(properties?.meta?.properties ?? {}), ['limit', 'next', 'total', 'more'])
		assert.equal(
			[required, article.required],
			[
				['data', 'meta'],
				['id', 'rank', 'authorId'],
			],
		)
	})

	test('are named in include, as a list or a text', () => {
		const expected = (names: readonly string[]) => ({
			anyOf: [{ type: 'array', items: { type: 'string', enum: names }, minItems: 1 }, { type: 'string' }],
		})
		assert.equal(parameter(articles, 'include', 'create'), {
			...{ name: 'include', required: false, role: 'include', written: 'joined' },
			schema: expected(['author', 'author.articles']),
			description:
				'Relations whose records each record has, and in those their own, 2 levels at most; or JSON with `fields` and `include`: `{"author":{"fields":["…"]}}`',
		})
		assert.match(
			parameter(authors, 'include')?.description ?? '',
			'of lists also `limit`, `sort`, `filter` and `count`: `{"articles":{"limit":3,"sort":"…","filter":{…}}}`',
		)
		assert.equal(parameter(articles, 'fields')?.schema, expected(['id', 'rank', 'authorId', 'author']))
	})

	test('are not included by operations on several records', () => {
		const options = { allow: ['list', 'createMany', 'updateMany', 'upsert'] } as const
		const own = handlerOf(modelOf('article', ['authorId']), {
			...{ ...options, relations: { author: { to: authors, by: 'authorId' } } },
			...{ creatable: ['id', 'authorId'], updatable: ['authorId'], upsertOn: ['id'] },
		})
		const fields = { type: 'array', items: { type: 'string', enum: ['id', 'authorId'] }, minItems: 1 }
		for (const operation of ['createMany', 'updateMany', 'upsert'] as const) {
			assert.is(parameter(own, 'include', operation), undefined)
			assert.equal(parameter(own, 'fields', operation)?.schema, fields)
		}
		assert.ok(parameter(own, 'include'))
	})

	test('are sorted and filtered by in words', () => {
		const { schema, description = '' } = parameter(articles, 'sort') ?? {}
		assert.equal(schema?.anyOf?.[1], { type: 'string' })
		assert.match(description, '; in a text also by `author.…`')
		assert.match(
			parameter(articles, 'filter')?.description ?? '',
			'; of related records also as parameters, `author.field=value` and `author.field[op]=value`; `{"author":{"field":value}}`',
		)
		assert.match(
			parameter(authors, 'filter')?.description ?? '',
			'; `{"articles":{"some":{…},"none":{…},"every":{…},"count":{"gte":3}}}`',
		)
		assert.is(parameter(authors, 'sort')?.schema.type, 'array')
	})

	test('are only included where models are not joined', () => {
		const apart = handlerOf(modelOf('article', ['authorId'], false), {
			...{ sortable: [], filterable: [], relations: { author: { to: authors, by: 'authorId' } } },
		})
		assert.is(parameter(apart, 'include')?.role, 'include')
		assert.equal([parameter(apart, 'sort'), parameter(apart, 'filter')], [undefined, undefined])
	})

	test('can be all that a list is sorted and filtered by', () => {
		const only = handlerOf(modelOf('article', ['authorId']), {
			...{ sortable: [], filterable: [], relations: { author: { to: authors, by: 'authorId' } } },
		})
		assert.equal(parameter(only, 'sort')?.schema, { type: 'string' })
		assert.is(parameter(only, 'filter')?.written, 'json')
	})

	test('are left out where the other handler never allows them', () => {
		const writers = handlerOf(modelOf('author', []), { allow: ['list'] })
		const own = handlerOf(modelOf('article', ['authorId']), {
			relations: { author: { to: writers, by: 'authorId' } },
		})
		assert.is(parameter(own, 'include'), undefined)
		assert.equal(Object.keys(schemaOf(own).properties ?? {}), ['id', 'authorId'])
	})

	test('can be anything where the other handler strips its records', () => {
		class Stripped extends CrudHandler {
			override stripObject() {
				return 'nothing'
			}
		}
		const own = handlerOf(modelOf('article', ['authorId']), {
			relations: { author: { to: new Stripped(modelOf('author', []), { visible: 'all' }), by: 'authorId' } },
		})
		assert.equal(schemaOf(own).properties?.author, {})
	})

	test('have URLs below a record, described by its id and what the URL sets', async () => {
		const tag = new MemoryModel('tag', { fields: { id: 'integer', name: 'text' }, key: 'id' })
		const post = new MemoryModel('blog_post', { fields: { day: 'date', id: 'integer' }, key: ['day', 'id'] })
		const comment = new MemoryModel('comment', {
			fields: { id: 'integer', text: 'text', day: 'date', postId: 'integer' },
			key: 'id',
		})
		const between = new MemoryModel('post_tag', {
			fields: { day: 'date', post: 'integer', tag: 'integer' },
			key: ['day', 'post', 'tag'],
		})
		const references = (fields: readonly string[], to: readonly string[]) => () => [{ fields, to }]
		Object.assign(comment, { references: references(['day', 'postId'], ['day', 'id']) })
		Object.assign(between, {
			references: (other: MemoryModel) =>
				other === tag ? [{ fields: ['tag'], to: ['id'] }] : [{ fields: ['day', 'post'], to: ['day', 'id'] }],
		})
		const options = { visible: 'all', allow: ['list', 'read', 'create'] } as const
		const posts: CrudHandler = new CrudHandler(post, {
			...{ visible: 'all', allow: ['list', 'read', 'removeMany'] },
			relations: {
				hotComments: { to: () => comments, many: true },
				tags: { to: new CrudHandler(tag, { visible: 'all' }), through: between, writable: ['tie'] },
			},
		})
		const comments = new CrudHandler(comment, {
			...{ ...options, updatable: ['text', 'day', 'postId'] },
			relations: { post: { to: posts } },
		})
		const { server } = asking({ posts, comments }, { openapi: true })
		const { paths, components } = JSON.parse(
			(await server.inject({ url: '/openapi.json' })).text(),
		) as Document
		const operations = Object.entries(paths).flatMap(([path, methods]) =>
			Object.entries(methods).map(([method, { summary }]) => `${method} ${path} ${summary}`),
		)
		assert.equal(
			operations.filter((one) => /\}\//.test(one)),
			[
				'get /posts/{id}/hotComments List the hot comments of one of the blog posts',
				'post /posts/{id}/hotComments Add to the hot comments of one of the blog posts',
				'get /posts/{id}/tags List the tags of one of the blog posts',
				'put /posts/{id}/tags/{id2} Add to the tags of one of the blog posts',
				'delete /posts/{id}/tags/{id2} Remove from the tags of one of the blog posts',
				'get /comments/{id}/post Read the post of one of the comments',
			],
		)
		const created = components.schemas?.BlogPostHotCommentsCreate as JsonSchema
		assert.equal(created.required, ['text'])
		assert.equal(created.properties?.postId, { readOnly: true })
		const tie = paths['/posts/{id}/tags/{id2}']?.put
		assert.equal([tie?.requestBody, Object.keys(tie?.responses ?? {}).includes('404')], [undefined, true])
		const { parameters = [] } = paths['/posts/{id}/hotComments']?.post ?? {}
		assert.match(JSON.stringify([parameters, components.parameters]), '"prefixItems":[{"type":"string"')
		const removed = JSON.stringify(paths['/posts']?.delete?.responses?.['200'])
		assert.match(removed, '"data":{"type":"array","items":{"type":"string"}}')
	})

	test('are less than 900 bytes each in the description, however many fields there are behind them', async () => {
		const count = 20
		const handlers: CrudHandler[] = []
		const links = Array.from({ length: count }, (_, at) => `link${at}`)
		for (const at of links.keys()) {
			const relations = Object.fromEntries(
				links.map((by, to) => [`to${to}`, { to: () => handlers[to] ?? authors, by, many: false }]),
			)
			handlers.push(handlerOf(modelOf(`thing${'x'.repeat(at)}`, links), { relations, includeDepth: 4 }))
		}
		const sizeOf = async (handlers: readonly CrudHandler[]) => {
			const named = Object.fromEntries(handlers.map((one, at) => [`thing${at}`, one]))
			const { server } = asking(named, { openapi: true })
			const { text } = await server.inject({ url: '/openapi.json' })
			return text().length
		}
		const plain = handlers.map(({ model }) => handlerOf(model as MemoryModel))
		const [related, unrelated] = [await sizeOf(handlers), await sizeOf(plain)]
		// Each has a path of its own, and 20 fields, of which each would be a name in three parameters, and one itself.
		const each = (related - unrelated) / count ** 2
		assert.ok(each < 900, `${each} bytes for each relation`)
		assert.is(
			new Set(parameter(handlers[0] ?? authors, 'include')?.schema.anyOf?.[0]?.items?.enum).size,
			count,
		)
	})
})

/** Values of which some fit each type; without those that JSON Schema can't distinguish. */
const value = fc.oneof(
	fc.constantFrom(null, true, false, 0, -1, 5, 9, 10, 1.5, 9007199254740991),
	fc.constantFrom('', 'a', 'abcde', 'abcdef', '👍👍👍👍👍', 'draft', 'public', '12', '12.50', '1.', 'NaN'),
	fc.constantFrom('2026-11-20', '2026-02-30', '13:45:00', '25:00:00', '2026-11-20T13:45:00Z', 'SGk='),
	fc.constantFrom('5f3c1f8e-0000-4000-8000-000000000000'),
	fc.constantFrom<unknown>([], [1], ['a'], {}, { a: 1 }),
)
const NAMES = [...(OPTIONS.updatable ?? []), 'owner', 'version', 'note_text', 'nothing']
/** Rules common to all of them. */
const WHOLE = { title: 'New', note: 'ok' }
const body = fc
	.tuple(
		fc.constantFrom({}, WHOLE, WHOLE, WHOLE, WHOLE),
		fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 3 }),
	)
	.map(([first, rest]) => ({ ...first, ...rest }))

describe('request bodies valid by their schema, compared with those accepted', (test) => {
	const rules: CrudOptions['rules'] = {
		note: ['required', 'nullable', { min: 2 }],
		rank: ['integer', { min: 2 }],
		price: ['string'],
		extra: [{ of: ['integer'] }],
		secret: z.string().min(2).nullable().optional(),
	}
	for (const [kind, request, options] of [
		['create', 'POST /article', {}],
		['update', 'PATCH /article/1', {}],
		['replace', 'PUT /article/1', {}],
		['create', 'POST /article', { rules }],
		['update', 'PATCH /article/1', { rules }],
		['replace', 'PUT /article/1', { rules }],
	] as const) {
		test(`${kind}${'rules' in options ? ' with rules' : ''}: the same ones`, async () => {
			const { ask } = asking({ article: new CrudHandler(model(), { ...OPTIONS, ...options }) })
			const isFine = ajv().compile(shapeOf(kind, options).body?.schema ?? {})
			const tally = { fine: 0, wrong: 0 }
			await fc.assert(
				fc.asyncProperty(body, async (values) => {
					const reply = await ask(request, { body: values })
					const expected = reply.status < 300
					// That a text is base64 is in `contentEncoding`, which validators ignore.
					if ('data' in values && typeof values.data === 'string') return
					tally[expected ? 'fine' : 'wrong']++
					assert.is(
						isFine(values),
						expected,
						JSON.stringify([values, JSON.parse(reply.text()), isFine.errors]),
					)
				}),
				{ numRuns: 300 },
			)
			assert.ok(tally.fine > 20 && tally.wrong > 20, JSON.stringify(tally))
		})
	}
})

describe('crud/field-schema: the digits of a decimal', (test) => {
	const texts = ['0', '-0', '0.0', '1', '12', '12.0', '120', '99.99', '-99.990', '0.999', '1.', '.5', '01']
	const table: [Field['digits'] & object, readonly string[]][] = [
		[
			[2, 2],
			['0', '-0', '0.0', '1', '12', '12.0', '99.99', '-99.990'],
		],
		[
			[2, 0],
			['0', '-0', '0.0', '1', '12', '12.0'],
		],
		[
			[0, 3],
			['0', '-0', '0.0', '0.999'],
		],
	]
	for (const [digits, expected] of table)
		test(`before and after the point are as many as are stored: ${digits}`, () => {
			const field: Field = { ...FIELD, type: 'decimal', digits }
			const isFine = ajv().compile(inputSchema(field))
			const fine = texts.filter((text) => isFine(text))
			const stored = texts.filter((text) => storedFromText(field, text, []) !== undefined)
			assert.equal([fine, stored], [expected, expected])
		})
})

describe('crud/field-schema: a nullable field', (test) => {
	const table: [string, JsonSchema, JsonSchema][] = [
		['a type', { type: 'string' }, { type: ['string', 'null'] }],
		['choices', { type: 'string', enum: ['a'] }, { type: ['string', 'null'], enum: ['a', null] }],
		['choices of any type', { enum: ['a', 1] }, { enum: ['a', 1, null] }],
		['one of several', { anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
	]
	for (const [what, schema, expected] of table)
		test(`${what} also accepts null`, () => assert.equal(orNull(schema), expected))

	test('null is accepted by the schema of a nullable field with choices', () => {
		const schema = orNull({ type: 'string', enum: ['draft', 'public'] })
		const isFine = ajv().compile(schema)
		assert.equal([isFine(null), isFine('draft'), isFine('gone')], [true, true, false])
	})
})
