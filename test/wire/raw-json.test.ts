import * as assert from 'uvu/assert'
import { RawJson } from '../../lib/wire/raw-json.ts'
import { describe } from '../helpers/describe.ts'

describe('wire/raw-json', (test) => {
	test('keeps its text unchanged, and parses it on each call', () => {
		const raw = new RawJson('{"a": 1}')
		assert.is(raw.text, '{"a": 1}')
		assert.equal(raw.value(), { a: 1 })
		assert.is.not(raw.value(), raw.value())
	})
})
