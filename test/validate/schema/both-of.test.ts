import * as assert from 'uvu/assert'
import { bothOf } from '../../../lib/validate/schema/both-of.ts'
import type { JsonSchema } from '../../../lib/validate/schema/json-schema.ts'
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
