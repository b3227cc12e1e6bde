import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import * as assert from 'uvu/assert'
import { reply } from '../../lib/reply/custom-reply.ts'
import { disposeBody, firstBytes, swallowErrors } from '../../lib/reply/unsent.ts'
import { describe } from '../helpers/describe.ts'

describe('reply/unsent', (test) => {
	test('a guarded stream may fail without a listener', async () => {
		for (const wrap of [(value: unknown) => value, reply]) {
			const stream = new Readable({ read() {} })
			swallowErrors(wrap(stream))
			stream.destroy(new Error('broken'))
			await new Promise(setImmediate)
			assert.is(stream.errored?.message, 'broken')
		}
	})

	test('streams and iterables are closed, also within reply()', async () => {
		for (const wrap of [(value: unknown) => value, reply]) {
			const closed: string[] = []
			const stream = new Readable({ read() {} })
			const web = new ReadableStream({ cancel: () => void closed.push('web') })
			const iterable = {
				[Symbol.asyncIterator]: () => ({
					next: async () => ({ done: true, value: 1 }),
					return: async () => {
						closed.push('iterable')
						throw new Error('nobody is told')
					},
				}),
			}
			for (const value of [stream, web, iterable]) disposeBody(wrap(value))
			await new Promise(setImmediate)
			assert.equal([closed.sort(), stream.destroyed], [['iterable', 'web'], true])
		}
	})

	test('a web stream being read is left to its reader', async () => {
		const web = new ReadableStream()
		web.getReader()
		disposeBody(web)
		await new Promise(setImmediate)
		assert.ok(web.locked)
	})

	test('all other values are untouched', () => {
		for (const value of [undefined, null, 5, 'text', {}, [1], Buffer.from('a'), new Date(0)])
			disposeBody(value)
	})

	test('the first bytes are awaited, and not consumed', async () => {
		const stream = new Readable({ read() {} })
		let there = false
		const first = firstBytes(stream).then(() => {
			there = true
		})
		await new Promise(setImmediate)
		assert.not(there)
		stream.push('abc')
		await first
		stream.push(null)
		assert.equal(await stream.toArray(), [Buffer.from('abc')])
	})

	for (const [what, make] of [
		['has ended', () => Readable.from([], { objectMode: false })],
		['is destroyed', () => new Readable().destroy()],
		[
			'ends without an end',
			() => {
				const stream = new Readable({ read() {} })
				setImmediate(() => stream.destroy())
				return stream
			},
		],
	] as const) {
		test(`a stream that ${what} is not awaited`, async () => firstBytes(make()))
	}

	test('one that fails, or has failed, rejects', async () => {
		for (const failAt of [setImmediate, (fail: () => void) => fail()]) {
			const stream = new Readable({ read() {} })
			failAt(() => void stream.destroy(new Error('broken')))
			const error = await firstBytes(stream).catch((reason: unknown) => reason)
			assert.is(String(error), 'Error: broken')
		}
	})
})
