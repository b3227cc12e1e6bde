/** The built-in validator, rule by rule: accepted values, and the problems of others. */
import * as assert from 'uvu/assert'
import { validateList } from '../../lib/validate/validate.ts'
import type { Rule } from '../../lib/validate/validator.ts'
import { describe } from '../helpers/describe.ts'

/** `['code message', …]`, with the path in front where there is one; or the value. */
function told(value: unknown, rules: readonly Rule[], coerce = false): unknown {
	const result = validateList(value, rules, { coerce })
	if (result.ok) return { value: result.value }
	return result.problems.map(({ field, code, message }) => `${field}${field && ' '}${code}: ${message}`)
}

describe('validateList accepts', (test) => {
	const table: [unknown, readonly Rule[]][] = [
		[undefined, []],
		[undefined, ['string']],
		[5, []],
		['', ['required', 'string']],
		['x', ['string']],
		[null, ['nullable', 'integer']],
		[null, ['required', 'nullable', 'integer', { min: 3 }]],
		[1.5, ['number']],
		[-0, ['integer']],
		[Number.MAX_SAFE_INTEGER, ['integer']],
		[3, ['number', 'integer']],
		[false, ['boolean']],
		[[], ['array']],
		[[1, 'a', null], ['array']],
		[{}, ['object']],
		['a@b.c', ['string', 'email']],
		['abc', ['string', { min: 3, max: 3 }]],
		['👍👍👍', ['string', { min: 3, max: 3 }]],
		['', ['string', { min: 0, max: 0 }]],
		[3, ['number', { min: 3, max: 3 }]],
		[-2.5, ['number', { min: -3 }]],
		[
			[1, 2],
			['array', { min: 2, max: 2 }],
		],
		['ab', [{ min: 2, max: 2 }]],
		[2, [{ min: 2, max: 2 }]],
		[[1, 2], [{ min: 2, max: 2 }]],
		['ab', [{ pattern: /^ab$/ }]],
		['b', [{ in: ['a', 'b'] }]],
		[2, ['integer', { in: [1, 2] }]],
		[[1, 2], [{ of: ['integer'] }]],
		[[null], [{ of: ['nullable', 'integer'] }]],
		[{ a: 1 }, [{ fields: { a: ['integer'] } }]],
		['x', ['string', () => undefined, () => true]],
	]
	for (const [value, rules] of table) {
		test(`${JSON.stringify(value)} by ${JSON.stringify(rules)}`, () => {
			assert.equal(validateList(value, rules), { ok: true, value })
		})
	}
})

describe('validateList refuses', (test) => {
	const table: [unknown, readonly Rule[], string[]][] = [
		[undefined, ['required'], ['required: is required']],
		[null, ['required'], ['required: must not be null']],
		[null, ['string'], ['nullable: must not be null']],
		[5, ['string'], ['string: must be a string']],
		['5', ['number'], ['number: must be a number, not a text']],
		[Number.POSITIVE_INFINITY, ['number'], ['number: must be a number']],
		[Number.NaN, ['number'], ['number: must be a number']],
		[1.5, ['integer'], ['integer: must be a whole number, within 9007199254740991 of zero']],
		[2 ** 53, ['integer'], ['integer: must be a whole number, within 9007199254740991 of zero']],
		['1', ['integer'], ['integer: must be a whole number, not a text']],
		[0, ['boolean'], ['boolean: must be true or false']],
		['true', ['boolean'], ['boolean: must be true or false']],
		[{ length: 1 }, ['array'], ['array: must be an array']],
		[[], ['object'], ['object: must be an object']],
		['{}', ['object'], ['object: must be an object']],
		['x', ['email'], ['email: must be an email address']],
		[5, ['email'], ['string: must be a string']],
		['x', ['url'], ['url: must be an http or https URL']],
		['x', ['uuid'], ['uuid: must be a UUID']],
		['2026-02-30', ['date'], ['date: must be a date such as 2026-11-20']],
		['x', ['datetime'], ['datetime: must be a date and time with zone such as 2026-11-20T10:00:00Z']],
		['', ['string', { min: 1 }], ['min: must have at least 1 character']],
		['👍', ['string', { min: 2 }], ['min: must have at least 2 characters']],
		['👍👍👍', ['string', { max: 2 }], ['max: must have at most 2 characters']],
		['aaaaaaaaaa', ['string', { max: 1 }], ['max: must have at most 1 character']],
		[2.9, ['number', { min: 3 }], ['min: must be at least 3']],
		[3.1, ['number', { max: 3 }], ['max: must be at most 3']],
		[[], ['array', { min: 1 }], ['min: must have at least 1 item']],
		[[1, 2, 3], ['array', { max: 2 }], ['max: must have at most 2 items']],
		[true, [{ min: 1 }], ['min: must be a string, a number or an array']],
		[{}, [{ max: 1 }], ['max: must be a string, a number or an array']],
		[Number.NaN, [{ max: 1 }], ['max: must be a string, a number or an array']],
		[5, [{ pattern: /x/ }], ['string: must be a string']],
		['y', [{ pattern: /x/ }], ['pattern: does not have the required form']],
		['c', [{ in: ['a', 'b'] }], ['in: must be one of a, b']],
		['1', [{ in: [1, 2] }], ['in: must be one of 1, 2']],
		[5, ['string', { in: ['a'] }], ['string: must be a string']],
		['x', ['email', { min: 2 }], ['email: must be an email address', 'min: must have at least 2 characters']],
		['x', ['string', () => 'That is no word'], ['custom: That is no word']],
		['x', ['string', () => 'One', () => 'Two'], ['custom: One', 'custom: Two']],
		[[1, 'a', null], [{ of: ['string'] }], ['0 string: must be a string', '2 required: must not be null']],
		[[undefined], [{ of: ['string'] }], ['0 required: is required']],
		[
			{ a: { b: [1] } },
			[{ fields: { a: [{ fields: { b: [{ of: ['string'] }], c: true } }] } }],
			['a.b.0 string: must be a string', 'a.c required: is required'],
		],
	]
	for (const [value, rules, problems] of table) {
		test(`${JSON.stringify(value)} by ${JSON.stringify(rules)}`, () =>
			assert.equal(told(value, rules), problems))
	}

	test('a value that is not a choice, naming the first twenty', () => {
		const many = Array.from({ length: 23 }, (_, index) => index)
		assert.equal(told(-1, ['integer', { in: many }]), [
			`in: must be one of ${many.slice(0, 20).join(', ')} and 3 more`,
		])
	})

	test('a text that is too long, without trying its pattern', () => {
		const tried: string[] = []
		class Watched extends RegExp {
			override test(text: string): boolean {
				tried.push(text)
				return false
			}
		}
		const rules: Rule[] = ['string', { max: 2, pattern: new Watched('x') }]
		assert.equal(told('xxx', rules), ['max: must have at most 2 characters'])
		assert.equal(told('xx', rules), ['pattern: does not have the required form'])
		assert.equal(tried, ['xx'])
	})

	test('too many items, without checking any', () => {
		assert.equal(told(['a', 'b'], [{ max: 1, of: ['integer'] }]), ['max: must have at most 1 item'])
	})

	test('at most a hundred problems, however many there are', () => {
		const result = validateList(
			Array.from({ length: 5_000 }, () => 'x'),
			[{ of: ['integer'] }],
		)
		assert.is(result.ok, false)
		assert.is(result.ok ? 0 : result.problems.length, 100)
	})
})
