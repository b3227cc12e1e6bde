import * as assert from 'uvu/assert'
import { isRestError, RestError } from '../../lib/base/error.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

describe('error', (test) => {
	const table: [string | number, string | undefined, number, string | undefined, string][] = [
		['not_found', undefined, 404, 'not_found', 'Not Found'],
		['not_found', 'No such article', 404, 'not_found', 'No such article'],
		['not_found', '', 404, 'not_found', ''],
		['invalid', undefined, 422, 'invalid', 'Unprocessable Content'],
		['outcome_unknown', undefined, 503, 'outcome_unknown', 'The outcome of this request is unknown'],
		['title_taken', undefined, 400, 'title_taken', 'Bad Request'],
		['title_taken', 'Taken', 400, 'title_taken', 'Taken'],
		['toString', 'x', 400, 'toString', 'x'],
		[404, undefined, 404, 'not_found', 'Not Found'],
		[503, undefined, 503, 'unavailable', 'Service Unavailable'],
		[418, undefined, 418, undefined, 'Error'],
		[418, 'I am a teapot', 418, undefined, 'I am a teapot'],
		[400, undefined, 400, 'bad_request', 'Bad Request'],
		[599, 'x', 599, undefined, 'x'],
	]
	for (const [given, text, status, code, message] of table) {
		test(`${given} with "${text}" is ${status} ${code} "${message}"`, () => {
			const error = new RestError(given, text)
			assert.equal([error.status, error.code, error.message], [status, code, message])
		})
	}

	for (const status of [200, 399, 600, 404.5, Number.NaN, -404, Number.POSITIVE_INFINITY]) {
		test(`a status of ${status} is refused`, () => {
			const expected = `an error's status must be a whole number from 400 to 599, got ${status}`
			assert.is(
				messageOf(() => new RestError(status)),
				expected,
			)
			assert.throws(
				() => new RestError(status),
				(error: unknown) => error instanceof RangeError,
			)
		})
	}

	test('it keeps details, headers and cause, and has none by default', () => {
		const cause = new Error('why')
		const details = [{ field: 'a', code: 'required', message: 'is required' }]
		const full = new RestError('invalid', 'x', { details, headers: { A: 'b' }, cause })
		assert.equal([full.details, full.headers, full.cause], [details, { A: 'b' }, cause])
		const bare = new RestError('invalid')
		assert.equal([bare.details, bare.headers, 'cause' in bare], [[], {}, false])
	})

	test('it is an Error by the name RestError', () => {
		const error = new RestError('gone')
		assert.instance(error, Error)
		assert.is(String(error), 'RestError: Gone')
	})

	test('it is recognised by its brand, also from a second copy of the package', () => {
		class Foreign extends Error {}
		Object.defineProperty(Foreign.prototype, Symbol.for('verbena.RestError'), { value: true })
		assert.ok(isRestError(new RestError('gone')))
		assert.ok(isRestError(new Foreign()))
	})

	test("another library's RestError is not ours", () => {
		const theirs = Object.assign(new Error('x'), { name: 'RestError', status: 404, code: 'not_found' })
		for (const value of [theirs, null, undefined, 'RestError', { [Symbol.for('verbena.RestError')]: true }]) {
			assert.not(isRestError(value))
		}
	})
})
