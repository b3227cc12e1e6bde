/** Fixed and sliding windows, over a cache with a controlled clock. */
import * as assert from 'uvu/assert'
import { type Cache, MemoryCache } from '../../lib/index.ts'
import { countFixed, countSliding, type LimitResult, peekFixed } from '../../lib/limits/counters.ts'
import { compileLimit } from '../../lib/limits/rate-limit.ts'
import { describe } from '../helpers/describe.ts'
import { stopwatch } from '../helpers/stalls.ts'

/** One caller of a limit; `at` is in seconds. */
function caller(limit: number, windowSeconds: number, window: 'fixed' | 'sliding') {
	let now = 0
	const cache = new MemoryCache({ max: 10_000, clock: () => now })
	const compiled = compileLimit('a limit', 'get', { limit, windowSeconds, window }, '')
	const take = window === 'fixed' ? countFixed : countSliding
	const looked = async (second: number): Promise<LimitResult> =>
		peekFixed(cache, 'key', compiled, second * 1_000)
	const at = async (second: number): Promise<LimitResult> => {
		now = second * 1_000
		return take(cache, 'key', compiled, now)
	}
	const said = async (second: number): Promise<string> => {
		const { isAllowed, remaining, resetSeconds } = await at(second)
		return `${isAllowed ? 'yes' : 'no'} r=${remaining} t=${resetSeconds}`
	}
	return { cache, at, said, looked }
}

describe('limits/counters: fixed', (test) => {
	test('a window starts with the first request, and ends for all of its requests at once', async () => {
		const { said } = caller(3, 60, 'fixed')
		assert.is(await said(100), 'yes r=2 t=60')
		assert.is(await said(130), 'yes r=1 t=30')
		assert.is(await said(159.5), 'yes r=0 t=1')
		assert.is(await said(159.9), 'no r=0 t=1')
		assert.is(await said(160), 'yes r=2 t=60')
	})

	test('refused requests do not extend it', async () => {
		const { said } = caller(1, 10, 'fixed')
		await said(0)
		for (let second = 1; second < 10; second++) assert.is(await said(second), `no r=0 t=${10 - second}`)
		assert.is(await said(10), 'yes r=0 t=10')
	})

	test('when its end was evicted, the full length is reported', async () => {
		const { cache, said } = caller(5, 60, 'fixed')
		await said(0)
		cache.delete('key:end')
		assert.is(await said(30), 'yes r=3 t=60')
	})

	test("peeking counts nothing, and returns the next request's result", async () => {
		const { at, looked } = caller(2, 60, 'fixed')
		for (let round = 0; round < 3; round++)
			assert.equal(await looked(0), { isAllowed: true, remaining: 1, resetSeconds: 60 })
		await at(0)
		await at(1)
		assert.equal(await looked(20), { isAllowed: false, remaining: 0, resetSeconds: 40 })
	})

	test('when its end cannot be stored, the count holds', async () => {
		const { cache, said } = caller(1, 60, 'fixed')
		cache.set = fails
		assert.is(await said(0), 'yes r=0 t=60')
		assert.is(await said(10), 'no r=0 t=60')
	})

	test('an end in the past, or too far ahead, is reported within the window', async () => {
		const { cache, said } = caller(3, 60, 'fixed')
		await said(100)
		cache.set('key:end', 1, 60)
		assert.is(await said(101), 'yes r=1 t=1')
		cache.set('key:end', 1e15, 60)
		assert.is(await said(102), 'yes r=0 t=60')
	})

	test('an invalid count from the cache is an error, not a refusal', async () => {
		const limit = compileLimit('a limit', 'get', { limit: 5, windowSeconds: 60 }, '')
		for (const nonsense of [undefined, null, Number.NaN, -5, 0, 1.5, 'x']) {
			const cache = new MemoryCache({ max: 10 })
			cache.increment = (() => nonsense) as Cache['increment'] as typeof cache.increment
			await rejects(countFixed(cache, 'key', limit, 0), String(nonsense))
		}
	})

	test('of 1,000 concurrent requests exactly the limit is served', async () => {
		const { at } = caller(100, 60, 'fixed')
		const taken = await Promise.all(Array.from({ length: 1_000 }, () => at(0)))
		assert.is(taken.filter(({ isAllowed }) => isAllowed).length, 100)
	})
})

