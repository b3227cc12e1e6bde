/** `CacheFull`: what it says. */
import * as assert from 'uvu/assert'
import { CacheFull } from '../../lib/cache/cache.ts'
import { describe } from '../helpers/describe.ts'

describe('CacheFull', (test) => {
	test('names the number held and the option to raise', () => {
		const error = new CacheFull(100)
		assert.instance(error, Error)
		assert.is(error.name, 'CacheFull')
		assert.is(error.message, 'the cache holds 100 entries that may not be forgotten yet: raise max')
	})

	test('names maxBytes where that is what is full', () => {
		assert.is(
			new CacheFull(2_000, 'maxBytes').message,
			'the cache has no room under 2000 bytes that may be cleared yet: raise maxBytes',
		)
	})
})
