import { type } from 'arktype'
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import * as v from 'valibot'
import { z } from 'zod'
import type { Rule, Spec } from '../../../lib/index.ts'
import { planRules, planSpec } from '../../../lib/validate/compile.ts'
import { isUrl } from '../../../lib/validate/format.ts'
import { acceptsValue, hasDefault, schemaOfForeign } from '../../../lib/validate/schema/foreign-schema.ts'
import type { JsonSchema } from '../../../lib/validate/schema/json-schema.ts'
import { bodySchema, querySchemas, schemaOfPlan } from '../../../lib/validate/schema/plan-schema.ts'
import type { SchemaResult } from '../../../lib/validate/standard-schema.ts'
import { validateList } from '../../../lib/validate/validate.ts'
import { describe } from '../../helpers/describe.ts'
import { ajv } from '../../openapi/ajv.ts'

function schemaOf(...rules: Rule[]): JsonSchema {
	return schemaOfPlan(planRules('', rules))
}

const URL = { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]', description: 'An http or https URL' }

describe('JSON Schemas of rules', (test) => {
	const something = ['string', 'number', 'boolean', 'array', 'object'] as const
	const table: [string, readonly Rule[], JsonSchema][] = [
		['no rule: anything but null', [], { type: something }],
		['nullable alone: anything', ['nullable'], {}],
		['string', ['string'], { type: 'string' }],
		['required is the object’s', ['required', 'boolean'], { type: 'boolean' }],
		['nullable', ['nullable', 'integer'], { type: ['integer', 'null'] }],
		['email', ['email'], { type: 'string', format: 'email', maxLength: 254 }],
		['a short email', ['email', { max: 80 }], { type: 'string', format: 'email', maxLength: 80 }],
		['a long email', ['email', { max: 300 }], { type: 'string', format: 'email', maxLength: 254 }],
		['url', ['url'], { type: 'string', ...URL }],
		[
			'url and a pattern in words',
			['url', { pattern: /shop/i }],
			{ type: 'string', ...URL, description: 'An http or https URL. Must match /shop/i' },
		],
		['url and pattern', ['url', { pattern: /shop/ }], { type: 'string', allOf: [URL, { pattern: 'shop' }] }],
		['uuid', ['uuid'], { type: 'string', format: 'uuid' }],
		['date', ['date'], { type: 'string', format: 'date' }],
		['datetime', ['datetime'], { type: 'string', format: 'date-time' }],
		['characters', ['string', { min: 1, max: 9 }], { type: 'string', minLength: 1, maxLength: 9 }],
		['at least nothing', ['string', { min: 0 }], { type: 'string' }],
		['sizes', ['number', { min: -1.5, max: 2.5 }], { type: 'number', minimum: -1.5, maximum: 2.5 }],
		['items', ['array', { min: 1, max: 3 }], { type: 'array', minItems: 1, maxItems: 3 }],
		[
			'a size of whatever it is',
			[{ min: 2 }],
			{ type: ['string', 'number', 'array'], minLength: 2, minimum: 2, minItems: 2 },
		],
		['a size that nothing but a number has', [{ max: -1 }], { type: ['number'], maximum: -1 }],
		['pattern', [{ pattern: /^a+$/ }], { type: 'string', pattern: '^a+$' }],
		['pattern of Unicode', [{ pattern: /^\p{L}+$/u }], { type: 'string', pattern: '^\\p{L}+$' }],
		[
			'a pattern with a flag is told in words',
			[{ pattern: /^a+$/i }],
			{ type: 'string', description: 'Must match /^a+$/i' },
		],
		[
			'so is one that is none of Unicode',
			[{ pattern: /^[\w-.]+$/ }],
			{ type: 'string', description: 'Must match /^[\\w-.]+$/' },
		],
		['choices', [{ in: ['a', 'b'] }], { type: 'string', enum: ['a', 'b'] }],
		['choices of several types', [{ in: ['a', 1] }], { enum: ['a', 1] }],
		['choices or null', ['nullable', { in: [1, 2] }], { type: ['number', 'null'], enum: [1, 2, null] }],
		[
			'items of a list',
			[{ of: ['string', { max: 5 }] }],
			{ type: 'array', items: { type: 'string', maxLength: 5 } },
		],
		[
			'fields',
			[{ fields: { a: ['required', 'string'], b: true, c: false } }],
			{ type: 'object', properties: { a: { type: 'string' }, b: {}, c: {} }, required: ['a', 'b'] },
		],
		['a default', ['integer', { default: 3 }], { type: 'integer', default: 3 }],
		['a default that is made', ['integer', { default: () => 3 }], { type: 'integer' }],
		['a default that JSON hasn’t', [{ default: 3n }], { type: something }],
		['so is one that JSON would make null of', [{ default: Infinity }], { type: something }],
		['checks are not told', ['string', () => true], { type: 'string' }],
	]
	for (const [name, rules, expected] of table) {
		test(name, () => assert.equal(schemaOf(...rules), expected))
	}

	test('of a url accept no other schemes', () => {
		const isFine = ajv().compile(schemaOf('url', { pattern: /e/ }))
		const urls = [
			'http://a.example',
			'HTTPS://a.example/x?y',
			'http:///e',
			'ftp://a.example',
			'mailto:e@a.example',
		]
		const expected = [true, true, false, false, false]
		assert.equal([urls.map((url) => isFine(url)), urls.map(isUrl)], [expected, expected])
	})

	test('are open with another validator', () => {
		const other = { validateList: () => ({ ok: true, value: 1 }) as const }
		const plan = planSpec({ a: ['integer'] }, other)
		assert.equal(schemaOfPlan(plan), { type: 'object', properties: { a: {} } })
	})
})

