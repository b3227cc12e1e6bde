import * as assert from 'uvu/assert'
import { RestHandler } from '../../lib/index.ts'
import { CustomReply, reply } from '../../lib/reply/custom-reply.ts'
import { checkStatus, headerLine, linesByName } from '../../lib/reply/headers.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ask, requestText } from '../helpers/raw.ts'

describe('reply/headers', (test) => {
	test('names are in lower case, and repeated ones are a list', () => {
		const lines = linesByName(['Allow', 'GET', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'SET-COOKIE', 'c=3'])
		assert.equal({ ...lines }, { allow: 'GET', 'set-cookie': ['a=1', 'b=2', 'c=3'] })
	})

	test('inherited properties are not found as names', () => {
		assert.is(linesByName(['__proto__', 'a'])['constructor'], undefined)
	})

	for (const status of [200, 201, 204, 299, 304, 404, 599]) {
		test(`${status} is a status`, () => assert.is(checkStatus(status), status))
	}
	for (const status of [0, 100, 101, 103, 199, 600, 999, -200, 200.5, Number.NaN, Number.POSITIVE_INFINITY]) {
		test(`${status} is refused`, () => {
			const message = `a status must be a whole number from 200 to 599, got ${status}`
			assert.is(
				messageOf(() => checkStatus(status)),
				message,
			)
		})
	}
	for (const [status, shown] of [
		['200', '"200"'],
		[null, 'null'],
		[undefined, 'undefined'],
		[{}, 'an object'],
	]) {
		test(`a status that is ${shown} is refused`, () => {
			assert.is(
				messageOf(() => checkStatus(status as never)),
				`a status must be a whole number from 200 to 599, got ${shown}`,
			)
		})
	}

	const lines: [string, string | number | readonly string[], string | readonly string[]][] = [
		['X-A', 'b', 'b'],
		['X-A', '', ''],
		['X-A', 'tab\tand ÿ', 'tab\tand ÿ'],
		['Age', 5, '5'],
		['Set-Cookie', ['a=1', 'b=2'], ['a=1', 'b=2']],
		['Set-Cookie', [], []],
	]
	for (const [name, value, kept] of lines) {
		test(`${name}: ${JSON.stringify(value)} can be sent`, () =>
			assert.equal(headerLine(name, value), [name, kept]))
	}

	const SERVER = 'is set by the server, from the answer itself'
	const wrong = (name: string, found: string): string =>
		`the header ${name} must be text, a number or a list of text, got ${found}`
	const refusals: [string, unknown, string][] = [
		['', 'a', 'Header name must be a valid HTTP token [""]'],
		['a b', 'a', 'Header name must be a valid HTTP token ["a b"]'],
		['a:b', 'a', 'Header name must be a valid HTTP token ["a:b"]'],
		['a\r\nb', 'a', 'Header name must be a valid HTTP token ["a\r\nb"]'],
		['é', 'a', 'Header name must be a valid HTTP token ["é"]'],
		['X-A', 'a\r\nSet-Cookie: b', 'Invalid character in header content ["X-A"]'],
		['X-A', 'a\nb', 'Invalid character in header content ["X-A"]'],
		['X-A', 'a\u0000', 'Invalid character in header content ["X-A"]'],
		['X-A', '€', 'Invalid character in header content ["X-A"]'],
		['Set-Cookie', ['a=1', 'b\n'], 'Invalid character in header content ["Set-Cookie"]'],
		['X-A', undefined, wrong('X-A', 'undefined')],
		['X-A', null, wrong('X-A', 'null')],
		['X-A', true, wrong('X-A', 'boolean')],
		['X-A', new Date(0), wrong('X-A', 'object')],
		['X-A', ['a', 5], wrong('X-A', 'number in a list')],
		['Content-Length', 5, `the header Content-Length ${SERVER}`],
		['content-length', '5', `the header content-length ${SERVER}`],
		['Transfer-Encoding', 'chunked', `the header Transfer-Encoding ${SERVER}`],
		['Connection', 'close', `the header Connection ${SERVER}`],
		['Keep-Alive', 'x', `the header Keep-Alive ${SERVER}`],
		['Trailer', 'x', `the header Trailer ${SERVER}`],
		['Upgrade', 'x', `the header Upgrade ${SERVER}`],
	]
	for (const [name, value, message] of refusals) {
		test(`${JSON.stringify(name)}: ${JSON.stringify(value)} is refused: ${message}`, () => {
			assert.is(
				messageOf(() => headerLine(name, value as never)),
				message,
			)
		})
	}
})

describe('reply/headers: reply()', (test) => {
	test('a promise is refused, as it would be answered as {}', () => {
		assert.throws(() => reply(Promise.resolve(1)), /await it first/)
	})

	test('reply() holds the value and its options', () => {
		const custom = reply('a', { status: 201, headers: { A: 'b' } })
		assert.instance(custom, CustomReply)
		assert.equal(
			{ ...custom },
			{ value: 'a', options: { status: 201, headers: { A: 'b' } }, enveloped: false },
		)
	})

	test('without options there are none', () => assert.equal(reply(1).options, {}))
})

describe('reply/headers: values beyond ASCII', (test) => {
	test('are sent as ISO 8859-1, whatever the body', async () => {
		class Names extends RestHandler {
			get_name(body: string) {
				this.header('X-Name', 'Zoë')
				return body
			}
		}
		await listening({ '': new Names() }, {}, async ({ port }) => {
			for (const body of ['a', '%C3%AB', '%F0%9F%91%8D']) {
				const { headers } = await ask(port, requestText(`GET /name/${body}`))
				assert.is(headers['x-name'], 'Zoë', body)
			}
		})
	})
})
