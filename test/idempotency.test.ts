/** Requests with an Idempotency-Key: run once, and answered alike. */
import * as assert from 'uvu/assert'
import {
	type Cache,
	type InjectedReply,
	MemoryCache,
	type Request,
	RestError,
	RestHandler,
	reply,
	type ServerOptions,
} from '../lib/index.ts'
import { type Asking, asking } from './helpers/asking.ts'
import { describe } from './helpers/describe.ts'
import { listening, until } from './helpers/listening.ts'

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
	post_nothing() {
		this.calls.push('nothing')
		this.status(204)
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
	test('the same request again is given the first answer, status, headers and bytes, and not run', async () => {
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

	test('without a key nothing is kept', async () => {
		const { ask, handler } = trial()
		for (let round = 0; round < 2; round++)
			await ask('POST /pay/payment', { body: {}, headers: { 'x-user': 'ann' } })
		assert.is(handler.calls.length, 2)
	})

	test('PATCH too; PUT is idempotent by itself; a POST that overrides its method counts as what it becomes', async () => {
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

	test('user, method, path and key are the scope', async () => {
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
		const all = Array.from({ length: 100 }, () => keyed('POST /pay/slow'))
		await until(() => handler.gates.length > 0, 'the method runs')
		const [first, ...others] = all
		const refused = await Promise.all(others)
		for (const { status, headers } of refused) assert.equal([status, headers['retry-after']], [409, '1'])
		for (const open of handler.gates) open()
		assert.is((await first)?.status, 200)
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

	test('a failure of the server is forgotten, a refusal kept', async () => {
		const { handler, keyed } = trial()
		const statuses: number[] = []
		for (let round = 0; round < 4; round++) statuses.push((await keyed('POST /pay/failing')).status)
		assert.equal(statuses, [503, 409, 409, 409])
		assert.is(handler.calls.length, 2)
	})

	test('an answer without a body, and one of bytes', async () => {
		const { handler, keyed } = trial()
		for (let round = 0; round < 2; round++) {
			const { status, text } = await keyed('POST /pay/nothing')
			assert.equal([status, text()], [204, ''])
		}
		const [first, second] = [await keyed('POST /pay/bytes'), await keyed('POST /pay/bytes')]
		assert.equal(second.body, first.body)
		assert.equal([...second.body], [0, 255, 2])
		assert.equal(handler.calls, ['nothing', 'bytes'])
	})

	test('what can not be kept is not run again either: 409', async () => {
		const { handler, keyed } = trial()
		for (const path of ['records', 'large']) {
			assert.is((await keyed(`POST /pay/${path}`)).status, 200)
			const again = await keyed(`POST /pay/${path}`)
			assert.is(again.status, 409)
			assert.match(again.text(), /answer that could not be kept/)
		}
		assert.equal(handler.calls, ['records', 'large'])
	})

	test('without a user it is 400, and with idempotencyKeys anyone it is kept', async () => {
		const { ask, handler } = trial()
		const headers = { 'idempotency-key': 'k1' }
		const refused = await ask('POST /pay/payment', { body: {}, headers })
		assert.is(refused.status, 400)
		assert.match(refused.text(), /for known users only: send credentials, or no key/)
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

	test('a value that means nothing is refused at mount', () => {
		class Wrong extends Payments {
			override idempotencyKeys = 'all'
		}
		assert.throws(
			() => trial({}, new Wrong()),
			/^Wrong\.idempotencyKeys must be 'user', 'anyone' or 'off', got "all"$/,
		)
	})

	test('access is checked before an answer is given again', async () => {
		let allowed = true
		const acl = { allows: () => allowed }
		const { keyed } = trial({ acl })
		assert.is((await keyed('POST /pay/forbidden')).status, 200)
		allowed = false
		assert.is((await keyed('POST /pay/forbidden')).status, 403)
	})

	test('rate limit and request id are of the request, not of the answer that is given again', async () => {
		const { keyed } = trial({ requestId: 'X-Request-Id' })
		const first = await keyed('POST /pay/limited')
		const second = await keyed('POST /pay/limited')
		assert.is(second.headers['idempotent-replayed'], 'true')
		assert.is(first.headers.ratelimit, '"post_limited";r=1;t=60')
		assert.is(second.headers.ratelimit, '"post_limited";r=0;t=60')
		assert.is.not(second.headers['x-request-id'], first.headers['x-request-id'])
		assert.is((await keyed('POST /pay/limited')).status, 429)
	})

	test('a method that streams its body refuses the header', async () => {
		const { handler, keyed } = trial()
		const { status, text } = await keyed('POST /pay/stream')
		assert.is(status, 400)
		assert.match(text(), /No Idempotency-Key can be kept for a body that is streamed/)
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

	test('where the cache fails, nothing runs: 503', async () => {
		const full = new MemoryCache({ max: 1 })
		full.add('taken', true, 60)
		const { handler, keyed, lines } = trial({ cache: full })
		assert.is((await keyed('POST /pay/payment')).status, 503)
		assert.is(handler.calls.length, 0)
		const error = lines.at(-1)?.fields.err
		assert.ok(error instanceof Error && error.cause instanceof Error)
		assert.match(error.cause.message, /raise max/)
	})

	test('where the answer can not be kept, it is given, and the same request refused while the mark lasts', async () => {
		const cache = new MemoryCache({ max: 10 })
		cache.set = () => {
			throw new Error('the store is gone')
		}
		const { handler, keyed, lines } = trial({ cache })
		assert.is((await keyed('POST /pay/payment')).status, 201)
		assert.is(lines.at(-1)?.message, 'an answer could not be kept for its Idempotency-Key')
		assert.is((await keyed('POST /pay/payment')).status, 409)
		assert.is(handler.calls.length, 1)
	})

	test('a mark ends with the time of the method, and what comes later is not kept', async () => {
		let now = 0
		const cache = new MemoryCache({ max: 10, clock: () => now })
		await listening(
			{ pay: new Payments() },
			{ authenticator, acl, cache, handlerTimeout: 50 },
			async (site) => {
				const ask = () =>
					fetch(`${site.url}/pay/slow`, {
						method: 'POST',
						body: '{}',
						headers: { 'content-type': 'application/json', 'idempotency-key': 'k', 'x-user': 'ann' },
					})
				assert.is((await ask()).status, 503)
				assert.is((await ask()).status, 409)
				now = 1_051
				assert.is((await ask()).status, 503)
			},
		)
	})

	test('a value of somebody else under the key is 503, not an answer', async () => {
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

	test('an answer is kept for 24 hours', async () => {
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

	test('a client that left is given the answer when it comes again', async () => {
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