/** Random lists of rules, of those that JSON Schema can express exactly. */
const size = fc.integer({ min: 0, max: 6 })
const sizes = fc.tuple(size, size).map(([a, b]): Rule => ({ min: Math.min(a, b), max: Math.max(a, b) }))
const leaf = fc.oneof(
	fc.tuple(fc.constantFrom<Rule>('string', 'number', 'integer', 'array'), sizes),
	fc.constantFrom<Rule[]>(['boolean'], ['object'], ['uuid'], ['date'], ['datetime'], []),
	fc
		.uniqueArray(fc.constantFrom('a', '👍', 1, true), { minLength: 1 })
		.map((choices): Rule[] => [{ in: choices }]),
	fc.constantFrom(/^a/, /b$/u, /^.{2}$/u).map((pattern): Rule[] => [{ pattern }]),
)
const presence = fc.constantFrom<Rule[]>([], ['required'], ['nullable'], ['required', 'nullable'])
const anyRules: fc.Arbitrary<Rule[]> = fc.letrec<{ rules: Rule[]; kind: Rule[] }>((tie) => ({
	rules: fc.tuple(presence, tie('kind')).map(([first, rest]) => [...first, ...rest]),
	kind: fc.oneof(
		{ maxDepth: 3, depthSize: 'small' },
		leaf.map((rules) => [...rules]),
		tie('rules').map((of): Rule[] => [{ of }]),
		fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('rules')).map((fields): Rule[] => [{ fields }]),
	),
})).rules
const text = fc.constantFrom('', 'a', 'ab', 'b', '👍', '👍👍', 'a👍', 'aaaaaaa', '2026-11-20', '2026-02-30')
const moment = fc.constantFrom('2026-11-20T10:00:00Z', '5f3c1f8e-0000-4000-8000-000000000000')
const value = fc.letrec((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3, depthSize: 'small' },
		fc.oneof(text, moment, fc.integer({ min: -2, max: 8 }), fc.constantFrom(1.5, true, false, null)),
		fc.array(tie('value'), { maxLength: 3 }),
		fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
	),
})).value

describe('JSON Schemas of rules, compared with ajv', (test) => {
	test('accept exactly what the rules accept', () => {
		const tally = { fine: 0, wrong: 0 }
		const judge = ajv()
		fc.assert(
			fc.property(anyRules, fc.array(value, { minLength: 20, maxLength: 20 }), (rules, values) => {
				const plan = planRules('', rules)
				const isFine = judge.compile(schemaOfPlan(plan))
				for (const one of values) {
					const expected = validateList(one, rules).ok
					tally[expected ? 'fine' : 'wrong']++
					assert.is(isFine(one), expected, JSON.stringify([schemaOfPlan(plan), one]))
				}
			}),
			{ numRuns: 120 },
		)
		assert.ok(tally.fine > 100 && tally.wrong > 100, JSON.stringify(tally))
	})
})

