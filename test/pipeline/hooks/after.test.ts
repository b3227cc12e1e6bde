/** `after`: its arguments, and how it changes the response. */
import { Readable, Transform } from 'node:stream'
import * as assert from 'uvu/assert'
import { Deadlines } from '../../../lib/base/deadlines.ts'
import { Controller } from '../../../lib/handler/controller.ts'
import { RawJson, RestError, RestHandler, reply, type ServerOptions } from '../../../lib/index.ts'
import { answer } from '../../../lib/pipeline/answer.ts'
import { MountTree } from '../../../lib/routing/routing.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { appOf, exchangeFor } from '../../helpers/exchange.ts'
import { listening, until } from '../../helpers/listening.ts'

const INTERNAL = /^500 \{"success":false,"error":"Internal Server Error","code":"internal"/

type AfterHook = (view: Returning, value: unknown) => unknown

/** Its method calls `make`, its `after` calls `hook`. */
class Returning extends RestHandler {
	readonly calls: string[] = []
	private readonly make: (view: Returning) => unknown
	private readonly hook: AfterHook
	constructor(make: (view: Returning) => unknown, hook: AfterHook) {
		super()
		this.make = make
		this.hook = hook
	}
	override after(value: unknown) {
		this.calls.push('after')
		return this.hook(this, value)
	}
	get_a() {
		return this.make(this)
	}
}

function said(make: (view: Returning) => unknown, hook: AfterHook, options?: ServerOptions): Promise<string> {
	return asking({ '': new Returning(make, hook) }, options).said('/a')
}

async function* fromIterated(value: unknown) {
	yield* value as AsyncIterable<unknown>
}

describe('hooks: after', (test) => {
	const values: [what: string, make: () => unknown, given: unknown][] = [
		['a value', () => ({ a: 1 }), { a: 1 }],
		['what a promise has', async () => 'later', 'later'],
		['nothing', () => undefined, undefined],
		['null', () => null, null],
		['the value of a reply()', () => reply([1], { status: 201 }), [1]],
	]
	for (const [what, make, given] of values) {
		test(`gets ${what}`, async () => {
			const seen: unknown[] = []
			await said(make, (_view, value) => void seen.push(value))
			assert.equal(seen, [given])
		})
	}

	const answers: [what: string, hook: AfterHook, answer: string][] = [
		['undefined keeps it', () => undefined, ok('a')],
		['null replaces it', () => null, ok(null)],
		['a value replaces it', () => 5, ok(5)],
		['a promise of a value replaces it', async (_view, value) => [value], ok(['a'])],
		['a promise of undefined keeps it', async () => undefined, ok('a')],
		['RawJson replaces it', () => new RawJson('{"raw":1.0}'), '200 {"success":true,"data":{"raw":1.0}}'],
		['a status of its own', (view) => view.status(202), ok('a').replace('200', '202')],
	]
	for (const [what, hook, answer] of answers) {
		test(what, async () => assert.is(await said(() => 'a', hook), answer))
	}

	test('a value that replaces the value of a reply() keeps its status, headers and meta', async () => {
		const make = () => reply('a', { status: 201, headers: { Location: '/a' }, meta: { n: 1 } })
		const { ask } = asking({ '': new Returning(make, (_view, value) => [value]) })
		const { status, headers, text } = await ask('/a')
		assert.equal([status, headers.location], [201, '/a'])
		assert.is(text(), '{"success":true,"data":["a"],"meta":{"n":1}}')
	})

	test('a reply() replaces status, headers and value', async () => {
		const make = () => reply('a', { status: 201, meta: { n: 1 } })
		assert.is(await said(make, () => reply('b', { status: 203 })), ok('b').replace('200', '203'))
	})

	test('can set headers while leaving the value unchanged', async () => {
		const { ask } = asking({
			'': new Returning(
				() => Buffer.from('a'),
				(view) => view.header('X-A', 'b'),
			),
		})
		const { headers, text } = await ask('/a')
		assert.equal([headers['x-a'], text()], ['b', 'a'])
	})

	test("the server's hook gets what the handler's returned", async () => {
		const after: ServerOptions['after'] = async (_view, value) => ({ outer: value })
		assert.is(
			await said(
				() => 'a',
				(_view, value) => ({ inner: value }),
				{ after },
			),
			ok({ outer: { inner: 'a' } }),
		)
	})
})

describe('hooks: after, and errors', (test) => {
	const failing: [what: string, make: (view: Returning) => unknown, status: number][] = [
		[
			'thrown',
			() => {
				throw new RestError('gone')
			},
			410,
		],
		['rejected with', () => Promise.reject(new RestError('gone')), 410],
		['recorded', (view) => view.error('Gone', 410), 410],
		['returned', () => new RestError('gone'), 410],
		['returned in a reply()', () => reply(new RestError('gone')), 410],
		['of a check that was not awaited', (view) => void view.requireAuth({ authenticate: () => null }), 401],
	]
	for (const [what, make, status] of failing) {
		test(`it isn't called after an error that was ${what}`, async () => {
			const handler = new Returning(make, () => 'after all')
			assert.is((await asking({ '': handler }).ask('/a')).status, status)
			assert.equal(handler.calls, [])
		})
	}

	const errors: [what: string, hook: AfterHook, answer: RegExp][] = [
		[
			'throws',
			() => {
				throw new RestError('conflict')
			},
			/^409 /,
		],
		[
			'rejects with',
			async () => {
				throw new RestError('conflict')
			},
			/^409 /,
		],
		['records', (view) => view.error('No', 409), /^409 \{"success":false,"error":"No"/],
		['returns', () => new RestError('conflict'), /^409 /],
		[
			'throws, being no RestError,',
			() => {
				throw new Error('secret')
			},
			INTERNAL,
		],
		[
			'begins as a check, and does not await',
			(view) => void view.requireAuth({ authenticate: () => null }),
			/^401 /,
		],
	]
	for (const [what, hook, answer] of errors) {
		test(`what it ${what} is the response`, async () => {
			assert.match(await said(() => 'a', hook), answer)
			assert.match(await said(async () => 'a', hook), answer)
		})
	}

	test('headers set for a success are dropped when it throws', async () => {
		const handler = new Returning(
			(view) => view.header('Set-Cookie', 'a=1'),
			() => Promise.reject(new RestError('conflict')),
		)
		const { headers } = await asking({ '': handler }).ask('/a')
		assert.is(headers['set-cookie'], undefined)
	})
})

describe('hooks: after, and streams', (test) => {
	test('a stream passes unchanged', () =>
		listening(
			{
				'': new Returning(
					() => Readable.from(['a', 'b'], { objectMode: false }),
					async () => {},
				),
			},
			{},
			async ({ url }) => {
				assert.is(await (await fetch(`${url}/a`)).text(), 'ab')
			},
		))

	test('a stream may be piped through another', () => {
		const upper = (): Transform =>
			new Transform({
				transform: (chunk, _encoding, done) => done(null, String(chunk).toUpperCase()),
			})
		const hook: AfterHook = (_view, value) => (value as Readable).pipe(upper())
		return listening(
			{ '': new Returning(() => Readable.from(['a', 'b'], { objectMode: false }), hook) },
			{},
			async ({ url }) => {
				assert.is(await (await fetch(`${url}/a`)).text(), 'AB')
			},
		)
	})

	test('streamed records may be changed one by one', () => {
		async function* records() {
			yield 1
			yield 2
		}
		async function* doubled(source: AsyncIterable<number>) {
			for await (const one of source) yield one * 2
		}
		const hook: AfterHook = (_view, value) => doubled(value as AsyncIterable<number>)
		return listening({ '': new Returning(records, hook) }, {}, async ({ url }) => {
			assert.is(await (await fetch(`${url}/a`)).text(), '{"success":true,"data":[2,4]}')
		})
	})

	test('a copy of a Response, with the same body, is sent', async () => {
		const make = () => new Response('abc', { headers: { 'X-A': '1' } })
		const copies: AfterHook[] = [
			(_view, value) => new Response((value as Response).body, value as Response),
			(_view, value) => reply(new Response((value as Response).body, { status: 201 })),
			(_view, value) => (value as Response).clone(),
		]
		for (const [at, copy] of copies.entries())
			assert.is(await said(make, copy), `${at === 1 ? 201 : 200} abc`)
	})

	test('a stream is closed when after throws', async () => {
		for (const fails of [
			() => {
				throw new RestError('conflict')
			},
			() => Promise.reject(new RestError('conflict')),
		]) {
			const stream = new Readable({ read() {} })
			assert.match(await said(() => stream, fails), /^409 /)
			assert.ok(stream.destroyed)
		}
	})

	for (const [what, make, instead] of [
		['a value', (stream: Readable) => stream, () => ({ url: '/a' })],
		['a reply() without a body', (stream: Readable) => stream, () => reply(null, { status: 304 })],
		['a value, within a reply()', (stream: Readable) => reply(stream, { status: 201 }), () => 5],
	] as const) {
		test(`a stream that ${what} is answered instead of is closed`, async () => {
			const stream = new Readable({ read() {} })
			assert.match(await said(() => make(stream), instead), /^(?:200|201|304) /)
			assert.ok(stream.destroyed)
		})
	}

	test('a stream returned in a reply() with other headers is sent', async () => {
		const stream = Readable.from(['a'], { objectMode: false })
		const hook: AfterHook = (_view, value) => reply(value, { headers: { 'Content-Type': 'text/plain' } })
		assert.is(await said(() => stream, hook), '200 a')
	})

	for (const [what, over] of [
		['piped', (value: unknown) => (value as Readable).pipe(new Transform({ transform() {} }))],
		['iterated over', fromIterated],
	] as const) {
		for (const [how, after] of [
			['throws', () => Promise.reject(new RestError('conflict'))],
			[
				'begins a check that fails',
				(view: RestHandler) => {
					view.requireAuth().catch(() => {})
				},
			],
		] as const) {
			test(`a stream that is ${what} is closed where the server's after ${how}`, async () => {
				const stream = new Readable({ read() {} })
				const authenticator = { authenticate: () => null }
				const answer = await said(
					() => stream,
					(_view, value) => over(value),
					{ after, authenticator },
				)
				assert.match(answer, /^40[19] /)
				await until(() => stream.destroyed, 'it is closed')
			})
		}
	}

	const unsent: [what: string, options: ServerOptions, status: number][] = [
		['a 304 is answered', { after: (view) => view.status(304) }, 304],
		["the server's after answers a value", { after: () => 5 }, 200],
		["the server's after answers a reply()", { after: () => reply(null, { status: 202 }) }, 202],
		["the server's after records an error", { after: (view) => view.error('No', 409) }, 409],
	]
	for (const [what, options, status] of unsent) {
		for (const [how, over] of [
			['a generator', fromIterated],
			['a generator over a generator', (value: unknown) => fromIterated(fromIterated(value))],
			['a generator, within a reply()', (value: unknown) => reply(fromIterated(value))],
			['a web stream', (value: unknown) => Readable.toWeb(value as Readable)],
		] as const) {
			test(`a stream that ${how} was to read is closed where ${what}`, async () => {
				const stream = new Readable({ read() {} })
				const handler = new Returning(
					() => stream,
					(_view, value) => over(value),
				)
				const { ask } = asking({ '': handler }, options)
				assert.is((await ask('/a')).status, status)
				await until(() => stream.destroyed, 'it is closed')
			})
		}
	}

	test('a stream piped into one that has been closed meanwhile is closed', async () => {
		const stream = new Readable({ read() {} })
		const hook: AfterHook = async (_view, value) => {
			const through = (value as Readable).pipe(new Transform({ transform() {} }))
			await new Promise((resolve) => through.on('close', resolve).destroy())
			return through
		}
		// A closed stream can't be sent: the answer is cut off.
		const failure: unknown = await said(() => stream, hook).catch((error: unknown) => error)
		assert.match(String(failure), 'Premature close')
		assert.ok(stream.destroyed)
	})

	test('a stream that nested generators were to read is closed, whichever hook made them', async () => {
		const stream = new Readable({ read() {} })
		const options: ServerOptions = {
			after: (view, value) => {
				view.status(304)
				return fromIterated(value)
			},
		}
		const answer = await said(
			() => stream,
			(_view, value) => fromIterated(value),
			options,
		)
		assert.is(answer, '304 ')
		await until(() => stream.destroyed, 'it is closed')
	})

	test('a piped stream is closed when its client disconnects', () => {
		const stream = new Readable({ read() {} })
		stream.push('a')
		const through = new Transform({ transform: (chunk, _encoding, done) => done(null, chunk) })
		const hook: AfterHook = (_view, value) => (value as Readable).pipe(through)
		return listening({ '': new Returning(() => stream, hook) }, {}, async ({ url }) => {
			const { body } = await fetch(`${url}/a`)
			await body?.cancel()
			await until(() => stream.destroyed, 'it is closed')
		})
	})

	test('a stream that fails while waiting does not end the process', async () => {
		const stream = new Readable({ read() {} })
		const hook: AfterHook = async () => {
			stream.destroy(new Error('broken'))
			await new Promise(setImmediate)
		}
		assert.match(await said(() => stream, hook), INTERNAL)
	})

	test('a stream that fails within a reply() does not end the process', async () => {
		const stream = new Readable({ read() {} })
		const hook: AfterHook = async () => {
			stream.destroy(new Error('broken'))
			await new Promise(setImmediate)
		}
		assert.match(await said(() => reply(stream, { status: 201 }), hook), INTERNAL)
	})
})

describe('hooks: the timeout of after', (test) => {
	for (const kind of ['at once', 'later']) {
		test(`before takes none of its time, where the method returns ${kind}`, async () => {
			let now = 0
			const app = appOf({ deadlines: new Deadlines(() => now, 1_000) })
			const mounts = new MountTree()
			const handler = new Returning(
				() => (kind === 'at once' ? 'a' : Promise.resolve('a')),
				async () => {
					// Its deadline is set when it returns a promise.
					await new Promise(setImmediate)
					assert.is(exchange.due, 20_000 + app.handlerTimeout)
				},
			)
			const before = async (): Promise<undefined> => {
				await new Promise(setImmediate)
				assert.is(exchange.due, app.handlerTimeout)
				now = 20_000
			}
			new Controller(app, mounts, '', { before, authenticator: undefined, acl: undefined }).service(
				'',
				handler,
			)
			const exchange = exchangeFor({ url: '/a' }, app)
			assert.is((await answer(exchange, mounts)).status, 200)
		})
	}

	for (const kind of ['at once', 'later']) {
		test(`it counts towards the timeout of the method, which has returned ${kind}`, () => {
			const told: string[] = []
			const hook: AfterHook = async (view) => {
				await new Promise<void>((resolve) => view.request.signal.addEventListener('abort', () => resolve()))
				told.push(String(view.request.signal.reason))
			}
			const handler = new Returning(() => (kind === 'at once' ? 'a' : Promise.resolve('a')), hook)
			return listening({ '': handler }, { handlerTimeoutSeconds: 0.05 }, async ({ url }) => {
				assert.is((await fetch(`${url}/a`)).status, 503)
				await until(() => told.length > 0, 'after is told')
				assert.equal(told, ['RestError: The answer took too long'])
			})
		})
	}
})
