import * as assert from 'uvu/assert'
import { isRestError } from '../../lib/base/error.ts'
import type { Method } from '../../lib/base/http.ts'
import { overrideMethod } from '../../lib/routing/find-action.ts'
import { describe } from '../helpers/describe.ts'

const REFUSAL = '400 X-HTTP-Method-Override must be sent once, with a POST, and be PUT, PATCH or DELETE'

function read(method: Method, header: string | string[] | undefined): string {
	try {
		return overrideMethod(method, header)
	} catch (error) {
		if (isRestError(error)) return `${error.status} ${error.message}`
		throw error
	}
}

describe('find-action: X-HTTP-Method-Override', (test) => {
	const table: [Method, string | undefined, string][] = [
		['GET', undefined, 'GET'],
		['POST', undefined, 'POST'],
		['DELETE', undefined, 'DELETE'],
		['POST', 'PUT', 'PUT'],
		['POST', 'PATCH', 'PATCH'],
		['POST', 'DELETE', 'DELETE'],
		['POST', 'delete', 'DELETE'],
		['POST', ' Put ', 'PUT'],
		['POST', 'POST', REFUSAL],
		['POST', 'GET', REFUSAL],
		['POST', 'QUERY', REFUSAL],
		['POST', 'HEAD', REFUSAL],
		['POST', 'OPTIONS', REFUSAL],
		['POST', 'TRACE', REFUSAL],
		['POST', '', REFUSAL],
		['POST', 'PUT, DELETE', REFUSAL],
		['POST', 'PUT, PUT', REFUSAL],
		['POST', 'toString', REFUSAL],
		['GET', 'DELETE', REFUSAL],
		['GET', 'GET', REFUSAL],
		['HEAD', 'DELETE', REFUSAL],
		['PUT', 'DELETE', REFUSAL],
		['OPTIONS', 'PUT', REFUSAL],
		['QUERY', 'PUT', REFUSAL],
	]
	for (const [method, header, expected] of table) {
		test(`${method} + ${header} → ${expected}`, () => assert.is(read(method, header), expected))
	}

	test('two header lines are refused, even where one would do', () => {
		assert.is(read('POST', ['PUT', 'PUT']), REFUSAL)
	})
})
