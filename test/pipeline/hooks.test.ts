/** Hooks of handlers and servers over a socket: their order, their `this`, their place in the pipeline. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	MemoryModel,
	type Request,
	RestError,
	RestHandler,
	reply,
	type ServerOptions,
} from '../../lib/index.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { connected, requestText } from '../helpers/raw.ts'

/** Records its calls; all requests share the record, like the handler. */
class Noting extends RestHandler {
	readonly calls: string[] = []
	override before() {
		this.calls.push('before')
	}
	override after(value: unknown) {
		this.calls.push(`after ${JSON.stringify(value)}`)
	}
	override onError(error: unknown) {
		this.calls.push(`onError ${error}`)
	}
	get_a(): unknown {
		this.calls.push('get_a')
		return 'a'
	}
	post_a(): unknown {
		this.calls.push('post_a')
		return this.post
	}
	get_failing() {
		throw new RestError('conflict')
	}
}

function around(calls: string[]): ServerOptions {
	return {
		before: () => void calls.push('server before'),
		after: (_view, value) => void calls.push(`server after ${JSON.stringify(value)}`),
		onError: (_view, error) => void calls.push(`server onError ${error}`),
	}
}

async function textOf(url: string, init?: RequestInit): Promise<string> {
	const answer = await fetch(url, init)
	return `${answer.status} ${await answer.text()}`
}

describe('hooks: order', (test) => {
	test("the server's run around the handler's, which run around the method", () => {
		const handler = new Noting()
		return listening({ '': handler }, around(handler.calls), async ({ url }) => {
			assert.is(await textOf(`${url}/a`), ok('a'))
			assert.equal(handler.calls.splice(0), [
				...['server before', 'before', 'get_a', 'after "a"', 'server after "a"'],
			])
			assert.match(await textOf(`${url}/failing`), /^409 /)
			assert.equal(
				handler.calls.map((call) => call.split(':')[0]),
				['server before', 'before', 'onError RestError', 'server onError RestError'],
			)
		})
	})

	test('each waits for the previous one', () => {
		const calls: string[] = []
		const slowly = async (name: string): Promise<void> => {
			calls.push(`${name} begins`)
			await new Promise(setImmediate)
			calls.push(`${name} ends`)
		}
		class Slow extends RestHandler {
			override before() {
				return slowly('before')
			}
			override async after() {
				await slowly('after')
				return 'changed'
			}
			async get_a() {
				await slowly('get_a')
			}
		}
		const options: ServerOptions = {
			before: () => slowly('server before'),
			after: () => slowly('server after'),
		}
		return listening({ '': new Slow() }, options, async ({ url }) => {
			assert.is(await textOf(`${url}/a`), ok('changed'))
			const names = ['server before', 'before', 'get_a', 'after', 'server after']
			assert.equal(
				calls,
				names.flatMap((name) => [`${name} begins`, `${name} ends`]),
			)
		})
	})

	test('a subclass calls its parent by super', async () => {
		class Child extends Noting {
			override before() {
				super.before()
				this.calls.push('child before')
			}
		}
		const handler = new Child()
		await asking({ '': handler }).said('/a')
		assert.equal(handler.calls, ['before', 'child before', 'get_a', 'after "a"'])
	})

	test('requests without a method skip before and after', async () => {
		const handler = new Noting()
		const { ask } = asking({ '': handler })
		assert.is((await ask('OPTIONS /a')).status, 204)
		assert.is((await ask('/b')).status, 404)
		assert.is((await ask('DELETE /a')).status, 405)
		assert.equal(
			handler.calls.map((call) => call.split(' ')[0]),
			['onError', 'onError'],
		)
	})

	test('HEAD runs the hooks of its GET', async () => {
		const handler = new Noting()
		const { status, text } = await asking({ '': handler }).ask('HEAD /a')
		assert.equal([status, text()], [200, ''])
		assert.equal(handler.calls, ['before', 'get_a', 'after "a"'])
	})

	test('a GET with synchronous hooks is answered in the same tick', async () => {
		const { server } = asking({ '': new Noting() }, around([]))
		let isLater = false
		setImmediate(() => {
			isLater = true
		})
		const { status } = await server.inject({ url: '/a' })
		assert.equal([status, isLater], [200, false])
	})
})

