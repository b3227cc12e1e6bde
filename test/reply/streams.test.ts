import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import * as assert from 'uvu/assert'
import { RestHandler, reply } from '../../lib/index.ts'
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

/** Refused, a turn of the loop later. */
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
		test(`${what} is sent as it comes`, async () => {
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

	test('one that fails later cuts the answer off', async () => {
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

	test('one that fails right behind its first bytes ends no process', async () => {
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
		test(`a stream that fails while a check is awaited ends no process (${path})`, async () => {
			const { said } = answering((handler) => {
				handler.requireAuth(nobody)
				return createReadStream('/nowhere')
			})
			assert.is(await said(path), UNAUTHORIZED)
		})
	}
})
