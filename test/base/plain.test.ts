import * as assert from 'uvu/assert'
import { entriesOf } from '../../lib/base/plain.ts'
import { createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

class Empty extends RestHandler {}

describe('mount/plain', (test) => {
	test('a literal has its entries', () => {
		assert.equal(entriesOf('x', { a: 1 }, ''), [['a', 1]])
		assert.equal(entriesOf('x', Object.assign(Object.create(null), { a: 1 }), ''), [['a', 1]])
	})

	const wrong = [
		new Map([['a', 1]]),
		new Set(['a']),
		[],
		Object.create({ a: 1 }),
		null,
		undefined,
		'a',
		() => 1,
	]
	for (const [at, value] of wrong.entries()) {
		test(`what would declare nothing is refused: ${at}`, () =>
			assert.throws(() => entriesOf('x', value, '{ a: 1 }'), /^x must be a plain object: \{ a: 1 \}$/))
	}

	test('handlers in a Map or a list are refused', () => {
		assert.throws(
			() => createServer(new Map([['a', new Empty()]]) as never),
			/handlers must be a plain object/,
		)
		assert.throws(() => createServer([new Empty()] as never), /handlers must be a plain object/)
		assert.throws(
			() => createServer(Promise.resolve({}) as never),
			"handlers must be a plain object: { 'blog/api': new Blog() }, got a promise: write await before it",
		)
	})

	const challenges: [unknown, RegExp][] = [
		['Basic realm="x"', /challenge must be a plain object/],
		[{}, /must hold WWW-Authenticate/],
		[{ 'WWW-Authenticate': undefined }, /WWW-Authenticate/],
		[{ 'WWW-Authenticate': 'a\r\nb' }, /Invalid character/],
	]
	for (const [challenge, message] of challenges) {
		test(`a challenge that no 401 could carry is refused: ${JSON.stringify(challenge)}`, () => {
			const authenticator = { authenticate: () => null, challenge } as never
			assert.throws(() => createServer({}, { authenticator }), message)
			class Guarded extends RestHandler {
				override readonly authenticator = authenticator
			}
			assert.throws(() => createServer({ a: Guarded }), message)
		})
	}

	test('a request id can take no header that means something else', () => {
		for (const requestId of ['Content-Length', 'Authorization', 'Set-Cookie', 'Host', 'transfer-encoding']) {
			assert.throws(() => createServer({}, { requestId }), /must be a header of its own/)
		}
	})
})
