/** `MemoryCache`: the contract, and what goes beyond it (eviction order, bytes, speed). */

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { shown } from '../../lib/base/options.ts'
import { CacheFull } from '../../lib/cache/cache.ts'
import {
	type Expiring,
	ExpiryHeap,
	MemoryCache,
	type MemoryCacheOptions,
} from '../../lib/cache/memory-cache.ts'
import { cacheContract } from '../../lib/testing/index.ts'
import { describe } from '../helpers/describe.ts'

describe('MemoryCache: the contract', (test) => {
	const maxBytes = 1_048_576
	const cases = cacheContract((clock, max) => new MemoryCache({ max, maxBytes, clock }), { maxBytes })
	for (const { name, run } of cases) test(name, run)
})

describe('MemoryCache options', (test) => {
	test('an unknown option is refused', () => {
		const options = { max: 1, maxbytes: 1 }
		refused(options, 'MemoryCache has no option maxbytes: did you mean maxBytes?')
	})

	for (const max of [undefined, 0, -3, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 8_000_001, '10']) {
		test(`max ${String(max)} is refused`, () => {
			refused(
				{ max } as MemoryCacheOptions,
				`MemoryCache: max must be a whole number from 1 to 8000000, got ${shown(max)}`,
			)
		})
	}

	for (const maxBytes of [0, -1, Number.NaN, '10', null]) {
		test(`maxBytes ${String(maxBytes)} is refused`, () => {
			const message = `MemoryCache: maxBytes must be a number from 1 up, or Infinity, got ${shown(maxBytes)}`
			refused({ max: 1, maxBytes } as MemoryCacheOptions, message)
		})
	}

	test('without a clock it uses real time', () => {
		const cache = new MemoryCache({ max: 1 })
		cache.set('k', 1, 60)
		assert.is(cache.get('k'), 1)
	})
})

describe('MemoryCache evicts', (test) => {
	test('the value of set that was used least recently', () => {
		const cache = new MemoryCache({ max: 3 })
		for (const key of ['a', 'b', 'c']) cache.set(key, key, 60)
		cache.get('a')
		cache.set('b', 'again', 60)
		cache.set('d', 'd', 60)
		assert.equal(held(cache, 'abcd'), 'abd')
		cache.set('e', 'e', 60)
		assert.equal(held(cache, 'abcde'), 'bde')
	})

	test('expired entries before live ones, whatever their use', () => {
		const { cache, pass } = timed({ max: 3 })
		cache.set('live', 1, 60)
		cache.set('short', 1, 1)
		cache.add('nonce', 1, 1)
		pass(1_000)
		cache.set('new', 1, 60)
		cache.set('newer', 1, 60)
		assert.is(cache.get('live'), 1)
		assert.is(cache.size, 3)
	})

	test('nothing for an add of an existing key', () => {
		const cache = new MemoryCache({ max: 2 })
		cache.set('a', 1, 60)
		cache.set('b', 1, 60)
		cache.add('a', 2, 60)
		cache.set('c', 1, 60)
		assert.equal(held(cache, 'abc'), 'bc')
	})

	test('two expired entries with each write, so that memory shrinks without a full cache', () => {
		const { cache, pass } = timed({ max: 1_000 })
		for (let index = 0; index < 100; index++) cache.set(`old ${index}`, index, 1)
		pass(1_000)
		for (let index = 0; index < 20; index++) cache.set('new', index, 60)
		assert.is(cache.size, 61)
	})
})

