/** Defaults, custom checks, nested objects, and coercion of text. */
import * as assert from 'uvu/assert'
import { fromText } from '../../lib/validate/check.ts'
import { ruleValidator, validateList } from '../../lib/validate/validate.ts'
import type { Kind, Rule } from '../../lib/validate/validator.ts'
import { describe } from '../helpers/describe.ts'

/** `['code message', …]`, with the path in front where there is one; or the value. */
function told(value: unknown, rules: readonly Rule[], coerce = false): unknown {
	const result = validateList(value, rules, { coerce })
	if (result.ok) return { value: result.value }
	return result.problems.map(({ field, code, message }) => `${field}${field && ' '}${code}: ${message}`)
}

describe('check', (test) => {
	test('uses the default only for an absent value', () => {
		assert.equal(told(undefined, ['integer', { default: 5 }]), { value: 5 })
		assert.equal(told(undefined, ['integer', { default: null }]), { value: null })
		assert.equal(told(0, ['integer', { default: 5 }]), { value: 0 })
		assert.equal(told(null, ['integer', { default: 5 }]), ['nullable: must not be null'])
	})

	test('calls a default that is a function each time', () => {
		let made = 0
		const rules = ['integer', { default: () => ++made }] as const
		assert.equal(validateList(undefined, rules), { ok: true, value: 1 })
		assert.equal(validateList(7, rules), { ok: true, value: 7 })
		assert.equal(validateList(undefined, rules), { ok: true, value: 2 })
	})

	test('gives each absent value its own default array', () => {
		const rules = ['array', { default: ['a'] }] as const
		const first = validateList(undefined, rules)
		assert.ok(first.ok && Array.isArray(first.value))
		first.value.push('b')
		assert.equal(validateList(undefined, rules), { ok: true, value: ['a'] })
	})

	test('runs a check only when every other rule holds, never for null or absent values', () => {
		const seen: unknown[] = []
		const rules: Rule[] = ['nullable', 'string', { max: 3, in: ['a'] }, (value) => void seen.push(value)]
		for (const value of [5, 'long', 'b', null, undefined, 'a']) validateList(value, rules)
		assert.equal(seen, ['a'])
	})

	for (const [name, wrong] of [
		['false', () => false],
		['null', () => null],
		['a number', () => 1],
		['a promise', async () => true],
		['a promise that is rejected', () => Promise.reject(new Error('late'))],
	] as const) {
		test(`a check that returns ${name} is a TypeError`, () => {
			const check = wrong as unknown as () => undefined // the compiler would refuse it
			assert.throws(
				() => validateList('x', [check]),
				(error: unknown) =>
					error instanceof TypeError && /a check returns true, undefined or a message/.test(error.message),
			)
		})
	}

	test('drops unnamed fields of a nested object', () => {
		assert.equal(told({ a: 1, b: 2 }, [{ fields: { a: true } }]), { value: { a: 1 } })
	})

	test('keeps an object without fields unchanged', () => {
		const value = { a: 1 }
		const result = validateList(value, ['object'])
		assert.is(result.ok && result.value, value)
	})

	test('coerces text only with the option', () => {
		assert.equal(told('12', ['integer'], true), { value: 12 })
		assert.equal(told('12', ['integer'], false), ['integer: must be a whole number, not a text'])
		assert.equal(ruleValidator.validateList('1', ['boolean'], { coerce: true }), { ok: true, value: true })
	})

	const coerced: [unknown, readonly Rule[], unknown][] = [
		['1.5', ['number'], { value: 1.5 }],
		['1e400', ['number'], ['number: must be a number']],
		['9007199254740993', ['integer'], ['integer: must be a whole number, within 9007199254740991 of zero']],
		['on', ['boolean'], { value: true }],
		['a', ['array'], { value: ['a'] }],
		[['1', '2'], [{ of: ['integer'] }], { value: [1, 2] }],
		['3', [{ of: ['integer'] }], { value: [3] }],
		[
			['1', 'x'],
			[{ of: ['integer'] }],
			['1 integer: must be a whole number, within 9007199254740991 of zero'],
		],
		[['1', '2'], ['integer'], { value: 2 }],
		['2', [{ in: [1, 2] }], { value: 2 }],
		['true', [{ in: [true] }], { value: true }],
		['1', [{ in: ['1', 2] }], { value: '1' }],
		['12', [{ min: 2, max: 2 }], { value: '12' }],
		['', ['string'], { value: '' }],
		['', [], { value: '' }],
		['', ['required', 'string'], { value: '' }],
		['', ['integer'], { value: undefined }],
		['', ['email'], { value: undefined }],
		['', ['array'], { value: undefined }],
		['', [{ in: ['a'] }], { value: undefined }],
		['', [{ in: ['', 'a'] }], { value: '' }],
		['', ['integer', { default: 5 }], { value: 5 }],
		['', ['required', 'integer'], ['required: is required']],
	]
	for (const [value, rules, expected] of coerced) {
		test(`coerces ${JSON.stringify(value)} by ${JSON.stringify(rules)}`, () => {
			assert.equal(told(value, rules, true), expected)
		})
	}
})

describe('text of forms and query strings', (test) => {
	const table: [Kind | undefined, string, unknown][] = [
		['integer', '12', 12],
		['integer', '-3', -3],
		['integer', '0', 0],
		['integer', '-0', 0],
		['integer', '9007199254740993', 9007199254740992],
		['number', '1.5', 1.5],
		['number', '-0.25', -0.25],
		['number', '-0', 0],
		['number', '1e3', 1000],
		['number', '1e+21', 1e21],
		['number', '1E-7', 1e-7],
		['number', '1e400', Number.POSITIVE_INFINITY],
		['boolean', 'true', true],
		['boolean', '1', true],
		['boolean', 'on', true],
		['boolean', 'false', false],
		['boolean', '0', false],
		['array', 'a', ['a']],
		['string', '12', '12'],
		['object', '{}', '{}'],
		[undefined, '12', '12'],
	]
	for (const [kind, text, value] of table) {
		test(`${text} as ${kind} is ${JSON.stringify(value)}`, () => assert.equal(fromText(kind, text), value))
	}
	const refused: [Kind, string[]][] = [
		['integer', ['', ' 1', '1 ', '+1', '1.0', '1e3', '0x10', '007', '1_000', '1,000', '١', 'NaN', '1\n']],
		['number', ['', ' 1', '.5', '5.', '+1', '00.5', '0x1', '1e', 'Infinity', 'NaN', '1n', '1,5', '--1']],
		['boolean', ['', 'yes', 'off', 'no', '2', ' true', 'null']],
	]
	for (const [kind, texts] of refused) {
		for (const text of texts) {
			test(`${JSON.stringify(text)} is not a ${kind}, and stays text`, () =>
				assert.is(fromText(kind, text), text))
		}
	}
})
