/** Requests with an Idempotency-Key: run once, and retries get the same answer. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import * as assert from 'uvu/assert'
import {
	type Cache,
	CrudHandler,
	createServer,
	type InjectedReply,
	type JsonValue,
	MemoryCache,
	MemoryModel,
	type Request,
	RestError,
	RestHandler,
	reply,
	type ServerOptions,
} from '../../lib/index.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'
import { inTimesOf, stopwatch } from '../helpers/stalls.ts'

class Payments extends RestHandler {
	readonly calls: string[] = []
	readonly gates: (() => void)[] = []
	override access = { post_forbidden: ['nothing'] }
	override rateLimits = { post_limited: { limit: 2, windowSeconds: 60 } }
	override streaming = ['post_stream']
	post_payment() {
		this.calls.push('post')
		return reply({ number: this.calls.length, ...this.post }, { status: 201, headers: { Location: '/p/1' } })
	}
	patch_payment(id: string) {
		this.calls.push(`patch ${id}`)
		return this.calls.length
	}
	put_payment(_id: string) {
		return this.calls.push('put')
	}
	async post_slow() {
		this.calls.push('slow')
		await new Promise<void>((resolve) => this.gates.push(resolve))
		return this.calls.length
	}
	post_failing() {
		this.calls.push('failing')
		throw new RestError(this.calls.length === 1 ? 'unavailable' : 'conflict')
	}
	async post_stopping() {
		this.calls.push('stopping')
		const { signal } = this.request
		const opened = new Promise<void>((resolve) => this.gates.push(resolve))
		const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
		await Promise.race([opened, left])
		if (signal.aborted) this.calls.push('stopped')
		return 'as far as it came'
	}
	post_refusing() {
		this.calls.push('refusing')
		throw new RestError(String(this.post.code))
	}
	post_nothing() {
		this.calls.push('nothing')
		this.status(204)
	}
	post_unsendable() {
		this.calls.push('unsendable')
		return new Map([['number', 1]])
	}
	post_misspelt() {
		this.calls.push('misspelt')
		return reply('x', { headers: { 'not a name': '1' } })
	}
	post_longest() {
		this.calls.push('longest')
		return 'Zoë '.repeat(20_000)
	}
	post_bytes() {
		return Buffer.from([0, 255, this.calls.push('bytes')])
	}
	async *post_records() {
		yield this.calls.push('records')
	}
	post_large() {
		return 'x'.repeat(1_048_577 + this.calls.push('large'))
	}
	post_long() {
		return `${this.calls.push('long')} ${'x'.repeat(5_000)}`
	}
	post_short() {
		return `${this.calls.push('short')} ${'x'.repeat(850)}`
	}
	post_response() {
		return Response.json({ number: this.calls.push('response') }, { status: 201, headers: { 'X-A': '1' } })
	}
	post_largeresponse() {
		return new Response('x'.repeat(1_048_577 + this.calls.push('large')))
	}
	post_feed() {
		this.calls.push('feed')
		const begin = (controller: ReadableStreamDefaultController): void =>
			controller.enqueue(Buffer.from('data: 1'))
		return new Response(new ReadableStream({ start: begin }), {
			headers: { 'Content-Type': 'text/event-stream' },
		})
	}
	post_broken() {
		this.calls.push('broken')
		let pulled = 0
		const pull = (controller: ReadableStreamDefaultController): void => {
			if (pulled++ === 0) controller.enqueue(Buffer.from('a'))
			else controller.error(new Error('broken'))
		}
		return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
	}
	post_limited() {
		return this.calls.push('limited')
	}
	post_stream() {
		return this.calls.push('stream')
	}
	post_forbidden() {
		return this.calls.push('forbidden')
	}
}

const acl = { allows: () => false }

const authenticator = {
	authenticate(request: Request) {
		const id = request.header('x-user')
		return id === undefined ? null : { id }
	},
}

/** A request to the method that waits at its gate. */
function slowly(url: string, resource = 'slow'): Promise<Response> {
	return fetch(`${url}/pay/${resource}`, {
		method: 'POST',
		body: '{}',
		headers: { 'content-type': 'application/json', 'idempotency-key': 'k', 'x-user': 'ann' },
	})
}

interface Trial extends Asking {
	readonly handler: Payments
	/** A request of a user with a key. */
	keyed(request: string, body?: unknown, key?: string, user?: string): Promise<InjectedReply>
}

function trial(options: ServerOptions = {}, handler = new Payments()): Trial {
	const asked = asking({ pay: handler }, { authenticator, acl, ...options })
	const keyed: Trial['keyed'] = (request, body = {}, key = '"k1"', user = 'ann') =>
		asked.ask(request, { body, headers: { 'idempotency-key': key, 'x-user': user } })
	return { ...asked, handler, keyed }
}

