/** Texts of statements that are kept. */
import * as assert from 'uvu/assert'
import { Texts } from '../../lib/sql/texts.ts'
import { describe } from '../helpers/describe.ts'

describe('sql/texts', (test) => {
	test('are found by the same steps only, none among them', () => {
		const texts = new Texts()
		texts.keep(['a', 'b'], 'ab')
		texts.keep([], 'none')
		assert.is(texts.get(['a', 'b']), 'ab')
		assert.is(texts.get([]), 'none')
		for (const steps of [['a'], ['b', 'a'], ['a', 'b', 'c'], ['ab']]) assert.is(texts.get(steps), undefined)
	})

	test('know symbols and numbers from names that are written alike', () => {
		const texts = new Texts()
		const step = Symbol('a')
		texts.keep(['a'], 'name')
		texts.keep([step], 'symbol')
		texts.keep([1], 'number')
		assert.equal(
			[['a'], [step], [1], ['1'], [Symbol('a')]].map((steps) => texts.get(steps)),
			[...['name', 'symbol', 'number', undefined, undefined]],
		)
	})

	test('are only so many, and the first of them stay', () => {
		const texts = new Texts()
		for (let i = 0; i < 5_000; i++) texts.keep([`field${i}`], `text ${i}`)
		assert.is(texts.get(['field0']), 'text 0')
		assert.is(texts.get(['field1999']), 'text 1999')
		assert.is(texts.get(['field2000']), undefined)
	})
})
