import * as assert from 'uvu/assert'
import { RestError, RestHandler, reply } from '../../lib/index.ts'
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

describe('reply: problem details', (test) => {
	const ask = async (
		accept: string,
		work = throws(new RestError('not_found', 'No such article')),
		fields = {},
	) => {
		const { status, headers, text } = await failing(work, fields).ask('/f/a', { headers: { accept } })
		return [
			status,
			headers['content-type'],
			headers.vary,
			text().replace(/"requestId":"[^"]+"/, '"requestId":"…"'),
		]
	}
	const PROBLEM = 'application/problem+json; charset=utf-8'

	test('are sent to clients that prefer them', async () => {
		assert.equal(await ask('application/problem+json'), [
			404,
			PROBLEM,
			'Accept',
			'{"type":"about:blank","title":"Not Found","status":404,"detail":"No such article","code":"not_found"}',
		])
		assert.equal((await ask('application/json'))[1], 'application/json; charset=utf-8')
	})

	test('hide what a 500 hides', async () => {
		assert.equal(await ask('application/problem+json', throws(new Error('SECRET'))), [
			500,
			PROBLEM,
			'Accept',
			'{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"Internal Server Error","code":"internal","requestId":"…"}',
		])
	})

	test('a status without a reason phrase is titled Error; wrap makes no difference', async () => {
		assert.is(
			(await ask('application/problem+json', throws(new RestError(499, 'x')), { wrap: false }))[3],
			'{"type":"about:blank","title":"Error","status":499,"detail":"x"}',
		)
	})

	test('successes are JSON, and HEAD has no body', async () => {
		const { headers, status } = await failing(() => 1).ask('/f/a', {
			headers: { accept: 'application/problem+json' },
		})
		assert.equal(
			[status, headers['content-type'], headers.vary],
			[200, 'application/json; charset=utf-8', undefined],
		)
		const head = await failing(throws(new RestError('gone'))).ask('HEAD /f/a')
		assert.equal([head.status, head.text(), head.headers['content-length']], [410, '', '46'])
	})
})

describe('reply: this.error', (test) => {
	const GONE = '410 {"success":false,"error":"Gone for good","code":"gone"}'
	const table: [string, (handler: RestHandler) => unknown, string][] = [
		[
			'returned',
			(handler) => handler.error('No such article', 404),
			'404 {"success":false,"error":"No such article","code":"not_found"}',
		],
		[
			'without a code',
			(handler) => handler.error('No'),
			'400 {"success":false,"error":"No","code":"bad_request"}',
		],
		[
			'with a code of its own',
			(handler) => handler.error('No', 'too_short'),
			'400 {"success":false,"error":"No","code":"too_short"}',
		],
		[
			'with a code of ours',
			(handler) => handler.error('No', 'conflict'),
			'409 {"success":false,"error":"No","code":"conflict"}',
		],
		['before a value', (handler) => [handler.error('Gone for good', 410), 'value'], GONE],
		[
			'before reply()',
			(handler) =>
				reply(handler.error('Gone for good', 410), { status: 201, headers: { 'Set-Cookie': 'a' } }),
			GONE,
		],
		[
			'before another error',
			(handler) => [handler.error('Gone for good', 410), handler.error('Second', 404)],
			GONE,
		],
		[
			'before a RestError',
			(handler) => throws([handler.error('Gone for good', 410), new RestError('conflict')][1])(),
			GONE,
		],
		[
			'before any other error',
			(handler) => throws([handler.error('Gone for good', 410), new Error('x')][1])(),
			GONE,
		],
	]
	for (const [what, work, answer] of table) {
		test(`${what}: ${answer}`, async () => {
			assert.is(await failing(work).said('/f/a'), answer)
			assert.is(await failing(work).said('/f/later'), answer)
		})
	}

	test('returns null', async () => {
		let returned: unknown = 'unset'
		await failing((handler) => {
			returned = handler.error('No')
		}).said('/f/a')
		assert.is(returned, null)
	})

	for (const code of [200, 302, 600, Number.NaN]) {
		test(`a status of ${code} is a mistake in the method: 500`, async () => {
			const { said, logged } = failing((handler) => handler.error('No', code))
			assert.match(await said('/f/a'), INTERNAL)
			assert.is(logged(), `an error's status must be a whole number from 400 to 599, got ${code}`)
		})
	}
})

describe('reply: request ids', (test) => {
	const withId = { requestId: 'X-Request-Id' }

	test('the received id is sent back, also in error bodies', async () => {
		const headers = { 'x-request-id': 'abc-1' }
		assert.is((await failing(() => 1, {}, withId).ask('/f/a', { headers })).headers['x-request-id'], 'abc-1')
		const { ask } = failing(throws(new RestError('gone')), {}, withId)
		const refused = await ask('/f/a', { headers })
		assert.is(refused.headers['x-request-id'], 'abc-1')
		assert.is(refused.text(), '{"success":false,"error":"Gone","code":"gone","requestId":"abc-1"}')
	})

	test('an id that could forge log lines is replaced, as is a missing one', async () => {
		for (const id of ['a b', 'x'.repeat(129), '<script>', '', undefined]) {
			const headers: Record<string, string> = id === undefined ? {} : { 'x-request-id': id }
			const sent = (await failing(() => 1, {}, withId).ask('/f/a', { headers })).headers['x-request-id']
			assert.match(String(sent), /^[\da-f]{8}-[\da-f-]{27}$/)
		}
	})

	test('without the option none is sent', async () => {
		const { headers } = await failing(() => 1).ask('/f/a', { headers: { 'x-request-id': 'abc' } })
		assert.is(headers['x-request-id'], undefined)
	})
})
