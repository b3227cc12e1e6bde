/** Shares of a cache: when one caller fills it, others still have room. */

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { CacheFull } from '../../lib/cache/cache.ts'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'
import { KeyTable, PURPOSES, sharedKey } from '../../lib/cache/shares.ts'
import { describe } from '../helpers/describe.ts'

/** A cache with a controlled clock. */
function cached(max: number, maxBytes = Number.POSITIVE_INFINITY) {
	const clock = { now: 0 }
	return { cache: new MemoryCache({ max, maxBytes, clock: () => clock.now }), clock }
}

/** Adds until it is full; returns the number added, and whose share was full. */
function flood(
	cache: MemoryCache,
	keyOf: (index: number) => string,
	value: string | number = 1,
	most = 1_000_000,
) {
	for (let count = 0; count < most; count++) {
		try {
			cache.add(keyOf(count), value, 60)
		} catch (error) {
			if (error instanceof CacheFull) return { count, scope: error.scope }
			throw error
		}
	}
	return { count: most, scope: undefined }
}

function isFull(error: unknown): boolean {
	return error instanceof CacheFull && error.scope === 'caller'
}

function nonces(keyid: string): (index: number) => string {
	return (index) => sharedKey('nonce', keyid, `n${index}`)
}

describe('cache shares', (test) => {
	test('one caller can use most of the cache, and is then refused without affecting others', () => {
		const { cache } = cached(10_000)
		const greedy = flood(cache, nonces('greedy'))
		assert.is(greedy.scope, 'caller')
		assert.ok(greedy.count > 5_000 && greedy.count < 6_000, String(greedy.count))
		assert.is(flood(cache, nonces('other'), 1, 1_000).count, 1_000)
		assert.throws(() => cache.add(nonces('greedy')(-1), 1, 60), /the caller's share of the cache is full/)
	})

	test('ten greedy callers leave a later one as much room as they have', () => {
		const { cache, clock } = cached(10_000)
		const counts = Array.from({ length: 10 }, () => 0)
		// All callers at once, for three times an entry's TTL.
		for (let round = 0; round < 6_000; round++) {
			clock.now += 30
			for (const at of counts.keys()) {
				try {
					cache.add(nonces(`greedy ${at}`)(round), 1, 60)
				} catch (error) {
					assert.ok(error instanceof CacheFull && error.scope === 'caller')
				}
			}
		}
		assert.is(flood(cache, nonces('late'), 1, 150).count, 150)
		clock.now += 30_000
		assert.is(flood(cache, (index) => nonces('late')(1_000 + index), 1, 500).count, 500)
	})

	for (const greedy of [...PURPOSES, 'application'] as const) {
		test(`filling the share of ${greedy} leaves room for everything else`, () => {
			const { cache } = cached(10_000)
			// Each entry has another caller: no share is full.
			const keyOf = (purpose: string) => (index: number) =>
				purpose === 'application' ? `mine ${index}` : `${purpose}:caller ${index}:key`
			assert.is(flood(cache, keyOf(greedy)).scope, 'purpose')
			for (const other of [...PURPOSES, 'application'].filter((one) => one !== greedy))
				assert.is(flood(cache, (index) => keyOf(other)(20_000 + index), 1, 100).count, 100, other)
			cache.set('value', 1, 60)
			assert.is(cache.get('value'), 1)
		})
	}

	test('all purposes together leave an eighth of the cache to values', () => {
		const { cache } = cached(8_000)
		let kept = 0
		for (let round = 0; round < 3; round++)
			for (const purpose of PURPOSES)
				kept += flood(cache, (index) => `${purpose}:caller ${round} ${index}:key`).count
		assert.ok(kept <= 7_000, String(kept))
		for (let index = 0; index < 1_000; index++) cache.set(`value ${index}`, index, 60)
		for (let index = 0; index < 1_000; index++) assert.is(cache.get(`value ${index}`), index)
	})

	test('bytes are shared in the same way as entries', () => {
		const { cache } = cached(1_000_000, 10_000_000)
		const answers = (user: string) => (index: number) => sharedKey('idempotency', user, `k${index}`)
		const greedy = flood(cache, answers('greedy'), 'x'.repeat(5_000))
		assert.is(greedy.scope, 'caller')
		assert.ok(greedy.count > 500 && greedy.count < 600, String(greedy.count))
		assert.is(flood(cache, answers('other'), 'x'.repeat(5_000), 50).count, 50)
		// A stored value may be replaced by a smaller one, and by a larger one up to the share.
		cache.set(answers('greedy')(0), 'x'.repeat(4_000), 60)
		assert.throws(() => cache.set(answers('greedy')(1), 'x'.repeat(1_000_000), 60), isFull)
		assert.is(String(cache.get(answers('greedy')(1))).length, 5_000)
	})

	test('names that differ in a colon have separate shares and keys', () => {
		const { cache } = cached(1_000)
		assert.is(flood(cache, nonces('acme:bob')).scope, 'caller')
		assert.is(flood(cache, nonces('acme.bob'), 1, 10).count, 10)
		assert.is(sharedKey('limit', 'acme:bob', 'rest'), 'limit:acme%3Abob:rest')
		const names = ['a:b', 'a.b', 'a%3Ab', 'a%3ab', 'a%253Ab', 'a%b', 'a%25b', 'a', ':', '%', '']
		assert.is(new Set(names.map((name) => sharedKey('limit', name, 'rest'))).size, names.length)
	})

	test("an existing counter can be incremented after its caller's share is full", () => {
		const { cache } = cached(1_000)
		const key = sharedKey('limit', 'ann', 'count')
		for (let count = 1; count < 10; count++) cache.increment(key, 60)
		assert.is(flood(cache, (index) => sharedKey('limit', 'ann', String(index))).scope, 'caller')
		for (let count = 10; count < 120; count++) assert.is(cache.increment(key, 60), count)
		assert.throws(() => cache.increment(sharedKey('limit', 'ann', 'new'), 60), isFull)
	})

	test('expired entries are cleared before a caller is refused', () => {
		const { cache, clock } = cached(1_000)
		const first = flood(cache, nonces('k1')).count
		clock.now = 60_001
		assert.is(flood(cache, (index) => nonces('k1')(10_000 + index)).count, first)
		assert.ok(cache.size < 1_000)
	})

	test("a caller's values evict their own once they fill an eighth, and never those of others", () => {
		const { cache } = cached(8_000)
		for (let index = 0; index < 4_000; index++) cache.set(`mine ${index}`, index, 60)
		for (let index = 0; index < 100; index++)
			cache.set(sharedKey('idempotency', 'bob', `${index}`), index, 60)
		for (let index = 0; index < 50_000; index++)
			cache.set(sharedKey('idempotency', 'ann', `${index}`), index, 60)
		assert.is(cache.size, 8_000)
		for (let index = 0; index < 4_000; index++) assert.is(cache.get(`mine ${index}`), index)
		for (let index = 0; index < 100; index++)
			assert.is(cache.get(sharedKey('idempotency', 'bob', `${index}`)), index)
		assert.is(cache.get(sharedKey('idempotency', 'ann', '49999')), 49_999)
		assert.is(cache.get(sharedKey('idempotency', 'ann', '40000')), undefined)
	})

	test("values of many callers leave the application's half of the cache", () => {
		const { cache } = cached(8_000)
		for (let index = 0; index < 4_000; index++) cache.set(`mine ${index}`, index, 60)
		for (let index = 0; index < 50_000; index++) cache.set(`idempotency:user ${index}:key`, index, 60)
		assert.is(cache.size, 8_000)
		for (let index = 0; index < 4_000; index++) assert.is(cache.get(`mine ${index}`), index)
		// The least recently used of their values have been evicted.
		assert.is(cache.get('idempotency:user 49999:key'), 49_999)
		assert.is(cache.get('idempotency:user 45000:key'), undefined)
	})

	test('a small cache is not divided', () => {
		const { cache } = cached(999)
		assert.equal(flood(cache, nonces('k1')), { count: 999, scope: 'cache' })
	})

	test('a key without a caller belongs to the application', () => {
		const { cache } = cached(1_000)
		assert.is(flood(cache, (index) => `nonce:${index}`).scope, 'purpose')
		assert.is(flood(cache, nonces('k1'), 1, 50).count, 50)
	})

	test('shares of callers without entries take no memory', () => {
		const { cache, clock } = cached(2_000)
		for (let index = 0; index < 100_000; index++) {
			clock.now += 1_000
			cache.add(`nonce:caller ${index}:n`, 1, 60)
			cache.set(`idempotency:caller ${index}:n`, 1, 60)
		}
		assert.ok(cache.size < 200, String(cache.size))
	})
})

describe('KeyTable', (test) => {
	test('a deleted key reads as undefined and is not counted', () => {
		const table = new KeyTable<number>()
		table.set('a', 1)
		table.set('b', 2)
		table.delete('a')
		assert.is(table.get('a'), undefined)
		assert.is(table.size, 1)
	})

	test('a deleted key that is set again has its new entry and is counted once', () => {
		const table = new KeyTable<number>()
		table.set('a', 1)
		table.delete('a')
		table.set('a', 2)
		table.set('a', 3)
		assert.is(table.get('a'), 3)
		assert.is(table.size, 1)
	})

	test('it behaves like a Map after any sequence of operations', () => {
		const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 150 }), fc.boolean()), {
			maxLength: 1_000,
			size: 'max',
		})
		fc.assert(
			fc.property(steps, (all) => {
				const table = new KeyTable<number>()
				const map = new Map<string, number>()
				for (const [index, [number, stays]] of all.entries()) {
					const key = `k${number}`
					if (map.delete(key)) table.delete(key)
					if (stays) {
						table.set(key, index)
						map.set(key, index)
					}
					assert.is(table.size, map.size)
				}
				for (let number = 0; number <= 150; number++)
					assert.is(table.get(`k${number}`), map.get(`k${number}`))
			}),
		)
	})

	test('a key deleted and set 60,000 times in a table of 100,000 is found as fast as any other', () => {
		const table = new KeyTable<number>()
		for (let index = 0; index < 100_000; index++) table.set(`k${index}`, index)
		const start = process.cpuUsage()
		for (let round = 0; round < 60_000; round++) {
			table.set('lock', round)
			table.delete('lock')
		}
		// Microseconds of processor time. With a plain Map: 4 to 8 seconds.
		assert.ok(process.cpuUsage(start).user < 1_500_000)
	})
})
