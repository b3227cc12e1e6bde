/** The 422 response for problems, and the messages of schemas, which never contain the sent value. */
import * as assert from 'uvu/assert'
import { isRestError } from '../../lib/base/error.ts'
import { invalid, nest, problemsOf } from '../../lib/validate/problem.ts'
import type { Detail } from '../../lib/wire/codes.ts'
import { describe } from '../helpers/describe.ts'

const problem = (field: string, code = 'email', message = 'must be an email address'): Detail => ({
	field,
	code,
	message,
})

describe('invalid', (test) => {
	test('is a 422 with every problem in its details', () => {
		const error = invalid([problem('email')])
		assert.ok(isRestError(error))
		assert.is(error.status, 422)
		assert.is(error.code, 'invalid')
		assert.equal(error.details, [{ field: 'email', code: 'email', message: 'must be an email address' }])
	})
	const table: [readonly Detail[], string][] = [
		[[problem('email')], 'email must be an email address'],
		[[problem('')], 'must be an email address'],
		[[problem('a', 'custom', 'No shouting')], 'a: No shouting'],
		[[problem('a', 'schema', 'Invalid input')], 'a: Invalid input'],
		[[problem('', 'schema', 'Invalid input')], 'Invalid input'],
		[[problem('a', 'required', 'is required'), problem('b')], 'a is required; b must be an email address'],
		[
			['a', 'b', 'c', 'd', 'e'].map((name) => problem(name, 'required', 'is required')),
			'a is required; b is required; c is required; and 2 more',
		],
	]
	for (const [problems, message] of table) {
		test(`says "${message}"`, () => assert.is(invalid(problems).message, message))
	}
	test('reports a hundred problems at most', () => {
		assert.is(invalid(Array.from({ length: 300 }, () => problem('a'))).details.length, 100)
	})
})

describe('nest', (test) => {
	test('puts only the problems from an index on inside a name', () => {
		const problems = [problem('a'), problem(''), problem('b')]
		nest(problems, 1, 'list')
		nest(problems, 2, 0)
		assert.equal(
			problems.map(({ field }) => field),
			['a', 'list', '0.list.b'],
		)
	})
})

describe('problemsOf', (test) => {
	const table: [string, unknown, string][] = [
		['Invalid email: Received "hunter2@x"', 'hunter2@x', 'Invalid email'],
		['Invalid type: Expected string but received 123', 123, 'Invalid type: Expected string'],
		['must be an email address (was "hunter2")', 'hunter2', 'must be an email address'],
		['must be a string (was {"password":"hunter2"})', { password: 'hunter2' }, 'must be a string'],
		['hunter2 is no email address', 'hunter2', 'is not valid'],
		['12345 is too large', 12345, 'is not valid'],
		['12345 is too large', 12345n, 'is not valid'],
		['"ab" is too short', 'ab', 'is not valid'],
		['must be a string', 'a', 'must be a string'],
		['Too big: expected number to be <=5', true, 'Too big: expected number to be <=5'],
	]
	for (const [message, value, expected] of table) {
		test(`turns "${message}" into "${expected}"`, () => {
			assert.equal(problemsOf([{ message, path: ['a'] }], { a: value }), [
				{ field: 'a', code: 'schema', message: expected },
			])
		})
	}
	test('joins paths of names, indexes, symbols and { key } objects with dots', () => {
		const path = ['a', { key: 0 }, Symbol('s')]
		assert.is(problemsOf([{ message: 'No', path }], {})[0]?.field, 'a.0.Symbol(s)')
	})
	test('reports a missing field found by a schema as required', () => {
		const issues = [{ message: 'Invalid input: expected string, received undefined', path: ['a'] }]
		assert.equal(problemsOf(issues, {}), [{ field: 'a', code: 'required', message: 'is required' }])
	})
	test("keeps a schema's own message about an absent field", () => {
		const issues = [{ message: 'Give an email or a phone number', path: ['email'] }]
		assert.equal(problemsOf(issues, {}), [
			{ field: 'email', code: 'schema', message: 'Give an email or a phone number' },
		])
	})
	test('has a problem even where a schema returns no issue', () => {
		assert.equal(problemsOf([], 'x'), [{ field: '', code: 'schema', message: 'is not valid' }])
	})
	test('never looks up a path in a prototype', () => {
		const issues = [{ message: 'No function Object() here', path: ['constructor', 'name'] }]
		assert.is(problemsOf(issues, {})[0]?.message, 'No function Object() here')
	})
})