describe('hooks: the view', (test) => {
	class Slots extends RestHandler {
		private id?: string
		override async before() {
			this.id = this.request.header('x-id') ?? 'none'
			await new Promise(setImmediate)
			this.header('X-Before', this.id)
		}
		async get_id() {
			const before = this.id
			await new Promise(setImmediate)
			return [before, this.params[0], this.query.q]
		}
		override after(value: unknown[]) {
			return [...value, this.id]
		}
	}

	test('the method sees what before sets; concurrent requests have separate views', () =>
		listening({ '': new Slots() }, {}, async ({ url }) => {
			const ids = Array.from({ length: 50 }, (_, at) => `i${at}`)
			const answers = ids.map(async (id) => {
				const answer = await fetch(`${url}/id?q=${id}`, { headers: { 'X-Id': id } })
				return [answer.headers.get('x-before'), await answer.text()]
			})
			assert.equal(
				await Promise.all(answers),
				ids.map((id) => [id, ok([id, null, id, id]).slice(4)]),
			)
		}))

	test("with a factory, this is the request's instance", async () => {
		let made = 0
		class Private extends RestHandler {
			#number = made++
			#seen: number[] = []
			override before() {
				this.#seen.push(this.#number)
			}
			get_a() {
				this.#seen.push(this.#number)
				return this.#seen
			}
			override after() {
				return [...this.#seen, this.#number]
			}
		}
		const { said } = asking({ '': () => new Private() })
		assert.is(await said('/a'), ok([1, 1, 1]))
		assert.is(await said('/a'), ok([2, 2, 2]))
	})

	test("the server's hooks receive the request's view", async () => {
		const views: RestHandler[] = []
		class Same extends RestHandler {
			get_a() {
				views.push(this)
			}
		}
		const { said } = asking(
			{ '': new Same() },
			{ before: (view) => void views.push(view), after: (view) => void views.push(view) },
		)
		await said('/a')
		assert.is(views.length, 3)
		assert.is(new Set(views).size, 1)
	})

	test("the server's hooks are called for every handler", async () => {
		class One extends RestHandler {
			get_a() {}
		}
		const model = new MemoryModel('t', { key: 'id', fields: { id: 'integer' } })
		const called: string[] = []
		const options: ServerOptions = { before: (view) => void called.push(view.request.url), openapi: true }
		const { ask } = asking({ one: One, t: new CrudHandler(model, { visible: 'all' }) }, options)
		for (const url of ['/one/a', '/t', '/openapi.json', '/nowhere']) await ask(url)
		assert.equal(called, ['/one/a', '/t', '/openapi.json'])
	})
})

describe('hooks: of a CrudHandler', (test) => {
	class Articles extends CrudHandler {
		override async before() {
			if (this.request.header('x-no') !== undefined) return this.error('No', 403)
			return undefined
		}
		override after() {
			this.header('X-After', this.request.method)
		}
	}
	const make = (): Articles =>
		new Articles(
			new MemoryModel('t', {
				key: 'id',
				fields: { id: 'integer', title: 'text' },
				rows: [{ id: 1, title: 'A' }],
			}),
			{
				...{ visible: 'all', updatable: ['title'], creatable: ['id', 'title'] },
				allow: ['list', 'read', 'create', 'update', 'remove'],
			},
		)

	const operations: [request: string, body: object | undefined, said: string][] = [
		[
			'GET /t',
			undefined,
			'200 {"success":true,"data":[{"id":1,"title":"A"}],"meta":{"limit":25,"offset":0,"next":null}}',
		],
		['GET /t/1', undefined, '200 {"success":true,"data":{"id":1,"title":"A"}}'],
		['POST /t', { id: 2, title: 'B' }, '201 {"success":true,"data":{"id":2,"title":"B"}}'],
		['PATCH /t/1', { title: 'C' }, '200 {"success":true,"data":{"id":1,"title":"C"}}'],
		['DELETE /t/1', undefined, '200 {"success":true,"data":{"id":1,"title":"A"}}'],
	]
	for (const [request, body, said] of operations) {
		test(`${request} runs them`, async () => {
			const { ask } = asking({ t: make() })
			const { status, headers, text } = await ask(request, { body })
			assert.is(`${status} ${text()}`, said)
			assert.is(headers['x-after'], request.split(' ')[0])
			const refused = await ask(request, { body, headers: { 'X-No': '1' } })
			assert.equal([refused.status, refused.headers['x-after']], [403, undefined])
		})
	}

	test('a 404 changed by onError for one record stays unchanged for others', async () => {
		class Telling extends CrudHandler {
			override onError(error: unknown) {
				if (!(error instanceof RestError)) return
				const who = this.request.header('x-who')
				Object.assign(error, { message: `No ${this.params[0]} for ${who}` })
				if (who === 'ann') Object.assign(error.headers, { 'X-For': 'ann' })
			}
		}
		const model = new MemoryModel('t', { key: 'id', fields: { id: 'integer' }, rows: [] })
		const options = { visible: 'all' } as const
		const { ask } = asking({ t: new Telling(model, options), u: new CrudHandler(model, options) })
		const told = async (url: string, who: string) => {
			const { status, headers, json } = await ask(url, { headers: { 'X-Who': who } })
			return [status, headers['x-for'], (json() as { error: string }).error]
		}
		assert.equal(await told('/t/5', 'ann'), [404, 'ann', 'No 5 for ann'])
		assert.equal(await told('/t/6', 'bob'), [404, undefined, 'No 6 for bob'])
		assert.equal(await told('/u/5', 'bob'), [404, undefined, 'Not Found'])
	})

	test('after gets the text of a record, and may replace it', async () => {
		class Open extends CrudHandler {
			override after(value: { value(): unknown }) {
				return { record: value.value() }
			}
		}
		const model = new MemoryModel('t', { key: 'id', fields: { id: 'integer' }, rows: [{ id: 1 }] })
		const { said } = asking({ t: new Open(model, { visible: 'all' }) })
		assert.is(await said('/t/1'), ok({ record: { id: 1 } }))
		assert.match(
			await said('/t'),
			/^200 \{"success":true,"data":\{"record":\[\{"id":1\}\]\},"meta":\{"limit":25/,
		)
	})
})

describe('hooks: with other features', (test) => {
	test('they are not part of the description', async () => {
		class Bare extends RestHandler {
			get_a() {
				return 'a'
			}
		}
		const Hooked = class Bare extends RestHandler {
			override before() {}
			override after() {}
			override onError() {}
			override dispose() {}
			get_a() {
				return 'a'
			}
		}
		const described = async (handler: RestHandler) =>
			(await asking({ b: handler }, { openapi: true }).ask('/openapi.json')).text()
		assert.is(await described(new Hooked()), await described(new Bare()))
	})

	test('before guards the description itself, and after leaves it unchanged', async () => {
		const seen: string[] = []
		const { said, ask } = asking(
			{ '': new Noting() },
			{
				openapi: true,
				before: (view) => {
					seen.push(view.request.url)
					return view.query.no === undefined ? undefined : view.error('No', 403)
				},
				after: (_view, value) => ({ value }),
			},
		)
		assert.match((await ask('/openapi.json')).text(), /^\{"openapi":"3/)
		assert.match(await said('/openapi.json?no'), /^403 /)
		assert.equal(seen, ['/openapi.json', '/openapi.json?no'])
	})

	test('a page of the explorer shows their result, and runs them once', async () => {
		const handler = new Noting()
		const { ask } = asking({ '': handler }, { explorer: true })
		const { status, headers, text } = await ask('/a', { headers: { Accept: 'text/html' } })
		assert.is(status, 200)
		assert.match(String(headers['content-type']), /^text\/html/)
		assert.match(text(), /success/)
		assert.equal(handler.calls, ['before', 'get_a', 'after "a"'])
	})

	test('an Idempotency-Key runs method and after once, and before each time', async () => {
		class Once extends Noting {
			override idempotencyKeys = 'anyone' as const
		}
		const handler = new Once()
		const { ask } = asking({ '': handler })
		const more = { body: { n: 1 }, headers: { 'Idempotency-Key': '"k"' } }
		const [first, second] = [await ask('POST /a', more), await ask('POST /a', more)]
		assert.equal([first.text(), second.text()], [ok({ n: 1 }).slice(4), ok({ n: 1 }).slice(4)])
		assert.is(second.headers['idempotent-replayed'], 'true')
		assert.equal(handler.calls, ['before', 'post_a', 'after {"n":1}', 'before'])
	})

	test('the user set in before owns the key', async () => {
		const authenticator = {
			authenticate: (request: Request) => ({ id: request.header('x-user') ?? 'nobody' }),
		}
		class Known extends RestHandler {
			readonly stats = { runs: 0 }
			override async before() {
				await this.requireAuth(authenticator)
			}
			post_a() {
				this.stats.runs++
				return this.stats.runs
			}
		}
		const { said } = asking({ '': new Known() })
		const more = (user: string) => ({ headers: { 'Idempotency-Key': '"k"', 'X-User': user } })
		assert.equal(
			[
				await said('POST /a', more('ann')),
				await said('POST /a', more('bob')),
				await said('POST /a', more('ann')),
			],
			[ok(1), ok(2), ok(1)],
		)
	})

	test('a method that succeeded is not run again when a later hook fails', async () => {
		class Failing extends RestHandler {
			readonly stats = { runs: 0 }
			override idempotencyKeys = 'anyone' as const
			override after() {
				throw this.query.forbidden === undefined ? new Error('broken') : new RestError('forbidden')
			}
			post_a() {
				return ++this.stats.runs
			}
		}
		for (const [url, status] of [
			['/a', 500],
			['/a?forbidden', 403],
		] as const) {
			const handler = new Failing()
			const { ask } = asking({ '': handler })
			const more = { headers: { 'Idempotency-Key': '"k"' } }
			assert.is((await ask(`POST ${url}`, more)).status, status)
			assert.is((await ask(`POST ${url}`, more)).status, 409)
			assert.is(handler.stats.runs, 1)
		}
	})

	test('errors made by onError are stored for an Idempotency-Key', async () => {
		class Mapped extends RestHandler {
			readonly stats = { runs: 0 }
			override idempotencyKeys = 'anyone' as const
			override onError() {
				return new RestError('conflict', `run ${this.stats.runs}`)
			}
			post_a() {
				this.stats.runs++
				throw new Error('duplicate')
			}
		}
		const { said } = asking({ '': new Mapped() })
		const more = { headers: { 'Idempotency-Key': '"k"' } }
		const expected = '409 {"success":false,"error":"run 1","code":"conflict"}'
		assert.equal([await said('POST /a', more), await said('POST /a', more)], [expected, expected])
	})

	test('an unknown outcome stays unknown, whatever onError returns', async () => {
		class Unknown extends RestHandler {
			readonly stats = { runs: 0 }
			override idempotencyKeys = 'anyone' as const
			override onError() {
				return new RestError('bad_gateway')
			}
			post_a() {
				this.stats.runs++
				throw new RestError('outcome_unknown')
			}
		}
		const handler = new Unknown()
		const { ask } = asking({ '': handler })
		const more = { headers: { 'Idempotency-Key': '"k"' } }
		for (let at = 0; at < 2; at++) await ask('POST /a', more)
		assert.is(handler.stats.runs, 1)
	})

	test('requests on one connection are answered in order, refused ones with their bodies unread', () => {
		class Picky extends RestHandler {
			override async before() {
				await new Promise(setImmediate)
				if (this.query.no !== undefined) throw new RestError('forbidden')
				if (this.query.stead !== undefined) return reply('instead')
				return undefined
			}
			post_a() {
				return this.post.n
			}
		}
		return listening({ '': new Picky() }, {}, async ({ port }) =>
			connected(port, async (client) => {
				const json = ['Content-Type: application/json']
				const lines = ['/a', '/a?no', '/a?stead', '/a'].map((path, at) =>
					requestText(`POST ${path}`, json, `{"n":${at}}`),
				)
				await client.send(lines.join(''))
				const said: string[] = []
				for (const _ of lines) said.push((await client.response()).body.toString())
				assert.equal(said, [
					'{"success":true,"data":0}',
					'{"success":false,"error":"Forbidden","code":"forbidden"}',
					'{"success":true,"data":"instead"}',
					'{"success":true,"data":3}',
				])
			}),
		)
	})
})
