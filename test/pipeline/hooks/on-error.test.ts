/** `onError`: which errors it gets, and how they are replaced. */
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { isRestError, RestError, RestHandler, reply, type ServerOptions } from '../../../lib/index.ts'
import { type Asking, asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, listening, until } from '../../helpers/listening.ts'
import { ask as askRaw, connected, requestText } from '../../helpers/raw.ts'

const INTERNAL = /^500 \{"success":false,"error":"Internal Server Error","code":"internal"/

type ErrorHook = (view: Failing, error: unknown) => unknown

/** Fails as the query says; its `onError` calls the function passed in. */
class Failing extends RestHandler {
	readonly errors: unknown[] = []
	override customRoutes = { 'POST up': 'up', 'POST slow': 'slow' }
	override access = { get_secret: 'user', get_denied: ['no'] }
	override rateLimits = { get_limited: { limit: 1, windowSeconds: 60 } }
	override authenticator = {
		authenticate: (request: { header(name: string): string | undefined }) => {
			if (request.header('x-user') === 'bad') throw new RestError('unauthorized')
			return request.header('x-user') === undefined ? null : { id: 'ann' }
		},
	}
	override acl = { allows: () => false }
	private readonly hook: ErrorHook
	constructor(hook: ErrorHook = () => undefined) {
		super()
		this.hook = hook
	}
	override onError(error: unknown) {
		this.errors.push(error)
		// Values that JavaScript code may return.
		return this.hook(this, error) as undefined
	}
	get_thrown() {
		throw new Error('secret')
	}
	async get_rejected() {
		throw new TypeError('secret')
	}
	get_rest() {
		throw new RestError('conflict', 'Taken')
	}
	get_recorded() {
		return this.error('Taken', 409)
	}
	get_behind() {
		this.error('Taken', 409)
		throw new Error('secret')
	}
	get_returned() {
		return new RestError('conflict', 'Taken')
	}
	get_unsaid() {
		return Symbol('nothing')
	}
	get_broken() {
		return new Readable({ read: () => {} }).destroy(new Error('secret'))
	}
	async *get_records() {
		if (this.query.none === undefined) throw new RestError('conflict', 'Taken')
		yield 1
	}
	get_fine() {
		return 'fine'
	}
	get_secret() {}
	get_denied() {}
	get_limited() {}
	get_unawaited() {
		void this.requireAuth()
		return 'shown?'
	}
	up() {
		return this.post
	}
	async slow() {
		const { signal } = this.request
		await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
		throw new Error('too late')
	}
}

/** What a handler answers, as `409 Taken`. */
async function answered({ ask }: Asking, request: string, more = {}): Promise<string> {
	const { status, json } = await ask(request, more)
	return `${status} ${(json() as { error: string }).error}`
}

describe('hooks: onError gets', (test) => {
	const errors: [request: string, more: object, error: string][] = [
		['/thrown', {}, 'Error: secret'],
		['/rejected', {}, 'TypeError: secret'],
		['/rest', {}, 'RestError: Taken'],
		['/recorded', {}, 'RestError: Taken'],
		['/behind', {}, 'RestError: Taken'],
		['/returned', {}, 'RestError: Taken'],
		['/unsaid', {}, "TypeError: a symbol can't be sent: JSON has no such value"],
		['/broken', {}, 'Error: secret'],
		['/records', {}, 'RestError: Taken'],
		['/secret', {}, 'RestError: Unauthorized'],
		['/fine', { headers: { 'X-User': 'bad' } }, 'RestError: Unauthorized'],
		['/denied', { headers: { 'X-User': 'ann' } }, 'RestError: Forbidden'],
		['/unawaited', {}, 'RestError: Unauthorized'],
		['/nothing', {}, 'RestError: Not Found'],
		['DELETE /fine', {}, 'RestError: Method Not Allowed'],
		['GET /fine', { headers: { 'X-HTTP-Method-Override': 'PUT' } }, 'RestError: X-HTTP-Method-Override'],
		['POST /up', { body: '{', headers: { 'Content-Type': 'application/json' } }, 'RestError: '],
		['POST /up', { body: 'x', headers: { 'Content-Type': 'text/x' } }, 'RestError: '],
		['POST /up', { body: 'x'.repeat(2_000_000) }, 'RestError: The body may have at most 1048576 bytes'],
		['POST /up', { headers: { 'Idempotency-Key': 'a b' } }, 'RestError: '],
	]
	for (const [request, more, error] of errors) {
		test(`the error of ${request} ${JSON.stringify(more).slice(0, 60)}, and may leave it unchanged`, async () => {
			const [plain, hooked] = [new Failing(), new Failing()]
			Object.defineProperty(plain, 'errors', { value: { push() {} } })
			const expected = await answered(asking({ '': plain }), request, more)
			assert.is(await answered(asking({ '': hooked }), request, more), expected)
			assert.is(hooked.errors.length, 1)
			assert.ok(String(hooked.errors[0]).startsWith(error), String(hooked.errors[0]))
		})
	}

	test('a 429', async () => {
		const handler = new Failing()
		const { ask } = asking({ '': handler })
		assert.is((await ask('/limited')).status, 200)
		assert.is((await ask('/limited')).status, 429)
		assert.equal(handler.errors.map(String), ['RestError: Too Many Requests'])
	})

	test('nothing without a handler, and nothing after a success', async () => {
		const handler = new Failing()
		const { ask } = asking({ a: handler })
		for (const [request, status] of [
			['/a/fine', 200],
			['OPTIONS /a/fine', 204],
			['/b', 404],
			['/%', 400],
			['TRACE /a/fine', 501],
		] as const)
			assert.is((await ask(request)).status, status)
		assert.equal(handler.errors, [])
	})

	test('no timeout, and no error after one', () => {
		const handler = new Failing()
		return listening({ '': handler }, { handlerTimeoutSeconds: 0.05 }, async ({ url, log }) => {
			assert.is((await fetch(`${url}/slow`, { method: 'POST' })).status, 503)
			await until(() => log.messages.includes('error: slow failed'), 'the method has ended')
			assert.equal(handler.errors, [])
		})
	})

	test('no error of a handler whose init failed', async () => {
		class Unready extends Failing {
			override async init() {
				throw new RestError(503, 'Not yet')
			}
		}
		const handler = new Unready()
		assert.is(await answered(asking({ '': handler }), '/fine'), '503 Not yet')
		assert.equal(handler.errors, [])
	})
})

describe('hooks: onError returns', (test) => {
	const replaced = new RestError('gone', 'Moved', { headers: { 'X-Why': 'because' } })
	const hooks: [what: string, hook: ErrorHook][] = [
		['returns', () => replaced],
		['resolves with', async () => replaced],
		[
			'throws',
			() => {
				throw replaced
			},
		],
		['rejects with', () => Promise.reject(replaced)],
		['records', (view) => view.error('Moved', 410)],
		['records later', async (view) => view.error('Moved', 410)],
	]
	for (const [what, hook] of hooks) {
		for (const request of ['/thrown', '/rejected', '/rest', '/recorded', '/secret', '/nothing', '/records']) {
			test(`the RestError that it ${what}, in place of ${request}`, async () => {
				assert.is(await answered(asking({ '': new Failing(hook) }), request), '410 Moved')
			})
		}
	}

	test('with its own headers and those set by the hook, but none set by the method', async () => {
		class Heads extends RestHandler {
			override onError(error: unknown) {
				this.header('X-Hook', 'set')
				return isRestError(error) && error.status === 409 ? undefined : replaced
			}
			get_a() {
				this.header('Set-Cookie', 'a=1')
				throw new RestError(this.query.kept === undefined ? 'not_found' : 'conflict')
			}
		}
		const { ask } = asking({ '': new Heads() })
		const { status, headers } = await ask('/a')
		assert.equal(
			[status, headers['x-hook'], headers['x-why'], headers['set-cookie']],
			[410, 'set', 'because', undefined],
		)
		const kept = await ask('/a?kept')
		assert.equal([kept.status, kept.headers['x-hook'], kept.headers['set-cookie']], [409, 'set', undefined])
	})

	test("the server's hook gets the error returned by the handler's", async () => {
		const given: unknown[] = []
		const onError: ServerOptions['onError'] = (_view, error) => {
			given.push(error)
			return new RestError('gone', 'At last')
		}
		assert.is(
			await answered(asking({ '': new Failing(() => replaced) }, { onError }), '/thrown'),
			'410 At last',
		)
		assert.is(given[0], replaced)
	})

	test("the server's hook gets the error thrown by the handler's", async () => {
		const given: unknown[] = []
		const broken = new Error('broken hook')
		const onError: ServerOptions['onError'] = (_view, error) => void given.push(error)
		const handler = new Failing(() => Promise.reject(broken))
		assert.match(await asking({ '': handler }, { onError }).said('/rest'), INTERNAL)
		assert.equal(given, [broken])
	})

	test('the view has the user', async () => {
		const onError: ServerOptions['onError'] = (view) => new RestError('conflict', `for ${view.user?.id}`)
		assert.is(
			await answered(asking({ '': new Failing() }, { onError }), '/denied', { headers: { 'X-User': 'ann' } }),
			'409 for ann',
		)
	})

	test('headers that it sets are sent, even if the error has its own', async () => {
		const hook: ErrorHook = (view, error) => {
			view.header('Retry-After', '30')
			view.header('WWW-Authenticate', 'Mine')
			view.header('Vary', 'Accept-Language')
			return isRestError(error) ? undefined : new RestError('unavailable')
		}
		const { ask } = asking({ '': new Failing(hook) })
		for (const [path, status] of [
			['/thrown', 503],
			['/secret', 401],
		] as const) {
			const { status: sent, headers } = await ask(path)
			assert.equal(
				[sent, headers['retry-after'], headers['www-authenticate'], headers.vary],
				[status, '30', 'Mine', 'Accept-Language, Accept'],
			)
		}
	})

	test('a 405 that it replaces keeps Allow', async () => {
		const { ask } = asking({ '': new Failing(() => new RestError('method_not_allowed', 'Not so')) })
		assert.is((await ask('DELETE /fine')).headers.allow, 'GET, HEAD, OPTIONS')
	})

	test('observers get the original error, not its replacement', async () => {
		const { server, ask } = asking({ '': new Failing(() => new RestError('unavailable', 'Later')) })
		const told: string[] = []
		server.on('error', ({ error }) => told.push(String(error)))
		for (const path of ['/thrown', '/rest']) assert.is((await ask(path)).status, 503)
		assert.equal(told, ['Error: secret', 'RestError: Later'])
	})

	test('a shared error can not be changed for others', async () => {
		const hook: ErrorHook = (_view, error) => {
			Object.assign(error as object, { message: 'changed' })
		}
		assert.is(await answered(asking({ '': new Failing(hook) }), '/nothing'), '404 changed')
		assert.is(await answered(asking({ '': new Failing() }), '/nothing'), '404 Not Found')
		assert.is(await answered(asking({ a: new Failing() }), '/nothing'), '404 Not Found')
	})

	test('over a connection that stays open, with the body unread', () =>
		listening({ '': new Failing(async () => replaced) }, {}, async ({ port }) => {
			const headers = ['Content-Type: application/json', 'X-User: bad']
			assert.is((await askRaw(port, requestText('POST /up', headers, '{}'), 'POST')).status, 410)
			await connected(port, async (client) => {
				await client.send(requestText('POST /up', headers, '{"a":1}') + requestText('GET /fine'))
				assert.is((await client.response('POST')).status, 410)
				assert.equal((await client.response()).json(), { success: true, data: 'fine' })
			})
		}))
})

describe('hooks: onError, and the log', (test) => {
	test('the original error is logged, unless it was translated into a 4xx', async () => {
		for (const [now, logged] of [
			[undefined, ['error: get_thrown failed']],
			[new RestError('conflict'), []],
			[new RestError('unavailable'), ['error: get_thrown failed']],
		] as const) {
			const logger = new Log()
			await asking({ '': new Failing(() => now) }, { logger, logRequests: false }).ask('/thrown')
			assert.equal(logger.messages, logged)
		}
	})

	test('with its cause it is logged once', async () => {
		const logger = new Log()
		const hook: ErrorHook = (_view, cause) => new RestError('unavailable', 'Later', { cause })
		await asking({ '': new Failing(hook) }, { logger, logRequests: false }).ask('/thrown')
		assert.equal(logger.messages, ['error: Later'])
	})

	test('an error thrown after a recorded one is logged, too', async () => {
		const logger = new Log()
		const hook: ErrorHook = () => new RestError('gone')
		await asking({ '': new Failing(hook) }, { logger, logRequests: false }).ask('/behind')
		assert.equal(logger.messages, ['error: get_behind failed'])
	})

	test('when it throws itself, both errors are logged, and the response is 500 without a loop', async () => {
		const handler = new Failing(() => {
			throw new Error('broken hook')
		})
		const { said, lines } = asking({ '': handler })
		assert.match(await said('/thrown'), INTERNAL)
		assert.equal(
			lines.map(({ fields }) => String(fields.err)),
			['Error: secret', 'Error: broken hook'],
		)
		assert.is(handler.errors.length, 1)
	})

	const strays: [what: string, value: unknown, said: string][] = [
		['a reply()', reply('fine'), 'an instance of CustomReply'],
		['another error', new Error('no'), 'an instance of Error'],
		['text', 'no', 'a string'],
	]
	for (const [what, value, said] of strays) {
		test(`${what} is a mistake: it is 500, and the log says what to return`, async () => {
			const { said: asked, logged } = asking({ '': new Failing(() => value) })
			assert.match(await asked('/rest'), INTERNAL)
			assert.is(
				logged(),
				`Failing.onError() returned ${said}: return a RestError to answer instead, or nothing`,
			)
		})
	}

	for (const [what, hook, answer] of [
		['makes another error', () => new RestError('unavailable'), /^503 /],
		['makes it later', async () => new RestError('unavailable'), /^503 /],
		[
			'throws',
			() => {
				throw new Error('again')
			},
			INTERNAL,
		],
		['leaves it', () => undefined, INTERNAL],
	] satisfies [what: string, hook: ErrorHook, answer: RegExp][]) {
		test(`a logger that fails changes nothing of the answer: the hook ${what}`, async () => {
			const logger = new Log()
			logger.error = () => {
				throw new Error('the disk is full')
			}
			assert.match(await asking({ '': new Failing(hook) }, { logger }).said('/thrown'), answer)
		})
	}

	for (const [what, value] of [
		[
			'then',
			{
				// biome-ignore lint/suspicious/noThenProperty: this is what is tested
				get then() {
					throw new Error('unreadable')
				},
			},
		],
		[
			'constructor',
			{
				get constructor() {
					throw new Error('unreadable')
				},
			},
		],
	] as const) {
		test(`the request is answered even if reading ${what} of the hook's value throws`, async () => {
			for (const hook of [() => value, async () => [value].at(0)]) {
				const { said: asked, lines } = asking({ '': new Failing(hook) })
				assert.match(await asked('/thrown'), INTERNAL)
				const logged = lines.map(({ fields }) => String(fields.err))
				assert.equal(logged, ['Error: secret', 'Error: unreadable'])
			}
		})
	}

	test('the error of a failing factory is answered', async () => {
		let made = 0
		const factory = (): Failing => {
			if (made++ > 0) throw new Error('no more')
			return new Failing(() => new RestError('gone'))
		}
		const { said, logged } = asking({ '': factory })
		assert.match(await said('/fine'), INTERNAL)
		assert.is(logged(), 'no more')
	})

	test("it isn't called after a success", async () => {
		assert.is(await asking({ '': new Failing(() => new RestError('gone')) }).said('/fine'), ok('fine'))
	})
})