describe('limits/counters: sliding', (test) => {
	test("each request's slot is free again after its own time", async () => {
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

	test('of 1,000 concurrent requests exactly the limit is served, and the rest are refused without a search', async () => {
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

	test("no span of the window's length has more than the limit, even when the hint is lost", async () => {
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

	for (const [what, timeOf] of [
		['in whole milliseconds, as the time of day is', (now: number) => Math.floor(now)],
		['that jumps by up to 5 ms', (now: number) => now + ((now * 7) % 5)],
	] as const)
		test(`a constant caller is served as often as the limit allows, by a clock ${what}`, async () => {
			let now = 0
			const cache = new MemoryCache({ max: 1_000, clock: () => now })
			const limit = compileLimit('a limit', 'get', { limit: 20, windowSeconds: 1, window: 'sliding' }, '')
			let gets = 0
			const { get } = cache
			cache.get = (key) => {
				gets++
				return get.call(cache, key)
			}
			const served: number[] = []
			let asked = 0
			// Ten windows.
			for (; now < 10_000; now += 1.3) {
				asked++
				if ((await countSliding(cache, 'key', limit, timeOf(now))).isAllowed) served.push(now)
			}
			for (const from of served)
				assert.ok(served.filter((at) => at >= from && at < from + 1_000).length <= 20, `from ${from}`)
			assert.ok(served.length >= 190, `${served.length} of 200`)
			// All slots are searched now and then, not for each request.
			assert.ok(gets < asked + 4 * served.length, `${gets} reads for ${asked} requests`)
		})

	test('a constant caller of four processes is served as often as the limit allows', async () => {
		let now = 0
		const cache = new MemoryCache({ max: 1_000, clock: () => now })
		const limit = compileLimit('a limit', 'get', { limit: 20, windowSeconds: 1, window: 'sliding' }, '')
		// Each waits for the cache after the others, and has a clock of its own.
		const later = async <T>(work: () => T): Promise<T> => {
			await null
			return work()
		}
		const processes = [0, 1, 2, 3].map((number) => {
			const keyOf = (key: string) => key.slice(String(number).length)
			const own: Cache = {
				get: (key) => later(() => cache.get(keyOf(key))),
				set: (key, value, time) => later(() => cache.set(keyOf(key), value, time)),
				delete: (key) => later(() => cache.delete(keyOf(key))),
				add: (key, value, time) => later(() => cache.add(keyOf(key), value, time)),
				increment: (key, time) => later(() => cache.increment(keyOf(key), time)),
			}
			return () => countSliding(own, `${number}key`, limit, Math.floor(now + number * 3))
		})
		const served: number[] = []
		for (; now < 10_000; now += 3.7)
			for (const { isAllowed } of await Promise.all(processes.map((ask) => ask())))
				if (isAllowed) served.push(now)
		for (const from of served)
			assert.ok(served.filter((at) => at >= from && at < from + 1_000).length <= 20, `from ${from}`)
		assert.ok(served.length >= 190, `${served.length} of 200`)
	})

	test('the slot after the last one is tried first, which saves a search', async () => {
		const { cache, at } = caller(50, 10, 'sliding')
		let asked = 0
		const { add, get } = cache
		cache.add = (...given) => {
			asked++
			return add.apply(cache, given)
		}
		cache.get = (key) => {
			asked++
			return get.call(cache, key)
		}
		// Three windows: each request costs a look at the hint and one slot.
		for (let request = 0; request < 150; request++) assert.is((await at(request * 0.201)).isAllowed, true)
		assert.is(asked, 300)
	})

	test('when no hint can be stored the limit holds, and requests with room are served', async () => {
		const { cache, at } = caller(5, 10, 'sliding')
		cache.set = fails
		const served: boolean[] = []
		for (let second = 0; second < 20; second++) served.push((await at(second)).isAllowed)
		assert.is(served.filter(Boolean).length, 10)
	})

	test('a clock ahead by more than the window searches once a second, not on each call', async () => {
		let now = 0
		const cache = new MemoryCache({ max: 1_000, clock: () => now })
		const limit = compileLimit('a limit', 'get', { limit: 50, windowSeconds: 1, window: 'sliding' }, '')
		for (let taken = 0; taken < 50; taken++) await countSliding(cache, 'key', limit, 0)
		let asked = 0
		const { get } = cache
		cache.get = (key) => {
			asked++
			return get.call(cache, key)
		}
		now = 1
		const ahead = 1_500
		assert.is((await countSliding(cache, 'key', limit, ahead)).isAllowed, false)
		assert.ok(asked > 50)
		asked = 0
		for (let more = 0; more < 10; more++)
			assert.is((await countSliding(cache, 'key', limit, ahead)).isAllowed, false)
		assert.is(asked, 10)
	})

	test('a hanging cache call delays its caller for a second, and no others', async () => {
		const cache = new MemoryCache({ max: 100 })
		const limit = compileLimit('a limit', 'get', { limit: 5, windowSeconds: 60, window: 'sliding' }, '')
		const { get } = cache
		cache.get = () => new Promise(() => {}) as never
		void countSliding(cache, 'hanging', limit, 0)
		cache.get = get
		const took = stopwatch()
		assert.is((await countSliding(cache, 'other', limit, 0)).isAllowed, true)
		assert.ok(took() < 500)
		const wholly = stopwatch()
		assert.is((await countSliding(cache, 'hanging', limit, 0)).isAllowed, true)
		assert.ok(wholly() < 3_000)
	})

	test('an invalid hint counts as none', async () => {
		for (const nonsense of [
			'x',
			5,
			null,
			[],
			{},
			{ next: 'a', ends: 1 },
			{ next: 1, ends: ['a', null] },
			{ next: -1, ends: [] },
			{ next: 0.5, ends: [] },
			{ next: 7, ends: [] },
		]) {
			const { cache, said } = caller(2, 60, 'sliding')
			cache.set('key:hint', nonsense, 60)
			assert.is(await said(0), 'yes r=1 t=60', JSON.stringify(nonsense))
			assert.is(await said(0), 'yes r=0 t=60')
			assert.is(await said(0), 'no r=0 t=60')
		}
	})
})

function fails(): never {
	throw new Error('the store is gone')
}

async function rejects(work: Promise<unknown>, what: string): Promise<void> {
	try {
		await work
	} catch (error) {
		assert.instance(error, TypeError, what)
		return
	}
	assert.unreachable(what)
}