describe('MemoryCache maxBytes', (test) => {
	// Key and text of `set('a', 'xyz', …)` are 6 UTF-16 units: 12 bytes.
	test('the least recently used values are evicted until the new one fits', () => {
		const cache = new MemoryCache({ max: 100, maxBytes: 36 })
		for (const key of ['a', 'b', 'c']) cache.set(key, 'xyz', 60)
		cache.get('a')
		cache.set('d', 'xyz-xyz', 60)
		assert.equal(held(cache, 'abcd'), 'ad')
	})

	test('a replaced value no longer counts', () => {
		const cache = new MemoryCache({ max: 100, maxBytes: 24 })
		for (let round = 0; round < 10; round++) cache.set('a', 'xyz', 60)
		cache.set('b', 'xyz', 60)
		assert.equal(held(cache, 'ab'), 'ab')
	})

	test('a value that could never fit is dropped with the one it replaces, and evicts no other', () => {
		const cache = new MemoryCache({ max: 100, maxBytes: 24 })
		cache.set('a', 'xyz', 60)
		cache.set('b', 'xyz', 60)
		cache.set('b', 'x'.repeat(100), 60)
		assert.equal(held(cache, 'ab'), 'a')
	})

	test('expired entries are evicted before live values', () => {
		const { cache, pass } = timed({ max: 100, maxBytes: 60 })
		cache.set('z', 'xyz', 60)
		for (const key of ['a', 'b', 'c', 'd']) cache.add(key, 'xyz', 1)
		pass(1_000)
		cache.add('e', 'x'.repeat(21), 60)
		assert.is(held(cache, 'zabcde'), 'ze')
		assert.is(cache.size, 2)
	})

	test('add and increment throw CacheFull that names maxBytes', () => {
		const cache = new MemoryCache({ max: 100, maxBytes: 24 })
		cache.add('a', 'xyz', 60)
		cache.add('b', 'xyz', 60)
		for (const write of [() => cache.add('c', 1, 60), () => cache.increment('d', 60)]) {
			assert.throws(
				write,
				(error: unknown) => error instanceof CacheFull && error.message.includes('raise maxBytes'),
			)
		}
		assert.equal(held(cache, 'abcd'), 'ab')
	})

	test('a longer text for an added key fits or changes nothing', () => {
		const { cache, pass } = timed({ max: 2, maxBytes: 24 })
		cache.add('a', 'xyz', 60)
		cache.add('b', 'xyz', 60)
		assert.throws(
			() => cache.set('a', 'longer', 600),
			(error: unknown) => error instanceof CacheFull && error.message.includes('raise maxBytes'),
		)
		assert.is(cache.get('a'), 'xyz')
		cache.set('a', 'x', 60)
		assert.is(cache.get('a'), 'x')
		pass(60_000)
		assert.equal(held(cache, 'ab'), '')
	})

	test('a counter without room for one more digit keeps its value', () => {
		const cache = new MemoryCache({ max: 100, maxBytes: 4 })
		for (let count = 1; count <= 9; count++) assert.is(cache.increment('k', 60), count)
		assert.throws(() => cache.increment('k', 60), /raise maxBytes/)
		assert.is(cache.get('k'), 9)
	})
})

function refused(options: MemoryCacheOptions, message: string): void {
	assert.throws(
		() => new MemoryCache(options),
		(error: unknown) => error instanceof Error && error.message === message,
	)
}

function timed(options: MemoryCacheOptions): { cache: MemoryCache; pass: (time: number) => void } {
	let now = 1_000
	const cache = new MemoryCache({ ...options, clock: () => now })
	return {
		cache,
		pass(time) {
			now += time
		},
	}
}

function held(cache: MemoryCache, keys: string): string {
	return [...keys].filter((key) => cache.get(key) !== undefined).join('')
}

describe('ExpiryHeap', (test) => {
	test('an empty heap has no soonest entry', () => {
		assert.is(new ExpiryHeap().soonest, undefined)
	})

	test('entries leave in the order of their expiry', () => {
		const heap = heapOf([5, 1, 4, 1, 3, Number.POSITIVE_INFINITY, 2])
		assert.equal(drained(heap), [1, 1, 2, 3, 4, 5, Number.POSITIVE_INFINITY])
	})

	test('removing any entries keeps the order of the others', () => {
		const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.option(fc.nat())), {
			maxLength: 200,
			size: 'max',
		})
		fc.assert(
			fc.property(operations, (steps) => {
				const heap = new ExpiryHeap<Expiring>()
				const held: Expiring[] = []
				for (const [expiresAt, index] of steps) {
					const gone = index === null ? undefined : held.splice(index % (held.length + 1), 1)[0]
					if (gone !== undefined) heap.remove(gone)
					const entry = { expiresAt, place: 0 }
					held.push(entry)
					heap.add(entry)
					assert.is(heap.soonest?.expiresAt, Math.min(...held.map((each) => each.expiresAt)))
				}
				assert.equal(
					drained(heap),
					held.map((each) => each.expiresAt).sort((a, b) => a - b),
				)
			}),
		)
	})
})

function heapOf(ends: readonly number[]): ExpiryHeap<Expiring> {
	const heap = new ExpiryHeap<Expiring>()
	for (const expiresAt of ends) heap.add({ expiresAt, place: 0 })
	return heap
}

function drained(heap: ExpiryHeap<Expiring>): number[] {
	const ends: number[] = []
	for (let soonest = heap.soonest; soonest !== undefined; soonest = heap.soonest) {
		ends.push(soonest.expiresAt)
		heap.remove(soonest)
	}
	return ends
}
