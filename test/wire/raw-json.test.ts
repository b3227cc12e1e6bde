import * as assert from 'uvu/assert'
import { RawJson } from '../../lib/wire/raw-json.ts'
import { describe } from '../helpers/describe.ts'

describe('wire/raw-json', (test) => {
	test('keeps its text as it is, and parses it anew at each call', () => {
		const raw = new RawJson('{"a": 1}')
		assert.is(raw.text, '{"a": 1}')
		assert.equal(raw.value(), { a: 1 })
		assert.is.not(raw.value(), raw.value())
	})
})
