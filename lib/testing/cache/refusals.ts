/** The cache contract: what every cache refuses, with which error, and that a refusal changes nothing. */
import { rejects, strictEqual } from 'node:assert/strict'
import type { JsonValue } from '../../cache/cache.ts'
import type { Scene } from './stage.ts'

const TIMES = [0, -1, -0.001, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/** The scenes of bad arguments. */
export const REFUSAL_SCENES: readonly Scene[] = [
	{
		name: 'a time that is not a finite number above 0 is refused with a RangeError',
		async play({ cache }) {
			await cache.set('k', 'held', 60)
			for (const time of TIMES) {
				await rejects(async () => cache.set('k', 'v', time), RangeError, `set, ${time}`)
				await rejects(async () => cache.add('new', 'v', time), RangeError, `add, ${time}`)
				await rejects(async () => cache.increment('new', time), RangeError, `increment, ${time}`)
			}
			strictEqual(await cache.get('k'), 'held')
			strictEqual(await cache.get('new'), undefined)
		},
	},
	{
		name: 'a value that JSON cannot say is refused with a TypeError',
		async play({ cache }) {
			await cache.set('k', 'held', 60)
			const circle: unknown[] = []
			circle.push(circle)
			for (const value of [
				undefined,
				() => 1,
				Symbol('s'),
				1n,
				[1n],
				circle,
				Number.NaN,
				Number.POSITIVE_INFINITY,
			]) {
				const wrong = value as JsonValue // On purpose: JavaScript has no types to stop it.
				await rejects(async () => cache.set('k', wrong, 60), TypeError)
				await rejects(async () => cache.add('new', wrong, 60), TypeError)
			}
			strictEqual(await cache.get('k'), 'held')
			strictEqual(await cache.get('new'), undefined)
		},
	},
	{
		name: 'a key that is not a string is refused with a TypeError',
		async play({ cache }) {
			for (const key of [undefined, null, 1, {}, ['k'], Symbol('k')]) {
				const wrong = key as string // On purpose: JavaScript has no types to stop it.
				await rejects(async () => cache.get(wrong), TypeError, 'get')
				await rejects(async () => cache.set(wrong, 1, 60), TypeError, 'set')
				await rejects(async () => cache.delete(wrong), TypeError, 'delete')
				await rejects(async () => cache.add(wrong, 1, 60), TypeError, 'add')
				await rejects(async () => cache.increment(wrong, 60), TypeError, 'increment')
			}
		},
	},
]
