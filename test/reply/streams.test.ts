import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import * as assert from 'uvu/assert'
import { RawJson, RestHandler, reply } from '../../lib/index.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

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

describe('reply: streams of bytes', (test) => {
	const table: [string, () => unknown, string][] = [
		['a node stream', () => Readable.from(['ab', 'cd'], { objectMode: false }), 'abcd'],
		['one that has no bytes', () => Readable.from([], { objectMode: false }), ''],
		['one in which bytes wait already', () => pushed('abc'), 'abc'],
		['a file', () => createReadStream(import.meta.filename, { end: 6 }), 'import '],
		['a web stream', () => new Blob(['ab', 'cd']).stream(), 'abcd'],
	]
	for (const [what, make, text] of table) {
		test(`${what} is sent as it is produced`, async () => {
			for (const wrap of [true, false]) {
				for (const path of ['/s/a', '/s/later']) {
					const { status, headers, body } = await answering(make, wrap).ask(path)
					assert.equal([status, body.toString()], [200, text])
					assert.equal(
						{ ...headers },
						{
							'content-type': 'application/octet-stream',
							'x-content-type-options': 'nosniff',
							'content-security-policy': 'sandbox',
						},
					)
				}
			}
		})
	}

	function pushed(text: string): Readable {
		const stream = new Readable({ read() {} })
		stream.push(text)
		stream.push(null)
		return stream
	}

	test('its headers can be set', async () => {
		const make: Make = () => reply(pushed('a,b'), { status: 203, headers: { 'Content-Type': 'text/csv' } })
		const { status, headers } = await answering(make).ask('/s/a')
		assert.equal([status, headers['content-type']], [203, 'text/csv'])
	})

	const failures: [string, () => unknown, RegExp][] = [
		['a file that is not there', () => createReadStream('/nowhere'), /ENOENT/],
		['a stream that has failed', () => new Readable().destroy(new Error('broken')), /^broken$/],
		[
			'a stream that fails at once',
			() =>
				new Readable({
					read() {
						this.destroy(new Error('broken'))
					},
				}),
			/^broken$/,
		],
		[
			'a web stream that fails',
			() => new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) }),
			/^broken$/,
		],
	]
	for (const [what, make, message] of failures) {
		test(`${what} is a clean 500, also for HEAD`, async () => {
			const { said, ask, logged } = answering(make)
			assert.match(await said('/s/a'), INTERNAL)
			assert.match(logged(), message)
			assert.match(await said('/s/later'), INTERNAL)
			assert.is((await ask('HEAD /s/a')).status, 500)
		})
	}

	test('one that fails later cuts the response off', async () => {
		const make: Make = () =>
			Readable.from(
				(function* () {
					yield 'ab'
					throw new Error('broken')
				})(),
				{ objectMode: false },
			)
		const error = await answering(make)
			.ask('/s/a')
			.catch((reason: unknown) => reason)
		assert.is(String(error), 'Error: broken')
	})

	test('one that fails right after its first bytes does not end the process', async () => {
		const make: Make = () =>
			new Readable({
				read() {
					this.push('ab')
					process.nextTick(() => this.destroy(new Error('broken')))
				},
			})
		const answer = await answering(make)
			.ask('/s/a')
			.catch((reason: unknown) => reason)
		assert.ok(answer !== undefined)
	})

	const unsent: [string, Make, string][] = [
		['HEAD', () => undefined, 'HEAD'],
		['an error that was recorded', (handler) => handler.error('No', 404), 'GET'],
		['a refusal', (handler) => void handler.requireAuth(nobody), 'GET'],
		['a status without content', (handler) => handler.status(204), 'GET'],
	]
	for (const [what, before, method] of unsent) {
		test(`for ${what}, a stream is destroyed unsent`, async () => {
			const stream = new Readable({
				read() {
					this.push('x')
				},
			})
			let cancelled = false
			const web = new ReadableStream({
				pull: (controller) => controller.enqueue(Buffer.from('x')),
				cancel: () => {
					cancelled = true
				},
			})
			for (const value of [stream, web]) {
				const { text } = await answering((handler) => {
					before(handler)
					return value
				}).ask(`${method} /s/a`)
				assert.not(text().includes('x'))
			}
			await new Promise(setImmediate)
			assert.equal([stream.destroyed, cancelled], [true, true])
		})
	}

	for (const path of ['/s/a', '/s/later']) {
		test(`a stream that fails during an awaited check does not end the process (${path})`, async () => {
			const { said } = answering((handler) => {
				handler.requireAuth(nobody)
				return createReadStream('/nowhere')
			})
			assert.is(await said(path), UNAUTHORIZED)
		})
	}
})

