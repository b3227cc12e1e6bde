import * as assert from 'uvu/assert'
import { linesByName } from '../../lib/reply/headers.ts'
import { describe } from '../helpers/describe.ts'

describe('reply/headers', (test) => {
	test('names are in lower case, and repeated ones are a list', () => {
		const lines = linesByName(['Allow', 'GET', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'SET-COOKIE', 'c=3'])
		assert.equal({ ...lines }, { allow: 'GET', 'set-cookie': ['a=1', 'b=2', 'c=3'] })
	})

	test('inherited properties are not found as names', () => {
		assert.is(linesByName(['__proto__', 'a'])['constructor'], undefined)
	})
})