describe('body schemas of specs', (test) => {
	test('are objects with named fields; others are dropped, and so allowed', () => {
		const spec = { title: ['required', 'string'], tags: [{ of: ['string'] }], draft: false } as const
		const properties = { title: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }
		assert.equal(bodySchema(planSpec(spec)), {
			schema: { type: 'object', properties: { ...properties, draft: {} }, required: ['title'] },
			form: {
				type: 'object',
				properties: { ...properties, draft: { type: 'string' } },
				required: ['title'],
			},
			required: true,
			types: ['application/json', 'application/x-www-form-urlencoded'],
		})
	})

	test('of names only may be omitted', () => {
		assert.equal(bodySchema(planSpec(['a', 'b'])), {
			schema: { type: 'object', properties: { a: {}, b: {} } },
			form: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
			required: false,
			types: ['application/json', 'application/x-www-form-urlencoded'],
		})
	})

	const table: [string, Spec][] = [
		['an object', { a: [{ fields: { b: true } }] }],
		['a list of lists', { a: [{ of: [{ of: ['string'] }] }] }],
		['a schema', { a: z.number() }],
		['a schema for the whole', z.object({ a: z.number() })],
	]
	for (const [what, spec] of table) {
		test(`with ${what} are not a form`, () =>
			assert.equal(bodySchema(planSpec(spec)).types, ['application/json']))
	}

	test('with schemas require the fields whose absence these refuse', () => {
		const spec = {
			zod: z.string(),
			zodOptional: z.string().optional(),
			zodDefault: z.string().default('x'),
			ark: type('string > 1'),
			valibot: v.string(),
			valibotOptional: v.optional(v.string()),
			later: z.string().refine(async () => true),
		}
		assert.equal(bodySchema(planSpec(spec)).schema, {
			type: 'object',
			properties: {
				zod: { type: 'string' },
				zodOptional: { type: 'string' },
				zodDefault: { type: 'string', default: 'x' },
				ark: { type: 'string', minLength: 2 },
				valibot: {},
				valibotOptional: {},
				later: { type: 'string' },
			},
			required: ['zod', 'ark', 'valibot', 'later'],
		})
	})

	test('require a field whose schema throws, and none whose schema is asynchronous', () => {
		const saying = (validate: () => SchemaResult<unknown> | Promise<SchemaResult<unknown>>) => ({
			'~standard': { version: 1, vendor: 'test', validate } as const,
		})
		const later = saying(() => Promise.reject(new Error('nobody waits for this')))
		const throwing = saying(() => {
			throw new Error('not today')
		})
		assert.equal(bodySchema(planSpec({ later, throwing })).schema.required, ['throwing'])
	})

	test('of one schema are required where it refuses an empty object', () => {
		assert.is(bodySchema(planSpec(z.object({ a: z.string() }))).required, true)
		assert.is(bodySchema(planSpec(z.object({ a: z.string().optional() }))).required, false)
		assert.is(bodySchema(planSpec(v.object({ a: v.string() }))).required, true)
	})
})

describe('query parameters of specs', (test) => {
	test('are texts, never null and never objects', () => {
		const spec = {
			page: ['integer', { min: 1, default: 1 }],
			tags: ['required', { of: ['nullable', 'string'] }],
			after: ['nullable', 'date'],
			where: ['object'],
			any: false,
		} as const
		assert.equal(querySchemas(planSpec(spec)), [
			{ name: 'page', schema: { type: 'integer', minimum: 1, default: 1 }, required: false },
			{ name: 'tags', schema: { type: 'array', items: { type: 'string' } }, required: true },
			{ name: 'after', schema: { type: 'string', format: 'date' }, required: false },
			{ name: 'any', schema: { type: 'string' }, required: false },
		])
	})

	const texts: [string, readonly Rule[], JsonSchema][] = [
		['a size', [{ min: 2, max: 9 }], { type: 'string', minLength: 2, maxLength: 9 }],
		['choices', [{ in: ['a', 1, true] }], { type: 'string', enum: ['a'] }],
		['choices of numbers', [{ in: [1, 2] }], { type: 'number', enum: [1, 2] }],
		['choices that no text is', [{ in: [1, true] }], { enum: [1, true] }],
		['items', [{ of: [{ min: 2 }] }], { type: 'array', items: { type: 'string', minLength: 2 } }],
	]
	for (const [what, rules, expected] of texts)
		test(`without a kind are texts, as in a form: ${what}`, () => {
			const plan = planSpec({ a: rules })
			assert.equal(querySchemas(plan)[0]?.schema, expected)
			assert.equal(bodySchema(plan).form?.properties?.a, expected)
		})

	test('of one schema are its properties', () => {
		const schema = z.object({ page: z.coerce.number().int().min(1), term: z.string().optional() })
		assert.equal(querySchemas(planSpec(schema)), [
			{
				name: 'page',
				schema: { type: 'integer', minimum: 1, maximum: 9007199254740991 },
				required: true,
			},
			{ name: 'term', schema: { type: 'string' }, required: false },
		])
	})

	test("of a schema that is a reference are the target's properties, with their references", () => {
		const $defs = { Kind: { enum: ['a'] }, Other: {} }
		const properties = { kind: { $ref: '#/$defs/Kind' }, page: { type: 'integer' } }
		const said = { $ref: '#/$defs/Query', $defs: { ...$defs, Query: { properties, required: ['page'] } } }
		const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const
		const schema = { '~standard': { ...standard, jsonSchema: { input: () => said } } }
		assert.equal(querySchemas(planSpec(schema)), [
			{ name: 'kind', schema: { $ref: '#/$defs/Kind', $defs: { Kind: { enum: ['a'] } } }, required: false },
			{ name: 'page', schema: { type: 'integer' }, required: true },
		])
	})

	test('of a malformed schema are its readable parts', () => {
		const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const
		const namesOf = (said: unknown) =>
			querySchemas(planSpec({ '~standard': { ...standard, jsonSchema: { input: () => said } } } as Spec))
		assert.equal(namesOf({ properties: null, required: [] }), [])
		assert.equal(namesOf({ properties: { a: {} }, required: true }), [
			{ name: 'a', schema: {}, required: false },
		])
	})

	test('of a schema without a description are none', () => {
		assert.equal(querySchemas(planSpec(v.object({ a: v.string() }))), [])
	})
})

