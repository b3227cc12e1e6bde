/**
 * `MemoryCache` when large: bounded memory, and no scan when full. Time limits are generous: a scan would take 100
 * times as long.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { CacheFull } from '../../lib/cache/cache.ts'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'
import { describe } from '../helpers/describe.ts'

const MEGABYTE = 1_000_000

describe('MemoryCache memory', (test) => {
	test('100,000 distinct keys leave at most max entries', () => {
		const before = heapUsed()
		let now = 0
		const cache = new MemoryCache({ max: 1_000, clock: () => now })
		for (let index = 0; index < 100_000; index++) {
			if (index % 3 === 0) cache.add(`add ${index}`, index, 1)
			else cache.set(`set ${index}`, index, 60 + (index % 7))
			now += 4
		}
		assert.is(cache.size, 1_000)
		assert.ok(heapUsed() - before < 5 * MEGABYTE)
		assert.is(cache.size, 1_000)
	})

	test('one key replaced 100,000 times is one entry', () => {
		const before = heapUsed()
		const cache = new MemoryCache({ max: 1_000 })
		for (let index = 0; index < 100_000; index++) cache.set('k', index, 3_600)
		assert.is(cache.size, 1)
		assert.ok(heapUsed() - before < 5 * MEGABYTE)
	})

	test('a key sliced from a long text does not retain the text', () => {
		const before = heapUsed()
		const cache = new MemoryCache({ max: 2_000 })
		for (let index = 0; index < 1_000; index++) {
			const header = Buffer.alloc(100_000, `${index} `).toString('latin1')
			cache.add(header.slice(10, 50) + index, 1, 60)
			cache.set(header.slice(0, 40), 1, 60)
		}
		assert.ok(heapUsed() - before < 20 * MEGABYTE)
	})
})

describe('MemoryCache with 100,000 kept entries of mixed times', (test) => {
	test('refuses 5,000 adds while all are live', () => {
		const { cache } = full()
		const time = timeOf(5_000, (index) => assert.throws(() => cache.add(`new ${index}`, 1, 60), isFull))
		assert.ok(time < 500, `${time} ms`)
	})

	test('accepts 5,000 adds when all have expired', () => {
		const { cache, pass } = full()
		pass(4_000_000)
		const time = timeOf(5_000, (index) => assert.is(cache.add(`new ${index}`, 1, 60), true))
		assert.ok(time < 500, `${time} ms`)
	})

	test('accepts 5,000 adds when one expires at a time', () => {
		const { cache, pass } = full()
		pass(1_000)
		const time = timeOf(5_000, (index) => {
			pass(100)
			assert.is(cache.add(`new ${index}`, 1, 3_600), true)
		})
		assert.ok(time < 500, `${time} ms`)
	})

	test('replaces one value, one counter and one lock 10,000 times', () => {
		const { cache } = full(3)
		const time = timeOf(10_000, (index) => {
			cache.set('value', index, 60)
			cache.increment('count', 60)
			cache.add('lock', 1, 60)
			cache.delete('lock')
		})
		assert.is(cache.get('count'), 10_000)
		assert.ok(time < 500, `${time} ms`)
	})
})

/** Entries expire after 1 to 3,600 s, in another order than they were added. */
function full(free = 0): { cache: MemoryCache; pass: (time: number) => void } {
	let now = 0
	// One purpose may fill 100,000 entries, besides the shares of others.
	const cache = new MemoryCache({ max: Math.ceil((100_000 * 64) / 49), clock: () => now })
	for (let index = free; index < 100_000; index++)
		cache.add(`k${index}`, 1, 1 + ((index * 7_919) % 36_000) / 10)
	return {
		cache,
		pass(time) {
			now += time
		},
	}
}

/** Processor time in milliseconds, unaffected by tests running in parallel. */
function timeOf(times: number, act: (index: number) => void): number {
	const start = process.cpuUsage()
	for (let index = 0; index < times; index++) act(index)
	const { user, system } = process.cpuUsage(start)
	return (user + system) / 1_000
}

function isFull(error: unknown): boolean {
	return error instanceof CacheFull
}

function heapUsed(): number {
	setFlagsFromString('--expose-gc')
	const collect = runInNewContext('gc') as () => void
	collect()
	return process.memoryUsage().heapUsed
}
