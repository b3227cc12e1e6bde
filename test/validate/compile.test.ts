/** Mistakes in specs: each is a TypeError that names the field, the rule, and what would be right. */
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { planSpec } from '../../lib/validate/compile.ts'
import { Draft } from '../../lib/validate/plan.ts'
import type { Spec } from '../../lib/validate/validator.ts'
import { describe } from '../helpers/describe.ts'

/** Says that compiling is a TypeError with exactly these words in it. */
function refuses(spec: unknown, ...words: string[]): void {
	assert.throws(
		() => planSpec(spec as Spec), // mistakes are what is tested
		(error: unknown) => {
			assert.instance(error, TypeError)
			for (const word of words) assert.match((error as TypeError).message, word)
			return true
		},
	)
}

describe('an invalid rule is refused:', (test) => {
	const cyclic = () => undefined
	const table: [string, unknown, ...string[]][] = [
		['a misspelt name', ['requird'], "'requird' is not a rule; rules are 'required', 'nullable', 'string'"],
		['a name of Object.prototype', ['constructor'], "'constructor' is not a rule"],
		['a number', [5], '5 is not a rule'],
		['null', [null], 'null is not a rule'],
		['undefined', [undefined], 'undefined is not a rule'],
		['an empty object', [{}], 'an object is not a rule', 'min, max, pattern, in, of, fields, default'],
		['a bare RegExp', [/x/], 'the RegExp /x/ is not a rule'],
		['an empty list in a list', [[]], 'an array is not a rule'],
		['a list in a list', [['string']], '0 is not a rule'],
		['an unknown key', [{ mni: 1 }], 'mni is not a rule', 'min, max'],
		['an unknown key beside a right one', [{ min: 1, mx: 2 }], 'mx is not a rule'],
		['min as text', [{ min: 'a' }], "min must be a finite number, got 'a'"],
		['max that is not finite', [{ max: Number.NaN }], 'max must be a finite number, got NaN'],
		['min undefined', [{ min: undefined }], 'min must be a finite number, got undefined'],
		['min above max', ['integer', { min: 3, max: 2 }], 'min 3 is more than max 2'],
		['min twice', [{ min: 1 }, { min: 2 }], 'min is given twice'],
		['half a character', ['string', { min: 0.5 }], 'whole numbers from 0 up, got 0.5'],
		['fewer than no items', ['array', { max: -1 }], 'whole numbers from 0 up, got -1'],
		['min of a boolean', ['boolean', { min: 1 }], 'min and max measure strings, numbers and arrays'],
		['max of an object', [{ fields: {}, max: 1 }], 'the list says object'],
		['pattern as text', [{ pattern: 'x' }], "pattern must be a RegExp, got 'x'"],
		['pattern with g', [{ pattern: /x/g }], 'must not have the flags g or y'],
		['pattern with y', [{ pattern: /x/y }], 'must not have the flags g or y'],
		['two patterns', [{ pattern: /x/ }, { pattern: /y/ }], 'pattern is given twice'],
		['pattern of a number', ['integer', { pattern: /x/ }], "'pattern' is for a value of kind string"],
		['in without values', [{ in: [] }], 'in must be an array of at least one value'],
		['in as text', [{ in: 'a' }], "got 'a'"],
		['in with null', [{ in: ['a', null] }], "add the rule 'nullable'"],
		['in with an object', [{ in: [{}] }], 'in holds strings, numbers and booleans, got an object'],
		['in of another kind', ['integer', { in: ['a'] }], "in holds 'a', which is never of kind integer"],
		['in of arrays', ['array', { in: ['a'] }], 'never of kind array'],
		['of as text', [{ of: 'string' }], "of must be a list of rules or a Standard Schema, got 'string'"],
		['of with a wrong rule', [{ of: ['sting'] }], "title.of: 'sting' is not a rule"],
		['of with a default', [{ of: [{ default: 1 }] }], "of can't have a default"],
		['of of a string', ['string', { of: [] }], "'of' is for a value of kind array, but the list says string"],
		['fields of an array', ['array', { fields: {} }], "'fields' is for a value of kind object"],
		['fields as a list', [{ fields: ['a'] }], 'fields are given as a plain object'],
		['fields as null', [{ fields: null }], 'fields are given as a plain object'],
		['fields with a wrong rule', [{ fields: { a: ['sting'] } }], "title.a: 'sting' is not a rule"],
		['default undefined', [{ default: undefined }], 'default must be a value or a function'],
		["a default that can't be cloned", [{ default: { cyclic } }], "default can't be cloned"],
		['a default of a required field', ['required', { default: 1 }], "drop 'required' or default"],
		[
			'two kinds',
			['string', 'integer'],
			"'integer' is for a value of kind integer, but the list says string",
		],
		['a format of a number', ['number', 'email'], "'email' is for a value of kind string"],
		['two formats', ['email', 'url'], "'email' and 'url' can't be combined"],
		['a schema in a list', [{ '~standard': {} }], 'a Standard Schema must replace the list'],
	]
	for (const [name, rules, ...words] of table) {
		test(name, () => refuses({ title: rules }, 'title', ...words))
	}
})

describe('an invalid spec is refused:', (test) => {
	test('a rule without its list', () => {
		refuses(
			{ title: 'required' },
			"title: expected true, false, a list of rules or a Standard Schema, got 'required'",
		)
	})
	test('a function instead of the list', () => refuses({ title: () => true }, 'got a function'))
	test('a field without a value', () => refuses({ title: undefined }, 'title', 'got undefined'))
	test('null, a number, text', () => {
		for (const spec of [null, 5, 'title', undefined]) refuses(spec, 'plain object')
	})
	test('names that are not strings', () =>
		refuses(['a', ['b']], 'a list of names holds strings, got an array'))
	test('an instance of a class', () => refuses(new Map(), 'plain object'))
	test('__proto__ as a name', () => refuses(['__proto__'], '__proto__ would change the prototype'))
	test('__proto__ as a computed key', () =>
		refuses({ ['__proto__']: true }, '__proto__ would change the prototype'))
	test('__proto__ as a literal, which sets the prototype', () => {
		refuses({ __proto__: ['required'] }, 'no field called __proto__')
	})
	test('__proto__ inside fields', () => refuses({ a: [{ fields: JSON.parse('{"__proto__":true}') }] }, 'a: '))
})

describe('a plan', (test) => {
	test('contains all that the rules say', () => {
		const pattern = /^[a-z]+$/
		const plan = planSpec({
			name: ['required', 'nullable', { min: 1, max: 9, pattern }],
			tags: [{ of: ['uuid'] }],
		})
		const [name, tags] = (plan.fields ?? []).map((field) => field.plan)
		assert.equal(
			plan.fields?.map((field) => field.name),
			['name', 'tags'],
		)
		const expected = Object.assign(new Draft(['required', 'nullable', { min: 1, max: 9, pattern }]), {
			required: true,
			nullable: true,
			kind: 'string',
			coerceTo: 'string',
			min: 1,
			max: 9,
			pattern,
			fastKind: 'string',
			fastMin: 1,
			fastMax: 9,
		})
		assert.equal(name, expected)
		assert.is(tags?.kind, 'array')
		assert.is(tags?.items?.format, 'uuid')
	})
	test('accepts a spec without prototype, or from another realm', () => {
		const bare: Spec = Object.assign(Object.create(null), { a: true })
		const foreign: Spec = runInNewContext('({ a: true })')
		for (const spec of [bare, foreign]) assert.is(planSpec(spec).fields?.length, 1)
	})
})
