/** The cache contract: values are read as stored, `add` and `increment` are atomic, and bad arguments are refused. */
import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { JsonValue } from '../../cache/cache.ts'
import { atOnce } from '../case.ts'
import { type CacheTest, tests } from './fixture.ts'

/** Values that faulty caches change: into a number, a prototype, other characters. */
const VALUES: readonly (readonly [name: string, value: JsonValue])[] = [
	['null', null],
	['true', true],
	['false', false],
	['zero', 0],
	['a negative fraction', -0.1],
	['a number beyond 2^53', 1e21],
	['an empty text', ''],
	['a text that looks like a number', '0012'],
	['a text that looks like JSON', '{"a":1}'],
	['a text of many scripts', 'žluťoučký 漢字 \u{1f9d1}\u200d\u{1f680} \u202e'],
	['a text with control characters', '\0\r\n\t\u007f\u2028'],
	['a lone surrogate', '\ud83d'],
	['a long text', 'x'.repeat(100_000)],
	['an empty list', []],
	['an empty object', {}],
	['a nested value', { a: [1, 'b', null, { c: [[]] }], '': false, 'ž.$': 'd' }],
	['an own member called __proto__', JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonValue],
]

/** Keys that are names in JavaScript, commands or patterns elsewhere, or differ in one character only. */
const KEYS = [
	...['', ' ', '  ', 'a', 'A', 'á', 'a\u0301', 'a b', 'a\nb', 'a\r\nset x', 'a\0', 'a\0b', '0', '00', '-1'],
	...['漢字', '\u{1f680}', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined'],
	...['length', 'size', 'a:b', 'a:*', '*', '?', '[a]', '{a}', 'a/../b', 'a%20b', '"', "'", '\\', '$1'],
	...['x'.repeat(1_000), 'x'.repeat(1_001)],
]

export const VALUE_TESTS: readonly CacheTest[] = [
	...VALUES.map(([name, value]) => keeps(name, value)),
	...tests({
		async 'a key without a value reads as undefined'({ cache }) {
			for (const key of KEYS) strictEqual(await cache.get(key), undefined, key)
		},
		async 'each key has a value of its own, whatever its characters'({ cache }) {
			for (const [index, key] of KEYS.entries()) await cache.set(key, index, 60)
			for (const [index, key] of KEYS.entries()) strictEqual(await cache.get(key), index, key)
			for (const key of KEYS) strictEqual(await cache.delete(key), true, key)
			for (const key of KEYS) strictEqual(await cache.add(key, 1, 60), true, key)
			for (const key of KEYS) strictEqual(await cache.increment(key, 60), 2, key)
		},
		async 'set replaces the value that was there'({ cache }) {
			await cache.set('k', { a: 1 }, 60)
			await cache.set('k', [2], 60)
			deepStrictEqual(await cache.get('k'), [2])
		},
		async 'a value that is changed after it was stored stays as it was'({ cache }) {
			const value = { list: [1] }
			await cache.set('set', value, 60)
			await cache.add('add', value, 60)
			value.list.push(2)
			deepStrictEqual(await cache.get('set'), { list: [1] })
			deepStrictEqual(await cache.get('add'), { list: [1] })
		},
		async 'each reader has a copy of its own'({ cache }) {
			await cache.set('k', { list: [1] }, 60)
			const [first, second] = await Promise.all([cache.get('k'), cache.get('k')])
			ok(typeof first === 'object' && first !== null)
			notStrictEqual(first, second)
			Object.assign(first, { list: 'changed' })
			deepStrictEqual(second, { list: [1] })
			deepStrictEqual(await cache.get('k'), { list: [1] })
		},
		async 'delete returns whether there was a value, and then there is none'({ cache }) {
			strictEqual(await cache.delete('k'), false)
			await cache.set('k', null, 60)
			strictEqual(await cache.delete('k'), true)
			strictEqual(await cache.get('k'), undefined)
			strictEqual(await cache.delete('k'), false)
		},
		async 'delete frees the keys of add and increment'({ cache }) {
			await cache.add('add', 1, 60)
			await cache.increment('count', 60)
			await cache.increment('count', 60)
			strictEqual(await cache.delete('add'), true)
			strictEqual(await cache.delete('count'), true)
			strictEqual(await cache.add('add', 2, 60), true)
			strictEqual(await cache.increment('count', 60), 1)
		},
	}),
]

function keeps(name: string, value: JsonValue): CacheTest {
	return {
		name: `keeps ${name}`,
		async run({ cache }) {
			await cache.set('set', value, 60)
			strictEqual(await cache.add('add', value, 60), true)
			deepStrictEqual(await cache.get('set'), value)
			deepStrictEqual(await cache.get('add'), value)
		},
	}
}

export const COUNT_TESTS: readonly CacheTest[] = tests({
	async 'add refuses a key that add, set or increment made'({ cache }) {
		strictEqual(await cache.add('add', 1, 60), true)
		strictEqual(await cache.add('add', 2, 60), false)
		await cache.set('set', 1, 60)
		strictEqual(await cache.add('set', 2, 60), false)
		await cache.increment('count', 60)
		strictEqual(await cache.add('count', 2, 60), false)
		deepStrictEqual([await cache.get('add'), await cache.get('set'), await cache.get('count')], [1, 1, 1])
	},
	async 'of 100 simultaneous adds exactly one returns true, and its value is kept'({ cache }) {
		const answers = await atOnce(100, async (index) => cache.add('k', index, 60))
		const added = answers.filter((answer) => answer !== false)
		deepStrictEqual(added, [true])
		strictEqual(await cache.get('k'), answers.indexOf(true))
	},
	async 'increment returns 1, 2, 3, and get reads the number'({ cache }) {
		for (const count of [1, 2, 3]) strictEqual(await cache.increment('k', 60), count)
		strictEqual(await cache.increment('other', 60), 1)
		strictEqual(await cache.get('k'), 3)
	},
	async '100 simultaneous increments return 1 to 100, each once'({ cache }) {
		const answers = await atOnce(100, async () => cache.increment('k', 60))
		const counts = Array.from({ length: 100 }, (_, index) => index + 1)
		const sorted = answers.toSorted((a, b) => a - b)
		deepStrictEqual(sorted, counts)
	},
	async "a counter's time starts at the first increment, and later ones don't move it"({
		cache,
		before,
		after,
	}) {
		strictEqual(await cache.increment('k', 0.6), 1)
		await after(300)
		strictEqual(await cache.increment('k', 60), 2)
		await before(600)
		strictEqual(await cache.get('k'), 2)
		await after(600)
		strictEqual(await cache.get('k'), undefined)
		strictEqual(await cache.increment('k', 60), 1)
	},
	async 'increment counts on from a whole number that set or add stored, in the time it has'({
		cache,
		after,
	}) {
		await cache.set('set', 9, 0.6)
		await cache.add('add', -1, 0.6)
		// A stall is forgiven once the case has waited.
		await after(100)
		strictEqual(await cache.increment('set', 60), 10)
		strictEqual(await cache.increment('add', 60), 0)
		await after(600)
		deepStrictEqual([await cache.get('set'), await cache.get('add')], [undefined, undefined])
	},
	async 'increment refuses anything but a whole number below 2^53 - 1 with a TypeError, and leaves it'({
		cache,
	}) {
		for (const value of ['text', '1', 1.5, 1e21, Number.MAX_SAFE_INTEGER, null, true, [1], { a: 1 }]) {
			await cache.set('k', value, 60)
			await rejects(async () => cache.increment('k', 60), TypeError, JSON.stringify(value))
			deepStrictEqual(await cache.get('k'), value)
		}
	},
})

const INVALID_TIMES = [0, -1, -0.001, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

export const REFUSAL_TESTS: readonly CacheTest[] = tests({
	async 'a time that is not a finite number above 0 is refused with a RangeError'({ cache }) {
		await cache.set('k', 'held', 60)
		for (const time of INVALID_TIMES) {
			await rejects(async () => cache.set('k', 'v', time), RangeError, `set, ${time}`)
			await rejects(async () => cache.add('new', 'v', time), RangeError, `add, ${time}`)
			await rejects(async () => cache.increment('new', time), RangeError, `increment, ${time}`)
		}
		strictEqual(await cache.get('k'), 'held')
		strictEqual(await cache.get('new'), undefined)
	},
	async 'a value that JSON cannot represent is refused with a TypeError'({ cache }) {
		await cache.set('k', 'held', 60)
		const circle: unknown[] = []
		circle.push(circle)
		for (const value of [undefined, () => 1, Symbol('s'), 1n, [1n], circle, NaN, Infinity]) {
			const wrong = value as JsonValue // as JavaScript may pass it
			await rejects(async () => cache.set('k', wrong, 60), TypeError)
			await rejects(async () => cache.add('new', wrong, 60), TypeError)
		}
		strictEqual(await cache.get('k'), 'held')
		strictEqual(await cache.get('new'), undefined)
	},
	async 'a key that is not a string is refused with a TypeError'({ cache }) {
		for (const key of [undefined, null, 1, {}, ['k'], Symbol('k')]) {
			const wrong = key as string // as JavaScript may pass it
			await rejects(async () => cache.get(wrong), TypeError, 'get')
			await rejects(async () => cache.set(wrong, 1, 60), TypeError, 'set')
			await rejects(async () => cache.delete(wrong), TypeError, 'delete')
			await rejects(async () => cache.add(wrong, 1, 60), TypeError, 'add')
			await rejects(async () => cache.increment(wrong, 60), TypeError, 'increment')
		}
	},
})
