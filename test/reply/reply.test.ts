/** How a method's value is sent. Streams: reply/streams.test.ts; errors: reply/errors.test.ts. */
import * as assert from 'uvu/assert'
import { RawJson, RestHandler, reply } from '../../lib/index.ts'
import { type Asking, asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const INTERNAL =
	/^500 \{"success":false,"error":"Internal Server Error","code":"internal","requestId":"[\w-]+"\}$/

/** A handler whose GET returns what `make` makes, in or out of the envelope. */
function answering(make: (handler: RestHandler) => unknown, wrap = true, options = {}): Asking {
	class Values extends RestHandler {
		override readonly wrap = wrap
		get_a() {
			return make(this)
		}
		async get_later() {
			return make(this)
		}
	}
	return asking({ v: new Values() }, options)
}

describe('reply: values', (test) => {
	const table: [string, unknown, string][] = [
		['undefined', undefined, 'null'],
		['null', null, 'null'],
		['0', 0, '0'],
		['-0', -0, '0'],
		["''", '', '""'],
		['false', false, 'false'],
		['NaN', Number.NaN, 'null'],
		['Infinity', Number.POSITIVE_INFINITY, 'null'],
		['text', 'a"b\u2028é👍', '"a\\"b\u2028é👍"'],
		['a lone surrogate', '\ud800', '"\\ud800"'],
		['an object', { a: 1, b: undefined, c: [undefined, null] }, '{"a":1,"c":[null,null]}'],
		['an empty array', [], '[]'],
		['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
		['a date in an object', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
		['an invalid date', new Date(Number.NaN), 'null'],
		['an object without prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
		['an object with toJSON', { toJSON: () => ({ b: 2 }) }, '{"b":2}'],
		[
			'an instance of a class',
			new (class Point {
				x = 1
			})(),
			'{"x":1}',
		],
		['a boxed number', Object(5), '5'],
		['raw JSON', new RawJson('{"n": 12345678901234567890}'), '{"n": 12345678901234567890}'],
	]
	for (const [what, value, json] of table) {
		test(`${what} is ${json}`, async () => {
			const { said } = answering(() => value)
			assert.is(await said('/v/a'), `200 {"success":true,"data":${json}}`)
			assert.is(await said('/v/later'), `200 {"success":true,"data":${json}}`)
			assert.is(await answering(() => value, false).said('/v/a'), `200 ${json}`)
		})
	}

	test('a thenable is awaited', async () => {
		// biome-ignore lint/suspicious/noThenProperty: query builders are such
		const thenable = { then: (resolve: (value: unknown) => void) => resolve([1]) }
		assert.is(await answering(() => thenable).said('/v/a'), ok([1]))
	})

	test('JSON has a length, a type, and nosniff', async () => {
		const { headers } = await answering(() => 'é').ask('/v/a')
		assert.equal(
			{ ...headers },
			{
				'content-type': 'application/json; charset=utf-8',
				'content-length': '28',
				'x-content-type-options': 'nosniff',
			},
		)
	})

	const cyclic: { self?: unknown } = {}
	cyclic.self = cyclic
	const impossible: [string, unknown, RegExp][] = [
		['a function', () => 1, /^a function can't be sent: JSON has no such value$/],
		['a symbol', Symbol('s'), /^a symbol can't be sent: JSON has no such value$/],
		['a BigInt', 5n, /BigInt/],
		['a BigInt within', { a: [5n] }, /BigInt/],
		['a cycle', cyclic, /circular/],
		[
			'a toJSON that throws',
			{
				toJSON: () => {
					throw new Error('not now')
				},
			},
			/^not now$/,
		],
		['a toJSON that says nothing', { toJSON: () => undefined }, /can't be sent/],
		[
			'a getter that throws',
			{
				get a() {
					throw new Error('not now')
				},
			},
			/^not now$/,
		],
		[
			'a then that throws',
			{
				// biome-ignore lint/suspicious/noThenProperty: this is what is tested
				get then() {
					throw new Error('not now')
				},
			},
			/^not now$/,
		],
	]
	for (const [what, value, message] of impossible) {
		test(`${what} is a clean 500, and the log says why`, async () => {
			for (const path of ['/v/a', '/v/later']) {
				const { said, logged } = answering((handler) => {
					handler.header('Set-Cookie', 'a=1')
					handler.status(201)
					return value
				})
				assert.match(await said(path), INTERNAL)
				assert.match(logged(), message)
			}
		})
	}
})

describe('reply: bytes', (test) => {
	const table: [string, Uint8Array, number[]][] = [
		['a Buffer', Buffer.from([0, 255, 10]), [0, 255, 10]],
		['a Uint8Array', new Uint8Array([1, 2]), [1, 2]],
		['a part of one', new Uint8Array([1, 2, 3]).subarray(1), [2, 3]],
		['no bytes', new Uint8Array(), []],
	]
	for (const [what, value, bytes] of table) {
		test(`${what} is sent unchanged, with or without the envelope`, async () => {
			for (const wrap of [true, false]) {
				const { status, headers, body } = await answering(() => value, wrap).ask('/v/a')
				assert.equal([status, [...body]], [200, bytes])
				assert.equal(
					{ ...headers },
					{
						'content-type': 'application/octet-stream',
						'content-length': String(bytes.length),
						'x-content-type-options': 'nosniff',
						'content-security-policy': 'sandbox',
					},
				)
			}
		})
	}

	test('its length counts the bytes of data and meta, also of a long text, which is joined as bytes', async () => {
		for (const wrap of [true, false])
			for (const name of ['Zoë', 'Zoë \ud83c\udf31'.repeat(10_000), 'Zoe'.repeat(30_000)]) {
				const meta = { who: '漢字 🌱' }
				const asked = answering(() => reply({ name }, { meta }), wrap)
				const { headers, text, body } = await asked.ask('/v/a')
				assert.is(headers['content-length'], String(body.length))
				assert.is((await asked.ask('HEAD /v/a')).headers['content-length'], String(body.length))
				assert.is(text(), JSON.stringify(wrap ? { success: true, data: { name }, meta } : { name }))
			}
	})

	test('a text of another type than JSON has the sandbox policy too', async () => {
		const typed = (type: string | readonly string[], more = {}) =>
			answering(() => reply('<script>', { headers: { 'Content-Type': type, ...more } }), true).ask('/v/a')
		assert.is((await typed('text/html')).headers['content-security-policy'], 'sandbox')
		assert.is((await typed('application/geo+json')).headers['content-security-policy'], undefined)
		// Of several a browser takes the last.
		const lists = [['text/html'], ['application/json', 'text/html'], ['text/html', 'application/json'], []]
		for (const list of lists)
			assert.is((await typed(list)).headers['content-security-policy'], 'sandbox', JSON.stringify(list))
		assert.is((await typed(['application/json'])).headers['content-security-policy'], undefined)
		const own = { 'content-security-policy': "default-src 'none'" }
		assert.is((await typed('text/html', own)).headers['content-security-policy'], "default-src 'none'")
	})

	test('its type and policy can be set', async () => {
		const value = reply(Buffer.from('a,b'), {
			headers: { 'content-type': 'text/csv', 'Content-Security-Policy': "default-src 'none'" },
		})
		const { headers } = await answering(() => value).ask('/v/a')
		assert.is(headers['content-type'], 'text/csv')
		assert.is(headers['content-security-policy'], "default-src 'none'")
		assert.is(headers['x-content-type-options'], 'nosniff')
	})

	test('HEAD has only the headers', async () => {
		const { headers, text } = await answering(() => Buffer.from('abc')).ask('HEAD /v/a')
		assert.equal([headers['content-length'], text()], ['3', ''])
	})
})
