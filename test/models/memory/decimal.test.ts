/** Decimals of `MemoryModel`: one canonical form, and an exact order. */
import * as assert from 'uvu/assert'
import { compareDecimals, decimalOf, shortestDecimal } from '../../../lib/models/memory/stored.ts'
import { describe } from '../../helpers/describe.ts'

describe('decimalOf', (test) => {
	const table: readonly (readonly [text: string, decimal: string | undefined])[] = [
		['0', '0'],
		['-0', '0'],
		['-0.00', '0.00'],
		['1.50', '1.50'],
		['+1.50', '1.50'],
		['007.5', '7.5'],
		['.5', '0.5'],
		['5.', '5'],
		['-.5', '-0.5'],
		['1e3', '1000'],
		['1.25e1', '12.5'],
		['1.25E-3', '0.00125'],
		['-12e-1', '-1.2'],
		['1e1000', `1${'0'.repeat(1_000)}`],
		['99999999999999999999999999.0000000001', '99999999999999999999999999.0000000001'],
		...[
			'',
			'.',
			'-',
			'e1',
			'1e',
			'1e1001',
			'1e-1001',
			'1e99999999999',
			'0x10',
			'1 ',
			'1,5',
			'NaN',
			'Infinity',
			'１',
		].map((text) => [text, undefined] as const),
	]
	for (const [text, decimal] of table) {
		test(`${JSON.stringify(text)} is ${decimal?.slice(0, 40)}`, () => assert.is(decimalOf(text), decimal))
	}
})

describe('compareDecimals', (test) => {
	const ascending = [
		'-100',
		'-99.5',
		'-1',
		'-0.1',
		'-0.01',
		'0',
		'0.001',
		'0.01',
		'0.1',
		'1',
		'9',
		'9.5',
		'10',
		'100',
	]
	const close = ['0.30000000000000000', '0.30000000000000001', '9007199254740993', '9007199254740993.1']

	for (const sorted of [ascending, close]) {
		test(`${sorted[0]} to ${sorted.at(-1)} are in order`, () => {
			for (const [at, a] of sorted.entries()) {
				for (const [other, b] of sorted.entries()) {
					assert.is(Math.sign(compareDecimals(a, b)), Math.sign(at - other), `${a} and ${b}`)
				}
			}
		})
	}

	test('trailing zeros make no difference, and shortestDecimal removes them', () => {
		assert.is(compareDecimals('1.50', '1.5'), 0)
		assert.is(compareDecimals('-2', '-2.000'), 0)
		assert.equal(['1.50', '2.000', '100', '0.0', '-1.0'].map(shortestDecimal), ['1.5', '2', '100', '0', '-1'])
	})
})
