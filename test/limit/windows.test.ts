/** Both windows, over a cache whose clock the test turns. */
import * as assert from 'uvu/assert'
import { MemoryCache } from '../../lib/index.ts'
import { takeFixed } from '../../lib/limit/fixed-window.ts'
import { compileLimit, type Taken } from '../../lib/limit/rate-limit.ts'
import { takeSliding } from '../../lib/limit/sliding-window.ts'
import { describe } from '../helpers/describe.ts'

/** One caller of a limit; `at` is in seconds. */
function caller(limit: number, windowSeconds: number, window: 'fixed' | 'sliding') {
	let now = 0
	const cache = new MemoryCache({ max: 10_000, clock: () => now })
	const compiled = compileLimit('a limit', 'get', { limit, windowSeconds, window }, '')
	const take = window === 'fixed' ? takeFixed : takeSliding
	const at = async (second: number): Promise<Taken> => {
		now = second * 1_000
		return take(cache, 'key', compiled, now)
	}
	const said = async (second: number): Promise<string> => {
		const { isAllowed, remaining, resetSeconds } = await at(second)
		return `${isAllowed ? 'yes' : 'no'} r=${remaining} t=${resetSeconds}`
	}
	return { cache, at, said }
}

describe('limit/fixed-window', (test) => {
	test('a window begins with the first request, and ends for all of its requests at once', async () => {
		const { said } = caller(3, 60, 'fixed')
		assert.is(await said(100), 'yes r=2 t=60')
		assert.is(await said(130), 'yes r=1 t=30')
		assert.is(await said(159.5), 'yes r=0 t=1')
		assert.is(await said(159.9), 'no r=0 t=1')
		assert.is(await said(160), 'yes r=2 t=60')
	})

	test('refused requests move nothing', async () => {
		const { said } = caller(1, 10, 'fixed')
		await said(0)
		for (let second = 1; second < 10; second++) assert.is(await said(second), `no r=0 t=${10 - second}`)
		assert.is(await said(10), 'yes r=0 t=10')
	})

	test('where the end was forgotten, the whole length is told', async () => {
		const { cache, said } = caller(5, 60, 'fixed')
		await said(0)
		cache.delete('key:end')
		assert.is(await said(30), 'yes r=3 t=60')
	})

	test('of 1,000 at once the limit is served', async () => {
		const { at } = caller(100, 60, 'fixed')
		const taken = await Promise.all(Array.from({ length: 1_000 }, () => at(0)))
		assert.is(taken.filter(({ isAllowed }) => isAllowed).length, 100)
	})
})

describe('limit/sliding-window', (test) => {
	test('each request is free again when its own time is over', async () => {
		const { said } = caller(3, 60, 'sliding')
		assert.is(await said(0), 'yes r=2 t=60')
		assert.is(await said(30), 'yes r=1 t=30')
		assert.is(await said(59), 'yes r=0 t=1')
		assert.is(await said(59.5), 'no r=0 t=1')
		assert.is(await said(60), 'yes r=0 t=30')
		assert.is(await said(61), 'no r=0 t=29')
		assert.is(await said(90), 'yes r=0 t=29')
		assert.is(await said(200), 'yes r=2 t=60')
	})

	test('of 1,000 at once the limit is served, and what is left refuses without a search', async () => {
		const { cache, at } = caller(100, 60, 'sliding')
		const taken = await Promise.all(Array.from({ length: 1_000 }, () => at(0)))
		assert.is(taken.filter(({ isAllowed }) => isAllowed).length, 100)
		await at(0)
		let added = 0
		const { add } = cache
		cache.add = (...given) => {
			added++
			return add.apply(cache, given)
		}
		assert.equal(await at(1), { isAllowed: false, remaining: 0, resetSeconds: 59 })
		assert.is(added, 0)
	})

	test('in no span of the window, wherever it begins, are more served, also where the hint is lost', async () => {
		const { cache, at } = caller(5, 10, 'sliding')
		const served: number[] = []
		for (let step = 0; step < 600; step++) {
			const second = step / 10
			if (step % 7 === 0) cache.delete('key:hint')
			if ((await at(second)).isAllowed) served.push(second)
		}
		for (const from of served)
			assert.ok(served.filter((second) => second >= from && second < from + 10).length <= 5, `from ${from}`)
		// And it doesn't refuse more than it must: six windows of five.
		assert.is(served.length, 30)
	})

	test('a hint that is no hint is taken for none', async () => {
		for (const nonsense of ['x', 5, null, [], {}, { next: 'a', ends: 1 }, { next: 1, ends: ['a', null] }]) {
			const { cache, said } = caller(2, 60, 'sliding')
			cache.set('key:hint', nonsense, 60)
			assert.is(await said(0), 'yes r=1 t=60', JSON.stringify(nonsense))
			assert.is(await said(0), 'yes r=0 t=60')
			assert.is(await said(0), 'no r=0 t=60')
		}
	})
})
