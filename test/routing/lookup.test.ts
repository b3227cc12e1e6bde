import * as assert from 'uvu/assert'
import type { RouteMethod } from '../../lib/base/http.ts'
import type { Action } from '../../lib/exchange/action.ts'
import { LookupTable } from '../../lib/routing/lookup.ts'
import { SpecMemo } from '../../lib/validate/validate.ts'
import { describe } from '../helpers/describe.ts'

function action(name: string, maxParams: number): Action {
	return {
		name,
		maxParams,
		run: () => name,
		access: { user: false, resources: [] },
		limit: undefined,
		docs: undefined,
		streaming: undefined,
		spec: undefined,
		memo: new SpecMemo(),
	}
}

const table = new LookupTable()
table.add('GET', 'article', action('get_article', 1))
table.add('POST', 'article', action('post_article', 0))
table.add('GET', 'any', action('get_any', Number.POSITIVE_INFINITY))
table.add('GET', undefined, action('get__default', 2))
table.add('PUT', undefined, action('put__default', 0))
table.addSized('DELETE', 1, action('remove', 1))
table.addSized('GET', 1, action('read', 1))

describe('lookup', (test) => {
	const found: [RouteMethod, string[], string | undefined][] = [
		['GET', ['article'], 'get_article'],
		['GET', ['article', '5'], 'get_article'],
		['GET', ['article', '5', '6'], undefined],
		['POST', ['article'], 'post_article'],
		['POST', ['article', '5'], undefined],
		['PUT', ['article'], undefined],
		['GET', ['any', '1', '2', '3', '4'], 'get_any'],
		['GET', ['Article'], undefined],
		['GET', [], undefined],
		['GET', ['_default'], undefined],
		['GET', ['__proto__'], undefined],
		['GET', ['constructor'], undefined],
	]
	for (const [method, segments, name] of found) {
		test(`${method} /${segments.join('/')} finds ${name}`, () => {
			assert.is(table.find(method, segments, 0)?.name, name)
			assert.is(table.find(method, ['blog', 'api', ...segments], 2)?.name, name)
		})
	}

	const defaults: [RouteMethod, string[], string | undefined][] = [
		['GET', [], 'get__default'],
		['GET', ['a'], 'read'],
		['GET', ['a', 'b'], 'get__default'],
		['GET', ['a', 'b', 'c'], undefined],
		['PUT', [], 'put__default'],
		['PUT', ['a'], undefined],
		['POST', [], undefined],
		['DELETE', [], undefined],
		['DELETE', ['a'], 'remove'],
		['DELETE', ['a', 'b'], undefined],
	]
	for (const [method, segments, name] of defaults) {
		test(`the default of ${method} /${segments.join('/')} is ${name}`, () => {
			assert.is(table.findDefault(method, segments, 0)?.name, name)
			assert.is(table.findDefault(method, ['blog', ...segments], 1)?.name, name)
		})
	}

	for (const [segments, known] of [
		[['article'], true],
		[['article', '1', '2', '3'], true],
		[['other'], false],
		[['_default'], false],
		[[], false],
		[['hasOwnProperty'], false],
	] as const) {
		test(`/${segments.join('/')} is ${known ? '' : 'not '}a resource of some method`, () => {
			assert.is(table.knows(segments, 0), known)
		})
	}

	test('what is taken can be told before it is added to', () => {
		assert.is(table.get('GET', 'article')?.name, 'get_article')
		assert.is(table.get('GET', undefined)?.name, 'get__default')
		assert.is(table.get('PUT', 'article'), undefined)
		assert.is(table.get('GET', 'other'), undefined)
		assert.is(table.get('POST', undefined), undefined)
	})
})
