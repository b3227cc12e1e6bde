import * as assert from 'uvu/assert'
import { compileHandler } from '../../../lib/handler/mount/compile.ts'
import type { Guards } from '../../../lib/handler/mount/declarations.ts'
import { CrudHandler, MemoryModel, RestHandler } from '../../../lib/index.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const NOBODY: Guards = { authenticator: undefined, acl: undefined }
const SOMEBODY: Guards = { authenticator: { authenticate: () => null }, acl: { allows: () => true } }

function compile(handler: RestHandler, guards = NOBODY): ReturnType<typeof compileHandler>['parts'] {
	return compileHandler(handler, guards, ['blog']).parts
}

/** A handler class called Blog with these methods and fields. */
function blog(methods: readonly string[], fields: object = {}): RestHandler {
	class Blog extends RestHandler {}
	for (const name of methods) {
		Object.defineProperty(Blog.prototype, name, { value: () => name, configurable: true })
	}
	return Object.assign(new Blog(), fields)
}

describe('mount/compile', (test) => {
	test('methods are compiled into the lookup, custom routes into the route table', () => {
		const { name, table, routes } = compile(
			blog(['get_article', 'post__default', 'page', 'get_blog_post'], {
				customRoutes: { 'GET custom/%s': 'page', 'POST again': 'get_article' },
			}),
		)
		assert.is(name, 'Blog')
		for (const resource of ['blog_post', 'blog-post']) {
			assert.is(table.get('GET', resource)?.name, 'get_blog_post')
		}
		assert.is(table.get('GET', 'article')?.name, 'get_article')
		assert.is(table.get('POST', undefined)?.name, 'post__default')
		assert.is(routes?.match('GET', ['custom', 'a'])?.value.action.name, 'page')
	})

	test('a method is one action, however many routes lead to it', () => {
		const { table, routes } = compile(blog(['get_a_b'], { customRoutes: { 'POST x': 'get_a_b' } }))
		assert.is(table.get('GET', 'a_b'), table.get('GET', 'a-b'))
		assert.is(table.get('GET', 'a_b'), routes?.match('POST', ['x'])?.value.action)
	})

	test("the handler's own authenticator and acl take precedence over the server's", () => {
		const own = { authenticator: { authenticate: () => null }, acl: { allows: () => false } }
		const { authenticator, acl } = compile(blog(['get_a']), SOMEBODY)
		assert.equal({ authenticator, acl }, SOMEBODY)
		assert.is(compile(blog(['get_a'], own), SOMEBODY).acl, own.acl)
		assert.is(compile(blog(['get_a'], own), NOBODY).authenticator, own.authenticator)
	})

	test('access may be declared for the target of a custom route, by its name', () => {
		const fields = { customRoutes: { 'GET x': 'page' }, access: { page: 'user' } }
		const { routes } = compile(blog(['page'], fields), SOMEBODY)
		assert.is(routes?.match('GET', ['x'])?.value.action.access.user, true)
	})

	test('a class without a name is called "the handler"', () => {
		const nameless = (() =>
			class extends RestHandler {
				get_a() {}
			})()
		Object.defineProperty(nameless, 'name', { value: '' })
		assert.is(compile(new nameless()).name, 'the handler')
	})

	const streamed: [string, readonly string[], object][] = [
		['a POST', ['post_a'], { streaming: ['post_a'] }],
		[
			'a PUT, PATCH, DELETE and QUERY',
			['put_a', 'patch_a', 'delete_a', 'query_a'],
			{ streaming: ['put_a', 'patch_a', 'delete_a', 'query_a'] },
		],
		[
			'a GET that a custom route leads a POST to',
			['get_a'],
			{ customRoutes: { 'POST up': 'get_a' }, streaming: { get_a: { maxBody: 5 } } },
		],
		['a target of GET and PUT', ['up'], { customRoutes: { 'GET|PUT up': 'up' }, streaming: ['up'] }],
		[
			'a target of two routes',
			['up'],
			{ customRoutes: { 'GET a': 'up', 'QUERY b': 'up' }, streaming: ['up'] },
		],
		['a target of ALL', ['up'], { customRoutes: { 'ALL up/%s': 'up' }, streaming: ['up'] }],
	]
	for (const [what, methods, fields] of streamed) {
		test(`${what} may stream`, () => assert.is(compile(blog(methods, fields)).name, 'Blog'))
	}

	test('actions provided by a handler stream where their methods have a body', () => {
		const model = new MemoryModel('t', { key: 'id', fields: { id: 'integer' } })
		const crud = (streaming: string[]): RestHandler =>
			Object.assign(new CrudHandler(model, { visible: 'all' }), { streaming })
		// GET and QUERY lead to it.
		assert.is(compile(crud(['list'])).name, 'CrudHandler')
		assert.match(
			messageOf(() => compile(crud(['read']))),
			'CrudHandler.streaming names read, which answers only GET, and the body of a GET is never read',
		)
	})

	const bodiless = (name: string): string =>
		`Blog.streaming names ${name}, which answers only GET, and the body of a GET is never read: take ${name} out of streaming, or let it answer one of POST, PUT, PATCH, DELETE, QUERY`
	const shadow = 'is a field that hides this.status of RestHandler: give it another name'
	const refusals: [string, readonly string[], object, string][] = [
		[
			'a resource by two names',
			['get_a_b', 'get_a-b'],
			{},
			'Blog.get_a-b and Blog.get_a_b both answer GET a-b: remove one',
		],
		[
			'a resource by two names, declared the other way round',
			['get_a-b', 'get_a_b'],
			{},
			'Blog.get_a_b and Blog.get_a-b both answer GET a-b: remove one',
		],
		[
			'a name that ends in _',
			['get_a_'],
			{},
			'Blog.get_a_ begins like a route, but "a_" can\'t be a resource: use letters, digits, _ and -, beginning and ending with a letter or digit; a helper is best named in camelCase',
		],
		[
			'a custom route to a method that is missing',
			['page'],
			{ customRoutes: { 'GET custom/%s': 'pgae' } },
			'Blog.customRoutes["GET custom/%s"]: "pgae" is not a method of Blog: did you mean page?',
		],
		[
			"a custom route to a helper of RestHandler's",
			['page'],
			{ customRoutes: { 'GET x': 'getParams' } },
			'Blog.customRoutes["GET x"]: "getParams" is not a method of Blog; there are page',
		],
		[
			'a custom route to constructor',
			[],
			{ customRoutes: { 'GET x': 'constructor' } },
			'Blog.customRoutes["GET x"]: "constructor" is not a method of Blog',
		],
		[
			'a custom route to a function',
			['page'],
			{ customRoutes: { 'GET x': () => 1 } },
			'Blog.customRoutes["GET x"] must name a method of Blog, found a function',
		],
		[
			'custom routes that are no object',
			[],
			{ customRoutes: 'GET x' },
			"Blog.customRoutes must be a plain object: { 'GET custom/%s': 'page' }",
		],
		[
			'custom routes that are null',
			[],
			{ customRoutes: null },
			"Blog.customRoutes must be a plain object: { 'GET custom/%s': 'page' }",
		],
		['a GET that streams', ['get_a'], { streaming: ['get_a'] }, bodiless('get_a')],
		[
			'a GET that streams beside a POST, with limits',
			['post_a', 'get_a'],
			{ streaming: { post_a: {}, get_a: { maxBody: 5 } } },
			bodiless('get_a'),
		],
		[
			'a stream that custom routes lead only GET to',
			['up'],
			{ customRoutes: { 'GET a': 'up', 'GET b': 'up' }, streaming: ['up'] },
			bodiless('up'),
		],
		[
			'a custom route with a query',
			['page'],
			{ customRoutes: { 'GET q?x': 'page' } },
			"Blog.customRoutes['GET q?x']: a pattern may not hold ?, # or \\, which no client sends in a path: remove ?",
		],
		['a field named like a helper', [], { status: 5 }, `Blog.status ${shadow}`],
		['a field named like a helper, null', [], { status: null }, `Blog.status ${shadow}`],
		['a field named like a helper, without a value', [], { status: undefined }, `Blog.status ${shadow}`],
		[
			'a field named like an accessor',
			[],
			() => Object.defineProperty(blog([]), 'user', { value: { id: 'x' }, enumerable: true }),
			'Blog.user is a field that hides this.user of RestHandler: give it another name',
		],
		[
			'an arrow in a field',
			[],
			{ get_x: () => 1 },
			"Blog.get_x is a function held in a field, whose `this` would be the shared handler and not the request's view: write a method, get_x(…) { … }",
		],
	]
	for (const [what, methods, fields, message] of refusals) {
		test(`${what} is refused: ${message}`, () => {
			const handler = typeof fields === 'function' ? (fields() as RestHandler) : blog(methods, fields)
			assert.is(
				messageOf(() => compile(handler)),
				message,
			)
		})
	}

	for (const [key, part] of [
		['FETCH x', 'FETCH'],
		['GET custom/%x', '%x'],
		['GET', 'GET'],
	] as const) {
		test(`the custom route '${key}' is refused, naming the handler, the key and ${part}`, () => {
			const message = messageOf(() => compile(blog(['page'], { customRoutes: { [key]: 'page' } })))
			assert.ok(message.startsWith(`Blog.customRoutes['${key}']`), message)
			assert.ok(message.includes(part), message)
		})
	}

	test('two equivalent custom routes are refused, naming both', () => {
		const customRoutes = { 'GET|POST a/%s': 'page', 'POST a/%s': 'page' }
		const message = messageOf(() => compile(blog(['page'], { customRoutes })))
		assert.ok(message.includes("'POST a/%s'") && message.includes("'GET|POST a/%s'"), message)
	})

	test('an authenticator or acl without its method is refused', () => {
		assert.is(
			messageOf(() => compile(blog([], { authenticator: { authenticat() {} } }))),
			'Blog.authenticator must have a method authenticate',
		)
		assert.is(
			messageOf(() => compile(blog([], { acl: () => true }))),
			'Blog.acl must have a method allows',
		)
	})

	test('get_ alone is not a route, and may be a helper', () => {
		const { table } = compile(blog(['get_', 'get_a']))
		assert.not(table.hasResource([''], 0))
		assert.is(table.get('GET', undefined), undefined)
	})
})
