/** The cache contract: what a full cache may forget, and what it must not. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { type Cache, CacheFull } from '../../cache/cache.ts'
import type { Scene } from './stage.ts'

/** The scenes of a cache that holds no more than its `max`. */
export const ROOM_SCENES: readonly Scene[] = [
	{
		name: 'add and increment throw CacheFull when all that is held must be kept',
		max: 4,
		async play({ cache }) {
			await fill(cache, 2, 'add')
			await cache.increment('count 1', 60)
			await cache.increment('count 2', 60)
			await rejects(async () => cache.add('new', 1, 60), CacheFull)
			await rejects(async () => cache.increment('new', 60), CacheFull)
			strictEqual(await cache.get('new'), undefined)
			deepStrictEqual([await cache.get('add 0'), await cache.get('add 1')], [0, 1])
		},
	},
	{
		name: 'a full cache still counts its counters and refuses the keys it holds',
		max: 2,
		async play({ cache }) {
			await cache.add('add', 1, 60)
			await cache.increment('count', 60)
			strictEqual(await cache.add('add', 1, 60), false)
			strictEqual(await cache.add('count', 1, 60), false)
			for (const count of [2, 3, 11]) {
				if (count === 11) await cache.set('count', 10, 60)
				strictEqual(await cache.increment('count', 60), count)
			}
		},
	},
	{
		name: 'values of set make room for add and increment',
		max: 4,
		async play({ cache, max }) {
			await fill(cache, max, 'set')
			await fill(cache, max - 1, 'add')
			strictEqual(await cache.increment('count', 60), 1)
			await rejects(async () => cache.add('new', 1, 60), CacheFull)
		},
	},
	{
		name: 'a flood of values never evicts what add and increment made',
		max: 4,
		async play({ cache }) {
			await cache.add('nonce', true, 60)
			await cache.increment('count', 60)
			await fill(cache, 100, 'set')
			strictEqual(await cache.add('nonce', true, 60), false)
			strictEqual(await cache.increment('count', 60), 2)
		},
	},
	{
		name: 'what add made is still kept after its value was set',
		max: 4,
		async play({ cache }) {
			await cache.add('pending', 'no answer yet', 60)
			await cache.set('pending', 'answer', 60)
			await fill(cache, 100, 'set')
			strictEqual(await cache.get('pending'), 'answer')
			strictEqual(await cache.add('pending', 'again', 60), false)
		},
	},
	{
		name: 'a counter is still kept when it began as a value of set',
		max: 4,
		async play({ cache }) {
			await cache.set('count', 5, 60)
			await cache.increment('count', 60)
			await fill(cache, 100, 'set')
			strictEqual(await cache.increment('count', 60), 7)
		},
	},
	{
		name: 'a set that has no room is forgotten, not thrown',
		max: 2,
		async play({ cache, max }) {
			await fill(cache, max, 'add')
			await cache.set('k', 'v', 60)
			strictEqual(await cache.get('k'), undefined)
			strictEqual(await cache.add('add 0', 1, 60), false)
			strictEqual(await cache.add('add 1', 1, 60), false)
		},
	},
	{
		name: 'what is kept makes room when its time is over, whichever ends first',
		max: 3,
		async play({ cache, before, after }) {
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
	},
	{
		name: 'delete makes room',
		max: 2,
		async play({ cache, max }) {
			await fill(cache, max, 'add')
			await cache.delete('add 0')
			strictEqual(await cache.increment('count', 60), 1)
			await rejects(async () => cache.increment('more', 60), CacheFull)
		},
	},
]

async function fill(cache: Cache, count: number, by: 'add' | 'set'): Promise<void> {
	for (let index = 0; index < count; index++) await cache[by](`${by} ${index}`, index, 60)
}
