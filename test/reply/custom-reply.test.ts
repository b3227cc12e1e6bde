import * as assert from 'uvu/assert'
import { CustomReply, reply } from '../../lib/reply/custom-reply.ts'
import { describe } from '../helpers/describe.ts'

describe('custom-reply', (test) => {
	test('a promise is refused, as it would be answered as {}', () => {
		assert.throws(() => reply(Promise.resolve(1)), /await it first/)
	})

	test('reply() holds the value and its options', () => {
		const custom = reply('a', { status: 201, headers: { A: 'b' } })
		assert.instance(custom, CustomReply)
		assert.equal(
			{ ...custom },
			{ value: 'a', options: { status: 201, headers: { A: 'b' } }, enveloped: false },
		)
	})

	test('without options there are none', () => assert.equal(reply(1).options, {}))
})
