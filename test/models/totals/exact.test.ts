import * as assert from 'uvu/assert'
import { added, averageOf, compareExact, exactOf, exactText, ZERO } from '../../../lib/models/totals/exact.ts'
import { describe } from '../../helpers/describe.ts'

const sumOf = (...texts: string[]) => texts.map(exactOf).reduce(added, ZERO)

describe('models/totals/exact', (test) => {
	test('sums keep all digits, and as many after the point as the longest', () => {
		const cases: readonly (readonly [texts: string[], sum: string])[] = [
			[[], '0'],
			[['0.1', '0.2'], '0.3'],
			[['1.50', '2.5'], '4.00'],
			[['-0.01', '0.01'], '0.00'],
			[['-0.5'], '-0.5'],
			[['99999999999999999999.99', '0.01'], '100000000000000000000.00'],
			[['-3', '2.995'], '-0.005'],
		]
		for (const [texts, sum] of cases) assert.is(exactText(sumOf(...texts)), sum, texts.join())
	})

	test('averages have six more digits, and are rounded half away from zero', () => {
		const cases: readonly (readonly [sum: string, count: bigint, average: string])[] = [
			['2', 3n, '0.666667'],
			['-2', 3n, '-0.666667'],
			['1', 3n, '0.333333'],
			['10.00', 4n, '2.50000000'],
			['1', 64n, '0.015625'],
			['0.000001', 2n, '0.000000500000'],
			['3', 2_000_000n, '0.000002'],
			['-3', 2_000_000n, '-0.000002'],
			['2.999999', 2_000_000n, '0.000001500000'],
			['0', 5n, '0.000000'],
		]
		for (const [sum, count, average] of cases)
			assert.is(exactText(averageOf(exactOf(sum), count)), average, `${sum} / ${count}`)
	})

	test('numbers are compared by their value', () => {
		const sorted = ['-10', '-9.5', '-0.001', '0', '0.10', '2', '10.5', '99999999999999999999']
		for (const [at, one] of sorted.entries())
			for (const [place, other] of sorted.entries())
				assert.is(compareExact(exactOf(one), exactOf(other)), Math.sign(at - place), `${one} ${other}`)
		assert.is(compareExact(exactOf('1.50'), exactOf('1.5')), 0)
	})
})
