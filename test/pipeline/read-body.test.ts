/** Reading a body's bytes. Decoding: test/request/body/. */
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { isRestError } from '../../lib/base/error.ts'
import type { Action } from '../../lib/exchange/action.ts'
import type { App } from '../../lib/exchange/app.ts'
import type { Routed } from '../../lib/exchange/exchange.ts'
import { readBody } from '../../lib/pipeline/read-body.ts'
import { hasBody, type Incoming } from '../../lib/request/incoming.ts'
import { SpecMemo } from '../../lib/validate/validate.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { appOf, exchangeFor } from '../helpers/exchange.ts'

const ACTION: Action = {
	name: 'post_a',
	run() {},
	maxParams: 0,
	access: { user: false, resources: [] },
	limit: undefined,
	docs: undefined,
	streaming: undefined,
	spec: undefined,
	memo: new SpecMemo(),
	steps: {},
}
const STREAMING: Action = { ...ACTION, streaming: { maxBody: 10, handlerTimeout: 5 } }
const CHUNKED = { 'transfer-encoding': 'chunked' }
const CUT = '400 The body was cut off before its end'

interface Sent {
	readonly facts?: Partial<Incoming>
	readonly stream?: Readable
	readonly app?: Partial<App>
	readonly action?: Action
}

/** The outcome for a body: its text, the refusal, or that nothing was read. */
async function read(sent: Sent): Promise<string> {
	const exchange = opened(sent)
	try {
		await readBody(exchange, undefined)
	} catch (error) {
		if (isRestError(error)) return `${error.status} ${error.message}`
		throw error
	}
	return exchange.body.bytes === undefined ? 'unread' : `"${exchange.body.bytes.toString()}"`
}

function opened(sent: Sent): Routed {
	const exchange = exchangeFor(sent.facts, appOf(sent.app), sent.stream)
	exchange.method = 'POST'
	exchange.action = sent.action ?? ACTION
	return exchange as Routed // but for the mount, which is not read here
}

/** What is left of the heap and of buffers after a garbage collection. */
function keptBytes(): number {
	setFlagsFromString('--expose-gc') // node's own function, hidden without a flag
	runInNewContext('gc')()
	const { heapUsed, arrayBuffers } = process.memoryUsage()
	return heapUsed + arrayBuffers
}

function pieces(...all: string[]): Readable {
	return Readable.from(all, { objectMode: false })
}

const chunked = { headers: CHUNKED }

