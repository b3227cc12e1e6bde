/** `attached`: a value created once per object, even for one that isn't extensible. */
import * as assert from 'uvu/assert'
import { attach, attached, attachment } from '../../lib/base/attached.ts'
import { describe } from '../helpers/describe.ts'

const KEY: unique symbol = Symbol('verbena.test')

describe('base/attached', (test) => {
	for (const owner of [{ a: 1 }, Object.freeze({ a: 1 })]) {
		test(`${Object.isFrozen(owner) ? 'a frozen' : 'an'} object keeps its attached value, which is not enumerable`, () => {
			let made = 0
			const make = () => ({ made: ++made })
			assert.is(attached(owner, KEY, make), attached(owner, KEY, make))
			assert.equal([made, Object.keys(owner)], [1, ['a']])
			attach(owner, KEY, undefined)
			assert.is(attachment(owner, KEY), undefined)
		})
	}

	test('a value belongs to one object, not to those that inherit from it', () => {
		const parent = {}
		attach(parent, KEY, 1)
		assert.is(attachment(Object.create(parent), KEY), undefined)
	})
})
