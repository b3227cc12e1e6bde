/** The cache contract: the shares that callers have of a cache, so that none of them fills it for all others. */
import { ok, rejects, strictEqual } from 'node:assert/strict'
import type { Bytes } from '../../base/time.ts'
import { type Cache, CacheFull } from '../../cache/cache.ts'
import { sharedKey } from '../../cache/shares.ts'
import type { Scene } from './stage.ts'

/** The scenes of a cache that divides so many bytes. */
export function shareScenes(maxBytes: Bytes): Scene[] {
	const fill = (cache: Cache, ttlSeconds = 60) => fillShare(cache, maxBytes, ttlSeconds)
	return [
		{
			name: 'a caller who fills a share is refused alone, and all others have room',
			async play({ cache }) {
				const count = await fill(cache)
				ok(count > 8 && count < 64, `${count} entries of 1/64 of the cache were let in`)
				const text = 'x'.repeat(maxBytes / 64)
				strictEqual(await cache.add(sharedKey('idempotency', 'other', 'a'), text, 60), true)
				strictEqual(await cache.add(sharedKey('nonce', 'greedy', 'a'), 1, 60), true)
				strictEqual(await cache.increment(sharedKey('limit', 'other', 'a'), 60), 1)
				strictEqual(await cache.add('mine', text, 60), true)
				await refused(() => cache.add(greedy('more'), 1, 60))
			},
		},
		{
			name: 'a caller who has no more room is still answered for what is there',
			async play({ cache }) {
				await cache.increment(greedy('count'), 60)
				await fill(cache)
				strictEqual(await cache.increment(greedy('count'), 60), 2)
				await refused(() => cache.increment(greedy('other'), 60))
				strictEqual(await cache.add(greedy('0'), 1, 60), false)
				strictEqual(String(await cache.get(greedy('0'))).length, Math.floor(maxBytes / 64))
			},
		},
		{
			name: "what add made is replaced by less where its caller's share is full, and not by more",
			async play({ cache }) {
				await fill(cache)
				const long = 'x'.repeat(maxBytes / 32)
				await refused(async () => cache.set(greedy('0'), long, 60))
				strictEqual(String(await cache.get(greedy('0'))).length, Math.floor(maxBytes / 64))
				await cache.set(greedy('0'), 'less', 60)
				strictEqual(await cache.get(greedy('0')), 'less')
				strictEqual(await cache.add(greedy('more'), 'x'.repeat(maxBytes / 128), 60), true)
			},
		},
		{
			name: 'what is deleted is given back to its caller',
			async play({ cache }) {
				await fill(cache)
				strictEqual(await cache.delete(greedy('0')), true)
				strictEqual(await cache.add(greedy('more'), 'x'.repeat(maxBytes / 128), 60), true)
			},
		},
		{
			name: 'what has ended is given back to its caller, late by an eighth of its time at most',
			async play({ cache, after }) {
				const count = await fill(cache, 1.6)
				await after(1_800)
				strictEqual(await fill(cache), count)
			},
		},
	]
}

function greedy(rest: string): string {
	return sharedKey('idempotency', 'greedy', rest)
}

async function refused(call: () => unknown): Promise<void> {
	await rejects(
		async () => call(),
		(error: unknown) => error instanceof CacheFull && error.scope === 'caller',
	)
}

/** Adds long texts to a share and then shorter ones, until there is no room for any; answers how many long ones there are. */
async function fillShare(cache: Cache, maxBytes: Bytes, ttlSeconds: number): Promise<number> {
	let long = 0
	for (const length of [maxBytes / 64, maxBytes / 1_024, 0]) {
		for (let count = 0; ; count++) {
			try {
				const rest = length === maxBytes / 64 ? String(count) : `${length} ${count}`
				await cache.add(greedy(rest), 'x'.repeat(length), ttlSeconds)
			} catch (error) {
				if (!(error instanceof CacheFull) || error.scope !== 'caller') throw error
				if (long === 0) long = count
				break
			}
			if (count > 1_000) throw new Error('one caller has filled the cache, and was never refused')
		}
	}
	return long
}
