import * as assert from 'uvu/assert'
import { type Logger, RestError, RestHandler } from '../../lib/index.ts'
import { type Asking, asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const INTERNAL =
	/^500 \{"success":false,"error":"Internal Server Error","code":"internal","requestId":"[\w-]+"\}$/

/** A handler whose GET does `work`, with or without the envelope. */
function failing(work: (handler: RestHandler) => unknown, fields: object = {}, options = {}): Asking {
	class Failing extends RestHandler {
		get_a() {
			return work(this)
		}
		async get_later() {
			await null
			return work(this)
		}
	}
	return asking({ f: Object.assign(new Failing(), fields) }, options)
}

function throws(value: unknown): () => never {
	return () => {
		throw value
	}
}

describe('reply: RestError', (test) => {
	const details = [{ field: 'email', code: 'email', message: 'must be an email address' }]
	const table: [RestError, string][] = [
		[new RestError('not_found'), '404 {"success":false,"error":"Not Found","code":"not_found"}'],
		[new RestError('conflict', 'Taken'), '409 {"success":false,"error":"Taken","code":"conflict"}'],
		[new RestError('title_taken', 'Taken'), '400 {"success":false,"error":"Taken","code":"title_taken"}'],
		[new RestError(418, 'Teapot'), '418 {"success":false,"error":"Teapot"}'],
		[
			new RestError('invalid', 'No', { details }),
			'422 {"success":false,"error":"No","code":"invalid","details":[{"field":"email","code":"email","message":"must be an email address"}]}',
		],
	]
	for (const [error, answer] of table) {
		test(`${error.code ?? error.status} is ${answer}`, async () => {
			const { said, lines } = failing(throws(error))
			assert.equal([await said('/f/a'), await said('/f/later'), lines.length], [answer, answer, 0])
		})
	}

	test('without the envelope there is no success field', async () => {
		const { said } = failing(throws(new RestError('invalid', 'No', { details })), { wrap: false })
		assert.is(
			await said('/f/a'),
			'422 {"error":"No","code":"invalid","details":[{"field":"email","code":"email","message":"must be an email address"}]}',
		)
	})

	test('its headers are sent; a 503 has Retry-After', async () => {
		const busy = await failing(throws(new RestError('unavailable'))).ask('/f/a')
		assert.is(busy.headers['retry-after'], '1')
		const headers = { 'Retry-After': '30', 'X-A': 'b' }
		const later = await failing(throws(new RestError('unavailable', 'x', { headers }))).ask('/f/a')
		assert.equal([later.headers['retry-after'], later.headers['x-a']], ['30', 'b'])
	})

	test('it varies by Accept, in addition to its other Vary', async () => {
		for (const [own, sent] of [
			['Accept-Language', 'Accept-Language, Accept'],
			['accept, Origin', 'accept, Origin'],
			['*', '*'],
		] as const) {
			const error = new RestError('not_found', 'x', { headers: { Vary: own } })
			assert.is((await failing(throws(error)).ask('/f/a')).headers.vary, sent)
		}
	})

	test('headers the method set for a success are not sent', async () => {
		const { headers, status } = await failing((handler) => {
			handler.status(201)
			handler.header('Set-Cookie', 'a=1')
			handler.header('Location', '/x')
			throw new RestError('conflict')
		}).ask('/f/a')
		assert.equal([status, headers['set-cookie'], headers.location], [409, undefined, undefined])
		assert.is(headers.vary, 'Accept')
	})

	test('the cause of a 5xx is logged', async () => {
		const cause = new Error('why')
		const { said, lines } = failing(throws(new RestError('unavailable', 'Later', { cause })))
		assert.match(
			await said('/f/a'),
			/^503 \{"success":false,"error":"Later","code":"unavailable","requestId":"/,
		)
		assert.equal(
			[lines.length, lines[0]?.message, (lines[0]?.fields.err as Error | undefined)?.cause],
			[1, 'Later', cause],
		)
	})
})

describe('reply: errors other than RestError', (test) => {
	const theirs = Object.assign(new Error('SECRET'), {
		name: 'RestError',
		status: 404,
		code: 'not_found',
		expose: true,
	})
	for (const value of [
		new Error('SECRET'),
		theirs,
		null,
		undefined,
		'SECRET',
		5,
		{ message: 'SECRET' },
		Symbol('SECRET'),
	]) {
		test(`${String(value)} is 500 without details, and logged`, async () => {
			for (const path of ['/f/a', '/f/later']) {
				const { said, lines } = failing(throws(value))
				assert.match(await said(path), INTERNAL)
				assert.equal(
					lines.map(({ level, message, fields }) => [level, message, fields.err]),
					[['error', `${path === '/f/a' ? 'get_a' : 'get_later'} failed`, value]],
				)
			}
		})
	}

	test('suppressOutput keeps the logger unused', async () => {
		const { ask, lines } = failing(throws(new Error('x')), { suppressOutput: true })
		assert.equal([(await ask('/f/a')).status, lines.length], [500, 0])
	})

	test('the log and the response have the same request id', async () => {
		const { ask, lines } = failing(throws(new Error('x')))
		const { requestId } = (await ask('/f/a')).json() as { requestId: string }
		assert.is(lines[0]?.fields.requestId, requestId)
		assert.equal(Object.keys(lines[0]?.fields ?? {}), [
			'requestId',
			'method',
			'url',
			'handler',
			'action',
			'err',
		])
	})
})

describe('reply: an error that cannot be answered is a plain 500', (test) => {
	const cyclic: Record<string, unknown> = {}
	cyclic.self = cyclic
	const table: [string, RestError][] = [
		['a header that begins another', new RestError('conflict', 'x', { headers: { 'X-A': 'a\r\nb' } })],
		['a header of the framing', new RestError('conflict', 'x', { headers: { 'Content-Length': '5' } })],
		['details with a cycle', new RestError('conflict', 'x', { details: [cyclic as never] })],
	]
	for (const [what, error] of table) {
		test(`${what}`, async () => {
			for (const path of ['/f/a', '/f/later']) {
				const { said, lines } = failing(throws(error))
				assert.match(await said(path), INTERNAL)
				assert.is(lines.length, 1)
			}
		})
	}

	test('a logger that fails', async () => {
		const logger: Logger = { info() {}, warn() {}, error: throws(new Error('disk full')) }
		const { said } = failing(throws(new Error('x')), {}, { logger })
		assert.match(await said('/f/a'), INTERNAL)
		assert.match(await said('/f/later'), INTERNAL)
	})

	test('a challenge that is no longer a valid header', async () => {
		const challenge = { 'WWW-Authenticate': 'Bearer' }
		const { said } = failing(
			() => 1,
			{},
			{ authenticator: { authenticate: throws(new RestError('unauthorized')), challenge } },
		)
		challenge['WWW-Authenticate'] = 'a\nb'
		assert.match(await said('/f/a'), INTERNAL)
	})
})

describe('reply: an error to HEAD', (test) => {
	for (const [what, url, status] of [
		['where no handler is', '/nowhere', 404],
		['to a target that is too long', `/f/a?${'q'.repeat(17_000)}`, 414],
	] as const) {
		test(`has a log line with zero bytes, ${what}`, async () => {
			const { ask, lines } = failing(() => 1, {}, { logRequests: true })
			const answer = await ask(`HEAD ${url}`)
			assert.equal([answer.status, answer.body.length], [status, 0])
			assert.equal([lines.length, lines[0]?.fields.status, lines[0]?.fields.bytes], [1, status, 0])
		})
	}
})
