import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { RestError, RestHandler, reply } from '../../lib/index.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const INTERNAL =
	/^500 \{"success":false,"error":"Internal Server Error","code":"internal","requestId":"[\w-]+"\}$/
const UNAUTHORIZED = '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}'

type Make = (handler: RestHandler) => unknown

function answering(make: Make, wrap = true, options = {}): Asking {
	class Streams extends RestHandler {
		override readonly wrap = wrap
		get_a() {
			return make(this)
		}
		async get_later() {
			return make(this)
		}
	}
	return asking({ s: new Streams() }, options)
}

/** Authenticates nobody, asynchronously. */
const nobody = {
	async authenticate() {
		await new Promise((resolve) => setTimeout(resolve, 5))
		return null
	},
}

describe('reply: records', (test) => {
	async function* numbers(end = 3): AsyncGenerator<number> {
		for (let at = 1; at <= end; at++) yield at
	}

	const table: [string, () => unknown, string][] = [
		['a generator', () => numbers(), '[1,2,3]'],
		['an empty one', () => numbers(0), '[]'],
		['a stream of objects', () => Readable.from([{ a: 1 }, { a: 2 }]), '[{"a":1},{"a":2}]'],
		['an iterable of its own', () => ({ [Symbol.asyncIterator]: () => numbers(1) }), '[1]'],
	]
	for (const [what, make, json] of table) {
		test(`${what} is a JSON array`, async () => {
			for (const path of ['/s/a', '/s/later']) {
				const { status, headers, text } = await answering(make).ask(path)
				assert.equal([status, text()], [200, `{"success":true,"data":${json}}`])
				assert.equal(
					{ ...headers },
					{ 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' },
				)
				assert.is(await answering(make, false).said(path), `200 ${json}`)
			}
		})
	}

	test('meta follows the records', async () => {
		const make: Make = () => reply(numbers(1), { meta: { limit: 1 } })
		assert.is(await answering(make).said('/s/a'), '200 {"success":true,"data":[1],"meta":{"limit":1}}')
		assert.is(await answering(make, false).said('/s/a'), '200 [1]')
	})

	test('a method may be a generator, and set status and headers', async () => {
		class Blog extends RestHandler {
			async *get_a(id: string) {
				this.status(206)
				this.header('X-A', id)
				yield id
			}
		}
		const { ask } = asking({ s: new Blog() })
		const { status, headers, text } = await ask('/s/a/5')
		assert.equal([status, headers['x-a'], text()], [206, '5', '{"success":true,"data":["5"]}'])
		const head = await ask('HEAD /s/a/5')
		assert.equal([head.status, head.headers['x-a'], head.text()], [206, '5', ''])
	})

	test('an error recorded or thrown before the first record is the response', async () => {
		class Blog extends RestHandler {
			async *get_error() {
				this.error('No such list', 404)
				yield 1
			}
			// biome-ignore lint/correctness/useYield: a list that is refused has no records
			async *get_empty_error() {
				this.error('No such list', 404)
			}
			async *get_thrown() {
				if (this.query.a === undefined) throw new RestError('gone')
				yield 1
			}
			async *get_forgotten() {
				this.requireAuth(nobody)
				this.error('No such list', 404)
				yield 1
			}
		}
		const { said, ask } = asking({ s: new Blog() })
		const missing = '404 {"success":false,"error":"No such list","code":"not_found"}'
		assert.is(await said('/s/error'), missing)
		assert.is(await said('/s/empty_error'), missing)
		assert.is(await said('/s/thrown'), '410 {"success":false,"error":"Gone","code":"gone"}')
		assert.is(await said('/s/thrown?a'), '200 {"success":true,"data":[1]}')
		assert.is(await said('/s/forgotten'), UNAUTHORIZED)
		for (const [path, status] of [
			['error', 404],
			['thrown', 410],
			['forgotten', 401],
		] as const) {
			assert.is((await ask(`HEAD /s/${path}`)).status, status)
		}
	})

	const unsent: [string, Make, string][] = [
		['HEAD', () => undefined, 'HEAD'],
		['an error that was recorded', (handler) => handler.error('No', 404), 'GET'],
		['a refusal', (handler) => void handler.requireAuth(nobody), 'GET'],
		['a status without content', (handler) => handler.status(204), 'GET'],
	]
	for (const [what, before, method] of unsent) {
		test(`for ${what}, the source is closed unsent`, async () => {
			let closed = 0
			const source = {
				[Symbol.asyncIterator]: () => ({
					next: async () => ({ done: false, value: 'x' }),
					async return() {
						closed++
						return { done: true, value: undefined }
					},
				}),
			}
			const { text } = await answering((handler) => {
				before(handler)
				return source
			}).ask(`${method} /s/a`)
			assert.equal([text().includes('x'), closed], [false, 1])
		})
	}

	test('a failing first record is a clean 500', async () => {
		// biome-ignore lint/correctness/useYield: it fails before it could
		const make: Make = async function* () {
			throw new Error('broken')
		}
		const { said, logged } = answering(make)
		assert.match(await said('/s/a'), INTERNAL)
		assert.is(logged(), 'broken')
		assert.match(await said('/s/later'), INTERNAL)
	})

	test('a later record that fails, or that JSON cannot represent, cuts the response off', async () => {
		for (const [bad, message] of [
			[
				() => {
					throw new Error('broken')
				},
				/broken/,
			],
			[() => 1n, /BigInt/],
		] as const) {
			const make: Make = () =>
				(async function* () {
					yield 1
					yield bad()
				})()
			const error = await answering(make)
				.ask('/s/a')
				.catch((reason: unknown) => reason)
			assert.match(String(error), message)
		}
	})

	test("a method's timeout applies up to the first record: 503", async () => {
		const never: Make = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })
		for (const path of ['/s/a', '/s/later']) {
			// The deadlines' own timer keeps no program alive.
			const alive = setInterval(() => {}, 1_000)
			const { said } = answering(never, true, { handlerTimeoutSeconds: 0.02 })
			assert.match(
				await said(path),
				/^503 \{"success":false,"error":"The answer took too long","code":"unavailable"/,
			)
			clearInterval(alive)
		}
	})
})
