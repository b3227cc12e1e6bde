import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { decodeForm, decodeQuery, Fields, MAX_PAIRS, reservedName } from '../../../lib/request/body/form.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { describe } from '../../helpers/describe.ts'
import { milliseconds, refusalText, valueOrRefusal } from './refusal.ts'

function form(text: string): Record<string, string> {
	return { ...decodeForm(Buffer.from(text)).last }
}

const names = fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__')
const values = fc.string({ unit: 'grapheme' })

describe('body/form: values', (test) => {
	const table: [string, Record<string, string>][] = [
		['', {}],
		['a=1', { a: '1' }],
		['a=1&b=two', { a: '1', b: 'two' }],
		['a=1&a=2', { a: '2' }],
		['a', { a: '' }],
		['a=', { a: '' }],
		['=a', { '': 'a' }],
		['&&a=1&&', { a: '1' }],
		['a=1=2', { a: '1=2' }],
		['a=x+y&b%20c=%2B', { a: 'x y', 'b c': '+' }],
		['a=%C3%A9%F0%9F%8C%B1&%61=%00', { a: '\0' }],
		['a[]=1&b[c]=2&d.e=3', { 'a[]': '1', 'b[c]': '2', 'd.e': '3' }],
		['constructor=1&toString=2', { constructor: '1', toString: '2' }],
		['a=1;b=2', { a: '1;b=2' }],
		['a=%26%3D%25', { a: '&=%' }],
	]
	for (const [text, expected] of table) {
		test(`${text || 'nothing'} is decoded, as a form and as a query`, () => {
			assert.is(JSON.stringify(form(text)), JSON.stringify(expected))
			assert.is(JSON.stringify(decodeQuery(text).last), JSON.stringify(expected))
		})
	}

	test('unescaped UTF-8 is accepted in a form', () => assert.equal(form('é=漢'), { é: '漢' }))

	test('all values of a name are kept', () =>
		assert.equal(decodeQuery('a=1&b=2&%61=+3').all('a'), ['1', ' 3']))

	test('the output of URLSearchParams is read back', () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(names, values), { maxLength: 20 }), (pairs) => {
				const text = new URLSearchParams(pairs).toString()
				for (const fields of [decodeForm(Buffer.from(text)), decodeQuery(text)]) {
					for (const [name] of pairs) {
						const expected = pairs.filter((pair) => pair[0] === name).map((pair) => pair[1])
						assert.equal(fields.all(name), expected)
					}
				}
			}),
		)
	})
})

