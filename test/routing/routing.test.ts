import * as assert from 'uvu/assert'
import { isRestError } from '../../lib/base/error.ts'
import type { Method, RouteMethod } from '../../lib/base/http.ts'
import type { Action } from '../../lib/exchange/action.ts'
import { RouteTable } from '../../lib/routing/custom/custom-routes.ts'
import { LookupTable, type Mount, MountTree, overrideMethod, parsePath } from '../../lib/routing/routing.ts'
import { SpecMemo } from '../../lib/validate/validate.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

function mount(...path: string[]): Mount {
	return {
		path,
		handler: {},
		...{ name: path.join('/'), label: path.join('/'), routeOf: () => undefined },
		view: () => ({}),
		routes: new RouteTable(),
		table: new LookupTable(),
		wrap: true,
		errorBody: undefined,
		silent: false,
		authenticator: undefined,
		acl: undefined,
		idempotencyKeys: 'user',
		deprecation: undefined,
		hooks: undefined,
		endpoints: [],
		init: undefined,
	}
}

describe('MountTree', (test) => {
	const tree = new MountTree()
	for (const path of [['blog'], ['blog', 'api'], ['blog', 'api', 'v2', 'deep'], ['x', 'y']]) {
		assert.ok(tree.add(mount(...path)))
	}

	const table: [string[], string | undefined, number][] = [
		[['blog'], 'blog', 1],
		[['blog', 'article', '5'], 'blog', 1],
		[['blog', 'api'], 'blog/api', 2],
		[['blog', 'api', 'article'], 'blog/api', 2],
		[['blog', 'api', 'v2'], 'blog/api', 2],
		[['blog', 'api', 'v2', 'other'], 'blog/api', 2],
		[['blog', 'api', 'v2', 'deep', 'a', 'b'], 'blog/api/v2/deep', 4],
		[['blog/api'], undefined, 0],
		[['Blog'], undefined, 0],
		[['x'], undefined, 0],
		[['x', 'y'], 'x/y', 2],
		[[], undefined, 0],
		[['__proto__'], undefined, 0],
	]
	for (const [segments, name, depth] of table) {
		test(`/${segments.map(encodeURIComponent).join('/')} leads to ${name}`, () => {
			const found = tree.find(segments)
			assert.equal([found?.mount.name, found?.depth ?? 0], [name, depth])
		})
	}

	test('a handler at the root answers paths without a longer match', () => {
		const rooted = new MountTree()
		rooted.add(mount())
		rooted.add(mount('a'))
		assert.equal(rooted.find(['b'])?.depth, 0)
		assert.equal(rooted.find([])?.depth, 0)
		assert.equal(rooted.find(['a', 'b'])?.depth, 1)
	})

	test('a path in use is refused', () => {
		const twice = new MountTree()
		assert.ok(twice.add(mount('a', 'b')))
		assert.not(twice.add(mount('a', 'b')))
		assert.ok(twice.add(mount('a')))
		assert.ok(twice.add(mount()))
		assert.not(twice.add(mount()))
	})
})

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
		steps: {},
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

describe('LookupTable', (test) => {
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
			assert.is(table.hasResource(segments, 0), known)
		})
	}

	test('a conflict is found before a route is added', () => {
		assert.is(table.get('GET', 'article')?.name, 'get_article')
		assert.is(table.get('GET', undefined)?.name, 'get__default')
		assert.is(table.get('PUT', 'article'), undefined)
		assert.is(table.get('GET', 'other'), undefined)
		assert.is(table.get('POST', undefined), undefined)
	})
})

describe('parsePath', (test) => {
	const paths: [string, string[]][] = [
		['', []],
		['/', []],
		['blog', ['blog']],
		['/blog', ['blog']],
		['blog/', ['blog']],
		['/blog/api/', ['blog', 'api']],
		['blog/api/v2', ['blog', 'api', 'v2']],
		['блог', ['блог']],
		["a:b@c;d=1,2!$&'()*+~_-.", ["a:b@c;d=1,2!$&'()*+~_-."]],
	]
	for (const [path, segments] of paths) {
		test(`"${path}" is ${JSON.stringify(segments)}`, () =>
			assert.equal(parsePath('the handler path', path), segments))
	}

	const HOLDS = 'may not hold ?, #, %, \\, blanks or control characters'
	const refusals: [unknown, string][] = [
		['//', 'the handler path "//" has an empty segment'],
		['a//b', 'the handler path "a//b" has an empty segment'],
		['//a', 'the handler path "//a" has an empty segment'],
		['a//', 'the handler path "a//" has an empty segment'],
		['///', 'the handler path "///" has an empty segment'],
		['.', 'the handler path "." has a dot segment, which clients resolve before sending a request'],
		['a/../b', 'the handler path "a/../b" has a dot segment, which clients resolve before sending a request'],
		[
			'a/:id',
			'the handler path "a/:id" would have :id as literal text: mount without it, and take it as a parameter of the methods',
		],
		[
			'a/{id}/b',
			'the handler path "a/{id}/b" would have {id} as literal text: mount without it, and take it as a parameter of the methods',
		],
		[
			'a/*',
			'the handler path "a/*" would have * as literal text: mount without it, and take it as a parameter of the methods',
		],
		['a?b', `the handler path "a?b" ${HOLDS}`],
		['a#b', `the handler path "a#b" ${HOLDS}`],
		['a%20b', `the handler path "a%20b" ${HOLDS}`],
		['a\\b', `the handler path "a\\\\b" ${HOLDS}`],
		['a b', `the handler path "a b" ${HOLDS}`],
		['a\n', `the handler path "a\\n" ${HOLDS}`],
		['a\u007f', `the handler path "a\u007f" ${HOLDS}`],
		[undefined, 'the handler path must be a string, got undefined'],
		[5, 'the handler path must be a string, got number'],
	]
	for (const [path, message] of refusals) {
		test(`${JSON.stringify(path)} is refused: ${message}`, () => {
			assert.is(
				messageOf(() => parsePath('the handler path', path)),
				message,
			)
		})
	}

	test('the message names the kind of path', () => {
		assert.is(
			messageOf(() => parsePath('base', 'a//b')),
			'base "a//b" has an empty segment',
		)
	})
})

const REFUSAL = '400 X-HTTP-Method-Override must be sent once, with a POST, and be PUT, PATCH or DELETE'

function read(method: Method, header: string | string[] | undefined): string {
	try {
		return overrideMethod(method, header)
	} catch (error) {
		if (isRestError(error)) return `${error.status} ${error.message}`
		throw error
	}
}

describe('overrideMethod', (test) => {
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

	test('two header lines are refused, even if one is valid', () => {
		assert.is(read('POST', ['PUT', 'PUT']), REFUSAL)
	})
})