describe('idempotency', (test) => {
	test('a retry gets the stored response, status, headers and bytes, and is not run', async () => {
		const { handler, keyed } = trial()
		const first = await keyed('POST /pay/payment', { amount: 5 })
		assert.is(first.status, 201)
		assert.is(first.headers['idempotent-replayed'], undefined)
		for (let again = 0; again < 3; again++) {
			const next = await keyed('POST /pay/payment', { amount: 5 })
			assert.is(next.status, 201)
			assert.is(next.text(), first.text())
			assert.is(next.headers.location, '/p/1')
			assert.is(next.headers['content-type'], first.headers['content-type'])
			assert.is(next.headers['content-length'], first.headers['content-length'])
			assert.is(next.headers['idempotent-replayed'], 'true')
		}
		assert.equal(handler.calls, ['post'])
	})

	test('without a key nothing is stored', async () => {
		const { ask, handler } = trial()
		for (let round = 0; round < 2; round++)
			await ask('POST /pay/payment', { body: {}, headers: { 'x-user': 'ann' } })
		assert.is(handler.calls.length, 2)
	})

	test('PATCH is replayed too; PUT is idempotent by itself; an overridden POST counts as the resulting method', async () => {
		const { ask, handler, keyed } = trial()
		await keyed('PATCH /pay/payment/1')
		await keyed('PATCH /pay/payment/1')
		await keyed('PUT /pay/payment/1')
		await keyed('PUT /pay/payment/1')
		const headers = { 'idempotency-key': 'k1', 'x-user': 'ann', 'x-http-method-override': 'PATCH' }
		const replayed = await ask('POST /pay/payment/1', { body: {}, headers })
		assert.is(replayed.headers['idempotent-replayed'], 'true')
		assert.equal(handler.calls, ['patch 1', 'put', 'put'])
	})

	test("a key's scope is user, method and path", async () => {
		const { handler, keyed } = trial()
		await keyed('PATCH /pay/payment/1')
		await keyed('PATCH /pay/payment/2')
		await keyed('PATCH /pay/payment/1', {}, '"k2"')
		await keyed('PATCH /pay/payment/1', {}, '"k1"', 'bob')
		await keyed('POST /pay/payment')
		assert.is(handler.calls.length, 5)
	})

	test('another body, query or content type under the same key is 422', async () => {
		const { ask, handler, keyed } = trial()
		await keyed('POST /pay/payment?a=1', { amount: 5 })
		const others = [
			await keyed('POST /pay/payment?a=1', { amount: 6 }),
			await keyed('POST /pay/payment?a=2', { amount: 5 }),
			await ask('POST /pay/payment?a=1', {
				body: '{"amount":5}',
				headers: { 'idempotency-key': '"k1"', 'x-user': 'ann', 'content-type': 'application/problem+json' },
			}),
		]
		for (const { status, text } of others) {
			assert.is(status, 422)
			assert.is(
				text(),
				'{"success":false,"error":"The Idempotency-Key was used for another request: a new request needs a new key","code":"invalid","details":[{"field":"Idempotency-Key","code":"reused","message":"was used for another request: a new request needs a new key"}]}',
			)
		}
		assert.is(handler.calls.length, 1)
	})

	test('of 100 at once one runs, the others are 409 with Retry-After; then all have its answer', async () => {
		const { handler, keyed } = trial()
		const refused: InjectedReply[] = []
		// The first, whichever it is, waits at the gate.
		const all = Array.from({ length: 100 }, async () => {
			const answer = await keyed('POST /pay/slow')
			if (answer.status !== 200) refused.push(answer)
			return answer
		})
		await until(() => refused.length === 99, 'all but one are refused')
		for (const { status, headers } of refused) assert.equal([status, headers['retry-after']], [409, '1'])
		for (const open of handler.gates) open()
		const statuses = (await Promise.all(all)).map(({ status }) => status)
		assert.is(statuses.filter((status) => status === 200).length, 1)
		assert.is((await keyed('POST /pay/slow')).text(), '{"success":true,"data":1}')
		assert.equal(handler.calls, ['slow'])
	})

	test('while it runs, another request under the key is 422', async () => {
		const { handler, keyed } = trial()
		const running = keyed('POST /pay/slow', { a: 1 })
		await until(() => handler.gates.length > 0, 'the method runs')
		assert.is((await keyed('POST /pay/slow', { a: 2 })).status, 422)
		handler.gates[0]?.()
		await running
	})

	test('a server error is forgotten, a refusal stored', async () => {
		const { handler, keyed } = trial()
		const statuses: number[] = []
		for (let round = 0; round < 4; round++) statuses.push((await keyed('POST /pay/failing')).status)
		assert.equal(statuses, [503, 409, 409, 409])
		assert.is(handler.calls.length, 2)
	})

	test('responses without a body, of bytes, and of long texts are replayed', async () => {
		const { handler, keyed } = trial()
		for (let round = 0; round < 2; round++) {
			const { status, text } = await keyed('POST /pay/nothing')
			assert.equal([status, text()], [204, ''])
		}
		const [first, second] = [await keyed('POST /pay/bytes'), await keyed('POST /pay/bytes')]
		assert.equal(second.body, first.body)
		assert.equal([...second.body], [0, 255, 2])
		const long = [await keyed('POST /pay/longest'), await keyed('POST /pay/longest')]
		for (const one of long)
			assert.is(one.text(), JSON.stringify({ success: true, data: 'Zoë '.repeat(20_000) }))
		assert.is(long[1]?.headers['content-length'], long[0]?.headers['content-length'])
		assert.equal(handler.calls, ['nothing', 'bytes', 'longest'])
	})

	test('a small Response is stored and replayed', async () => {
		const { handler, keyed } = trial()
		const [first, second] = [await keyed('POST /pay/response'), await keyed('POST /pay/response')]
		assert.equal([first.status, second.status, second.text()], [201, 201, '{"number":1}'])
		const { 'idempotent-replayed': isReplayed, ...headers } = second.headers
		assert.equal([isReplayed, { ...headers }], ['true', { ...first.headers }])
		assert.equal(handler.calls, ['response'])
	})

	test('a Response that breaks off is 500, and the method is not run again', async () => {
		const { handler, keyed } = trial()
		assert.is((await keyed('POST /pay/broken')).status, 500)
		assert.is((await keyed('POST /pay/broken')).status, 409)
		assert.equal(handler.calls, ['broken'])
	})

	test('a large Response, and an event stream, is streamed, and the method is not run again', async () => {
		const { handler, server } = trial()
		const headers = { 'idempotency-key': 'k1', 'x-user': 'ann' }
		const ask = (path: string) =>
			server.fetch(new globalThis.Request(`http://a/pay/${path}`, { method: 'POST', headers }))
		assert.is((await (await ask('largeresponse')).text()).length, 1_048_578)
		assert.is((await ask('largeresponse')).status, 409)
		const reader = ((await ask('feed')).body as ReadableStream<Uint8Array>).getReader()
		assert.is(Buffer.from((await reader.read()).value ?? []).toString(), 'data: 1')
		await reader.cancel()
		assert.is((await ask('feed')).status, 409)
		assert.equal(handler.calls, ['large', 'feed'])
	})

	test('a retry of a response that cannot be stored is 409, and the method is not run again', async () => {
		const { handler, keyed } = trial()
		for (const path of ['records', 'large']) {
			assert.is((await keyed(`POST /pay/${path}`)).status, 200)
			const again = await keyed(`POST /pay/${path}`)
			assert.is(again.status, 409)
			assert.match(again.text(), /its response was not stored/)
		}
		assert.equal(handler.calls, ['records', 'large'])
	})

	test('without a user it is 400, and with idempotencyKeys anyone it is stored', async () => {
		const { ask, handler } = trial()
		const headers = { 'idempotency-key': 'k1' }
		const refused = await ask('POST /pay/payment', { body: {}, headers })
		assert.is(refused.status, 400)
		assert.match(refused.text(), /only accepted from known users: send credentials, or no key/)
		assert.is(handler.calls.length, 0)
		class Open extends Payments {
			override idempotencyKeys = 'anyone'
		}
		const open = trial({}, new Open())
		for (let round = 0; round < 2; round++) await open.ask('POST /pay/payment', { body: {}, headers })
		assert.is(open.handler.calls.length, 1)
	})

	test('with idempotencyKeys off the header is left to the method', async () => {
		class Off extends Payments {
			override idempotencyKeys = 'off'
		}
		const { handler, keyed } = trial({}, new Off())
		await keyed('POST /pay/payment')
		await keyed('POST /pay/payment')
		assert.is(handler.calls.length, 2)
	})

	test('an unknown value of idempotencyKeys is refused at mount', () => {
		class Wrong extends Payments {
			override idempotencyKeys = 'all'
		}
		assert.throws(
			() => trial({}, new Wrong()),
			/^Wrong\.idempotencyKeys must be 'user', 'anyone' or 'off', got "all"$/,
		)
	})

	test('access is checked before a replay', async () => {
		let allowed = true
		const acl = { allows: () => allowed }
		const { keyed } = trial({ acl })
		assert.is((await keyed('POST /pay/forbidden')).status, 200)
		allowed = false
		assert.is((await keyed('POST /pay/forbidden')).status, 403)
	})

	test('a replay has its own rate limit and request id', async () => {
		// A clock that stands still: after a stall, the second would have fewer seconds left.
		const cache = new MemoryCache({ max: 10, clock: () => 0 })
		const { keyed } = trial({ requestId: 'X-Request-Id', cache })
		const first = await keyed('POST /pay/limited')
		const second = await keyed('POST /pay/limited')
		assert.is(second.headers['idempotent-replayed'], 'true')
		assert.is(first.headers.ratelimit, '"post_limited";r=1;t=60')
		assert.is(second.headers.ratelimit, '"post_limited";r=0;t=60')
		assert.ok(typeof second.headers['x-request-id'] === 'string')
		assert.is.not(second.headers['x-request-id'], first.headers['x-request-id'])
		assert.is((await keyed('POST /pay/limited')).status, 429)
	})

	test('a method that streams its body refuses the header', async () => {
		const { handler, keyed } = trial()
		const { status, text } = await keyed('POST /pay/stream')
		assert.is(status, 400)
		assert.match(text(), /An Idempotency-Key is not supported for a body that is streamed/)
		assert.is(handler.calls.length, 0)
	})

	for (const key of ['""', '"', '"a', 'a b', 'a, b', '"a", "b"', '', 'ž', `"${'x'.repeat(256)}"`, '"a\\b"'])
		test(`the key ${key.slice(0, 20) || 'of no characters'} is 400`, async () => {
			const { handler, keyed } = trial()
			const { status, text } = await keyed('POST /pay/payment', {}, key)
			assert.is(status, 400)
			assert.match(text(), /must be one key of 1 to 255 characters/)
			assert.is(handler.calls.length, 0)
		})

	test('a key with and without quotes is the same, and quotes in it are escaped', async () => {
		const { handler, keyed } = trial()
		await keyed('POST /pay/payment', {}, '"8e03978e-40d5-43e8-bc93-6894a57f9324"')
		await keyed('POST /pay/payment', {}, '8e03978e-40d5-43e8-bc93-6894a57f9324')
		assert.is(handler.calls.length, 1)
		assert.is((await keyed('POST /pay/payment', {}, '"a \\"b\\" \\\\"')).status, 201)
	})

	test('when the cache fails, nothing runs: 503', async () => {
		const full = new MemoryCache({ max: 1 })
		full.add('taken', true, 60)
		const { handler, keyed, lines } = trial({ cache: full })
		assert.is((await keyed('POST /pay/payment')).status, 503)
		assert.is(handler.calls.length, 0)
		const error = lines.at(-1)?.fields.err
		assert.ok(error instanceof Error && error.cause instanceof Error)
		assert.match(error.cause.message, /raise max/)
	})

	test('an answer that can not be stored is sent, and retries are refused while the lock lasts', async () => {
		const cache = new MemoryCache({ max: 10 })
		cache.set = () => {
			throw new Error('the store is gone')
		}
		const { handler, keyed, lines } = trial({ cache })
		assert.is((await keyed('POST /pay/payment')).status, 201)
		assert.is(lines.at(-1)?.message, 'an answer could not be stored for its Idempotency-Key')
		assert.is((await keyed('POST /pay/payment')).status, 409)
		assert.is(handler.calls.length, 1)
	})

	test('a long response is replayed too, and only its lock is exempt from eviction', async () => {
		const cache = new MemoryCache({ max: 1_000, maxBytes: 40_000 })
		const { handler, keyed } = trial({ cache })
		const first = await keyed('POST /pay/long')
		const again = await keyed('POST /pay/long')
		assert.is(again.text(), first.text())
		assert.is(again.headers['idempotent-replayed'], 'true')
		assert.equal(handler.calls, ['long'])
		// Far more than fits: older answers are evicted, and new ones are never refused.
		for (let at = 0; at < 30; at++) assert.is((await keyed('POST /pay/long', {}, `"many${at}"`)).status, 200)
		assert.is(cache.add('nonce', true, 60), true)
		const calls = handler.calls.length
		const evicted = await keyed('POST /pay/long')
		assert.is(evicted.status, 409)
		assert.match(evicted.text(), /its response was not stored/)
		assert.is(handler.calls.length, calls)
	})

	for (const [what, path, filler, message] of [
		['a long answer', 'long', 0, undefined],
		['a short answer', 'short', 1_000, 'there was no room for the answer to an Idempotency-Key'],
	] as const) {
		test(`a retry of ${what} that the cache had no room for is 409, and the method is not run again`, async () => {
			let now = 0
			const cache = new MemoryCache({ max: 10, maxBytes: 3_000, clock: () => now })
			if (filler > 0) cache.add('filler', 'x'.repeat(filler), 60)
			const { handler, keyed, lines } = trial({ cache, handlerTimeoutSeconds: 30 })
			assert.is((await keyed(`POST /pay/${path}`)).status, 200)
			assert.is(lines.at(-1)?.message, message)
			// Longer than the TTL of the lock.
			now = 33_300
			assert.is((await keyed(`POST /pay/${path}`)).status, 409)
			assert.equal(handler.calls, [path])
		})
	}

	test('a change that was stored before a timeout is not made again', async () => {
		let now = 0
		let isSlow = true
		const model = new MemoryModel('order', { key: 'id', fields: { id: 'integer', note: 'text' } })
		class Orders extends CrudHandler {
			override authenticator = authenticator
			async post_pay() {
				await this.create({ note: 'paid' })
				if (isSlow) await new Promise((resolve) => this.request.signal.addEventListener('abort', resolve))
				return model.count(undefined)
			}
		}
		const orders = new Orders(model, { visible: 'all', creatable: ['note'], allow: ['list', 'create'] })
		const cache = new MemoryCache({ max: 10, clock: () => now })
		await listening({ orders }, { cache, handlerTimeoutSeconds: 0.1 }, async ({ url }) => {
			const headers = { 'idempotency-key': 'k', 'x-user': 'ann' }
			const ask = async () => (await fetch(`${url}/orders/pay`, { method: 'POST', headers })).status
			assert.is(await ask(), 503)
			isSlow = false
			assert.is(await ask(), 409)
			now = 10_000
			assert.is(await ask(), 409)
			assert.is(await model.count(undefined), 1)
		})
	})

	test('nor is one whose related records were created as a user of another authenticator', async () => {
		let now = 0
		let isSlow = true
		const fields = { id: 'integer', note: 'text' } as const
		const model = new MemoryModel('order', { key: 'id', fields })
		class Items extends CrudHandler {
			override authenticator = { authenticate: () => ({ id: 'bob' }) }
			override access = { create: 'user' as const }
			override rateLimits = { create: { limit: 5, windowSeconds: 60 } }
		}
		const itemModel = new MemoryModel('item', { key: 'id', fields: { ...fields, order: 'integer' } })
		const items = new Items(itemModel, {
			visible: 'all',
			creatable: ['note', 'order'],
			allow: ['list', 'create'],
		})
		class Orders extends CrudHandler {
			override authenticator = authenticator
			override async after() {
				if (isSlow) await new Promise((resolve) => this.request.signal.addEventListener('abort', resolve))
			}
		}
		const orders = new Orders(model, {
			...{ visible: 'all', creatable: ['note'], allow: ['list', 'create'] },
			relations: { items: { to: items, by: 'order', many: true, writable: ['create'] } },
		})
		const cache = new MemoryCache({ max: 20, clock: () => now })
		await listening({ orders, items }, { cache, handlerTimeoutSeconds: 0.2 }, async ({ url }) => {
			const headers = { 'idempotency-key': 'k', 'x-user': 'ann', 'content-type': 'application/json' }
			const body = JSON.stringify({ note: 'a', items: [{ note: 'b' }] })
			const ask = async () => (await fetch(`${url}/orders`, { method: 'POST', headers, body })).status
			assert.is(await ask(), 503)
			isSlow = false
			now = 10_000
			assert.is(await ask(), 409)
			assert.is(await model.count(undefined), 1)
		})
	})

	test('a key that could not be counted leaves no lock', async () => {
		const cache = new MemoryCache({ max: 10 })
		const { increment } = cache
		cache.increment = () => {
			throw new Error('the store is gone')
		}
		const { handler, keyed } = trial({ cache })
		assert.is((await keyed('POST /pay/payment')).status, 503)
		cache.increment = increment
		assert.is((await keyed('POST /pay/payment')).status, 201)
		assert.is(handler.calls.length, 1)
	})

	test('a lock expires after its run must have ended, and a later answer is not stored', () =>
		inTimesOf(50, async (time) => {
			let now = 0
			const cache = new MemoryCache({ max: 10, clock: () => now })
			const handler = new Payments()
			await listening(
				{ pay: handler },
				{ authenticator, acl, cache, handlerTimeoutSeconds: time / 1_000 },
				async (site) => {
					const ask = () => slowly(site.url)
					assert.is((await ask()).status, 503)
					assert.is((await ask()).status, 409)
					handler.gates[0]?.()
					await until(
						() => site.log.messages.some((line) => line.includes('came too late')),
						'the late answer',
					)
					assert.is((await ask()).status, 409)
					now = 2_999 + time
					assert.is((await ask()).status, 409)
					now = 3_000 + time
					assert.is((await ask()).status, 503)
					handler.gates[1]?.()
					assert.equal(handler.calls, ['slow', 'slow'])
				},
			)
		}))

	test('when writing the lock took too long, the method is not called: 503', async () => {
		const cache = new MemoryCache({ max: 10 })
		const { add } = cache
		const late = async (...given: Parameters<typeof add>) => {
			await new Promise((resolve) => setTimeout(resolve, 1_100))
			return add.apply(cache, given)
		}
		const slow: Cache = {
			get: (key) => cache.get(key),
			set: (...given) => cache.set(...given),
			delete: (key) => cache.delete(key),
			add: late,
			increment: (...given) => cache.increment(...given),
		}
		const { handler, keyed } = trial({ cache: slow })
		assert.is((await keyed('POST /pay/payment')).status, 503)
		assert.equal(handler.calls, [])
		assert.is(cache.size, 1, 'the mark is taken back')
	})

	test('a request that timed out during the lock is not run after its 503', async () => {
		const cache = new MemoryCache({ max: 10 })
		let answer: (() => void) | undefined
		const slow: Cache = {
			get: (key) => cache.get(key),
			set: (...given) => cache.set(...given),
			delete: (key) => cache.delete(key),
			add: (...given) =>
				new Promise((resolve) => {
					answer = () => resolve(cache.add(...given))
				}),
			increment: (...given) => cache.increment(...given),
		}
		const handler = new Payments()
		await listening(
			{ pay: handler },
			{ authenticator, acl, cache: slow, handlerTimeoutSeconds: 0.05 },
			async ({ url }) => {
				assert.is((await slowly(url)).status, 503)
				answer?.()
				await new Promise((resolve) => setTimeout(resolve, 50))
				assert.equal(handler.calls, [])
			},
		)
	})

	test('a lock that may have expired is not released: it may be that of a retry, or its answer', async () => {
		let now = 0
		const cache = new MemoryCache({ max: 10, clock: () => now })
		const late: (() => void)[] = []
		const slow: Cache = {
			get: (key) => cache.get(key),
			set: (...given) => cache.set(...given),
			delete: (key) => cache.delete(key),
			add: async (...given) => {
				const isAdded = cache.add(...given)
				if (late.length === 0) await new Promise<void>((resolve) => late.push(resolve))
				return isAdded
			},
			increment: (...given) => cache.increment(...given),
		}
		const handler = new Payments()
		const options = { authenticator, acl, cache: slow, handlerTimeoutSeconds: 0.5 }
		await listening({ pay: handler }, options, async ({ url }) => {
			const ask = () => slowly(url, 'payment')
			const took = stopwatch()
			assert.is((await ask()).status, 503)
			now = 3_500
			assert.is((await ask()).status, 201)
			await until(() => took() > 4_000, 'the end of the first lock')
			late[0]?.()
			await new Promise((resolve) => setTimeout(resolve, 50))
			const retry = await ask()
			assert.equal([retry.status, retry.headers.get('idempotent-replayed')], [201, 'true'])
			assert.equal(handler.calls, ['post'])
		})
	})

	test('an answer waits at most a second for a cache that hangs, though the method took its whole time', async () => {
		const cache = new MemoryCache({ max: 10 })
		const hanging: Cache = {
			get: (key) => cache.get(key),
			set: () => new Promise(() => {}),
			delete: (key) => cache.delete(key),
			add: (...given) => cache.add(...given),
			increment: (...given) => cache.increment(...given),
		}
		const handler = new Payments()
		const options = { authenticator, acl, cache: hanging, handlerTimeoutSeconds: 0.2 }
		await listening({ pay: handler }, options, async ({ url, log }) => {
			const took = stopwatch()
			const answer = slowly(url)
			await until(() => handler.gates.length === 1, 'the call')
			handler.gates[0]?.()
			assert.is((await answer).status, 200)
			assert.ok(took() < 5_000)
			assert.ok(log.messages.some((line) => line.includes('could not be stored for its Idempotency-Key')))
		})
	})

	test('the answer of a method that stopped because its client left is not stored', async () => {
		const handler = new Payments()
		await listening({ pay: handler }, { authenticator, acl }, async ({ url }) => {
			const abort = new AbortController()
			const ask = (signal: AbortSignal | null) =>
				fetch(`${url}/pay/stopping`, {
					method: 'POST',
					body: '{}',
					headers: { 'content-type': 'application/json', 'idempotency-key': 'k', 'x-user': 'ann' },
					signal,
				})
			const left = ask(abort.signal)
			await until(() => handler.calls.length > 0, 'the method runs')
			abort.abort()
			await left.catch(() => {})
			await until(() => handler.calls.includes('stopped'), 'the method has stopped')
			const again = ask(null)
			await until(() => handler.calls.filter((call) => call === 'stopping').length === 2, 'it runs again')
			handler.gates.at(-1)?.()
			assert.is((await again).status, 200)
		})
	})

	test('temporary refusals are forgotten, others stored', async () => {
		for (const [code, runs] of [
			['unauthorized', 2],
			['forbidden', 2],
			['request_timeout', 2],
			['too_many_requests', 2],
			['not_found', 1],
			['invalid', 1],
			['conflict', 1],
		] as const) {
			const { handler, keyed } = trial()
			for (let round = 0; round < 2; round++) await keyed('POST /pay/refusing', { code })
			assert.is(handler.calls.length, runs, code)
		}
	})

	test('a retry after an unknown outcome is 409, and the method is not run again', async () => {
		const { handler, keyed } = trial()
		assert.is((await keyed('POST /pay/refusing', { code: 'outcome_unknown' })).status, 503)
		assert.is((await keyed('POST /pay/refusing', { code: 'outcome_unknown' })).status, 409)
		assert.is(handler.calls.length, 1)
	})

	test('an unknown outcome stays 409 when onError renames it or returns another error', async () => {
		for (const [thrown, named] of [
			['outcome_unknown', 'conflict'],
			['conflict', 'outcome_unknown'],
		] as const) {
			let errors = 0
			const onError = () => (errors++ === 0 ? new RestError(named) : undefined)
			const { handler, keyed } = trial({ onError })
			const first = await keyed('POST /pay/refusing', { code: thrown })
			const again = await keyed('POST /pay/refusing', { code: thrown })
			assert.match(first.text(), `"code":"${named}"`)
			assert.is(again.status, 409)
			// A replay of the first answer would claim that the outcome is known.
			assert.is.not(again.text(), first.text())
			assert.is(handler.calls.length, 1)
		}
	})

	test('a method that succeeded without a sendable answer is not run again: 500, then 409', async () => {
		const { handler, keyed } = trial()
		for (const path of ['unsendable', 'misspelt']) {
			assert.is((await keyed(`POST /pay/${path}`)).status, 500)
			assert.is((await keyed(`POST /pay/${path}`)).status, 409)
		}
		assert.equal(handler.calls, ['unsendable', 'misspelt'])
	})

	test('headers set by before do not replace stored ones', async () => {
		let asked = 0
		const before = (view: RestHandler) => {
			view.header('X-Asked', String(++asked))
			view.header('Location', `/default/${asked}`)
		}
		const { handler, keyed } = trial({ before })
		const [first, again] = [await keyed('POST /pay/payment'), await keyed('POST /pay/payment')]
		assert.equal([first.headers.location, first.headers['x-asked']], ['/p/1', '1'])
		assert.equal([again.headers.location, again.headers['x-asked']], ['/p/1', '1'])
		assert.equal(
			[await keyed('POST /pay/failing', {}, 'other'), await keyed('POST /pay/failing', {}, 'other')].map(
				({ status, headers }) => [status, headers['x-asked']],
			),
			[
				[409, undefined],
				[409, undefined],
			],
		)
		assert.equal(handler.calls, ['post', 'failing'])
	})

	test('over fetch, too, a client that left gets the answer when it retries', async () => {
		const { handler, server } = trial()
		const leaving = new AbortController()
		const ask = (signal?: AbortSignal) =>
			server.fetch(
				new globalThis.Request('http://a/pay/slow', {
					method: 'POST',
					body: '{}',
					headers: { 'content-type': 'application/json', 'idempotency-key': 'k', 'x-user': 'ann' },
					...(signal && { signal }),
				}),
			)
		const left = ask(leaving.signal).catch(String)
		await until(() => handler.gates.length > 0, 'the method runs')
		leaving.abort(new Error('left'))
		assert.is(await left, 'Error: left')
		handler.gates[0]?.()
		await until(async () => (await ask()).status === 200, 'the first answer')
		assert.is((await ask()).headers.get('idempotent-replayed'), 'true')
		assert.equal(handler.calls, ['slow'])
	})

	test('each user has 10,000 new keys a day', async () => {
		const cache = new MemoryCache({ max: 10 })
		const { handler, keyed } = trial({ cache })
		cache.set('idempotency:ann:keys:user:ann', 9_999, 60)
		assert.is((await keyed('POST /pay/payment', {}, 'k1')).status, 201)
		const refused = await keyed('POST /pay/payment', {}, 'k2')
		assert.equal([refused.status, refused.headers['retry-after']], [429, '3600'])
		assert.is((await keyed('POST /pay/payment', {}, 'k1')).status, 201)
		assert.is((await keyed('POST /pay/payment', {}, 'k2', 'bob')).status, 201)
		assert.is(handler.calls.length, 2)
	})

	test('a user who has filled their share gets a 429 that says so, and other users have room', async () => {
		const { handler, keyed } = trial({ cache: new MemoryCache({ max: 1_000 }) })
		let last: InjectedReply | undefined
		for (let key = 0; key < 1_000 && last?.status !== 429; key++)
			last = await keyed('POST /pay/payment', {}, `k${key}`)
		assert.match(
			String(last?.text()),
			/Too many Idempotency-Keys, or answers to them, are kept for this user/,
		)
		const runs = handler.calls.length
		for (let key = 0; key < 50; key++)
			assert.is((await keyed('POST /pay/payment', {}, `k${key}`, 'bob')).status, 201)
		assert.is(handler.calls.length, runs + 50)
		// Answers stored for the greedy user are still replayed.
		assert.is((await keyed('POST /pay/payment', {}, 'k0')).headers['idempotent-replayed'], 'true')
	})

	class Open extends Payments {
		override idempotencyKeys = 'anyone'
	}

	/** The share that the counts of 2001:db8::/48 belong to. */
	const OF_48 = '2001%3Adb8%3A0/48'

	/** An anonymous request from an address. */
	function openly({ server }: Trial, remoteAddress: string, key: string): Promise<InjectedReply> {
		const headers = { 'idempotency-key': key }
		return server.inject({ method: 'POST', url: '/pay/payment', body: {}, headers, remoteAddress })
	}

	const networks: [what: string, counter: string, most: number, from: string, other: string][] = [
		['an address', '192.0.2.1:keys:address:192.0.2.1', 1_000, '192.0.2.1', '192.0.2.2'],
		['64 bits', `${OF_48}:keys:address:2001:db8:0:1`, 1_000, '2001:db8:0:1::9', '2001:db8:0:2::1'],
		['56 bits', `${OF_48}:keys:address:2001:db8:0:0/56`, 4_000, '2001:db8:0:2::', '2001:db8:0:100::'],
		['48 bits', `${OF_48}:keys:address:2001:db8:0/48`, 8_000, '2001:db8:0:100::', '2001:db8:1::'],
	]
	for (const [what, counter, most, from, other] of networks) {
		test(`with idempotencyKeys anyone, ${what} may use ${most} new keys a day`, async () => {
			const cache = new MemoryCache({ max: 1_000 })
			const open = trial({ cache }, new Open())
			cache.set(`idempotency:${counter}`, most - 1, 60)
			assert.is((await openly(open, from, 'a')).status, 201)
			const refused = await openly(open, from, 'b')
			assert.equal([refused.status, refused.headers['retry-after']], [429, '3600'])
			assert.is((await openly(open, other, 'c')).status, 201)
			assert.is((await openly(open, from, 'a')).headers['idempotent-replayed'], 'true')
		})
	}

	test('a full share of anonymous callers is 503, not 429', async () => {
		const cache = new MemoryCache({ max: 1_000 })
		const open = trial({ cache }, new Open())
		let last: InjectedReply | undefined
		for (let at = 0; at < 1_000 && last?.status !== 503; at++) {
			last = await openly(open, `192.0.2.${at % 250}`, `k${at}`)
			assert.not.equal(last.status, 429)
		}
		assert.is(last?.status, 503)
	})

	test('behind a parser, its result is compared', async () => {
		const handler = new Payments()
		const server = createServer(
			{ pay: handler },
			{ authenticator, acl, logger: { info() {}, warn() {}, error() {} } },
		)
		const app = express().use(express.json()).use(server.handler)
		const listener = app.listen(0, '127.0.0.1')
		await once(listener, 'listening')
		const { port } = listener.address() as AddressInfo
		const ask = async (body: object) =>
			(
				await fetch(`http://127.0.0.1:${port}/pay/payment`, {
					method: 'POST',
					body: JSON.stringify(body),
					headers: { 'content-type': 'application/json', 'idempotency-key': 'k', 'x-user': 'ann' },
				})
			).status
		try {
			assert.equal([await ask({ a: 1 }), await ask({ a: 1 }), await ask({ a: 2 })], [201, 201, 422])
			assert.equal(handler.calls, ['post'])
		} finally {
			listener.close()
			listener.closeAllConnections()
			await server.close()
		}
	})

	test('a key that can not be stored is refused before the body is read', async () => {
		const { ask, keyed } = trial({ maxBody: 10 })
		const body = 'more than ten bytes'
		assert.is((await keyed('POST /pay/payment', body, 'a b')).status, 400)
		const headers = { 'idempotency-key': 'k' }
		assert.is((await ask('POST /pay/payment', { body, headers })).status, 400)
		assert.is((await keyed('POST /pay/payment', body)).status, 413)
	})

	const stored: readonly (readonly [what: string, change: object])[] = [
		['a status that is none', { status: 99 }],
		['an interim status', { status: 103 }],
		['an odd number of headers', { headers: ['A'] }],
		['a line break in a header', { headers: ['A', 'b\r\nC: d'] }],
		['a name that is none', { headers: ['A b', 'c'] }],
		['a length of its own', { headers: ['Content-Length', '3'] }],
		['a body that is none', { body: 5 }],
		['another state', { state: 'done' }],
	]
	for (const [what, change] of stored)
		test(`a record with ${what} is 503, and nothing of it is sent`, async () => {
			const cache = new MemoryCache({ max: 10 })
			let key = ''
			const { set } = cache
			cache.set = (name, ...rest) => {
				key = name
				set.call(cache, name, ...rest)
			}
			const { handler, keyed } = trial({ cache })
			await keyed('POST /pay/payment')
			cache.set(key, { ...(cache.get(key) as object), ...change } as JsonValue, 60)
			const { status, text, headers } = await keyed('POST /pay/payment')
			assert.is(status, 503)
			assert.match(text(), /"code":"unavailable"/)
			assert.is(headers['idempotent-replayed'], undefined)
			assert.is(handler.calls.length, 1)
		})

	test('a foreign value under the key is 503, not an answer', async () => {
		const cache: Cache = {
			get: () => ({ state: 'answered', fingerprint: 'x', status: '200' }),
			set: () => {},
			delete: () => true,
			add: () => false,
			increment: () => 1,
		}
		const { handler, keyed } = trial({ cache })
		assert.is((await keyed('POST /pay/payment')).status, 503)
		assert.is(handler.calls.length, 0)
	})

	test('an answer is stored for 24 hours', async () => {
		let now = 0
		const { handler, keyed } = trial({ cache: new MemoryCache({ max: 10, clock: () => now }) })
		await keyed('POST /pay/payment')
		now = 86_399_999
		await keyed('POST /pay/payment')
		assert.is(handler.calls.length, 1)
		now = 86_400_000
		await keyed('POST /pay/payment')
		assert.is(handler.calls.length, 2)
	})

	test('a client that left gets the answer when it retries', async () => {
		const handler = new Payments()
		await listening({ pay: handler }, { authenticator, acl }, async ({ url }) => {
			const abort = new AbortController()
			const ask = (signal: AbortSignal | null) =>
				fetch(`${url}/pay/slow`, {
					method: 'POST',
					body: '{}',
					headers: { 'content-type': 'application/json', 'idempotency-key': 'k', 'x-user': 'ann' },
					signal,
				})
			const left = ask(abort.signal)
			await until(() => handler.gates.length > 0, 'the method runs')
			abort.abort()
			await left.catch(() => {})
			handler.gates[0]?.()
			await until(async () => (await ask(null)).status === 200, 'the answer is kept')
			assert.equal(handler.calls, ['slow'])
		})
	})
})
