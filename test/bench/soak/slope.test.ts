/** The slope estimate: no slope is found in noise, and a leak is. */
import * as assert from 'uvu/assert'
import { seeded } from '../../../bench/random.ts'
import { median, type Point, slopeOf } from '../../../bench/soak/slope.ts'
import { describe } from '../../helpers/describe.ts'

/** 20 minutes of samples, with a noise of ± 200 around a line. */
function noisy(perMinute: number, seed: number): Point[] {
	const random = seeded(seed)
	return Array.from({ length: 108 }, (_, at) => {
		const x = 2 + at / 6
		return { x, y: 15_000 + perMinute * x + random(401) - 200 }
	})
}

describe('the Theil-Sen slope', (test) => {
	test('of collinear points is exact, with an interval of zero width', () => {
		const points = Array.from({ length: 8 }, (_, x) => ({ x, y: 3 + 2 * x }))
		assert.equal(slopeOf(points), { slope: 2, low: 2, high: 2, intercept: 3 })
	})

	test('of noise without a slope has 0 in its interval about 95 times out of 100', () => {
		const flat = Array.from({ length: 100 }, (_, seed) => slopeOf(noisy(0, seed + 1)))
		const holds = flat.filter(({ low, high }) => low <= 0 && high >= 0).length
		assert.ok(holds >= 90 && holds <= 99, `${holds} of 100`)
	})

	test('of a leak in noise is found each time: 20 a minute with noise of ± 200', () => {
		for (let seed = 1; seed <= 100; seed++) {
			const { slope, low } = slopeOf(noisy(20, seed))
			assert.ok(low > 0, `seed ${seed}: from ${low}`)
			assert.ok(slope > 12 && slope < 28, `seed ${seed}: ${slope}`)
		}
	})

	test('is not affected by outliers in a quarter of the points', () => {
		const points = noisy(0, 7).map(({ x, y }, at) => ({ x, y: at % 4 === 0 ? 1e9 : y }))
		const { slope, low, high } = slopeOf(points)
		assert.ok(Math.abs(slope) < 20, String(slope))
		assert.ok(low <= 0 && high >= 0)
	})

	test('of fewer than five points is refused', () => {
		const points = Array.from({ length: 4 }, (_, x) => ({ x, y: x }))
		assert.throws(() => slopeOf(points), /^a slope needs 5 points, got 4$/)
	})

	test('uses the mean of the middle two as median', () => {
		assert.is(median([1, 2, 9]), 2)
		assert.is(median([1, 2, 4, 9]), 3)
	})
})
