/** `before`: refusing, answering, and the data available before a byte of the body is read. */
import * as assert from 'uvu/assert'
import { RestError, RestHandler, reply, type ServerOptions } from '../../../lib/index.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { connected, RawClient, requestText } from '../../helpers/raw.ts'

const INTERNAL = /^500 \{"success":false,"error":"Internal Server Error","code":"internal"/

/** Its `before` calls the function passed in. */
class Guarded extends RestHandler {
	readonly calls: string[] = []
	override rateLimits = { get_limited: { limit: 1, windowSeconds: 60 } }
	override access = { get_secret: 'user' }
	override authenticator = { authenticate: () => null }
	private readonly hook: (view: Guarded) => unknown
	constructor(hook: (view: Guarded) => unknown) {
		super()
		this.hook = hook
	}
	override before() {
		// Values that JavaScript code may return.
		return this.hook(this) as undefined
	}
	get_a() {
		this.calls.push('get_a')
		return 'a'
	}
	post_a() {
		this.calls.push('post_a')
		return this.body
	}
	get_limited() {}
	get_secret() {}
}

describe('hooks: before refuses', (test) => {
	const forbidden = new RestError('forbidden', 'Not you')
	const refusals: [what: string, hook: (view: Guarded) => unknown, said: string][] = [
		[
			'what it throws',
			() => {
				throw forbidden
			},
			'403 {"success":false,"error":"Not you","code":"forbidden"}',
		],
		[
			'what it rejects with',
			async () => {
				throw forbidden
			},
			'403 {"success":false,"error":"Not you","code":"forbidden"}',
		],
		[
			'what it records',
			(view) => view.error('Closed', 503),
			'503 {"success":false,"error":"Closed","code":"unavailable"',
		],
		[
			'what it records, and returns nothing',
			(view) => void view.error('Closed', 418),
			'418 {"success":false,"error":"Closed"}',
		],
		[
			'what it records later',
			async (view) => {
				await new Promise(setImmediate)
				return view.error('Closed', 418)
			},
			'418 {"success":false,"error":"Closed"}',
		],
		[
			'what it records, whatever it answers',
			(view) => {
				view.error('Closed', 418)
				return reply('open')
			},
			'418 {"success":false,"error":"Closed"}',
		],
		[
			'who is not known to a check that is not awaited',
			(view) => void view.requireAuth(),
			'401 {"success":false,"error":"Unauthorized","code":"unauthorized"}',
		],
	]
	for (const [what, hook, said] of refusals) {
		test(`${what}: the method isn't called`, async () => {
			const handler = new Guarded(hook)
			const { ask } = asking({ '': handler })
			for (const request of ['GET /a', 'POST /a']) {
				const { status, text } = await ask(request, { headers: { 'X-A': '1' } })
				assert.ok(`${status} ${text()}`.startsWith(said), text())
			}
			assert.equal(handler.calls, [])
		})
	}

	test("the server's refusal leaves the handler's before uncalled", async () => {
		const handler = new Guarded((view) => void view.calls.push('before'))
		const before: ServerOptions['before'] = (view) => view.error('Closed', 403)
		assert.match(await asking({ '': handler }, { before }).said('/a'), /^403 /)
		assert.equal(handler.calls, [])
	})

	test('it is called after credentials, limits and access', async () => {
		const handler = new Guarded((view) => void view.calls.push('before'))
		const { ask } = asking({ '': handler })
		assert.is((await ask('/secret')).status, 401)
		assert.is((await ask('/limited')).status, 200)
		assert.is((await ask('/limited')).status, 429)
		assert.equal(handler.calls, ['before'])
	})

	for (const [what, hook] of [
		['throws', () => Promise.reject(forbidden)],
		['throws at once', (view: Guarded) => view.error('Not you', 403)],
		['answers', () => reply('instead')],
	] as const) {
		test(`if it ${what}, no 100 Continue is sent, nor a byte read`, () =>
			listening({ '': new Guarded(hook) }, {}, async ({ port }) =>
				connected(port, async (client) => {
					await client.send(
						'POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n',
					)
					assert.is((await client.response('POST')).status, what === 'answers' ? 200 : 403)
				}),
			))
	}

	test('if it lets the request pass, 100 Continue is sent after it', () => {
		let open = (): void => {}
		const waiting = new Promise<void>((resolve) => {
			open = resolve
		})
		const handler = new Guarded((view) => {
			view.calls.push('before')
			return waiting
		})
		return listening({ '': handler }, {}, async ({ port }) =>
			connected(port, async (client) => {
				const head = 'Host: localhost\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n'
				await client.send(`POST /a HTTP/1.1\r\n${head}Content-Length: 1\r\n\r\n`)
				await until(() => handler.calls.length > 0, 'before is called')
				assert.is(client.unread.length, 0)
				open()
				assert.is((await client.response('POST')).status, 100)
				await client.send('7')
				assert.equal((await client.response('POST')).json(), { success: true, data: 7 })
			}),
		)
	})
})

describe('hooks: before returns', (test) => {
	test('a reply() in place of the method, and after is called with it', async () => {
		class Cached extends Guarded {
			override after(value: unknown) {
				return [value, 'after']
			}
		}
		const handler = new Cached(() => reply('kept', { status: 203, headers: { 'X-Kept': 'yes' } }))
		const { ask } = asking({ '': handler })
		const { status, headers, text } = await ask('/a')
		assert.equal([status, headers['x-kept']], [203, 'yes'])
		assert.is(text(), '{"success":true,"data":["kept","after"]}')
		assert.equal(handler.calls, [])
	})

	test('without a body, as 304', async () => {
		const handler = new Guarded(async () => reply(null, { status: 304 }))
		const { status, text } = await asking({ '': handler }).ask('/a')
		assert.equal([status, text()], [304, ''])
	})

	const strays: [what: string, value: unknown, said: string][] = [
		['an object', { id: 'ann' }, 'an object'],
		['a user that a promise has', Promise.resolve({ id: 'ann' }), 'an object'],
		['a number', 5, 'a number'],
		['false', false, 'a boolean'],
		['an error', new RestError('conflict'), 'an instance of RestError'],
	]
	for (const [what, value, said] of strays) {
		test(`${what} is a mistake: 500, and it is never sent`, async () => {
			const handler = new Guarded(() => value)
			const { said: asked, logged } = asking({ '': handler })
			assert.match(await asked('/a'), INTERNAL)
			assert.is(
				logged(),
				`Guarded.before() returned ${said}: return nothing to call the method, or a reply(…) to answer in its place`,
			)
			assert.equal(handler.calls, [])
		})
	}

	test('null counts as nothing', async () => {
		assert.is(await asking({ '': new Guarded(() => null) }).said('/a'), ok('a'))
	})
})

describe('hooks: before knows', (test) => {
	const BEHIND =
		'the body has not been read: it is read after before(), and not at all if the request is refused first'
	const uses: [string, (view: Guarded) => unknown][] = [
		['body', (view) => view.body],
		['post', (view) => view.post],
		['files', (view) => view.files],
		['getParams', (view) => view.getParams(['a'])],
		['getRawPostData', (view) => view.getRawPostData()],
		['rawBody', (view) => view.request.rawBody],
	]
	for (const [what, use] of uses) {
		test(`no ${what} yet, rather than an empty one`, async () => {
			const { said, logged } = asking({ '': new Guarded((view) => void use(view)) })
			assert.match(await said('POST /a', { body: { a: 1 } }), INTERNAL)
			assert.is(logged(), BEHIND)
			// No body to read.
			assert.is(await said('POST /a'), ok(null))
		})
	}

	test('query, params, headers, and the user', async () => {
		class Known extends RestHandler {
			override authenticator = { authenticate: () => ({ id: 'ann' }) }
			override acl = { allows: (_user: object, resource: string) => resource === 'read' }
			private seen?: unknown[]
			override before() {
				this.requireAcl('read')
				const { method, url } = this.request
				this.seen = [this.user?.id, this.query.q, this.params[0], method, url, this.can('write')]
			}
			get_a(_id: string) {
				return this.seen
			}
		}
		assert.is(
			await asking({ '': new Known() }).said('/a/5?q=x'),
			ok(['ann', 'x', '5', 'GET', '/a/5?q=x', false]),
		)
	})

	test('headers and status that it sets apply only to a success', async () => {
		const handler = new Guarded((view) => {
			view.header('Set-Cookie', 'a=1')
			view.status(203)
		})
		const { ask } = asking({ '': handler })
		const { status, headers } = await ask('/a')
		assert.equal([status, headers['set-cookie']], [203, 'a=1'])
		const malformed = await ask('POST /a', { body: '{', headers: { 'Content-Type': 'application/json' } })
		assert.equal([malformed.status, malformed.headers['set-cookie']], [400, undefined])
	})
})

describe('hooks: the timeout of before', (test) => {
	test('it is 503 when it takes too long, and nothing is called after it', () => {
		const calls: string[] = []
		const handler = new Guarded(async (view) => {
			await new Promise<void>((resolve) => view.request.signal.addEventListener('abort', () => resolve()))
			calls.push(String(view.request.signal.reason))
		})
		return listening({ '': handler }, { handlerTimeoutSeconds: 0.05 }, async ({ url }) => {
			assert.is((await fetch(`${url}/a`)).status, 503)
			await until(() => calls.length > 0, 'before has ended')
			await new Promise(setImmediate)
			assert.equal(calls, ['RestError: The answer took too long'])
			assert.equal(handler.calls, [])
		})
	})

	test('its signal is aborted when the client disconnects', () => {
		const calls: string[] = []
		const handler = new Guarded(async (view) => {
			calls.push('begun')
			await new Promise<void>((resolve) => view.request.signal.addEventListener('abort', () => resolve()))
			calls.push('left')
		})
		return listening({ '': handler }, {}, async ({ port }) => {
			const client = new RawClient(port)
			await client.send(requestText('GET /a'))
			await until(() => calls.length > 0, 'before is called')
			client.close()
			await until(() => calls.includes('left'), 'before is told')
		})
	})
})
