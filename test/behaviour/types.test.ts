/** Handler declarations compile with the right types; mistakes don't compile. */
import * as assert from 'uvu/assert'
import * as z from 'zod'
import {
	type AccessRules,
	type CustomRoutes,
	createServer,
	type Handlers,
	type Refused,
	RestHandler,
	type Specs,
	type Streaming,
} from '../../lib/index.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const authenticator = { authenticate: () => ({ id: 'ann' }) }
const acl = { allows: () => true }

/** Everything un-annotated, as it is first written. */
class Plain extends RestHandler {
	override customRoutes = { 'GET|POST custom/%s/page/%d': 'page' }
	override access = { get_a: 'user', post_a: ['article:write', 'x'], '*': 'anyone' }
	override specs = {
		post_a: {
			title: ['required', 'string', { max: 100 }],
			age: ['integer', { min: 0 }],
			tag: false,
			n: z.number(),
		},
		post_names: ['a', 'b'],
		post_schema: z.object({ a: z.string() }),
	}
	override streaming = ['post_upload']
	override wrap = false
	override suppressOutput = true
	override authenticator = authenticator
	override acl = acl
	override async init() {}
	page(name: string, number: number) {
		return { name, number }
	}
	get_a() {
		return 'a'
	}
	post_a() {
		return this.getParams()
	}
	post_names() {}
	post_schema() {}
	post_upload() {}
}

/** Annotated, so that a subclass may declare others. */
class Parent extends RestHandler {
	override customRoutes: CustomRoutes = { 'GET parent': 'page' }
	override access: AccessRules = { get_a: 'user' }
	override specs: Specs = { post_a: ['a'] }
	override streaming: Streaming = ['post_upload']
	page(): unknown {
		return 'page'
	}
	get_a(): unknown {
		return 'a'
	}
	post_a() {}
	post_upload() {}
}

class Child extends Parent {
	override customRoutes: CustomRoutes = { 'GET child': 'page' }
	override access: AccessRules = { get_b: ['b'], get_a: 'anyone' }
	override specs = { post_b: { title: ['string'] } }
	override streaming = { post_upload: { handlerTimeoutSeconds: 5 } }
	get_b() {
		return 'b'
	}
	post_b() {}
}

class Grandchild extends Child {
	override customRoutes = { 'GET grandchild': 'page' }
	override access = { get_b: 'anyone' }
}

class NotAnnotated extends Plain {
	// @ts-expect-error what Plain declares without annotation is its type: annotate it there with CustomRoutes
	override customRoutes = { 'GET other': 'page' }
	// @ts-expect-error the same: AccessRules
	override access = { get_b: 'user' }
	get_b() {}
}

abstract class Stored<T> extends RestHandler {
	protected readonly store: Map<string, T>
	constructor(store: Map<string, T>) {
		super()
		this.store = store
	}
	abstract get_item(id: string): T | Refused
}

class Numbers extends Stored<number> {
	get_item(id: string) {
		return this.store.get(id) ?? this.error('No such item', 404)
	}
}

describe('types: declarations', (test) => {
	test('a handler that declares everything un-annotated can be mounted', async () => {
		const { said } = asking({ p: new Plain() })
		assert.is(await said('/p/custom/x/page/5'), '200 {"name":"x","number":5}')
	})

	test('subclasses with other routes and access can be mounted, and their declarations apply', async () => {
		const handlers: Handlers = { child: Child, grandchild: () => new Grandchild(), not: new NotAnnotated() }
		const { said } = asking(handlers, { authenticator, acl: { allows: () => false } })
		assert.is(await said('/child/child'), ok('page'))
		assert.is(await said('/child/parent'), '404 {"success":false,"error":"Not Found","code":"not_found"}')
		assert.is(await said('/child/b'), '403 {"success":false,"error":"Forbidden","code":"forbidden"}')
		assert.is(await said('/grandchild/b'), ok('b'))
		assert.is(await said('/grandchild/grandchild'), ok('page'))
	})

	test('generic and abstract classes can be mounted', async () => {
		const { said } = asking({ n: new Numbers(new Map([['a', 5]])) })
		assert.is(await said('/n/item/a'), ok(5))
		assert.is(await said('/n/item/b'), '404 {"success":false,"error":"No such item","code":"not_found"}')
	})

	test('declarations that could never be mounted do not compile', () => {
		// @ts-expect-error a class is constructed without arguments: pass an instance
		assert.throws(() => createServer({ n: Numbers, x: 5 }))
		// @ts-expect-error a factory is synchronous
		assert.throws(() => createServer({ n: async () => new Parent() }), /a factory must be synchronous/)
		// @ts-expect-error a misspelt option
		assert.throws(() => createServer({}, { maxbody: 5 }), /createServer has no option maxbody/)
		class Wrong extends RestHandler {
			// @ts-expect-error access is by method name
			override access = { get_a: 5 }
			// @ts-expect-error a route leads to the name of a method
			override customRoutes = { 'GET a': () => 1 }
			// @ts-expect-error a field named like a helper would hide it
			status = 5
		}
		assert.throws(() => createServer({ w: new Wrong() as never }))
	})
})
