import * as assert from 'uvu/assert'
import { Components } from '../../lib/openapi/components.ts'
import { type JsonSchema, RECURSIVE } from '../../lib/validate/schema/json-schema.ts'
import { cost } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'

const TAG = { title: 'Tag', type: 'object', properties: { name: { type: 'string' } } } as const

describe('openapi components', (test) => {
	test('are schemas with a title, each listed once, and referenced elsewhere', () => {
		const components = new Components()
		const list = {
			type: 'array',
			items: { title: 'A note', properties: { tag: TAG, more: { anyOf: [TAG, {}] } } },
		} as const
		assert.equal(components.schema(list), { type: 'array', items: { $ref: '#/components/schemas/ANote' } })
		const tag = { $ref: '#/components/schemas/Tag' }
		assert.equal(components.toJSON(), {
			schemas: { Tag: TAG, ANote: { title: 'A note', properties: { tag, more: { anyOf: [tag, {}] } } } },
		})
	})

	test('with the same title but different content are numbered', () => {
		const components = new Components()
		const named = [{}, { minProperties: 1 }, {}, { minProperties: 2 }].map((more) =>
			components.schema({ title: 'A', type: 'object', ...more }),
		)
		assert.equal(
			named.map(({ $ref }) => $ref),
			['A', 'A2', 'A', 'A3'].map((name) => `#/components/schemas/${name}`),
		)
	})

	test('may contain themselves and each other, if they are marked', () => {
		const components = new Components()
		const recursive = (title: string, members: () => JsonSchema['properties']): JsonSchema => ({
			...{ [RECURSIVE]: true, title, type: 'object' },
			get properties() {
				return members() ?? {}
			},
		})
		const author = recursive('Author', () => ({ articles: { type: 'array', items: article } }))
		const article = recursive('Article', () => ({
			author: { oneOf: [author, { type: 'null' }] },
			parent: article,
		}))
		const other = recursive('Author', () => ({}))
		const [own, related, numbered] = [author, article, other].map((one) => components.schema(one))
		assert.equal(numbered, { $ref: '#/components/schemas/Author2' })
		assert.equal(components.schema({ items: article }), { items: related })
		assert.equal(JSON.parse(JSON.stringify(components)).schemas, {
			Author: {
				title: 'Author',
				type: 'object',
				properties: { articles: { type: 'array', items: related } },
			},
			Article: {
				...{ title: 'Article', type: 'object' },
				properties: { author: { oneOf: [own, { type: 'null' }] }, parent: related },
			},
			Author2: { title: 'Author', type: 'object', properties: {} },
		})
	})

	test('include no values that only look like schemas', () => {
		const components = new Components()
		const schema = { enum: ['title'], default: { title: 'x' }, const: 'y' }
		assert.equal(components.schema(schema), schema)
		assert.equal(components.schema({ properties: { title: { type: 'string' } } }), {
			properties: { title: { type: 'string' } },
		})
		assert.equal(components.toJSON(), {})
	})

	test('leave schemas without a usable name inline', () => {
		const components = new Components()
		assert.equal(components.schema({ title: '–', type: 'object' }), { title: '–', type: 'object' })
		assert.equal(components.toJSON(), {})
	})

	test('are objects only: other titles are labels for forms', () => {
		const components = new Components()
		const title = 'Your address'
		for (const schema of [
			{ type: 'string' },
			{ enum: ['a', 'b'] },
			{ type: 'array', items: {} },
			{},
		] as const)
			assert.equal(components.schema({ title, ...schema }), { title, ...schema })
		assert.equal(components.toJSON(), {})
		for (const schema of [{ type: ['object', 'null'] }, { type: 'object' }, { properties: {} }] as const)
			assert.match(JSON.stringify(components.schema({ title, ...schema })), 'schemas/YourAddress')
	})

	test("include a schema's $defs, once for repeated use", () => {
		const components = new Components()
		const tree = {
			$ref: '#/$defs/Tree~1a%20b',
			$defs: {
				'Tree/a b': {
					properties: {
						parts: { items: { $ref: '#/$defs/Tree~1a%20b' } },
						at: { $ref: '#/$defs/__schema0' },
					},
				},
				__schema0: { type: 'integer' },
			},
		} as const
		const reference = { $ref: '#/components/schemas/TreeAB' }
		assert.equal(components.schema(tree), reference)
		assert.equal(components.schema({ items: tree }), { items: reference })
		assert.equal(components.toJSON(), {
			schemas: {
				TreeAB: { properties: { parts: { items: reference }, at: { $ref: '#/components/schemas/Schema' } } },
				Schema: { type: 'integer' },
			},
		})
	})

	test('include shared $defs once', () => {
		const components = new Components()
		const $defs = {
			Tag: { properties: { kind: { $ref: '#/$defs/KindV2' } } },
			KindV2: { enum: ['a'] },
			Unused: { type: 'null' },
		} as const
		const reference = { $ref: '#/components/schemas/Tag' }
		assert.equal(components.schema({ $ref: '#/$defs/Tag', $defs }), reference)
		assert.equal(components.schema({ items: { $ref: '#/$defs/Tag' }, $defs }), { items: reference })
		const other = { ...$defs, KindV2: { enum: ['b'] } }
		assert.equal(components.schema({ $ref: '#/$defs/Tag', $defs: other }), {
			$ref: '#/components/schemas/Tag2',
		})
		assert.equal(components.toJSON(), {
			schemas: {
				Tag: { properties: { kind: { $ref: '#/components/schemas/KindV2' } } },
				KindV2: { enum: ['a'] },
				Tag2: { properties: { kind: { $ref: '#/components/schemas/KindV22' } } },
				KindV22: { enum: ['b'] },
			},
		})
	})

	test('resolve references into parts, and unescaped names', () => {
		const components = new Components()
		const schema = {
			properties: { a: { $ref: '#/$defs/A/properties/b' }, all: { $ref: '#/$defs/100%' } },
			$defs: { A: { properties: { b: { type: 'string' } } }, '100%': { type: 'integer' } },
		} as const
		assert.equal(components.schema(schema), {
			properties: {
				a: { $ref: '#/components/schemas/A/properties/b' },
				all: { $ref: '#/components/schemas/100' },
			},
		})
	})

	test('ignore $defs that are not objects', () => {
		const schema: JsonSchema = JSON.parse('{"type":"string","$defs":null}')
		assert.equal(new Components().schema(schema), { type: 'string' })
	})

	test('with the same title are numbered in linear time', () => {
		const components = new Components()
		const properties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`field${at}`, {}]))
		const time = cost(() => {
			for (let minProperties = 0; minProperties < 2_000; minProperties++)
				components.schema({ title: 'A', properties, minProperties })
		})
		assert.equal(components.schema({ title: 'A', properties, minProperties: 1_999 }), {
			$ref: '#/components/schemas/A2000',
		})
		// Comparing each with all others would take half a minute.
		assert.ok(time < 5_000, `${time} ms`)
	})

	test('include parts used twice; one used once stays inline', () => {
		const components = new Components()
		const described = (of: string) => ({ name: 'title[ne]', description: `title of ${of}` })
		const parts = ['a', 'b', 'a', 'c', 'b'].map((of) =>
			components.shared('parameters', 'title[ne]', described(of)),
		)
		const [a, b] = ['titleNe', 'titleNe2'].map((name) => ({ $ref: `#/components/parameters/${name}` }))
		assert.equal(JSON.parse(JSON.stringify(parts)), [a, b, a, described('c'), b])
		assert.equal(components.toJSON(), { parameters: { titleNe: described('a'), titleNe2: described('b') } })
	})

	test('requested by name are distinguished from others of that name', () => {
		const components = new Components()
		const model = { description: 'A record of the table not_found' }
		for (let count = 0; count < 2; count++) components.shared('responses', 'NotFound', model)
		const names = [1, 2].map(() => components.use('responses', 'NotFound', () => ({ description: '404' })))
		assert.equal(names, [
			{ $ref: '#/components/responses/NotFound2' },
			{ $ref: '#/components/responses/NotFound2' },
		])
		assert.equal(components.toJSON(), {
			responses: { NotFound: model, NotFound2: { description: '404' } },
		})
	})

	test('with unusable names get a generated name', () => {
		const components = new Components()
		for (let count = 0; count < 2; count++) components.shared('parameters', 'ä', { name: 'ä' })
		assert.equal(components.toJSON(), { parameters: { unnamed: { name: 'ä' } } })
	})

	test('other than schemas are created when first referenced', () => {
		const components = new Components()
		const made: string[] = []
		for (const name of ['A', 'B', 'A']) {
			const reference = components.use('headers', name, () => {
				made.push(name)
				return {}
			})
			assert.equal(reference, { $ref: `#/components/headers/${name}` })
		}
		assert.equal(made, ['A', 'B'])
	})
})