describe('reply: text with a Content-Type other than JSON', (test) => {
	const typed =
		(make: Make, type = 'text/csv'): Make =>
		(handler) => {
			handler.header('Content-Type', type)
			return make(handler)
		}
	const asyncTexts = async function* (): AsyncGenerator<string> {
		yield 'a,é\n'
		yield 'c,d\n'
	}
	const texts = function* (): Generator<string> {
		yield 'a,é\n'
		yield 'c,d\n'
	}

	const table: [string, () => unknown, boolean][] = [
		['a string', () => 'a,é\nc,d\n', true],
		['an array of strings', () => ['a,é\n', 'c,d\n'], true],
		['a set of strings', () => new Set(['a,é\n', 'c,d\n']), false],
		['a generator', texts, false],
		['an async generator', asyncTexts, false],
		['a stream of strings', () => Readable.from(['a,é\n', 'c,d\n']), false],
		['a stream of bytes', () => Readable.from(['a,é\n', 'c,d\n'], { objectMode: false }), false],
		['a stream of pieces of bytes', () => Readable.from([Buffer.from('a,é\n'), Buffer.from('c,d\n')]), false],
		['texts and bytes', () => Readable.from(['a,é\n', Buffer.from('c,d\n')]), false],
		['a web stream of strings', () => ReadableStream.from(['a,é\n', 'c,d\n']), false],
	]
	for (const [what, make, hasLength] of table) {
		test(`${what} is sent unchanged`, async () => {
			for (const wrap of [true, false]) {
				for (const path of ['/s/a', '/s/later']) {
					const { status, headers, text } = await answering(typed(make), wrap).ask(path)
					assert.equal([status, text()], [200, 'a,é\nc,d\n'])
					assert.equal(
						{ ...headers },
						{
							'content-type': 'text/csv',
							...(hasLength ? { 'content-length': '9' } : {}),
							'x-content-type-options': 'nosniff',
							'content-security-policy': 'sandbox',
						},
					)
				}
			}
			assert.is((await answering(typed(make)).ask('HEAD /s/a')).body.length, 0)
		})
	}

	const others: [string, unknown, string][] = [
		['nothing', undefined, ''],
		['null', null, ''],
		['no texts', [], ''],
		['a number', 5, '5'],
		['false', false, 'false'],
	]
	for (const [what, value, text] of others) {
		test(`${what} is ${JSON.stringify(text)}`, async () =>
			assert.is(await answering(typed(() => value)).said('/s/a'), `200 ${text}`))
	}

	test('reply() can set the type as well', async () => {
		const make: Make = () => reply('<p>', { status: 203, headers: { 'content-type': 'text/html' } })
		assert.is(await answering(make).said('/s/a'), '203 <p>')
	})

	test('a generator can set its type before its first record', async () => {
		class Streams extends RestHandler {
			async *get_later() {
				await undefined
				this.header('Content-Type', 'text/plain')
				yield 'a'
			}
			*get_now() {
				this.header('Content-Type', 'text/plain')
				yield 'b'
			}
		}
		const { said } = asking({ s: new Streams() })
		assert.equal([await said('/s/later'), await said('/s/now')], ['200 a', '200 b'])
	})

	for (const type of [
		'application/json',
		'application/geo+json; charset=utf-8',
		'model/gltf+json',
		'text/json',
	]) {
		test(`with ${type} a text is JSON`, async () =>
			assert.is(await answering(typed(() => 'a', type)).said('/s/a'), '200 {"success":true,"data":"a"}'))
	}

	test('respond() uses the envelope whatever the type', async () => {
		const make = typed((handler) => handler.respond({ a: 1 }), 'text/html')
		assert.is(await answering(make, false).said('/s/a'), '200 {"success":true,"data":{"a":1}}')
	})

	const refused: [string, () => unknown, RegExp][] = [
		['an object', () => ({ a: 1 }), /^data is an object \(Object\), under Content-Type text\/csv: /],
		[
			'an array of objects',
			() => ['a', {}],
			/^data\[1\] is an object \(Object\), under Content-Type text\/csv/,
		],
		['a first piece that is no text', () => Readable.from([{}]), /^data\[0\] is an object \(Object\)/],
		['raw JSON', () => new RawJson('1'), /^data is an object \(RawJson\)/],
		['a map', () => new Map([['a', 1]]), /^data\[0\] is an array/],
	]
	for (const [what, make, why] of refused) {
		test(`${what} is 500, and the log says why`, async () => {
			const { said, logged } = answering(typed(make))
			assert.match(await said('/s/a'), INTERNAL)
			assert.match(logged(), why)
		})
	}

	test('events are sent one by one, compressed or not, and the timeout ends with the first', async () => {
		for (const compression of [false, true]) {
			let next: (event: string) => void = () => {}
			const events = async function* (): AsyncGenerator<string> {
				yield ': begun\n\n'
				for (;;) yield await new Promise<string>((resolve) => (next = resolve))
			}
			class Feed extends RestHandler {
				get_events() {
					this.header('Content-Type', 'text/event-stream')
					return events()
				}
			}
			await listening({ s: new Feed() }, { handlerTimeoutSeconds: 0.2, compression }, async ({ url }) => {
				const { body } = await fetch(`${url}/s/events`)
				const reader = (body as globalThis.ReadableStream<Uint8Array>).getReader()
				const read = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString()
				assert.is(await read(), ': begun\n\n')
				await new Promise((resolve) => setTimeout(resolve, 800))
				for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
					next(event)
					assert.is(await read(), event)
				}
				await reader.cancel()
			})
		}
	})
})
