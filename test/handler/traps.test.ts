/** Mistaking the request's `this` for the shared handler: what happens, and the errors that explain it. */
import * as assert from 'uvu/assert'
import { RestHandler } from '../../lib/index.ts'
import { asking, messageOf, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const INTERNAL =
	/^500 \{"success":false,"error":"Internal Server Error","code":"internal","requestId":"[\w-]+"\}$/

describe('handler: state', (test) => {
	test('a write to the shared handler is 500, and the log says what to do instead', async () => {
		class Counter extends RestHandler {
			private hits = 0
			get_hit() {
				this.hits++
				return this.hits
			}
		}
		const { said, logged, lines } = asking({ api: new Counter() })
		assert.match(await said('/api/hit'), INTERNAL)
		assert.is(
			logged(),
			"Cannot assign to read only property 'hits' of object '#<Counter>' (a handler is frozen once it is mounted, because what one request writes would be seen by others, or lost: keep shared state in an object that the handler holds (this.stats.hits++), and declare a field without a value (article?: Article) for the state of one request)",
		)
		assert.equal(
			lines.map(({ level, message, fields }) => [level, message, fields.handler, fields.action, fields.url]),
			[['error', 'get_hit failed', 'Counter', 'get_hit', '/api/hit']],
		)
	})

	test('shared state can be held in an object of the handler', async () => {
		class Counter extends RestHandler {
			private readonly stats = { hits: 0 }
			get_hit() {
				this.stats.hits++
				return this.stats.hits
			}
		}
		const { said } = asking({ api: new Counter() })
		assert.is(await said('/api/hit'), ok(1))
		assert.is(await said('/api/hit'), ok(2))
	})

	test('a field without a value is per-request state', async () => {
		class Blog extends RestHandler {
			private article?: string
			private other: string | undefined = undefined
			get_article(id: string) {
				const before = [this.article, this.other]
				this.article = id
				this.other = `other ${id}`
				return [before, this.shown()]
			}
			private shown() {
				return [this.article, this.other]
			}
		}
		const { said } = asking({ api: new Blog() })
		for (const id of ['1', '2']) {
			assert.is(
				await said(`/api/article/${id}`),
				ok([
					[null, null],
					[id, `other ${id}`],
				]),
			)
		}
	})

	test('an undeclared field is per-request state too', async () => {
		class Blog extends RestHandler {
			get_a() {
				return Object.assign(this, { extra: 1 }).extra
			}
		}
		const { said } = asking({ api: new Blog() })
		assert.is(await said('/api/a'), ok(1))
		assert.is(await said('/api/a'), ok(1))
	})

	test('a #private member is 500, and the log names both alternatives', async () => {
		class Blog extends RestHandler {
			#secret = 'x'
			get_secret() {
				return this.#secret
			}
		}
		const { said, logged } = asking({ api: new Blog() })
		assert.match(await said('/api/secret'), INTERNAL)
		assert.is(
			logged(),
			"Cannot read private member #secret from an object whose class did not declare it (#private members can't be reached through a request's view: use TypeScript's private, or mount a factory, `() => new Blog()`)",
		)
	})

	test('#private members work in instances made by a factory', async () => {
		class Blog extends RestHandler {
			#hits = 0
			get_hit() {
				this.#hits++
				return [this.#hits, this.query.a]
			}
		}
		const { said } = asking({ api: () => new Blog() })
		assert.is(await said('/api/hit?a=b'), ok([1, 'b']))
		assert.is(await said('/api/hit?a=c'), ok([1, 'c']))
	})
})

describe('handler: outside of a request', (test) => {
	class Blog extends RestHandler {
		get_a() {}
	}
	const uses: [string, (blog: Blog) => unknown][] = [
		['controller', (blog) => blog.controller],
		['cache', (blog) => blog.cache],
		['request', (blog) => blog.request],
		['params', (blog) => blog.params],
		['query', (blog) => blog.query],
		['queryAll', (blog) => blog.queryAll('a')],
		['body', (blog) => blog.body],
		['post', (blog) => blog.post],
		['files', (blog) => blog.files],
		['user', (blog) => blog.user],
		['user', (blog) => Object.assign(blog, { user: null })],
		['status', (blog) => blog.status(201)],
		['header', (blog) => blog.header('a', 'b')],
		['error', (blog) => blog.error('no')],
		['respond', (blog) => blog.respond(1)],
		['getParams', (blog) => blog.getParams(['a'])],
		['getPutData', (blog) => blog.getPutData()],
		['getRawPostData', (blog) => blog.getRawPostData()],
		['can', (blog) => blog.can('a')],
		['requireAcl', (blog) => blog.requireAcl('a')],
		['requireAuth', (blog) => blog.requireAuth()],
	]
	for (const [member, use] of uses) {
		test(`this.${member} throws a TypeError that says where it works`, () => {
			const message = `this.${member} of Blog was used outside of a request: it works in the methods that a request calls, whose \`this\` is made for that request`
			for (const blog of [new Blog(), Object.freeze(new Blog())]) {
				assert.is(
					messageOf(() => use(blog)),
					message,
				)
			}
		})
	}

	test('getParamsAsync rejects with the same message', async () => {
		const error = await new Blog().getParamsAsync(['a']).catch((reason: unknown) => reason)
		assert.match(String(error), /^TypeError: this\.getParamsAsync of Blog was used outside of a request/)
	})

	test('a helper called on the shared handler during a request is refused too', async () => {
		class Wrong extends RestHandler {
			private readonly self: Wrong = this
			get_a() {
				return this.self.query
			}
		}
		const { said, logged } = asking({ api: new Wrong() })
		assert.match(await said('/api/a'), INTERNAL)
		assert.match(logged(), /^this\.query of Wrong was used outside of a request/)
	})
})

describe('handler: members that only read', (test) => {
	test('cache and controller belong to the mount', async () => {
		class Blog extends RestHandler {
			async get_a() {
				await this.cache.set('k', 'v', 5)
				return [await this.cache.get('k'), this.controller === server.controller]
			}
		}
		const { server, said } = asking({ api: new Blog(), made: () => new Blog() })
		assert.is(await said('/api/a'), ok(['v', true]))
		assert.is(await said('/made/a'), ok(['v', true]))
	})

	test('a handler can be mounted while requests are served', async () => {
		class Late extends RestHandler {
			get_a() {
				return 'late'
			}
		}
		class Blog extends RestHandler {
			post_mount() {
				this.controller.service('late', new Late())
			}
		}
		const { said } = asking({ api: new Blog() })
		assert.is(await said('/late/a'), '404 {"success":false,"error":"Not Found","code":"not_found"}')
		assert.is(await said('POST /api/mount'), ok(null))
		assert.is(await said('/late/a'), ok('late'))
	})

	test('params are the arguments of the method', async () => {
		class Blog extends RestHandler {
			override customRoutes = { 'GET c/%s/%d': 'custom' }
			get_a(..._all: string[]) {
				return this.params
			}
			get__default(..._all: string[]) {
				return this.params
			}
			custom() {
				return this.params
			}
		}
		const { said } = asking({ api: new Blog() })
		assert.is(await said('/api/a/1/b'), ok(['1', 'b']))
		assert.is(await said('/api/x/y'), ok(['x', 'y']))
		assert.is(await said('/api/c/x/7'), ok(['x', 7]))
	})
})
