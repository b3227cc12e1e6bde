import * as assert from 'uvu/assert'
import { compileHandler } from '../../../lib/handler/mount/compile.ts'
import { HOOKS, type ServerHooks } from '../../../lib/handler/mount/compile-hooks.ts'
import { CrudHandler, MemoryModel, RestHandler } from '../../../lib/index.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

function compile(handler: RestHandler, server: ServerHooks = {}): ReturnType<typeof compileHandler>['parts'] {
	return compileHandler(handler, { authenticator: undefined, acl: undefined, ...server }, ['blog']).parts
}

class Blog extends RestHandler {
	get_a() {}
}

describe('mount/compile-hooks', (test) => {
	test('without hooks nothing is compiled', () => {
		assert.is(compile(new Blog()).hooks, undefined)
		const model = new MemoryModel('t', { key: 'id', fields: { id: 'integer' } })
		assert.is(compile(new CrudHandler(model, { visible: 'all' })).hooks, undefined)
	})

	test('init and dispose are not called by requests', () => {
		class Opened extends Blog {
			override init() {}
			override dispose() {}
		}
		assert.is(compile(new Opened()).hooks, undefined)
	})

	test('inherited ones are used, and called on the view', () => {
		class Parent extends Blog {
			override before() {
				Object.assign(this, { called: true })
			}
		}
		class Child extends Parent {}
		const { hooks } = compile(new Child())
		const view = {}
		assert.equal(
			hooks?.before.map(({ name }) => name),
			['Child.before()'],
		)
		hooks?.before[0]?.run(view, undefined)
		assert.equal(view, { called: true })
		assert.equal([hooks?.after, hooks?.onError], [[], []])
	})

	test("the server's run around the handler's", () => {
		class Hooked extends Blog {
			override before() {}
			override after() {}
			override onError() {}
		}
		const { hooks } = compile(new Hooked(), { before() {}, after() {}, onError() {} })
		assert.equal(
			[hooks?.before, hooks?.after, hooks?.onError].map((all) => all?.map(({ name }) => name)),
			[
				['the option before', 'Hooked.before()'],
				['Hooked.after()', 'the option after'],
				['Hooked.onError()', 'the option onError'],
			],
		)
	})

	test('names that only begin like hooks are routes or helpers', () => {
		class Named extends Blog {
			get_before() {}
			before_a() {}
		}
		const { hooks, table } = compile(new Named())
		assert.is(hooks, undefined)
		assert.is(table.get('GET', 'before')?.name, 'get_before')
	})

	for (const name of HOOKS) {
		test(`${name} defined as a field is refused`, () => {
			assert.is(
				messageOf(() => compile(Object.assign(new Blog(), { [name]: () => {} }))),
				`Blog.${name} is a function held in a field, whose \`this\` would be the shared handler and not the request's view: write a method, ${name}(…) { … }`,
			)
			assert.is(
				messageOf(() => compile(Object.assign(new Blog(), { [name]: true }))),
				`Blog.${name} is a field that hides this.${name} of RestHandler: give it another name`,
			)
		})

		test(`${name} as a getter, or as a value on the prototype, is refused`, () => {
			class Getting extends Blog {}
			Object.defineProperty(Getting.prototype, name, { get: () => () => {} })
			assert.is(
				messageOf(() => compile(new Getting())),
				`Getting.${name} must be a method, found a getter`,
			)
			class Holding extends Blog {}
			Object.defineProperty(Holding.prototype, name, { value: 'text' })
			assert.is(
				messageOf(() => compile(new Holding())),
				`Holding.${name} must be a method, found string`,
			)
		})

		test(`no custom route can reach ${name}`, () => {
			class Routed extends Blog {
				override customRoutes = { 'GET x': name }
			}
			Object.defineProperty(Routed.prototype, name, { value() {} })
			assert.is(
				messageOf(() => compile(new Routed())),
				`Routed.customRoutes["GET x"]: ${name}() is a hook, which is called around methods: name a method`,
			)
		})
	}
})