describe('body', (test) => {
	test('it is read', async () => {
		assert.is(await read({ facts: chunked, stream: pieces('ab', 'c') }), '"abc"')
	})

	test('pieces of any size are joined', async () => {
		const text = Array.from({ length: 300 }, (_, at) => `${at} `.repeat(1 + (at % 7))).join('')
		const cut = text.split(/(?=[05])/)
		for (const maxBody of [text.length, text.length + 1, 1_000_000])
			assert.is(await read({ facts: chunked, stream: pieces(...cut), app: { maxBody } }), `"${text}"`)
	})

	test('of many small pieces, no more is kept than their bytes', async () => {
		const stream = new PassThrough()
		const exchange = opened({ facts: chunked, stream })
		const reading = readBody(exchange, undefined)
		const count = 200_000
		const before = keptBytes()
		for (let at = 0; at < count; at++) if (!stream.write(Buffer.alloc(1, 'a'))) await once(stream, 'drain')
		assert.ok(keptBytes() - before < 20 * count)
		stream.end()
		await reading
		assert.is(exchange.body.bytes?.toString(), 'a'.repeat(count))
	})

	test('without a body nothing is awaited', () => {
		for (const headers of [{}, { 'content-length': '0' }]) {
			const exchange = opened({ facts: { headers } })
			assert.is(readBody(exchange, undefined), undefined)
			assert.is(exchange.body.bytes?.length, 0)
		}
	})

	test('an empty body is read as zero bytes', async () => {
		assert.is(await read({ facts: chunked, stream: pieces() }), '""')
	})

	for (const [size, answer] of [
		[4, '"xxxx"'],
		[5, '"xxxxx"'],
		[6, '413 The body may have at most 5 bytes'],
		[1_000, '413 The body may have at most 5 bytes'],
	] as const) {
		test(`of at most 5 bytes, ${size} are ${answer}`, async () => {
			const text = 'x'.repeat(size)
			const app = { maxBody: 5 }
			assert.is(await read({ facts: chunked, stream: pieces(...text), app }), answer)
			const headers = { 'content-length': String(size) }
			assert.is(await read({ facts: { headers }, stream: pieces(text), app }), answer)
		})
	}

	test('too large a Content-Length is refused before a byte is read, and before 100 Continue', () => {
		const stream = pieces('123456')
		const facts = { headers: { 'content-length': '6' } }
		const exchange = opened({ facts, stream, app: { maxBody: 5 } })
		let continued = 0
		exchange.sendContinue = () => continued++
		assert.is(
			messageOf(() => readBody(exchange, undefined)),
			'The body may have at most 5 bytes',
		)
		assert.equal([stream.readableDidRead, continued], [false, 0])
	})

	test('a body over the limit leaves the rest unread, and the socket paused', async () => {
		const stream = pieces('123', '456', '789')
		await read({ facts: chunked, stream, app: { maxBody: 5 } })
		await setImmediate()
		assert.equal([stream.isPaused(), stream.destroyed], [true, false])
	})

	test('a waiting client gets 100 Continue once, and the body its timeout', async () => {
		const exchange = opened({ facts: chunked, stream: pieces('a'), app: { bodyTimeout: 700 } })
		let continued = 0
		exchange.sendContinue = () => continued++
		await readBody(exchange, undefined)
		assert.equal([continued, exchange.due, exchange.timeoutCode], [1, 700, 'request_timeout'])
	})

	test('a body that is cut off is 400', async () => {
		for (const error of [undefined, new Error('ECONNRESET')]) {
			const stream = new Readable({ read() {} })
			stream.push('ab')
			const answer = read({ facts: chunked, stream })
			await setImmediate()
			stream.destroy(error)
			assert.is(await answer, CUT)
		}
	})

	test('a body whose client left before it was read is 400', async () => {
		assert.is(await read({ facts: chunked, stream: new Readable({ read() {} }).destroy() }), CUT)
	})

	test('the result of a parser in front is used as the body', async () => {
		const stream = pieces('{"a":1}')
		await stream.toArray()
		for (const body of [{ a: 1 }, 'text', null]) {
			assert.is(await read({ facts: { ...chunked, body }, stream }), 'unread')
		}
	})

	test('reading a body that was consumed by a parser in front throws a TypeError', async () => {
		const stream = pieces('{"a":1}')
		await stream.toArray()
		const exchange = opened({ facts: chunked, stream })
		assert.is(
			messageOf(() => readBody(exchange, undefined)),
			'something in front has read the body and left nothing in request.body: mount Verbena before it',
		)
	})

	test('a streaming method reads its body itself, with its own limit for Content-Length', async () => {
		const action = STREAMING
		const app = { maxBody: 5 }
		assert.is(await read({ facts: { headers: { 'content-length': '10' } }, action, app }), 'unread')
		assert.is(await read({ facts: chunked, action, app }), 'unread')
		const long = { headers: { 'content-length': '11' } }
		assert.is(await read({ facts: long, action, app }), '413 The body may have at most 10 bytes')
	})

	const ENDED = { endAfterHeaders: true }
	const facts: [string, Partial<Incoming>, boolean][] = [
		['no header', { headers: {} }, false],
		['a length of 0', { headers: { 'content-length': '0' } }, false],
		['a length', { headers: { 'content-length': '1' } }, true],
		['a transfer coding', { headers: CHUNKED }, true],
		['HTTP/2, open', { headers: {}, httpVersionMajor: 2, complete: false }, true],
		['HTTP/2, complete', { headers: {}, httpVersionMajor: 2, complete: true }, true],
		['HTTP/2, ended with its headers', { headers: {}, httpVersionMajor: 2, stream: ENDED }, false],
		['HTTP/2 with a length of 0', { headers: { 'content-length': '0' }, httpVersionMajor: 2 }, false],
	]
	for (const [what, incoming, expected] of facts) {
		test(`a request with ${what} has ${expected ? 'a' : 'no'} body`, () => {
			assert.is(hasBody(exchangeFor(incoming).incoming), expected)
		})
	}

	test('hasBody stays true for an HTTP/2 request whose body was read', async () => {
		const stream = pieces()
		await stream.toArray()
		assert.ok(hasBody(exchangeFor({ httpVersionMajor: 2 }, appOf(), stream).incoming))
	})
})
