/** The hash table of literal texts: whole texts, and parts found by a rolling hash. */
import * as assert from 'uvu/assert'
import { LiteralTable, roll } from '../../../lib/routing/custom/literals.ts'
import { describe } from '../../helpers/describe.ts'

describe('LiteralTable', (test) => {
	test('an empty table finds nothing', () => {
		const table = new LiteralTable<number>('forward')
		assert.is(table.get(''), undefined)
		assert.is(table.get('a'), undefined)
		assert.is(table.maxLength, 0)
		assert.is(table.size, 0)
	})

	test('each of 5,000 keys has its value, and no other text has one', () => {
		for (const direction of ['forward', 'backward'] as const) {
			const table = new LiteralTable<number>(direction)
			for (let at = 0; at < 5_000; at++) table.set(`key-${at}`, at)
			for (let at = 0; at < 5_000; at++) assert.is(table.get(`key-${at}`), at)
			for (const text of ['', 'key-', 'key-5000', 'key-1 ', 'yek-1', 'key-12345']) {
				assert.is(table.get(text), undefined)
			}
			assert.is(table.size, 5_000)
			assert.is(table.maxLength, 8)
		}
	})

	test('texts with the same hash are distinguished', () => {
		const table = new LiteralTable<number>('forward')
		table.set('Aa', 1)
		table.set('BB', 2)
		assert.is(table.get('Aa'), 1)
		assert.is(table.get('BB'), 2)
		assert.is(table.get('C#'), undefined)
	})

	test('a value can be replaced', () => {
		const table = new LiteralTable<number>('forward')
		table.set('a', 1)
		table.set('a', 2)
		assert.is(table.get('a'), 2)
		assert.is(table.size, 1)
	})

	test('a text whose hash is 0 can be a key', () => {
		const table = new LiteralTable<number>('forward')
		table.set('\0\0', 1)
		assert.is(table.get('\0\0'), 1)
		assert.is(table.get('\0'), undefined)
	})

	test('a part is found by its rolling hash, in the order of the table', () => {
		const forward = new LiteralTable<number>('forward')
		forward.set('bc', 1)
		const there = roll(roll(0, 'b'.charCodeAt(0)), 'c'.charCodeAt(0))
		assert.is(forward.probe(there, 'abcd', 1, 2), 1)
		assert.is(forward.probe(there, 'abcd', 0, 2), undefined)
		assert.is(forward.probe(there, 'abcd', 1, 3), undefined)
		const backward = new LiteralTable<number>('backward')
		backward.set('bc', 2)
		const back = roll(roll(0, 'c'.charCodeAt(0)), 'b'.charCodeAt(0))
		assert.is(backward.probe(back, 'abcd', 1, 2), 2)
	})

	test('lengths and first characters are known, long ones as one group', () => {
		const table = new LiteralTable<number>('backward')
		table.set('xyz', 1)
		table.set('y'.repeat(40), 2)
		assert.equal(
			[1, 3, 30, 31, 40].map((length) => table.mayHaveLength(length)),
			[false, true, false, true, true],
		)
		assert.equal(
			['x', 'y', 'z'].map((letter) => table.mayBegin(letter.charCodeAt(0))),
			[false, true, true],
		)
		assert.is(table.get('y'.repeat(40)), 2)
		const forward = new LiteralTable<number>('forward')
		forward.set('xyz', 1)
		assert.equal([forward.mayBegin('x'.charCodeAt(0)), forward.mayBegin('z'.charCodeAt(0))], [true, false])
	})
})
