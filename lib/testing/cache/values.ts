/** The cache contract: what was stored is what is read, whatever the key and the value. */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { JsonValue } from '../../cache/cache.ts'
import type { Scene } from './stage.ts'

/** Values that caches have been known to change: to a number, to a prototype, to other characters. */
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
	['half of a surrogate pair', '\ud83d'],
	['a long text', 'x'.repeat(100_000)],
	['an empty list', []],
	['an empty object', {}],
	['a nested value', { a: [1, 'b', null, { c: [[]] }], '': false, 'ž.$': 'd' }],
	['an own member called __proto__', JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonValue],
]

/** Keys that are names in JavaScript, commands or patterns elsewhere, or differ in one character only. */
const KEYS = [
	...[
		'',
		' ',
		'  ',
		'a',
		'A',
		'á',
		'a\u0301',
		'a b',
		'a\nb',
		'a\r\nset x',
		'a\0',
		'a\0b',
		'0',
		'00',
		'-1',
		'漢字',
		'\u{1f680}',
	],
	...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'length', 'size'],
	...[
		'a:b',
		'a:*',
		'*',
		'?',
		'[a]',
		'{a}',
		'a/../b',
		'a%20b',
		'"',
		"'",
		'\\',
		'$1',
		'x'.repeat(1_000),
		'x'.repeat(1_001),
	],
]

/** One scene for each value, then those about keys, copies and deletion. */
export const VALUE_SCENES: readonly Scene[] = [
	...VALUES.map(([name, value]) => keeps(name, value)),
	{
		name: 'a key that nothing was stored for reads as undefined',
		async play({ cache }) {
			for (const key of KEYS) strictEqual(await cache.get(key), undefined, key)
		},
	},
	{
		name: 'each key has a value of its own, whatever its characters',
		async play({ cache }) {
			for (const [index, key] of KEYS.entries()) await cache.set(key, index, 60)
			for (const [index, key] of KEYS.entries()) strictEqual(await cache.get(key), index, key)
			for (const key of KEYS) strictEqual(await cache.delete(key), true, key)
			for (const key of KEYS) strictEqual(await cache.add(key, 1, 60), true, key)
			for (const key of KEYS) strictEqual(await cache.increment(key, 60), 2, key)
		},
	},
	{
		name: 'set replaces the value that was there',
		async play({ cache }) {
			await cache.set('k', { a: 1 }, 60)
			await cache.set('k', [2], 60)
			deepStrictEqual(await cache.get('k'), [2])
		},
	},
	{
		name: 'a value that is changed after it was stored stays as it was',
		async play({ cache }) {
			const value = { list: [1] }
			await cache.set('set', value, 60)
			await cache.add('add', value, 60)
			value.list.push(2)
			deepStrictEqual(await cache.get('set'), { list: [1] })
			deepStrictEqual(await cache.get('add'), { list: [1] })
		},
	},
	{
		name: 'each reader has a copy of its own',
		async play({ cache }) {
			await cache.set('k', { list: [1] }, 60)
			const [first, second] = await Promise.all([cache.get('k'), cache.get('k')])
			ok(typeof first === 'object' && first !== null)
			notStrictEqual(first, second)
			Object.assign(first, { list: 'changed' })
			deepStrictEqual(second, { list: [1] })
			deepStrictEqual(await cache.get('k'), { list: [1] })
		},
	},
	{
		name: 'delete answers whether there was a value, and then there is none',
		async play({ cache }) {
			strictEqual(await cache.delete('k'), false)
			await cache.set('k', null, 60)
			strictEqual(await cache.delete('k'), true)
			strictEqual(await cache.get('k'), undefined)
			strictEqual(await cache.delete('k'), false)
		},
	},
	{
		name: 'delete frees what add and increment made',
		async play({ cache }) {
			await cache.add('add', 1, 60)
			await cache.increment('count', 60)
			await cache.increment('count', 60)
			strictEqual(await cache.delete('add'), true)
			strictEqual(await cache.delete('count'), true)
			strictEqual(await cache.add('add', 2, 60), true)
			strictEqual(await cache.increment('count', 60), 1)
		},
	},
]

function keeps(name: string, value: JsonValue): Scene {
	return {
		name: `keeps ${name}`,
		async play({ cache }) {
			await cache.set('set', value, 60)
			strictEqual(await cache.add('add', value, 60), true)
			deepStrictEqual(await cache.get('set'), value)
			deepStrictEqual(await cache.get('add'), value)
		},
	}
}
