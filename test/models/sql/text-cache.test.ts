/** Caches of statements: filled from the second use on, and bounded. */
import * as assert from 'uvu/assert'
import {
	isKept,
	type KeyPart,
	Lru,
	type LruEntry,
	lruOf,
	PreparedTexts,
	TextCache,
} from '../../../lib/models/sql/text-cache.ts'
import { describe } from '../../helpers/describe.ts'

/** Adds it twice, as texts are cached from the second use on. */
function keep(texts: TextCache, steps: readonly KeyPart[], text: string): void {
	texts.keep(steps, text)
	texts.keep(steps, text)
}

describe('TextCache', (test) => {
	test('finds a text only by the same steps, an empty list included', () => {
		const texts = new TextCache(new Lru())
		keep(texts, ['a', 'b'], 'ab')
		keep(texts, [], 'none')
		assert.is(texts.get(['a', 'b']), 'ab')
		assert.is(texts.get([]), 'none')
		for (const steps of [['a'], ['b', 'a'], ['a', 'b', 'c'], ['ab']]) assert.is(texts.get(steps), undefined)
	})

	test('distinguishes symbols and numbers from names that are written alike', () => {
		const texts = new TextCache(new Lru())
		const step = Symbol('a')
		keep(texts, ['a'], 'name')
		keep(texts, [step], 'symbol')
		keep(texts, [1], 'number')
		assert.equal(
			[['a'], [step], [1], ['1'], [Symbol('a')]].map((steps) => texts.get(steps)),
			[...['name', 'symbol', 'number', undefined, undefined]],
		)
	})

	test('caches a text from its second use on', () => {
		const lru = new Lru()
		const texts = new TextCache(lru)
		for (let i = 0; i < 5_000; i++) texts.keep([`field${i}`], `text ${i}`)
		assert.is(lru.bytes, 0)
		for (const known of [undefined, 'hot', 'hot']) {
			assert.is(texts.get(['hot']), known === undefined ? undefined : known)
			keep(texts, ['hot'], 'hot')
		}
	})

	test('evicts the least recently used', () => {
		const lru = new Lru(100_000)
		const texts = [new TextCache(lru), new TextCache(lru)]
		const [first = new TextCache(lru), second = first] = texts
		keep(first, ['hot'], 'x'.repeat(1_000))
		for (let i = 0; i < 1_000; i++) {
			keep(second, ['field', i], 'y'.repeat(1_000))
			assert.is(first.get(['hot'])?.length, 1_000, String(i))
			assert.ok(lru.bytes <= 100_000)
		}
		assert.is(second.get(['field', 0]), undefined)
		assert.is(second.get(['field', 999])?.length, 1_000)
		keep(second, ['field', 0], 'again')
		assert.is(second.get(['field', 0]), 'again')
	})

	test('does not cache texts that would fill most of it', () => {
		const lru = new Lru(100_000)
		const texts = new TextCache(lru)
		keep(texts, ['large'], 'x'.repeat(50_000))
		assert.is(texts.get(['large']), undefined)
		assert.is(lru.bytes, 0)
	})
})

/** In no list. */
const NOWHERE = { older: undefined, newer: undefined }

describe('Lru', (test) => {
	test('has one instance per database', () => {
		const [one, other] = [{}, {}]
		assert.is(lruOf(one), lruOf(one))
		assert.is.not(lruOf(one), lruOf(other))
		assert.instance(lruOf(Object.freeze({})), Lru)
	})

	test('evicts the least recently used, once', () => {
		const lru = new Lru(160)
		const dropped: string[] = []
		const kept = (name: string): LruEntry => ({ bytes: 10, drop: () => dropped.push(name), ...NOWHERE })
		const all = Array.from({ length: 16 }, (_, at) => kept(`${at}`))
		for (const one of all) assert.ok(lru.add(one))
		assert.is(lru.bytes, 160)
		const [first] = all
		if (first !== undefined) lru.touch(first)
		lru.add(kept('a'))
		lru.add(kept('b'))
		assert.equal(dropped, ['1', '2'])
		assert.is(lru.bytes, 160)
		assert.not(lru.add({ bytes: 11, drop: () => dropped.push('large'), ...NOWHERE }))
	})
})

describe('isKept', (test) => {
	const statement = (length: number, values: number) => ({
		text: 'x'.repeat(length),
		values: Array.from({ length: values }, () => 1),
		writes: false,
	})
	const table: [text: number, values: number, kept: boolean][] = [
		[3_000, 2, true],
		// A gathered read of 100 ids, padded to 128 on MariaDB.
		[3_000, 128, true],
		[3_000, 129, false],
		[32_768, 0, true],
		[32_769, 0, false],
	]
	for (const [text, values, kept] of table) {
		test(`${text} characters and ${values} values: ${kept}`, () =>
			assert.is(isKept(statement(text, values)), kept))
	}
})

describe('PreparedTexts', (test) => {
	/** As drivers do. */
	function asking() {
		const dropped: string[] = []
		const texts = new PreparedTexts<string>((text) => dropped.push(text))
		const ask = (text: string): boolean => {
			if (texts.get(text) !== undefined) return true
			if (texts.isSeenAgain(text)) texts.add(text, `what is kept for ${text}`)
			return false
		}
		return { dropped, texts, ask }
	}
	const numbered = (count: number, from = 0) =>
		Array.from({ length: count }, (_, at) => `select ${from + at}`)

	test('keeps statements used a second time', () => {
		const { ask, texts } = asking()
		assert.equal([ask('select 1'), ask('select 1'), ask('select 1')], [false, false, true])
		assert.is(texts.get('select 1'), 'what is kept for select 1')
		texts.replace('select 1', 'another')
		assert.is(texts.get('select 1'), 'another')
	})

	test('keeps 500, and evicts the least recently used', () => {
		const { ask, texts, dropped } = asking()
		for (const text of numbered(500)) for (let time = 0; time < 2; time++) ask(text)
		assert.ok(ask('select 0'))
		for (let time = 0; time < 2; time++) ask('one more')
		assert.equal(dropped, ['select 1'])
		assert.ok(ask('select 0') && ask('select 2') && ask('one more'))
		assert.is(texts.get('select 1'), undefined)
	})

	test('does not keep statements used once, however many', () => {
		const { ask, dropped } = asking()
		for (const text of numbered(500)) for (let time = 0; time < 2; time++) ask(text)
		for (const text of numbered(10_000, 500)) assert.not(ask(text))
		assert.equal(dropped, [])
		// The last 500 are remembered.
		ask('select 9999')
		ask('select 10499')
		assert.not(ask('select 9999'))
		assert.ok(ask('select 10499'))
	})

	test('keeps half a MiB of texts', () => {
		const { ask, dropped, texts } = asking()
		const long = (n: number) => `select ${n} -- `.padEnd(32_768, 'x')
		for (let n = 0; n < 20; n++) for (let time = 0; time < 2; time++) ask(long(n))
		assert.equal(dropped, [0, 1, 2, 3].map(long))
		assert.is(texts.get(long(3)), undefined)
		assert.is(texts.get(long(4)), `what is kept for ${long(4)}`)
	})

	test('is empty after clear()', () => {
		const { ask, texts } = asking()
		for (let time = 0; time < 2; time++) ask('select 1')
		ask('select 2')
		texts.clear()
		assert.equal([ask('select 1'), ask('select 2')], [false, false])
		assert.equal([texts.get('select 1'), texts.get('select 2')], [undefined, undefined])
	})
})
