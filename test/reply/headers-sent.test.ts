import * as assert from 'uvu/assert'
import { RawJson, type ReplyOptions, RestHandler, reply } from '../../lib/index.ts'
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

describe('reply: reply() and respond()', (test) => {
	for (const type of ['application/json', 'text/json', 'model/gltf+json']) {
		test(`${type} is JSON: in its envelope, and without a sandbox policy`, async () => {
			const make = () => reply({ id: 5 }, { headers: { 'Content-Type': type } })
			const { headers, text } = await answering(make).ask('/v/a')
			assert.equal(
				[text(), headers['content-security-policy']],
				['{"success":true,"data":{"id":5}}', undefined],
			)
		})
	}

	const table: [unknown, ReplyOptions | undefined, string][] = [
		[{ id: 5 }, undefined, '200 {"success":true,"data":{"id":5}}'],
		[{ id: 5 }, { status: 201 }, '201 {"success":true,"data":{"id":5}}'],
		[undefined, { status: 202 }, '202 {"success":true,"data":null}'],
		[
			[1],
			{ meta: { limit: 1, next: null } },
			'200 {"success":true,"data":[1],"meta":{"limit":1,"next":null}}',
		],
		[new RawJson('[1]'), { meta: {} }, '200 {"success":true,"data":[1],"meta":{}}'],
		['gone', { status: 410 }, '410 {"success":true,"data":"gone"}'],
		[undefined, { status: 204 }, '204 '],
		['lost', { status: 204 }, '204 '],
		['lost', { status: 205 }, '205 '],
		['lost', { status: 304 }, '304 '],
		[Buffer.from('lost'), { status: 204 }, '204 '],
		[Buffer.from('lost'), { status: 304 }, '304 '],
	]
	for (const [value, options, answer] of table) {
		test(`${JSON.stringify(value)} with ${JSON.stringify(options)} → ${answer}`, async () => {
			assert.is(await answering(() => reply(value, options)).said('/v/a'), answer)
		})
	}

	for (const value of [undefined, Buffer.from('x')]) {
		test(`a response without content has no type and no length (${typeof value})`, async () => {
			const { headers } = await answering(() => reply(value, { status: 204, headers: { ETag: '"1"' } })).ask(
				'/v/a',
			)
			assert.equal({ ...headers }, { 'x-content-type-options': 'nosniff', etag: '"1"' })
		})
	}

	test('its headers replace those of the method, case-insensitively', async () => {
		const { headers } = await answering((handler) => {
			handler.header('x-one', 'method')
			handler.header('X-Two', 'method')
			return reply(1, { headers: { 'X-ONE': 'reply', 'Cache-Control': 'no-store', 'X-Number': 5 } })
		}).ask('/v/a')
		assert.equal([headers['x-one'], headers['x-two'], headers['x-number']], ['reply', 'method', '5'])
		assert.is(headers['cache-control'], 'no-store')
	})

	test('respond() uses the envelope even where the handler does not', async () => {
		assert.is(await answering((handler) => handler.respond([1]), false).said('/v/a'), ok([1]))
		assert.is(await answering((handler) => handler.respond([1])).said('/v/a'), ok([1]))
	})

	test('without the envelope there is no meta', async () => {
		assert.is(await answering(() => reply([1], { meta: { a: 1 } }), false).said('/v/a'), '200 [1]')
	})

	for (const options of [
		{ status: 99 },
		{ status: 600 },
		{ headers: { 'X-A': 'a\r\nb' } },
		{ meta: { a: 1n } },
	]) {
		test(`${Object.keys(options)} that cannot be sent are a clean 500`, async () => {
			const { said, lines } = answering(() => reply(1, options as ReplyOptions))
			assert.match(await said('/v/a'), INTERNAL)
			assert.is(lines.length, 1)
		})
	}
})

describe('reply: status and headers of the method', (test) => {
	test('are sent', async () => {
		const { status, headers } = await answering((handler) => {
			handler.status(201)
			handler.header('Location', '/a')
			handler.header('Location', '/b')
			handler.header('Set-Cookie', ['a=1', 'b=2'])
			handler.header('Age', 5)
		}).ask('/v/a')
		assert.equal([status, headers.location, headers.age], [201, '/b', '5'])
		assert.equal(headers['set-cookie'], ['a=1', 'b=2'])
	})

	for (const [what, use] of [
		['a header that begins another', (handler: RestHandler) => handler.header('X-A', 'a\r\nSet-Cookie: b')],
		['a name that is none', (handler: RestHandler) => handler.header('X A', 'a')],
		['a header of the framing', (handler: RestHandler) => handler.header('Content-Length', 5)],
		['an interim status', (handler: RestHandler) => handler.status(101)],
	] as const) {
		test(`${what} is a clean 500, and logged`, async () => {
			const { ask, lines } = answering((handler) => {
				handler.header('X-Before', 'a')
				return use(handler)
			})
			const { status, headers } = await ask('/v/a')
			assert.equal(
				[status, headers['x-before'], headers['x-a'], headers['set-cookie']],
				[500, undefined, undefined, undefined],
			)
			assert.is(lines.length, 1)
		})
	}

	test('setting them after the response only logs', async () => {
		const late: Promise<void>[] = []
		const { said, lines } = answering((handler) => {
			late.push(
				new Promise((resolve) =>
					setTimeout(() => {
						handler.status(201)
						handler.header('X-A', 'b')
						handler.error('late', 404)
						resolve()
					}, 1),
				),
			)
			return 'sent'
		})
		assert.is(await said('/v/a'), ok('sent'))
		await Promise.all(late)
		assert.equal(
			lines.map(({ level, message }) => `${level}: ${message}`),
			[
				'warn: this.status(201) was called after the answer',
				'warn: this.header() was called after the answer, for "X-A"',
				'warn: this.error() was called after the answer',
			],
		)
	})
})