describe('JSON Schemas of other libraries', (test) => {
	test('describe their input, not their output', () => {
		const transformed = z.object({ a: z.string().transform((text) => text.length) })
		assert.equal(schemaOfForeign(transformed), {
			type: 'object',
			properties: { a: { type: 'string' } },
			required: ['a'],
		})
		assert.equal(schemaOfForeign(type('string.numeric.parse')).type, 'string')
	})

	test('are open where JSON cannot represent a part', () => {
		assert.equal(schemaOfForeign(z.object({ a: z.date(), b: z.string() })), {
			type: 'object',
			properties: { a: {}, b: { type: 'string' } },
			required: ['a', 'b'],
		})
	})

	test('are open where they are missing, throw, or are malformed', () => {
		const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const
		const saying = (input: () => unknown) => ({ '~standard': { ...standard, jsonSchema: { input } } })
		const throwing = saying(() => {
			throw new Error('not today')
		})
		// Unhandled, its rejection would end this process.
		const later = saying(() => Promise.reject(new Error('nobody waits for this')))
		const nonsense = [saying(() => 7), saying(() => undefined), { '~standard': standard }]
		const cases = [v.string(), throwing, later, ...nonsense]
		for (const schema of cases) assert.equal(schemaOfForeign(schema), {})
		assert.equal(
			schemaOfForeign({ '~standard': { ...standard, jsonSchema: 7 } } as unknown as typeof throwing),
			{},
		)
		const references = ['#/$defs/None', '#anchor', 'https://example.org/schema.json', '#/$defs/']
		for (const $ref of references) assert.equal(schemaOfForeign(saying(() => ({ items: { $ref } }))), {})
		assert.equal(schemaOfForeign(saying(() => ({ $ref: '#/$defs/A', $defs: { A: null } }))), {})
		assert.equal(schemaOfForeign(saying(() => ({ $ref: '#/$defs/__proto__', $defs: { A: {} } }))), {})
	})

	test('that refer to their own parts do so under their own name', () => {
		const properties = { a: { type: 'string' }, b: { $ref: '#/properties/a' }, c: { $ref: '#/$defs/Self' } }
		const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const
		const said = { properties, $defs: { Self: { type: 'null' } } }
		const schema = { '~standard': { ...standard, jsonSchema: { input: () => said } } }
		assert.equal(schemaOfForeign(schema), {
			$ref: '#/$defs/Self_',
			$defs: {
				Self: { type: 'null' },
				Self_: { properties: { ...properties, b: { $ref: '#/$defs/Self_/properties/a' } } },
			},
		})
	})

	test('that are recursive are named by their title, where a reference can hold it', () => {
		const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const
		const called = (title: string) => {
			const input = () => ({ title, items: { $ref: '#' } })
			const schema = { '~standard': { ...standard, jsonSchema: { input } } }
			return schemaOfForeign(schema).$ref
		}
		assert.equal(['Tree', 'A/b', ''].map(called), ['#/$defs/Tree', '#/$defs/Self', '#/$defs/Self'])
	})

	test('that cannot be read accept nothing', () => {
		const unreadable = {
			get value(): unknown {
				throw new Error('not today')
			},
		}
		const schema = { '~standard': { version: 1, vendor: 'test', validate: () => unreadable } } as const
		assert.equal([acceptsValue(schema, undefined), hasDefault(schema)], [false, false])
	})

	test('that have an $id use their own name', () => {
		const tree = z.object({
			value: z.string(),
			get parts() {
				return z.array(tree)
			},
		})
		assert.equal(schemaOfForeign(tree), {
			$ref: '#/$defs/Self',
			$defs: {
				Self: {
					type: 'object',
					properties: {
						value: { type: 'string' },
						parts: { type: 'array', items: { $ref: '#/$defs/Self' } },
					},
					required: ['value', 'parts'],
				},
			},
		})
	})
})
