/** The cache contract: `add` and `increment` decide in one step, however many ask. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import type { Scene } from './stage.ts'

/** The scenes of `add` and `increment`. */
export const COUNT_SCENES: readonly Scene[] = [
	{
		name: 'add refuses a key that add, set or increment made',
		async play({ cache }) {
			strictEqual(await cache.add('add', 1, 60), true)
			strictEqual(await cache.add('add', 2, 60), false)
			await cache.set('set', 1, 60)
			strictEqual(await cache.add('set', 2, 60), false)
			await cache.increment('count', 60)
			strictEqual(await cache.add('count', 2, 60), false)
			deepStrictEqual([await cache.get('add'), await cache.get('set'), await cache.get('count')], [1, 1, 1])
		},
	},
	{
		name: 'of 100 simultaneous adds exactly one is answered true, and its value is kept',
		async play({ cache }) {
			const answers = await atOnce(100, async (index) => cache.add('k', index, 60))
			deepStrictEqual(
				answers.filter((answer) => answer !== false),
				[true],
			)
			strictEqual(await cache.get('k'), answers.indexOf(true))
		},
	},
	{
		name: 'increment answers 1, 2, 3, and get reads the number',
		async play({ cache }) {
			for (const count of [1, 2, 3]) strictEqual(await cache.increment('k', 60), count)
			strictEqual(await cache.increment('other', 60), 1)
			strictEqual(await cache.get('k'), 3)
		},
	},
	{
		name: '100 simultaneous increments are answered 1 to 100, each once',
		async play({ cache }) {
			const answers = await atOnce(100, async () => cache.increment('k', 60))
			deepStrictEqual(
				answers.toSorted((a, b) => a - b),
				Array.from({ length: 100 }, (_, index) => index + 1),
			)
		},
	},
	{
		name: "a counter's time starts at the first increment, and later ones don't move it",
		async play({ cache, before, after }) {
			strictEqual(await cache.increment('k', 0.6), 1)
			await after(300)
			strictEqual(await cache.increment('k', 60), 2)
			await before(600)
			strictEqual(await cache.get('k'), 2)
			await after(600)
			strictEqual(await cache.get('k'), undefined)
			strictEqual(await cache.increment('k', 60), 1)
		},
	},
	{
		name: 'increment counts on from a whole number that set or add stored, in the time it has',
		async play({ cache, after }) {
			await cache.set('set', 9, 0.6)
			await cache.add('add', -1, 0.6)
			strictEqual(await cache.increment('set', 60), 10)
			strictEqual(await cache.increment('add', 60), 0)
			await after(600)
			deepStrictEqual([await cache.get('set'), await cache.get('add')], [undefined, undefined])
		},
	},
	{
		name: 'increment refuses what is no whole number below 2^53 - 1 with a TypeError, and leaves it',
		async play({ cache }) {
			for (const value of ['text', '1', 1.5, 1e21, Number.MAX_SAFE_INTEGER, null, true, [1], { a: 1 }]) {
				await cache.set('k', value, 60)
				await rejects(async () => cache.increment('k', 60), TypeError, JSON.stringify(value))
				deepStrictEqual(await cache.get('k'), value)
			}
		},
	},
]

function atOnce<T>(times: number, ask: (index: number) => Promise<T>): Promise<T[]> {
	return Promise.all(Array.from({ length: times }, (_, index) => ask(index)))
}
