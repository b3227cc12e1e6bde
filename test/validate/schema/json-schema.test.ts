import * as assert from 'uvu/assert'
import {
	bothOf,
	type JsonSchema,
	neededBy,
	referenceOf,
	referencesIn,
} from '../../../lib/validate/schema/json-schema.ts'
import { describe } from '../../helpers/describe.ts'

describe('both of two schemas', (test) => {
	const table: [string, JsonSchema, JsonSchema, JsonSchema][] = [
		['nothing said is the other', {}, { type: 'string' }, { type: 'string' }],
		['the same twice', { type: 'string' }, { type: 'string' }, { type: 'string' }],
		[
			'types that both have',
			{ type: ['string', 'null'] },
			{ type: ['null', 'string', 'array'] },
			{ type: ['string', 'null'] },
		],
		['an integer is a number', { type: ['integer', 'null'] }, { type: 'number' }, { type: 'integer' }],
		['a number may be an integer', { type: ['number', 'string'] }, { type: 'integer' }, { type: 'integer' }],
		['narrower bounds', { minimum: 1, maximum: 9 }, { minimum: 0, maximum: 5 }, { minimum: 1, maximum: 5 }],
		['choices that both have', { enum: [1, 2, null] }, { enum: [2, null, 3] }, { enum: [2, null] }],
		[
			'what says nothing about the type goes',
			{ type: 'string', maxLength: 5 },
			{ type: ['string', 'number', 'array'], minLength: 1, minimum: 1, minItems: 1 },
			{ type: 'string', maxLength: 5, minLength: 1 },
		],
		['descriptions of both', { description: 'a' }, { description: 'b' }, { description: 'a. b' }],
		[
			'the default and the title of the second',
			{ title: 'A', default: 1 },
			{ title: 'B', default: 2 },
			{ title: 'B', default: 2 },
		],
		[
			'no type in common',
			{ type: 'string' },
			{ type: 'integer' },
			{ allOf: [{ type: 'string' }, { type: 'integer' }] },
		],
		['no choice in common', { enum: [1] }, { enum: [2] }, { allOf: [{ enum: [1] }, { enum: [2] }] }],
		[
			'the alternatives that may be of a type',
			{ anyOf: [{ type: 'number' }, { type: 'string', enum: ['NaN'] }, { type: 'null' }] },
			{ type: ['number', 'null'], minimum: 0 },
			{ anyOf: [{ type: 'number' }, { type: 'null' }], type: ['number', 'null'], minimum: 0 },
		],
		[
			'the only alternative of a type',
			{ anyOf: [{ type: 'number' }, { type: 'string', enum: ['NaN'] }] },
			{ type: 'number', minimum: 0 },
			{ type: 'number', minimum: 0 },
		],
		['words of others', { type: 'string' }, { constructor: 1 }, { type: 'string', constructor: 1 }],
		['two patterns', { pattern: 'a' }, { pattern: 'b' }, { allOf: [{ pattern: 'a' }, { pattern: 'b' }] }],
	]
	for (const [name, a, b, expected] of table) test(name, () => assert.equal(bothOf(a, b), expected))
})

describe('references', (test) => {
	const names = new Set(['Tag', 'a/b', '50%', 'ä', 'Tag/x~y'])
	const table: [string, ReturnType<typeof referenceOf>][] = [
		['#/$defs/Tag', { name: 'Tag', rest: '' }],
		['#/$defs/Tag/properties/id', { name: 'Tag', rest: '/properties/id' }],
		['#/$defs/a~1b', { name: 'a/b', rest: '' }],
		['#/$defs/a~1b/items', { name: 'a/b', rest: '/items' }],
		['#/$defs/a/b', { name: 'a/b', rest: '' }],
		['#/$defs/50%', { name: '50%', rest: '' }],
		['#/$defs/50%25', { name: '50%', rest: '' }],
		['#/$defs/%C3%A4', { name: 'ä', rest: '' }],
		['#/$defs/Tag~1x~0y', { name: 'Tag/x~y', rest: '' }],
		['#/$defs/None', undefined],
		['#/$defs/', undefined],
		['#/definitions/Tag', undefined],
		['#', undefined],
		['Tag', undefined],
	]
	for (const [ref, expected] of table) {
		test(`${ref} is ${expected?.name ?? 'none'}`, () =>
			assert.equal(
				referenceOf(ref, (name) => names.has(name)),
				expected,
			))
	}

	test('are found at any place; a property named $ref is not one', () => {
		const schema = { items: { $ref: 'a' }, anyOf: [{ $ref: 'b' }], properties: { $ref: { $ref: 'c' } } }
		assert.equal(referencesIn(schema), ['a', 'b', 'c'])
	})

	test('include what they refer to, and what that refers to, in cycles too', () => {
		const definitions = {
			A: { items: { $ref: '#/$defs/B' } },
			Alone: {},
			B: { items: { $ref: '#/$defs/A/items' } },
		}
		const { A, B } = definitions
		assert.equal(neededBy({ $ref: '#/$defs/B' }, definitions), { A, B })
		assert.equal(neededBy({ $ref: '#/$defs/None' }, definitions), {})
	})
})
