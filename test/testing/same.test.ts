/** The contracts' own equality: what it says, and that it ends. */
import { AssertionError } from 'node:assert'
import * as assert from 'uvu/assert'
import { same } from '../../lib/testing/same.ts'
import { describe } from '../helpers/describe.ts'

describe('same', (test) => {
	test('takes what is deeply equal', () => {
		same({ a: [1, { b: 'c' }] }, { a: [1, { b: 'c' }] })
		same(Number.NaN, Number.NaN)
	})

	test('tells 0 from "0", and undefined from nothing', () => {
		assert.throws(() => same(0, '0', 'read'), /^read: got 0, expected '0'$/)
		assert.throws(() => same({ a: undefined }, {}), AssertionError)
	})

	test('says in a short message, at once, that texts of 200,000 lines differ', () => {
		const lines = Array.from({ length: 100 }, (_, index) => `${index}\n`.repeat(2_000))
		const started = performance.now()
		try {
			same(
				lines.map((text) => text.slice(0, -1)),
				lines,
				'list',
			)
		} catch (error) {
			assert.instance(error, AssertionError)
			assert.ok(error.message.startsWith("list: got [ '0\\n0\\n"), error.message.slice(0, 100))
			assert.ok(error.message.length < 20_000, `${error.message.length} characters`)
			assert.ok(performance.now() - started < 1_000)
			return
		}
		assert.unreachable('it should have thrown')
	})
})
