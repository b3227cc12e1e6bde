import * as assert from 'uvu/assert'
import { methodsOf, refuseFunctionFields, routeOf, spellingsOf } from '../../../lib/handler/mount/methods.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

class Base {
	get_base() {}
}

describe('mount/methods', (test) => {
	test('methods come from the classes below the base, nearest first', () => {
		class Parent extends Base {
			get_a() {
				return 'parent'
			}
			helper() {}
		}
		class Child extends Parent {
			override get_a() {
				return 'child'
			}
			post_b() {}
		}
		const methods = methodsOf(new Child(), Base.prototype)
		assert.equal([...methods.keys()], ['get_a', 'post_b', 'helper'])
		assert.is(methods.get('get_a')?.call({}), 'child')
	})

	test('methods of the base and of Object are not included', () => {
		const methods = methodsOf(new (class extends Base {})(), Base.prototype)
		assert.is(methods.size, 0)
	})

	test('getters and values without a route name are ignored', () => {
		class Blog extends Base {
			get title() {
				return ''
			}
		}
		assert.is(methodsOf(new Blog(), Base.prototype).size, 0)
	})

	const odd: [string, PropertyDescriptor, string][] = [
		['get_a', { get: () => 1 }, 'Blog.get_a must be a method, found a getter'],
		['get_a', { set: () => {} }, 'Blog.get_a must be a method, found a setter'],
		['post_a', { value: 5 }, 'Blog.post_a must be a method, found number'],
		['put__default', { value: undefined }, 'Blog.put__default must be a method, found undefined'],
	]
	for (const [name, slot, message] of odd) {
		test(`${message}`, () => {
			class Blog extends Base {}
			Object.defineProperty(Blog.prototype, name, slot)
			assert.is(
				messageOf(() => methodsOf(new Blog(), Base.prototype)),
				message,
			)
		})
	}

	test("a subclass's method takes precedence over its parent's getter", () => {
		class Parent extends Base {}
		Object.defineProperty(Parent.prototype, 'get_a', { get: () => 1 })
		class Child extends Parent {
			get_a() {}
		}
		assert.equal([...methodsOf(new Child(), Base.prototype).keys()], ['get_a'])
	})

	test('a function in a field is refused only when it has a route name', () => {
		class Blog extends Base {
			helper = () => 1
			get_secret = 'text'
		}
		refuseFunctionFields(new Blog())
		class Wrong extends Base {
			get_a = () => 1
		}
		assert.is(
			messageOf(() => refuseFunctionFields(new Wrong())),
			"Wrong.get_a is a function held in a field, whose `this` would be the shared handler and not the request's view: write a method, get_a(…) { … }",
		)
	})

	const routes: [string, string | undefined, string | undefined][] = [
		['get_a', 'GET', 'a'],
		['post_blog_post', 'POST', 'blog_post'],
		['put_a-b', 'PUT', 'a-b'],
		['patch_A1', 'PATCH', 'A1'],
		['delete_x', 'DELETE', 'x'],
		['query_9', 'QUERY', '9'],
		['get_default', 'GET', 'default'],
	]
	for (const [name, method, resource] of routes) {
		test(`${name} answers ${method} ${resource}`, () =>
			assert.equal(routeOf('Blog', name), { name, method, resource }))
	}
	test('get__default answers every path without a route', () => {
		assert.equal(routeOf('Blog', 'get__default'), {
			name: 'get__default',
			method: 'GET',
			resource: undefined,
		})
	})
	for (const name of [
		'get_',
		'get',
		'getArticle',
		'helper',
		'_get_a',
		'head_a',
		'options_a',
		'Get_a',
		'GET_a',
		'',
	]) {
		test(`"${name}" is not a route`, () => assert.is(routeOf('Blog', name), undefined))
	}
	for (const [name, rest] of [
		['get_a_', 'a_'],
		['get__a', '_a'],
		['get___default', '__default'],
		['get_-a', '-a'],
		['get_a-', 'a-'],
		['get_é', 'é'],
		['get_a b', 'a b'],
		['get_a/b', 'a/b'],
		['get_a.b', 'a.b'],
		['get_$', '$'],
		['get_a\n', 'a\n'],
	] as const) {
		test(`${JSON.stringify(name)} is refused`, () => {
			assert.is(
				messageOf(() => routeOf('Blog', name)),
				`Blog.${name} begins like a route, but ${JSON.stringify(rest)} can't be a resource: use letters, digits, _ and -, beginning and ending with a letter or digit; a helper is best named in camelCase`,
			)
		})
	}

	for (const [resource, spellings] of [
		['a', ['a']],
		['a-b', ['a-b']],
		['blog_post', ['blog_post', 'blog-post']],
		['a_b_c', ['a_b_c', 'a-b-c']],
		['a_b-c', ['a_b-c', 'a-b-c']],
	] as const) {
		test(`${resource} is served as ${spellings.join(' and ')}`, () =>
			assert.equal(spellingsOf(resource), [...spellings]))
	}
})
