/** The cache contract: what a full cache evicts, what it keeps, and callers' shares of it. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { Bytes } from '../../base/time.ts'
import { type Cache, CacheFull } from '../../cache/cache.ts'
import { sharedKey } from '../../cache/shares.ts'
import { type CacheTest, tests, testsFor } from './fixture.ts'

/** For a cache that holds at most `max` entries. */
export const ROOM_TESTS: readonly CacheTest[] = [
	...testsFor(4, {
		async 'add and increment throw CacheFull when no entry may be evicted'({ cache }) {
			await fill(cache, 2, 'add')
			await cache.increment('count 1', 60)
			await cache.increment('count 2', 60)
			await rejects(async () => cache.add('new', 1, 60), CacheFull)
			await rejects(async () => cache.increment('new', 60), CacheFull)
			strictEqual(await cache.get('new'), undefined)
			deepStrictEqual([await cache.get('add 0'), await cache.get('add 1')], [0, 1])
		},
		async 'values of set make room for add and increment'({ cache, max }) {
			await fill(cache, max, 'set')
			await fill(cache, max - 1, 'add')
			strictEqual(await cache.increment('count', 60), 1)
			await rejects(async () => cache.add('new', 1, 60), CacheFull)
		},
		async 'a flood of values never evicts what add and increment made'({ cache }) {
			await cache.add('nonce', true, 60)
			await cache.increment('count', 60)
			await fill(cache, 100, 'set')
			strictEqual(await cache.add('nonce', true, 60), false)
			strictEqual(await cache.increment('count', 60), 2)
		},
		async 'an entry of add is still kept after set has replaced its value'({ cache }) {
			await cache.add('pending', 'no answer yet', 60)
			await cache.set('pending', 'answer', 60)
			await fill(cache, 100, 'set')
			strictEqual(await cache.get('pending'), 'answer')
			strictEqual(await cache.add('pending', 'again', 60), false)
		},
		async 'a counter is still kept when it began as a value of set'({ cache }) {
			await cache.set('count', 5, 60)
			await cache.increment('count', 60)
			await fill(cache, 100, 'set')
			strictEqual(await cache.increment('count', 60), 7)
		},
	}),
	...testsFor(3, {
		async 'kept entries make room when they expire, in whatever order'({ cache, before, after }) {
			await cache.add('long', 1, 60)
			await cache.add('short', 1, 0.6)
			await cache.increment('count', 60)
			await before(600)
			await rejects(async () => cache.add('new', 1, 60), CacheFull)
			await after(600)
			strictEqual(await cache.add('new', 1, 60), true)
			await rejects(async () => cache.add('more', 1, 60), CacheFull)
			strictEqual(await cache.add('long', 1, 60), false)
		},
	}),
	...testsFor(2, {
		async 'a full cache still counts its counters and refuses the keys it holds'({ cache }) {
			await cache.add('add', 1, 60)
			await cache.increment('count', 60)
			strictEqual(await cache.add('add', 1, 60), false)
			strictEqual(await cache.add('count', 1, 60), false)
			for (const count of [2, 3, 11]) {
				if (count === 11) await cache.set('count', 10, 60)
				strictEqual(await cache.increment('count', 60), count)
			}
		},
		async 'a set without room stores nothing, and does not throw'({ cache, max }) {
			await fill(cache, max, 'add')
			await cache.set('k', 'v', 60)
			strictEqual(await cache.get('k'), undefined)
			strictEqual(await cache.add('add 0', 1, 60), false)
			strictEqual(await cache.add('add 1', 1, 60), false)
		},
		async 'delete makes room'({ cache, max }) {
			await fill(cache, max, 'add')
			await cache.delete('add 0')
			strictEqual(await cache.increment('count', 60), 1)
			await rejects(async () => cache.increment('more', 60), CacheFull)
		},
	}),
]

async function fill(cache: Cache, count: number, by: 'add' | 'set'): Promise<void> {
	for (let index = 0; index < count; index++) await cache[by](`${by} ${index}`, index, 60)
}

