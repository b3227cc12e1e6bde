import { STATUS_CODES } from 'node:http'
import * as assert from 'uvu/assert'
import { codeOf, ERRORS, isErrorCode } from '../../lib/wire/codes.ts'
import { describe } from '../helpers/describe.ts'

describe('wire/codes', (test) => {
	test('each code stands for an error status, and its text is the reason phrase unless there is more to say', () => {
		for (const [code, { status, message }] of Object.entries(ERRORS)) {
			assert.ok(status >= 400 && status <= 599, code)
			assert.match(code, /^[a-z]+(_[a-z]+)*$/)
			// node still has the phrases of RFC 7231 for these, and says more than RFC 9110 for 505.
			if (![413, 422, 503].includes(status) && codeOf(status) === code)
				assert.is(message.toLowerCase(), STATUS_CODES[status]?.toLowerCase())
		}
	})

	const codes: [number, string | undefined][] = [
		[400, 'bad_request'],
		[404, 'not_found'],
		[413, 'content_too_large'],
		[503, 'unavailable'],
		[418, undefined],
		[200, undefined],
	]
	for (const [status, code] of codes) {
		test(`${status} has the code ${code}`, () => assert.is(codeOf(status), code))
	}

	for (const [name, known] of [
		['not_found', true],
		['title_taken', false],
		['toString', false],
		['__proto__', false],
		['', false],
	] as const) {
		test(`"${name}" is ${known ? '' : 'not '}a code of ours`, () => assert.is(isErrorCode(name), known))
	}
})
