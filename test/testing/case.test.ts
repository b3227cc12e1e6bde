/** The contracts' own equality: its messages, and that it terminates. */
import { AssertionError } from 'node:assert'
import * as assert from 'uvu/assert'
import { same } from '../../lib/testing/case.ts'
import { cost } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'

describe('same', (test) => {
	test('accepts deeply equal values', () => {
		same({ a: [1, { b: 'c' }] }, { a: [1, { b: 'c' }] })
		same(Number.NaN, Number.NaN)
	})

	test('distinguishes 0 from "0", and undefined from a missing property', () => {
		assert.is(refusal(0, '0').message, "read: got 0, expected '0'")
		assert.is(refusal({ a: undefined }, {}).message, 'read: got { a: undefined }, expected {}')
	})

	test('reports quickly and briefly that texts of 200,000 lines differ', () => {
		const lines = Array.from({ length: 100 }, (_, index) => `${index}\n`.repeat(2_000))
		const cut = lines.map((text) => text.slice(0, -1))
		let message = ''
		const time = cost(() => {
			message = refusal(cut, lines).message
		})
		assert.ok(time < 2_000, `${time} ms`)
		assert.ok(message.startsWith("read: got [ '0\\n0\\n"), message.slice(0, 100))
		assert.ok(message.length < 20_000, `${message.length} characters`)
	})
})

function refusal(actual: unknown, expected: unknown): AssertionError {
	try {
		same(actual, expected, 'read')
	} catch (error) {
		if (error instanceof AssertionError) return error
		throw error
	}
	throw new Error('it passed')
}
