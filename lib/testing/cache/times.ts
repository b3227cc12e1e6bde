/** The cache contract: entries expire exactly at the end of their time to live. */
import { strictEqual } from 'node:assert/strict'
import { type CacheTest, tests } from './fixture.ts'

export const TIME_TESTS: readonly CacheTest[] = tests({
	async 'a value of set is there to the last moment of its time, and then gone'({ cache, before, after }) {
		await cache.set('k', 'v', 0.6)
		await before(600)
		strictEqual(await cache.get('k'), 'v')
		await after(600)
		strictEqual(await cache.get('k'), undefined)
		strictEqual(await cache.delete('k'), false)
	},
	async 'a value of add is there to the last moment of its time, and then free'({ cache, before, after }) {
		await cache.add('k', 'v', 0.6)
		await before(600)
		strictEqual(await cache.get('k'), 'v')
		strictEqual(await cache.add('k', 'late', 0.6), false)
		await after(600)
		strictEqual(await cache.get('k'), undefined)
		strictEqual(await cache.add('k', 'new', 60), true)
		strictEqual(await cache.get('k'), 'new')
	},
	// 2.007 * 1000 is a little more than 2007 in floating point.
	async 'a time with a fraction ends at its millisecond'({ cache, before, after }) {
		await cache.set('k', 'v', 2.007)
		await before(2_007)
		strictEqual(await cache.get('k'), 'v')
		await after(2_007)
		strictEqual(await cache.get('k'), undefined)
	},
	// More milliseconds than setTimeout accepts, which would fire at once.
	async 'a time of ten years is not cut short'({ cache, after }) {
		await cache.set('set', 'v', 315_360_000)
		await cache.add('add', 'v', 315_360_000)
		await cache.increment('count', 315_360_000)
		await after(200)
		strictEqual(await cache.get('set'), 'v')
		strictEqual(await cache.get('add'), 'v')
		strictEqual(await cache.get('count'), 1)
	},
	async 'reading does not lengthen the time'({ cache, after }) {
		await cache.set('k', 'v', 0.6)
		await after(300)
		strictEqual(await cache.get('k'), 'v')
		await after(600)
		strictEqual(await cache.get('k'), undefined)
	},
	async 'set replaces the time that was there: a longer one'({ cache, after }) {
		await cache.set('k', 'old', 0.6)
		await cache.set('k', 'new', 60)
		await after(600)
		strictEqual(await cache.get('k'), 'new')
	},
	async 'set replaces the time that was there: a shorter one'({ cache, after }) {
		await cache.set('k', 'old', 60)
		await cache.set('k', 'new', 0.6)
		await after(600)
		strictEqual(await cache.get('k'), undefined)
	},
	async 'an add that was refused leaves value and time as they were'({ cache, after }) {
		await cache.add('k', 'first', 0.6)
		await after(300)
		strictEqual(await cache.add('k', 'second', 60), false)
		strictEqual(await cache.get('k'), 'first')
		await after(600)
		strictEqual(await cache.get('k'), undefined)
	},
})
