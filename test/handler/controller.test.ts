import * as assert from 'uvu/assert'
import { createServer, MemoryCache, MemoryModel, type Mountable, RestHandler } from '../../lib/index.ts'
import { asking, messageOf, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

class Blog extends RestHandler {
	get_a(): unknown {
		return 'a'
	}
}

const INTERNAL = /^500 \{"success":false,"error":"Internal Server Error","code":"internal"/

describe('controller: what can be mounted', (test) => {
	test('an instance, a class and a factory', async () => {
		const { said } = asking({ i: new Blog(), c: Blog, f: () => new Blog() })
		for (const path of ['i', 'c', 'f']) assert.is(await said(`/${path}/a`), ok('a'))
	})

	test('a class is instantiated once, a factory called for each request and once at mount', async () => {
		let made = 0
		class Counted extends RestHandler {
			constructor() {
				super()
				made++
			}
			get_a() {
				return made
			}
		}
		const byClass = asking({ c: Counted })
		assert.is(await byClass.said('/c/a'), ok(1))
		assert.is(await byClass.said('/c/a'), ok(1))
		const byFactory = asking({ f: () => new Counted() })
		assert.is(made, 2)
		assert.is(await byFactory.said('/f/a'), ok(3))
		assert.is(await byFactory.said('/f/a'), ok(4))
	})

	const kinds = 'must be a RestHandler, a class that extends it, or a function that returns one, found'
	const refusals: [string, unknown, string][] = [
		['an object', { get_a() {} }, `"x" ${kinds} an instance of Object (is verbena installed twice?)`],
		[
			'an object without prototype',
			Object.create(null),
			`"x" ${kinds} an instance of nothing (is verbena installed twice?)`,
		],
		[
			'a model',
			new MemoryModel('a', { key: 'id', fields: { id: 'integer' } }),
			`"x" ${kinds} an instance of MemoryModel: new CrudHandler(model, { visible: … }) serves a model`,
		],
		['null', null, `"x" ${kinds} null`],
		['undefined', undefined, `"x" ${kinds} undefined`],
		['text', 'Blog', `"x" ${kinds} string`],
		['a promise', Promise.resolve(new Blog()), `"x" ${kinds} a promise: a factory must be synchronous`],
		[
			'a factory that is asynchronous',
			async () => new Blog(),
			`"x" ${kinds} a promise: a factory must be synchronous`,
		],
		[
			'a handler whose wrap is a text',
			Object.assign(new Blog(), { wrap: 'no' }),
			'Blog.wrap must be true or false, got "no"',
		],
		[
			'a handler whose suppressOutput is a number',
			Object.assign(new Blog(), { suppressOutput: 1 }),
			'Blog.suppressOutput must be true or false, got 1',
		],
		['a factory that returns nothing', () => undefined, `"x" ${kinds} undefined`],
		['a factory that returns a class', () => Blog, `"x" ${kinds} function`],
		[
			'a class that extends nothing',
			class Other {},
			`"x" ${kinds} the class Other, which doesn't extend RestHandler`,
		],
	]
	for (const [what, handler, message] of refusals) {
		test(`${what} is refused: ${message}`, () => {
			assert.is(
				messageOf(() => createServer({ x: handler as Mountable })),
				message,
			)
		})
	}

	test("a factory's own error is passed on", () => {
		const message = messageOf(() =>
			createServer({
				x: () => {
					throw new Error('no database')
				},
			}),
		)
		assert.is(message, 'no database')
	})

	test('a factory that rejects is refused, and does not end the process', async () => {
		const unhandled: unknown[] = []
		const remember = (reason: unknown): void => void unhandled.push(reason)
		process.on('unhandledRejection', remember)
		const factory = async (): Promise<never> => {
			throw new Error('no database')
		}
		messageOf(() => createServer({ x: factory as unknown as Mountable }))
		await new Promise(setImmediate)
		process.off('unhandledRejection', remember)
		assert.equal(unhandled, [])
	})

	test('a factory with init is refused, as it would run for every request', () => {
		class Opened extends RestHandler {
			override init() {}
			get_a() {}
		}
		assert.is(
			messageOf(() => createServer({ 'blog/api': () => new Opened() })),
			'Opened.init() would be called for every request, because "blog/api" is mounted as a factory: open what it needs beforehand, and pass it to the constructor',
		)
	})

	test('a factory that returns the same instance is 500 from the first request on', async () => {
		const one = new Blog()
		const { said, logged } = asking({ f: () => one })
		for (let time = 0; time < 2; time++) {
			assert.match(await said('/f/a'), INTERNAL)
			assert.is(
				logged(),
				'the factory has returned the same Blog twice: return a new one for each request, or mount the instance itself',
			)
		}
	})

	test('a factory that returns an instance mounted elsewhere is 500, and the log says why', async () => {
		const one = new Blog()
		const { said, logged } = asking({ i: one, f: () => one })
		assert.is(await said('/i/a'), ok('a'))
		assert.match(await said('/f/a'), INTERNAL)
		assert.match(logged(), /^the factory has returned the same Blog twice/)
	})

	test('a factory that fails later is 500 and logged', async () => {
		let calls = 0
		const factory = (): Blog => {
			if (calls++ > 0) throw new Error('no more')
			return new Blog()
		}
		const { said, logged } = asking({ f: factory })
		assert.match(await said('/f/a'), INTERNAL)
		assert.is(logged(), 'no more')
	})
})

describe('controller: paths', (test) => {
	test('a path in use is refused, however it is written', () => {
		for (const second of ['blog/api', '/blog/api', 'blog/api/']) {
			const { server } = asking({ 'blog/api': new Blog() })
			assert.is(
				messageOf(() => server.controller.service(second, new Blog())),
				`${JSON.stringify(second)} is mounted twice: give each handler a path of its own`,
			)
		}
	})

	test('a malformed path is refused', () => {
		assert.is(
			messageOf(() => createServer({ 'blog//api': new Blog() })),
			'the handler path "blog//api" has an empty segment',
		)
		assert.is(
			messageOf(() => createServer({}, { base: '..' })),
			'base ".." has a dot segment, which clients resolve before sending a request',
		)
	})

	test("one instance can be mounted several times, with each mount's controller and cache", async () => {
		class Shared extends RestHandler {
			get_a() {
				return [this.controller === one.server.controller, this.cache === cache]
			}
		}
		const handler = new Shared()
		const cache = new MemoryCache({ max: 1 })
		const one = asking({ a: handler, b: handler }, { cache })
		const two = asking({ a: handler })
		assert.is(await one.said('/a/a'), ok([true, true]))
		assert.is(await one.said('/b/a'), ok([true, true]))
		assert.is(await two.said('/a/a'), ok([false, false]))
	})

	test('a refused handler leaves its path free, and is not frozen', async () => {
		class Wrong extends RestHandler {
			get_x = () => 1
		}
		const { server, said } = asking({})
		const wrong = new Wrong()
		messageOf(() => server.controller.service('a', wrong))
		assert.not(Object.isFrozen(wrong))
		server.controller.service('a', new Blog())
		assert.is(await said('/a/a'), ok('a'))
	})
})