describe('body/form: refusals', (test) => {
	const percent = 'has a % without two hexadecimal digits: write a percent sign as %25'
	const table: [string, string][] = [
		['a=%', `400 Query parameter 1 ${percent}`],
		['a=1&b=50%', `400 Query parameter 2 ${percent}`],
		['a=1&&%zz=1', `400 Query parameter 2 ${percent}`],
		['a=%4', `400 Query parameter 1 ${percent}`],
		['a=%u00e9', `400 Query parameter 1 ${percent}`],
		['a=%E9', '400 Query parameter 1 has escapes that are not UTF-8'],
		['a=%C0%AF', '400 Query parameter 1 has escapes that are not UTF-8'],
		['a=%ED%A0%80', '400 Query parameter 1 has escapes that are not UTF-8'],
		['a=1&__proto__=x', '400 Query parameter 2 is named __proto__, which is reserved'],
		['%5F_proto__=x', '400 Query parameter 1 is named __proto__, which is reserved'],
		['__proto__', '400 Query parameter 1 is named __proto__, which is reserved'],
	]
	for (const [text, expected] of table) {
		test(`${text} is refused, as a query and as a form`, () => {
			assert.is(
				refusalText(() => decodeQuery(text)),
				expected,
			)
			assert.is(
				refusalText(() => form(text)),
				expected.replace('Query parameter', 'Form field'),
			)
		})
	}

	for (const text of ['q=é', 'q=\u00c3\u00a9', 'q=\n', 'q=\x7f', 'q=漢']) {
		test(`a query of ${JSON.stringify(text)} is refused, as it was not encoded`, () => {
			const expected = '400 The query has characters beyond ASCII, or controls: percent-encode them'
			assert.is(
				refusalText(() => decodeQuery(text)),
				expected,
			)
		})
	}

	test('a form that is not UTF-8 is refused', () => {
		assert.is(
			refusalText(() => decodeForm(Buffer.from([0x61, 0x3d, 0xe9]))),
			'400 The form is not UTF-8 at byte 2',
		)
	})

	test('1,000 pairs are accepted, one more is not', () => {
		const full = 'a=1&'.repeat(MAX_PAIRS)
		assert.is(decodeQuery(full).all('a').length, 1_000)
		assert.is(decodeForm(Buffer.from(full)).all('a').length, 1_000)
		const query = refusalText(() => decodeQuery(`${full}b`))
		assert.is(query, '400 The query has more than 1000 pairs of name and value')
		assert.is(
			refusalText(() => form(`${full}b`)),
			'413 The form has more than 1000 pairs of name and value',
		)
	})

	test('any text is fields or a refusal', () => {
		fc.assert(
			fc.property(fc.uint8Array(), (bytes) => void valueOrRefusal(() => decodeForm(Buffer.from(bytes)))),
		)
		const text = fc.array(
			fc.constantFrom('%', '%41', '%C3', '%A9', '+', '&', '=', 'a', '__proto__', '[', ';'),
		)
		fc.assert(fc.property(text, (pieces) => void valueOrRefusal(() => decodeQuery(pieces.join('')))))
		fc.assert(
			fc.property(fc.string({ unit: CODE_POINT }), (query) => void valueOrRefusal(() => decodeQuery(query))),
		)
	})

	for (const [name, text] of [
		['ampersands', '&'.repeat(1_000_000)],
		['names', `${'a&'.repeat(999)}${'a'.repeat(1_000_000)}`],
		['pluses', '+'.repeat(1_000_000)],
		['escapes', '%41'.repeat(333_333)],
		['equals signs', '='.repeat(1_000_000)],
	] as const) {
		test(`a megabyte of ${name} takes linear time`, () => {
			assert.ok(milliseconds(() => decodeForm(Buffer.from(text))) < 1_000)
		})
	}
})

function fieldsOf(...pairs: [string, string][]): Fields {
	const fields = new Fields()
	for (const [name, value] of pairs) fields.add(name, value)
	return fields
}

describe('body/form: Fields', (test) => {
	const fields = fieldsOf(['a', '1'], ['b', ''], ['a', '2'], ['c', 'x'], ['a', '3'], ['b', 'y'], ['', 'z'])

	test('of repeated names the last wins', () => {
		assert.equal({ ...fields.last }, { a: '3', b: 'y', c: 'x', '': 'z' })
	})

	for (const [name, values] of [
		['a', ['1', '2', '3']],
		['b', ['', 'y']],
		['c', ['x']],
		['', ['z']],
		['missing', []],
		['toString', []],
	] as const) {
		test(`all('${name}') is every value in order`, () => assert.equal(fields.all(name), values))
	}

	test('the last values have no prototype', () => assert.is(Object.getPrototypeOf(fields.last), null))

	test('the result of all() belongs to the caller', () => {
		fields.all('a').push('4')
		assert.equal(fields.all('a'), ['1', '2', '3'])
	})

	test('names of Object.prototype are ordinary names', () => {
		const odd = fieldsOf(['constructor', '1'], ['hasOwnProperty', '2'], ['constructor', '3'])
		assert.is(odd.last.hasOwnProperty, '2')
		assert.equal(odd.all('constructor'), ['1', '3'])
	})

	test('the refusal of __proto__ says where it was', () => {
		const { status, message } = reservedName('Part 3')
		assert.is(`${status} ${message}`, '400 Part 3 is named __proto__, which is reserved')
	})
})