/** For a cache that gives each caller a share of its bytes. */
export function shareTests(maxBytes: Bytes): CacheTest[] {
	// For an hour: no machine stalls so long that entries expire.
	const fill = (cache: Cache, ttlSeconds = 3_600) => fillShare(cache, maxBytes, ttlSeconds)
	return tests({
		async 'a caller who fills a share is refused alone, and all others have room'({ cache }) {
			const count = await fill(cache)
			ok(count > 8 && count < 64, `${count} entries of 1/64 of the cache were stored`)
			const text = 'x'.repeat(maxBytes / 64)
			strictEqual(await cache.add(sharedKey('idempotency', 'other', 'a'), text, 60), true)
			strictEqual(await cache.add(sharedKey('nonce', 'greedy', 'a'), 1, 60), true)
			strictEqual(await cache.increment(sharedKey('limit', 'other', 'a'), 60), 1)
			strictEqual(await cache.add('mine', text, 60), true)
			await refused(() => cache.add(greedy('more'), 1, 60))
		},
		async 'a caller without room can still use existing entries'({ cache }) {
			await cache.increment(greedy('count'), 60)
			await fill(cache)
			strictEqual(await cache.increment(greedy('count'), 60), 2)
			await refused(() => cache.increment(greedy('other'), 60))
			strictEqual(await cache.add(greedy('0'), 1, 60), false)
			strictEqual(String(await cache.get(greedy('0'))).length, Math.floor(maxBytes / 64))
		},
		async 'in a full share an entry can be replaced by a smaller one, and not by a larger one'({ cache }) {
			await fill(cache)
			const long = 'x'.repeat(maxBytes / 32)
			await refused(async () => cache.set(greedy('0'), long, 60))
			strictEqual(String(await cache.get(greedy('0'))).length, Math.floor(maxBytes / 64))
			await cache.set(greedy('0'), 'less', 60)
			strictEqual(await cache.get(greedy('0')), 'less')
			strictEqual(await cache.add(greedy('more'), 'x'.repeat(maxBytes / 128), 60), true)
		},
		async 'a deleted entry frees its room in the share'({ cache }) {
			await fill(cache)
			strictEqual(await cache.delete(greedy('0')), true)
			strictEqual(await cache.add(greedy('more'), 'x'.repeat(maxBytes / 128), 60), true)
		},
		async 'an expired entry frees its room in the share, late by an eighth of its time at most'({
			cache,
			after,
		}) {
			// Long enough that no entry expires while others are added.
			const begun = performance.now()
			await fillShare(cache, maxBytes, 60, 'slow')
			const ttlSeconds = Math.max(1.6, (3 * (performance.now() - begun)) / 1_000)
			const count = await fill(cache, ttlSeconds)
			await after(ttlSeconds * 1_125)
			strictEqual(await fill(cache), count)
		},
	})
}

function greedy(rest: string, caller = 'greedy'): string {
	return sharedKey('idempotency', caller, rest)
}

async function refused(call: () => unknown): Promise<void> {
	await rejects(
		async () => call(),
		(error: unknown) => error instanceof CacheFull && error.scope === 'caller',
	)
}

/** Fills a share with long texts and then shorter ones; returns how many long texts it holds. */
async function fillShare(
	cache: Cache,
	maxBytes: Bytes,
	ttlSeconds: number,
	caller?: string,
): Promise<number> {
	let long = 0
	for (const length of [maxBytes / 64, maxBytes / 1_024, 0]) {
		for (let count = 0; ; count++) {
			try {
				const rest = length === maxBytes / 64 ? String(count) : `${length} ${count}`
				await cache.add(greedy(rest, caller), 'x'.repeat(length), ttlSeconds)
			} catch (error) {
				if (!(error instanceof CacheFull) || error.scope !== 'caller') throw error
				if (long === 0) long = count
				break
			}
			if (count > 1_000) throw new Error('one caller stored 1,000 entries and was never refused')
		}
	}
	return long
}
